# Puts the fonts of figures into a target, so that no figure depends on the machine's fonts.
# Debian: fonts-liberation2 and fonts-dejavu-core. Elsewhere set CONELAB_FONT_* or CONELAB_FONT_DIR.

function(conelab_find_font variable file)
  find_file(${variable} ${file}
    HINTS ${CONELAB_FONT_DIR}
    PATHS /usr/share/fonts /usr/local/share/fonts
    PATH_SUFFIXES truetype/liberation2 truetype/liberation truetype/dejavu liberation liberation2
      liberation-fonts liberation-sans-fonts liberation-sans liberation-fonts-ttf dejavu TTF
      dejavu-sans-fonts truetype
    NO_DEFAULT_PATH REQUIRED)
endfunction()

function(conelab_embed_fonts target)
  conelab_find_font(CONELAB_FONT_REGULAR LiberationSans-Regular.ttf)
  conelab_find_font(CONELAB_FONT_BOLD LiberationSans-Bold.ttf)
  conelab_find_font(CONELAB_FONT_ITALIC LiberationSans-Italic.ttf)
  conelab_find_font(CONELAB_FONT_FALLBACK DejaVuSans.ttf)
  set(CONELAB_FONT_SIGNS ${CMAKE_SOURCE_DIR}/resources/fonts/conelab-signs.ttf)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/fonts_data.cpp)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/drawing/fonts_data.cpp.in ${generated} @ONLY)
  set_source_files_properties(${generated} PROPERTIES OBJECT_DEPENDS
    "${CONELAB_FONT_REGULAR};${CONELAB_FONT_BOLD};${CONELAB_FONT_ITALIC};${CONELAB_FONT_FALLBACK};${CONELAB_FONT_SIGNS}")
  target_sources(${target} PRIVATE ${generated})
endfunction()
