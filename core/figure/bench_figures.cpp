#include "core/figure/bench_figures.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/compare.h"
#include "core/bench/rank_model.h"
#include "core/call/call.h"
#include "core/figure/figure_input.h"

namespace conelab {
namespace {

/// Returns an operator as figures of attention write its call. A name that is not a call stays as
/// it is.
std::string title_of(const std::string& name) {
  try {
    return call_title(call_from_text(name));
  } catch (const Error&) {
    return name;
  }
}

/// Keeps the cases with the values that the keys name for a label, or with the first one. If there
/// are several, each becomes a part of the operators' names in place of a label.
void narrow(BenchSelection& s, const std::map<std::string, std::string>& keys, const Axis& axis) {
  const std::vector<std::string> known = label_values(s.cases, axis.name);
  const std::string* given = figure::text_of(keys, axis.name);
  const std::vector<std::string> values = given != nullptr ? parse_names(axis.name, *given)
                                          : known.empty()  ? std::vector<std::string>{""}
                                                           : std::vector{known.front()};
  for (const std::string& value : values) (void)index_of_name(axis.name, value, known);
  const auto other = [&](const auto& c) {
    return std::ranges::find(values, c.labels[axis]) == values.end();
  };
  std::erase_if(s.cases, other);
  std::erase_if(s.exponents, other);
  if (values.size() == 1) return;
  const auto named = [&](const std::string& name, const std::string& value) {
    return fmt::format("{}, {}", title_of(name), label_text(axis, value));
  };
  const auto move_into_name = [&](auto& c) {
    c.labels.set("operator", named(c.labels["operator"], c.labels[axis]));
    c.labels.set(axis.name, "");
  };
  std::ranges::for_each(s.cases, move_into_name);
  std::ranges::for_each(s.exponents, move_into_name);
  std::vector<std::string> operators;
  for (const std::string& name : s.operators) {
    for (const std::string& value : values) operators.push_back(named(name, value));
  }
  s.operators = std::move(operators);
}

std::vector<std::string> chosen_operators(const BenchSelection& s, const std::string* names) {
  std::vector<std::string> known = label_values(s.cases, "operator");
  if (names == nullptr) return known;
  std::vector<std::string> chosen = parse_names("-p operators", *names);
  for (const std::string& name : chosen) (void)index_of_name("operator", name, known);
  return chosen;
}

figure::ScalingSeries series_of(const BenchSelection& s, const std::string& name) {
  figure::ScalingSeries series;
  series.name = name;
  for (const MeasuredCase& c : s.cases) {
    if (c.labels["operator"] != name) continue;
    series.x.push_back(static_cast<double>(c.labels.number("seq_len")));
    series.y.push_back(c.time);
    series.low.push_back(c.time_low);
    series.high.push_back(c.time_high);
  }
  for (const MeasuredExponent& e : s.exponents) {
    if (e.labels["operator"] != name || !std::isfinite(e.value)) continue;
    series.exponent = e.value;
    series.exponent_low = e.low;
    series.exponent_high = e.high;
  }
  return series;
}

/// Returns the titles [operator]. Operators that would have the same title keep their own names.
std::vector<std::string> titles_of(const std::vector<std::string>& operators) {
  std::vector<std::string> titles;
  for (const std::string& name : operators) titles.push_back(title_of(name));
  std::vector<std::string> labels = titles;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::ranges::count(titles, titles[i]) > 1) labels[i] = operators[i];
  }
  return labels;
}

/// Sets the ratios of the base to 1 for each length that was measured, and to NaN for the others.
void add_own_ratios(figure::ScalingSeries& base) {
  for (const double time : base.y) base.ratio.push_back(std::isfinite(time) ? 1 : std::nan(""));
  base.ratio_low = base.ratio_high = base.ratio;
}

void add_ratios(const BenchSelection& s, figure::ScalingFigure& figure) {
  std::vector<figure::ScalingSeries>& series = figure.series;
  add_own_ratios(series.front());
  const auto comparisons = compare_operators(s.cases, s.operators.front());
  figure.ratio_coverage = ratio_coverage(comparisons);
  for (const CaseComparison& c : comparisons) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (s.operators[i] != c.labels["operator"]) continue;
      figure::ScalingSeries& one = series[i];
      one.ratio.push_back(c.result.ratio.value);
      one.ratio_low.push_back(c.result.ratio.low);
      one.ratio_high.push_back(c.result.ratio.high);
    }
  }
}

/// Returns "forward, cpu, f32, 2 threads, d = 64, 8 heads".
std::string fixed_caption(const Case& c) {
  std::vector<std::string> words;
  for (const Axis& axis : fixed_axes()) {
    if (!c[axis].empty() && !is_implied(axis, c[axis])) words.push_back(label_text(axis, c[axis]));
  }
  return join(words);
}

/// Returns the largest finite value of a ceiling among the cases drawn, or 0 if there is none.
double highest(const BenchSelection& s, double MeasuredCase::*ceiling) {
  double value = 0;
  for (const MeasuredCase& c : s.cases) {
    if (std::isfinite(c.*ceiling)) value = std::max(value, c.*ceiling);
  }
  return value;
}

/// Returns the common length of the cases as "n = 1024". It is empty if they differ or there are
/// none.
std::string common_length(const std::vector<const MeasuredCase*>& cases) {
  std::string length;
  for (const MeasuredCase* c : cases) {
    if (c == nullptr) continue;
    const std::string here = label_text(axes().back(), c->labels[axes().back()]);
    if (!length.empty() && length != here) return "";
    length = here;
  }
  return length;
}

/// Returns the end of a caption that says what is wrong with the peak, or nothing.
const char* peak_caption(double peak, double best) {
  if (best == 0) return "";
  if (peak == 0) return ". The machine's multiply-add peak was not measured: there is no roof";
  if (best <= peak) return "";
  return ". A kernel is above the multiply-add peak: the peak was measured while something else "
         "held the machine, and is no roof";
}

/// Returns the end of a caption that explains why a kernel is faster than memory alone allows, or
/// nothing. It is not an error.
const char* slope_caption(const std::vector<const MeasuredCase*>& cases, double bandwidth) {
  const auto above = [&](const MeasuredCase* c) {
    return c != nullptr && c->bytes / c->time > bandwidth;
  };
  if (bandwidth == 0 || std::ranges::none_of(cases, above)) return "";
  return ". A kernel is above the slope: caches hold its inputs from run to run";
}

}  // namespace

BenchSelection select_cases(std::vector<MeasuredCase> cases,
                            std::vector<MeasuredExponent> exponents,
                            const std::map<std::string, std::string>& keys) {
  BenchSelection s;
  s.cases = std::move(cases);
  s.exponents = std::move(exponents);
  s.operators = chosen_operators(s, figure::text_of(keys, "operators"));
  for (const Axis& axis : fixed_axes()) narrow(s, keys, axis);
  s.fixed = s.cases.front().labels;
  return s;
}

figure::ScalingFigure times_figure(const BenchSelection& s) {
  figure::ScalingFigure figure;
  const std::vector<std::string> titles = titles_of(s.operators);
  for (std::size_t i = 0; i < titles.size(); ++i) {
    figure.series.push_back(series_of(s, s.operators[i]));
    figure.series.back().name = titles[i];
  }
  figure.coverage = time_coverage(s.cases);
  figure.caption = fixed_caption(s.fixed);
  return figure;
}

figure::ScalingFigure scaling_figure(const BenchSelection& s) {
  figure::ScalingFigure figure = times_figure(s);
  add_ratios(s, figure);
  return figure;
}

std::vector<const MeasuredCase*> roofline_cases(const BenchSelection& s) {
  std::vector<const MeasuredCase*> longest(s.operators.size(), nullptr);
  for (const MeasuredCase& c : s.cases) {
    const auto found = std::ranges::find(s.operators, c.labels["operator"]);
    if (found == s.operators.end() || !std::isfinite(c.time)) continue;
    longest[static_cast<std::size_t>(found - s.operators.begin())] = &c;
  }
  return longest;
}

figure::RooflineFigure roofline_figure(const BenchSelection& s) {
  figure::RooflineFigure figure;
  const std::vector<const MeasuredCase*> cases = roofline_cases(s);
  const std::string length = common_length(cases);
  const std::vector<std::string> titles = titles_of(s.operators);
  double best = 0;
  for (const MeasuredCase* c : cases) {
    const std::string& title = titles[figure.points.size()];
    figure.points.emplace_back();
    if (c == nullptr) continue;
    const std::string own = label_text(axes().back(), c->labels[axes().back()]);
    figure.points.back() = {length.empty() ? title + ", " + own : title, intensity(*c),
                            c->flops / c->time, c->flops / c->time_high, c->flops / c->time_low};
    best = std::max(best, c->flops / c->time);
  }
  figure.coverage = time_coverage(s.cases);
  const double peak = highest(s, &MeasuredCase::peak_flops);
  const double bandwidth = highest(s, &MeasuredCase::bandwidth);
  figure.peaks.push_back({"multiply-add", peak, best <= peak});
  figure.bandwidths.push_back({"memory", bandwidth});
  figure.caption = fixed_caption(s.fixed) + (length.empty() ? "" : ", " + length) +
                   peak_caption(peak, best) + slope_caption(cases, bandwidth);
  return figure;
}

// ---- makers -------------------------------------------------------------------------------------

BenchSelection selected_cases(const figure::FigureInput& input) {
  std::map<std::string, std::string> keys;
  keys["operators"] = input.value("operators");
  for (const Axis& axis : fixed_axes()) {
    std::string& value = keys[axis.name] = input.value(axis.name);
    if (value.empty() || input.parameters.count(axis.name) != 0) continue;
    if (!contains(label_values(input.cases, axis.name), value)) value.clear();
  }
  return select_cases(input.cases, input.exponents, keys);
}

namespace figure {

void set_parameters(const Parameters& p, ScalingFigure& figure) {
  if (const auto* ratio = text_of(p, "ratio")) figure.ratio_panel = *ratio == "yes";
  if (const auto* guide = text_of(p, "guide")) {
    figure.guides.clear();
    if (*guide != "none") figure.guides = {power_guide(number("guide", *guide, 100))};
  }
}

namespace {

/// Returns the figure over numbers of ranks in the place of lengths.
ScalingFigure ranks_figure(FigureInput input) {
  RankForecast forecast;
  const auto given = [&](const char* key) { return text_of(input.parameters, key); };
  for (const MeasuredCase& c : input.cases) {
    forecast.length = std::max(forecast.length, c.labels.number("seq_len"));
  }
  if (const auto* length = given("length")) {
    forecast.length = static_cast<std::int64_t>(whole_number("length", *length));
  }
  if (const auto* networks = given("networks")) {
    forecast.networks = parse_names("-p networks", *networks);
  }
  forecast.ranks = parse_integers("-p counts", input.value("counts"));
  forecast.speed = number("speed", input.value("speed"));
  if (forecast.speed <= 0) misuse("-p speed: {} (expected a number above 0)", forecast.speed);
  if (const auto* names = given("operators")) {
    const std::vector<std::string> known = label_values(input.cases, "operator");
    std::vector<std::string> chosen = parse_names("-p operators", *names);
    for (const std::string& name : chosen) (void)index_of_name("operator", name, known);
    std::erase_if(input.cases, [&](const MeasuredCase& c) {
      return std::ranges::find(chosen, c.labels["operator"]) == chosen.end();
    });
    input.parameters.erase("operators");
  }
  const bool shared = std::ranges::any_of(
      input.cases, [](const MeasuredCase& c) { return c.labels.number("ranks") > 1; });
  input.cases = cases_by_ranks(input.cases, forecast);
  input.exponents.clear();
  ScalingFigure figure = times_figure(selected_cases(input));
  figure.x_title = "ranks";
  figure.guides = {{"1 / ranks", -1}};
  for (ScalingSeries& series : figure.series) {  // What is predicted has no interval.
    const auto known = [](double bound) { return std::isfinite(bound); };
    if (std::ranges::none_of(series.low, known)) series.low.clear(), series.high.clear();
  }
  figure.caption += ", " + label_text(axes().back(), std::to_string(forecast.length));
  if (forecast.networks.empty()) return figure;
  figure.caption += fmt::format(". Predicted from the time of {}",
                                shared ? "the fewest ranks above one" : "one rank");
  if (forecast.speed != 1)
    figure.caption += fmt::format(", on ranks {:g} times as fast", forecast.speed);
  figure.caption +=
      ": messages travel while ranks compute, at the full bandwidth between any two, without "
      "latency";
  return figure;
}

}  // namespace

DisplayList make_scaling(const FigureInput& input) {
  if (input.value("x") == "ranks") return finished(ranks_figure(input), input, draw_scaling);
  return finished(scaling_figure(selected_cases(input)), input, draw_scaling);
}

DisplayList make_ratio(const FigureInput& input) {
  ScalingFigure figure = scaling_figure(selected_cases(input));
  figure.ratio_only = true;
  return finished(std::move(figure), input, draw_scaling);
}

DisplayList make_roofline(const FigureInput& input) {
  return finished(roofline_figure(selected_cases(input)), input, draw_roofline);
}

}  // namespace figure

}  // namespace conelab

namespace conelab::figure {

// Figure `growth`: time against length for operators of different order of cost, from one or
// several result files of `bench`, with fitted exponents and the orders n, n log n, n sqrt n, n^2.
//
// It is the figure `scaling` without ratios, which would compare rounds of different runs.

namespace {

struct Order {
  const char* name;  ///< The name as a user types it.
  Guide guide;
};
const std::vector<Order>& orders() {
  static const std::vector<Order> table = {{"n", power_guide(1)},
                                           {"n log n", {"<i>n</i> log <i>n</i>", 1, 1}},
                                           {"n sqrt n", {"<i>n</i> √<i>n</i>", 1.5}},
                                           {"n^2", power_guide(2)}};
  return table;
}

std::vector<Guide> guides_of(const std::string& typed) {
  std::vector<Guide> guides;
  if (typed == "none") return guides;
  for (const std::string& name : parse_names("-p guides", typed)) {
    guides.push_back(row_named("order of growth", orders(), name).guide);
  }
  return guides;
}

/// Throws misuse for an operator without a case at the labels that are drawn, and for a case that
/// two files contain.
void check_once(const BenchSelection& selection, std::size_t total) {
  for (const std::string& name : selection.operators) {
    std::vector<std::string> lengths;
    for (const MeasuredCase& c : selection.cases) {
      if (c.labels["operator"] == name) lengths.push_back(c.labels["seq_len"]);
    }
    if (lengths.empty() && total > 0) {
      misuse(
          "growth: {} was not measured where the others were: {} (choose other labels by -p, or "
          "operators)",
          name, describe(selection.fixed));
    }
    std::ranges::sort(lengths);
    const auto twice = std::adjacent_find(lengths.begin(), lengths.end());
    if (twice != lengths.end()) {
      misuse("growth: {} at n = {} is in more than one input (expected each case once)", name,
             *twice);
    }
  }
}

/// Throws misuse for a file that has no case with a label that was chosen because no key gives it.
void check_every_file(const FigureInput& input, const Case& drawn) {
  auto first = input.cases.begin();
  for (const auto& [name, count] : input.bench_files) {
    const std::vector<MeasuredCase> cases(first, first + static_cast<std::ptrdiff_t>(count));
    first += static_cast<std::ptrdiff_t>(count);
    for (const conelab::Axis& axis : fixed_axes()) {
      const std::vector<std::string> known = label_values(cases, axis.name);
      if (input.parameters.count(axis.name) != 0 || contains(known, drawn[axis])) continue;
      misuse("growth: {} has no case of {} = {} (it has {}; choose what all files have by -p {}=)",
             name, axis.name, drawn[axis], join(known), axis.name);
    }
  }
}

}  // namespace

DisplayList make_growth(const FigureInput& input) {
  const BenchSelection selection = selected_cases(input);
  check_every_file(input, selection.fixed);
  check_once(selection, input.cases.size());
  ScalingFigure figure = times_figure(selection);
  figure.guides = guides_of(input.value("guides"));
  figure.width = input.width_or(single_column);
  figure.metadata = input.titled("Growth of run time");
  figure.caption = input.described(figure.caption);
  return draw_scaling(figure);
}

}  // namespace conelab::figure
