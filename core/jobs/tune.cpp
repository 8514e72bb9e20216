#include "core/jobs/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ranges>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/random.h"
#include "core/files/read_tensors.h"
#include "core/files/seal.h"
#include "core/job/call_json.h"
#include "core/job/job_record.h"
#include "core/jobs/job_table.h"
#include "core/jobs/shared_fields.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr int bases[] = {2, 3, 5, 7, 11, 13, 17, 19};
/// The fields that only a job with `tune` may have.
constexpr const char* fields_of_tune[] = {"tune_by", "tune_over", "trial"};

/// A key that is searched, between two bounds. It is a whole number if both bounds are.
struct TuneRange {
  std::string key;
  double low = 0, high = 0;
  bool whole = false;
};

TuneRange range_of(const std::string& key, const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto low = parse_number(text.substr(0, dots));
  const auto high = dots == std::string::npos ? low : parse_number(text.substr(dots + 2));
  if (!low || !high || !(*low < *high)) {
    misuse("tune: {}={}: expected two bounds, as {}=0.01..1", key, text, key);
  }
  const bool whole = parse_integer(text.substr(0, dots)) && parse_integer(text.substr(dots + 2));
  return {key, *low, *high, whole};
}

/// Returns what is searched, in the order of the job's keys. Parameters of other similarities are
/// left out.
std::vector<TuneRange> space_of(const JobSpec& spec) {
  auto ranges = std::map<std::string, std::string>{{"rate", "0.005..0.5"}};
  if (const auto given = spec.values.find("tune_over"); given != spec.values.end()) {
    ranges = std::get<std::map<std::string, std::string>>(given->second);
  }
  std::vector<TuneRange> space;
  const Texts known = spec.kind->keys(spec);
  for (const std::string& key : known) {
    const auto found = ranges.find(key);
    if (found == ranges.end()) continue;
    space.push_back(range_of(key, found->second));
    ranges.erase(found);
  }
  for (const auto& [key, text] : ranges) {
    if (!contains_key(all_parameters(), key)) unknown_name("key of tune", key, known);
  }
  if (space.empty()) {
    misuse("tune: none of the keys to search belongs to this {}: {}", spec.kind->name,
           join(ranges | std::views::keys));
  }
  if (space.size() > std::size(bases)) {
    misuse("tune: at most {} keys are searched (found {})", std::size(bases), space.size());
  }
  return space;
}

/// Returns the digits of a number in a base, mirrored at the point: 6 = 110 in base 2 is 0.011.
double mirrored(std::int64_t number, int base) {
  double sum = 0, place = 1;
  for (; number > 0; number /= base) {
    place /= base;
    sum += place * static_cast<double>(number % base);
  }
  return sum;
}

/// Returns the values of the keys in a trial, as text: four digits, or a whole number.
Texts point_of(const std::vector<TuneRange>& space, std::int64_t trial) {
  Texts point;
  for (std::size_t k = 0; k < space.size(); ++k) {
    const TuneRange& range = space[k];
    const double share = mirrored(trial + 1, bases[k]);
    double value = range.low + share * (range.high - range.low);
    if (range.low > 0) {
      const double low = portable::log(range.low), high = portable::log(range.high);
      value = portable::exp(low + share * (high - low));
    }
    point.push_back(range.whole ? fmt::format("{}", std::llround(value))
                                : fmt::format("{:.4g}", value));
  }
  return point;
}

JobSpec with_point(const JobSpec& spec, const std::vector<TuneRange>& space, const Texts& point) {
  JobSpec other = spec;
  auto parameters = spec.parameters();
  for (std::size_t k = 0; k < space.size(); ++k) parameters[space[k].key] = point[k];
  other.values["parameters"] = parameters;
  return other;
}

JobSpec without_tune(JobSpec spec) {
  spec.values.erase("tune");
  for (const char* field : fields_of_tune) spec.values.erase(field);
  return spec;
}

std::string measure_of(const JobSpec& spec) {
  if (spec.given("tune_by")) return spec.text("tune_by");
  return spec.parameters().contains("held_out") ? "held_out_map" : "loss";
}

bool less_is_better(const std::string& measure) {
  return measure == "loss" || measure.ends_with("_rank") || measure.starts_with("robinson_foulds");
}

/// Runs a trial, unless its result is in the folder, and returns the path of its file.
std::string run_trial(JobSpec spec, const std::string& folder, const std::string& name,
                      const JobContext& context) {
  const auto digest = [&](const std::string& path) {
    return content_digest(path, context.cancelled);
  };
  JobRecord record;
  record.block = "trials", record.kind = spec.kind->name, record.name = name;
  record.key = job_key(spec, digest);
  const std::string file = "jobs/" + record.key + spec.kind->endings.front();
  const std::string path = folder + "/" + file;
  if (find_result(folder, record.key)) return path;
  record.spec = spec_to_json(spec);
  spec.values[find_field(*spec.kind, FieldKind::output)->name] = path;
  record.command = shell_line(command_words(spec));
  const JobReport report = run_job(spec, context);
  record.files = {file};
  record.measures = report.measures;
  record.remarks = report.remarks;
  record.digest = digest(path);
  record.status = "done";
  write_record(folder, record);
  return path;
}

}  // namespace

JobKind with_tune_fields(JobKind kind) {
  kind.fields.insert(
      kind.fields.end(),
      {integer_field("tune", "trials of other values of keys, of which the best is taken", "", 1,
                     100000),
       {"tune_by", "--tune-by",
        "the measure that decides; default: held_out_map where pairs are held back, else loss"},
       {"tune_over", "--tune-over",
        "a key to search and its bounds, rate=0.005..0.5; --tune-over again for the next; default: "
        "the rate",
        FieldKind::parameters},
       {"trial", "--trial",
        "the result of a trial that is finished; --trial again for the next; default: trials are "
        "run, and kept in OUTPUT.trials",
        FieldKind::inputs}});
  kind.measures.emplace_back("trials");
  return kind;
}

std::int64_t trials_of(const JobSpec& spec) {
  return spec.given("tune") ? spec.integer("tune") : 0;
}

JobSpec trial_spec(const JobSpec& spec, std::int64_t trial) {
  const std::vector<TuneRange> space = space_of(spec);
  JobSpec other = with_point(without_tune(spec), space, point_of(space, trial));
  other.values.erase("output");
  if (find_field(*spec.kind, "seeds") != nullptr) {
    other.values["seeds"] = std::string(trial_seed);
  } else {
    auto parameters = other.parameters();
    parameters["seed"] = trial_seed;
    other.values["parameters"] = parameters;
  }
  return other;
}

void check_tune(const JobSpec& spec) {
  if (trials_of(spec) == 0) {
    for (const char* field : fields_of_tune) {
      if (spec.given(field)) misuse("{}: give the number of trials, --tune N", field);
    }
    return;
  }
  const std::string by = measure_of(spec);
  (void)index_of_name("measure", by, spec.kind->measures);
  if (contains_key(all_parameters(), by) && !contains(spec.kind->keys(spec), by)) {
    misuse("tune: the measure {} is a parameter of another operator", by);
  }
  const auto parameters = spec.parameters();
  for (const auto& [beginning, key] :
       {std::pair{"held_out_", "held_out"}, std::pair{"unseen_", "held_out_nodes"}}) {
    if (by.starts_with(beginning) && !parameters.contains(key)) {
      misuse("tune: the measure {} needs the key {}", by, key);
    }
  }
  const std::vector<TuneRange> space = space_of(spec);
  Texts low, high;
  for (const TuneRange& range : space) {
    if (parameters.contains(range.key)) {
      misuse("tune: {} is given as {}, and searched", range.key, parameters.at(range.key));
    }
    low.push_back(fmt::format("{:.17g}", range.low));
    high.push_back(fmt::format("{:.17g}", range.high));
  }
  for (const Texts& corner : {low, high}) {
    spec.kind->check(with_point(without_tune(spec), space, corner));
  }
  const auto groups = spec.kind->groups;
  if (const std::size_t heads = groups == nullptr ? 1 : groups(trial_spec(spec, 0)).size();
      heads != 1) {
    misuse(
        "tune: the trials of one operator are compared (found {} heads: give one similarity and "
        "one dimension)",
        heads);
  }
  const auto files = static_cast<std::int64_t>(spec.list("trial").size());
  if (files != 0 && files != trials_of(spec)) {
    misuse("tune: {} trials need as many files (found {})", trials_of(spec), files);
  }
}

TuneChoice choose_trial(const JobSpec& spec, const JobContext& context) {
  const std::vector<TuneRange> space = space_of(spec);
  TuneChoice choice{measure_of(spec), all_keys(space), {}, {}};
  const double sign = less_is_better(choice.by) ? -1 : 1;
  double most = -INFINITY;
  bool found = false;
  for (const std::string& file : spec.list("trial")) {
    const FileNumbers numbers =
        read_file_numbers(parse_input_spec(file).path, {.cancelled = context.cancelled});
    double value = std::nan("");
    for (const auto& [name, number] : numbers.numbers) {
      if (name == choice.by) value = number;
    }
    if (sign * value > most) most = sign * value, choice.best = choice.value.size(), found = true;
    std::vector<double>& point = choice.point.emplace_back();
    for (const std::string& text :
         point_of(space, static_cast<std::int64_t>(choice.value.size()))) {
      point.push_back(*parse_number(text));
    }
    choice.value.push_back(value);
  }
  if (!found) fail("tune: none of the {} trials has the measure {}", trials_of(spec), choice.by);
  return choice;
}

JobSpec chosen_spec(const JobSpec& spec, const TuneChoice& choice) {
  const std::vector<TuneRange> space = space_of(spec);
  return with_point(spec, space, point_of(space, static_cast<std::int64_t>(choice.best)));
}

void add_choice(const JobContext& context, LabelledFile& file, JobReport& report) {
  if (context.tune == nullptr) return;
  const TuneChoice& choice = *context.tune;
  LabelledArray group;
  group.axes = {counted_axis("trial", choice.value.size())};
  group.variables.push_back({"value", {"trial"}, choice.value, "", {{"long_name", choice.by}}});
  group.attributes = {{"by", choice.by},
                      {"best", static_cast<std::int64_t>(choice.best)},
                      {"less_is_better", std::int64_t{less_is_better(choice.by)}}};
  const auto trials = static_cast<std::int64_t>(choice.value.size());
  file.attributes.emplace_back("trials", trials);
  report.summary["trials"] = trials;
  std::string line = fmt::format("best of {} trials by {} ({:.4g}):", trials, choice.by,
                                 choice.value[choice.best]);
  for (std::size_t k = 0; k < choice.keys.size(); ++k) {
    std::vector<double> column;
    for (const std::vector<double>& point : choice.point) column.push_back(point[k]);
    const double value = column[choice.best];
    group.add(choice.keys[k], {"trial"}, std::move(column));
    file.attributes.emplace_back("tuned_" + choice.keys[k], value);
    report.summary["tuned"][choice.keys[k]] = value;
    report.measures["tuned_" + choice.keys[k]] = value;
    line += fmt::format(" {} {:.4g}", choice.keys[k], value);
  }
  group.signal = "value";
  file.groups.emplace_back("tune", std::move(group));
  report.lines.push_back(std::move(line));
}

JobSpec with_trials(const JobSpec& spec, const JobContext& context) {
  const std::string output = spec.text(find_field(*spec.kind, FieldKind::output)->name);
  const std::string folder = output + ".trials";
  const FolderLock lock = lock_study(folder);
  const std::int64_t trials = trials_of(spec);
  Texts files;
  try {
    for (std::int64_t t = 0; t < trials; ++t) {
      JobContext own = context;
      own.remark = {};
      own.progress = [&](const char* stage, double fraction) {
        const double done = static_cast<double>(t) + fraction;
        if (context.progress) context.progress(stage, done / static_cast<double>(trials + 1));
      };
      files.push_back(run_trial(trial_spec(spec, t), folder, fmt::format("trial-{}", t), own));
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(error.kind(),
                fmt::format("{}: interrupted; {} of {} trials are kept in {}, and the same command "
                            "goes on with the others",
                            output, files.size(), trials, folder));
  }
  JobSpec other = spec;
  other.values["trial"] = files;
  return other;
}

}  // namespace conelab
