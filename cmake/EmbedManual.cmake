# Writes the manual, resources/manual/*.md, into a source of a target, so that an installed program
# prints it (`conelab help TOPIC`). A text names its topic by its file's name. Images are left out.

function(conelab_embed_manual target)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/resources/manual/*.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(CONELAB_MANUAL_TOPICS)
  foreach(file ${files})
    get_filename_component(topic ${file} NAME_WE)
    file(READ ${file} text)
    string(REGEX REPLACE "!\\[[^]\n]*\\]\\([^)\n]*\\)\n" "" text "${text}")
    string(APPEND CONELAB_MANUAL_TOPICS "    {\"${topic}\", R\"manual(${text})manual\"},\n")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/manual.cpp)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/manual.cpp.in ${generated} @ONLY)
  target_sources(${target} PRIVATE ${generated})
  set_source_files_properties(${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
