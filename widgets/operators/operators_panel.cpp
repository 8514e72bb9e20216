#include "widgets/operators/operators_panel.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QCoreApplication>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QStandardItemModel>
#include <algorithm>

#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {

OperatorsPanel::OperatorsPanel(Document& document) : document_(document) {
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  column_ = laid_out<QVBoxLayout>(content, {2, 2, 2, 8}, 2);
  build_device_choice();
  auto* add = named(new QPushButton(tr("Add operator")), "operator-add", {},
                    tr("Another operator beside these, on the same trace"));
  column_->addWidget(add);
  column_->addStretch(1);
  setWidget(content);
  connect(add, &QPushButton::clicked, this, [this] { add_operator(); });
  connect(&document_, &Document::changed, this, &OperatorsPanel::show_session);
  show_session();
}

void OperatorsPanel::build_device_choice() {
  auto* row = new QWidget;
  auto* line = laid_out<QHBoxLayout>(row, {10, 4, 10, 0});
  auto* label = new QLabel(tr("device"));
  device_ = named(new QComboBox, "operators-device", tr("Device"),
                  tr("Where passes over all pairs of tokens run"));
  add_entry(*device_, "cpu", tr("this machine's processor"));
  label->setBuddy(device_);
  line->addWidget(label);
  line->addWidget(device_, 1);
  column_->addWidget(row);
  connect(device_, &QComboBox::textActivated, this, [this](const QString& name) {
    document_.edit(tr("choose the device"),
                   [&](Session& s) { s.trace.device = name.toStdString(); });
  });
}

void OperatorsPanel::show_devices(const std::vector<DeviceState>& devices) {
  for (const DeviceState& device : devices) {
    const QString name = QString::fromStdString(device.name);
    if (device_->findText(name) < 0) device_->addItem(name);
    const int at = device_->findText(name);
    device_->setItemData(at, QString::fromStdString(device.about), Qt::ToolTipRole);
    auto* items = static_cast<QStandardItemModel*>(device_->model());
    items->item(at)->setEnabled(device.available);
  }
  show_session();
}

namespace {

/// Returns the first operator that is not shown yet: of the usual ones, then of all similarities.
Call next_call(const std::vector<Call>& shown) {
  std::vector<Call> all = MapChoice().calls;
  for (const PartInfo& part : list_similarities()) all.push_back(call_from_text(part.name));
  const auto is_new = [&](const Call& call) {
    return std::ranges::none_of(
        shown, [&](const Call& each) { return operator_name(each) == operator_name(call); });
  };
  const auto found = std::ranges::find_if(all, is_new);
  return found == all.end() ? all.front() : *found;
}

}  // namespace

void OperatorsPanel::add_operator(const std::string& name) {
  document_.edit(tr("add an operator"), [&](Session& s) {
    s.maps.calls.push_back(name.empty() ? next_call(s.maps.calls) : call_from_text(name));
  });
  // The layout shows the new card when control returns to the event loop.
  QMetaObject::invokeMethod(this, &OperatorsPanel::scroll_to_last_card, Qt::QueuedConnection);
}

/// Shows the whole card; of one that is higher than the view, its beginning.
void OperatorsPanel::scroll_to_last_card() {
  if (cards_.empty()) return;
  // The content, then the area around it, learns at once how high it has become.
  QCoreApplication::sendPostedEvents(widget(), QEvent::LayoutRequest);
  QCoreApplication::sendPostedEvents(viewport(), QEvent::LayoutRequest);
  const QRect card = cards_.back()->geometry();
  QScrollBar& bar = *verticalScrollBar();
  const int lowest = card.bottom() + 1 - viewport()->height();
  bar.setValue(std::min(card.top(), std::max(bar.value(), lowest)));
}

void OperatorsPanel::change(int index, const Call& call, const QString& what, bool is_step) {
  document_.edit(
      tr("change %1").arg(what),
      [&](Session& s) { s.maps.calls.at(static_cast<std::size_t>(index)) = call; },
      is_step ? QStringLiteral("step %1 of operator %2").arg(what).arg(index) : QString());
}

void OperatorsPanel::remove(int index) {
  document_.edit(tr("remove an operator"), [&](Session& s) {
    s.maps.calls.erase(s.maps.calls.begin() + index);
    if (s.maps.reference == index) s.maps.reference = -1;
    if (s.maps.reference > index) --s.maps.reference;
  });
}

void OperatorsPanel::show_session() {
  const QString device = QString::fromStdString(document_.session().trace.device);
  if (device_->findText(device) < 0) device_->addItem(device);
  device_->setCurrentText(device);
  const std::vector<Call>& calls = document_.session().maps.calls;
  while (cards_.size() > calls.size()) {
    disconnect(cards_.back(), nullptr, this, nullptr);  // Text that was typed there is lost.
    cards_.back()->deleteLater();  // Its own button may be what asked for this.
    cards_.back()->hide();
    cards_.pop_back();
  }
  while (cards_.size() < calls.size()) {
    auto* card = new OperatorCard(static_cast<int>(cards_.size()));
    connect(card, &OperatorCard::edited, this, &OperatorsPanel::change);
    connect(card, &OperatorCard::reset_wanted, this, [this](int index) {
      const MapChoice& maps = document_.session().maps;
      const Call& now = maps.calls.at(static_cast<std::size_t>(index));
      change(index, without_brought(maps, now), tr("values of the file"), false);
    });
    connect(card, &OperatorCard::removed, this, &OperatorsPanel::remove);
    connect(card, &OperatorCard::command_wanted, this, [this](int index) {
      emit command_wanted(document_.session().maps.calls.at(static_cast<std::size_t>(index)));
    });
    column_->insertWidget(static_cast<int>(cards_.size()) + 1, card);
    cards_.push_back(card);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Origin origin = origin_of(document_.session().maps, calls[i]);
    cards_[i]->show_call(calls[i], origin, document_.name_of(origin.file));
  }
}

}  // namespace conelab::desktop
