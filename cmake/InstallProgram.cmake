# Installs the program for any prefix, in components: `program` with the desktop and what announces it
# to others, or `nox`, the same commands without Qt, and `shared`, which both need: data, man pages and
# completion. Where there is no Qt, `program` is without the desktop, and there is no `nox`.
include(GNUInstallDirs)
install(TARGETS conelab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/datasets/minilm_trace.h5 ${CMAKE_SOURCE_DIR}/datasets/mammals_trace.h5
  DESTINATION ${CMAKE_INSTALL_DATADIR}/conelab COMPONENT shared)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/resources/studies DESTINATION ${CMAKE_INSTALL_DATADIR}/conelab
  COMPONENT shared FILES_MATCHING PATTERN "*.toml")
install(CODE "execute_process(COMMAND $<TARGET_FILE:conelab> pages
    -o \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR} COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT shared)

if(TARGET conelab_widgets)
  set(packaging ${CMAKE_SOURCE_DIR}/resources/packaging)
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${packaging}/conelab.desktop DESTINATION ${share}/applications COMPONENT program)
  install(FILES ${packaging}/conelab.svg DESTINATION ${share}/icons/hicolor/scalable/apps
    COMPONENT program)
  install(FILES ${packaging}/conelab.xml DESTINATION ${share}/mime/packages COMPONENT program)
  install(FILES ${packaging}/conelab.metainfo.xml DESTINATION ${share}/metainfo
    RENAME org.conelab.conelab.metainfo.xml COMPONENT program)

  add_executable(conelab_nox main.cpp desktop_plain.cpp)
  target_link_libraries(conelab_nox PRIVATE conelab_commands)
  set_target_properties(conelab_nox PROPERTIES
    OUTPUT_NAME conelab RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/nox/bin)
  conelab_house_rules(conelab_nox)
  install(TARGETS conelab_nox RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT nox EXCLUDE_FROM_ALL)
endif()
