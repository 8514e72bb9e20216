# Writes the commit the program is built from into HEADER, only where it changed:
#   cmake -DGIT=git -DSOURCE=DIR -DHEADER=FILE -P GitHash.cmake
# "-dirty" follows where what the program is built from is not as committed, new files included. In an
# archive of the sources, commit.txt beside this file names the commit.
cmake_minimum_required(VERSION 3.25)
set(sources app cmake core datasets gpu resources widgets CMakeLists.txt)
set(git_hash unknown)
if(EXISTS ${SOURCE}/cmake/commit.txt)
  file(READ ${SOURCE}/cmake/commit.txt archived)
endif()
if(archived MATCHES "^([0-9a-f]+) ")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 12 git_hash)
endif()
if(GIT AND EXISTS ${SOURCE}/.git)
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
