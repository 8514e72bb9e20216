#include "core/source/trials_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call.h"
#include "core/figure/figure_input.h"
#include "core/job/read_result.h"
#include "core/source/figure_request.h"

namespace conelab {

std::vector<double> expected_best(std::vector<double> values, bool less_is_better) {
  const double sign = less_is_better ? -1 : 1;
  double worst = INFINITY;
  for (double& v : values) worst = std::fmin(worst, v *= sign);
  for (double& v : values) v = std::isnan(v) ? worst : v;
  std::ranges::sort(values);
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<double> best;
  for (std::int64_t k = 1; k <= n; ++k) {
    double weight = static_cast<double>(k) / static_cast<double>(n), sum = 0;
    for (std::int64_t i = n; i >= k; --i) {  // i counts from 1.
      sum += weight * values[static_cast<std::size_t>(i - 1)];
      if (i > 1) weight *= static_cast<double>(i - k) / static_cast<double>(i - 1);
    }
    best.push_back(sign * sum);
  }
  return best;
}

void read_trials(const FigureRequest& request, figure::FigureInput& input);
void read_trials(const FigureRequest& request, figure::FigureInput& input) {
  std::vector<TrialValues> all;
  for (const std::string& path : request.inputs) {
    const LabelledFile file = read_result(path, request.context);
    const LabelledArray* tune = file.group("tune");
    const auto* values = tune == nullptr ? nullptr : tune->data<double>("value");
    if (values == nullptr) fail("{}: has no trials (expected a result of --tune)", path);
    const auto spec = nlohmann::ordered_json::parse(attribute_or_empty(file.attributes, "spec"));
    const auto word = [&](const nlohmann::ordered_json& from, const char* key) {
      const auto found = from.find(key);
      return found == from.end()  ? ""
             : found->is_string() ? found->get<std::string>()
                                  : found->dump();
    };
    const std::string dim = word(spec.contains("dim") ? spec : spec["parameters"], "dim");
    const auto* less = find_attribute<std::int64_t>(tune->attributes, "less_is_better");
    TrialValues one{fmt::format("{}, d = {}", word(spec, "similarity"), dim),
                    attribute_or_empty(tune->attributes, "by"), less != nullptr && *less != 0,
                    *values};
    // Jobs with other seeds share their trials.
    add_once(all, std::move(one));
  }
  input.own = std::move(all);
}

}  // namespace conelab

namespace conelab::figure {

DisplayList make_trials(const FigureInput& input) {
  const auto& all = std::any_cast<const std::vector<TrialValues>&>(input.own);
  ScalingFigure figure;
  figure.guides.clear();
  figure.coverage = 0;
  figure.x_title = "trials <i>k</i>";
  figure.y_title = "expected best " + all.front().by;
  figure.caption = fmt::format(
      "The {} that k trials, drawn from those of a search, find on average",
      all.front().less_is_better ? "least " + all.front().by : "most " + all.front().by);
  for (const TrialValues& one : all) {
    if (one.by != all.front().by) {
      misuse("figure trials: the searches were decided by {} and by {}", all.front().by, one.by);
    }
    ScalingSeries& series = figure.series.emplace_back();
    series.name = one.name;
    series.y = expected_best(one.value, one.less_is_better);
    for (std::size_t k = 1; k <= series.y.size(); ++k) {
      series.x.push_back(static_cast<double>(k));
    }
  }
  FigureInput page = input;
  if (page.metadata.title.empty()) page.metadata.title = "The expected best of k trials";
  return finished(std::move(figure), page, draw_scaling);
}

}  // namespace conelab::figure
