# Writes the commit the program is built from into HEADER, only where it changed:
#   cmake -DGIT=git -DSOURCE=DIR -DHEADER=FILE -P GitHash.cmake
# "-dirty" follows where what the program is built from is not as committed, new files included.
cmake_minimum_required(VERSION 3.25)
set(sources app cmake core datasets gpu resources widgets CMakeLists.txt)
set(git_hash unknown)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    # Others may use the repository meanwhile: no lock is taken.
    execute_process(COMMAND ${GIT} --no-optional-locks status --porcelain -- ${sources}
      WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE changes ERROR_QUIET)
    set(git_hash ${commit})
    if(NOT "${changes}" STREQUAL "")
      string(APPEND git_hash -dirty)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define CONELAB_GIT_HASH \"${git_hash}\"\n")
