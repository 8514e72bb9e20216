// Training of heads on a hierarchy: the form of the job `train`, the curves of what it has reached,
// and its snapshots. The result is opened when its first snapshots are written. From then on the
// maps, the explorer and the intervals follow it, because the file of the open trace is read again
// whenever it is written. The slider opens a snapshot, which is a group of the file, in all views.
#include <QBoxLayout>
#include <QComboBox>
#include <QDateTime>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QSlider>
#include <QToolButton>
#include <filesystem>

#include "widgets/dialogs/file_dialogs.h"
#include "widgets/figures/figure_preview.h"
#include "widgets/forms/job_form.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/flow_layout.h"
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
    auto* tools = new QHBoxLayout;
    measure_ = named(new QComboBox, "train-measure", tr("What the curves show"));
    measure_->addItem(tr("loss"), QStringLiteral("loss"));
    measure_->addItem(tr("attention on ancestors"), QStringLiteral("mass"));
    tools->addWidget(measure_);
    tools->addStretch(1);
    export_ = tool_button(tr("Export"), "train-export",
                          tr("A picture of each snapshot, NAME-001.svg, NAME-002.svg, …"));
    auto* menu = new QMenu(export_);
    for (const auto& [text, figure] :
         {std::pair{tr("Maps as SVG …"), "heatmap"}, {tr("Points as SVG …"), "points"}}) {
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
    connect(&form_->model(), &JobFormModel::changed, this, [this] { begin(); });
    connect(&form_->model(), &JobFormModel::progressed, this, [this] { open_first(); });
    connect(&workspace_, &Workspace::trace_changed, this, [this] { show_trace(); });
    connect(measure_, &QComboBox::currentIndexChanged, this, [this] { draw(); });
    connect(slider_, &QSlider::valueChanged, this, [this](int at) {
      const auto i = static_cast<std::size_t>(at);
      workspace_.open_group(i < snapshots_.size() ? snapshots_[i] : head_);
    });
    show_trace();
  }

  [[nodiscard]] JobFormView& form() { return *form_; }

 private:
  MainWindow& window_;
  Workspace& workspace_;
  JobFormView* form_;
  QComboBox* measure_ = nullptr;
  FigurePreview* preview_ = nullptr;
  QSlider* slider_ = nullptr;
  QLabel* step_ = nullptr;
  QToolButton* export_ = nullptr;
  std::size_t begun_ = 0;               ///< How many jobs have begun.
  QDateTime before_;                    ///< When the output was written before the last of them.
  bool waits_ = false;                  ///< Whether the output of that one is to be opened.
  std::string head_, drawn_;            ///< The open head; of which content the curves are.
  std::vector<std::string> snapshots_;  ///< Groups of that head.
  JobHandle drawing_, exporting_;

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
    if (trace->stamp != drawn_) draw();
  }

  void draw() {
    const auto& trace = workspace_.trace();
    if (!trace || snapshots_.empty()) return;
    drawn_ = trace->stamp;
    FigureChoice curves;
    curves.name = "training", curves.inputs = {trace->file};
    constexpr double pixels_a_point = 1.3;  // Its text is as large as the window's.
    const double width = preview_->width() / pixels_a_point;
    curves.width = fmt::format("{:.0f}pt", std::clamp(width, 200.0, 504.0));
    curves.parameters["measure"] = measure_->currentData().toString().toStdString();
    drawing_ = workspace_.jobs().start<figure::DisplayList>(
        "curves of training",
        [draw = window_.backends().draw_figure, curves](const JobContext& context) {
          return draw(curves, context.cancel_check());
        },
        [this](figure::DisplayList list) {
          preview_->show_list(std::make_shared<figure::DisplayList>(std::move(list)));
        },
        [this](const std::string& message) {
          if (message == job_cancelled) drawn_.clear();
        },
        true);
  }

  /// Writes a figure of each snapshot of the open head, under its own operator.
  void export_series(const std::string& name) {
    const QString file = ask_where_to_write(this, tr("Export a picture of each snapshot"),
                                            QString::fromStdString(name + ".svg"),
                                            tr("Figures (*.svg *.pdf *.png)"));
    if (file.isEmpty() || !workspace_.trace()) return;
    const std::filesystem::path path = file.toStdString();
    exporting_ = workspace_.jobs().start<std::size_t>(
        "writing pictures of snapshots",
        [=, draw = window_.backends().draw_figure, of = workspace_.trace()->file,
         groups = snapshots_](const JobContext& context) {
          FigureChoice choice;
          choice.name = name;
          for (std::size_t i = 0; i < groups.size(); ++i) {
            choice.inputs = {of + ":" + groups[i]};
            const std::string numbered =
                fmt::format("{}-{:03}{}", path.stem().string(), i + 1, path.extension().string());
            figure::write_figure(draw(choice, context.cancel_check()),
                                 (path.parent_path() / numbered).string());
            context.progress(static_cast<double>(i + 1) / static_cast<double>(groups.size()));
          }
          return groups.size();
        },
        [this, file](std::size_t count) {
          window_.say(tr("%1 pictures are written beside %2.").arg(count).arg(file));
        },
        [this](const std::string& message) {
          window_.show_error(QString::fromStdString(message));
        });
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
  QScrollArea* scroll = scrolled(view, {}, true);  // It does not determine the window's width.
  scroll->setFocusProxy(view);
  return {.widget = scroll, .running = running};
}

}  // namespace conelab::desktop
