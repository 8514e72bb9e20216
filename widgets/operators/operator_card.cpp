#include "widgets/operators/operator_card.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/operators/number_field.h"
#include "widgets/operators/operator_parts.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

QString help_of(const PartInfo& part) {
  return QString::fromStdString(part.name + ": " + description(part));
}

QString initial_text(const ParameterInfo& info) {
  if (info.domain == Domain::tensor) {
    return std::isnan(info.initial) ? QObject::tr("trace or random") : QObject::tr("trace or none");
  }
  if (is_needed(info)) return QObject::tr("needed");
  return std::isnan(info.initial) ? QObject::tr("from the input")
                                  : QString::number(info.initial, 'g', 6);
}

/// The name of a part as objects and labels have it: "mask" for the field "masks".
QString part_label(const CallField& field) { return QString::fromUtf8(field.option).mid(2); }

/// Fills a box with the parts, unless it has them already. The data of an item is the value of the
/// field; it is empty for the default, the similarity's own map.
void offer(const CallField& field, const Call& call, const std::vector<PartInfo>& parts,
           QComboBox& box) {
  QStringList names, help;
  const bool is_map = field.word == &Call::map;
  const std::string own = is_map ? own_map(call) : "";
  if (is_map) names << QObject::tr("default"), help << "";
  for (const PartInfo& part : parts) {
    names << QString::fromStdString(part.name), help << help_of(part);
    if (part.name == own) help[0] = QObject::tr("the similarity's own map, ") + help_of(part);
  }
  bool same = box.count() >= names.size();
  for (int i = 0; same && i < names.size(); ++i) {
    same = box.itemText(i) == names[i] && box.itemData(i, Qt::ToolTipRole) == help[i];
  }
  if (same) return;
  box.clear();
  for (int i = 0; i < names.size(); ++i) {
    box.addItem(names[i], is_map && i == 0 ? QString() : names[i]);
    box.setItemData(i, help[i], Qt::ToolTipRole);
  }
}

/// A box that may be narrower than its longest word, as the panel is.
QComboBox* narrow_box() {
  auto* box = new QComboBox;
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(6);
  return box;
}

}  // namespace

OperatorCard::OperatorCard(int index, QWidget* parent) : QFrame(parent), index_(index) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 8);
  column->setSpacing(6);
  column->addLayout(build_title());
  column->addLayout(build_parts());
  connect(operator_, &QComboBox::currentTextChanged, this, [this](const QString& chosen) {
    emit edited(index_, with_operator(call_, chosen.toStdString()), tr("operator"), false);
    show_operator();  // Of a name for a similarity with a mask, the similarity.
  });
}

/// Its colour in the maps, its similarity, and what is done with it as a whole.
QHBoxLayout* OperatorCard::build_title() {
  auto* title = new QHBoxLayout;
  auto* dot = new QLabel(QStringLiteral("●"));
  follow_palette(this, [this, dot] {
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText,
                     operator_colour(static_cast<std::size_t>(index_), colours));
    dot->setPalette(colours);
  });
  title->addWidget(dot);
  operator_ = narrow_box();
  operator_->setObjectName(QStringLiteral("operator-%1-similarity").arg(index_));
  operator_->setAccessibleName(tr("Similarity of operator %1").arg(index_ + 1));
  for (const OperatorListing& listing : list_operators()) {
    operator_->addItem(QString::fromStdString(listing.part.name));
    operator_->setItemData(operator_->count() - 1, QString::fromStdString(operator_help(listing)),
                           Qt::ToolTipRole);
  }
  title->addWidget(operator_, 1);
  const auto add = [&](const QString& sign, const QString& about, const QString& name,
                       void (OperatorCard::*told)(int)) {
    auto* button = new QToolButton;
    button->setText(sign);
    button->setStyleSheet("QToolButton { padding: 4px; }");  // The name needs the space.
    button->setToolTip(about);
    button->setAccessibleName(about + tr(" (operator %1)").arg(index_ + 1));
    button->setObjectName(QStringLiteral("operator-%1-%2").arg(index_).arg(name));
    connect(button, &QToolButton::clicked, this, [this, told] { emit(this->*told)(index_); });
    title->addWidget(button);
  };
  add(QStringLiteral("$_"), tr("Copy as command: the same numbers from a terminal"), "command",
      &OperatorCard::command_wanted);
  add(QStringLiteral("✕"), tr("Remove this operator"), "remove", &OperatorCard::removed);
  return title;
}

QFormLayout* OperatorCard::build_parts() {
  form_ = new QFormLayout;
  form_->setHorizontalSpacing(10);
  for (const CallField& field : call_fields()) add_part(form_, field);
  return form_;
}

void OperatorCard::add_part(QFormLayout* form, const CallField& field) {
  auto* box = narrow_box();
  const QString label = part_label(field);
  box->setAccessibleName(label);
  const bool of_heads = field.word == &Call::similarity;  // The operator's own box has that name.
  box->setObjectName(
      QStringLiteral("operator-%1-%2").arg(index_).arg(of_heads ? "of-heads" : label));
  form->addRow(label, box);
  parts_.emplace_back(&field, box);
  connect(box, &QComboBox::currentIndexChanged, this, [this, &field, box, label] {
    Call next = call_;
    set_field(field, next, box->currentData().toString().toStdString(), ',');
    keep_known_parameters(next);
    emit edited(index_, next, label, false);
  });
}

void OperatorCard::show_parts() {
  for (const auto& [field, box] : parts_) {
    const QSignalBlocker silent(box);
    const std::vector<PartInfo> parts = fitting_parts(*field, call_);
    offer(*field, call_, parts, *box);
    // A file or a session may name what the card does not offer, or several masks.
    const QString value = QString::fromStdString(field_text(*field, call_, ','));
    if (box->findData(value) < 0) box->addItem(value, value);
    box->setCurrentIndex(box->findData(value));
    const QString chosen = box->currentData(Qt::ToolTipRole).toString();
    box->setToolTip(QString::fromUtf8(field->about) + (chosen.isEmpty() ? "" : "\n" + chosen));
    const bool fits = parts.size() > 1 || (!parts.empty() && !is_default(*field, call_));
    box->setVisible(fits);
    form_->labelForField(box)->setVisible(fits);
  }
}

/// Gives the labels of both forms one width, so that their fields begin at the same place.
void OperatorCard::align_labels() {
  std::vector<QWidget*> labels;
  for (const auto& [field, box] : parts_) labels.push_back(form_->labelForField(box));
  const auto* form = static_cast<QFormLayout*>(fields_->layout());
  for (int row = 0; row < form->rowCount(); ++row) {
    labels.push_back(form->itemAt(row, QFormLayout::LabelRole)->widget());
  }
  int width = 0;
  for (const QWidget* label : labels) {
    if (!label->isHidden()) width = std::max(width, label->sizeHint().width());
  }
  for (QWidget* label : labels) label->setMinimumWidth(width);
}

void OperatorCard::build_parameters() {
  Call bare = call_;
  bare.parameters.clear();
  const std::string wanted = call_text(bare);
  if (wanted == built_for_) return;
  built_for_ = wanted;
  delete fields_;
  values_.clear();
  words_.clear();
  fields_ = new QWidget;
  auto* form = new QFormLayout(fields_);
  form->setContentsMargins(0, 0, 0, 0);
  form->setHorizontalSpacing(10);
  for (const ParameterInfo& info : call_parameters(call_)) {
    // The projections of a similarity's tokens come with the file, or on the command line.
    const bool projects = std::string_view(info.key).starts_with("P_");
    if (!projects || !is_attention(call_)) add_parameter(info);
  }
  static_cast<QVBoxLayout*>(layout())->insertWidget(1, fields_);
  for (const OperatorListing& listing : list_operators()) {
    if (listing.part.name != operator_name(call_)) continue;
    operator_->setToolTip(QString::fromStdString(operator_help(listing)));
  }
}

void OperatorCard::add_parameter(const ParameterInfo& info) {
  auto* form = static_cast<QFormLayout*>(fields_->layout());
  QString help = QString::fromUtf8(info.about);
  if (*info.computed != 0) help += tr("; default %1").arg(QString::fromUtf8(info.computed));
  const std::string key = info.key;
  auto* label = new QLabel(QString::fromUtf8(info.key));
  label->setToolTip(help);
  const auto set = [this, key](const QString& text, bool is_step) {
    Call next = call_;
    text.isEmpty() ? static_cast<void>(next.parameters.erase(key))
                   : static_cast<void>(next.parameters[key] = text.toStdString());
    emit edited(index_, next, QString::fromStdString(key), is_step);
  };
  if (info.domain == Domain::choice) {
    auto* box = narrow_box();
    if (std::isnan(info.initial)) box->addItem(tr("from the input"));
    box->addItems(QString::fromUtf8(info.choices).split('|'));
    box->setToolTip(help);
    box->setAccessibleName(QString::fromUtf8(info.key));
    box->setObjectName(QStringLiteral("operator-%1-%2").arg(index_).arg(info.key));
    form->addRow(label, box);
    connect(box, &QComboBox::textActivated, this, [set, box](const QString& word) {
      set(box->currentIndex() == 0 ? QString() : word, false);
    });
    words_.emplace_back(key, box);
    return;
  }
  const bool tensor = info.domain == Domain::tensor;
  auto* field = new NumberField(info.domain, tensor ? std::nan("") : info.initial);
  field->setPlaceholderText(initial_text(info));
  field->setToolTip(help +
                    tr("\nA number, or a list with one number a head: 1,2,4. Up, Down and the "
                       "wheel step it, as does dragging its name."));
  field->setAccessibleName(QString::fromUtf8(info.key));
  field->setObjectName(QStringLiteral("operator-%1-%2").arg(index_).arg(info.key));
  if (!tensor) field->follow_drags_of(label);
  form->addRow(label, field);
  connect(field, &NumberField::entered, this, set);
  values_.emplace_back(key, field);
}

void OperatorCard::show_operator() {
  const QSignalBlocker silent(operator_);
  operator_->setCurrentText(QString::fromStdString(operator_name(call_)));
}

void OperatorCard::show_call(const Call& call) {
  const bool is_new = built_for_.empty() || call != call_;
  call_ = call;
  show_operator();
  if (is_new) {  // The session changes often in other respects.
    show_parts();
    build_parameters();
    align_labels();
  }
  const auto text = [&](const std::string& key) {
    const auto found = call.parameters.find(key);
    return found == call.parameters.end() ? QString()
                                          : QString::fromStdString(found->second.text());
  };
  for (const auto& [key, field] : values_) field->show_numbers(text(key));
  for (const auto& [key, box] : words_) {
    text(key).isEmpty() ? box->setCurrentIndex(0) : box->setCurrentText(text(key));
  }
}

}  // namespace conelab::desktop
