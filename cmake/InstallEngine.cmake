# Installs the engine as the component `dev`, for find_package(conelab) and pkg-config:
# conelab::engine, C++ in static libraries, and conelab::capi, a shared library with the functions of
# core/capi/conelab.h alone.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(conelab_shared SHARED ${CMAKE_CURRENT_SOURCE_DIR}/capi/conelab.cpp)
target_include_directories(conelab_shared PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/capi> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(conelab_shared PRIVATE conelab_operators)
# Of the static libraries nothing is seen from outside.
target_link_options(conelab_shared PRIVATE LINKER:--exclude-libs,ALL)
set_target_properties(conelab_shared PROPERTIES OUTPUT_NAME conelab EXPORT_NAME capi
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
conelab_house_rules(conelab_shared)

set_target_properties(conelab_engine PROPERTIES EXPORT_NAME engine)
list(TRANSFORM CONELAB_ENGINE PREPEND conelab_ OUTPUT_VARIABLE engine_targets)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
install(TARGETS conelab_engine ${engine_targets} conelab_shared EXPORT conelab
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT conelab NAMESPACE conelab:: FILE conelabTargets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conelab)
foreach(folder IN LISTS CONELAB_ENGINE)
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/conelab/core FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/capi/conelab.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/conelabConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/conelabConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conelab)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/conelabConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/conelabConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/conelabConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/conelab)

# The folders of a .pc file are found from where it lies. Static libraries that need each other in both
# directions stand in a group.
list(TRANSFORM engine_targets PREPEND -l)
list(JOIN engine_targets " " CONELAB_ENGINE_LIBRARIES)
file(RELATIVE_PATH CONELAB_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name conelab conelab-engine)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
