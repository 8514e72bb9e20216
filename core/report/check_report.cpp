#include "core/report/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/sha256.h"
#include "core/files/byte_file.h"
#include "core/jobs/job_table.h"
#include "core/report/records.h"
#include "core/report/report.h"
#include "core/study/job_worker.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

/// A folder for results that are computed again, which is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (fs::temp_directory_path() / "conelab-check-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) fail("{}: cannot be made", path);
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  const ByteFile file(path);
  return file.read(0, file.size());
}

class Checker {
 public:
  Checker(std::string output, const std::vector<std::string>& worker, const JobContext& context)
      : output_(std::move(output)),
        record_(read_report_record(output_)),
        worker_(worker),
        context_(context) {
    for (const ReportRecord::Study& study : record_.studies) {
      folders_.push_back(plain_folder(fs::path(output_) / study.folder).string());
      labels_.push_back(study.label);
    }
    studies_ = read_report_studies(folders_);
  }

  CheckedReport check(std::uint64_t seed) {
    for (std::size_t s = 0; s < studies_.size(); ++s) check_digests(s);
    for (const ReportStudy& study : studies_) {
      result_.failed += study.index.count("failed");
      result_.missing +=
          study.jobs().size() - study.index.count("done") - study.index.count("failed");
    }
    attempt("the report cannot be made anew", [&] { check_files(); });
    for (const ReportStudy& study : studies_) {
      for (const JobRecord& job : study.jobs()) {
        if (job.done() && job.kind == "figure") check_figure(study, job);
      }
    }
    run_some_again(seed);
    return std::move(result_);
  }

 private:
  template <class... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    result_.problems.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  /// Runs `work`; if it fails, that is a problem. An interruption passes through.
  template <class Work>
  void attempt(const std::string& what, const Work& work) {
    stop_if(context_.cancelled);
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      problem("{}: {}", what, error.what());
    }
  }

  void check_digests(std::size_t s) {
    const auto& cited = record_.studies[s].digests;
    for (const JobRecord& job : studies_[s].jobs()) {
      const auto found = cited.find(job.name);
      if (job.done() && found == cited.end()) problem("{}: is not in the report yet", job.name);
      if (!job.done() || found == cited.end()) continue;
      ++result_.digests;
      if (job.digest != found->second) {
        problem("{}: the study's index states another digest than the report", job.name);
      }
      attempt(job.name, [&] {
        const std::string change = content_change(studies_[s].path(job), job, context_.cancelled);
        if (!change.empty()) problem("{}", change);
      });
    }
    for (const auto& [name, digest] : cited) {
      const JobRecord* job = find_named(studies_[s].jobs(), name);
      if (job == nullptr || !job->done()) problem("{}: is no longer in {}", name, folders_[s]);
    }
  }

  /// Compares the report with one that is made anew from the same folders.
  void check_files() {
    const Report report =
        make_report(folders_, output_, {.cancelled = context_.cancelled}, labels_);
    for (const Number& number : report.numbers) {
      const auto found = record_.numbers.find(number.name);
      const std::string text = plain_number(number.text);
      ++result_.numbers;
      if (found == record_.numbers.end()) {
        problem("number {}: is missing from the report", number.name);
      } else if (found->second != text) {
        problem("number {}: the report has {}, the results give {}", number.name, found->second,
                text);
      }
    }
    const std::map<std::string, std::string> files = report_files(report);
    for (const auto& [name, bytes] : files) {
      ++result_.files;
      attempt(name, [&, &name = name, &bytes = bytes] { compare_file(name, bytes); });
    }
    for (const auto& [name, digest] : record_.files) {
      if (!files.contains(name)) problem("{}: the results give no such file", name);
    }
  }

  void compare_file(const std::string& name, const std::string& bytes) {
    const std::string found = content((fs::path(output_) / name).string());
    if (found == bytes) return;
    const auto [a, b] = std::mismatch(found.begin(), found.end(), bytes.begin(), bytes.end());
    const auto line = std::count(found.begin(), a, '\n') + 1;
    problem("{}: differs from what the results give, first in line {}", name, line);
  }

  /// Runs a job again, within its study's folder as `run` did.
  JobReport run_again(const ReportStudy& study, const JobRecord& job,
                      const std::string& output) const {
    JobSpec spec = spec_from_json(job.spec);
    spec.values[find_field(*spec.kind, FieldKind::output)->name] = output;
    JobContext context{.cancelled = context_.cancelled};
    for (std::size_t i = 1; i < job.files.size(); ++i) {
      context.also.push_back(fs::path(job.files[i]).extension().string());
    }
    return run_in_worker(worker_, study.folder, spec, context);
  }

  void check_figure(const ReportStudy& study, const JobRecord& job) {
    ++result_.figures;
    attempt(job.name, [&] {
      const JobReport drawn = run_again(study, job, folder_.path("again.svg"));
      for (std::size_t i = 0; i < std::min(drawn.files.size(), job.files.size()); ++i) {
        if (content(drawn.files[i]) == content(study.path(job, i))) continue;
        problem("figure {}: {} differs from what is drawn now", job.name, study.path(job, i));
      }
    });
  }

  void check_result(const ReportStudy& study, const JobRecord& job) {
    result_.run_again.push_back(job.name);
    attempt(job.name, [&] {
      const JobReport again = run_again(study, job, folder_.path("again-" + job.kind + ".h5"));
      const std::string difference =
          results_difference(study.path(job), again.files.at(0), {.cancelled = context_.cancelled});
      if (!difference.empty()) problem("{}: run again, {}", job.name, difference);
      for (const auto& [name, value] : again.measures) {
        const auto stated = job.measures.find(name);
        if (stated == job.measures.end() || same_measure(name, stated->second, value)) continue;
        problem("{}: the index states {} = {}, run again {}", job.name, name, stated->second,
                value);
      }
    });
  }

  void run_some_again(std::uint64_t seed) {
    std::vector<std::pair<const ReportStudy*, const JobRecord*>> jobs;
    for (const ReportStudy& study : studies_) {
      for (const JobRecord& job : study.jobs()) {
        const bool repeats = job.kind != "figure" && !job_named(job.kind).measures_time;
        if (job.done() && repeats) jobs.emplace_back(&study, &job);
      }
    }
    Random(seed).shuffle(jobs);
    jobs.resize((jobs.size() + 9) / 10);
    for (const auto& [study, job] : jobs) check_result(*study, *job);
  }

  std::string output_;
  ReportRecord record_;
  const std::vector<std::string>& worker_;
  const JobContext& context_;
  std::vector<std::string> folders_, labels_;
  std::vector<ReportStudy> studies_;
  TemporaryFolder folder_;
  CheckedReport result_;
};

}  // namespace

CheckedReport check_report(const std::string& output, std::uint64_t seed,
                           const std::vector<std::string>& worker, const JobContext& context) {
  return Checker(output, worker, context).check(seed);
}

namespace {

constexpr double tolerance_of_other_processors = 1e-4;

bool is_environment(const std::string& group) { return group.ends_with("environment"); }

bool is_time(const std::string& name) { return name.find("seconds") != std::string::npos; }

/// Returns what of the environment decides over the last bits of results.
std::string processor_of(const LabelledFile& file) {
  std::string text = file.creator;
  for (const auto& [name, group] : file.groups) {
    if (!is_environment(name)) continue;
    for (const char* key : {"git_hash", "compiler", "compiler_flags", "cpu", "simd"}) {
      if (const auto* value = find_attribute<std::string>(group.attributes, key)) {
        text += "\n" + *value;
      }
      const auto* words = group.data<std::string>(key);
      if (words != nullptr && !words->empty()) text += "\n" + words->front();
    }
  }
  return text;
}

template <class T>
std::string data_difference(const std::vector<T>& a, const std::vector<T>& b, double tolerance) {
  if (a.size() != b.size()) return fmt::format("has {} values, then {}", a.size(), b.size());
  if constexpr (std::is_same_v<T, std::string>) {
    return a == b ? "" : "holds other texts";
  } else {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      difference = std::isfinite(x - y) ? std::max(difference, std::abs(x - y)) : INFINITY;
    }
    for (const T& x : a) {
      if (std::isfinite(static_cast<double>(x))) {
        largest = std::max(largest, std::abs(static_cast<double>(x)));
      }
    }
    if (difference <= tolerance * largest) return "";
    return fmt::format("differs by {:.2g} of its largest number", difference / largest);
  }
}

std::string group_difference(const LabelledArray& a, const LabelledArray& b, double tolerance) {
  for (const LabelledVariable& variable : a.variables) {
    if (is_time(variable.name)) continue;
    const LabelledVariable* other = b.variable(variable.name);
    if (other == nullptr || other->data.index() != variable.data.index()) {
      return variable.name + " is missing";
    }
    const std::string difference = std::visit(
        [&](const auto& data) {
          return data_difference(data, std::get<std::decay_t<decltype(data)>>(other->data),
                                 tolerance);
        },
        variable.data);
    if (!difference.empty()) return variable.name + " " + difference;
  }
  for (const auto& [name, value] : a.attributes) {
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr || is_time(name)) continue;
    const AttributeValue* other = value_at(b.attributes, name);
    const double* twin = other == nullptr ? nullptr : std::get_if<double>(other);
    if (twin == nullptr) return name + " is missing";
    const std::string difference =
        data_difference(std::vector<double>{*number}, std::vector<double>{*twin}, tolerance);
    if (!difference.empty()) return fmt::format("{} is {}, then {}", name, *number, *twin);
  }
  return "";
}

}  // namespace

std::string results_difference(const std::string& first, const std::string& second,
                               const SandboxLimits& limits) {
  const LabelledFile a = read_labelled_file_sandboxed(first, limits);
  const LabelledFile b = read_labelled_file_sandboxed(second, limits);
  const double tolerance = processor_of(a) == processor_of(b) ? 0 : tolerance_of_other_processors;
  for (const auto& [name, group] : a.groups) {
    if (is_environment(name)) continue;
    const LabelledArray* other = b.group(name);
    const std::string difference =
        other == nullptr ? "is missing" : group_difference(group, *other, tolerance);
    if (!difference.empty()) return "/" + name + "/" + difference;
  }
  return "";
}

bool same_measure(const std::string& name, double first, double second) {
  const bool missing = std::isnan(first) && std::isnan(second);
  const double most = tolerance_of_other_processors * std::max(std::abs(first), std::abs(second));
  return is_time(name) || missing || std::abs(first - second) <= most;
}

}  // namespace conelab
