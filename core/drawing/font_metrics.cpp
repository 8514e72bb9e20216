#include "core/drawing/font_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/drawing/fonts.h"

namespace conelab::figure {
namespace {

double character_width(Face face, char32_t code) {
  if (has_glyph(face, code)) return advance(font_for(face, code), code);
  double width = 0;
  for (const char32_t c : code_point_text(code)) width += advance(font_for(face, c), c);
  return width;
}

std::pair<double, double> extent_along(const Quad& quad, Point axis) {
  double low = 1e300, high = -1e300;
  for (const Point& p : quad) {
    const double t = p.x * axis.x + p.y * axis.y;
    low = std::min(low, t), high = std::max(high, t);
  }
  return {low, high};
}

bool separated_by_edges_of(const Quad& a, const Quad& b) {
  for (std::size_t i = 0; i < 4; ++i) {
    const Point p = a[i], q = a[(i + 1) % 4];
    const Point axis = {p.y - q.y, q.x - p.x};
    const auto [a_low, a_high] = extent_along(a, axis);
    const auto [b_low, b_high] = extent_along(b, axis);
    const double slack = 1e-6 * std::hypot(axis.x, axis.y);
    if (a_high <= b_low + slack || b_high <= a_low + slack) return true;
  }
  return false;
}

}  // namespace

double run_size(const TextRun& run, double size) {
  return run.script == Script::normal ? size : script_size * size;
}

double run_rise(const TextRun& run, double size) {
  if (run.script == Script::normal) return 0;
  return size * (run.script == Script::super ? super_rise : sub_rise);
}

double text_width(std::string_view utf8, double size, Face face) {
  double em = 0;
  for (const char32_t c : decode_utf8(utf8)) em += character_width(face, c);
  return em * size;
}

double text_width(const std::vector<TextRun>& runs, double size) {
  double width = 0;
  for (const TextRun& run : runs) width += text_width(run.text, run_size(run, size), run.face);
  return width;
}

std::string elide(std::string_view utf8, double size, double width, Face face) {
  if (text_width(utf8, size, face) <= width) return std::string(utf8);
  double room = width - text_width("…", size, face);
  std::u32string kept;
  for (const char32_t c : decode_utf8(utf8)) {
    room -= size * character_width(face, c);
    if (room < 0) break;
    kept += c;
  }
  return encode_utf8(kept) + "…";
}

Quad text_quad(const TextItem& item) {
  const double width = text_width(item.runs, item.size);
  const double left = item.anchor == Anchor::start    ? 0
                      : item.anchor == Anchor::middle ? -width / 2
                                                      : -width;
  double top = -cap_height() * item.size, bottom = 0.22 * item.size;
  for (const TextRun& run : item.runs) {
    const double rise = run_rise(run, item.size), size = run_size(run, item.size);
    top = std::min(top, -rise - cap_height() * size);
    bottom = std::max(bottom, -rise + 0.22 * size);
  }
  const double turn = item.rotation * std::numbers::pi / 180;
  const auto place = [&](double x, double y) {
    return Point{item.at.x + std::cos(turn) * x - std::sin(turn) * y,
                 item.at.y + std::sin(turn) * x + std::cos(turn) * y};
  };
  return {place(left, top), place(left + width, top), place(left + width, bottom),
          place(left, bottom)};
}

bool overlap(const Quad& a, const Quad& b) {
  return !separated_by_edges_of(a, b) && !separated_by_edges_of(b, a);
}

bool is_near(const Quad& rectangle, Point p, double margin) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Point a = rectangle[i], b = rectangle[i + 1];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const double along = ((p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y)) / length;
    if (along < -margin || along > length + margin) return false;
  }
  return true;
}

Box bounds(const Quad& quad) {
  const auto [left, right] = extent_along(quad, {1, 0});
  const auto [top, bottom] = extent_along(quad, {0, 1});
  return {left, top, right - left, bottom - top};
}

namespace {

std::set<char32_t> missing_characters(const DisplayList& list) {
  std::set<char32_t> missing;
  for (const Item& item : list.items) {
    const auto* text = std::get_if<TextItem>(&item);
    if (text == nullptr) continue;
    for (const TextRun& run : text->runs) {
      for (const char32_t c : decode_utf8(run.text)) {
        if (!has_glyph(run.face, c)) missing.insert(c);
      }
    }
  }
  return missing;
}

}  // namespace

std::u32string code_point_text(char32_t code) {
  const auto number = static_cast<std::uint32_t>(code);
  return decode_utf8(code > 0xFFFF ? fmt::format("\\u{{{:X}}}", number)
                                   : fmt::format("\\u{:04X}", number));
}

std::u32string drawn_text(Face face, std::u32string_view text) {
  std::u32string drawn;
  for (const char32_t c : text) {
    if (has_glyph(face, c)) {
      drawn += c;
    } else {
      drawn += code_point_text(c);
    }
  }
  return drawn;
}

std::string missing_note(const DisplayList& list) {
  constexpr std::size_t most_named = 4;
  const std::set<char32_t> missing = missing_characters(list);
  if (missing.empty()) return "";
  std::string names;
  std::size_t named = 0;
  for (const char32_t c : missing) {
    if (named == most_named) break;
    names += fmt::format("{}{} (U+{:04X})", named++ == 0 ? "" : ", ",
                         encode_utf8(std::u32string(1, c)), static_cast<std::uint32_t>(c));
  }
  const std::size_t more = missing.size() - named;
  if (more > 0) names += fmt::format(" and {} more", more);
  return fmt::format("no embedded font has {}: drawn as {}{}", names,
                     encode_utf8(code_point_text(*missing.begin())),
                     missing.size() > 1 ? " and so on" : "");
}

}  // namespace conelab::figure
