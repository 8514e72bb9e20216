#include <QFont>
#include <QFontDatabase>
#include <QRawFont>
#include <QTextLayout>
#include <array>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/figure/font_metrics.h"
#include "core/figure/fonts.h"
#include "core/figure/missing_glyphs.h"
#include "core/figure/text.h"
#include "widgets/painter/painter.h"

namespace conelab::figure {
namespace {

/// Registers the embedded font with Qt's font database instead of loading it from bytes: QPdfWriter
/// embeds only fonts with a file name, and the database assigns one.
QString enter(FontFile file) {
  static constexpr const char* names[] = {"Conelab Sans", "Conelab Sans Bold",
                                          "Conelab Sans Italic", "Conelab Fallback"};
  const auto bytes = renamed_font(file, names[static_cast<std::size_t>(file)]);
  const int id = QFontDatabase::addApplicationFontFromData(QByteArray(
      reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())));
  const QStringList families = QFontDatabase::applicationFontFamilies(id);
  if (families.isEmpty()) fail("Qt refuses the embedded font {}", names[static_cast<int>(file)]);
  return families.front();
}

QRawFont open(FontFile file) {
  static const std::array<QString, 4>& families =
      *new std::array<QString, 4>{enter(FontFile::regular), enter(FontFile::bold),
                                  enter(FontFile::italic), enter(FontFile::fallback)};
  QFont request(families[static_cast<std::size_t>(file)]);
  request.setPixelSize(1000);
  request.setHintingPreference(QFont::PreferNoHinting);
  request.setStyleStrategy(QFont::NoFontMerging);
  request.setBold(file == FontFile::bold);
  request.setItalic(file == FontFile::italic);
  return QRawFont::fromFont(request);
}

/// Raw fonts belong to one thread and are opened once per thread. They are never closed, because at
/// the end of the program Qt may be destroyed before static objects.
QRawFont raw_font(FontFile file) {
  static thread_local const auto& fonts =
      *new std::array<QRawFont, 4>{open(FontFile::regular), open(FontFile::bold),
                                   open(FontFile::italic), open(FontFile::fallback)};
  return fonts[static_cast<std::size_t>(file)];
}

/// Returns whether the letters of a script join or reorder. Other scripts are drawn letter by
/// letter.
bool shaped(std::u32string_view text) {
  for (const char32_t c : text) {
    if ((c >= 0x0590 && c < 0x0900) || (c >= 0x0900 && c < 0x0E00) || (c >= 0xFB1D && c < 0xFE00) ||
        (c >= 0xFE70 && c < 0xFF00)) {
      return true;
    }
  }
  return false;
}

/// Appends glyph runs at 1000 units per em, the size of the raw fonts, and returns the final x.
class Setter {
 public:
  double place(std::u32string_view text, FontFile file, double x, double y, double size) {
    const double scale = size / 1000;
    const QRawFont raw = raw_font(file);
    return shaped(text) ? shape(text, raw, x, y, scale) : letters(text, file, raw, x, y, scale);
  }
  QList<QGlyphRun> runs;

 private:
  double letters(std::u32string_view text, FontFile file, const QRawFont& raw, double x, double y,
                 double scale) {
    QList<quint32> glyphs;
    QList<QPointF> places;
    for (const char32_t c : text) {
      glyphs << glyph_of(file, c);
      places << QPointF(x, y);
      x += advance(file, c) * 1000 * scale;
    }
    add(raw, glyphs, places, scale);
    return x;
  }
  double shape(std::u32string_view text, const QRawFont& raw, double x, double y, double scale) {
    QTextLayout layout(QString::fromUcs4(text.data(), static_cast<qsizetype>(text.size())));
    layout.setRawFont(raw);
    layout.beginLayout();
    QTextLine line = layout.createLine();
    layout.endLayout();
    const double base = line.isValid() ? line.ascent() : 0;
    for (const QGlyphRun& run : layout.glyphRuns()) {
      QList<QPointF> places;
      for (const QPointF& p : run.positions()) {
        places << QPointF(x + p.x() * scale, y + (p.y() - base) * scale);
      }
      add(run.rawFont(), run.glyphIndexes(), places, scale);
    }
    return x + (line.isValid() ? line.naturalTextWidth() * scale : 0);
  }
  void add(QRawFont raw, const QList<quint32>& glyphs, const QList<QPointF>& places, double scale) {
    raw.setPixelSize(1000 * scale);
    QGlyphRun run;
    run.setRawFont(raw);
    run.setGlyphIndexes(glyphs);
    run.setPositions(places);
    runs << run;
  }
};

/// Moves runs so that the anchor is at the origin. It uses the drawn width, which for shaped
/// scripts differs from the sum of the letters.
void anchor_runs(QList<QGlyphRun>& runs, Anchor anchor, double width) {
  const double shift = anchor == Anchor::start ? 0 : anchor == Anchor::middle ? width / 2 : width;
  for (QGlyphRun& run : runs) {
    QList<QPointF> places = run.positions();
    for (QPointF& p : places) p.rx() -= shift;
    run.setPositions(places);
  }
}

}  // namespace

QList<QGlyphRun> glyph_runs(const TextItem& item) {
  Setter setter;
  double x = 0;
  for (const TextRun& run : item.runs) {
    const std::u32string text = drawn_text(run.face, decode_utf8(run.text));
    const double size = run_size(run, item.size), y = -run_rise(run, item.size);
    for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
      const FontFile file = font_for(run.face, text[begin]);
      for (end = begin + 1; end < text.size() && font_for(run.face, text[end]) == file;) ++end;
      x = setter.place(std::u32string_view(text).substr(begin, end - begin), file, x, y, size);
    }
  }
  anchor_runs(setter.runs, item.anchor, x);
  return setter.runs;
}

}  // namespace conelab::figure
