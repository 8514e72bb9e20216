#include "core/figure/glyphs.h"

#include <QRawFont>
#include <array>

#include "core/base/error.h"
#include "widgets/painter/painter.h"

namespace conelab::figure {
namespace {

QRawFont open(FontFile file) {
  const Bytes bytes = font_bytes(file);
  const QRawFont font(QByteArray::fromRawData(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<qsizetype>(bytes.size())),
                      1000, QFont::PreferNoHinting);
  if (!font.isValid()) fail("Qt refuses the embedded font {}", static_cast<int>(file));
  return font;
}

/// Raw fonts belong to one thread and are opened once per thread. They are never closed, because at
/// the end of the program Qt may be destroyed before static objects.
QRawFont raw_font(FontFile file) {
  static thread_local const auto& fonts = *new std::array<QRawFont, 5>{
      open(FontFile::regular), open(FontFile::bold), open(FontFile::italic),
      open(FontFile::fallback), open(FontFile::signs)};
  return fonts[static_cast<std::size_t>(file)];
}

}  // namespace

QList<QGlyphRun> qt_glyph_runs(const TextItem& item) {
  QList<QGlyphRun> runs;
  for (const GlyphRun& run : glyph_runs(item)) {
    QList<quint32> glyphs;
    QList<QPointF> places;
    for (const PlacedGlyph& glyph : run.glyphs) {
      glyphs << glyph.glyph;
      places << QPointF(glyph.x, glyph.y);
    }
    QRawFont font = raw_font(run.file);
    font.setPixelSize(run.size);
    QGlyphRun out;
    out.setRawFont(font);
    out.setGlyphIndexes(glyphs);
    out.setPositions(places);
    runs << out;
  }
  return runs;
}

}  // namespace conelab::figure
