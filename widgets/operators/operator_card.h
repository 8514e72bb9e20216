// One operator of the session as a form: the operator's name, its parameters, and the parts that it
// combines with.
//
// Names, defaults and tooltips with formula and paper come from the engine's tables, so that a new
// operator, part or parameter appears by itself.
#pragma once

#include <QFrame>
#include <functional>
#include <string>
#include <vector>

#include "core/operators/operator.h"

class QComboBox;
class QFormLayout;
class QHBoxLayout;

namespace conelab::desktop {

class NumberField;

class OperatorCard : public QFrame {
  Q_OBJECT

 public:
  explicit OperatorCard(int index, QWidget* parent = nullptr);

  /// Shows a call. If only values differ, the fields are kept. The card changes in this way only:
  /// an edit of the user comes back through the session.
  void show_call(const Call& call);
  [[nodiscard]] const Call& call() const { return call_; }

 signals:
  /// The user wants another call; `what` names the change, for the menu of undo. Successive steps
  /// of the same number are one change.
  void edited(int index, const Call& call, const QString& what, bool is_step);
  void removed(int index);
  /// The command line of this operator is wanted.
  void command_wanted(int index);

 private:
  [[nodiscard]] QHBoxLayout* build_title();
  [[nodiscard]] QFormLayout* build_parts();
  void add_part(QFormLayout* form, const CallField& field);
  void show_operator();
  /// Shows the parts that the operator combines with, and hides the others.
  void show_parts();
  void build_parameters();
  void align_labels();
  void add_parameter(const ParameterInfo& info);

  int index_;
  Call call_;
  QComboBox* operator_ = nullptr;
  std::vector<std::pair<const CallField*, QComboBox*>> parts_;
  QFormLayout* form_ = nullptr;
  QWidget* fields_ = nullptr;
  std::vector<std::pair<std::string, NumberField*>> values_;
  std::vector<std::pair<std::string, QComboBox*>> words_;
  std::string built_for_;
};

}  // namespace conelab::desktop
