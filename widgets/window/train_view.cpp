// Training of heads on a hierarchy: the form of the job `train`, the curves of what it has reached,
// and its snapshots. The result is opened when its first snapshots are written. From then on the
// maps, the explorer and the intervals follow it, because the file of the open trace is read again
// whenever it is written; between that they show what the job says that it has reached. The slider
// opens a snapshot, which is a group of the file, in all views.
#include <sys/resource.h>
#include <unistd.h>

#include <QBoxLayout>
#include <QComboBox>
#include <QDateTime>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QSlider>
#include <QThread>
#include <QTimer>
#include <QToolButton>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"
#include "core/jobs/figure_job.h"
#include "core/jobs/job_table.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/figures/figure_preview.h"
#include "widgets/forms/job_form.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

/// Returns what is typed at first: the shipped hierarchy, and as many snapshots as a slider needs.
FieldTexts first_training(const std::string& shipped_trace) {
  const std::filesystem::path folder = std::filesystem::path(shipped_trace).parent_path();
  return {{"input", shipped_trace.empty() ? "" : (folder / "mammals_trace.h5").string()},
          {"output", "trained.h5"},
          {"parameters", "snapshots=50; starts=1"}};
}

/// Returns the group of the head that a group is a snapshot of, or that it is itself.
std::string head_of(const std::string& group) { return group.substr(0, group.rfind("/step")); }

/// Returns the open trace with the numbers that a training has reached (JobContext::live); null if
/// they do not fit it.
std::shared_ptr<const Trace> live_trace(const Trace& open, const Json& now) {
  auto live = std::make_shared<Trace>(open);
  now.at("query").get_to(live->query.data);
  now.at("key").get_to(live->key.data);
  live->value.data = live->key.data;
  if (live->query.data.size() != open.query.data.size()) return nullptr;
  if (!live->own_call) return live;
  for (const auto& [key, value] : now.at("parameters").items()) {
    const auto own = live->own_call->parameters.find(key);
    if (own == live->own_call->parameters.end()) continue;
    own->second = Value(fmt::format("{:.4g}", value.get<double>()));  // As it ends, train_head.h.
  }
  return live;
}

/// Returns the seconds of the processors that this process has taken so far, with its children that
/// have ended: those that read files.
double processor_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    struct rusage used {};
    ::getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    }
  }
  return sum;
}

/// Returns for how many seconds processors have had nothing to do so far, summed over them.
double idle_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0;
  file >> name >> user >> nice >> system >> idle;
  return idle / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// The window draws a training again as long as this process takes at most this share of the
/// processors, beside the time in which they have nothing to do, and after so many seconds in any
/// case. So many seconds of the processors may be saved up or be owed.
constexpr double drawing_share = 0.03, longest_pause = 1, most_left = 0.1;

class TrainView : public QWidget {
 public:
  explicit TrainView(MainWindow& window)
      : window_(window),
        workspace_(window.workspace()),
        form_(new JobFormView(window.document(), workspace_.jobs(), window.backends().studies,
                              "train", first_training(window.backends().shipped_trace))) {
    laid_out<QVBoxLayout>(this)->addWidget(form_);
    auto* below = new QWidget;
    auto* column = laid_out<QVBoxLayout>(below);
    auto *runs = new QHBoxLayout, *tools = new QHBoxLayout;
    build_run_tools(runs);
    column->addLayout(runs);
    measure_ = named(new QComboBox, "train-measure", tr("What the curves show"));
    measure_->addItem(tr("loss"), QStringLiteral("loss"));
    measure_->addItem(tr("attention on ancestors"), QStringLiteral("mass"));
    tools->addWidget(measure_);
    tools->addStretch(1);
    export_ =
        tool_button(tr("Export"), "train-export",
                    tr("The heads with their snapshots as a trace, or a picture of each snapshot"));
    auto* menu = new QMenu(export_);
    menu->addAction(tr("Trace …"), this, &TrainView::export_trace);
    for (const auto& [text, figure] : {std::pair{tr("Pictures of the map …"), "heatmap"},
                                       {tr("Pictures of the points …"), "points"}}) {
      menu->addAction(text, this, [this, name = figure] { export_series(name); });
    }
    set_menu(*export_, menu);
    tools->addWidget(export_);
    column->addLayout(tools);
    preview_ =
        named(new FigurePreview(workspace_.jobs()), "train-curves", tr("Curves of training"));
    column->addWidget(preview_, 1);
    auto* row = new QHBoxLayout;
    slider_ = named(new QSlider(Qt::Horizontal), "train-snapshot", tr("Snapshot"),
                    tr("Shows the head as it was after so many steps, in all views"));
    step_ = named(new QLabel, "train-step");
    step_->setMinimumWidth(step_->fontMetrics().horizontalAdvance(tr("after 0000000 steps")));
    row->addWidget(slider_, 1);
    row->addWidget(step_);
    column->addLayout(row);
    form_->add_below(below);
    connect(&form_->model(), &JobFormModel::changed, this, [this] {
      begin();
      show_run();
    });
    connect(&form_->model(), &JobFormModel::progressed, this, [this] { look(); });
    connect(&workspace_, &Workspace::trace_changed, this, [this] { show_trace(); });
    connect(measure_, &QComboBox::currentIndexChanged, this, [this] { draw(); });
    connect(slider_, &QSlider::valueChanged, this, [this](int at) {
      const auto i = static_cast<std::size_t>(at);
      workspace_.open_group(i < snapshots_.size() ? snapshots_[i] : head_);
    });
    show_trace();
    show_run();
  }

  [[nodiscard]] JobFormView& form() { return *form_; }

 protected:
  /// Draws the curves that were not drawn while the view was behind another.
  void paintEvent(QPaintEvent*) override {
    QTimer::singleShot(0, this, [this] { draw(); });
  }

 private:
  MainWindow& window_;
  Workspace& workspace_;
  JobFormView* form_;
  QComboBox* measure_ = nullptr;
  FigurePreview* preview_ = nullptr;
  QSlider* slider_ = nullptr;
  QLabel* step_ = nullptr;
  QToolButton *export_ = nullptr, *pause_ = nullptr, *step_on_ = nullptr, *resume_ = nullptr;
  std::shared_ptr<const Json> frame_;   ///< What is shown of a training that goes on.
  double drawn_at_ = 0;                 ///< When the last picture was begun.
  double granted_ = 0, left_ = 0;       ///< Seconds of the processors: in all, and not used.
  std::size_t begun_ = 0;               ///< How many jobs have begun.
  QDateTime before_;                    ///< When the output was written before the last of them.
  bool waits_ = false;                  ///< Whether the output of that one is to be opened.
  std::string head_, drawn_;            ///< The open head; of which content the curves are.
  std::vector<std::string> snapshots_;  ///< Groups of that head.
  JobHandle drawing_, exporting_;

  void build_run_tools(QHBoxLayout* line) {
    JobFormModel& model = form_->model();
    pause_ = add_button(line, tr("Pause"), "train-pause",
                        tr("Stops the steps of training, and goes on with them"), this,
                        [this, &model] { model.pause(!model.paused()); });
    step_on_ = add_button(line, tr("Step"), "train-step-on",
                          tr("Goes on to the next snapshot of each head, and pauses there"), &model,
                          &JobFormModel::step);
    resume_ = add_button(line, tr("Resume"), "train-resume",
                         tr("Goes on with the training that was cancelled, or ended with the "
                            "program, from the file of the output"),
                         &model, [&model] { model.run(true); });
    line->addStretch(1);
  }

  /// Shows what the last job does, and what can be done with it.
  void look() {
    open_first();
    show_run();
    show_live();
  }
  void show_run() {
    const JobFormModel& model = form_->model();
    const bool runs = model.running();
    pause_->setEnabled(runs);
    pause_->setText(model.paused() && runs ? tr("Continue") : tr("Pause"));
    step_on_->setEnabled(runs && model.paused());
    resume_->setEnabled(!runs && form_->can_run());
  }
  void show_live() {
    const auto& trace = workspace_.trace();
    const auto& runs = form_->model().runs();
    const bool of_it = trace && !runs.empty() && runs.front().output == trace->file;
    const bool seen = window_.isVisible() && !window_.isMinimized();
    if (of_it && runs.front().run->running() && !seen) return;
    if (of_it && runs.front().run->running()) {
      const auto& live = runs.front().run->state().live;
      const auto found = live.find(trace->group);
      if (found == live.end() || found->second == frame_ || !takes_turn()) return;
      frame_ = found->second;
      workspace_.show_live(live_trace(*trace, *frame_));
      step_->setText(tr("after %1 steps").arg(frame_->at("step").get<int>()));
    } else if (std::exchange(frame_, nullptr) != nullptr) {
      workspace_.show_live(nullptr);
    }
  }

  /// Returns whether it is time for the next picture.
  bool takes_turn() {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    const double granted = drawing_share * QThread::idealThreadCount() * now.count() +
                           idle_seconds() - processor_seconds();
    left_ = std::clamp(left_ + granted - std::exchange(granted_, granted), -most_left, most_left);
    if (left_ < 0 && now.count() < drawn_at_ + longest_pause) return false;
    drawn_at_ = now.count();
    return true;
  }

  [[nodiscard]] QDateTime written() const {
    return QFileInfo(QString::fromStdString(form_->model().runs().front().output)).lastModified();
  }
  void begin() {
    if (form_->model().runs().size() == begun_) return;
    begun_ = form_->model().runs().size();
    before_ = written(), waits_ = true;
  }
  /// Opens the output as soon as it has been written. It is read again by itself later.
  void open_first() {
    if (!waits_ || !written().isValid() || written() == before_) return;
    waits_ = false;
    workspace_.open(QString::fromStdString(form_->model().runs().front().output));
  }

  /// Shows which snapshot is open, and the curves of the file.
  void show_trace() {
    const auto& trace = workspace_.trace();
    head_ = trace ? head_of(trace->group) : "";
    snapshots_.clear();
    for (const std::string& group : workspace_.groups()) {
      if (group != head_ && head_of(group) == head_) snapshots_.push_back(group);
    }
    const bool has = trace && !snapshots_.empty();
    slider_->setEnabled(has);
    export_->setEnabled(has);
    if (!has) return step_->setText(tr("no snapshots"));
    const QSignalBlocker quiet(slider_);
    const auto at = std::ranges::find(snapshots_, trace->group);
    slider_->setRange(0, static_cast<int>(snapshots_.size()));
    slider_->setValue(static_cast<int>(at - snapshots_.begin()));
    const QString digits = QString::fromStdString(trace->group).section("/step", 1);
    step_->setText(at == snapshots_.end() ? tr("the last step")
                                          : tr("after %1 steps").arg(digits.toInt()));
    draw();
  }

  void draw() {
    const auto& trace = workspace_.trace();
    if (!trace || snapshots_.empty() || visibleRegion().isEmpty()) return;
    const std::string measure = measure_->currentData().toString().toStdString();
    if (drawn_ == trace->stamp + measure) return;
    drawn_ = trace->stamp + measure;
    FigureChoice curves;
    curves.name = "training", curves.inputs = {trace->file};
    const double width = preview_->width() / pixels_a_point;
    curves.width = fmt::format("{:.0f}pt", std::clamp(width, 200.0, 504.0));
    curves.parameters["measure"] = measure;
    drawing_ = workspace_.jobs().start<figure::DisplayList>(
        "curves of training",
        [draw = window_.backends().draw_figure, curves](const PoolContext& context) {
          return draw(curves, context.cancel_check());
        },
        [this](figure::DisplayList list) {
          preview_->show_list(std::make_shared<figure::DisplayList>(std::move(list)));
        },
        [](const std::string&) {}, true);
  }

  /// Writes a file that the user chooses, in a job.
  void export_file(const QString& title, const QString& name, const QString& filter,
                   const QString& said,
                   const std::function<void(const std::string&, const PoolContext&)>& write) {
    const QString file = ask_where_to_write(this, title, name, filter);
    if (file.isEmpty()) return;
    exporting_ = workspace_.jobs().start<bool>(
        title.toStdString(),
        [write, path = file.toStdString()](const PoolContext& context) {
          write(path, context);
          return true;
        },
        [this, said, file](bool) { window_.say(said.arg(file)); },
        [this](const std::string& message) {
          window_.show_error(QString::fromStdString(message));
        });
  }
  /// Writes a figure of the open head under its own operator, and beside it a folder with one of
  /// each snapshot, as `conelab figure NAME -o FILE --frames FOLDER` does.
  void export_series(const std::string& name) {
    JobSpec spec = figure_spec({name, {workspace_.trace()->file + ":" + head_}, {}, "", {}, {}});
    conelab::JobContext all = window_.backends().studies.context;
    const auto write = [spec, all](const std::string& path, const PoolContext& context) mutable {
      spec.values["output"] = path;
      spec.values["frames"] = std::filesystem::path(path).replace_extension("").string();
      all.cancelled = context.cancel_check();
      all.progress = [&](const char*, double fraction) { context.progress(fraction); };
      (void)run_job(spec, all);
    };
    export_file(tr("Export a picture of each snapshot"), QString::fromStdString(name + ".svg"),
                tr("Figures (*.svg *.pdf *.png)"),
                tr("%1 is written, and the pictures of the snapshots are in the folder beside it."),
                write);
  }
  /// Writes the file as it is: all heads with their snapshots.
  void export_trace() {
    const auto write = [from = workspace_.trace()->file](const std::string& path,
                                                         const PoolContext&) {
      const ByteFile bytes(from);
      write_text_atomically(path, bytes.read(0, bytes.size()));
    };
    export_file(tr("Export as a trace"), "heads.h5", tr("Traces (*.h5)"), tr("%1 is written."),
                write);
  }
};

}  // namespace

View make_train(MainWindow& window) {
  auto* view = new TrainView(window);
  JobFormView& form = view->form();
  QObject::connect(&form, &JobFormView::file_wanted, &window,
                   [&window](const QString& file) { window.open({file}); });
  QObject::connect(&form, &JobFormView::command_wanted, &window,
                   [&window](const QString& text) { window.copy_text(text, tr("Command")); });
  const auto running = [&form] {
    return form.model().running() ? tr("Heads are being trained. Close again to stop it; their "
                                       "snapshots so far are kept.")
                                  : QString();
  };
  view->setFocusProxy(&form);
  return {.widget = view, .running = running};
}

}  // namespace conelab::desktop
