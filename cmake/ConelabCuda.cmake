# Enables CUDA for the whole project at once; CONELAB_HAS_CUDA says whether it is there.
# CONELAB_CUDA: AUTO compiles it where this machine has a GPU and nvcc, ON wherever nvcc is found.
# CONELAB_CUDA_MACHINE_CODE: the compute capabilities whose machine code the portable kernels contain.
# Other GPUs, from 8.0 on, compile them when they are first used.
set(CONELAB_CUDA_MACHINE_CODE "90" CACHE STRING "Compute capabilities with machine code: 80;90")
set(CONELAB_HAS_CUDA OFF)

set(wants_cuda ${CONELAB_CUDA})
if(CONELAB_CUDA STREQUAL "AUTO")
  set(wants_cuda OFF)
  if(EXISTS /dev/nvidiactl OR EXISTS /dev/dxg)  # Linux; Windows' subsystem for Linux
    set(wants_cuda ON)
  endif()
endif()
if(wants_cuda)
  find_program(CONELAB_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(CONELAB_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${CONELAB_NVCC})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES 80-virtual)
  include(CheckLanguage)
  check_language(CUDA)
endif()

if(wants_cuda AND CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc has C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  endif()
  find_package(CUDAToolkit REQUIRED)
  set(CONELAB_HAS_CUDA ON)
  message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION} with machine code for ${CONELAB_CUDA_MACHINE_CODE}")
else()
  message(STATUS "CUDA is left out: no nvcc, no GPU or switched off (CONELAB_CUDA=${CONELAB_CUDA})")
endif()
