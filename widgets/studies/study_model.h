// The model of the studies view: a study with the state of its jobs, its run and its report.
//
// A study is opened by its file, and its results lie in the folder beside it that has its name
// without the ending. The folder of a study that was computed elsewhere is opened by its
// index.json; its results are shown then, and nothing can be run.
#pragma once

#include <QObject>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/names.h"
#include "core/bench/summary.h"
#include "core/study/study_run.h"
#include "widgets/runs/long_run.h"
#include "widgets/session/document.h"

namespace conelab::desktop {

/// What the program supplies to run studies: the context of its jobs, and the command that starts a
/// worker (core/study/job_worker.h).
struct StudyBackend {
  conelab::JobContext context = {};
  std::vector<std::string> worker = {};
  std::vector<std::string> shipped = {};  ///< The files of the studies that ship with the program.
  std::string results = {};               ///< The folder in which the results of these are kept.
};

/// A study that ships with the program.
struct ShippedStudy {
  std::string file, title, takes;
};

/// Returns the folder of the results of a study's file, or the folder in which an index.json lies.
[[nodiscard]] std::string folder_of_study(const std::string& file);
/// Returns whether a path is the index.json of a folder of results.
[[nodiscard]] bool is_study_index(const std::string& file);

class StudyModel : public QObject {
  Q_OBJECT

 public:
  StudyModel(Document& document, JobPool& jobs, StudyBackend backend);

  [[nodiscard]] const StudyChoice& choice() const { return document_.session().study; }
  /// Shows a study, given by its file or its index.json.
  void open(const std::string& file);
  /// Closes the study: the shipped ones are listed again.
  void close();
  /// Reads the shipped studies, unless that was done.
  void read_shipped();
  [[nodiscard]] const std::vector<ShippedStudy>& shipped() const { return shipped_; }
  [[nodiscard]] bool ships(const std::string& file) const {
    return contains(backend_.shipped, file);
  }
  void set_quick(bool quick);

  /// Returns the jobs with their states; without jobs before the study is read.
  [[nodiscard]] const StudyIndex& index() const { return index_; }
  /// A row of the table of jobs: a job, or the trials of the one above it, which are folded.
  struct Row {
    std::size_t job = 0;     ///< The job, or the first of the trials.
    std::size_t trials = 0;  ///< How many jobs a row of trials stands for; 0: it is a job.
    bool under = false;      ///< Whether it is one of the trials that were unfolded.
  };
  [[nodiscard]] std::vector<Row> rows() const;
  /// Unfolds the trials that a row stands for, or folds them again.
  void fold(const Row& row);
  /// Returns the table of jobs, of errors if the study is wrong, or of the shipped studies if none
  /// is open.
  [[nodiscard]] TextTable table() const;
  /// Returns the files of a job's result, with their paths; none before it is done.
  [[nodiscard]] std::vector<std::string> files_of(std::size_t job) const;

  [[nodiscard]] bool running() const { return run_.running(); }
  [[nodiscard]] bool can_run() const;
  [[nodiscard]] bool can_report() const;
  /// Runs every job that is not done.
  void run();
  /// Runs the study with its smaller values, when it has been read so.
  void run_quick();
  /// Returns the folder of the results of the open study.
  [[nodiscard]] std::string folder() const;
  /// Stops the run; what is finished is kept.
  void cancel();
  /// Writes the report into the folder `report` of the results.
  void make_report();
  [[nodiscard]] const StudyProgress& progress() const { return run_.state().progress; }
  /// Returns the page of the report that was written last; empty if there is none.
  [[nodiscard]] const std::string& report_page() const { return report_page_; }
  /// Returns the command line that does what `run` does.
  [[nodiscard]] std::string command() const;
  /// Returns what the view has to say, which is an error if `failed`.
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] bool failed() const { return failed_; }

 signals:
  void changed();
  /// The running study has advanced.
  void progressed();
  /// A report was written; `page` is its index.html.
  void report_written(const QString& page);

 private:
  struct Loaded;
  struct State {
    StudyProgress progress;
    int ended = 0;  ///< How many jobs have ended; with each, the folder's index changes.
  };

  [[nodiscard]] std::vector<std::string> row_of_job(const JobRecord& job) const;
  [[nodiscard]] std::vector<std::string> row_of_trials(const Row& row) const;
  void follow();
  [[nodiscard]] std::string folder_of(const std::string& file) const;
  void load();
  void look();
  void say(const std::string& message, bool failed = false);
  void say_state();

  Document& document_;
  JobPool& jobs_;
  StudyBackend backend_;
  std::shared_ptr<const Study> study_;  ///< Null for the folder of a study computed elsewhere.
  StudyIndex index_;
  std::set<std::size_t> unfolded_;  ///< The first trials of the rows that are unfolded.
  StudyChoice shown_;               ///< What `study_` and `index_` were read from.
  LongRun<State> run_;
  std::vector<ShippedStudy> shipped_;
  bool runs_when_read_ = false;
  std::string report_page_;
  int read_after_ = 0;  ///< How many jobs had ended when the index was read.
  std::string message_;
  bool failed_ = false;
  JobHandle loading_, reporting_, listing_;
};

}  // namespace conelab::desktop
