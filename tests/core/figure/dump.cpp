#include "tests/core/figure/dump.h"

#include <fmt/format.h>
#include <zlib.h>

#include <numbers>

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

}  // namespace conelab::figure
