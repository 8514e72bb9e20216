// A figure as a display list: what is drawn, in drawing order, independent of the output format.
//
// The same list is written as SVG, PDF and PNG and shown on the screen, so that an exported figure
// equals the one on the screen. Coordinates are points (1/72 in) with the origin at the top left of
// the page and y pointing down. Angles are radians from +x towards +y, so that positive angles turn
// clockwise on the page. Later items cover earlier ones.
//
// Sizes and coordinates must be finite; writing throws a failure otherwise (`validate`). Text may
// contain any bytes: `DisplayList::text` replaces invalid UTF-8 and control characters (text.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace conelab::figure {

/// An sRGB colour with alpha, 8 bits each.
struct Colour {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  bool operator==(const Colour&) const = default;
  /// Returns the same colour with an opacity in [0, 1].
  [[nodiscard]] Colour opacity(double alpha) const;
};

inline constexpr Colour black{0, 0, 0, 255};
inline constexpr Colour white{255, 255, 255, 255};
inline constexpr Colour transparent{0, 0, 0, 0};

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// The axis-aligned rectangle [x, x + width] x [y, y + height], in points.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] bool contains(Point p) const {
    return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom();
  }
  /// Returns the rectangle enlarged by `margin` on every side.
  [[nodiscard]] Box grown(double margin) const {
    return {x - margin, y - margin, width + 2 * margin, height + 2 * margin};
  }
  bool operator==(const Box&) const = default;
};

// ---- paths -------------------------------------------------------------------------------------

struct MoveTo {
  Point to;
};
struct LineTo {
  Point to;
};
/// An exact elliptical arc that starts at the current point. `rx` and `ry` are the half-axes;
/// `from` and `sweep` are angles of the parameter of the unrotated ellipse; `rotation` turns the
/// ellipse about its centre.
struct ArcTo {
  Point centre;
  double rx = 0, ry = 0;
  double from = 0, sweep = 0;
  double rotation = 0;
  [[nodiscard]] Point at(double angle) const;
  [[nodiscard]] Point start() const { return at(from); }
  [[nodiscard]] Point end() const { return at(from + sweep); }
};
struct CubicTo {
  Point control1, control2, to;
};
struct Close {};
using Segment = std::variant<MoveTo, LineTo, ArcTo, CubicTo, Close>;

/// Returns cubic Bézier curves, each within 0.002 points of the arc, for formats without arcs
/// (PDF, QPainter). A cubic whose control points lie at the distance (4/3) tan(θ/4) along the
/// tangents deviates from the unit circle by about 4/27 · (θ/4)^6 · 4; the number of pieces
/// follows.
[[nodiscard]] std::vector<CubicTo> arc_curves(const ArcTo& arc);

/// An outline. Every function that adds to it returns the path itself, so that calls can be
/// chained.
struct Path {
  std::vector<Segment> segments;

  Path& move(Point to);
  Path& line(Point to);
  /// Adds the arc of a circle. If the current point differs from its start, a line joins them. In
  /// an empty path the arc begins with a move.
  Path& arc(Point centre, double radius, double from, double sweep);
  Path& ellipse_arc(const ArcTo& arc);
  Path& cubic(Point control1, Point control2, Point to);
  Path& close();

  [[nodiscard]] bool empty() const { return segments.empty(); }
  /// Returns the current point, which is the origin for an empty path.
  [[nodiscard]] Point current() const;

  static Path segment(Point from, Point to);
  static Path polyline(const std::vector<Point>& points, bool closed = false);
  static Path rectangle(const Box& box);
  static Path circle(Point centre, double radius);
};

enum class Cap { butt, round, square };

/// The appearance of a line. Width 0 draws nothing. `dash` alternates lengths of dashes and gaps,
/// in points.
struct Stroke {
  Colour colour = black;
  double width = 0;
  std::vector<double> dash = {};
  Cap cap = Cap::butt;
};

/// The fill and the stroke of a path; joins are round. A transparent fill draws nothing.
struct Paint {
  Colour fill = transparent;
  Stroke stroke = {};
  static Paint filled(Colour colour) { return {colour, {}}; }
  static Paint stroked(Colour colour, double width, std::vector<double> dash = {}) {
    return {transparent, {colour, width, std::move(dash)}};
  }
};

// ---- text --------------------------------------------------------------------------------------

enum class Face { regular, bold, italic };
enum class Script { normal, super, sub };
enum class Anchor { start, middle, end };
/// The line of the text that passes through the given point.
enum class Align { baseline, middle, top, bottom };

/// A part of a string in one face. Superscripts and subscripts have 0.7 of the size.
struct TextRun {
  std::string text;
  Face face = Face::regular;
  Script script = Script::normal;
  bool operator==(const TextRun&) const = default;
};

struct TextStyle {
  double size = 8;
  Face face = Face::regular;
  Anchor anchor = Anchor::start;
  Align align = Align::baseline;
  double rotation = 0;  ///< Degrees, clockwise on the page; -90 reads from bottom to top.
  Colour colour = black;
  /// Width [points] of a white outline under the glyphs, which keeps text legible over lines.
  double halo = 0;
};

// ---- items -------------------------------------------------------------------------------------

struct PathItem {
  Path path;
  Paint paint;
};
/// One string. `at` is the anchor on the baseline; the string is rotated about it.
struct TextItem {
  Point at;
  std::vector<TextRun> runs;
  double size = 8;
  Anchor anchor = Anchor::start;
  double rotation = 0;
  Colour colour = black;
  double halo = 0;
};
/// An image of cells with sharp edges, stored without loss: `rgba` [rows x columns x 4], row 0 at
/// the top.
struct ImageItem {
  Box box;
  std::size_t columns = 0, rows = 0;
  std::vector<std::uint8_t> rgba;
};
struct ClipBegin {
  Path path;
};
struct ClipEnd {};
/// Begins a part of the figure with a name for screen readers. Its id must be unique in the figure.
struct GroupBegin {
  std::string id, title;
};
struct GroupEnd {};
using Item = std::variant<PathItem, TextItem, ImageItem, ClipBegin, ClipEnd, GroupBegin, GroupEnd>;

/// The description of a figure. It contains no time, so that equal content gives equal bytes.
struct Metadata {
  std::string title;          ///< Also the accessible name.
  std::string description;    ///< The caption: what is shown, and how.
  bool draws_caption = true;  ///< Whether it stands under the drawing, too.
  std::string creator = "conelab";
  std::string version;
  std::string spec;       ///< The command, or the parameters of the template.
  std::string data_hash;  ///< SHA-256 of each input, separated by blanks; or empty.
  std::string seed;       ///< Seed of random numbers, or empty.
};

/// A figure. Width and height are whole numbers of points (style.h rounds column widths down).
struct DisplayList {
  double width = 0, height = 0;
  Metadata metadata;
  std::vector<Item> items;

  void path(Path outline, Paint paint);
  void line(Point from, Point to, const Stroke& stroke);
  void rectangle(const Box& box, const Paint& paint);
  void circle(Point centre, double radius, const Paint& paint);
  /// Adds a plain string without markup, cleaned by `clean_text`.
  void text(Point at, const std::string& string, const TextStyle& style = {});
  /// Adds text in runs, for instance those of `rich("<i>n</i><sup>2</sup>")` (text.h).
  void text(Point at, std::vector<TextRun> runs, const TextStyle& style = {});
  void image(const Box& box, std::size_t columns, std::size_t rows, std::vector<std::uint8_t> rgba);
  void clip_begin(Path outline) { items.emplace_back(ClipBegin{std::move(outline)}); }
  void clip_begin(const Box& box) { clip_begin(Path::rectangle(box)); }
  void clip_end() { items.emplace_back(ClipEnd{}); }
  void group_begin(std::string id, std::string title = {}) {
    items.emplace_back(GroupBegin{std::move(id), std::move(title)});
  }
  void group_end() { items.emplace_back(GroupEnd{}); }
};

/// Throws a failure if groups or clips are unbalanced, two groups have the same id, the page size
/// is not positive, a number is not finite, or the bytes of an image do not match its size. Every
/// output format calls it first.
void validate(const DisplayList& list);

}  // namespace conelab::figure
