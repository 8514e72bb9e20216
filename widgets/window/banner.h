// A message in one line across the window: an error in red, or a notice. A text that does not fit
// is cut, and a button shows it completely. A notice may offer one action.
#pragma once

#include <QTimer>
#include <QToolBar>
#include <QWidget>
#include <functional>

#include "widgets/jobs/job_pool.h"

class QLabel;
class QMenu;
class QToolButton;
class QProgressBar;

namespace conelab::desktop {

/// A line of text that ends in "…" if it does not fit.
class ElidedLine : public QWidget {
  Q_OBJECT

 public:
  ElidedLine();
  void show_text(const QString& text);
  [[nodiscard]] const QString& text() const { return text_; }
  [[nodiscard]] bool fits() const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void fits_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QString text_;
};

// A tool bar, because only tool bars extend across all docks.
class Banner : public QToolBar {
  Q_OBJECT

 public:
  Banner();

  void show_error(const QString& message);
  /// Shows a notice. `offer` is the label of a button that calls `act`; if empty, there is none.
  void show_notice(const QString& message, const QString& offer = {},
                   const std::function<void()>& act = {});
  /// Returns the message; empty if none is shown.
  [[nodiscard]] QString text() const;
  [[nodiscard]] bool shows_error() const { return error_; }

 private:
  void show_message(const QString& message, bool error);
  void show_details(bool on);
  void show_colours();

  ElidedLine* line_;
  QLabel* whole_;
  QToolButton *offer_, *details_;
  std::function<void()> act_;
  bool error_ = false;
};

// The running jobs in the status bar: title, progress, and a menu that cancels each of them.

class JobBar : public QWidget {
  Q_OBJECT

 public:
  explicit JobBar(JobPool& jobs);

 private:
  void show_jobs();
  void fill_menu(QMenu& menu);

  JobPool& jobs_;
  QLabel* title_;
  QProgressBar* bar_;
  QTimer poll_;
};

}  // namespace conelab::desktop
