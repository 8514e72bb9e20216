// The benchmarks view: the form of a sweep, its curves while it runs, results of files,
// comparisons.
#pragma once

#include <QWidget>
#include <map>
#include <optional>
#include <string>

#include "widgets/benchmarks/bench_model.h"
#include "widgets/theme/flow_layout.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QListWidget;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTabBar;
class QToolButton;
class QVBoxLayout;

namespace conelab::desktop {

class FieldForm;

// The form of a sweep with errors below its fields; buttons to run, resume and cancel; progress.

class BenchFormView : public QWidget {
  Q_OBJECT

 public:
  explicit BenchFormView(BenchModel& model);

 signals:
  /// The command of this sweep should be copied to the clipboard.
  void command_wanted(const QString& command);

 private:
  void build_actions(QVBoxLayout* column);
  void show_model();
  void show_devices();
  void show_progress();

  BenchModel& model_;
  FieldForm* form_;
  SteadyLabel* extent_ = nullptr;  ///< The size of the sweep, or the progress of a run.
  QLabel* device_note_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QPushButton *run_ = nullptr, *resume_ = nullptr, *cancel_ = nullptr;
};

// The picture of a benchmark on a white page; pointing at a case shows its numbers.

class BenchCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit BenchCanvas(BenchModel& model);

  [[nodiscard]] const BenchPicture& picture() const { return picture_; }
  /// Returns the width of the picture in points: that of the widget at a size with legible text,
  /// between one and two columns of a journal.
  [[nodiscard]] double page_width() const;
  /// Returns the longest text that pointing at a case shows.
  [[nodiscard]] QString longest_text() const;
  /// Returns the position of a case in the widget.
  [[nodiscard]] QPointF place_of(const BenchSpot& spot) const;

 signals:
  void pointed(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void redraw();
  void point_at(std::optional<std::size_t> spot);
  [[nodiscard]] double scale() const;
  [[nodiscard]] QPointF origin() const;

  BenchModel& model_;
  BenchPicture picture_;
  std::optional<std::size_t> spot_;
};

class TextTableView;

class BenchmarksView : public QWidget {
  Q_OBJECT

 public:
  BenchmarksView(Document& document, JobPool& jobs, BenchBackend backend);

  [[nodiscard]] BenchModel& model() { return model_; }
  [[nodiscard]] BenchCanvas& canvas() { return *canvas_; }
  [[nodiscard]] QString readout() const;

 signals:
  void command_wanted(const QString& command);
  /// The user wants the picture in the view of figures.
  void figure_wanted(const FigureChoice& figure);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build_pages();
  void build_tools(QHBoxLayout* line);
  void build_legend();
  void export_page();
  [[nodiscard]] bool shows_table() const;
  void fit_legend();
  void show_model();
  void show_choices();
  void show_legend();
  void show_message();
  /// Asks for a result, which `take` gets.
  void ask(const QString& title, void (BenchModel::*take)(const std::string&));

  BenchModel model_;
  QTabBar* pages_ = nullptr;
  std::map<std::string, QComboBox*> places_;  ///< By the keys of the figures.
  QListWidget* legend_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  BenchCanvas* canvas_ = nullptr;
  TextTableView* table_ = nullptr;
  SteadyLabel* readout_ = nullptr;  ///< Keeps its height while the pointer moves over cases.
  QLabel *message_ = nullptr, *about_ = nullptr;
  QToolButton* export_ = nullptr;
};

}  // namespace conelab::desktop
