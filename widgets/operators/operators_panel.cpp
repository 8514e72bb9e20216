#include "widgets/operators/operators_panel.h"

#include <QBoxLayout>
#include <QPushButton>

namespace conelab::desktop {

OperatorsPanel::OperatorsPanel(Document& document, QWidget* parent)
    : QScrollArea(parent), document_(document) {
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  column_ = new QVBoxLayout(content);
  column_->setContentsMargins(2, 2, 2, 8);
  column_->setSpacing(2);
  auto* add = new QPushButton(tr("Add operator"));
  add->setObjectName("operator-add");
  add->setToolTip(tr("Another operator beside these, on the same trace"));
  column_->addWidget(add);
  column_->addStretch(1);
  setWidget(content);
  connect(add, &QPushButton::clicked, this, &OperatorsPanel::add_operator);
  connect(&document_, &Document::changed, this, &OperatorsPanel::show_session);
  show_session();
}

void OperatorsPanel::add_operator() {
  document_.edit(tr("add an operator"),
                 [](Session& s) { s.maps.calls.push_back(plain_call("penumbral")); });
}

void OperatorsPanel::change(int index, const Call& call, const QString& what) {
  document_.edit(tr("change %1").arg(what),
                 [&](Session& s) { s.maps.calls.at(static_cast<std::size_t>(index)) = call; });
}

void OperatorsPanel::remove(int index) {
  document_.edit(tr("remove an operator"), [&](Session& s) {
    s.maps.calls.erase(s.maps.calls.begin() + index);
    if (s.maps.reference == index) s.maps.reference = -1;
    if (s.maps.reference > index) --s.maps.reference;
  });
}

void OperatorsPanel::show_session() {
  const std::vector<Call>& calls = document_.session().maps.calls;
  while (cards_.size() > calls.size()) {
    cards_.back()->deleteLater();  // Its own button may be what asked for this.
    cards_.back()->hide();
    cards_.pop_back();
  }
  while (cards_.size() < calls.size()) {
    auto* card = new OperatorCard(static_cast<int>(cards_.size()));
    connect(card, &OperatorCard::edited, this, &OperatorsPanel::change);
    connect(card, &OperatorCard::removed, this, &OperatorsPanel::remove);
    connect(card, &OperatorCard::command_wanted, this, [this](int index) {
      emit command_wanted(document_.session().maps.calls.at(static_cast<std::size_t>(index)));
    });
    column_->insertWidget(static_cast<int>(cards_.size()), card);
    cards_.push_back(card);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!(cards_[i]->call() == calls[i]) || calls[i] == Call()) cards_[i]->show_call(calls[i]);
  }
}

}  // namespace conelab::desktop
