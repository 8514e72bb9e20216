// Every kind of job as a form, which is made from the fields of its row (core/jobs/job_table.h),
// and the jobs that were started with their progress. A new kind of job appears by itself.
//
// What is typed is kept in the session as texts, under Session::views["jobs"] or the name of the
// only kind, so that undo and saving include it. Jobs run in processes of their own.
#pragma once

#include <QBoxLayout>
#include <QWidget>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "core/jobs/job_table.h"
#include "widgets/forms/field_form.h"
#include "widgets/runs/long_run.h"
#include "widgets/session/document.h"
#include "widgets/studies/study_model.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace conelab::desktop {

class TextTableView;

// The model: what is typed, whether it is right, and the jobs that were started.

class JobFormModel : public QObject {
  Q_OBJECT

 public:
  /// Of every kind, or `only` of one, whose form begins with what is `first` typed.
  JobFormModel(Document& document, JobPool& jobs, StudyBackend backend, std::string only = {},
               FieldTexts first = {});

  /// Returns the kinds that have no view of their own.
  [[nodiscard]] static std::vector<const JobKind*> kinds();
  [[nodiscard]] const JobKind& kind() const;
  void choose_kind(const std::string& name);
  /// Returns what is typed, by field; parameters are "KEY=VALUE, …".
  [[nodiscard]] FieldTexts typed() const;
  /// `done` is false while the text is being typed: it is one step of the history.
  void type(const std::string& field, const std::string& text, bool done = true);

  /// Returns the job that is typed. Throws misuse, which names the field, if something is wrong.
  [[nodiscard]] JobSpec spec() const;
  /// Returns what is wrong with it; empty if it can run.
  [[nodiscard]] std::string problem() const;
  /// Returns the keys that the parameters may have now; empty while that is not known.
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::string command() const;

  /// Starts the job that is typed, unless something is wrong with it; with `resumes`, from where
  /// its output was left.
  void run(bool resumes = false);
  struct Run {
    struct State {
      std::string stage;
      double fraction = 0;
      std::map<std::string, std::shared_ptr<const Json>> live;  ///< By group: what it has reached.
      std::vector<std::string> files, remarks;
    };
    std::string title, output;
    std::unique_ptr<LongRun<State>> run;
    /// What JobContext::allowed returns to the job.
    std::shared_ptr<std::atomic<std::int64_t>> allowed =
        std::make_shared<std::atomic<std::int64_t>>(-1);
  };
  /// Returns the jobs that were started, the last one first.
  [[nodiscard]] const std::deque<Run>& runs() const { return runs_; }
  [[nodiscard]] bool running() const;
  [[nodiscard]] TextTable table() const;
  void cancel(std::size_t run);
  /// Pauses the last job that was started, lets it go on, or lets it make one more snapshot.
  void pause(bool pauses);
  void step();
  [[nodiscard]] bool paused() const;
  /// Returns the file of a result; empty before the job has finished.
  [[nodiscard]] std::string result_of(std::size_t run) const;

 signals:
  void changed();
  void progressed();

 private:
  [[nodiscard]] QJsonObject stored() const;
  /// Stores this as the state of the view.
  void store(const QString& label, const QJsonObject& now, const QString& merge = {});

  Document& document_;
  JobPool& jobs_;
  StudyBackend backend_;
  std::string only_;
  FieldTexts first_;
  std::deque<Run> runs_;
};

class JobFormView : public QWidget {
  Q_OBJECT

 public:
  JobFormView(Document& document, JobPool& jobs, StudyBackend backend, std::string only = {},
              FieldTexts first = {});
  /// Adds a widget below the jobs.
  void add_below(QWidget* widget) { runs_->addWidget(widget, 3); }
  [[nodiscard]] JobFormModel& model() { return model_; }
  /// Returns whether the job that is typed can run.
  [[nodiscard]] bool can_run() const;

 signals:
  void file_wanted(const QString& file);
  void command_wanted(const QString& command);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build_form();
  void show_keys();
  void show_model();
  void show_progress();

  JobFormModel model_;
  QComboBox* kind_ = nullptr;
  QBoxLayout *line_ = nullptr, *place_ = nullptr, *runs_ = nullptr;
  FieldForm* form_ = nullptr;
  std::string built_for_;
  std::optional<std::pair<std::string, FieldTexts>> shown_;
  QLabel *about_ = nullptr, *message_ = nullptr;
  QPushButton *run_ = nullptr, *cancel_ = nullptr;
  TextTableView* table_ = nullptr;
};

}  // namespace conelab::desktop
