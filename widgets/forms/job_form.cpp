#include "widgets/forms/job_form.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"
#include "core/study/job_worker.h"
#include "widgets/tables/text_table_model.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int frame_pause = 40;  ///< Milliseconds between looks at what a job has reached.

bool repeats(const JobField& field) {
  return field.kind == FieldKind::inputs || field.kind == FieldKind::texts;
}

/// Returns the texts between separators, without blanks around them.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (const QString& part : QString::fromStdString(text).split(separator, Qt::SkipEmptyParts)) {
    if (!part.trimmed().isEmpty()) parts.push_back(part.trimmed().toStdString());
  }
  return parts;
}

/// Returns the value of a field as it is typed in the form.
FieldValue value_of_typed(const JobField& field, const std::string& text) try {
  if (field.kind == FieldKind::flag) return text == "yes";
  if (field.kind == FieldKind::parameters) return parse_parameters(parts_of(text, ';'));
  if (repeats(field)) return parts_of(text, ';');
  return value_of_text(field, text);
} catch (const Error& error) {
  misuse("{}: {}", field.name, error.what());
}

}  // namespace

// ---- the model ----------------------------------------------------------------------------------

JobFormModel::JobFormModel(Document& document, JobPool& jobs, StudyBackend backend,
                           std::string only, FieldTexts first)
    : document_(document),
      jobs_(jobs),
      backend_(std::move(backend)),
      only_(std::move(only)),
      first_(std::move(first)) {
  connect(&document_, &Document::changed, this, &JobFormModel::changed);
}

std::vector<const JobKind*> JobFormModel::kinds() {
  std::vector<const JobKind*> kinds;
  for (const JobKind& kind : job_table()) {
    if (kind.name != "bench" && kind.name != "figure") kinds.push_back(&kind);
  }
  return kinds;
}

QJsonObject JobFormModel::stored() const {
  const QString view = QString::fromStdString(only_.empty() ? "jobs" : only_);
  return document_.session().views[view].toObject();
}

void JobFormModel::store(const QString& label, const QJsonObject& now, const QString& merge) {
  const QString view = QString::fromStdString(only_.empty() ? "jobs" : only_);
  document_.edit(
      label, [&](Session& s) { s.views[view] = now; }, merge);
}

const JobKind& JobFormModel::kind() const {
  if (!only_.empty()) return job_named(only_);
  const std::string name = stored()["kind"].toString().toStdString();
  for (const JobKind* kind : kinds()) {
    if (kind->name == name) return *kind;
  }
  return job_named("dataset");
}

void JobFormModel::choose_kind(const std::string& name) {
  QJsonObject now = stored();
  now["kind"] = QString::fromStdString(name);
  store(tr("choose a kind of job"), now);
}

FieldTexts JobFormModel::typed() const {
  FieldTexts texts;
  const QJsonObject now = stored();
  const QString of = QString::fromStdString(kind().name);
  if (!now.contains(of)) return first_;
  for (const JobField& field : typed_fields(kind())) {
    const QString text = now[of].toObject()[QString::fromStdString(field.name)].toString();
    if (!text.isEmpty()) texts[field.name] = text.toStdString();
  }
  return texts;
}

void JobFormModel::type(const std::string& field, const std::string& text, bool done) {
  const QString of = QString::fromStdString(kind().name), name = QString::fromStdString(field);
  QJsonObject now = stored(), fields;
  for (const auto& [each, its] : typed()) {
    fields[QString::fromStdString(each)] = QString::fromStdString(its);
  }
  text.empty() ? fields.remove(name) : void(fields[name] = QString::fromStdString(text));
  now[of] = fields;
  store(tr("change %1 of %2").arg(name, of), now, "job " + of + name);
  if (done) document_.close_step();
}

JobSpec JobFormModel::spec() const {
  FieldValues values;
  const FieldTexts texts = typed();
  for (const JobField& field : typed_fields(kind())) {
    const auto found = texts.find(field.name);
    if (found != texts.end()) values[field.name] = value_of_typed(field, found->second);
  }
  const JobField* output = find_field(kind(), FieldKind::output);
  if (output != nullptr && values.contains(output->name)) {  // In the folder of results.
    auto& path = std::get<std::string>(values[output->name]);
    path = (std::filesystem::path(backend_.results) / path).string();
  }
  return spec_of_typed(kind(), std::move(values));
}

std::string JobFormModel::problem() const try {
  for (const JobField& field : typed_fields(kind())) {
    if (field.required && !typed().contains(field.name)) return field.name + " is needed";
  }
  check_spec(spec());
  return {};
} catch (const Error& error) {
  return error.what();
}

std::vector<std::string> JobFormModel::keys() const try {
  return kind().keys == nullptr ? std::vector<std::string>() : kind().keys(spec());
} catch (const Error&) {
  return {};
}

std::string JobFormModel::command() const { return shell_line(command_words(spec())); }

void JobFormModel::run(bool resumes) {
  if (!problem().empty()) return;
  JobSpec spec = this->spec();
  if (resumes) spec.values["resume"] = true;
  const JobField* output = find_field(kind(), FieldKind::output);
  const std::string path = output == nullptr ? "" : spec.text(output->name);
  Run& run =
      runs_.emplace_front(Run{kind().name + " " + std::filesystem::path(path).stem().string(), path,
                              std::make_unique<LongRun<Run::State>>(
                                  jobs_, [this] { emit progressed(); }, frame_pause)});
  run.run->start(run.title, [spec, backend = backend_, allowed = run.allowed](
                                const PoolContext& job, const auto& change) {
    conelab::JobContext context = backend.context;
    context.cancelled = job.cancel_check();
    context.progress = [&](const char* stage, double fraction) {
      job.progress(fraction);
      change([&](Run::State& s) { s.stage = stage, s.fraction = fraction; });
    };
    context.allowed = [allowed] { return allowed->load(); };
    context.live = [&](const Json& now) {
      const auto shared = std::make_shared<const Json>(now);
      change([&](Run::State& s) { s.live[now.at("group").get<std::string>()] = shared; });
    };
    context.remark = [&](const std::string& text) {
      change([&](Run::State& s) { s.remarks.push_back(text); });
    };
    const std::string folder = std::filesystem::current_path().string();
    const JobReport report = backend.worker.empty()
                                 ? run_job(spec, context)
                                 : run_in_worker(backend.worker, folder, spec, context);
    change([&](Run::State& s) { s.files = report.files; });
  });
  emit changed();
}

bool JobFormModel::running() const {
  return std::ranges::any_of(runs_, [](const Run& run) { return run.run->running(); });
}

TextTable JobFormModel::table() const {
  TextTable table{{"job", "state", "output", "remark"}, {}};
  for (const Run& run : runs_) {
    const Run::State& state = run.run->state();
    const RunEnd end = run.run->end();
    const std::string now = end == RunEnd::finished  ? "done"
                            : end == RunEnd::stopped ? "cancelled"
                            : end == RunEnd::failed
                                ? "failed"
                                : fmt::format("{}{} {:.0f} %", *run.allowed >= 0 ? "paused, " : "",
                                              state.stage, 100 * state.fraction);
    const std::string remark = state.remarks.empty() ? std::string() : state.remarks.back();
    table.rows.push_back(
        {run.title, now, run.output, end == RunEnd::failed ? run.run->error() : remark});
  }
  return table;
}

void JobFormModel::cancel(std::size_t run) {
  if (run < runs_.size()) runs_[run].run->stop();
}

void JobFormModel::pause(bool pauses) {
  if (!runs_.empty()) *runs_.front().allowed = pauses ? 0 : -1;
  emit progressed();
}

void JobFormModel::step() {
  if (paused()) ++*runs_.front().allowed;
}

bool JobFormModel::paused() const { return !runs_.empty() && *runs_.front().allowed >= 0; }

std::string JobFormModel::result_of(std::size_t run) const {
  if (run >= runs_.size() || runs_[run].run->state().files.empty()) return {};
  return runs_[run].run->state().files.front();
}

// ---- the view -----------------------------------------------------------------------------------

JobFormView::JobFormView(Document& document, JobPool& jobs, StudyBackend backend, std::string only,
                         FieldTexts first)
    : model_(document, jobs, std::move(backend), only, std::move(first)) {
  line_ = laid_out<QHBoxLayout>(this, {10, 6, 10, 8}, 12);
  auto* side = new QWidget;
  side->setMinimumWidth(300);
  auto* column = laid_out<QVBoxLayout>(side);
  kind_ = named(new QComboBox, "job-kind", tr("Kind of job"));
  for (const JobKind* kind : JobFormModel::kinds()) {
    add_entry(*kind_, QString::fromStdString(kind->name), QString::fromStdString(kind->about));
  }
  column->addWidget(kind_);
  kind_->setVisible(only.empty());
  about_ = text_label("job-about");
  column->addWidget(about_);
  auto* content = new QWidget;
  place_ = laid_out<QVBoxLayout>(content, {0, 0, 6, 0});
  column->addWidget(scrolled(content, tr("Form of the job")), 1);
  message_ = text_label("job-message", tr("What the form has to say"));
  column->addWidget(message_);
  auto* buttons = new QHBoxLayout;
  run_ = add_button<QPushButton>(buttons, tr("Run"), "job-run",
                                 tr("Runs the job in a process of its own"), this,
                                 [this] { model_.run(); });
  add_button(buttons, QStringLiteral("$_"), "job-command",
             tr("Copy as command: the same job from a terminal"), this,
             [this] {
               if (model_.problem().empty()) {
                 emit command_wanted(QString::fromStdString(model_.command()));
               }
             })
      ->setAccessibleName(tr("Copy the job as command"));
  buttons->addStretch(1);
  column->addLayout(buttons);
  line_->addWidget(side, 1);
  runs_ = new QVBoxLayout;
  runs_->addWidget(new QLabel(tr("Jobs of this window")));
  table_ = named(new TextTableView, "job-runs", tr("The jobs that were started"),
                 tr("Double click, or Enter: open the result"));
  runs_->addWidget(table_, 1);
  cancel_ =
      add_button<QPushButton>(runs_, tr("Cancel the selected job"), "job-cancel", {}, this, [this] {
        const int row = table_->currentIndex().row();
        model_.cancel(static_cast<std::size_t>(std::max(0, row)));
      });
  line_->addLayout(runs_, 1);
  connect(kind_, &QComboBox::textActivated, this,
          [this](const QString& name) { model_.choose_kind(name.toStdString()); });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& cell) {
    const std::string file = model_.result_of(static_cast<std::size_t>(cell.row()));
    if (!file.empty()) emit file_wanted(QString::fromStdString(file));
  });
  connect(&model_, &JobFormModel::changed, this, &JobFormView::show_model);
  connect(&model_, &JobFormModel::progressed, this, &JobFormView::show_progress);
  setFocusProxy(kind_);
  follow_palette(this, [this] {
    shown_.reset();
    show_model();
  });
}

bool JobFormView::can_run() const { return run_->isEnabled(); }

/// The fields that are needed come first, then the others in the order of the row.
void JobFormView::build_form() {
  const JobKind& kind = model_.kind();
  if (built_for_ == kind.name) return;
  built_for_ = kind.name;
  delete form_;
  std::vector<JobField> all = typed_fields(kind);
  std::ranges::stable_partition(all, [](const JobField& field) { return field.required; });
  form_ = new FieldForm(all, "job-field-");
  connect(form_, &FieldForm::edited, this,
          [this](const QString& field, const QString& text, bool done) {
            model_.type(field.toStdString(), text.toStdString(), done);
          });
  place_->insertWidget(0, form_);
  if (place_->count() == 1) place_->addStretch(1);
  if (kind_->isHidden()) setFocusProxy(form_->findChild<QLineEdit*>());
}

/// Names the keys that the parameters may have now.
void JobFormView::show_keys() {
  auto* edit = form_->findChild<QLineEdit*>("job-field-parameters");
  if (edit == nullptr) return;
  const std::string keys = join(model_.keys());
  edit->setPlaceholderText(keys.empty() ? tr("KEY=VALUE; KEY=VALUE")
                                        : tr("of %1").arg(QString::fromStdString(keys)));
  edit->setToolTip(edit->accessibleDescription() + "\n" + edit->placeholderText());
}

void JobFormView::show_model() {
  // The session changes often in other respects, and a check may look into a file.
  const std::pair now(model_.kind().name, model_.typed());
  if (shown_ == now) return show_progress();
  shown_ = now;
  build_form();
  kind_->setCurrentText(QString::fromStdString(model_.kind().name));
  about_->setText(QString::fromStdString(model_.kind().about));
  form_->show_texts(now.second);
  show_keys();
  const std::string problem = model_.problem();
  set_ink(*message_,
          now.second.empty() ? palette().color(QPalette::WindowText) : error_ink(palette()));
  message_->setText(QString::fromStdString(problem));
  run_->setEnabled(problem.empty());
  show_progress();
}

/// In a narrow view the jobs stand below the form.
void JobFormView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  constexpr int roomy = 640;
  line_->setDirection(width() < roomy ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void JobFormView::show_progress() {
  table_->show_table(model_.table());
  cancel_->setEnabled(model_.running());
}

}  // namespace conelab::desktop
