// A figure as a display list: what to draw, in order, in points, without saying how.
//
// One list feeds every sink (SVG, PDF, PNG, the screen), so what is exported is what is seen, and
// its text dump is the golden test. Coordinates are points (1/72 in) with the origin at the page's
// top left and y pointing down. Angles are radians from +x towards +y, so positive angles turn
// clockwise on the page. Later items cover earlier ones.
//
// Edges: sizes and coordinates must be finite; sinks throw a failure when they are not. Text may be
// any bytes: invalid UTF-8 and control characters are replaced by `DisplayList::text` (text.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

namespace conelab::figure {

/// sRGB with alpha, 8 bits each.
struct Colour {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  bool operator==(const Colour&) const = default;
  /// The same colour with another opacity in [0, 1].
  [[nodiscard]] Colour opacity(double alpha) const;
};

inline constexpr Colour black{0, 0, 0, 255};
inline constexpr Colour white{255, 255, 255, 255};
inline constexpr Colour transparent{0, 0, 0, 0};

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// An axis-aligned rectangle, [x, x + width] x [y, y + height].
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
  [[nodiscard]] bool contains(Point p) const {
    return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom();
  }
  /// Grown by `margin` on every side.
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
/// An exact elliptical arc in centre form, from the angle `from` over `sweep` (both of the
/// unrotated ellipse's parameter); the ellipse is turned by `rotation`. The current point is its
/// start.
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

/// An outline; every builder returns the path itself so that calls chain.
struct Path {
  std::vector<Segment> segments;

  Path& move(Point to);
  Path& line(Point to);
  /// A circle's arc. A line joins the current point to its start when they differ; an empty path
  /// moves there.
  Path& arc(Point centre, double radius, double from, double sweep);
  Path& ellipse_arc(const ArcTo& arc);
  Path& cubic(Point control1, Point control2, Point to);
  Path& close();

  [[nodiscard]] bool empty() const { return segments.empty(); }
  /// Where the pen is; the origin for an empty path.
  [[nodiscard]] Point current() const;

  static Path segment(Point from, Point to);
  static Path polyline(const std::vector<Point>& points, bool closed = false);
  static Path rectangle(const Box& box);
  static Path circle(Point centre, double radius);
};

enum class Cap { butt, round, square };

/// A line's look; width 0 draws nothing. `dash` alternates on and off lengths in points.
struct Stroke {
  Colour colour = black;
  double width = 0;
  std::vector<double> dash = {};
  Cap cap = Cap::butt;
};

/// How a path is painted; joins are round. A transparent fill draws nothing.
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
/// Which line of the text lies on the given point.
enum class Align { baseline, middle, top, bottom };

/// A piece of a string in one face; super- and subscripts are 0.7 of the size.
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
  double rotation = 0;  ///< Degrees, clockwise on the page; -90 reads upwards.
  Colour colour = black;
  /// Width of a white outline under the glyphs that keeps text legible over lines; 0 is none.
  double halo = 0;
};

// ---- items -------------------------------------------------------------------------------------

struct PathItem {
  Path path;
  Paint paint;
};
/// One string; `at` is the anchor on the baseline, around which the string turns.
struct TextItem {
  Point at;
  std::vector<TextRun> runs;
  double size = 8;
  Anchor anchor = Anchor::start;
  double rotation = 0;
  Colour colour = black;
  double halo = 0;
};
/// A raster of crisp cells, lossless: `rgba` [rows x columns x 4], row 0 on top.
struct ImageItem {
  Box box;
  std::size_t columns = 0, rows = 0;
  std::vector<std::uint8_t> rgba;
};
struct ClipBegin {
  Path path;
};
struct ClipEnd {};
/// A part with a name for screen readers; ids need only be unique in the figure.
struct GroupBegin {
  std::string id, title;
};
struct GroupEnd {};
using Item = std::variant<PathItem, TextItem, ImageItem, ClipBegin, ClipEnd, GroupBegin, GroupEnd>;

/// What a figure says about itself. No wall clock: equal content gives equal bytes.
struct Metadata {
  std::string title;        ///< Also the accessible name.
  std::string description;  ///< The caption: what is shown, with every choice that was made.
  std::string creator = "conelab";
  std::string version;
  std::string spec;       ///< The command or the template's parameters.
  std::string data_hash;  ///< SHA-256 of the input, or empty.
  std::string seed;       ///< Of whatever was random, or empty.
};

/// A figure. Width and height are whole points (style.h rounds column widths down).
struct DisplayList {
  double width = 0, height = 0;
  Metadata metadata;
  std::vector<Item> items;

  void path(Path outline, Paint paint);
  void line(Point from, Point to, const Stroke& stroke);
  void rectangle(const Box& box, const Paint& paint);
  void circle(Point centre, double radius, const Paint& paint);
  /// Plain text, taken literally; cleaned by `clean_text`.
  void text(Point at, const std::string& string, const TextStyle& style = {});
  /// Text in runs, for instance of `rich("<i>n</i><sup>2</sup>")` (text.h).
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

/// The list as text, one item a line, two decimals; images by extent and CRC-32. The golden form.
[[nodiscard]] std::string dump(const DisplayList& list);

/// Throws a failure when groups or clips are unbalanced, two groups share an id, the page is not
/// positive, a number is not finite, or an image's bytes do not match its extent. Every sink calls
/// it first.
void validate(const DisplayList& list);

}  // namespace conelab::figure
