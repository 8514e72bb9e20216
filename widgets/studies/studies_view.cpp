#include "widgets/studies/studies_view.h"

#include <QBoxLayout>
#include <QCheckBox>
#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QLabel>
#include <QProgressBar>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>
#include <algorithm>
#include <cmath>

#include "core/base/duration.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/tables/text_table_model.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
StudiesView::StudiesView(Document& document, JobPool& jobs, StudyBackend backend)
    : model_(document, jobs, std::move(backend)) {
  auto* column = laid_out<QVBoxLayout>(this, {10, 6, 10, 8});
  title_ = text_label("study-title", tr("The study"));
  column->addWidget(title_);
  auto* tools = new QHBoxLayout;
  build_tools(tools);
  column->addLayout(tools);
  bar_ = named(new QProgressBar, "study-progress", tr("Progress of the study"));
  bar_->setRange(0, 1000);
  bar_->setTextVisible(false);
  bar_->hide();
  column->addWidget(bar_);
  table_ = named(new TextTableView, "study-jobs", tr("The jobs of the study"),
                 tr("Double click, or Enter: open a study, or the result of a job"));
  page_ = named(new QTextBrowser, "study-page", tr("The report"));
  page_->setOpenExternalLinks(false);
  connect(page_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    if (link.path().isEmpty()) return page_->scrollToAnchor(link.fragment());
    if (link.scheme().startsWith("http")) return void(QDesktopServices::openUrl(link));
    const QString page = QString::fromStdString(model_.report_page());
    emit page_wanted(QUrl::fromLocalFile(page).resolved(link).toLocalFile());
  });
  page_->setOpenLinks(false);
  pages_ = new QStackedWidget;
  pages_->addWidget(table_);
  pages_->addWidget(page_);
  editor_ = new StudyEditor(jobs);
  pages_->addWidget(editor_);
  connect(editor_, &StudyEditor::saved, this,
          [this](const QString& file) { model_.open(file.toStdString()); });
  column->addWidget(pages_, 1);
  message_ = text_label("study-message", tr("What the view has to say"));
  column->addWidget(message_);
  connect(table_, &QTableView::activated, this,
          [this](const QModelIndex& cell) { open_result(cell.row()); });
  connect(&model_, &StudyModel::changed, this, &StudiesView::show_model);
  connect(&model_, &StudyModel::progressed, this, &StudiesView::show_progress);
  connect(&model_, &StudyModel::report_written, this, &StudiesView::show_report);
  message_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  connect(message_, &QLabel::linkActivated, this,
          [this](const QString& link) { emit page_wanted(QUrl(link).toLocalFile()); });
  follow_palette(this, [this] { show_model(); });
}

void StudiesView::build_tools(QHBoxLayout* line) {
  add_button(line, tr("Open …"), "study-open",
             tr("A study (.toml), or the index.json of its results"), this,
             &StudiesView::open_dialog);
  list_ = add_button(line, tr("Shipped"), "study-list",
                     tr("The studies that ship with the program"), this, [this] {
                       pages_->setCurrentWidget(table_);
                       model_.close();
                     });
  run_quick_ = add_button(line, tr("Run quick"), "study-run-quick",
                          tr("Run the study that is open or selected with its smaller values"),
                          this, [this] {
                            const int row = table_->currentIndex().row();
                            if (model_.choice().file.empty()) open_result(std::max(0, row));
                            pages_->setCurrentWidget(table_);
                            model_.run_quick();
                          });
  run_ = add_button(line, tr("Run"), "study-run", tr("Run every job that is not done"), &model_,
                    &StudyModel::run);
  cancel_ = add_button(line, tr("Stop"), "study-stop",
                       tr("Finished jobs are kept, and Run goes on with the others"), &model_,
                       &StudyModel::cancel);
  quick_ = named(new QCheckBox(tr("quick")), "study-quick", {},
                 tr("With the smaller values that the study names for a first look"));
  line->addWidget(quick_);
  connect(quick_, &QCheckBox::toggled, this, [this](bool on) { model_.set_quick(on); });
  line->addStretch(1);
  edit_ =
      add_button(line, tr("Edit"), "study-edit",
                 tr("The keys of the study, its text, and what is wrong with it"), this, [this] {
                   const bool shows = pages_->currentWidget() == editor_;
                   if (shows) return pages_->setCurrentWidget(table_);
                   const std::string& file = model_.choice().file;
                   editor_->edit(file, model_.ships(file));
                   pages_->setCurrentWidget(editor_);
                 });
  report_ = add_button(line, tr("Report"), "study-report",
                       tr("Write the report of what is done, and show it here"), this, [this] {
                         const bool shows = pages_->currentWidget() == page_;
                         if (shows) return pages_->setCurrentWidget(table_);
                         model_.make_report();
                       });
  copy_ = add_button(line, tr("Copy as command"), "study-copy",
                     tr("The command line that runs this study"), this,
                     [this] { emit command_wanted(QString::fromStdString(model_.command())); });
}

void StudiesView::show_model() {
  const QString file = QString::fromStdString(model_.choice().file);
  const QString title = QString::fromStdString(model_.index().title);
  title_->setText(
      file.isEmpty()
          ? tr("A study is a file of TOML that names data, jobs and figures. Open one of these, or "
               "a "
               "file of your own; Help, Manual, studies says how to write one.")
          : QStringLiteral("<b>%1</b> %2").arg(title.toHtmlEscaped(), file.toHtmlEscaped()));
  run_->setEnabled(model_.can_run());
  cancel_->setEnabled(model_.running());
  list_->setEnabled(!file.isEmpty() && !model_.running());
  run_quick_->setEnabled(!model_.running() &&
                         (file.isEmpty() ? !model_.shipped().empty() : !model_.command().empty()));
  edit_->setEnabled(!file.isEmpty() && !is_study_index(file.toStdString()));
  if (file.isEmpty() && pages_->currentWidget() == editor_) pages_->setCurrentWidget(table_);
  report_->setEnabled(model_.can_report());
  copy_->setEnabled(!model_.command().empty());
  quick_->setEnabled(!model_.running() && !model_.command().empty());
  {
    const QSignalBlocker blocked(quick_);
    quick_->setChecked(model_.choice().quick);
  }
  set_ink(*message_,
          model_.failed() ? error_ink(palette()) : palette().color(QPalette::WindowText));
  show_progress();
}

void StudiesView::show_progress() {
  const StudyProgress& now = model_.progress();
  bar_->setVisible(model_.running());
  bar_->setValue(static_cast<int>(now.fraction * 1000));
  QString text = QString::fromStdString(model_.message());
  if (model_.running() && !now.text.empty()) {
    text += QStringLiteral(" · ") + QString::fromStdString(now.text);
    if (std::isfinite(now.seconds)) {
      text += tr(", about %1 left").arg(QString::fromStdString(duration_text(now.seconds)));
    }
  }
  const QString page = QString::fromStdString(model_.report_page());
  const bool links = !page.isEmpty() && text.endsWith(page);
  message_->setTextFormat(links ? Qt::RichText : Qt::PlainText);
  if (links) {
    text = tr("The report is <a href='%1'>%2</a>: this opens it in the browser.")
               .arg(QUrl::fromLocalFile(page).toString(QUrl::FullyEncoded), page.toHtmlEscaped());
  }
  message_->setText(text);
  table_->show_table(model_.table());
}

void StudiesView::open_dialog() {
  const QString file =
      ask_for_file(this, tr("Open a study"), tr("Studies (*.toml index.json);;All files (*)"));
  if (!file.isEmpty()) model_.open(file.toStdString());
}

/// HDF5 is shown in this program; of a figure, the first of its files by another one.
void StudiesView::open_result(int row) {
  if (model_.choice().file.empty()) {
    const auto at = static_cast<std::size_t>(row);
    if (at < model_.shipped().size()) model_.open(model_.shipped()[at].file);
    return;
  }
  const std::vector<StudyModel::Row> rows = model_.rows();
  if (rows.empty()) return edit_->click();  // The table has what is wrong.
  if (static_cast<std::size_t>(row) >= rows.size()) return;
  const StudyModel::Row& of = rows[static_cast<std::size_t>(row)];
  if (of.trials > 0) return model_.fold(of);
  const std::vector<std::string> files = model_.files_of(of.job);
  if (files.empty()) return;
  const QString file = QString::fromStdString(files.front());
  const std::string job = model_.index().jobs[of.job].name;
  const QFileInfo folder(QString::fromStdString(model_.folder()));
  const QString name = tr("%1 of %2").arg(QString::fromStdString(job), folder.fileName());
  file.endsWith(QLatin1String(".h5")) ? emit file_wanted(file, name) : emit page_wanted(file);
}

/// Shows the report's text with the pictures of its figures, which the page itself draws as SVG.
void StudiesView::show_report(const QString& page) {
  static const QRegularExpression drawn(
      QStringLiteral(
          "<figure id=\"([^\"]+)\">\\s*<div class=\"paper\">\\s*<svg[^>]* width=\"(\\d+)pt\""
          ".*?</svg>"),
      QRegularExpression::DotMatchesEverythingOption);
  QFile file(page);
  if (!file.open(QIODevice::ReadOnly)) return;
  QString html = QString::fromUtf8(file.readAll());
  const QDir folder = QFileInfo(page).dir();
  for (auto each = drawn.globalMatch(html);
       each.hasNext();) {  // The page would scale them coarsely.
    const auto figure = each.next();
    const QString name = QStringLiteral("figures/%1.png").arg(figure.captured(1));
    const int width = static_cast<int>(pixels_a_point * figure.captured(2).toInt());
    page_->document()->addResource(
        QTextDocument::ImageResource, QUrl(name),
        QImage(folder.filePath(name)).scaledToWidth(width, Qt::SmoothTransformation));
  }
  html.replace(drawn, QStringLiteral("<p><a href=\"figures/\\1.pdf\"><img src=\"figures/\\1.png\">"
                                     "</a></p><div>"));
  page_->setHtml(html);
  pages_->setCurrentWidget(page_);
}

void StudiesView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  model_.read_shipped();
}

}  // namespace conelab::desktop
