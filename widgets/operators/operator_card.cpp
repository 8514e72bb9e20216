#include "widgets/operators/operator_card.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

const PartInfo* part_named(const std::vector<PartInfo>& parts, const std::string& name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const PartInfo& p) { return p.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

QString help_of(const PartInfo& part) {
  return QString::fromStdString(part.name + ": " + part.about);
}

QString initial_text(const ParameterInfo& info) {
  return std::isnan(info.initial) ? QObject::tr("from the input")
                                  : QString::number(info.initial, 'g', 6);
}

/// Parameters of the similarity and of its default map, then those of the bias and masks.
std::vector<ParameterInfo> parameters_of(const Call& call) {
  std::vector<ParameterInfo> all;
  const auto add = [&](const PartInfo* part) {
    if (!part) return;
    for (const ParameterInfo& info : part->parameters) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const ParameterInfo& p) {
        return std::string_view(p.key) == info.key;
      });
      if (!known) all.push_back(info);
    }
  };
  const std::vector<PartInfo> similarities = list_similarities();
  const PartInfo* similarity = part_named(similarities, call.similarity);
  add(similarity);
  const std::vector<PartInfo> maps = list_maps(), biases = list_biases(), masks = list_masks();
  if (similarity) add(part_named(maps, call.map.empty() ? similarity->default_map : call.map));
  add(part_named(biases, call.bias));
  for (const std::string& mask : call.masks) add(part_named(masks, mask));
  return all;
}

}  // namespace

OperatorCard::OperatorCard(int index, QWidget* parent) : QFrame(parent), index_(index) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 8);
  column->setSpacing(6);
  column->addLayout(build_title());
  column->addLayout(build_parts());
  connect(similarity_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
    call_.similarity = name.toStdString();
    call_.map.clear();
    call_.parameters.clear();
    build_parameters();
    tell(tr("similarity"));
  });
  connect_part(mask_, tr("mask"), [this](std::string name) { call_.masks = {std::move(name)}; });
  connect_part(bias_, tr("bias"), [this](std::string name) { call_.bias = std::move(name); });
  connect_part(weights_, tr("weights"),
               [this](std::string name) { call_.weights = std::move(name); });
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
  similarity_ = new QComboBox;
  similarity_->setObjectName(QStringLiteral("operator-%1-similarity").arg(index_));
  similarity_->setAccessibleName(tr("Similarity of operator %1").arg(index_ + 1));
  for (const PartInfo& part : list_similarities()) {
    similarity_->addItem(QString::fromStdString(part.name));
    similarity_->setItemData(similarity_->count() - 1, help_of(part), Qt::ToolTipRole);
  }
  title->addWidget(similarity_, 1);
  const auto add = [&](const QString& sign, const QString& about, const QString& name,
                       void (OperatorCard::*told)(int)) {
    auto* button = new QToolButton;
    button->setText(sign);
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
  auto* form = new QFormLayout;
  form->setHorizontalSpacing(10);
  mask_ = add_part(form, tr("mask"), list_masks());
  bias_ = add_part(form, tr("bias"), list_biases());
  weights_ = add_part(form, tr("weights"), {});
  weights_->addItems({"softmax", "sigmoid"});
  weights_->setToolTip(tr("softmax: rows sum to one. sigmoid: each pair by itself."));
  return form;
}

void OperatorCard::connect_part(QComboBox* box, const QString& what,
                                const std::function<void(std::string)>& set) {
  connect(box, &QComboBox::currentTextChanged, this, [this, what, set](const QString& name) {
    set(name.toStdString());
    build_parameters();
    tell(what);
  });
}

QComboBox* OperatorCard::add_part(QFormLayout* form, const QString& label,
                                  const std::vector<PartInfo>& parts) {
  auto* box = new QComboBox;
  box->setAccessibleName(label);
  box->setObjectName(QStringLiteral("operator-%1-%2").arg(index_).arg(label));
  for (const PartInfo& part : parts) {
    // What a file must bring along is offered by the file alone.
    if (part.name == "explicit" || part.name == "padding") continue;
    box->addItem(QString::fromStdString(part.name));
    box->setItemData(box->count() - 1, help_of(part), Qt::ToolTipRole);
  }
  form->addRow(label, box);
  return box;
}

void OperatorCard::tell(const QString& what) { emit edited(index_, call_, what); }

void OperatorCard::build_parameters() {
  std::string wanted = call_.similarity + "/" + call_.map + "/" + call_.bias;
  for (const std::string& mask : call_.masks) wanted += "/" + mask;
  if (wanted == built_for_) return;
  built_for_ = wanted;
  delete fields_;
  values_.clear();
  words_.clear();
  fields_ = new QWidget;
  auto* form = new QFormLayout(fields_);
  form->setContentsMargins(0, 0, 0, 0);
  form->setHorizontalSpacing(10);
  for (const ParameterInfo& info : parameters_of(call_)) add_parameter(info);
  static_cast<QVBoxLayout*>(layout())->insertWidget(1, fields_);
  const std::vector<PartInfo> similarities = list_similarities();
  const PartInfo* part = part_named(similarities, call_.similarity);
  if (part) similarity_->setToolTip(help_of(*part));
}

void OperatorCard::add_parameter(const ParameterInfo& info) {
  auto* form = static_cast<QFormLayout*>(fields_->layout());
  const QString help = QString::fromUtf8(info.about);
  const std::string key = info.key;
  auto* label = new QLabel(QString::fromUtf8(info.key));
  label->setToolTip(help);
  const auto set = [this, key](const QString& text) {
    text.isEmpty() ? static_cast<void>(call_.parameters.erase(key))
                   : static_cast<void>(call_.parameters[key] = text.toStdString());
    tell(QString::fromStdString(key));
  };
  if (info.domain == Domain::choice) {
    auto* box = new QComboBox;
    box->addItems(QString::fromUtf8(info.choices).split('|'));
    box->setToolTip(help);
    box->setAccessibleName(QString::fromUtf8(info.key));
    box->setObjectName(QStringLiteral("operator-%1-%2").arg(index_).arg(info.key));
    form->addRow(label, box);
    connect(box, &QComboBox::textActivated, this,
            [set, box](const QString& word) { set(box->currentIndex() == 0 ? QString() : word); });
    words_.emplace_back(key, box);
    return;
  }
  auto* field = new QLineEdit;
  field->setPlaceholderText(initial_text(info));
  field->setToolTip(help + tr("\nA number, or a list with one number a head: 1,2,4"));
  field->setAccessibleName(QString::fromUtf8(info.key));
  field->setObjectName(QStringLiteral("operator-%1-%2").arg(index_).arg(info.key));
  form->addRow(label, field);
  connect(field, &QLineEdit::editingFinished, this, [this, set, field, key] {
    const auto now = call_.parameters.find(key);
    const QString before =
        now == call_.parameters.end() ? QString() : QString::fromStdString(now->second);
    if (field->text().trimmed() != before) set(field->text().trimmed());
  });
  values_.emplace_back(key, field);
}

void OperatorCard::show_call(const Call& call) {
  call_ = call;
  const QSignalBlocker a(similarity_), b(mask_), c(bias_), d(weights_);
  similarity_->setCurrentText(QString::fromStdString(call.similarity));
  mask_->setCurrentText(QString::fromStdString(call.masks.empty() ? "full" : call.masks.front()));
  bias_->setCurrentText(QString::fromStdString(call.bias));
  weights_->setCurrentText(QString::fromStdString(call.weights));
  build_parameters();
  const auto text = [&](const std::string& key) {
    const auto found = call.parameters.find(key);
    return found == call.parameters.end() ? QString() : QString::fromStdString(found->second);
  };
  for (const auto& [key, field] : values_) {
    if (field->text() != text(key)) field->setText(text(key));
  }
  for (const auto& [key, box] : words_) {
    text(key).isEmpty() ? box->setCurrentIndex(0) : box->setCurrentText(text(key));
  }
}

}  // namespace conelab::desktop
