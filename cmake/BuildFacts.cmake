# Tells one source file what it was built from: version, commit, compiler and flags.

# The commit is looked at in every build, as sources change between configurations; `source` alone is
# compiled again where it differs, as it alone includes git_hash.h.
function(conelab_build_facts target source)
  find_package(Git QUIET)
  set(header ${CMAKE_BINARY_DIR}/generated/git_hash.h)
  add_custom_target(${target}_git_hash
    COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${CMAKE_SOURCE_DIR} -DHEADER=${header}
      -P ${CMAKE_SOURCE_DIR}/cmake/GitHash.cmake
    BYPRODUCTS ${header} COMMENT "" VERBATIM)
  add_dependencies(${target} ${target}_git_hash)
  set_property(SOURCE ${source} APPEND PROPERTY INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/generated)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" flags)
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
    "CONELAB_VERSION=\"${PROJECT_VERSION}\""
    "CONELAB_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\""
    "CONELAB_FLAGS=\"${flags}\"")
endfunction()
