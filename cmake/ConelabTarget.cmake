# The house rules that every target shares: warnings, floating-point contract, sanitizers.

function(conelab_house_rules target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra $<$<BOOL:${CONELAB_WERROR}>:-Werror>>)
  # GCC 12 warns falsely about "literal" + std::string (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  endif()
  # Lets ccache serve files that use a precompiled header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
  # Results must not depend on what the compiler happens to fuse; the kernels opt out by name.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  if(CONELAB_FUZZ AND target MATCHES "^conelab_simd")
    # No fuzzer runs the kernels, which would take most of the time to compile.
    target_compile_options(${target} PRIVATE -O0)
  elseif(CONELAB_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CONELAB_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all>)
    target_link_options(${target} PUBLIC -fsanitize=${CONELAB_SANITIZE})
  endif()
endfunction()
