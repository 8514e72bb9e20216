#include "widgets/forms/field_form.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QSignalBlocker>
#include <QStyle>
#include <algorithm>
#include <memory>

#include "core/base/names.h"
#include "core/bench/axes.h"
#include "core/call/call.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr std::size_t few = 8;  ///< Names that are shown as check boxes.

QString text_of(const std::string& text) { return QString::fromStdString(text); }

/// What a word means; empty where it says that itself.
QString help_of_word(const std::string& word) {
  static const std::map<std::string, const char*> help = {
      {"forward", "output and LSE"},
      {"backward", "the gradients of query, key and value"},
      {"forward+backward", "both as one run"},
      {"f64", "double precision"},
      {"f32", "single precision"},
      {"bf16", "bfloat16: the exponent of f32, 8 bits of precision"},
      {"f16", "half precision"},
      {"cpu", "this machine's processor"},
      {"cuda", "an NVIDIA GPU"}};
  if (const auto found = help.find(word); found != help.end()) return FieldForm::tr(found->second);
  for (const PartInfo& part : list_similarities()) {
    if (part.name == operator_of_label(word)) return text_of(description(part));
  }
  return {};
}

/// Returns the names after one of them was ticked or unticked, the last one behind the others.
std::string with_name(std::vector<std::string> names, const std::string& name, bool on) {
  std::erase(names, name);
  if (on) names.push_back(name);
  return join(names, ",");
}

}  // namespace

bool offers_names(const JobField& field) {
  return field.kind == FieldKind::list && !field.choices.empty();
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names = split_names(text);
  std::erase(names, "");
  return names;
}

FieldForm::FieldForm(const std::vector<JobField>& fields, QString object)
    : object_(std::move(object)), form_(laid_out<QFormLayout>(this)) {
  form_->setVerticalSpacing(4);
  form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (const JobField& field : fields) add(field);
}

void FieldForm::add(const JobField& field) {
  QWidget* edit = field.kind == FieldKind::flag ? flag(field)
                  : !offers_names(field) ? (field.choices.empty() ? line(field) : choice(field))
                  : field.choices.size() > few ? many_names(field)
                                               : few_names(field);
  QString title = text_of(field.name).replace('_', ' ').replace('-', ' ');
  named(edit, object_ + text_of(field.name), title, text_of(field.about));
  edit->setAccessibleDescription(edit->toolTip());
  auto* label = new QLabel(field.required ? QStringLiteral("<b>%1</b>").arg(title) : title);
  label->setToolTip(edit->toolTip());
  label->setBuddy(edit);
  form_->addRow(label, edit);
  fields_[field.name] = edit;
}

QWidget* FieldForm::flag(const JobField& field) {
  auto* box = new QCheckBox;
  const QString name = text_of(field.name);
  connect(box, &QCheckBox::clicked, this,
          [this, name](bool on) { emit edited(name, on ? "yes" : "", true); });
  shows_[field.name] = [box](const std::string* text) { box->setChecked(text && *text == "yes"); };
  return box;
}

QWidget* FieldForm::choice(const JobField& field) {
  auto* box = new QComboBox;
  const QString name = text_of(field.name), initial = text_of(field.initial);
  if (initial.isEmpty()) box->addItem(field.required ? tr("choose …") : tr("automatic"), QString());
  for (const std::string& word : field.choices) {
    add_entry(*box, text_of(word), help_of_word(word), text_of(word));
  }
  connect(box, &QComboBox::activated, this, [this, box, name, initial] {
    const QString chosen = box->currentData().toString();
    emit edited(name, chosen == initial ? QString() : chosen, true);
  });
  shows_[field.name] = [box, initial](const std::string* text) {
    const QString wanted = text && !text->empty() ? text_of(*text) : initial;
    const QSignalBlocker quiet(box);
    // An invalid value is shown as well, so that it can be changed.
    if (box->findData(wanted) < 0) box->addItem(wanted, wanted);
    box->setCurrentIndex(box->findData(wanted));
  };
  return box;
}

/// The names keep the order in which they are offered.
QWidget* FieldForm::few_names(const JobField& field) {
  const int columns = field.choices.size() < 4 ? 2 : 4;
  auto* row = new QWidget;
  row->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  auto* grid = laid_out<QGridLayout>(row, {0, 2, 0, 2});
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  grid->setColumnStretch(columns, 1);
  std::vector<QCheckBox*> boxes;
  for (const std::string& word : field.choices) {
    boxes.push_back(named(new QCheckBox(text_of(word)), object_ + text_of(field.name + "-" + word),
                          {}, help_of_word(word)));
    const int at = static_cast<int>(boxes.size()) - 1;
    // The last box of an incomplete row takes the rest of the row.
    const bool alone = at % columns == 0 && boxes.size() == field.choices.size();
    grid->addWidget(boxes.back(), at / columns, at % columns, 1, alone ? columns + 1 : 1);
  }
  for (const QCheckBox* box : boxes) {
    connect(box, &QCheckBox::clicked, this, [this, boxes, name = text_of(field.name)] {
      QStringList chosen;
      for (const QCheckBox* each : boxes) {
        if (each->isChecked()) chosen << each->text();
      }
      emit edited(name, chosen.join(','), true);
    });
  }
  shows_[field.name] = [boxes, initial = field.initial](const std::string* text) {
    const std::vector<std::string> chosen = names_in(text ? *text : initial);
    for (QCheckBox* box : boxes) box->setChecked(contains(chosen, box->text().toStdString()));
  };
  return row;
}

/// The names keep the order in which they were chosen. Others than those that are offered may be
/// among them, such as operators with parameters.
QWidget* FieldForm::many_names(const JobField& field) {
  auto* list = new QListWidget;
  list->setMinimumHeight(124);  // It takes the height that the other fields leave.
  list->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  list->setFrameShape(QFrame::StyledPanel);
  const auto offer = [list](const std::string& word) {
    auto* item = new QListWidgetItem(text_of(word), list);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setToolTip(help_of_word(word));
    item->setSizeHint(QSize(0, 21));
  };
  for (const std::string& word : field.choices) offer(word);
  const auto shown = std::make_shared<std::vector<std::string>>();
  connect(list, &QListWidget::itemChanged, this,
          [this, shown, name = text_of(field.name)](QListWidgetItem* item) {
            const bool on = item->checkState() == Qt::Checked;
            emit edited(name, text_of(with_name(*shown, item->text().toStdString(), on)), true);
          });
  shows_[field.name] = [list, offer, shown, initial = field.initial](const std::string* text) {
    const QSignalBlocker quiet(list);
    *shown = names_in(text ? *text : initial);
    for (const std::string& word : *shown) {
      if (list->findItems(text_of(word), Qt::MatchExactly).empty()) offer(word);
    }
    for (int i = 0; i < list->count(); ++i) {
      const bool on = contains(*shown, list->item(i)->text().toStdString());
      list->item(i)->setCheckState(on ? Qt::Checked : Qt::Unchecked);
    }
  };
  return list;
}

QWidget* FieldForm::line(const JobField& field) {
  auto* edit = new QLineEdit;
  const QString name = text_of(field.name);
  edit->setPlaceholderText(text_of(field.initial.empty() ? field.about : field.initial));
  connect(edit, &QLineEdit::textEdited, this,
          [this, name](const QString& text) { emit edited(name, text.trimmed(), false); });
  connect(edit, &QLineEdit::editingFinished, this,
          [this, name, edit] { emit edited(name, edit->text().trimmed(), true); });
  shows_[field.name] = [edit](const std::string* text) {
    const QString wanted = text ? text_of(*text) : QString();
    if (edit->text().trimmed() != wanted) edit->setText(wanted);
  };
  add_browsing(edit, field);
  if (name.startsWith("similarit")) add_operators(edit, field);
  return edit;
}

/// Files can be chosen in a dialog.
void FieldForm::add_browsing(QLineEdit* edit, const JobField& field) {
  const bool reads = field.kind == FieldKind::input || field.kind == FieldKind::inputs;
  if (!reads && field.kind != FieldKind::output) return;
  const QString name = text_of(field.name), title = tr("Choose %1").arg(name);
  auto* browse =
      edit->addAction(style()->standardIcon(QStyle::SP_DirOpenIcon), QLineEdit::TrailingPosition);
  browse->setText(title);
  connect(browse, &QAction::triggered, this, [this, reads, title, name, edit] {
    const QString before = edit->text().isEmpty() ? edit->placeholderText() : edit->text();
    const auto options =
        asks_to_overwrite ? QFileDialog::Options() : QFileDialog::DontConfirmOverwrite;
    const QString file =
        reads ? ask_for_file(this, title, tr("All files (*)"))
              : ask_where_to_write(this, title, before, tr("Results (*.h5)"), options);
    if (!file.isEmpty()) emit edited(name, file, true);
  });
}

/// One similarity, or several, can be chosen in a menu.
void FieldForm::add_operators(QLineEdit* edit, const JobField& field) {
  QAction* open = edit->addAction(style()->standardIcon(QStyle::SP_FileDialogListView),
                                  QLineEdit::TrailingPosition);
  open->setText(tr("Choose among all operators"));
  const bool several = field.name == "similarities" || field.initial.find(',') != std::string::npos;
  connect(open, &QAction::triggered, this, [this, edit, several, field] {
    auto* menu = new QMenu(edit);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const std::string now = edit->text().isEmpty() ? field.initial : edit->text().toStdString();
    for (const PartInfo& part : list_similarities()) {
      QAction* action = menu->addAction(text_of(part.name));
      action->setCheckable(true);
      action->setChecked(contains(names_in(now), part.name));
      connect(action, &QAction::triggered, this, [=, this, name = part.name](bool on) {
        const std::string text = several ? with_name(names_in(now), name, on) : name;
        emit edited(text_of(field.name), text == field.initial ? QString() : text_of(text), true);
      });
    }
    menu->popup(edit->mapToGlobal(QPoint(0, edit->height())));
  });
}

void FieldForm::show_texts(const FieldTexts& texts) {
  for (const auto& [name, show] : shows_) {
    const auto found = texts.find(name);
    show(found == texts.end() ? nullptr : &found->second);
  }
}

void FieldForm::show_errors(const FieldTexts& errors) {
  for (const auto& [name, edit] : fields_) {
    const auto found = errors.find(name);
    QLabel*& label = errors_[name];
    if (found != errors.end() && label == nullptr) {
      label = named(text_label(""), object_ + text_of(name) + "-error");
      int row = 0;
      form_->getWidgetPosition(edit, &row, nullptr);
      form_->insertRow(row + 1, QString(), label);
    }
    if (label == nullptr) continue;
    label->setVisible(found != errors.end());
    if (found != errors.end()) label->setText(text_of(found->second));
    set_ink(*label, error_ink(palette()));
  }
}

}  // namespace conelab::desktop
