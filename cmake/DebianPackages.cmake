# Stops with the Debian packages that `pip install` needs and that are missing: those that ./dev lists
# for the build, without what the desktop needs and what pip brings itself. Elsewhere CMake names what
# it does not find.
find_program(DPKG_QUERY dpkg-query)
if(DPKG_QUERY)
  file(READ ${CMAKE_SOURCE_DIR}/dev script)
  string(REGEX MATCH "build_packages=\\(([^)]*)\\)" list "${script}")
  string(REGEX MATCHALL "[a-z0-9][a-z0-9.+-]*" needed "${CMAKE_MATCH_1}")
  list(FILTER needed EXCLUDE REGEX "^(qt6-|libqt6|libgl-dev|libimgui|libstb|ccache|cmake|ninja)")
  execute_process(COMMAND ${DPKG_QUERY} -W -f "\${Package} \${db:Status-Status}\n" ${needed}
    OUTPUT_VARIABLE known ERROR_QUIET)
  foreach(package IN LISTS needed)
    if(NOT "\n${known}" MATCHES "\n${package} installed\n")
      list(APPEND missing ${package})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing " " missing)
    message(FATAL_ERROR "Debian packages are missing; install them by\n  apt install ${missing}")
  endif()
endif()
