#include "core/drawing/style.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

Path polygon(Point centre, int corners, double radius, double turn) {
  std::vector<Point> points;
  for (int k = 0; k < corners; ++k) {
    const double angle = turn + 2 * std::numbers::pi * k / corners;
    points.push_back({centre.x + radius * std::sin(angle), centre.y - radius * std::cos(angle)});
  }
  return Path::polyline(points, true);
}

Path plus(Point centre, double reach, double turn) {
  const double arm = reach / 3;
  std::vector<Point> points;
  const double corners[][2] = {{-arm, -reach}, {arm, -reach}, {arm, -arm},    {reach, -arm},
                               {reach, arm},   {arm, arm},    {arm, reach},   {-arm, reach},
                               {-arm, arm},    {-reach, arm}, {-reach, -arm}, {-arm, -arm}};
  for (const auto& [x, y] : corners) {
    points.push_back({centre.x + x * std::cos(turn) - y * std::sin(turn),
                      centre.y + x * std::sin(turn) + y * std::cos(turn)});
  }
  return Path::polyline(points, true);
}

double points_in(const std::string& unit) {
  if (unit == "mm") return 72 / 25.4;
  if (unit == "cm") return 72 / 2.54;
  if (unit == "in") return 72;
  return unit == "pt" ? 1 : 0;
}

}  // namespace

double width_in_points(const std::string& text) {
  if (text == "single") return single_column;
  if (text == "double") return double_column;
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const char* const end = text.data() + text.size();
  const double unit =
      points_in(std::string(std::find_if(rest, end, [](char c) { return c != ' '; }), end));
  const double points = std::floor(value * unit + 1e-9);
  if (error != std::errc() || unit == 0 || !(points >= 100 && points <= 2000)) {
    misuse(
        "width '{}' (expected single, double, or a length from 100pt to 2000pt such as 86mm, "
        "17.8cm, 7in, 504pt)",
        text);
  }
  return points;
}

std::string file_format(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  std::string ending = has_ending ? path.substr(dot + 1) : "";
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string> known = {"svg", "pdf", "png"};
  if (!contains(known, ending)) {
    misuse("{}: unknown figure format '{}' (known: {})", path, ending, join(known));
  }
  return ending;
}

Colour series_colour(std::size_t i) {
  static constexpr std::array<Colour, 7> colours = {blue,   vermilion, green, purple,
                                                    orange, sky,       black};
  return colours[i % colours.size()];
}

void draw_marker(DisplayList& list, Point centre, std::size_t i, double size, Colour colour) {
  const double r = size / 2;
  constexpr double pi = std::numbers::pi;
  const Path shapes[] = {Path::circle(centre, r),         polygon(centre, 4, 1.25 * r, pi / 4),
                         polygon(centre, 3, 1.5 * r, 0),  polygon(centre, 4, 1.3 * r, 0),
                         polygon(centre, 3, 1.5 * r, pi), polygon(centre, 5, 1.2 * r, 0),
                         plus(centre, 1.25 * r, pi / 4),  plus(centre, 1.25 * r, 0)};
  list.path(shapes[i % 8], Paint{colour, {white, thin_line, {}}});
}

namespace {

bool is_whole_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

/// Splits a text into units after which a line may end. "LCA = (0.3, 1)" is one unit, and so is
/// "token 3" at the end of the text, unless it is too wide for a line.
std::vector<std::string> inseparable_words(const std::string& text, double size, double width,
                                           Face face) {
  std::vector<std::string> units;
  std::istringstream words(text);
  std::string before;
  for (std::string word; words >> word; before = word) {
    const bool equation = word == "=" || before == "=";
    const bool last_number = is_whole_number(word) && (words >> std::ws).eof();
    const bool point =
        before.starts_with('(') && before.ends_with(',') && word.find(')') != std::string::npos;
    if (!units.empty() && (equation || point || last_number) &&
        text_width(units.back() + " " + word, size, face) <= width) {
      units.back() += " " + word;
    } else {
      units.push_back(word);
    }
  }
  return units;
}

}  // namespace

std::vector<std::string> wrap(const std::string& text, double size, double width, Face face) {
  std::vector<std::string> lines;
  for (const std::string& word : inseparable_words(text, size, width, face)) {
    if (!lines.empty() && text_width(lines.back() + " " + word, size, face) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(elide(word, size, width, face));
    }
  }
  return lines;
}

std::string with_caption(const std::string& typed, const std::string& text) {
  return typed.empty() ? text : typed + ". " + text;
}

std::string with_minus(const std::string& text) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const bool opens = before == ' ' || before == '(' || before == '[' || before == ',';
    const bool exponent = i > 1 && before == 'e' && digit(i - 2);
    const bool minus = text[i] == '-' && digit(i + 1) && (opens || exponent);
    out += minus ? "−" : std::string(1, text[i]);
  }
  return out;
}

DisplayList begin_page(double width, const Metadata& metadata, const char* title) {
  DisplayList list;
  list.width = width;
  list.metadata = metadata;
  if (list.metadata.title.empty()) list.metadata.title = title;
  return list;
}

void finish_with_caption(DisplayList& list, const std::string& typed, double top) {
  constexpr double margin = 5;
  const std::string caption = with_minus(typed);
  list.metadata.description = caption;
  const bool drawn = list.metadata.draws_caption;
  for (const std::string& line :
       wrap(drawn ? clean_text(caption) : "", text_size, list.width - 2 * margin)) {
    list.text({margin, top}, line, {.size = text_size, .align = Align::top, .colour = ink});
    top += 1.25 * text_size;
  }
  list.height = std::ceil(top + margin);
}

}  // namespace conelab::figure
