#include "widgets/benchmarks/benchmarks_view.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMouseEvent>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/bench/axes.h"
#include "core/drawing/style.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/forms/field_form.h"
#include "widgets/painter/painter.h"
#include "widgets/tables/text_table_model.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

struct Page {
  const char *title, *help;
};
/// Titles of `bench_pages`, in the same order.
constexpr Page pages[] = {
    {QT_TRANSLATE_NOOP("Bench", "Time"), "Median time over length, with intervals"},
    {QT_TRANSLATE_NOOP("Bench", "Ratio"), "Time over that of the first operator, round by round"},
    {QT_TRANSLATE_NOOP("Bench", "Roofline"),
     "Attained against attainable performance, longest sequence of each operator"},
    {QT_TRANSLATE_NOOP("Bench", "Table"), "The numbers behind the curves"},
    {QT_TRANSLATE_NOOP("Bench", "Exponents"),
     "Fitted exponents of time over length, and those of each octave"},
    {QT_TRANSLATE_NOOP("Bench", "Comparison"), "Verdicts against an older result"},
};
static_assert(std::size(pages) == std::size(bench_pages));

/// Returns the marker of the i-th series in its colour, or a grey dash for a hidden series.
QIcon marker_icon(int series, double ratio, const QPalette& palette) {
  QPixmap pixmap(QSize(14, 14) * ratio);
  pixmap.setDevicePixelRatio(ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  if (series < 0) {
    painter.setPen(QPen(quiet_ink(palette), 1.5));
    painter.drawLine(QPointF(3, 7), QPointF(11, 7));
    return pixmap;
  }
  const auto number = static_cast<std::size_t>(series);
  figure::DisplayList list;
  list.width = list.height = 14;
  figure::draw_marker(list, {7, 7}, number, 9, figure::series_colour(number));
  figure::paint(list, painter);
  return pixmap;
}

}  // namespace

BenchmarksView::BenchmarksView(Document& document, JobPool& jobs, BenchBackend backend)
    : model_(document, jobs, std::move(backend)) {
  auto* whole = laid_out<QVBoxLayout>(this);
  auto* split = new QSplitter(Qt::Horizontal);
  split->setChildrenCollapsible(true);
  whole->addWidget(split);
  auto* form = new BenchFormView(model_);
  connect(form, &BenchFormView::command_wanted, this, &BenchmarksView::command_wanted);
  form->setMinimumWidth(356);  // Its names have space beside the scroll bar.
  split->addWidget(form);
  auto* results = new QWidget;
  auto* column = laid_out<QVBoxLayout>(results, {}, 2);
  split->addWidget(results);
  split->setStretchFactor(1, 1);
  split->setSizes({356, 700});
  build_pages();
  column->addWidget(pages_);
  auto* tools = laid_out<QHBoxLayout>(nullptr, {10, 2, 10, 0});
  build_tools(tools);
  column->addLayout(tools);
  build_legend();
  const QMargins beside(12, 2, 12, 2);
  column->addLayout(inset(legend_, {10, 0, 10, 0}));
  about_ = text_label("bench-about", tr("About the table"));
  column->addLayout(inset(about_, beside));
  stack_ = new QStackedWidget;
  canvas_ = new BenchCanvas(model_);
  stack_->addWidget(canvas_);
  table_ = named(new TextTableView, "bench-table", tr("The benchmark as numbers"));
  stack_->addWidget(table_);
  column->addWidget(stack_, 1);
  readout_ = text_label<SteadyLabel>("bench-readout", tr("Numbers of the case that is pointed at"));
  column->addLayout(inset(readout_, beside));
  message_ = text_label("bench-message", tr("What the view has to say"));
  column->addLayout(inset(message_, {12, 2, 12, 8}));
  readout_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  connect(canvas_, &BenchCanvas::pointed, this, [this](const QString& text) {
    readout_->reserve_space_for(canvas_->longest_text());
    readout_->show_text(text);
  });
  connect(&model_, &BenchModel::changed, this, &BenchmarksView::show_model);
  follow_palette(this, [this] { show_model(); });
}

QString BenchmarksView::readout() const { return readout_->text(); }

void BenchmarksView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  model_.find_devices();
}

void BenchmarksView::build_pages() {
  pages_ = named(new QTabBar, "bench-pages", tr("What is shown"));
  pages_->setDrawBase(false);
  pages_->setUsesScrollButtons(true);
  pages_->setExpanding(false);
  pages_->setStyleSheet("QTabBar::tab { padding: 6px 7px; }");  // Six tabs fit next to the form.
  for (const Page& page : pages) {
    pages_->setTabToolTip(pages_->addTab(tr(page.title)), tr(page.help));
  }
  connect(pages_, &QTabBar::currentChanged, this, [this](int index) {
    model_.document().edit(tr("show another page"),
                           [&](Session& s) { s.bench.page = bench_pages[index]; });
  });
}

void BenchmarksView::build_tools(QHBoxLayout* line) {
  for (const Axis& axis : fixed_axes()) {
    const char* label = axis.name;
    auto* box = named(new QComboBox, QStringLiteral("bench-place-%1").arg(label), tr(label),
                      tr("Which %1 is drawn").arg(tr(label)));
    box->hide();
    line->addWidget(box);
    places_[label] = box;
    connect(box, &QComboBox::textActivated, this, [this, label](const QString&) {
      const QString value = places_[label]->currentData().toString();
      model_.document().edit(tr("choose what is drawn"),
                             [&](Session& s) { s.bench.place[label] = value.toStdString(); });
    });
  }
  line->addStretch(1);
  add_button(line, tr("Open …"), "bench-open", tr("Show a result of an earlier run"), this,
             [this] { ask(tr("Open a result"), &BenchModel::open); });
  add_button(line, tr("Compare …"), "bench-compare",
             tr("Verdicts, case by case, against an older result"), this,
             [this] { ask(tr("Compare with an older result"), &BenchModel::compare_with); });
  export_ =
      add_button(line, tr("Export …"), "bench-export",
                 tr("A picture in the view of figures: size, SVG, PDF, PNG, its command; or a "
                    "table as CSV or TSV"),
                 this, &BenchmarksView::export_page);
}

void BenchmarksView::export_page() {
  if (shows_table()) return table_->export_table();
  emit figure_wanted(model_.figure(canvas_->page_width()));
}

/// Returns whether the page is a table. The first pages are pictures.
bool BenchmarksView::shows_table() const { return pages_->currentIndex() >= 3; }

void BenchmarksView::build_legend() {
  legend_ = named(new QListWidget, "bench-legend", tr("Operators drawn"),
                  tr("Markers and colours of the curves; untick to leave one out"));
  legend_->setFlow(QListView::LeftToRight);
  legend_->setWrapping(true);
  legend_->setResizeMode(QListView::Adjust);
  legend_->setSpacing(2);
  legend_->setFrameShape(QFrame::NoFrame);
  legend_->viewport()->setAutoFillBackground(false);
  legend_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  connect(legend_, &QListWidget::itemChanged, this, [this](QListWidgetItem* item) {
    const std::string name = item->data(Qt::UserRole).toString().toStdString();
    const bool on = item->checkState() == Qt::Checked;
    model_.document().edit(tr("choose operators to draw"), [&](Session& s) {
      std::erase(s.bench.hidden, name);
      if (!on) s.bench.hidden.push_back(name);
    });
  });
}

void BenchmarksView::show_model() {
  const std::string& page = model_.choice().page;
  {
    const QSignalBlocker quiet(pages_);
    for (int i = 0; i < pages_->count(); ++i) {
      if (page == bench_pages[i]) pages_->setCurrentIndex(i);
    }
  }
  const bool table = shows_table();
  stack_->setCurrentIndex(table ? 1 : 0);
  about_->setVisible(page == "comparison");
  about_->setText(QString::fromStdString(model_.comparison_text()));
  if (table) table_->show_table(model_.table(), model_.table(true));
  readout_->setVisible(!table);
  if (readout_->text().isEmpty()) {
    readout_->show_text(
        tr("Point at a case for its exact numbers; arrow keys go from case to case."));
  }
  const bool has_rows = table_->model()->rowCount() > 0;
  export_->setEnabled(table ? has_rows : model_.data() != nullptr && !model_.live());
  show_choices();
  show_legend();
  show_message();
}

/// Shows a choice for each label that has several values.
void BenchmarksView::show_choices() {
  const auto& data = model_.data();
  const bool table = shows_table();
  for (const auto& [label, box] : places_) {
    std::vector<std::string> values;
    if (data && !table) values = label_values(data->cases, label);
    box->setVisible(values.size() > 1);
    const QSignalBlocker quiet(box);
    box->clear();
    const bool number = axis_named(label).numeric;
    for (const std::string& value : values) {
      const QString text = QString::fromStdString(value);
      box->addItem(number ? tr("%1 = %2").arg(QString::fromStdString(label), text) : text, text);
    }
    const auto chosen = model_.choice().place.find(label);
    if (chosen == model_.choice().place.end()) continue;
    const int at = box->findData(QString::fromStdString(chosen->second));
    if (at >= 0) box->setCurrentIndex(at);
  }
}

void BenchmarksView::show_legend() {
  const QSignalBlocker quiet(legend_);
  const auto& data = model_.data();
  std::vector<std::string> names;
  if (data && !shows_table()) names = label_values(data->cases, "operator");
  const std::vector<std::string> drawn = model_.visible();
  legend_->clear();
  for (const std::string& name : names) {
    const auto place = std::ranges::find(drawn, name);
    const int series = place == drawn.end() ? -1 : static_cast<int>(place - drawn.begin());
    auto* item = new QListWidgetItem(marker_icon(series, devicePixelRatioF(), palette()),
                                     QString::fromStdString(name), legend_);
    item->setData(Qt::UserRole, QString::fromStdString(name));
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(series < 0 ? Qt::Unchecked : Qt::Checked);
  }
  legend_->setVisible(!names.empty());
  fit_legend();
}

/// The legend is as high as its rows, at most three of them.
void BenchmarksView::fit_legend() {
  if (legend_->count() == 0) return;
  legend_->doItemsLayout();
  const QRect last = legend_->visualItemRect(legend_->item(legend_->count() - 1));
  const int row = last.height() + 2 * legend_->spacing();
  const int bottom = last.bottom() + legend_->verticalScrollBar()->value() + legend_->spacing() + 1;
  legend_->setFixedHeight(std::clamp(bottom, row, 3 * row));
}

void BenchmarksView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_legend();
}

void BenchmarksView::show_message() {
  QString text = QString::fromStdString(model_.message());
  for (const std::string& warning : model_.warnings()) {
    text += "\n" + QString::fromStdString(warning);
  }
  if (model_.data()) {
    for (const std::string& note : model_.data()->notes) {
      text += "\n" + QString::fromStdString(note);
    }
  }
  if (model_.comparison()) {  // Its notes on the compared file; those on the shown one stand above.
    for (const std::string& note : model_.comparison()->notes) {
      const bool shown = note.starts_with(model_.document().session().bench.shown + ": ");
      if (!shown) text += "\n" + QString::fromStdString(note);
    }
  }
  message_->setText(text);
  set_ink(*message_, model_.failed() ? error_ink(palette()) : quiet_ink(palette()));
}

void BenchmarksView::ask(const QString& title, void (BenchModel::*take)(const std::string&)) {
  const QString file = ask_for_file(this, title, tr("Results of bench (*.h5);;All files (*)"));
  if (!file.isEmpty()) (model_.*take)(file.toStdString());
}

namespace {

constexpr double margin = 14;
/// Pixels per point at which the 7 pt text of figures is legible.
constexpr double wanted_scale = 1.75;
/// The largest distance of the pointer from a case, in pixels.
constexpr double reach = 14;

}  // namespace

BenchCanvas::BenchCanvas(BenchModel& model) : model_(model) {
  setObjectName("bench-canvas");
  setAccessibleName(tr("Curves of the benchmark"));
  setProperty("takes-pages", true);  // See view_keys.cpp.
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(240, 180);
  connect(&model_, &BenchModel::changed, this, &BenchCanvas::redraw);
  redraw();
}

double BenchCanvas::page_width() const {
  const double wanted = std::round((width() - 2 * margin) / wanted_scale / 10) * 10;
  return std::clamp(wanted, figure::single_column, figure::double_column);
}

QString BenchCanvas::longest_text() const {
  const auto by_size = [](const BenchSpot& a, const BenchSpot& b) {
    return a.text.size() < b.text.size();
  };
  const auto longest = std::ranges::max_element(picture_.spots, by_size);
  return longest == picture_.spots.end() ? QString() : QString::fromStdString(longest->text);
}

double BenchCanvas::scale() const {
  return std::min((width() - 2 * margin) / picture_.list.width,
                  (height() - 2 * margin) / picture_.list.height);
}

QPointF BenchCanvas::origin() const {
  return {(width() - picture_.list.width * scale()) / 2,
          (height() - picture_.list.height * scale()) / 2};
}

QPointF BenchCanvas::place_of(const BenchSpot& spot) const {
  return origin() + scale() * QPointF(spot.at.x, spot.at.y);
}

void BenchCanvas::redraw() {
  const std::string before = spot_ ? picture_.spots[*spot_].text : "";
  picture_ = model_.picture(page_width());
  if (spot_ && *spot_ >= picture_.spots.size()) spot_.reset();
  if (spot_ && picture_.spots[*spot_].text != before) point_at(spot_);
  setAccessibleDescription(QString::fromStdString(picture_.list.metadata.title));
  update();
}

void BenchCanvas::point_at(std::optional<std::size_t> spot) {
  spot_ = spot;
  if (spot_) {
    emit pointed(QString::fromStdString(picture_.spots[*spot_].text));
  }
  update();
}

void BenchCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Window));
  if (picture_.list.items.empty()) {
    painter.setPen(quiet_ink(palette()));
    const QString text = model_.running() ? tr("The first curves appear with the first samples …")
                         : model_.data()  ? tr("No case that is chosen has been measured.")
                                          : tr("Run a sweep, or open a result of `conelab bench`.");
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, text);
    return;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF page(origin(), QSizeF(picture_.list.width, picture_.list.height) * scale());
  painter.fillRect(page, Qt::white);  // Figures are white in every theme.
  painter.setPen(hair_line(palette()));
  painter.drawRect(page.adjusted(-0.5, -0.5, 0.5, 0.5));
  painter.save();
  painter.translate(page.topLeft());
  painter.scale(scale(), scale());
  figure::paint(picture_.list, painter);
  painter.restore();
  if (!spot_) return;
  painter.setPen(QPen(focus_colour(), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(place_of(picture_.spots[*spot_]), 8, 8);
}

void BenchCanvas::resizeEvent(QResizeEvent*) { redraw(); }

void BenchCanvas::mouseMoveEvent(QMouseEvent* event) {
  const auto place = [this](const BenchSpot& spot) {
    const QPointF at = place_of(spot);
    return figure::Point{at.x(), at.y()};
  };
  const QPointF at = event->position();
  const auto found = figure::nearest(picture_.spots, place, {at.x(), at.y()}, reach);
  if (found != spot_) point_at(found);
}

void BenchCanvas::leaveEvent(QEvent*) { point_at(std::nullopt); }

void BenchCanvas::keyPressEvent(QKeyEvent* event) {
  const std::size_t count = picture_.spots.size();
  const bool forward = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down;
  const bool backward = event->key() == Qt::Key_Left || event->key() == Qt::Key_Up;
  if (count == 0 || (!forward && !backward)) return QWidget::keyPressEvent(event);
  if (!spot_) return point_at(forward ? 0 : count - 1);
  point_at((*spot_ + (forward ? 1 : count - 1)) % count);
}

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
                             tr("Copy as command: the same sweep from a terminal"), this, [this] {
                               emit command_wanted(QString::fromStdString(model_.command()));
                             });
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
    auto* box = findChild<QCheckBox*>(
        QStringLiteral("bench-devices-%1").arg(QString::fromStdString(device.name)));
    if (box == nullptr) continue;
    box->setToolTip(QString::fromStdString(device.about));
    // A name that was chosen elsewhere can still be removed.
    box->setEnabled(device.available || box->isChecked());
    note = QString::fromStdString(device.name + ": " + device.about);
  }
  device_note_->setText(note);
  device_note_->setVisible(!note.isEmpty());
}

void BenchFormView::show_model() {
  form_->show_texts(model_.choice().fields);
  form_->show_errors(model_.check().errors);
  form_->findChild<QLineEdit*>("bench-output")
      ->setPlaceholderText(QString::fromStdString(model_.output()));
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
  extent_->show_text(
      QString::fromStdString(model_.running() ? model_.progress_text() : model_.check().extent));
}

}  // namespace conelab::desktop
