#include "widgets/explorer/scene_painter.h"

#include <Eigen/Geometry>
#include <QOpenGLBuffer>
#include <QOpenGLContext>
#include <QOpenGLExtraFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr const char* corner_source = R"(#version 330 core
layout(location = 0) in vec2 at;
layout(location = 1) in vec4 colour;
uniform vec2 window;
out vec4 tint;
void main() {
  tint = colour;
  gl_Position = vec4(2.0 * at.x / window.x - 1.0, 1.0 - 2.0 * at.y / window.y, 0.0, 1.0);
}
)";

constexpr const char* tint_source = R"(#version 330 core
in vec4 tint;
out vec4 result;
void main() { result = tint; }
)";

// The colour carries the texture coordinates.
constexpr const char* picture_source = R"(#version 330 core
in vec4 tint;
uniform sampler2D picture;
out vec4 result;
void main() { result = textureLod(picture, tint.xy, 0.0); }
)";

struct Texture {
  unsigned name = 0;
  long version = -1;
};

Corner corner(double x, double y, const QColor& c, double alpha) {
  return {static_cast<float>(x),    static_cast<float>(y), c.redF(), c.greenF(), c.blueF(),
          static_cast<float>(alpha)};
}

void add_rectangle(std::vector<Corner>& out, const figure::Box& b, const QColor& c, double alpha) {
  const Corner four[] = {corner(b.x, b.y, c, alpha), corner(b.right(), b.y, c, alpha),
                         corner(b.right(), b.bottom(), c, alpha),
                         corner(b.x, b.bottom(), c, alpha)};
  for (const int i : {0, 1, 2, 0, 2, 3}) out.push_back(four[i]);
}

/// Triangulates the interior of a convex line.
void add_convex(std::vector<Corner>& out, const Line& line, const QColor& c, double alpha) {
  for (std::size_t i = 2; i < line.size(); ++i) {
    for (const figure::Point& p : {line[0], line[i - 1], line[i]}) {
      out.push_back(corner(p.x, p.y, c, alpha));
    }
  }
}

figure::Box bounds(const std::vector<Line>& contours, const figure::Box& within) {
  double left = 1e30, top = 1e30, right = -1e30, bottom = -1e30;
  for (const Line& line : contours) {
    for (const figure::Point& p : line) {
      left = std::min(left, p.x), right = std::max(right, p.x);
      top = std::min(top, p.y), bottom = std::max(bottom, p.y);
    }
  }
  left = std::max(left, within.x), top = std::max(top, within.y);
  right = std::min(right, within.right()), bottom = std::min(bottom, within.bottom());
  return {left, top, std::max(0.0, right - left), std::max(0.0, bottom - top)};
}

bool is_rectangle(const Fill& fill) {
  if (fill.contours.size() != 1 || fill.contours[0].size() != 4) return false;
  const Line& c = fill.contours[0];
  const auto sides = [&](std::size_t i) {
    return c[i].y == c[i + 1].y && c[i + 1].x == c[(i + 2) % 4].x;
  };
  return (sides(0) && sides(2)) || (c[0].x == c[1].x && c[1].y == c[2].y && c[2].x == c[3].x);
}

struct Triangle {
  int layer;
  double depth;
  Corner corners[3];
};

/// Appends one lit triangle of a surface; nothing if its three points are on a line.
void add_triangle(std::vector<Triangle>& out, const Surface& s, std::array<std::size_t, 3> at,
                  const SpaceFrame& frame, const Eigen::Vector3d& light, const QColor& ink) {
  const Eigen::Vector3d& origin = s.points[at[0]];
  const Eigen::Vector3d normal = (s.points[at[1]] - origin).cross(s.points[at[2]] - origin);
  const double size = normal.norm();
  if (!(size > 1e-14)) return;
  // Surfaces with their own colours get less shade, so that the colours can be read.
  const double facing = 0.28 * std::abs(normal.dot(light)) / size;
  const auto shade = static_cast<float>(s.colours.empty() ? 0.72 + facing : 0.96 + 0.14 * facing);
  Triangle t{};
  t.layer = s.layer;
  for (std::size_t i = 0; i < 3; ++i) {
    const Eigen::Vector3d p = frame.page(s.points[at[i]]);
    Corner& c = t.corners[i];
    c = corner(p.x(), p.y(), ink, s.opacity);
    if (!s.colours.empty()) {
      const figure::Colour& own = s.colours[at[i]];
      c.r = static_cast<float>(own.r) / 255, c.g = static_cast<float>(own.g) / 255;
      c.b = static_cast<float>(own.b) / 255;
    }
    c.r *= shade, c.g *= shade, c.b *= shade;
    t.depth += p.z();
  }
  out.push_back(t);
}

/// A range of the uploaded corners.
struct Range {
  int begin, count;
};

/// The ranges of a fill: one range of triangles, or a fan for each contour and the triangles of a
/// rectangle around them.
std::vector<Range> add_fill(std::vector<Corner>& corners, const Fill& fill, const QColor& colour,
                            const figure::Box& box) {
  const auto begin = static_cast<int>(corners.size());
  if (fill.plain || is_rectangle(fill)) {  // Needs no stencil.
    for (const Line& contour : fill.contours) {
      fill.plain ? add_convex(corners, contour, colour, fill.opacity)
                 : add_rectangle(corners, bounds(fill.contours, box), colour, fill.opacity);
    }
    return {{begin, static_cast<int>(corners.size()) - begin}};
  }
  std::vector<Range> ranges;
  for (const Line& contour : fill.contours) {
    ranges.push_back({static_cast<int>(corners.size()), static_cast<int>(contour.size())});
    for (const figure::Point& p : contour) corners.push_back(corner(p.x, p.y, colour, 1));
  }
  ranges.push_back({static_cast<int>(corners.size()), 6});
  add_rectangle(corners, bounds(fill.contours, box).grown(1), colour, fill.opacity);
  return ranges;
}

}  // namespace

std::vector<Corner> triangles_of(const std::vector<Surface>& surfaces, const SpaceFrame& frame,
                                 const QPalette& palette) {
  std::vector<Triangle> all;
  const Eigen::Vector3d light = (Eigen::Vector3d(0.3, 0.2, 0.8) - frame.away()).normalized();
  for (const Surface& s : surfaces) {
    const QColor ink = fill_colour(s.ink, palette);
    for (std::size_t i = 0; i + 1 < s.rows; ++i) {
      for (std::size_t j = 0; j + 1 < s.columns; ++j) {
        const std::size_t a = i * s.columns + j, b = a + s.columns;
        add_triangle(all, s, {a, a + 1, b + 1}, frame, light, ink);
        add_triangle(all, s, {a, b + 1, b}, frame, light, ink);
      }
    }
  }
  const bool from_above = frame.away().z() < 0;
  std::ranges::stable_sort(all, [&](const Triangle& a, const Triangle& b) {
    if (a.layer != b.layer) return (a.layer < b.layer) == from_above;
    return a.depth > b.depth;
  });
  std::vector<Corner> out;
  for (const Triangle& t : all) out.insert(out.end(), t.corners, t.corners + 3);
  return out;
}

struct ScenePainter::Objects {
  QOpenGLShaderProgram tint, picture;
  QOpenGLVertexArrayObject array;
  QOpenGLBuffer buffer{QOpenGLBuffer::VertexBuffer};
  std::map<int, Texture> textures;
  QSizeF size;
  double density = 1;
  QOpenGLExtraFunctions* gl = nullptr;

  void send(const std::vector<Corner>& corners) {
    buffer.bind();
    buffer.allocate(corners.data(), static_cast<int>(corners.size() * sizeof(Corner)));
    gl->glEnableVertexAttribArray(0);
    gl->glEnableVertexAttribArray(1);
    gl->glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(Corner), nullptr);
    gl->glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, sizeof(Corner),
                              reinterpret_cast<const void*>(offsetof(Corner, r)));
  }
  /// Fills by the even-odd rule. The fan of a contour flips the stencil bit of a pixel once for
  /// each triangle over it. The rectangle around the contours, the last range, paints where the bit
  /// is set and clears it. It extends one pixel beyond the fans, and neither draws outside the box.
  /// The stencil is therefore zero again after every picture; clearing all of it would take a
  /// software renderer as long as filling it.
  void draw_fans(const std::vector<Range>& ranges) const {
    gl->glEnable(GL_STENCIL_TEST);
    gl->glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    gl->glStencilFunc(GL_ALWAYS, 0, 1);
    gl->glStencilOp(GL_KEEP, GL_KEEP, GL_INVERT);
    for (std::size_t i = 0; i + 1 < ranges.size(); ++i) {
      gl->glDrawArrays(GL_TRIANGLE_FAN, ranges[i].begin, ranges[i].count);
    }
    gl->glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    gl->glStencilFunc(GL_NOTEQUAL, 0, 1);
    gl->glStencilOp(GL_ZERO, GL_ZERO, GL_ZERO);
    gl->glDrawArrays(GL_TRIANGLES, ranges.back().begin, ranges.back().count);
    gl->glDisable(GL_STENCIL_TEST);
  }
  /// Restricts drawing to the pixels that the box touches.
  void clip_to(const figure::Box& box) const {
    const double left = std::floor(box.x * density), right = std::ceil(box.right() * density);
    const double low = std::floor((size.height() - box.bottom()) * density);
    const double high = std::ceil((size.height() - box.y) * density);
    gl->glEnable(GL_SCISSOR_TEST);
    gl->glScissor(static_cast<int>(left), static_cast<int>(low), static_cast<int>(right - left),
                  static_cast<int>(high - low));
  }
  void use(QOpenGLShaderProgram& program) {
    program.bind();
    program.setUniformValue(
        "window", QVector2D(static_cast<float>(size.width()), static_cast<float>(size.height())));
  }
};

ScenePainter::ScenePainter() = default;
ScenePainter::~ScenePainter() = default;

void ScenePainter::create() {
  objects_ = std::make_unique<Objects>();
  for (const auto& [program, fragment] :
       {std::pair{&objects_->tint, tint_source}, {&objects_->picture, picture_source}}) {
    program->addShaderFromSourceCode(QOpenGLShader::Vertex, corner_source);
    program->addShaderFromSourceCode(QOpenGLShader::Fragment, fragment);
    if (!program->link()) qWarning("%s", qPrintable(program->log()));
  }
  objects_->array.create();
  objects_->buffer.create();
  objects_->buffer.setUsagePattern(QOpenGLBuffer::StreamDraw);
}

void ScenePainter::destroy() {
  if (!objects_) return;
  QOpenGLFunctions* gl = QOpenGLContext::currentContext()->functions();
  for (auto& [index, texture] : objects_->textures) gl->glDeleteTextures(1, &texture.name);
  objects_.reset();
}

void ScenePainter::begin(const QSizeF& size, double density) {
  Objects& o = *objects_;
  o.gl = QOpenGLContext::currentContext()->extraFunctions();
  o.size = size, o.density = density;
  o.array.bind();
  o.gl->glDisable(GL_CULL_FACE);
  o.gl->glDisable(GL_BLEND);
  // Alpha is not written, so that the window stays opaque.
  o.gl->glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
}

void ScenePainter::end() {
  Objects& o = *objects_;
  o.gl->glDisable(GL_SCISSOR_TEST);
  o.gl->glDisable(GL_STENCIL_TEST);
  o.buffer.release();
  o.array.release();
  o.gl->glUseProgram(0);
}

void ScenePainter::heat(int index, long version, const HeatRaster& raster, const PlaneFrame& frame,
                        const Line& ground) {
  Objects& o = *objects_;
  Texture& texture = o.textures[index];
  o.gl->glActiveTexture(GL_TEXTURE0);
  if (texture.name == 0) o.gl->glGenTextures(1, &texture.name);
  o.gl->glBindTexture(GL_TEXTURE_2D, texture.name);
  if (texture.version != version) {
    o.gl->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, raster.columns(), raster.rows(), 0, GL_RGBA,
                       GL_UNSIGNED_BYTE, raster.pixels().data());
    for (const auto& [key, value] : {std::pair{GL_TEXTURE_MIN_FILTER, GL_LINEAR},
                                     {GL_TEXTURE_MAX_LEVEL, 0},
                                     {GL_TEXTURE_MAG_FILTER, GL_LINEAR},
                                     {GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE},
                                     {GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE}}) {
      o.gl->glTexParameteri(GL_TEXTURE_2D, static_cast<GLenum>(key), value);
    }
    texture.version = version;
  }
  // Nodes are the centres of the texels.
  const auto columns = static_cast<float>(raster.columns());
  const auto rows = static_cast<float>(raster.rows());
  std::vector<Corner> corners;
  add_convex(corners, ground, Qt::black, 1);
  const auto along = [](double part, float count) {
    return (static_cast<float>(part) * (count - 1) + 0.5F) / count;
  };
  for (Corner& c : corners) {
    c.r = along((c.x - frame.corner().x) / frame.width(), columns);
    c.g = along((c.y - frame.corner().y) / frame.height(), rows);
  }
  o.send(corners);
  o.use(o.picture);
  o.picture.setUniformValue("picture", 0);
  o.gl->glDrawArrays(GL_TRIANGLES, 0, static_cast<int>(corners.size()));
}

void ScenePainter::fills(const std::vector<Fill>& fills, const QPalette& palette,
                         const figure::Box& box) {
  Objects& o = *objects_;
  std::vector<Corner> corners;
  std::vector<std::vector<Range>> shapes;
  for (const Fill& fill : fills) {
    shapes.push_back(add_fill(corners, fill, fill_colour(fill.ink, palette), box));
  }
  if (corners.empty()) return;
  o.send(corners);
  o.use(o.tint);
  o.clip_to(box);
  for (std::size_t f = 0; f < shapes.size(); ++f) {
    fills[f].opacity < 1 ? o.gl->glEnable(GL_BLEND) : o.gl->glDisable(GL_BLEND);
    if (shapes[f].size() == 1) {
      o.gl->glDrawArrays(GL_TRIANGLES, shapes[f][0].begin, shapes[f][0].count);
    } else {
      o.draw_fans(shapes[f]);
    }
  }
  o.gl->glDisable(GL_SCISSOR_TEST);
  o.gl->glDisable(GL_BLEND);
}

void ScenePainter::triangles(const std::vector<Corner>& corners) {
  if (corners.empty()) return;
  Objects& o = *objects_;
  o.send(corners);
  o.use(o.tint);
  o.gl->glEnable(GL_BLEND);
  o.gl->glDrawArrays(GL_TRIANGLES, 0, static_cast<int>(corners.size()));
  o.gl->glDisable(GL_BLEND);
}

QColor line_colour(Ink ink, const QPalette& palette) {
  const auto by_theme = [&](QRgb light, QRgb dark) {
    return QColor(is_dark(palette) ? dark : light);
  };
  if (ink == Ink::u) return operator_colour(0, palette);
  if (ink == Ink::v) return operator_colour(1, palette);
  if (ink == Ink::ancestors) return operator_colour(2, palette);
  if (ink == Ink::depth) return focus_colour();
  if (ink == Ink::light) return by_theme(0xc98600, 0xe6b84a);
  if (ink == Ink::level) return by_theme(0x30485c, 0xd0d6de);
  if (ink == Ink::geodesic) return by_theme(0x40464e, 0xe4e6ea);
  return quiet_ink(palette);
}

QColor fill_colour(Ink ink, const QPalette& palette) {
  const bool dark = is_dark(palette);
  if (ink == Ink::light) return dark ? QColor(0x57, 0x4a, 0x22) : QColor(0xff, 0xf0, 0xc4);
  if (ink == Ink::shadow) return dark ? QColor(0, 0, 0) : QColor(0x50, 0x50, 0x50);
  const bool is_ground = ink == Ink::excluded || ink == Ink::outside;
  return is_ground ? palette.color(QPalette::Window) : line_colour(ink, palette);
}

}  // namespace conelab::desktop
