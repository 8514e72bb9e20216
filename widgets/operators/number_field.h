// A field for a number, or for a list of numbers with one for each head.
//
// It is typed into as any field. With the keyboard focus, Up and Down and the wheel change every
// number by a step; dragging a label that steps the field does the same. A step multiplies where
// the domain is positive, adds one where it is whole, and adds a tenth elsewhere. Steps are
// reported at once, so that what is drawn follows.
#pragma once

#include <QLineEdit>

#include "core/base/parameter.h"

class QLabel;

namespace conelab::desktop {

class NumberField : public QLineEdit {
  Q_OBJECT

 public:
  /// `initial` is the default, from which an empty field steps; NaN: it depends on the input, and
  /// an empty field does not step.
  NumberField(Domain domain, double initial, QWidget* parent = nullptr);

  /// Makes dragging this label to the right and left step the field.
  void follow_drags_of(QLabel* label);
  /// Changes the numbers by so many steps; text that is no list of numbers stays.
  void step(int steps) { step_from(text(), steps); }

 signals:
  /// The text is entered. `is_step`: successive changes of this kind belong together.
  void entered(const QString& text, bool is_step);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  Domain domain_;
  double initial_;
  QString entered_;  ///< The text that was reported last.
  int drag_from_ = 0, drag_steps_ = 0;
  QString drag_text_;  ///< What was there when the drag began: rounding does not add up.

  void step_from(const QString& start, int steps);
};

/// The value after so many steps in its domain, rounded to three digits.
[[nodiscard]] double stepped_number(Domain domain, double value, int steps);

}  // namespace conelab::desktop
