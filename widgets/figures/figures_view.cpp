#include "widgets/figures/figures_view.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QFormLayout>
#include <QGuiApplication>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSignalBlocker>
#include <QUrl>
#include <algorithm>

#include "core/base/error.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/svg.h"
#include "core/files/atomic_file.h"
#include "core/source/figure_table.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/figures/figure_preview.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double millimetres_a_point = 25.4 / 72;

/// Returns a field with a button to its right that asks for a file.
template <class Act>
QWidget* with_browsing(QWidget* field, const char* name, const QString& help, FiguresView* view,
                       Act act) {
  auto* whole = new QWidget;
  auto* line = laid_out<QHBoxLayout>(whole, {}, 4);
  line->addWidget(field, 1);
  add_button<QPushButton>(line, FiguresView::tr("Browse …"), name, help, view, act);
  return whole;
}

/// Returns what a figure shows, without its width and, if it has an input, without the keys that
/// only set how it looks.
FigureChoice subject_of(FigureChoice choice) {
  choice.width.clear();
  const figure::FigureInfo& info = figure::figure_named(choice.name);
  if (info.source.read == nullptr) return choice;
  for (const figure::FigureKey& key : info.keys) {
    if (!key.data) choice.parameters.erase(key.key);
  }
  return choice;
}

}  // namespace

FiguresView::FiguresView(Document& document, JobPool& jobs, Draw draw)
    : document_(document), jobs_(jobs), draw_(std::move(draw)) {
  auto* line = laid_out<QHBoxLayout>(this);
  auto* side = new QWidget;
  side->setFixedWidth(336);
  build_form(side);
  line->addWidget(side);
  auto* place = new QWidget;
  build_preview(place);
  line->addWidget(place, 1);
  connect(&document_, &Document::changed, this, &FiguresView::show_session);
  drawn_.name.clear();  // Differs from any figure, so that the first one is drawn.
  show_session();
}

// ---- building -----------------------------------------------------------------------------------

void FiguresView::build_form(QWidget* side) {
  auto* column = laid_out<QVBoxLayout>(side, {10, 6, 6, 8});
  build_files(column);
  about_ = new QLabel;
  about_->setWordWrap(true);
  about_->setForegroundRole(QPalette::PlaceholderText);
  column->addWidget(about_);
  keys_place_ = new QWidget;
  laid_out<QVBoxLayout>(keys_place_, {0, 0, 6, 0})->addStretch(1);
  column->addWidget(scrolled(keys_place_, tr("Options of the figure")), 1);
  message_ = named(new QLabel, "figure-message", tr("What the view has to say"));
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse |
                                    Qt::LinksAccessibleByKeyboard);
  connect(message_, &QLabel::linkActivated, this, [this](const QString& link) {
    if (!QDesktopServices::openUrl(QUrl(link))) say(tr("No program opens %1.").arg(link));
  });
  column->addWidget(message_);
  build_actions(column);
}

void FiguresView::build_files(QVBoxLayout* column) {
  name_ = named(new QComboBox, "figure-name", tr("Figure"));
  for (const figure::FigureInfo& info : figure::figure_table()) {
    add_entry(*name_, QString::fromUtf8(info.name), QString::fromUtf8(info.about));
  }
  width_ = named(new QComboBox, "figure-width", tr("Width of the figure"),
                 tr("86 mm and 178 mm are one and two columns of a journal; also 7 in, 504 pt, "
                    "single or double. A page is as wide as whole points allow: 86 mm is 243 pt, "
                    "85.7 mm. Empty: the figure's own."));
  width_->setEditable(true);
  width_->setInsertPolicy(QComboBox::NoInsert);
  width_->addItems({"", "86 mm", "178 mm", "120 mm", "7 in"});
  input_ = named(new QLineEdit, "figure-input", tr("Input of the figure"));
  auto* form = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->addRow(tr("figure"), name_);
  form->addRow(tr("input"),
               with_browsing(input_, "figure-browse-input", tr("Choose the input file"), this,
                             &FiguresView::choose_input));
  form->addRow(tr("width"), width_);
  column->addLayout(form);
  connect(name_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
    document_.edit(tr("choose a figure"), [&](Session& s) {
      s.figure = {};
      s.figure.name = name.toStdString();
      // The file is named after the figure, so that none replaces another one.
      const QFileInfo before(QString::fromStdString(s.figure_output));
      if (s.figure_output.empty()) return;
      const QString named = name + (before.suffix().isEmpty() ? "" : "." + before.suffix());
      s.figure_output = QDir(before.path()).filePath(named).toStdString();
    });
  });
  const auto take_width = [this] {
    edit(tr("change the figure's width"),
         [&](FigureChoice& c) { c.width = width_->currentText().trimmed().toStdString(); });
  };
  connect(width_->lineEdit(), &QLineEdit::editingFinished, this, take_width);
  connect(width_, &QComboBox::activated, this, take_width);
  connect(input_, &QLineEdit::editingFinished, this, [this] {
    edit(tr("change the figure's input"), [&](FigureChoice& c) {
      c.inputs.clear();
      for (const QString& each : input_->text().split(';', Qt::SkipEmptyParts)) {
        c.inputs.push_back(each.trimmed().toStdString());
      }
    });
  });
}

void FiguresView::build_actions(QVBoxLayout* column) {
  output_ = named(new QLineEdit, "figure-output", tr("File to write"),
                  tr("Where the figure is written; .pdf, .svg or .png decides the kind"));
  connect(output_, &QLineEdit::editingFinished, this, [this] {
    document_.edit(tr("choose the figure's file"), [this](Session& s) {
      s.figure_output = output_->text().trimmed().toStdString();
    });
  });
  column->addWidget(with_browsing(output_, "figure-browse-output", tr("Choose the file to write"),
                                  this, &FiguresView::choose_output));
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(4);
  const auto add = [&](const QString& text, const char* name, const QString& help, auto act) {
    return add_button<QPushButton>(buttons, text, name, help, this, act);
  };
  add(tr("Export"), "figure-export", tr("Write the figure to this file"),
      &FiguresView::export_asking);
  add(tr("Copy image"), "figure-copy-image", tr("To the clipboard, 300 dots per inch"),
      [this] { copy(false); });
  add(tr("Copy SVG"), "figure-copy-svg", tr("To the clipboard, as a vector figure"),
      [this] { copy(true); });
  add(QStringLiteral("$_"), "figure-copy-command",
      tr("Copy the command that writes the same bytes"), &FiguresView::command_wanted)
      ->setAccessibleName(tr("Copy as command"));
  column->addLayout(buttons);
}

void FiguresView::build_preview(QWidget* place) {
  auto* column = laid_out<QVBoxLayout>(place, {0, 4, 0, 0}, 0);
  auto* tools = new QWidget;
  auto* row = new FlowLayout(tools, 10);  // Continues in a new line if the view is narrow.
  row->setContentsMargins(10, 2, 10, 4);
  auto* zoom = named(new QComboBox, "figure-zoom", tr("Size of the preview"),
                     tr("At its real size a centimetre of the figure is one on the screen"));
  zoom->addItem(tr("whole figure"), 0.0);
  for (const auto& [text, factor] : {std::pair{tr("real size"), 1.0},
                                     {tr("150 %"), 1.5},
                                     {tr("200 %"), 2.0},
                                     {tr("400 %"), 4.0}}) {
    zoom->addItem(text, factor);
  }
  row->addWidget(zoom);
  for (const auto& [label, name] :
       {std::pair{&size_, "figure-size"}, {&points_, "figure-points"}}) {
    *label = new QLabel;
    (*label)->setObjectName(name);
    (*label)->setTextInteractionFlags(Qt::TextSelectableByMouse);
    (*label)->setMinimumHeight(zoom->sizeHint().height());
    row->addWidget(*label);
  }
  column->addWidget(tools);
  preview_ = new FigurePreview(jobs_);
  column->addWidget(scrolled(preview_, tr("Preview, to be scrolled"), true), 1);
  connect(zoom, &QComboBox::currentIndexChanged, this, [this, zoom] {
    preview_->set_zoom(zoom->currentData().toDouble());
    show_size();
  });
}

// ---- the session --------------------------------------------------------------------------------

void FiguresView::edit(const QString& what, const std::function<void(FigureChoice&)>& change) {
  document_.edit(what, [&](Session& s) { change(s.figure); });
}

FigureChoice FiguresView::wanted() const {
  const Session& session = document_.session();
  FigureChoice choice = session.figure;
  const figure::FigureInfo& info = figure::figure_named(choice.name);
  if (choice.inputs.empty() && info.source.traces && !session.trace.file.empty()) {
    choice.inputs = {session.trace.group.empty() ? session.trace.file
                                                 : session.trace.file + ":" + session.trace.group};
    const auto has_key = [&](std::string_view key) {
      return std::ranges::any_of(info.keys, [&](const auto& row) { return row.key == key; });
    };
    if (has_key("head")) choice.parameters.try_emplace("head", std::to_string(session.trace.head));
    const bool linear = has_key("scale") && figure::value_of(info, {}, "scale") == "linear";
    if (linear && shows_structure(session.maps)) choice.parameters.try_emplace("scale", "row");
  }
  return choice;
}

void FiguresView::build_keys() {
  const FigureChoice& choice = document_.session().figure;
  if (keys_of_ != choice.name) {
    keys_of_ = choice.name;
    delete keys_;
    keys_ = new FigureFields(figure::figure_named(choice.name));
    connect(keys_, &FigureFields::edited, this, [this](const QString& key, const QString& value) {
      edit(tr("change the figure's %1").arg(key), [&](FigureChoice& c) {
        if (value.isEmpty())
          c.parameters.erase(key.toStdString());
        else
          c.parameters[key.toStdString()] = value.toStdString();
      });
    });
    static_cast<QVBoxLayout*>(keys_place_->layout())->insertWidget(0, keys_);
  }
  keys_->show_values(wanted().parameters);
}

void FiguresView::show_session() {
  const FigureChoice& choice = document_.session().figure;
  const figure::FigureInfo& info = figure::figure_named(choice.name);
  const QSignalBlocker quiet(name_), silent(width_);
  name_->setCurrentText(QString::fromStdString(choice.name));
  width_->setCurrentText(QString::fromStdString(choice.width));
  width_->lineEdit()->setPlaceholderText(QString::fromUtf8(info.width));
  QStringList inputs;
  for (const std::string& input : choice.inputs) inputs << QString::fromStdString(input);
  input_->setText(inputs.join("; "));
  const QString needs = QString::fromUtf8(info.source.text);
  const FigureChoice drawn = wanted();
  input_->setPlaceholderText(needs.isEmpty()        ? tr("none needed")
                             : drawn.inputs.empty() ? needs
                                                    : QString::fromStdString(drawn.inputs.front()));
  about_->setText(QString::fromUtf8(info.about));
  output_->setText(QString::fromStdString(document_.session().figure_output));
  output_->setPlaceholderText(output());
  build_keys();
  redraw();
}

void FiguresView::redraw() {
  const FigureChoice choice = wanted();
  if (choice == drawn_ || !draw_) return;
  drawn_ = choice;
  if (choice.inputs.empty() && *figure::figure_named(choice.name).source.text != '\0') {
    say(tr("This figure needs an input: %1")
            .arg(QString::fromUtf8(figure::figure_named(choice.name).source.text)));
    job_.cancel();
    preview_->show_list(nullptr);
    return show_size();
  }
  job_ = jobs_.start<figure::DisplayList>(
      "figure " + choice.name,
      [draw = draw_, choice](const PoolContext& context) {
        return draw(choice, context.cancel_check());
      },
      [this](figure::DisplayList list) {
        QString note = QString::fromStdString(figure::missing_note(list));
        const bool chosen = document_.session().figure.parameters.contains("scale");
        if (note.isEmpty() && !chosen && drawn_.parameters.contains("scale")) {
          note = tr("Each row is relative to its largest weight (scale “row”), as in the maps.");
        }
        say(note);
        preview_->show_list(std::make_shared<figure::DisplayList>(std::move(list)));
        show_size();
      },
      [this](const std::string& message) {
        if (message == job_cancelled) drawn_.name.clear();  // The next change draws it again.
        say(QString::fromStdString(message));
        preview_->show_list(nullptr);
        show_size();
      });
}

void FiguresView::show_size() {
  const auto& list = preview_->list();
  if (!list) return size_->clear(), points_->clear();
  const auto text = [](double points, double unit) {
    return QString::number(points * unit, 'f', unit == 1 ? 0 : 1);
  };
  size_->setText(
      tr("%1 × %2 mm")
          .arg(text(list->width, millimetres_a_point), text(list->height, millimetres_a_point)));
  points_->setText(tr("(%1 × %2 pt)").arg(text(list->width, 1), text(list->height, 1)));
}

void FiguresView::say(const QString& message) {
  message_->setTextFormat(Qt::PlainText);
  message_->setText(message);
  message_->setVisible(!message.isEmpty());
}

QString FiguresView::message() const { return message_->text(); }

// ---- files and clipboard ------------------------------------------------------------------------

void FiguresView::choose_input() {
  const QStringList files = ask_for_files(
      this, tr("Input of the figure"),
      tr("Traces and results (*.h5 *.hdf5 *.npz *.npy *.safetensors);;All files (*)"));
  if (files.isEmpty()) return;
  edit(tr("change the figure's input"), [&](FigureChoice& c) {
    c.inputs.clear();
    for (const QString& file : files) c.inputs.push_back(file.toStdString());
  });
}

QString FiguresView::output() const {
  const Session& session = document_.session();
  QString file = QString::fromStdString(session.figure_output);
  if (file.isEmpty()) file = QString::fromStdString(session.figure.name);
  if (QFileInfo(file).suffix().isEmpty()) file += ".pdf";
  return QDir(usual_folder()).absoluteFilePath(file);
}

void FiguresView::choose_output() {
  // A file that nobody has named is proposed beside the last one that was written.
  const bool named = !document_.session().figure_output.empty();
  const QString file = ask_where_to_write(this, tr("Export the figure"),
                                          named ? output() : QFileInfo(output()).fileName(),
                                          tr("Figures (*.pdf *.svg *.png)"));
  if (file.isEmpty()) return;
  written_[file] = subject_of(wanted());  // The dialog has asked about overwriting.
  document_.edit(tr("choose the figure's file"),
                 [&](Session& s) { s.figure_output = file.toStdString(); });
}

bool FiguresView::may_replace(const QString& file) {
  const auto before = written_.find(file);
  if (before != written_.end() && before->second == subject_of(wanted())) return true;
  // Nobody is asked about a file that would be kept anyway.
  check_replaceable_figure(file.toStdString(), QFileInfo(file).suffix().toStdString());
  const QString question = before == written_.end()
                               ? tr("Overwrite %1?").arg(file)
                               : tr("%1 holds another figure, %2. Overwrite it?")
                                     .arg(file, QString::fromStdString(before->second.name));
  return QMessageBox::question(this, tr("Export"), question) == QMessageBox::Yes;
}

void FiguresView::export_asking() {
  const QString file = output();
  try {
    if (!QFileInfo::exists(file) || may_replace(file)) export_to(file);
  } catch (const Error& error) {
    say(QString::fromStdString(error.what()));
  }
}

void FiguresView::export_to(const QString& file) {
  if (exporting()) return;  // Starting another export would cancel the current one silently.
  if (drawing()) fail("{}: the figure is still being drawn", file.toStdString());
  if (!preview_->list()) fail("{}: there is no figure to write", file.toStdString());
  export_job_ = jobs_.start<bool>(
      "writing " + QFileInfo(file).fileName().toStdString(),
      [list = preview_->list(), path = file.toStdString()](const PoolContext&) {
        check_replaceable_figure(path, path.substr(path.rfind('.') + 1));
        figure::write_figure(*list, path);
        return true;
      },
      [this, file, subject = subject_of(drawn_), replaces = QFileInfo::exists(file)](bool) {
        written_[file] = subject;
        say_written(file, replaces);
      },
      [this](const std::string& message) { say(QString::fromStdString(message)); });
}

void FiguresView::say_written(const QString& file, bool replaces) {
  const QFileInfo info(file);
  const auto link = [](const QString& path, const QString& text) {
    return QStringLiteral("<a href='%1'>%2</a>")
        .arg(QUrl::fromLocalFile(path).toString(QUrl::FullyEncoded), text);
  };
  say((replaces ? tr("%1 is written again and replaces the one before. %2 · %3")
                : tr("%1 is written. %2 · %3"))
          .arg(info.fileName().toHtmlEscaped(), link(info.absoluteFilePath(), tr("Open")),
               link(info.absolutePath(), tr("Show the folder"))));
  message_->setTextFormat(Qt::RichText);
}

void FiguresView::copy(bool svg) {
  if (!preview_->list() || drawing() || exporting()) return;
  using Bytes = std::vector<std::uint8_t>;
  export_job_ = jobs_.start<Bytes>(
      "copying the figure",
      [list = preview_->list(), svg](const PoolContext&) {
        if (!svg) return figure::to_png(*list);
        const std::string text = figure::to_svg(*list);
        return Bytes(text.begin(), text.end());
      },
      [this, svg](const Bytes& bytes) { take_copy(bytes, svg); },
      [this](const std::string& message) { say(QString::fromStdString(message)); });
}

void FiguresView::take_copy(const std::vector<std::uint8_t>& bytes, bool svg) {
  const QByteArray data(reinterpret_cast<const char*>(bytes.data()),
                        static_cast<qsizetype>(bytes.size()));
  auto* copied = new QMimeData;
  if (svg) {
    copied->setData("image/svg+xml", data);
    copied->setText(QString::fromUtf8(data));
  } else {
    copied->setData("image/png", data);
    copied->setImageData(QImage::fromData(data));
  }
  QGuiApplication::clipboard()->setMimeData(copied);
  say(svg ? tr("The figure is on the clipboard as SVG.") : tr("The image is on the clipboard."));
}

}  // namespace conelab::desktop
