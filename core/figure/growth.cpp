// Figure `growth`: time against length for operators of different order of cost, from one or
// several result files of `bench`, with fitted exponents and the orders n, n log n, n sqrt n, n^2.
//
// It is the figure `scaling` without ratios, which would compare rounds of different runs.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/find_named.h"
#include "core/base/names.h"
#include "core/figure/bench_figures.h"
#include "core/figure/figure_table.h"

namespace conelab::figure {
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

/// Parses "n,n^2" or "none".
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
    std::sort(lengths.begin(), lengths.end());
    const auto twice = std::adjacent_find(lengths.begin(), lengths.end());
    if (twice != lengths.end()) {
      misuse("growth: {} at n = {} is in more than one input (expected each case once)", name,
             *twice);
    }
  }
}

}  // namespace

DisplayList make_growth(const FigureInput& input) {
  const BenchSelection selection = selected_cases(input);
  check_once(selection, input.cases.size());
  ScalingFigure figure = times_figure(selection);
  figure.guides = guides_of(input.value("guides"));
  figure.width = input.width_or(single_column);
  figure.metadata = input.titled("Growth of run time");
  figure.caption = input.described(figure.caption);
  return draw_scaling(figure);
}

}  // namespace conelab::figure
