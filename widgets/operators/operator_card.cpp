#include "widgets/operators/operator_card.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/call/call.h"
#include "core/call/composed.h"
#include "core/operators/combines.h"
#include "core/pair/mask.h"
#include "core/token/model_map.h"
#include "widgets/theme/flow_layout.h"
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
    add_entry(box, names[i], help[i], is_map && i == 0 ? QString() : names[i]);
  }
}

/// A box that may be narrower than its longest word, as the panel is.
QComboBox* narrow_box(const QString& name, const QString& accessible, const QString& tip = {}) {
  auto* box = named(new QComboBox, name, accessible, tip);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(6);
  return box;
}

}  // namespace

OperatorCard::OperatorCard(int index) : index_(index) {
  auto* column = laid_out<QVBoxLayout>(this, {10, 8, 10, 8}, 6);
  column->addLayout(build_title());
  origin_ = named(new QLabel, object_name("origin"), tr("Where the values come from"));
  origin_->setWordWrap(true);
  column->addWidget(origin_);
  connect(origin_, &QLabel::linkActivated, this, [this] { emit reset_wanted(index_); });
  form_ = new QFormLayout;
  form_->setHorizontalSpacing(10);
  for (const CallField& field : call_fields()) add_part(field);
  column->addLayout(form_);
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
    set_ink(*dot, operator_colour(static_cast<std::size_t>(index_), palette()));
  });
  title->addWidget(dot);
  operator_ =
      narrow_box(object_name("similarity"), tr("Similarity of operator %1").arg(index_ + 1));
  for (const OperatorListing& listing : list_operators()) {
    add_entry(*operator_, QString::fromStdString(listing.part.name),
              QString::fromStdString(operator_help(listing)));
  }
  title->addWidget(operator_, 1);
  const auto add = [&](const QString& sign, const QString& about, const QString& name,
                       void (OperatorCard::*told)(int)) {
    auto* button = add_button(title, sign, object_name(name), about, this,
                              [this, told] { emit(this->*told)(index_); });
    button->setStyleSheet("QToolButton { padding: 4px; }");  // The name needs the space.
    button->setAccessibleName(about + tr(" (operator %1)").arg(index_ + 1));
  };
  add(QStringLiteral("$_"), tr("Copy as command: the same numbers from a terminal"), "command",
      &OperatorCard::command_wanted);
  add(QStringLiteral("✕"), tr("Remove this operator"), "remove", &OperatorCard::removed);
  return title;
}

void OperatorCard::add_part(const CallField& field) {
  const QString label = part_label(field);
  const bool of_heads = field.word == &Call::similarity;  // The operator's own box has that name.
  auto* box = narrow_box(object_name(of_heads ? "of-heads" : label), label);
  form_->addRow(label, box);
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
  auto* form = laid_out<QFormLayout>(fields_);
  form->setHorizontalSpacing(10);
  for (const ParameterInfo& info : call_parameters(call_)) {
    // The projections of a similarity's tokens come with the file, or on the command line.
    const bool projects = std::string_view(info.key).starts_with("P_");
    if (!projects || !is_attention(call_)) add_parameter(info);
  }
  static_cast<QVBoxLayout*>(layout())->insertWidget(2, fields_);
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
    auto* box = narrow_box(object_name(info.key), info.key, help);
    if (std::isnan(info.initial)) box->addItem(tr("from the input"));
    box->addItems(QString::fromUtf8(info.choices).split('|'));
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
  named(
      field, object_name(info.key), info.key,
      help + tr("\nA number, or a list with one number a head: 1,2,4. Up, Down and the wheel step "
                "it, as does dragging its name."));
  if (!tensor) field->follow_drags_of(label);
  form->addRow(label, field);
  connect(field, &NumberField::entered, this, set);
  values_.emplace_back(key, field);
}

void OperatorCard::show_operator() {
  const QSignalBlocker silent(operator_);
  operator_->setCurrentText(QString::fromStdString(operator_name(call_)));
}

namespace {

/// Returns "gamma = 688.8 from trained.h5 · reset", or "" if nothing is from a file.
QString origin_text(const Call& call, const Origin& origin, const QString& name) {
  if (origin.file.empty()) return {};
  if (origin.keys.empty()) return QObject::tr("the operator of %1").arg(name);
  QStringList values;
  for (const std::string& key : origin.keys) {
    const QString value = QString::fromStdString(call.parameters.at(key).text());
    values << QString::fromStdString(key) + " = " + value.left(12).toHtmlEscaped();
  }
  return QObject::tr("%1 from %2 · <a href='reset'>reset</a>").arg(values.join(", "), name);
}

}  // namespace

void OperatorCard::show_call(const Call& call, const Origin& origin, const QString& file) {
  origin_->setText(origin_text(call, origin, file.toHtmlEscaped()));
  origin_->setToolTip(QString::fromStdString(origin.file));
  origin_->setVisible(!origin.file.empty());
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

namespace {

/// Returns the operator whose maps and biases fit the call.
const std::string& taker_of(const CallField& field, const Call& call) {
  const bool by_similarity = field.word == &Call::map || field.word == &Call::bias;
  return by_similarity && makes_heads(call) ? call.similarity : operator_name(call);
}

/// Returns the names of a field that the call's operator takes.
std::vector<std::string> fitting_names(const CallField& field, const Call& call) {
  const auto takes = [&](const Combination& each) { return each.field == field.name; };
  const std::vector<Combination> own = combinations(operator_name(call));
  if (std::ranges::none_of(own, takes)) return {};
  const std::vector<Combination> all = combinations(taker_of(field, call));
  const auto found = std::ranges::find_if(all, takes);
  return found == all.end() ? std::vector<std::string>() : found->parts;
}

/// Returns whether a part of a field reads what a file or an option brings along.
bool is_of_file(const CallField& field, const PartInfo& part) {
  const MaskRow* row = field.list == &Call::masks ? find_mask(part.name) : nullptr;
  return row != nullptr &&
         (row->operand == MaskOperand::allowed || row->operand == MaskOperand::lengths);
}

/// Returns whether the call's operator takes the value of a field, which for masks is a list.
bool fits(const CallField& field, const Call& call, const Call& from) {
  const std::vector<std::string> names = fitting_names(field, call);
  if (field.word != nullptr) return contains(names, from.*field.word);
  return std::all_of((from.*field.list).begin(), (from.*field.list).end(),
                     [&](const std::string& name) { return contains(names, name); });
}

}  // namespace

std::vector<PartInfo> fitting_parts(const CallField& field, const Call& call) {
  const std::vector<std::string> names = fitting_names(field, call);
  std::vector<PartInfo> fitting, all = field.parts();
  for (std::size_t i = 0; i < all.size(); ++i) {
    // `none` is another map in each space.
    const bool of_space =
        field.word != &Call::map || looks_at(call.similarity, model_map_table()[i].space);
    const bool known = std::ranges::any_of(
        fitting, [&](const PartInfo& part) { return part.name == all[i].name; });
    const bool offered = of_space && !known && !is_of_file(field, all[i]);
    if (offered && contains(names, all[i].name)) fitting.push_back(all[i]);
  }
  return fitting;
}

bool is_needed(const ParameterInfo& info) {
  return info.domain != Domain::tensor && std::isnan(info.initial) && *info.computed == 0;
}

std::string own_map(const Call& call) try {
  Call plain;
  plain.similarity = call.similarity;
  const auto model = call.parameters.find("model");  // The half-space has another map.
  if (model != call.parameters.end()) plain.parameters.insert(*model);
  return resolve(with_random_tensors(plain), {1, 1, 2, 2, 2, 2})->call.map;
} catch (const Error&) {
  return {};
}

void keep_known_parameters(Call& call) {
  const std::vector<ParameterInfo> known = call_parameters(call);
  std::erase_if(call.parameters, [&](const auto& entry) {
    return entry.first != "seed" && std::ranges::none_of(known, [&](const ParameterInfo& info) {
             return entry.first == info.key;
           });
  });
}

Call with_operator(const Call& call, const std::string& name) {
  Call next;
  set_operator(next, name);
  const bool named = find_named_operator(name) != nullptr;  // It sets its mask.
  for (const CallField& field : call_fields()) {
    if (field.word == &Call::similarity && (is_attention(call) || is_attention(next))) continue;
    if (field.list != nullptr && named) continue;
    if (fits(field, next, call)) set_field(field, next, field_text(field, call, ','), ',');
  }
  next.parameters = call.parameters;
  keep_known_parameters(next);
  for (const OperatorListing& listing : list_operators()) {
    if (listing.part.name != operator_name(next)) continue;
    for (const ParameterInfo& info : listing.part.parameters) next.parameters.erase(info.key);
  }
  if (!draws_tensors(next)) next.parameters.erase("seed");
  return next;
}

std::string operator_help(const OperatorListing& listing) {
  const bool chain = is_attention(call_from_text(listing.part.name));
  return listing.part.name + ": " + description(listing.part) + "\nCost: " + listing.cost +
         (chain ? "" : ", on the CPU only");
}

namespace {

constexpr double steps_for_double = 8;  ///< Of a positive number.
constexpr int pixels_a_step = 6;
constexpr int wheel_notch = 120;

double rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / unit) * unit;
}

}  // namespace

double stepped_number(Domain domain, double value, int steps) {
  switch (domain) {
    case Domain::positive:
    case Domain::moderate:
      return rounded(value * std::exp2(steps / steps_for_double));
    case Domain::non_negative:
      return std::max(0.0, rounded(value + 0.1 * steps));
    case Domain::whole:
      return std::max(1.0, std::round(value) + steps);
    case Domain::count:
      return std::max(0.0, std::round(value) + steps);
    default:
      return rounded(value + 0.1 * steps);
  }
}

NumberField::NumberField(Domain domain, double initial) : domain_(domain), initial_(initial) {
  connect(this, &QLineEdit::editingFinished, this, [this] {
    const QString now = text().trimmed();
    if (now != entered_) emit entered(entered_ = now, false);
  });
}

void NumberField::show_numbers(const QString& text) {
  entered_ = text;
  if (this->text() == text) return;
  setText(text);
  if (!hasFocus()) setCursorPosition(0);  // The first digits of a long number are seen.
}

void NumberField::follow_drags_of(QLabel* label) {
  label->setCursor(Qt::SizeHorCursor);
  label->installEventFilter(this);
}

void NumberField::step_from(const QString& start, int steps) {
  QStringList numbers;
  const std::string now = start.trimmed().toStdString();
  if (now.empty() && std::isnan(initial_)) return;
  const auto add = [&](double value) {
    numbers << QString::number(stepped_number(domain_, value, steps), 'g', 6);
  };
  if (now.empty()) {
    add(initial_);
  } else {
    for (const std::string_view part : split_commas(now)) {
      const std::optional<double> value = parse_number(part);
      if (!value) return;
      add(*value);
    }
  }
  setText(numbers.join(','));
  emit entered(entered_ = text(), true);
}

void NumberField::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Up) return step(1);
  if (event->key() == Qt::Key_Down) return step(-1);
  QLineEdit::keyPressEvent(event);
}

void NumberField::wheelEvent(QWheelEvent* event) {
  if (!hasFocus()) return event->ignore();
  step(event->angleDelta().y() >= 0 ? std::max(1, event->angleDelta().y() / wheel_notch)
                                    : std::min(-1, event->angleDelta().y() / wheel_notch));
  event->accept();
}

bool NumberField::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::MouseButtonPress) {
    drag_from_ = qRound(static_cast<QMouseEvent*>(event)->globalPosition().x());
    drag_steps_ = 0;
    drag_text_ = text();
    return true;
  }
  const auto* mouse =
      event->type() == QEvent::MouseMove ? static_cast<QMouseEvent*>(event) : nullptr;
  if (mouse == nullptr || !mouse->buttons().testFlag(Qt::LeftButton)) return false;
  const int steps = (qRound(mouse->globalPosition().x()) - drag_from_) / pixels_a_step;
  if (steps != drag_steps_) step_from(drag_text_, steps);
  drag_steps_ = steps;
  return true;
}

}  // namespace conelab::desktop
