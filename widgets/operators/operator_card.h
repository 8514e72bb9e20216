// One operator of the session as a form: similarity, its parameters, mask, bias, weights.
//
// Names, defaults and tooltips with formula and paper come from the engine's tables, so that a new
// similarity or parameter appears by itself.
#pragma once

#include <QFrame>
#include <functional>
#include <string>
#include <vector>

#include "core/tiles/attention.h"

class QComboBox;
class QFormLayout;
class QHBoxLayout;
class QLineEdit;

namespace conelab::desktop {

class OperatorCard : public QFrame {
  Q_OBJECT

 public:
  explicit OperatorCard(int index, QWidget* parent = nullptr);

  /// Shows a call; fields are kept where only values differ.
  void show_call(const Call& call);
  [[nodiscard]] const Call& call() const { return call_; }

 signals:
  /// The user changed something; `what` names it, for the menu of undo.
  void edited(int index, const Call& call, const QString& what);
  void removed(int index);
  /// The command line of this operator is wanted.
  void command_wanted(int index);

 private:
  [[nodiscard]] QHBoxLayout* build_title();
  [[nodiscard]] QFormLayout* build_parts();
  void connect_part(QComboBox* box, const QString& what,
                    const std::function<void(std::string)>& set);
  QComboBox* add_part(QFormLayout* form, const QString& label, const std::vector<PartInfo>& parts);
  void build_parameters();
  void add_parameter(const ParameterInfo& info);
  void tell(const QString& what);

  int index_;
  Call call_;
  QComboBox *similarity_ = nullptr, *mask_ = nullptr, *bias_ = nullptr, *weights_ = nullptr;
  QWidget* fields_ = nullptr;
  std::vector<std::pair<std::string, QLineEdit*>> values_;
  std::vector<std::pair<std::string, QComboBox*>> words_;
  std::string built_for_;
};

}  // namespace conelab::desktop
