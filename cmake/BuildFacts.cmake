# Tells one source file what it was built from: version, commit, compiler and flags.

function(conelab_build_facts source)
  set(git_hash "unknown")
  find_package(Git QUIET)
  if(GIT_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=*
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE described
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0)
      set(git_hash ${described})
    endif()
    # A new commit configures again, so that the hash is never an old one.
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE head_log
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    get_filename_component(head_log "${head_log}" ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
    if(EXISTS ${head_log})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
    endif()
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" flags)
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
    "CONELAB_VERSION=\"${PROJECT_VERSION}\""
    "CONELAB_GIT_HASH=\"${git_hash}\""
    "CONELAB_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\""
    "CONELAB_FLAGS=\"${flags}\"")
endfunction()
