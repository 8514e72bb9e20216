#include "widgets/figures/figure_fields.h"

#include <QAction>
#include <QBoxLayout>
#include <QComboBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QMenu>
#include <QSignalBlocker>
#include <QToolButton>

#include "core/operators/operator.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

QStringList words(const std::string& text, char between) {
  return QString::fromStdString(text).split(between, Qt::SkipEmptyParts);
}

QStringList operator_names() {
  QStringList names;
  for (const PartInfo& part : list_similarities()) {
    const QString name = QString::fromStdString(part.name);
    if (!names.contains(name)) names << name;
  }
  return names;
}

}  // namespace

FigureFields::FigureFields(const figure::FigureInfo& info, QWidget* parent) : QWidget(parent) {
  auto* form = new QFormLayout(this);
  form->setContentsMargins(0, 0, 0, 0);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (const figure::FigureKey& row : info.keys) {
    QWidget* field = nullptr;
    if (!row.choices.empty()) {
      field = add_choice(form, row);
    } else {
      field = add_line(form, row);
    }
    field->setToolTip(QString::fromUtf8(row.about));
    field->setAccessibleName(QString::fromUtf8(row.key));
    field->setAccessibleDescription(QString::fromUtf8(row.about));
    field->setObjectName(QStringLiteral("figure-%1").arg(row.key));
  }
}

QComboBox* FigureFields::add_choice(QFormLayout* form, const figure::FigureKey& row) {
  auto* box = new QComboBox;
  const QString key = QString::fromUtf8(row.key), initial = QString::fromUtf8(row.initial);
  if (initial.isEmpty()) box->addItem(tr("automatic"), QString());
  for (const QString& word : words(row.choices, '|')) box->addItem(word, word);
  form->addRow(key, box);
  connect(box, &QComboBox::activated, this, [this, box, key, initial] {
    const QString chosen = box->currentData().toString();
    emit edited(key, chosen == initial ? QString() : chosen);
  });
  fields_.emplace_back(row.key, [box, initial](const QString& value) {
    const QString wanted = value.isEmpty() ? initial : value;
    const QSignalBlocker quiet(box);
    // An invalid value is shown as well, so that it can be changed.
    if (box->findData(wanted) < 0) box->addItem(wanted, wanted);
    box->setCurrentIndex(box->findData(wanted));
  });
  return box;
}

QLineEdit* FigureFields::add_line(QFormLayout* form, const figure::FigureKey& row) {
  auto* line = new QLineEdit;
  const QString key = QString::fromUtf8(row.key), initial = QString::fromUtf8(row.initial);
  line->setPlaceholderText(initial);
  connect(line, &QLineEdit::editingFinished, this,
          [this, line, key] { emit edited(key, line->text().trimmed()); });
  fields_.emplace_back(row.key, [line](const QString& value) {
    if (line->text() != value) line->setText(value);
  });
  if (!key.startsWith("similarit")) {
    form->addRow(key, line);
    return line;
  }
  auto* whole = new QWidget;
  auto* both = new QHBoxLayout(whole);
  both->setContentsMargins(0, 0, 0, 0);
  both->setSpacing(4);
  both->addWidget(line, 1);
  form->addRow(key, whole);
  add_operators(line, key, initial);
  return line;
}

/// Adds a menu of all operators next to the field, in which one or several can be chosen.
void FigureFields::add_operators(QLineEdit* line, const QString& key, const QString& initial) {
  auto* button = new QToolButton;
  button->setText(QStringLiteral("…"));
  button->setObjectName("figure-" + key + "-menu");
  button->setAccessibleName(tr("Choose operators"));
  button->setToolTip(tr("Choose among all operators"));
  auto* menu = new QMenu(button);
  set_menu(*button, menu);
  line->parentWidget()->layout()->addWidget(button);
  const bool several = key == "similarities";
  connect(menu, &QMenu::aboutToShow, this, [=, this] {
    menu->clear();
    QStringList chosen = (line->text().isEmpty() ? initial : line->text()).split(',');
    for (const QString& name : operator_names()) {
      QAction* action = menu->addAction(name);
      action->setCheckable(true);
      action->setChecked(chosen.contains(name));
      connect(action, &QAction::triggered, this, [=, this](bool on) {
        QStringList next = several ? chosen : QStringList();
        next.removeAll(name);
        if (on || !several) next << name;
        const QString text = next.join(',');
        emit edited(key, text == initial ? QString() : text);
      });
    }
  });
}

void FigureFields::show_values(const figure::Parameters& values) {
  for (const auto& [key, show] : fields_) {
    const auto found = values.find(key);
    show(found == values.end() ? QString() : QString::fromStdString(found->second));
  }
}

}  // namespace conelab::desktop
