#include "core/study/study_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/duration.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/processors.h"
#include "core/bench/parts.h"
#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"
#include "core/files/seal.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"
#include "core/simd/kernels.h"
#include "core/study/job_worker.h"

namespace conelab {
namespace {

using SteadyClock = std::chrono::steady_clock;
using FileClock = std::filesystem::file_time_type::clock;
namespace fs = std::filesystem;
constexpr double unknown_time = std::numeric_limits<double>::quiet_NaN();

Json machine_json() {
  Json json = Json::object();
  for (const auto& [name, value] : environment(simd_summary())) {
    std::visit([&, key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

StudyIndex empty_index(const Study& study) {
  StudyIndex index{study.title,    study.seed,   study.quick, program_version(),
                   machine_json(), study.report, {}};
  for (const StudyJob& job : study.jobs) {
    JobRecord record;
    record.block = job.block, record.kind = job.spec.kind->name;
    record.sweep = job.sweep, record.name = job.name;
    index.jobs.push_back(std::move(record));
  }
  return index;
}

/// Remembers the digests of files: many jobs read the same ones. Those of large files are kept in
/// DIR/digests.json too, with what `file_stamp` says of the file, for later runs and other shards.
class Digests {
 public:
  Digests(std::string folder, std::function<bool()> cancelled)
      : folder_(std::move(folder)), cancelled_(std::move(cancelled)) {
    std::ifstream file(kept_in());
    kept_ = Json::parse(file, nullptr, false);
    if (!kept_.is_object()) kept_ = Json::object();
  }

  std::string operator()(const std::string& path) {
    std::string& digest = known_[path];
    if (digest.empty()) digest = find((fs::path(folder_) / path).string());
    return digest;
  }
  void know(const std::string& path, const std::string& digest) { known_[path] = digest; }

 private:
  std::string kept_in() const { return folder_ + "/digests.json"; }

  std::string find(const std::string& file) {
    constexpr std::uintmax_t large = std::uintmax_t{64} << 20;
    std::error_code none;
    if (!fs::is_regular_file(file, none) || fs::file_size(file, none) < large) {
      return content_digest(file, cancelled_);
    }
    const std::string stamp = file_stamp(file);
    const std::string name = fs::absolute(file).lexically_normal().string();
    const Json kept = kept_.value(name, Json::object());
    if (kept.is_object() && kept.value("stamp", "") == stamp) return kept.value("sha256", "");
    const std::string digest = content_digest(file, cancelled_);
    // Within the resolution of its time a file could change again without another stamp.
    const bool settled = fs::last_write_time(file) + std::chrono::seconds(2) < FileClock::now();
    if (settled && file_stamp(file) == stamp && fs::is_directory(folder_, none)) {
      kept_[name] = {{"stamp", stamp}, {"sha256", digest}};
      write_json(kept_in(), kept_);
    }
    return digest;
  }

  std::string folder_;
  std::function<bool()> cancelled_;
  std::map<std::string, std::string> known_;
  Json kept_ = Json::object();
};

JobSpec with_inputs(const StudyJob& job, const StudyIndex& index) {
  JobSpec spec = job.spec;
  for (const JobInput& input : job.inputs) {
    std::string path = index.jobs[input.job].files.front();
    if (!input.group.empty()) path += ":" + input.group;
    FieldValue& value = spec.values[input.field];
    if (auto* list = std::get_if<std::vector<std::string>>(&value)) {
      (*list)[input.entry] = path;
    } else {
      value = path;
    }
  }
  return spec;
}

bool inputs_done(const StudyJob& job, const StudyIndex& index) {
  return std::ranges::all_of(job.inputs,
                             [&](const JobInput& input) { return index.jobs[input.job].done(); });
}

void prepare(const Study& study, StudyIndex& index, std::size_t at, Digests& digests) {
  JobRecord& record = index.jobs[at];
  record.inputs.clear();
  for (const JobInput& input : study.jobs[at].inputs) {
    const JobRecord& read = index.jobs[input.job];
    record.inputs.push_back(read.key);
    digests.know(read.files.front(), read.digest);
  }
  record.key = job_key(with_inputs(study.jobs[at], index), std::ref(digests));
}

/// Takes what an earlier run found of a job: its result, its time and its numbers.
void take_result(JobRecord& record, JobRecord found) {
  found.block = record.block, found.sweep = record.sweep, found.name = record.name;
  found.inputs = record.inputs;
  record = std::move(found);
}

/// Marks the pending jobs whose results are in the folder, in an order in which inputs come first,
/// and returns how many these are.
int take_finished(const Study& study, const std::string& folder, Digests& digests,
                  StudyIndex& index) {
  int taken = 0;
  for (std::size_t i = 0; i < index.jobs.size(); ++i) {
    JobRecord& record = index.jobs[i];
    if (record.status != "pending" || !inputs_done(study.jobs[i], index)) continue;
    if (record.key.empty()) prepare(study, index, i, digests);
    if (auto found = find_result(folder, record.key)) {
      take_result(record, std::move(*found));
      ++taken;
    }
  }
  return taken;
}

std::vector<std::string> endings_of(const JobKind& kind, const JobContext& context) {
  std::vector<std::string> endings = kind.endings;
  if (!context.write_png) std::erase(endings, ".png");
  return endings;
}

class StudyRun {
 public:
  StudyRun(const Study& study, const StudyOptions& options, const StudyContext& context)
      : study_(study),
        options_(options),
        context_(context),
        lock_(lock_study(options.folder, options.shared)),
        digests_(options.folder, context.job.cancelled),
        index_(empty_index(study)),
        own_(jobs_of_shard(study, options.shard, options.shards)),
        started_(study.jobs.size(), false),
        begun_(study.jobs.size()) {}

  StudyIndex run() {
    if (fs::exists(options_.folder + "/index.json")) (void)read_index(options_.folder);
    for (const char* folder : {"/", "/jobs"}) remove_temporary_files(options_.folder + folder);
    write_text_atomically(options_.folder + "/study.toml", study_.text);
    take_finished(study_, options_.folder, digests_, index_);
    for (std::size_t i = 0; i < started_.size(); ++i) started_[i] = index_.jobs[i].done();
    predicted_ = predicted_seconds(study_, index_);
    store();
    log(fmt::format("run of {}: {} jobs, {} done before", study_.path, index_.jobs.size(),
                    index_.count("done")));
    const std::jthread renewing([this](const std::stop_token& stop) { renew_claims(stop); });
    std::vector<std::thread> threads;
    for (int i = 0; i < options_.at_once; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    mark_waiting();
    store();
    return index_;
  }

 private:
  const Study& study_;
  const StudyOptions& options_;
  const StudyContext& context_;
  FolderLock lock_;
  std::mutex mutex_;  ///< Guards everything below.
  std::condition_variable changed_;
  Digests digests_;
  StudyIndex index_;
  std::vector<bool> own_, started_;
  std::vector<double> predicted_;
  std::map<std::size_t, double> running_;   ///< The done fraction of each job that runs.
  std::map<std::size_t, JobClaim> claims_;  ///< Of the jobs that run.
  /// When to ask again for a job that another process has.
  std::map<std::size_t, SteadyClock::time_point> ask_again_;
  std::vector<SteadyClock::time_point> begun_;
  SteadyClock::time_point start_ = SteadyClock::now();
  double spent_ = 0;  ///< Predicted seconds of the jobs that have ended in this run.
  std::exception_ptr failure_;

  /// Writes the index, with what other shards have finished meanwhile.
  void store() {
    const auto take_others = [this] {
      return options_.shared ? take_finished(study_, options_.folder, digests_, index_) : 0;
    };
    (void)take_others();
    do write_index(options_.folder, index_);
    while (take_others() > 0);
  }

  void renew_claims(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    std::condition_variable_any ending;
    while (!ending.wait_for(lock, stop, std::chrono::seconds(JobClaim::seconds_to_renew),
                            [&] { return stop.stop_requested(); })) {
      for (const auto& [at, claim] : claims_) claim.renew();
    }
  }

  void log(const std::string& line) const {
    std::ofstream file(options_.folder + "/log.txt", std::ios::app);
    file << fmt::format("{:%Y-%m-%dT%H:%M:%S} {}\n", fmt::localtime(std::time(nullptr)), line);
  }

  /// Returns the next job that may start, or nothing: then either none is left or one must end
  /// before. A job that measures time runs alone.
  std::optional<std::size_t> next() const {
    for (std::size_t i = 0; i < index_.jobs.size(); ++i) {
      const bool alone = study_.jobs[i].spec.kind->measures_time;
      if (started_[i] || index_.jobs[i].done() || !own_[i]) continue;
      if (!inputs_done(study_.jobs[i], index_) || waits_for_other(i)) continue;
      if (alone && !running_.empty()) return std::nullopt;
      return i;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool one_measures() const {
    return std::ranges::any_of(
        running_, [&](const auto& job) { return study_.jobs[job.first].spec.kind->measures_time; });
  }

  [[nodiscard]] bool waits_for_other(std::size_t at) const {
    const auto found = ask_again_.find(at);
    return found != ask_again_.end() && found->second > SteadyClock::now();
  }

  void work() {
    std::unique_lock lock(mutex_);
    try {
      while (!failure_) {
        std::erase_if(ask_again_, [&](const auto& job) { return index_.jobs[job.first].done(); });
        const auto job = one_measures() ? std::nullopt : next();
        if (job) {
          run_job_at(*job, lock);
        } else if (!ask_again_.empty()) {
          changed_.wait_for(lock, std::chrono::milliseconds(200));
          stop_if(context_.job.cancelled);
        } else if (running_.empty()) {
          break;
        } else {
          changed_.wait(lock);
        }
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!failure_) failure_ = std::current_exception();
    }
    changed_.notify_all();
  }

  /// Claims the job, or notes when to ask again because another process computes it. That process
  /// may also have ended, so that the claim becomes void.
  bool claim(std::size_t at) {
    auto claim = JobClaim::take(options_.folder, index_.jobs[at].key);
    if (claim) {
      claims_.emplace(at, std::move(*claim));
      return true;
    }
    if (!ask_again_.contains(at)) {
      log("another process computes " + index_.jobs[at].name);
      if (context_.ended) context_.ended("waits for another process, " + index_.jobs[at].name);
    }
    ask_again_[at] = SteadyClock::now() + std::chrono::seconds(1);
    return false;
  }

  void run_job_at(std::size_t at, std::unique_lock<std::mutex>& lock) {
    JobRecord record;
    const char* how = "failed";
    try {
      prepare(study_, index_, at, digests_);
      if (!claim(at)) return;
      started_[at] = true;
      running_[at] = 0;
      begun_[at] = SteadyClock::now();
      record = index_.jobs[at];
      if (auto found = find_result(options_.folder, record.key)) {
        take_result(record, std::move(*found));
        how = "found";
      } else {
        const JobSpec spec = final_spec(at, record);
        lock.unlock();
        compute(at, spec, record);
        lock.lock();
        how = "done";
      }
    } catch (const Error& error) {
      if (!lock.owns_lock()) lock.lock();
      if (error.kind() == ErrorKind::interrupted) throw;
      if (record.name.empty()) record = index_.jobs[at];
      record.status = "failed";
      record.error = error.what();
    }
    end(at, std::move(record), how);
  }

  JobSpec final_spec(std::size_t at, JobRecord& record) const {
    JobSpec spec = with_inputs(study_.jobs[at], index_);
    const JobKind& kind = *spec.kind;
    const std::string output = "jobs/" + record.key + kind.endings.front();
    spec.values[find_field(kind, FieldKind::output)->name] = output;
    record.command = shell_line(command_words(spec));
    record.spec = spec_to_json(spec);
    const JobField* threads = find_field(kind, "threads");
    const bool shared = options_.at_once > 1 && threads != nullptr &&
                        threads->kind == FieldKind::integer && !spec.given("threads");
    if (shared) {
      const int each = usable_processors() / options_.at_once;
      spec.values["threads"] = std::int64_t{std::max(1, each)};
    }
    return spec;
  }

  /// Runs the job in a worker, and writes its entry once its files are there.
  void compute(std::size_t at, const JobSpec& spec, JobRecord& record) {
    JobContext context = context_.job;
    context.also = endings_of(*spec.kind, context_.job);
    context.also.erase(context.also.begin());
    context.remark = {};
    context.progress = [&](const char* stage, double fraction) {
      const std::lock_guard lock(mutex_);
      running_[at] = fraction;
      report_progress(stage);
    };
    const JobReport report = run_or_resume(spec, context);
    record.files = report.files;
    record.remarks = report.remarks;
    record.measures = report.measures;
    record.digest =
        content_digest(options_.folder + "/" + record.files.front(), context_.job.cancelled);
    record.seconds = seconds_of(at);
    record.status = "done";
    write_record(options_.folder, record);
  }

  /// Goes on with a benchmark that was killed. What another machine or program has measured of it
  /// cannot stand beside new samples, so that it is measured anew.
  JobReport run_or_resume(JobSpec spec, const JobContext& context) const {
    const auto run = [&] { return run_in_worker(context_.worker, options_.folder, spec, context); };
    const JobField* resume = find_field(*spec.kind, FieldKind::optional_text);
    const std::string output =
        options_.folder + "/" + spec.text(find_field(*spec.kind, FieldKind::output)->name);
    if (resume == nullptr || !Parts::exist(output)) return run();
    spec.values[resume->name] = std::string();
    try {
      return run();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      fs::remove_all(output + ".parts");
      spec.values.erase(resume->name);
      return run();
    }
  }

  [[nodiscard]] double seconds_of(std::size_t at) const {
    return std::chrono::duration<double>(SteadyClock::now() - begun_[at]).count();
  }

  void end(std::size_t at, JobRecord record, const char* how) {
    running_.erase(at);
    claims_.erase(at);
    ask_again_.erase(at);
    started_[at] = true;
    spent_ += weight(at);
    const std::string line =
        fmt::format("{} {}{}", how, record.name,
                    record.done() ? ", " + duration_text(record.seconds) : ": " + record.error);
    index_.jobs[at] = std::move(record);
    log(line);
    store();
    if (context_.ended) context_.ended(line);
    report_progress("");
    changed_.notify_all();
  }

  // ---- progress ---------------------------------------------------------------------------------

  /// Returns the predicted seconds of a job, or one second where nothing is known.
  [[nodiscard]] double weight(std::size_t at) const {
    return std::isfinite(predicted_[at]) ? std::max(predicted_[at], 0.01) : 1;
  }

  void report_progress(const std::string& stage) {
    if (!context_.progress) return;
    StudyProgress now;
    std::vector<std::string>& names = now.running;
    double left = 0, done = spent_;
    for (std::size_t i = 0; i < index_.jobs.size(); ++i) {
      if (own_[i] && !started_[i] && !index_.jobs[i].done()) left += weight(i);
    }
    for (const auto& [at, fraction] : running_) {
      names.push_back(index_.jobs[at].name);
      left += weight(at) * (1 - fraction);
      done += weight(at) * fraction;
    }
    const double elapsed = std::chrono::duration<double>(SteadyClock::now() - start_).count();
    const std::size_t ended = index_.count("done", own_) + index_.count("failed", own_);
    now.text =
        fmt::format("{}/{} {}", ended, std::ranges::count(own_, true), fmt::join(names, ", "));
    if (!stage.empty() && names.size() == 1) now.text += " " + stage;
    now.fraction = done / (done + left);
    now.seconds = remaining_seconds(elapsed, now.fraction);
    context_.progress(now);
  }

  /// Marks the jobs that could not run because an input is missing. Jobs of other shards whose
  /// inputs are there remain pending.
  void mark_waiting() {
    for (std::size_t i = 0; i < index_.jobs.size(); ++i) {
      JobRecord& record = index_.jobs[i];
      if (record.status == "pending" && !inputs_done(study_.jobs[i], index_)) {
        record.status = "waiting";
      }
    }
  }
};

bool is_data_set(const StudyJob& job) {
  return job.inputs.empty() && std::string_view(job.spec.kind->name) == "dataset";
}
bool reads_data_sets_only(const Study& study, const StudyJob& job) {
  return std::ranges::all_of(
      job.inputs, [&](const JobInput& input) { return is_data_set(study.jobs[input.job]); });
}
/// Returns for each job the number of its share of the study, or -1 for a job that goes where its
/// inputs are, and for a data set that a job reads.
std::vector<int> shares_of(const Study& study) {
  std::vector<bool> is_read(study.jobs.size());
  for (const StudyJob& job : study.jobs) {
    for (const JobInput& input : job.inputs) is_read[input.job] = true;
  }
  std::vector<int> shares;
  int next = 0;
  for (std::size_t i = 0; i < study.jobs.size(); ++i) {
    const StudyJob& job = study.jobs[i];
    const bool follows = is_data_set(job) ? is_read[i] : !reads_data_sets_only(study, job);
    const bool joins = job.first_trial.value_or(i) != i;
    shares.push_back(follows ? -1 : joins ? shares[*job.first_trial] : next++);
  }
  return shares;
}

}  // namespace

StudyIndex plan_study(const Study& study, const std::string& folder,
                      const std::function<bool()>& cancelled) {
  StudyIndex index = empty_index(study);
  Digests digests(folder, cancelled);
  take_finished(study, folder, digests, index);
  return index;
}

std::vector<double> predicted_seconds(const Study& study, const StudyIndex& index) {
  std::map<std::string, std::pair<double, int>> known;
  for (const JobRecord& record : index.jobs) {
    if (!record.done()) continue;
    known[record.block].first += record.seconds;
    known[record.block].second += 1;
  }
  std::vector<double> all;
  for (const StudyJob& job : study.jobs) {
    const auto& [sum, count] = known[job.block];
    const auto predict = job.spec.kind->seconds;
    all.push_back(count > 0 ? sum / count : predict != nullptr ? predict(job.spec) : unknown_time);
  }
  return all;
}

std::vector<bool> jobs_of_shard(const Study& study, int shard, int shards) {
  const std::vector<int> shares = shares_of(study);
  std::vector<bool> own(study.jobs.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const StudyJob& job = study.jobs[i];
    const auto is_here = [&](const JobInput& input) {
      return own[input.job] || is_data_set(study.jobs[input.job]);
    };
    own[i] = shares[i] >= 0 ? shares[i] % shards == shard - 1
                            : !job.inputs.empty() && std::ranges::all_of(job.inputs, is_here);
    for (const JobInput& input : job.inputs) {
      if (own[i] && is_data_set(study.jobs[input.job])) own[input.job] = true;
    }
  }
  return own;
}

int most_shards(const Study& study) {
  const std::vector<int> shares = shares_of(study);
  return shares.empty() ? 1 : std::max(1, *std::ranges::max_element(shares) + 1);
}

StudyIndex run_study(const Study& study, const StudyOptions& options, const StudyContext& context) {
  return StudyRun(study, options, context).run();
}

}  // namespace conelab
