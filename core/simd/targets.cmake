file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/simd/kernel_*.cpp)
foreach(CONELAB_SIMILARITY IN LISTS CONELAB_SIMILARITIES)
  set(CONELAB_HEADER ${CONELAB_HEADER_${CONELAB_SIMILARITY}})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/kernel_${CONELAB_SIMILARITY}.cpp)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/simd/kernel_similarity.cpp.in ${source} @ONLY)
  list(APPEND kernel_sources ${source})
endforeach()

# It sees the list of similarities, and must not instantiate their kernels.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/simd/kernel_target.cpp PROPERTIES
  SKIP_PRECOMPILE_HEADERS ON)

# The kernel sources once for each SIMD target, each in a namespace of its own. Only these files see
# the target's flags; tests/house checks that no symbol of theirs is shared with other objects.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(simd_targets avx512 avx2 portable)
else()
  set(simd_targets portable)  # on AArch64 the baseline is NEON
endif()
set(simd_flags_avx512 -march=skylake-avx512 -maes -mpclmul -mprefer-vector-width=512)
set(simd_flags_avx2 -march=haswell -maes -mpclmul)
set(simd_flags_portable "")

# Compiled from a precompiled header, GCC's own header of AVX-512 seems to use values before they are set.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND simd_flags_avx512 -Wno-maybe-uninitialized -Wno-uninitialized)
endif()

# What Highway must have understood from these flags; a silent fall-back would only be slow.
set(simd_check_avx512 HWY_AVX3)
set(simd_check_avx2 HWY_AVX2)
set(simd_check_portable HWY_STATIC_TARGET)

foreach(target IN LISTS simd_targets)
  add_library(conelab_simd_${target} OBJECT ${kernel_sources})
  target_include_directories(conelab_simd_${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(conelab_simd_${target} PRIVATE PkgConfig::HWY fmt::fmt)
  conelab_house_rules(conelab_simd_${target})
  target_precompile_headers(conelab_simd_${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/simd/similarity_kernels.h)
  # The kernels may fuse multiply and add: their errors are measured, not derived.
  target_compile_options(conelab_simd_${target} PRIVATE
    ${simd_flags_${target}} -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math)
  if(CONELAB_SANITIZE)
    # Inlined a thousand times, all checks take minutes of compiling a file. Addresses stay checked,
    # in one target with vectors and in the portable one: the sources are the same for every target.
    set(unchecked undefined)
    if(target STREQUAL "avx512")
      set(unchecked all)
    endif()
    target_compile_options(conelab_simd_${target} PRIVATE -O1 -fno-sanitize=${unchecked})
  endif()
  target_compile_definitions(conelab_simd_${target} PRIVATE
    CONELAB_SIMD=simd_${target} CONELAB_SIMD_CHECK=${simd_check_${target}}
    HWY_COMPILE_ONLY_STATIC)
  target_sources(conelab_simd PRIVATE $<TARGET_OBJECTS:conelab_simd_${target}>)
endforeach()

# The tile unit on top of avx512, where the compiler and its assembler know it.
set(simd_flags_amx ${simd_flags_avx512} -mamx-tile -mamx-bf16)
set(has_amx FALSE)
if("avx512" IN_LIST simd_targets AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  include(CheckCXXSourceCompiles)
  string(REPLACE ";" " " CMAKE_REQUIRED_FLAGS "${simd_flags_amx}")
  check_cxx_source_compiles("
    #include <immintrin.h>
    int main() { _tile_loadd(1, nullptr, 64); _tile_dpbf16ps(0, 1, 2); }" CONELAB_COMPILES_AMX)
  unset(CMAKE_REQUIRED_FLAGS)
  set(has_amx ${CONELAB_COMPILES_AMX})
endif()
if(has_amx)
  add_library(conelab_simd_amx OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/simd/amx_products.cpp)
  target_include_directories(conelab_simd_amx PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(conelab_simd_amx PRIVATE fmt::fmt)
  conelab_house_rules(conelab_simd_amx)
  target_compile_options(conelab_simd_amx PRIVATE
    ${simd_flags_amx} -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math)
  if(CONELAB_SANITIZE)
    target_compile_options(conelab_simd_amx PRIVATE -O1 -fno-sanitize=all)
  endif()
  target_sources(conelab_simd PRIVATE $<TARGET_OBJECTS:conelab_simd_amx>)
endif()
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/simd/kernels.cpp PROPERTIES
  COMPILE_DEFINITIONS CONELAB_AMX=$<BOOL:${has_amx}>)
