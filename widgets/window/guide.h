// The steps of a guided example. Each is marked when it has been done, and the next one is shown.
// The answer follows the last one.
#pragma once

#include <QWidget>

#include "widgets/window/examples.h"

class QLabel;
class QScrollArea;
class QToolButton;
class QVBoxLayout;

namespace conelab::desktop {

class MapsModel;

class Guide : public QWidget {
  Q_OBJECT

 public:
  Guide(Document& document, MapsModel& maps, QWidget* parent = nullptr);

  /// Shows the first step of an example, whose session is open.
  void start(const Example& example);
  /// Returns how many steps have been done.
  [[nodiscard]] std::size_t done() const { return done_; }
  [[nodiscard]] bool finished() const { return done_ == example_.steps.size(); }

 signals:
  void closed();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void check_steps();
  void show_steps();
  void show_current();

  Document& document_;
  MapsModel& maps_;
  Example example_;
  std::size_t done_ = 0;
  QScrollArea* scroll_;
  QLabel *question_, *answer_;
  QVBoxLayout* list_;
  std::vector<QLabel*> steps_;
};

}  // namespace conelab::desktop
