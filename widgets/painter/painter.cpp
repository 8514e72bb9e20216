#include "widgets/painter/painter.h"

#include <QGuiApplication>
#include <QImage>
#include <QPainterPath>
#include <QRawFont>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/drawing/display_list.h"
#include "core/drawing/fonts.h"
#include "core/drawing/pdf.h"
#include "core/drawing/raster.h"
#include "core/drawing/style.h"
#include "core/drawing/svg.h"
#include "core/drawing/text.h"
#include "core/files/atomic_file.h"

namespace conelab::figure {
namespace {

QPointF at(Point p) { return {p.x, p.y}; }
QColor colour(Colour c) { return {c.r, c.g, c.b, c.a}; }

struct AddSegment {
  QPainterPath& path;
  void operator()(const MoveTo& s) const { path.moveTo(at(s.to)); }
  void operator()(const LineTo& s) const { path.lineTo(at(s.to)); }
  void operator()(const ArcTo& s) const {
    for (const CubicTo& curve : arc_curves(s)) (*this)(curve);
  }
  void operator()(const CubicTo& s) const {
    path.cubicTo(at(s.control1), at(s.control2), at(s.to));
  }
  void operator()(const Close&) const { path.closeSubpath(); }
};

QPainterPath outline(const Path& path) {
  QPainterPath out;
  out.setFillRule(Qt::WindingFill);
  for (const Segment& s : path.segments) std::visit(AddSegment{out}, s);
  return out;
}

QPen pen(const Stroke& stroke) {
  if (stroke.width <= 0 || stroke.colour.a == 0) return Qt::NoPen;
  QPen out(colour(stroke.colour), stroke.width);
  out.setJoinStyle(Qt::RoundJoin);
  out.setCapStyle(stroke.cap == Cap::butt    ? Qt::FlatCap
                  : stroke.cap == Cap::round ? Qt::RoundCap
                                             : Qt::SquareCap);
  QList<qreal> pattern;
  for (const double length : stroke.dash) pattern << length / stroke.width;
  if (pattern.size() % 2 != 0) pattern += pattern;
  if (!pattern.isEmpty()) out.setDashPattern(pattern);
  return out;
}

QPainterPath glyph_outlines(const QList<QGlyphRun>& runs) {
  QPainterPath path;
  path.setFillRule(Qt::WindingFill);
  for (const QGlyphRun& run : runs) {
    const auto glyphs = run.glyphIndexes();
    const auto places = run.positions();
    for (qsizetype i = 0; i < glyphs.size(); ++i) {
      path.addPath(run.rawFont().pathForGlyph(glyphs[i]).translated(places[i]));
    }
  }
  return path;
}

/// Draws items; a clip is a saved state of the painter.
struct PaintItem {
  QPainter& painter;

  void operator()(const PathItem& i) const {
    painter.setPen(pen(i.paint.stroke));
    painter.setBrush(i.paint.fill.a == 0 ? QBrush(Qt::NoBrush) : QBrush(colour(i.paint.fill)));
    painter.drawPath(outline(i.path));
  }
  void operator()(const TextItem& i) const {
    painter.save();
    painter.translate(at(i.at));
    painter.rotate(i.rotation);
    const QPainterPath outlines = glyph_outlines(qt_glyph_runs(i));
    if (i.halo > 0) {
      painter.strokePath(outlines,
                         QPen(Qt::white, 2 * i.halo, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    }
    painter.fillPath(outlines, colour(i.colour));
    painter.restore();
  }
  void operator()(const ImageItem& i) const {
    const ImageItem big = enlarged(i);
    const QImage image(big.rgba.data(), static_cast<int>(big.columns), static_cast<int>(big.rows),
                       static_cast<qsizetype>(4 * big.columns), QImage::Format_RGBA8888);
    painter.drawImage(QRectF(i.box.x, i.box.y, i.box.width, i.box.height), image);
  }
  void operator()(const ClipBegin& i) const {
    painter.save();
    painter.setClipPath(outline(i.path), Qt::IntersectClip);
  }
  void operator()(const ClipEnd&) const { painter.restore(); }
  void operator()(const GroupBegin&) const {}
  void operator()(const GroupEnd&) const {}
};

}  // namespace

void ensure_application() {
  if (QCoreApplication::instance() != nullptr) return;
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  static int count = 1;
  static char name[] = "conelab";
  static char* arguments[] = {name, nullptr};
  // Without a user session Qt warns about XDG_RUNTIME_DIR, which is not needed here.
  const QtMessageHandler usual =
      qInstallMessageHandler([](QtMsgType, const QMessageLogContext&, const QString&) {});
  new QGuiApplication(count, arguments);  // Never destroyed, because fonts refer to it.
  qInstallMessageHandler(usual);
}

void paint(const DisplayList& list, QPainter& painter) {
  validate(list);
  painter.save();
  painter.setRenderHints(QPainter::Antialiasing | QPainter::LosslessImageRendering);
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  const PaintItem items{painter};
  for (const Item& item : list.items) std::visit(items, item);
  painter.restore();
}

// PNG bytes, and the files of figures.

namespace {

std::string program(const Metadata& m) {
  return clean_text(m.version.empty() ? m.creator : m.creator + " " + m.version);
}

std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

std::vector<std::uint8_t> to_png(const DisplayList& list, double dots_per_inch) {
  validate(list);
  if (!(dots_per_inch >= 10 && dots_per_inch <= 2400)) {
    misuse("png: {} dots per inch (expected 10 to 2400)", dots_per_inch);
  }
  ensure_application();
  const double scale = dots_per_inch / 72;
  QImage image(static_cast<int>(std::lround(list.width * scale)),
               static_cast<int>(std::lround(list.height * scale)), QImage::Format_RGBX8888);
  if (image.isNull()) fail("png: an image of this size does not fit into memory");
  image.fill(Qt::white);
  {
    QPainter painter(&image);
    painter.scale(scale, scale);
    paint(list, painter);
  }
  const Metadata& m = list.metadata;
  const PngText text = {{"Title", clean_text(m.title)}, {"Description", clean_text(m.description)},
                        {"Software", program(m)},       {"Source", clean_text(m.spec)},
                        {"Data", m.data_hash},          {"Seed", m.seed}};
  const auto width = static_cast<std::size_t>(image.width());
  const auto height = static_cast<std::size_t>(image.height());
  return encode_png(width, height, {image.constBits(), 4 * width * height}, dots_per_inch, text);
}

void write_figure(const DisplayList& list, const std::string& path, double dots_per_inch) {
  const std::string format = file_format(path);
  write_text_atomically(path, format == "pdf"   ? to_pdf(list)
                              : format == "png" ? text_of(to_png(list, dots_per_inch))
                                                : to_svg(list));
}

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
