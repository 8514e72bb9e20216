// `conelab compare A B`: which cases of two benchmark results became faster or slower.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/bench_results.h"
#include "app/commands.h"
#include "app/output.h"
#include "core/base/error.h"
#include "core/statistics/ratio.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;
/// The labels of a case, in the order of `case_axes`.
using Labels = std::vector<std::string>;

struct Comparison {
  Labels labels;
  RatioResult result;
};

/// Warm times of every case by its labels.
std::map<Labels, std::vector<double>> all_cases(const BenchResults& bench) {
  std::map<Labels, std::vector<double>> cases;
  std::vector<std::vector<std::string>> labels;
  std::size_t count = 1;
  for (const std::string& axis : case_axes()) {
    labels.push_back(bench.labels(axis));
    count *= labels.back().size();
  }
  for (std::size_t i = 0; i < count; ++i) {
    Place place;
    Labels name(labels.size());
    std::size_t rest = i;
    for (std::size_t a = labels.size(); a-- > 0; rest /= labels[a].size()) {
      place[case_axes()[a]] = rest % labels[a].size();
      name[a] = labels[a][rest % labels[a].size()];
    }
    cases[name] = bench.rounds("time_samples", place);
  }
  return cases;
}

/// Cases that both results have, in the order of the first.
std::vector<Comparison> compare_results(const BenchResults& a, const BenchResults& b) {
  const auto first = all_cases(a);
  const auto second = all_cases(b);
  std::vector<Comparison> comparisons;
  for (const auto& [labels, times] : first) {
    const auto other = second.find(labels);
    if (other == second.end()) continue;
    comparisons.push_back({labels, compare_unpaired(times, other->second)});
  }
  if (comparisons.empty()) fail("{} and {} have no case in common", a.file, b.file);
  return comparisons;
}

Json comparison_json(const Comparison& c) {
  Json json;
  for (std::size_t i = 0; i < c.labels.size(); ++i) json[case_axes()[i]] = c.labels[i];
  const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
  json["ratio"] = number(c.result.ratio.value);
  json["ratio_low"] = number(c.result.ratio.low);
  json["ratio_high"] = number(c.result.ratio.high);
  json["verdict"] = verdict_name(c.result.verdict);
  return json;
}

void print_comparisons(const std::vector<Comparison>& comparisons, const BenchResults& a,
                       const BenchResults& b) {
  say("time of {} over time of {}", b.file, a.file);
  std::map<std::string, int> counts;
  for (const Comparison& c : comparisons) {
    std::string labels;
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
      const bool word = i < 4;
      labels += word ? c.labels[i] + " " : fmt::format("{}={} ", case_axes()[i], c.labels[i]);
    }
    say("  {:<72} {:5.3f} [{:5.3f}, {:5.3f}]  {}", labels, c.result.ratio.value, c.result.ratio.low,
        c.result.ratio.high, verdict_name(c.result.verdict));
    ++counts[verdict_name(c.result.verdict)];
  }
  std::string summary;
  for (const auto& [verdict, count] : counts) {
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", count, verdict);
  }
  say("{} cases: {}", comparisons.size(), summary);
}

}  // namespace

Action declare_compare(CLI::App& options) {
  struct Typed {
    std::string a, b;
    bool json = false;
  };
  const auto typed = std::make_shared<Typed>();
  options.add_option("A", typed->a, "a result of `bench`")->required();
  options.add_option("B", typed->b, "another; its times are divided by those of A")->required();
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] {
    const BenchResults a(typed->a);
    const BenchResults b(typed->b);
    const std::vector<Comparison> comparisons = compare_results(a, b);
    if (typed->json) {
      Json list = Json::array();
      for (const Comparison& c : comparisons) list.push_back(comparison_json(c));
      print_json({{"a", a.file}, {"b", b.file}, {"cases", list}});
    } else {
      print_comparisons(comparisons, a, b);
    }
    return 0;
  };
}

}  // namespace conelab
