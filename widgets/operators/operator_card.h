// One operator of the session as a form: the operator's name, its parameters, and the parts that it
// combines with.
//
// Names, defaults and tooltips with formula and paper come from the engine's tables, so that a new
// operator, part or parameter appears by itself.
#pragma once

#include <QFrame>
#include <QLineEdit>
#include <string>
#include <vector>

#include "core/base/parameter.h"
#include "core/operators/operator.h"
#include "widgets/session/brought.h"

class QComboBox;
class QFormLayout;
class QHBoxLayout;
class QLabel;

namespace conelab::desktop {

class NumberField;

class OperatorCard : public QFrame {
  Q_OBJECT

 public:
  explicit OperatorCard(int index);

  /// Shows a call, and which of its values a file of this name brought. If only values differ, the
  /// fields are kept. The card changes in this way only: an edit of the user comes back through the
  /// session.
  void show_call(const Call& call, const Origin& origin = {}, const QString& file = {});
  [[nodiscard]] const Call& call() const { return call_; }

 signals:
  /// The user wants another call; `what` names the change, for the menu of undo. Successive steps
  /// of the same number are one change.
  void edited(int index, const Call& call, const QString& what, bool is_step);
  void removed(int index);
  /// The defaults are wanted in place of what a file brought.
  void reset_wanted(int index);
  /// The command line of this operator is wanted.
  void command_wanted(int index);

 private:
  /// Returns the name of the object for a part of the card.
  [[nodiscard]] QString object_name(const QString& part) const {
    return QStringLiteral("operator-%1-%2").arg(index_).arg(part);
  }
  [[nodiscard]] QHBoxLayout* build_title();
  void add_part(const CallField& field);
  void show_operator();
  /// Shows the parts that the operator combines with, and hides the others.
  void show_parts();
  void build_parameters();
  void align_labels();
  void add_parameter(const ParameterInfo& info);

  int index_;
  Call call_;
  QComboBox* operator_ = nullptr;
  QLabel* origin_ = nullptr;
  std::vector<std::pair<const CallField*, QComboBox*>> parts_;
  QFormLayout* form_ = nullptr;
  QWidget* fields_ = nullptr;
  std::vector<std::pair<std::string, NumberField*>> values_;
  std::vector<std::pair<std::string, QComboBox*>> words_;
  std::string built_for_;
};

// What an operator's card offers: the parts that fit the operator, and the call that follows from
// choosing another operator. Free of windows; everything comes from the engine's tables.

/// Returns the parts that a field of the call may name, each name once. The maps and biases of an
/// operator that makes heads are those of its similarity. It is empty if the call's operator does
/// not take the field. `explicit` and `padding` are left out: a file brings along what they read.
[[nodiscard]] std::vector<PartInfo> fitting_parts(const CallField& field, const Call& call);

/// Returns the name of the map that applies where the call names none: the similarity's own.
[[nodiscard]] std::string own_map(const Call& call);

/// Returns whether a call must give the parameter, a number without a default.
[[nodiscard]] bool is_needed(const ParameterInfo& info);

/// Returns the call with another operator. Parts that fit it stay, with their parameters.
[[nodiscard]] Call with_operator(const Call& call, const std::string& name);

/// Removes the parameters that no part of the call takes any more.
void keep_known_parameters(Call& call);

/// Returns what is said of an operator: its formula and paper, its cost, and where it is computed.
[[nodiscard]] std::string operator_help(const OperatorListing& listing);

// A field for a number, or for a list of numbers with one for each head.
//
// It accepts typed text like any field. While it has the keyboard focus, Up and Down and the wheel
// change every number by a step; dragging a label of the field does the same. A step multiplies a
// number whose domain is positive, adds one to a whole number, and adds a tenth to any other. Steps
// are reported at once, so that what is drawn follows.

class NumberField : public QLineEdit {
  Q_OBJECT

 public:
  /// `initial` is the default, from which an empty field steps. If it is NaN, the default depends
  /// on the input, and an empty field does not step.
  NumberField(Domain domain, double initial);

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
