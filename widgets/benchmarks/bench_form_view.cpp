#include "widgets/benchmarks/bench_form_view.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>

#include "widgets/forms/field_form.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

QString text_of(const std::string& text) { return QString::fromStdString(text); }

}  // namespace

BenchFormView::BenchFormView(BenchModel& model) : model_(model) {
  auto* column = laid_out<QVBoxLayout>(this, {10, 6, 6, 8}, 6);
  auto* content = new QWidget;
  auto* page = laid_out<QVBoxLayout>(content, {0, 0, 6, 0});
  form_ = new FieldForm(sweep_fields(model_.backend().operators), "bench-");
  form_->asks_to_overwrite = false;  // What exists already is never overwritten.
  page->addWidget(form_, 1);
  device_note_ = text_label("bench-device-note");
  page->addWidget(device_note_);
  column->addWidget(scrolled(content, tr("Form of the sweep")), 1);
  build_actions(column);
  connect(form_, &FieldForm::edited, this,
          [this](const QString& field, const QString& text, bool done) {
            model_.type(field.toStdString(), text.toStdString(), done);
          });
  connect(&model_, &BenchModel::changed, this, &BenchFormView::show_model);
  connect(&model_, &BenchModel::progressed, this, &BenchFormView::show_progress);
  follow_palette(this, [this] { show_model(); });
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
  form_->show_texts(model_.choice().fields);
  form_->show_errors(model_.check().errors);
  form_->findChild<QLineEdit*>("bench-output")->setPlaceholderText(text_of(model_.output()));
  show_devices();
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

}  // namespace conelab::desktop
