// The session's operators, one card each, and a button that adds another.
#pragma once

#include <QScrollArea>
#include <vector>

#include "core/tiles/backend.h"
#include "widgets/operators/operator_card.h"
#include "widgets/session/document.h"

class QComboBox;
class QVBoxLayout;

namespace conelab::desktop {

class OperatorsPanel : public QScrollArea {
  Q_OBJECT

 public:
  explicit OperatorsPanel(Document& document);
  /// Adds an operator with its defaults; a structured one draws the tensors that it needs. Without
  /// a name it is the first one that is not there yet. Its card is scrolled to.
  void add_operator(const std::string& name = {});

  /// Shows the state of the devices. Unavailable ones cannot be chosen; their tooltips say why.
  void show_devices(const std::vector<DeviceState>& devices);

 signals:
  void command_wanted(const conelab::Call& call);

 private:
  void show_session();
  void build_device_choice();
  void change(int index, const Call& call, const QString& what, bool is_step);
  void remove(int index);
  void scroll_to_last_card();

  Document& document_;
  QComboBox* device_ = nullptr;
  QVBoxLayout* column_;
  std::vector<OperatorCard*> cards_;
};

}  // namespace conelab::desktop
