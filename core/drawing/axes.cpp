#include "core/drawing/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/names.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

constexpr double tick_length = 3, minor_length = 1.8, label_gap = 2, title_gap = 3;

double widest_label(const Axis& axis) {
  double width = 0;
  for (const Tick& t : axis.ticks) width = std::max(width, text_width(t.label, text_size));
  return width;
}

bool in_range(const Axis& axis, double value) {
  const double f = axis.fraction(value);
  return f > -1e-6 && f < 1 + 1e-6;
}

void draw_grid(DisplayList& list, const Frame& f) {
  for (const Tick& t : f.x.ticks) {
    if (!t.major() || !in_range(f.x, t.value)) continue;
    const double x = f.at(t.value, f.y.low).x;
    list.line({x, f.box.y}, {x, f.box.bottom()}, {grid_line, thin_line});
  }
  for (const Tick& t : f.y.ticks) {
    if (!t.major() || !in_range(f.y, t.value)) continue;
    const double y = f.at(f.x.low, t.value).y;
    list.line({f.box.x, y}, {f.box.right(), y}, {grid_line, thin_line});
  }
}

void draw_x_ticks(DisplayList& list, const Frame& f) {
  double free_from = -1e300;  // Labels are drawn from left to right.
  for (const Tick& t : f.x.ticks) {
    if (!in_range(f.x, t.value)) continue;
    const Point p = {f.at(t.value, f.y.low).x, f.box.bottom()};
    list.line(p, {p.x, p.y + (t.major() ? tick_length : minor_length)}, {ink, thin_line});
    const double half = text_width(t.label, text_size) / 2;
    if (!t.major() || p.x - half < free_from) continue;
    list.text({p.x, p.y + tick_length + label_gap}, t.label,
              {.size = text_size, .anchor = Anchor::middle, .align = Align::top, .colour = ink});
    free_from = p.x + half + 3;
  }
}

void draw_y_ticks(DisplayList& list, const Frame& f) {
  double free_below = 1e300;  // Labels are drawn upwards.
  for (const Tick& t : f.y.ticks) {
    if (!in_range(f.y, t.value)) continue;
    const Point p = {f.box.x, f.at(f.x.low, t.value).y};
    list.line(p, {p.x - (t.major() ? tick_length : minor_length), p.y}, {ink, thin_line});
    if (!t.major() || p.y + text_size / 2 > free_below) continue;
    list.text({p.x - tick_length - label_gap, p.y}, t.label,
              {.size = text_size, .anchor = Anchor::end, .align = Align::middle, .colour = ink});
    free_below = p.y - text_size / 2 - 1;
  }
}

void draw_titles(DisplayList& list, const Frame& f) {
  const Box& b = f.box;
  list.text({b.x + b.width / 2, b.bottom() + room_below(f.x)}, f.x.title,
            {.size = text_size, .anchor = Anchor::middle, .align = Align::bottom, .colour = ink});
  list.text({b.x - room_left(f.y), b.y + b.height / 2}, f.y.title,
            {.size = text_size,
             .anchor = Anchor::middle,
             .align = Align::top,
             .rotation = -90,
             .colour = ink});
}

/// Returns whether a value can be on an axis. Magnitudes near the ends of double would overflow
/// when ranges are widened.
bool usable(ScaleKind kind, double value) {
  constexpr double largest = 1e290;
  return std::abs(value) <= largest && (kind == ScaleKind::linear || value >= 1 / largest);
}

void widen(Axis& axis, double part) {
  if (axis.kind == ScaleKind::linear) {
    const double size = std::max(std::abs(axis.low), std::abs(axis.high));
    const double span = axis.high > axis.low ? axis.high - axis.low : (size > 0 ? size : 1);
    axis.low -= part * span, axis.high += part * span;
  } else {
    const double span = axis.high > axis.low ? std::log(axis.high / axis.low) : std::log(10.0);
    axis.low *= std::exp(-part * span), axis.high *= std::exp(part * span);
  }
}

}  // namespace

double round_step(double least) {
  const double unit = std::pow(10, std::floor(std::log10(least)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * unit >= least * (1 - 1e-9)) return m * unit;
  }
  return 10 * unit;
}

double Axis::fraction(double value) const {
  // Halving first avoids overflow of the difference of two huge numbers.
  const auto measure = [&](double v) { return kind == ScaleKind::linear ? v / 2 : std::log(v); };
  const double span = measure(high) - measure(low);
  return span > 0 ? (measure(value) - measure(low)) / span : 0.5;
}

Axis axis_over(ScaleKind kind, const std::vector<double>& values, int most_ticks,
               std::vector<TextRun> title) {
  Axis axis{kind, 1e300, -1e300, {}, std::move(title)};
  for (const double v : values) {
    if (usable(kind, v)) axis.low = std::min(axis.low, v), axis.high = std::max(axis.high, v);
  }
  if (axis.high < axis.low) {
    axis.low = kind == ScaleKind::linear ? 0 : 1, axis.high = kind == ScaleKind::linear ? 1 : 10;
  } else {
    widen(axis, axis.high > axis.low ? 0.05 : 0.5);
  }
  axis.ticks = kind == ScaleKind::linear  ? linear_ticks(axis.low, axis.high, most_ticks)
               : kind == ScaleKind::log10 ? log_ticks(axis.low, axis.high, most_ticks)
                                          : binary_ticks(axis.low, axis.high, most_ticks);
  return axis;
}

Point Frame::at(double x_value, double y_value) const {
  return {box.x + box.width * x.fraction(x_value), box.bottom() - box.height * y.fraction(y_value)};
}

double room_left(const Axis& y) {
  const double title = y.title.empty() ? 0 : title_gap + (ascent() + descent()) * text_size;
  return tick_length + label_gap + widest_label(y) + title;
}

double room_below(const Axis& x) {
  const double line = (ascent() + descent()) * text_size;
  return tick_length + label_gap + line + (x.title.empty() ? 0 : title_gap + line);
}

void draw_frame(DisplayList& list, const Frame& frame, const std::string& id) {
  list.group_begin(id, "Axes");
  draw_grid(list, frame);
  const Box& b = frame.box;
  list.path(Path::polyline({{b.x, b.y}, {b.x, b.bottom()}, {b.right(), b.bottom()}}),
            {transparent, {ink, line_width, {}, Cap::square}});
  draw_x_ticks(list, frame);
  draw_y_ticks(list, frame);
  draw_titles(list, frame);
  list.group_end();
}

namespace {

std::vector<TextRun> run(std::string text) {
  return {{std::move(text), Face::regular, Script::normal}};
}

std::vector<TextRun> power(const std::string& base, int exponent) {
  return {{base, Face::regular, Script::normal},
          {with_minus(std::to_string(exponent)), Face::regular, Script::super}};
}

std::vector<TextRun> scientific_label(double value, int digits) {
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  std::string mantissa = fmt::format("{:.{}g}", value / std::pow(10, exponent), digits);
  if (mantissa == "10" || mantissa == "-10") mantissa.pop_back(), ++exponent;
  if (mantissa == "1") return power("10", exponent);
  return power(with_minus(mantissa) + "×10", exponent);
}

bool is_power_of_ten(double value) {
  const double e = std::round(std::log10(value));
  return std::abs(value / std::pow(10, e) - 1) < 1e-9;
}

/// Returns every `stride`-th whole exponent in [low, high], or all of them if fewer than two would
/// remain.
std::vector<int> exponents(double low, double high, int most) {
  const int first = static_cast<int>(std::ceil(low - 1e-9));
  const int last = static_cast<int>(std::floor(high + 1e-9));
  const int count = last - first + 1;
  const int stride = std::max(1, (count + most - 1) / std::max(1, most));
  std::vector<int> out;
  for (int e = first; e <= last; ++e) {
    if (e % stride == 0) out.push_back(e);
  }
  if (out.size() < 2 && stride > 1) return exponents(low, high, count);
  return out;
}

bool is_power(const std::vector<TextRun>& label) {
  return !label.empty() && label.back().script == Script::super;
}

/// Writes all labels as powers of ten if one of them is: 0.001 becomes 10⁻³ if there is a 5×10⁻⁴.
void write_alike(std::vector<Tick>& ticks) {
  const auto power_label = [](const Tick& t) { return is_power(t.label); };
  if (std::ranges::none_of(ticks, power_label)) return;
  for (Tick& t : ticks) {
    if (t.major() && !power_label(t)) t.label = scientific_label(t.value, 4);
  }
}

std::vector<Tick> digit_ticks(double low, double high, const std::vector<int>& labelled) {
  std::vector<Tick> ticks;
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  for (int e = first; e <= last; ++e) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * std::pow(10, e);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const bool label = contains(labelled, digit);
      ticks.push_back({value, label ? number_label(value) : std::vector<TextRun>{}});
    }
  }
  write_alike(ticks);
  return ticks;
}

/// Returns the multiples of a round step of at least `least` in [low, high].
std::vector<Tick> round_ticks(double low, double high, int most, double least) {
  const double step = std::max(least, round_step((high - low) / std::max(1, most - 1)));
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k <= high / step + 1e-9; ++k) {
    const double value = k * step;
    ticks.push_back({value, number_label(k == 0 ? 0 : value, 6)});
    // A step that is below the rounding of the values cannot advance.
    if (ticks.size() > 64) break;
  }
  // A step may leave one tick or none between the ends. A fifth of the range never does.
  const bool few = ticks.size() < 2 && step > least && most < 6;
  return few ? round_ticks(low, high, 6, least) : ticks;
}

bool bad_range(double low, double high) {
  return !(std::isfinite(low) && std::isfinite(high)) || high < low;
}

}  // namespace

std::vector<TextRun> number_label(double value, int digits) {
  if (std::isnan(value)) return run("NaN");
  if (std::isinf(value)) return run(value > 0 ? "∞" : "−∞");
  const double size = std::abs(value);
  if (size == 0 || (size >= 0.9999e-3 && size < 0.99995e5)) {
    return run(with_minus(fmt::format("{:.{}g}", value == 0 ? 0.0 : value,
                                      std::max(digits, size >= 1e4 ? 5 : digits))));
  }
  return scientific_label(value, digits);
}

std::vector<Tick> whole_ticks(double low, double high, int most) {
  if (bad_range(low, high) || !std::isfinite(high - low)) return {};
  return round_ticks(low, high, most, 1);
}

std::vector<Tick> linear_ticks(double low, double high, int most) {
  if (bad_range(low, high)) return {};
  if (low == high) return {{low, number_label(low)}};
  if (!std::isfinite(high - low)) return {{low, number_label(low)}, {high, number_label(high)}};
  return round_ticks(low, high, most, 0);
}

std::vector<Tick> log_ticks(double low, double high, int most) {
  if (bad_range(low, high) || low <= 0) return {};
  if (low == high) return {{low, number_label(low)}};
  const double decades = std::log10(high / low);
  if (decades < 0.5) return linear_ticks(low, high, most);
  const bool two_powers = std::floor(std::log10(high) + 1e-9) > std::ceil(std::log10(low) - 1e-9);
  if (decades < 2 && (most >= 4 || !two_powers)) {
    std::vector<Tick> ticks = digit_ticks(low, high, {1, 2, 5});
    const auto labelled = std::ranges::count_if(ticks, std::mem_fn(&Tick::major));
    return labelled < 2 ? linear_ticks(low, high, most) : ticks;
  }
  const std::vector<int> labelled = exponents(std::log10(low), std::log10(high), most);
  std::vector<Tick> ticks = decades > 8 ? std::vector<Tick>{} : digit_ticks(low, high, {});
  std::erase_if(ticks, [](const Tick& t) { return is_power_of_ten(t.value); });
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  for (int e = first; e <= std::log10(high) + 1e-9; ++e) {
    const bool label = contains(labelled, e);
    if (label || decades <= 40) {
      ticks.push_back({std::pow(10, e), label ? power("10", e) : std::vector<TextRun>{}});
    }
  }
  std::ranges::sort(ticks, [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return ticks;
}

std::vector<Tick> binary_ticks(double low, double high, int most) {
  if (bad_range(low, high) || low <= 0) return {};
  std::vector<Tick> ticks;
  for (const int e : exponents(std::log2(low), std::log2(high), most)) {
    const double value = std::pow(2, e);
    const bool plain_number = e >= 0 && e <= 16;
    ticks.push_back({value, plain_number ? run(fmt::format("{:.0f}", value)) : power("2", e)});
  }
  if (ticks.size() >= 2) return ticks;
  ticks = whole_ticks(low, high, most);
  return ticks.size() < 2 ? log_ticks(low, high, most) : ticks;
}

namespace {

constexpr double gap = 2.5;          ///< Distance of labels from the matrix, and of the tiers.
constexpr double line_pitch = 0.98;  ///< Distance of two lines, divided by the text size.

std::vector<std::string> label_texts(const std::vector<std::string>& tokens, std::size_t cells,
                                     double size, double longest) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < cells; ++i) {
    labels.push_back(tokens.empty() ? std::to_string(i)
                                    : elide(token_text(tokens[i]), size, longest));
  }
  return labels;
}

/// Returns a stride: round for numbers, so that readers can count; the smallest possible for
/// tokens.
std::size_t round_stride(std::size_t least, bool numbers) {
  return numbers ? static_cast<std::size_t>(round_step(std::max(1.0, static_cast<double>(least))))
                 : least;
}

bool outer(const TokenAxis& axis, std::size_t i) { return axis.two_tiers && (i / axis.stride) % 2; }

}  // namespace

double TokenAxis::room() const {
  if (labels.empty()) return 0;
  return gap + inner_width + (two_tiers ? gap + outer_width : 0);
}

TokenAxis plan_tokens(Side side, const std::vector<std::string>& tokens, std::size_t cells,
                      double pitch, double longest) {
  TokenAxis axis;
  axis.side = side;
  axis.size = pitch >= text_size * line_pitch ? text_size : small_size;
  axis.labels = label_texts(tokens, cells, axis.size, longest);
  const bool numbers = tokens.empty();
  // Numbers are two lines apart, because one at every cell would be hard to read.
  const double need = axis.size * (numbers ? 3 : line_pitch);
  // Lines from outer labels pass between two inner labels and need some space there.
  axis.two_tiers = !numbers && pitch < need && 2 * pitch >= need + 1.5;
  if (!axis.two_tiers && pitch < need) {
    axis.stride = round_stride(static_cast<std::size_t>(std::ceil(need / pitch - 1e-9)), numbers);
  }
  for (std::size_t i = 0; i < cells; i += axis.stride) {
    double& width = outer(axis, i) ? axis.outer_width : axis.inner_width;
    width = std::max(width, text_width(axis.labels[i], axis.size));
  }
  return axis;
}

void draw_tokens(DisplayList& list, const TokenAxis& axis, const Box& matrix) {
  const bool left = axis.side == Side::left, top = axis.side == Side::top;
  const double pitch = (left ? matrix.height : matrix.width) /
                       static_cast<double>(std::max<std::size_t>(1, axis.labels.size()));
  const TextStyle style = {.size = axis.size,
                           .anchor = top ? Anchor::start : Anchor::end,
                           .align = Align::middle,
                           .rotation = left ? 0.0 : -90.0,
                           .colour = ink};
  for (std::size_t i = 0; i < axis.labels.size(); i += axis.stride) {
    const double along = (static_cast<double>(i) + 0.5) * pitch;
    const double away = gap + (outer(axis, i) ? axis.inner_width + gap : 0);
    const auto at = [&](double distance) {
      if (left) return Point{matrix.x - distance, matrix.y + along};
      return Point{matrix.x + along, top ? matrix.y - distance : matrix.bottom() + distance};
    };
    if (outer(axis, i)) list.line(at(0.8), at(away - 0.8), {Colour{190, 190, 190, 255}, thin_line});
    list.text(at(away), axis.labels[i], style);
  }
}

}  // namespace conelab::figure
