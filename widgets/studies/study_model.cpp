#include "widgets/studies/study_model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/duration.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/job/call_json.h"
#include "core/report/report.h"

namespace conelab::desktop {
namespace {

namespace fs = std::filesystem;

std::string count_text(const StudyIndex& index) {
  std::string text = fmt::format("{} of {} jobs done", index.count("done"), index.jobs.size());
  if (const std::size_t failed = index.count("failed"); failed > 0) {
    text += fmt::format(", {} failed", failed);
  }
  return text;
}

}  // namespace

bool is_study_index(const std::string& file) { return fs::path(file).filename() == "index.json"; }

std::string folder_of_study(const std::string& file) {
  const fs::path path(file);
  return (is_study_index(file) ? path.parent_path() : fs::path(path).replace_extension()).string();
}

struct StudyModel::Loaded {
  std::shared_ptr<const Study> study;
  StudyIndex index;
};

StudyModel::StudyModel(Document& document, JobPool& jobs, StudyBackend backend)
    : document_(document),
      jobs_(jobs),
      backend_(std::move(backend)),
      run_(jobs, [this] { look(); }) {
  connect(&document_, &Document::changed, this, &StudyModel::follow);
  follow();
}

// ---- the study on display -----------------------------------------------------------------------

void StudyModel::open(const std::string& file) {
  document_.edit("open a study", [&](Session& s) { s.study.file = file; });
  if (!running()) load();  // The file may have changed.
}

void StudyModel::close() {
  document_.edit("close a study", [&](Session& s) { s.study.file.clear(); });
}

void StudyModel::read_shipped() {
  if (!shipped_.empty() || backend_.shipped.empty() || listing_.active()) return;
  listing_ = jobs_.start<std::vector<ShippedStudy>>(
      "reading the shipped studies",
      [files = backend_.shipped](const PoolContext& context) {
        std::vector<ShippedStudy> all;
        for (const std::string& file : files) {
          context.stop_if_cancelled();
          const Study study = read_study(file, true);
          all.push_back({file, study.title, study.takes});
        }
        return all;
      },
      [this](std::vector<ShippedStudy> all) {
        shipped_ = std::move(all);
        emit changed();
      },
      [this](const std::string& message) { say(message, true); });
}

/// Shipped studies may lie where nobody may write.
std::string StudyModel::folder_of(const std::string& file) const {
  if (!ships(file)) return folder_of_study(file);
  return (fs::path(backend_.results) / "conelab-studies" / fs::path(file).stem()).string();
}

std::string StudyModel::folder() const { return folder_of(shown_.file); }

void StudyModel::set_quick(bool quick) {
  document_.edit("choose the size of a study", [&](Session& s) { s.study.quick = quick; });
}

/// The running study stays on display until it has ended.
void StudyModel::follow() {
  if (!running() && choice() != shown_) load();
}

void StudyModel::load() {
  shown_ = choice();
  study_.reset();
  index_ = {};
  unfolded_.clear();
  report_page_.clear();
  if (shown_.file.empty()) return say("");
  say("Reading " + shown_.file + " …");
  loading_ = jobs_.start<Loaded>(
      "reading " + fs::path(shown_.file).filename().string(),
      [choice = shown_, folder = folder()](const PoolContext& context) {
        if (is_study_index(choice.file)) return Loaded{nullptr, read_index(folder)};
        auto study = std::make_shared<const Study>(read_study(choice.file, choice.quick));
        if (!study->errors.empty()) return Loaded{study, {}};
        return Loaded{study, plan_study(*study, folder, context.cancel_check())};
      },
      [this](Loaded loaded) {
        study_ = std::move(loaded.study);
        index_ = std::move(loaded.index);
        say_state();
        if (std::exchange(runs_when_read_, false)) run();
      },
      [this](const std::string& message) {
        runs_when_read_ = false;
        say(message, true);
      });
}

/// Says how far the study is, or that it is wrong.
void StudyModel::say_state() {
  if (study_ && !study_->errors.empty()) {
    return say(fmt::format("{}: nothing can be run before these errors are corrected", shown_.file),
               true);
  }
  say(folder() + ": " + count_text(index_), index_.count("failed") > 0);
}

TextTable StudyModel::table() const {
  if (study_ && !study_->errors.empty()) {
    TextTable errors{{"line", "error"}, {}};
    for (const StudyError& error : study_->errors) {
      errors.rows.push_back({std::to_string(error.line), error.text});
    }
    return errors;
  }
  if (shown_.file.empty()) {
    TextTable list{{"shipped study", "what it answers", "takes"}, {}};
    for (const ShippedStudy& study : shipped_) {
      list.rows.push_back({fs::path(study.file).stem().string(), study.title, study.takes});
    }
    return list;
  }
  TextTable jobs{{"job", "kind", "state", "time", "remark"}, {}};
  for (const Row& row : rows()) {
    if (row.trials > 0) {
      jobs.rows.push_back(row_of_trials(row));
      continue;
    }
    jobs.rows.push_back(row_of_job(index_.jobs[row.job]));
    if (row.under) jobs.rows.back().front().insert(0, "      ");
  }
  return jobs;
}

std::vector<StudyModel::Row> StudyModel::rows() const {
  std::vector<Row> rows;
  std::size_t trials = 0;  // They stand before their job.
  for (std::size_t job = 0; job < index_.jobs.size(); ++job) {
    if (index_.jobs[job].block.ends_with(".trials")) {
      ++trials;
      continue;
    }
    rows.push_back({job});
    const std::size_t first = job - trials;
    if (trials > 0) rows.push_back({first, trials});
    if (unfolded_.contains(first)) {
      for (std::size_t trial = first; trial < job; ++trial) rows.push_back({trial, 0, true});
    }
    trials = 0;
  }
  return rows;
}

void StudyModel::fold(const Row& row) {
  if (row.trials == 0) return;
  if (unfolded_.erase(row.job) == 0) unfolded_.insert(row.job);
  emit changed();
}

std::vector<std::string> StudyModel::row_of_job(const JobRecord& job) const {
  const bool runs = running() && contains(progress().running, job.name);
  const std::string remark = job.remarks.empty() ? std::string() : job.remarks.front();
  const std::string state = runs ? "running" : job.status == "pending" ? "to do" : job.status;
  return {job.name, job.kind, state, job.done() ? duration_text(job.seconds) : "-",
          job.error.empty() ? remark : job.error};
}

std::vector<std::string> StudyModel::row_of_trials(const Row& row) const {
  double seconds = 0;
  std::size_t done = 0, failed = 0;
  for (std::size_t job = row.job; job < row.job + row.trials; ++job) {
    done += index_.jobs[job].done() ? 1 : 0;
    failed += index_.jobs[job].status == "failed" ? 1 : 0;
    seconds += index_.jobs[job].seconds;
  }
  const bool open = unfolded_.contains(row.job);
  return {
      fmt::format("   {} {} trials", open ? "▾" : "▸", row.trials), index_.jobs[row.job].kind,
      failed > 0 ? fmt::format("{} done, {} failed", done, failed) : fmt::format("{} done", done),
      done > 0 ? duration_text(seconds) : "-", open ? "" : "double click, or Enter: show them"};
}

std::vector<std::string> StudyModel::files_of(std::size_t job) const {
  std::vector<std::string> files;
  if (job >= index_.jobs.size() || !index_.jobs[job].done()) return files;
  for (const std::string& file : index_.jobs[job].files) {
    files.push_back((fs::path(folder()) / file).string());
  }
  return files;
}

// ---- running ------------------------------------------------------------------------------------

bool StudyModel::can_run() const {
  return study_ && study_->errors.empty() && !running() && !reporting_.active() &&
         index_.count("done") < index_.jobs.size();
}

void StudyModel::run() {
  if (!can_run()) return;
  read_after_ = 0;
  run_.start("study " + fs::path(shown_.file).stem().string(),
             [study = study_, backend = backend_, folder = folder()](const PoolContext& context,
                                                                     const auto& change) {
               StudyContext all{.job = backend.context, .worker = backend.worker};
               all.job.cancelled = context.cancel_check();
               all.progress = [&](const StudyProgress& now) {
                 context.progress(now.fraction);
                 change([&](State& s) { s.progress = now; });
               };
               all.ended = [&](const std::string&) { change([](State& s) { ++s.ended; }); };
               (void)run_study(*study, {.folder = folder}, all);
             });
  say("Running; results go into " + folder());
}

void StudyModel::run_quick() {
  if (running() || shown_.file.empty() || is_study_index(shown_.file)) return;
  if (choice().quick && study_) return run();
  runs_when_read_ = true;
  set_quick(true);
}

void StudyModel::cancel() {
  if (!running()) return;
  run_.stop();
  say("Stopping …");
}

void StudyModel::look() {
  std::string error = run_.error();
  try {
    const int ended = run_.state().ended;
    if (std::exchange(read_after_, ended) != ended || !running()) {
      index_ = read_index(folder());
    }
  } catch (const Error& missing) {
    if (error.empty()) error = missing.what();
  }
  if (running()) return emit progressed();
  if (run_.end() == RunEnd::stopped) {
    say("Stopped; finished jobs are kept, and Run goes on with the others.");
  } else {
    error.empty() ? say_state() : say(error, true);
  }
  follow();
}

std::string StudyModel::command() const {
  if (shown_.file.empty() || is_study_index(shown_.file)) return "";
  std::vector<std::string> words = {"conelab", "run", shown_.file, "-o", folder()};
  if (shown_.quick) words.emplace_back("--quick");
  return shell_line(words);
}

// ---- the report ---------------------------------------------------------------------------------

bool StudyModel::can_report() const {
  return !running() && !reporting_.active() && index_.count("done") > 0;
}

void StudyModel::make_report() {
  if (!can_report()) return;
  const std::string folder = this->folder();
  reporting_ = jobs_.start<std::string>(
      "report of " + fs::path(folder).filename().string(),
      [folder, all = backend_.context](const PoolContext& context) mutable {
        all.cancelled = context.cancel_check();
        const std::string output = folder + "/report";
        write_report(conelab::make_report({folder}, output, all), output);
        return output + "/index.html";
      },
      [this](const std::string& page) {
        report_page_ = page;
        say("The report is " + page);
        emit report_written(QString::fromStdString(page));
      },
      [this](const std::string& message) { say(message, true); });
  say("Writing the report …");
}

void StudyModel::say(const std::string& message, bool failed) {
  message_ = message;
  failed_ = failed;
  emit changed();
}

}  // namespace conelab::desktop
