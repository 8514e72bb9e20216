// A field for a number, or for a list of numbers with one for each head.
//
// It accepts typed text like any field. While it has the keyboard focus, Up and Down and the wheel
// change every number by a step; dragging a label of the field does the same. A step multiplies a
// number whose domain is positive, adds one to a whole number, and adds a tenth to any other. Steps
// are reported at once, so that what is drawn follows.
#pragma once

#include <QLineEdit>

#include "core/base/parameter.h"

class QLabel;

namespace conelab::desktop {

class NumberField : public QLineEdit {
  Q_OBJECT

 public:
  /// `initial` is the default, from which an empty field steps. If it is NaN, the default depends
  /// on the input, and an empty field does not step.
  NumberField(Domain domain, double initial, QWidget* parent = nullptr);

  /// Shows numbers as those that were entered last.
  void show_numbers(const QString& text);
  /// Makes dragging this label to the right and left step the field.
  void follow_drags_of(QLabel* label);
  /// Changes the numbers by this many steps. Text that is not a list of numbers does not change.
  void step(int steps) { step_from(text(), steps); }

 signals:
  /// The text was entered. If `is_step` is true, successive changes belong together.
  void entered(const QString& text, bool is_step);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  Domain domain_;
  double initial_;
  QString entered_;  ///< The text that was reported or shown last.
  int drag_from_ = 0, drag_steps_ = 0;
  QString drag_text_;  ///< The text when the drag began. Steps are computed from it, so that
                       ///< rounding does not accumulate.

  void step_from(const QString& start, int steps);
};

/// Returns the value after this many steps in its domain, rounded to three digits.
[[nodiscard]] double stepped_number(Domain domain, double value, int steps);

}  // namespace conelab::desktop
