// The job `rank`: sign changes, factorisation norms and fitting dimensions of a hierarchy.

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/bench/axes.h"
#include "core/call/call.h"
#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"
#include "core/jobs/hierarchy_job.h"
#include "core/jobs/shared_fields.h"
#include "core/operators/operator.h"
#include "core/rank/fit.h"
#include "core/rank/gamma2.h"

namespace conelab {
namespace {

using rank::Fit;
using rank::NormInterval;

/// The most nodes of a hierarchy. A decomposition of its sign matrix takes O(n³), and none can be
/// stopped before its end.
constexpr Node most_nodes = 2048;

struct RankResult {
  Node nodes = 0;
  std::int64_t sign_changes = 0;
  std::vector<double> alphas;  ///< Ascending.
  NormInterval gamma2;
  std::vector<NormInterval> norms;     ///< [alpha]
  std::vector<std::vector<Fit>> fits;  ///< [similarity][alpha]
};

std::vector<double> alphas_of(const JobSpec& spec) {
  std::vector<double> alphas;
  for (const std::string& text : spec.list("alphas")) {
    const auto alpha = parse_number(text);
    if (!alpha || !(*alpha >= 1) || !std::isfinite(*alpha)) {
      misuse("--alphas: expected numbers from 1 (found '{}')", text);
    }
    alphas.push_back(*alpha);
  }
  std::ranges::sort(alphas);
  alphas.erase(std::unique(alphas.begin(), alphas.end()), alphas.end());
  if (alphas.empty()) misuse("--alphas: expected numbers from 1 (found none)");
  return alphas;
}

std::vector<std::int64_t> dims_of(const JobSpec& spec) {
  const std::string text = join(spec.list("dims"), ",");
  std::vector<std::int64_t> dims = parse_each("--dims", text);
  if (dims.back() > 1024) misuse("--dims: expected at most 1024 (found {})", dims.back());
  return dims;
}

std::vector<Call> calls_of(const JobSpec& spec) {
  std::vector<Call> calls;
  for (const std::string& text : spec.list("similarities")) {
    const Call call = call_from_text(text);
    if (!is_attention(call)) misuse("--similarities: {} is no similarity", text);
    Call with_weights = call;
    with_weights.weights = "exp";
    (void)resolve(with_weights, {.query = 1, .key = 1, .feature = 2, .value = 1});
    calls.push_back(call);
  }
  return calls;
}

/// Computes the norms and the fits, each as a task of its own. The time is shared out evenly.
class RankTasks {
 public:
  RankTasks(const JobSpec& spec, const JobContext& context, RankResult& result)
      : context_(context), calls_(calls_of(spec)), result_(result) {
    execution_ = context.execution(spec.integer("threads"), "rank");
    const std::size_t tasks = 1 + result.alphas.size() + calls_.size();
    const double seconds =
        spec.number("time_limit") * std::min<double>(1, thread_count(execution_) / double(tasks));
    limits_.seconds = seconds;
    limits_.cancelled = context.cancelled;
    settings_ = {.alphas = result.alphas,
                 .dims = dims_of(spec),
                 .starts = static_cast<int>(spec.integer("starts")),
                 .steps = static_cast<int>(spec.integer("steps")),
                 .seed = static_cast<std::uint64_t>(spec.integer("seed")),
                 .seconds = seconds,
                 .cancelled = context.cancelled};
  }

  void run(const rank::Matrix& signs) {
    const std::size_t norms = result_.alphas.size();
    result_.norms.resize(norms);
    result_.fits.resize(calls_.size());
    run_tasks(static_cast<std::int64_t>(1 + norms + calls_.size()), execution_,
              [&](std::int64_t number, const auto& /*stopped*/) {
                const auto task = static_cast<std::size_t>(number);
                if (task == 0) {
                  result_.gamma2 = gamma2(signs, limits_);
                } else if (task <= norms) {
                  result_.norms[task - 1] = gamma2_alpha(signs, result_.alphas[task - 1], limits_);
                } else {
                  result_.fits[task - norms - 1] =
                      fit_dimensions(signs, calls_[task - norms - 1], settings_);
                }
              });
    remark_limits();
  }

 private:
  const JobContext& context_;
  std::vector<Call> calls_;
  RankResult& result_;
  Execution execution_;
  rank::NormLimits limits_;
  rank::FitSettings settings_;

  void remark_limits() const {
    const auto remark = [&](const std::string& name, const NormInterval& norm) {
      if (norm.upper - norm.lower <= 1e-3) return;
      context_.say("{}: its interval is {:.2g} wide; {} ended the search after {} iterations", name,
                   norm.upper - norm.lower, norm.in_time ? "their number" : "the time limit",
                   norm.iterations);
    };
    remark("gamma2", result_.gamma2);
    for (std::size_t i = 0; i < result_.norms.size(); ++i) {
      remark(fmt::format("gamma2 at alpha {}", result_.alphas[i]), result_.norms[i]);
    }
    for (const auto& fits : result_.fits) {
      for (const Fit& fit : fits) {
        if (fit.dim || fit.searched == settings_.dims.back()) continue;
        context_.say("{} at alpha {}: the time limit ended the search {}", fit.similarity,
                     fit.alpha,
                     fit.searched == 0 ? "in the first dimension"
                                       : fmt::format("after dimension {}", fit.searched));
      }
    }
  }
};

Json norm_json(const NormInterval& norm) {
  return {{"value", norm.value}, {"lower", norm.lower}, {"upper", norm.upper}};
}

Json result_json(const RankResult& result) {
  Json json{{"nodes", result.nodes},
            {"sign_changes", result.sign_changes},
            {"gamma2", norm_json(result.gamma2)},
            {"gamma2_alpha", Json::array()},
            {"fit", Json::array()}};
  for (std::size_t i = 0; i < result.norms.size(); ++i) {
    Json row{{"alpha", result.alphas[i]}};
    row.update(norm_json(result.norms[i]));
    row["bound"] = rank_bound(result.norms[i], result.alphas[i]);
    json["gamma2_alpha"].push_back(row);
  }
  for (const auto& fits : result.fits) {
    for (const Fit& fit : fits) {
      json["fit"].push_back({{"similarity", fit.similarity},
                             {"alpha", fit.alpha},
                             {"dim", fit.dim ? Json(*fit.dim) : Json()},
                             {"starts", fit.starts},
                             {"agreed", fit.agreed},
                             {"searched", fit.searched}});
    }
  }
  return json;
}

std::string interval_text(const NormInterval& norm) {
  return fmt::format("{:.5f}  in [{:.5f}, {:.5f}]", norm.value, norm.lower, norm.upper);
}

std::vector<std::string> result_lines(const RankResult& result, const std::string& input) {
  std::vector<std::string> lines = {
      fmt::format("{}: {} nodes, sign changes {}, so that the sign-rank is at most {}", input,
                  result.nodes, result.sign_changes, result.sign_changes + 1),
      "  gamma2             " + interval_text(result.gamma2)};
  for (std::size_t i = 0; i < result.norms.size(); ++i) {
    lines.push_back(fmt::format("  gamma2, alpha {:<4} {}  rank at least {:.3g}", result.alphas[i],
                                interval_text(result.norms[i]),
                                rank_bound(result.norms[i], result.alphas[i])));
  }
  for (const auto& fits : result.fits) {
    for (const Fit& fit : fits) {
      std::string found = fit.dim            ? fmt::format("dimension {} fits", *fit.dim)
                          : fit.searched > 0 ? fmt::format("none fits up to {}", fit.searched)
                                             : "not searched: the time limit was reached";
      if (fit.starts > 0) found += fmt::format(" ({} of {} starts)", fit.agreed, fit.starts);
      lines.push_back(fmt::format("  {}, alpha {}: {}", fit.similarity, fit.alpha, found));
    }
  }
  return lines;
}

LabelledArray norm_group(const RankResult& result) {
  LabelledArray group;
  group.axes = {{"alpha", result.alphas}};
  std::vector<double> value, lower, upper, bound;
  for (std::size_t i = 0; i < result.norms.size(); ++i) {
    value.push_back(result.norms[i].value);
    lower.push_back(result.norms[i].lower);
    upper.push_back(result.norms[i].upper);
    bound.push_back(rank_bound(result.norms[i], result.alphas[i]));
  }
  group.variables = {{"value", {"alpha"}, value, "", {{"long_name", "middle of the interval"}}},
                     {"lower", {"alpha"}, lower},
                     {"upper", {"alpha"}, upper},
                     {"bound", {"alpha"}, bound, "", {{"long_name", "lower bound of the rank"}}}};
  group.signal = "value";
  group.attributes = {{"sign_changes", result.sign_changes},
                      {"gamma2", result.gamma2.value},
                      {"gamma2_lower", result.gamma2.lower},
                      {"gamma2_upper", result.gamma2.upper}};
  return group;
}

LabelledArray fit_group(const RankResult& result) {
  LabelledArray group;
  std::vector<std::string> names;
  std::vector<std::int64_t> dim, starts, agreed, searched;
  for (const auto& fits : result.fits) {
    names.push_back(fits.front().similarity);
    for (const Fit& fit : fits) {
      dim.push_back(fit.dim.value_or(-1));
      starts.push_back(fit.starts);
      agreed.push_back(fit.agreed);
      searched.push_back(fit.searched);
    }
  }
  const std::vector<std::string> axes = {"similarity", "alpha"};
  group.axes = {{"similarity", names}, {"alpha", result.alphas}};
  group.variables = {{"dim", axes, dim, "", {{"long_name", "smallest that fits; -1: none"}}},
                     {"starts", axes, starts},
                     {"agreed", axes, agreed, "", {{"long_name", "starts that fit"}}},
                     {"searched", axes, searched, "", {{"long_name", "largest dimension"}}}};
  group.signal = "dim";
  return group;
}

void write_result(const JobSpec& spec, const RankResult& result, const Hierarchy& hierarchy) {
  LabelledFile file = result_of(spec_to_json(spec));
  file.groups = {{"hierarchy", hierarchy_group(hierarchy)}, {"rank/norm", norm_group(result)}};
  if (!result.fits.empty()) file.groups.emplace_back("rank/fit", fit_group(result));
  write_labelled(spec.text("output"), file);
}

JobReport run_rank(const JobSpec& spec, const JobContext& context) {
  const std::string input = spec.text("input"), output = spec.text("output");
  const Hierarchy hierarchy = read_hierarchy(parse_input_spec(input).path, context.cancelled);
  RankResult result;
  result.nodes = hierarchy.size();
  if (result.nodes == 0) fail("{}: its hierarchy has no nodes", input);
  if (result.nodes > most_nodes) {
    fail(
        "{}: its hierarchy has {} nodes, but at most {} can be analysed: each of the many "
        "decompositions of the sign matrix takes O(n^3)",
        input, result.nodes, most_nodes);
  }
  result.alphas = alphas_of(spec);
  const rank::Matrix signs = rank::sign_matrix(hierarchy);
  result.sign_changes = rank::sign_changes(signs);
  RankTasks(spec, context, result).run(signs);
  if (!output.empty()) write_result(spec, result, hierarchy);
  JobReport report{.summary = result_json(result), .lines = result_lines(result, input)};
  report.measures = {{"gamma2", result.gamma2.value}};
  for (std::size_t i = 0; i < result.alphas.size(); ++i) {
    const std::string alpha = fmt::format("{}", result.alphas[i]);
    report.measures["bound_" + alpha] = rank_bound(result.norms[i], result.alphas[i]);
    for (const auto& fits : result.fits) {
      if (!fits[i].dim) continue;  // None was found.
      report.measures[fmt::format("dim_{}_{}", fits[i].similarity, alpha)] =
          static_cast<double>(*fits[i].dim);
    }
  }
  if (!output.empty()) report.files = {output};
  return report;
}

void check_rank(const JobSpec& spec) {
  (void)alphas_of(spec);
  (void)dims_of(spec);
  (void)calls_of(spec);
  if (!(spec.number("time_limit") > 0)) {
    misuse("the time limit must be positive (found {})", spec.number("time_limit"));
  }
}

}  // namespace

JobKind rank_job() {
  JobField output = output_field("the HDF5 file to write; default: none");
  output.required = false;
  JobField input = hierarchy_field();
  input.option = "FILE";
  constexpr std::int64_t most = 1'000'000;
  return {.name = "rank",
          .about = "sign changes, factorisation norm and fitting dimensions of a hierarchy",
          .example =
              "  conelab rank mammals.h5 --time-limit 3600\n"
              "  conelab rank tree.h5 --alphas 1,2 --similarities dot,penumbral,umbral "
              "--dims 1..8 -o rank.h5\n",
          .fields = {input,
                     output,
                     {"alphas", "--alphas", "margins, from 1", FieldKind::list, "1,1.5,2,4"},
                     {"similarities", "--similarities", "similarities that are to fit",
                      FieldKind::list, "dot,laplacian,hyperbolic,penumbral,umbral"},
                     {"dims", "--dims", "dimensions that are tried: 1..8 or 2,4,8", FieldKind::list,
                      "1..8"},
                     integer_field("starts", "random starts in each dimension", "4", 1, most),
                     integer_field("steps", "steps of descent of each start", "1500", 1, most),
                     integer_field("seed", "of the starts", "1", 1, most),
                     {"time_limit", "--time-limit", "seconds for all searches together",
                      FieldKind::number, "600"},
                     threads_field()},
          .run = run_rank,
          .check = check_rank,
          .sources = token_sources,
          .result = true};
}

}  // namespace conelab
