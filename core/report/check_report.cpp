#include "core/report/check_report.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/sha256.h"
#include "core/files/byte_file.h"
#include "core/report/file_numbers.h"
#include "core/report/report.h"
#include "core/report/report_record.h"
#include "core/report/same_results.h"
#include "core/study/job_table.h"
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
      folders_.push_back((fs::path(output_) / study.folder).lexically_normal().string());
    }
    studies_ = read_report_studies(folders_);
  }

  CheckedReport check(std::uint64_t seed) {
    for (std::size_t s = 0; s < studies_.size(); ++s) check_digests(s);
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
    if (context_.stopped()) throw Error(ErrorKind::interrupted, "interrupted");
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
      attempt(job.name, [&] { check_content(studies_[s].path(job), job); });
    }
    for (const auto& [name, digest] : cited) {
      const JobRecord* job = find_named(studies_[s].jobs(), name);
      if (job == nullptr || !job->done()) problem("{}: is no longer in {}", name, folders_[s]);
    }
  }

  void check_content(const std::string& path, const JobRecord& job) {
    if (job.kind == "figure") {
      if (sha256_of_file(path, context_.cancelled) != job.digest) {
        problem("{}: its content does not have the digest that the index states", path);
      }
      return;
    }
    const FileNumbers file = read_file_numbers(path, {.cancelled = context_.cancelled});
    if (file.seal == hdf5::Seal::broken) {
      problem("{}: its content has changed since it was written", path);
    } else if (file.digest != job.digest) {
      problem("{}: its seal states another digest than the index", path);
    }
  }

  /// Compares the report with one that is made anew from the same folders.
  void check_files() {
    const Report report = make_report(folders_, output_, {.cancelled = context_.cancelled});
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
      attempt(name, [&] { compare_file(name, bytes); });
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
      const JobReport again = run_again(study, job, folder_.path("again.h5"));
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
  std::vector<std::string> folders_;
  std::vector<ReportStudy> studies_;
  TemporaryFolder folder_;
  CheckedReport result_;
};

}  // namespace

CheckedReport check_report(const std::string& output, std::uint64_t seed,
                           const std::vector<std::string>& worker, const JobContext& context) {
  return Checker(output, worker, context).check(seed);
}

}  // namespace conelab
