// Writes a display list as text, and makes the checks that every writer relies on.
#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/drawing/display_list.h"

namespace conelab::figure {
namespace {

std::string rounded(double value) {
  const std::string text = fmt::format("{:.2f}", value);
  return text == "-0.00" ? "0.00" : text;
}

std::string rounded(Point p) { return rounded(p.x) + "," + rounded(p.y); }

std::string box(const Box& b) {
  return rounded({b.x, b.y}) + " " + rounded(b.width) + "x" + rounded(b.height);
}

std::string colour(Colour c) {
  if (c.a == 0) return "none";
  return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b) +
         (c.a == 255 ? "" : fmt::format("{:02x}", c.a));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

struct SegmentText {
  std::string operator()(const MoveTo& s) const { return " M " + rounded(s.to); }
  std::string operator()(const LineTo& s) const { return " L " + rounded(s.to); }
  std::string operator()(const ArcTo& s) const {
    const double degree = 180 / std::numbers::pi;
    std::string text = " A " + rounded(s.centre) + " r " + rounded(s.rx);
    if (s.ry != s.rx) text += "," + rounded(s.ry) + " turn " + rounded(s.rotation * degree);
    return text + " " + rounded(s.from * degree) + "+" + rounded(s.sweep * degree);
  }
  std::string operator()(const CubicTo& s) const {
    return " C " + rounded(s.control1) + " " + rounded(s.control2) + " " + rounded(s.to);
  }
  std::string operator()(const Close&) const { return " Z"; }
};

std::string outline(const Path& path) {
  std::string text;
  for (const Segment& s : path.segments) text += std::visit(SegmentText{}, s);
  return text;
}

std::string stroke(const Stroke& s) {
  if (s.width <= 0) return {};
  std::string text = " stroke " + colour(s.colour) + " " + rounded(s.width);
  for (std::size_t i = 0; i < s.dash.size(); ++i) text += (i ? "," : " dash ") + rounded(s.dash[i]);
  return text + (s.cap == Cap::butt ? "" : s.cap == Cap::round ? " round" : " square");
}

std::string run_text(const TextRun& run) {
  static constexpr const char* faces[] = {"", "bold ", "italic "};
  static constexpr const char* scripts[] = {"", "super ", "sub "};
  return fmt::format(" {}{}{}", faces[static_cast<int>(run.face)],
                     scripts[static_cast<int>(run.script)], quoted(run.text));
}

struct ItemText {
  std::string operator()(const PathItem& i) const {
    return "path fill " + colour(i.paint.fill) + stroke(i.paint.stroke) + ":" + outline(i.path);
  }
  std::string operator()(const TextItem& i) const {
    static constexpr const char* anchors[] = {"start", "middle", "end"};
    std::string text = fmt::format("text {} size {} {}", rounded(i.at), rounded(i.size),
                                   anchors[static_cast<int>(i.anchor)]);
    if (i.rotation != 0) text += " turn " + rounded(i.rotation);
    if (i.halo != 0) text += " halo " + rounded(i.halo);
    if (i.colour != black) text += " " + colour(i.colour);
    for (const TextRun& run : i.runs) text += run_text(run);
    return text;
  }
  std::string operator()(const ImageItem& i) const {
    const auto crc = crc32(0, i.rgba.data(), static_cast<uInt>(i.rgba.size()));
    return fmt::format("image {} cells {}x{} crc {:08x}", box(i.box), i.columns, i.rows, crc);
  }
  std::string operator()(const ClipBegin& i) const { return "clip" + outline(i.path); }
  std::string operator()(const ClipEnd&) const { return "end clip"; }
  std::string operator()(const GroupBegin& i) const {
    return "group " + i.id + (i.title.empty() ? "" : " " + quoted(i.title));
  }
  std::string operator()(const GroupEnd&) const { return "end group"; }
};

// ---- validation --------------------------------------------------------------------------------

template <class... Values>
void finite(const char* what, Values... values) {
  if (!(std::isfinite(values) && ...)) fail("figure: a {} is not finite", what);
}

struct SegmentCheck {
  void operator()(const MoveTo& s) const { finite("path's point", s.to.x, s.to.y); }
  void operator()(const LineTo& s) const { finite("path's point", s.to.x, s.to.y); }
  void operator()(const ArcTo& s) const {
    finite("arc", s.centre.x, s.centre.y, s.rx, s.ry, s.from, s.sweep, s.rotation);
  }
  void operator()(const CubicTo& s) const {
    finite("curve", s.control1.x, s.control1.y, s.control2.x, s.control2.y, s.to.x, s.to.y);
  }
  void operator()(const Close&) const {}
};

void check(const Path& path) {
  for (const Segment& s : path.segments) std::visit(SegmentCheck{}, s);
  if (!path.empty() && !std::holds_alternative<MoveTo>(path.segments.front())) {
    fail("figure: a path does not begin with a move");
  }
}

/// Checks items one by one, and stores which groups and clips are open.
struct ItemCheck {
  std::vector<char> open = {};
  std::set<std::string> ids = {};

  void operator()(const PathItem& i) {
    check(i.path);
    finite("line width", i.paint.stroke.width);
  }
  void operator()(const TextItem& i) { finite("text", i.at.x, i.at.y, i.size, i.rotation, i.halo); }
  void operator()(const ImageItem& i) {
    finite("image", i.box.x, i.box.y, i.box.width, i.box.height);
    if (i.columns == 0 || i.rows == 0 || i.rgba.size() != 4 * i.columns * i.rows) {
      fail("figure: an image of {} x {} cells carries {} bytes (expected {})", i.columns, i.rows,
           i.rgba.size(), 4 * i.columns * i.rows);
    }
  }
  void operator()(const ClipBegin& i) {
    check(i.path);
    open.push_back('c');
  }
  void operator()(const ClipEnd&) { pop('c', "clip"); }
  void operator()(const GroupBegin& i) {
    if (!ids.insert(i.id).second) fail("figure: two groups are called '{}'", i.id);
    open.push_back('g');
  }
  void operator()(const GroupEnd&) { pop('g', "group"); }
  void pop(char kind, const char* name) {
    if (open.empty() || open.back() != kind) fail("figure: the end of a {} that is not open", name);
    open.pop_back();
  }
};

}  // namespace

std::string dump(const DisplayList& list) {
  std::string text = "page " + rounded(list.width) + " x " + rounded(list.height) + "\n";
  const Metadata& m = list.metadata;
  for (const auto& [key, value] : {std::pair{"title", &m.title},
                                   {"description", &m.description},
                                   {"spec", &m.spec},
                                   {"data", &m.data_hash},
                                   {"seed", &m.seed}}) {
    if (!value->empty()) text += std::string(key) + " " + quoted(*value) + "\n";
  }
  for (const Item& item : list.items) text += std::visit(ItemText{}, item) + "\n";
  return text;
}

void validate(const DisplayList& list) {
  finite("page", list.width, list.height);
  if (list.width <= 0 || list.height <= 0) {
    fail("figure: the page is {} x {} points (expected positive)", list.width, list.height);
  }
  ItemCheck items;
  for (const Item& item : list.items) std::visit(items, item);
  if (!items.open.empty()) fail("figure: a clip or group is never closed");
}

}  // namespace conelab::figure
