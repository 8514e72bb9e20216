#include "widgets/benchmarks/bench_form_view.h"

#include <QAction>
#include <QBoxLayout>
#include <QCheckBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStyle>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/call/call.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

QString text_of(const std::string& text) { return QString::fromStdString(text); }

/// What a label means; empty where it says that itself.
QString help_of_label(const std::string& label) {
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
  const auto found = help.find(label);
  return found == help.end() ? QString() : BenchFormView::tr(found->second);
}

QString help_of(const std::string& operation) {
  for (const PartInfo& part : list_similarities()) {
    if (part.name == operation) return text_of(description(part));
  }
  return {};
}

}  // namespace

BenchFormView::BenchFormView(BenchModel& model) : model_(model) {
  auto* column = laid_out<QVBoxLayout>(this, {10, 6, 6, 8}, 6);
  auto* content = new QWidget;
  auto* form = laid_out<QFormLayout>(nullptr, {0, 0, 6, 0});
  laid_out<QVBoxLayout>(content)->addLayout(form, 1);
  form->setVerticalSpacing(4);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  build_fields(form);
  column->addWidget(scrolled(content, tr("Form of the sweep")), 1);
  build_actions(column);
  connect(&model_, &BenchModel::changed, this, &BenchFormView::show_model);
  connect(&model_, &BenchModel::progressed, this, &BenchFormView::show_progress);
  follow_palette(this, [this] { show_model(); });
}

void BenchFormView::build_fields(QFormLayout* form) {
  for (const Axis& axis : axes()) {
    const std::string option = axis.option, title = axis.title;
    std::string words = option;
    std::ranges::replace(words, '-', ' ');
    if (axis.numeric) {
      add_text(form, axis.option, text_of(words == title ? title : option + " " + title),
               tr("%1: a number, a list or a range (256..4096:x2)").arg(tr(axis.about)),
               [&axis](BenchChoice& c) -> std::string& { return c.numbers(axis.name); });
    } else if (index_of(axis) == 0) {
      add_operators(form, axis);
    } else {
      add_names(form, axis);
    }
    if (option == "devices") {
      device_note_ = text_label("bench-device-note");
      form->addRow(QString(), device_note_);
    }
  }
  const auto member = [](std::string BenchChoice::*text) {
    return [text](BenchChoice& c) -> std::string& { return c.*text; };
  };
  for (const BenchField& field : bench_fields) {
    add_text(form, field.name, tr(field.title), tr(field.help), member(field.text));
  }
  cold_ = named(new QCheckBox(tr("also with cold caches")), "bench-cold", {},
                tr("Times one more run a round with flushed caches"));
  form->addRow(QString(), cold_);
  connect(cold_, &QCheckBox::clicked, this, [this](bool on) {
    model_.document().edit(tr("change cold caches"), [&](Session& s) { s.bench.cold = on; });
  });
  output_ = add_text(form, "output", tr("result file"),
                     tr("The HDF5 file to write; what exists there already is never overwritten"),
                     member(&BenchChoice::output));
  QAction* choose = output_->addAction(style()->standardIcon(QStyle::SP_DirOpenIcon),
                                       QLineEdit::TrailingPosition);
  choose->setToolTip(tr("Choose the result file"));
  connect(choose, &QAction::triggered, this, &BenchFormView::choose_output);
}

void BenchFormView::add_error(QFormLayout* form, const char* field) {
  QLabel* label = text_label("");
  label->setObjectName(QStringLiteral("bench-%1-error").arg(field));
  label->hide();
  form->addRow(QString(), label);
  errors_[field] = label;
}

void BenchFormView::add_operators(QFormLayout* form, const Axis& axis) {
  operators_ = named(new QListWidget, "bench-operators", tr("Operators of the sweep"),
                     tr("Each with its own map and every parameter at its default"));
  operators_->setMinimumHeight(124);  // It takes the height that the other fields leave.
  operators_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  operators_->setFrameShape(QFrame::StyledPanel);
  for (const std::string& name : model_.backend().operators) add_operator(name);
  auto* label = new QLabel(tr("operators"));
  label->setBuddy(operators_);
  form->addRow(label, operators_);
  add_error(form, axis.option);
  connect(operators_, &QListWidget::itemChanged, this, [this, &axis](QListWidgetItem* item) {
    toggle(axis, item->text().toStdString(), item->checkState() == Qt::Checked,
           model_.backend().operators);
  });
}

void BenchFormView::add_operator(const std::string& label) {
  auto* item = new QListWidgetItem(text_of(label), operators_);
  item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
  item->setToolTip(help_of(operator_of_label(label)));
  item->setSizeHint(QSize(0, 21));
}

void BenchFormView::add_names(QFormLayout* form, const Axis& axis) {
  const Labels names = choices_of(axis);
  const int columns = names.size() < 4 ? 2 : 4;
  auto* row = new QWidget;
  row->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  auto* line = laid_out<QGridLayout>(row, {0, 2, 0, 2});
  line->setHorizontalSpacing(8);
  line->setVerticalSpacing(2);
  line->setColumnStretch(columns, 1);
  NameBoxes all{&axis, {}};
  for (const std::string& name : names) {
    auto* box = named(new QCheckBox(text_of(name)),
                      QStringLiteral("bench-%1-%2").arg(axis.option, text_of(name)), {},
                      help_of_label(name));
    const int at = static_cast<int>(all.boxes.size());
    // The last box of an incomplete row takes the rest of the row.
    const bool alone = at % columns == 0 && at + 1 == static_cast<int>(names.size());
    line->addWidget(box, at / columns, at % columns, 1, alone ? columns + 1 : 1);
    all.boxes.emplace_back(name, box);
    connect(box, &QCheckBox::clicked, this,
            [this, &axis, name, names](bool on) { toggle(axis, name, on, names); });
  }
  names_.push_back(std::move(all));
  auto* label = new QLabel(tr(axis.option));
  label->setToolTip(tr(axis.about));
  form->addRow(label, row);
  add_error(form, axis.option);
}

QLineEdit* BenchFormView::add_text(QFormLayout* form, const char* field, const QString& label,
                                   const QString& help, const Text& member) {
  auto* edit = named(new QLineEdit, QStringLiteral("bench-%1").arg(field), label, help);
  auto* title = new QLabel(label);
  title->setToolTip(help);
  title->setBuddy(edit);
  form->addRow(title, edit);
  add_error(form, field);
  texts_.emplace_back(member, edit);
  const QString merge = edit->objectName();
  connect(edit, &QLineEdit::textEdited, this, [this, member, label, merge](const QString& text) {
    model_.document().edit(
        tr("change %1 of the sweep").arg(label),
        [&](Session& s) { member(s.bench) = text.trimmed().toStdString(); }, merge);
  });
  connect(edit, &QLineEdit::editingFinished, this, [this] { model_.document().close_step(); });
  return edit;
}

/// Names keep the order in which they are offered. Operators keep the order in which they were
/// chosen, because ratios are relative to the first one.
void BenchFormView::toggle(const Axis& axis, const std::string& name, bool on,
                           const std::vector<std::string>& order) {
  model_.document().edit(tr("change the sweep"), [&](Session& s) {
    Labels& chosen = s.bench.names(axis.name);
    std::erase(chosen, name);
    if (on) chosen.push_back(name);
    if (index_of(axis) == 0) return;
    std::ranges::sort(chosen, [&](const auto& a, const auto& b) {
      return std::ranges::find(order, a) < std::ranges::find(order, b);
    });
  });
}

void BenchFormView::build_actions(QVBoxLayout* column) {
  extent_ = text_label<SteadyLabel>("bench-extent");
  extent_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  extent_->reserve_space_for(
      tr("1000 of 1000 samples, 59 min: penumbral-finite, forward+backward, n = 131072"));
  column->addWidget(extent_);
  auto* line = new QHBoxLayout;
  run_ = add_button<QPushButton>(line, tr("Run"), "bench-run",
                                 tr("Measures the sweep in processes of its own"), &model_,
                                 &BenchModel::run);
  resume_ = add_button<QPushButton>(line, tr("Resume"), "bench-resume",
                                    tr("Goes on with the unfinished run beside the result file"),
                                    &model_, &BenchModel::resume);
  cancel_ =
      add_button<QPushButton>(line, tr("Cancel"), "bench-cancel",
                              tr("Stops; finished samples are kept"), &model_, &BenchModel::cancel);
  auto* command = add_button(line, QStringLiteral("$_"), "bench-command",
                             tr("Copy as command: the same sweep from a terminal"), this,
                             [this] { emit command_wanted(text_of(model_.command())); });
  command->setAccessibleName(tr("Copy the sweep as command"));
  progress_ = named(new QProgressBar, "bench-progress", tr("Progress of the sweep"));
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  QSizePolicy kept = progress_->sizePolicy();
  kept.setRetainSizeWhenHidden(true);  // Nothing moves when a run begins.
  progress_->setSizePolicy(kept);
  column->addWidget(progress_);
  column->addLayout(line);  // Last, so that no text above it moves the buttons.
}

void BenchFormView::show_operators() {
  const QSignalBlocker quiet(operators_);
  const Labels& chosen = model_.choice().labels.front();
  for (const std::string& label : chosen) {  // A result may have operators with parameters.
    if (operators_->findItems(text_of(label), Qt::MatchExactly).empty()) add_operator(label);
  }
  for (int i = 0; i < operators_->count(); ++i) {
    QListWidgetItem* item = operators_->item(i);
    const bool on = std::ranges::find(chosen, item->text().toStdString()) != chosen.end();
    item->setCheckState(on ? Qt::Checked : Qt::Unchecked);
  }
}

void BenchFormView::show_devices() {
  QString note;
  for (const DeviceState& device : model_.devices()) {
    auto* box = findChild<QCheckBox*>(QStringLiteral("bench-devices-%1").arg(text_of(device.name)));
    if (box == nullptr) continue;
    box->setToolTip(text_of(device.about));
    // A name that was chosen elsewhere can still be removed.
    box->setEnabled(device.available || box->isChecked());
    note = text_of(device.name + ": " + device.about);
  }
  device_note_->setText(note);
  device_note_->setVisible(!note.isEmpty());
}

void BenchFormView::show_model() {
  BenchChoice choice = model_.choice();
  show_operators();
  for (const NameBoxes& all : names_) {
    const Labels& chosen = choice.labels[index_of(*all.axis)];
    for (const auto& [name, box] : all.boxes) {
      box->setChecked(std::ranges::find(chosen, name) != chosen.end());
    }
  }
  show_devices();
  for (const auto& [member, edit] : texts_) {
    const QString text = text_of(member(choice));
    if (edit->text().trimmed() != text) edit->setText(text);
  }
  output_->setPlaceholderText(text_of(model_.output()));
  cold_->setChecked(choice.cold);
  for (const auto& [field, label] : errors_) {
    const auto found = model_.check().errors.find(field);
    const bool wrong = found != model_.check().errors.end();
    label->setVisible(wrong);
    if (wrong) label->setText(text_of(found->second));
    set_ink(*label, error_ink(palette()));
  }
  show_progress();
}

void BenchFormView::show_progress() {
  run_->setEnabled(model_.can_run());
  resume_->setEnabled(model_.can_resume());
  cancel_->setEnabled(model_.running());
  const BenchProgress& progress = model_.progress();
  progress_->setVisible(model_.running());
  progress_->setValue(static_cast<int>(1000 * progress.share));
  extent_->show_text(text_of(model_.running() ? model_.progress_text() : model_.check().extent));
}

void BenchFormView::choose_output() {
  const QString file = ask_where_to_write(this, tr("Result file"), text_of(model_.output()),
                                          tr("Results (*.h5)"), QFileDialog::DontConfirmOverwrite);
  if (file.isEmpty()) return;
  model_.document().edit(tr("choose the result file"),
                         [&](Session& s) { s.bench.output = file.toStdString(); });
}

}  // namespace conelab::desktop
