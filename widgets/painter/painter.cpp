#include "widgets/painter/painter.h"

#include <QGuiApplication>
#include <QPainterPath>
#include <QRawFont>

#include "core/figure/display_list.h"
#include "core/figure/raster.h"

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

}  // namespace conelab::figure
