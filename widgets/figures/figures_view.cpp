#include "widgets/figures/figures_view.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGuiApplication>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <algorithm>

#include "core/base/error.h"
#include "core/figure/templates.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {

// ---- preview ------------------------------------------------------------------------------------

FigurePreview::FigurePreview(QWidget* parent) : QWidget(parent) {
  setObjectName("figure-preview");
  setAccessibleName(tr("Preview of the figure"));
  setMinimumSize(240, 200);
}

void FigurePreview::show_list(std::shared_ptr<const figure::DisplayList> list) {
  list_ = std::move(list);
  setAccessibleDescription(list_ ? QString::fromStdString(list_->metadata.description) : QString());
  update();
}

void FigurePreview::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Window));
  if (!list_) return;
  constexpr double margin = 18;
  const double scale =
      std::min((width() - 2 * margin) / list_->width, (height() - 2 * margin) / list_->height);
  const QSizeF page(list_->width * scale, list_->height * scale);
  const QRectF place(QPointF((width() - page.width()) / 2, (height() - page.height()) / 2), page);
  painter.fillRect(place, Qt::white);  // Figures stay white in every theme.
  painter.setPen(hair_line(palette()));
  painter.drawRect(place.adjusted(-0.5, -0.5, 0.5, 0.5));
  painter.translate(place.topLeft());
  painter.scale(scale, scale);
  figure::paint(*list_, painter);
}

// ---- view ---------------------------------------------------------------------------------------

FiguresView::FiguresView(Document& document, JobPool& jobs, Draw draw, QWidget* parent)
    : QWidget(parent), document_(document), jobs_(jobs), draw_(std::move(draw)) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  auto* side = new QWidget;
  side->setFixedWidth(300);
  build_form(side);
  line->addWidget(side);
  preview_ = new FigurePreview;
  line->addWidget(preview_, 1);
  connect(&document_, &Document::changed, this, &FiguresView::show_session);
  drawn_.name.clear();  // Unlike any figure: the first is drawn, or says what it lacks.
  show_session();
}

void FiguresView::build_form(QWidget* side) {
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(10, 6, 6, 8);
  name_ = new QComboBox;
  name_->setObjectName("figure-name");
  name_->setAccessibleName(tr("Figure"));
  for (const figure::TemplateInfo& info : figure::figure_templates()) {
    name_->addItem(QString::fromUtf8(info.name));
    name_->setItemData(name_->count() - 1, QString::fromUtf8(info.about), Qt::ToolTipRole);
  }
  width_ = new QLineEdit;
  width_->setObjectName("figure-width");
  width_->setToolTip(tr("86mm, 178mm, 7in, 504pt, single or double; empty: the figure's own"));
  input_ = new QLineEdit;
  input_->setObjectName("figure-input");
  auto* form = new QFormLayout;
  form->addRow(tr("figure"), name_);
  form->addRow(tr("input"), input_);
  form->addRow(tr("width"), width_);
  column->addLayout(form);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  keys_place_ = new QWidget;
  new QVBoxLayout(keys_place_);
  scroll->setWidget(keys_place_);
  column->addWidget(scroll, 1);
  message_ = new QLabel;
  message_->setObjectName("figure-message");
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(message_);
  auto* buttons = new QHBoxLayout;
  const auto button = [&](const QString& text, auto run) {
    auto* made = new QPushButton(text);
    buttons->addWidget(made);
    connect(made, &QPushButton::clicked, this, run);
  };
  button(tr("Export …"), [this] { export_dialog(); });
  button(tr("Copy image"), [this] { copy_image(); });
  button(QStringLiteral("$_"), [this] { emit command_wanted(); });
  column->addLayout(buttons);
  connect(name_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
    edit(tr("choose a figure"), [&](FigureChoice& c) {
      c = {};
      c.name = name.toStdString();
    });
  });
  connect(width_, &QLineEdit::editingFinished, this, [this] {
    edit(tr("change the figure's width"),
         [&](FigureChoice& c) { c.width = width_->text().trimmed().toStdString(); });
  });
  connect(input_, &QLineEdit::editingFinished, this, [this] {
    edit(tr("change the figure's input"), [&](FigureChoice& c) {
      c.inputs.clear();
      for (const QString& each : input_->text().split(';', Qt::SkipEmptyParts)) {
        c.inputs.push_back(each.trimmed().toStdString());
      }
    });
  });
}

void FiguresView::edit(const QString& what, const std::function<void(FigureChoice&)>& change) {
  document_.edit(what, [&](Session& s) { change(s.figure); });
}

FigureChoice FiguresView::wanted() const {
  const Session& session = document_.session();
  FigureChoice choice = session.figure;
  const std::string needs = figure::figure_template(choice.name).input;
  if (choice.inputs.empty() && needs.find("trace") != std::string::npos &&
      !session.trace.file.empty()) {
    choice.inputs = {session.trace.group.empty() ? session.trace.file
                                                 : session.trace.file + ":" + session.trace.group};
    choice.parameters.try_emplace("head", std::to_string(session.trace.head));
  }
  return choice;
}

void FiguresView::build_keys() {
  const FigureChoice& choice = document_.session().figure;
  if (keys_of_ != choice.name) {
    keys_of_ = choice.name;
    delete keys_;
    fields_.clear();
    keys_ = new QWidget;
    auto* form = new QFormLayout(keys_);
    form->setContentsMargins(0, 0, 0, 0);
    for (const figure::TemplateKey& row : figure::figure_template(choice.name).keys) {
      auto* field = new QLineEdit;
      field->setPlaceholderText(QString::fromUtf8(row.initial));
      field->setToolTip(QString::fromUtf8(row.about));
      field->setObjectName(QStringLiteral("figure-%1").arg(row.key));
      form->addRow(QString::fromUtf8(row.key), field);
      const std::string key = row.key;
      connect(field, &QLineEdit::editingFinished, this, [this, field, key] {
        const std::string text = field->text().trimmed().toStdString();
        edit(tr("change the figure's %1").arg(QString::fromStdString(key)), [&](FigureChoice& c) {
          if (text.empty())
            c.parameters.erase(key);
          else
            c.parameters[key] = text;
        });
      });
      fields_.emplace_back(key, field);
    }
    keys_place_->layout()->addWidget(keys_);
    static_cast<QVBoxLayout*>(keys_place_->layout())->addStretch(1);
  }
  for (const auto& [key, field] : fields_) {
    const auto found = choice.parameters.find(key);
    const QString text =
        found == choice.parameters.end() ? QString() : QString::fromStdString(found->second);
    if (field->text() != text) field->setText(text);
  }
}

void FiguresView::show_session() {
  const FigureChoice& choice = document_.session().figure;
  const QSignalBlocker quiet(name_);
  name_->setCurrentText(QString::fromStdString(choice.name));
  width_->setText(QString::fromStdString(choice.width));
  width_->setPlaceholderText(QString::fromUtf8(figure::figure_template(choice.name).width));
  QStringList inputs;
  for (const std::string& input : choice.inputs) inputs << QString::fromStdString(input);
  input_->setText(inputs.join("; "));
  input_->setPlaceholderText(QString::fromUtf8(figure::figure_template(choice.name).input));
  build_keys();
  redraw();
}

void FiguresView::redraw() {
  const FigureChoice choice = wanted();
  if (choice == drawn_ || !draw_) return;
  drawn_ = choice;
  if (choice.inputs.empty() && *figure::figure_template(choice.name).input != '\0') {
    message_->setText(tr("This figure needs an input: %1")
                          .arg(QString::fromUtf8(figure::figure_template(choice.name).input)));
    job_.cancel();
    return preview_->show_list(nullptr);
  }
  job_ = jobs_.start<figure::DisplayList>(
      "figure " + choice.name, [draw = draw_, choice](const JobContext&) { return draw(choice); },
      [this](figure::DisplayList list) {
        job_.finished();
        message_->setText(tr("%1 × %2 pt").arg(list.width).arg(list.height));
        preview_->show_list(std::make_shared<figure::DisplayList>(std::move(list)));
      },
      [this](const std::string& message) {
        job_.finished();
        message_->setText(QString::fromStdString(message));
        preview_->show_list(nullptr);
      });
}

QString FiguresView::message() const { return message_->text(); }

void FiguresView::export_to(const QString& file) {
  if (drawing()) fail("{}: the figure is still being drawn", file.toStdString());
  if (preview_->list()) figure::write_figure(*preview_->list(), file.toStdString());
}

void FiguresView::export_dialog() {
  if (!preview_->list()) return;
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Export"), QString::fromStdString(document_.session().figure.name) + ".pdf",
      tr("Figures (*.pdf *.svg *.png)"));
  if (file.isEmpty()) return;
  try {
    export_to(file);
    message_->setText(tr("%1 is written").arg(file));
  } catch (const Error& error) {
    message_->setText(QString::fromStdString(error.what()));
  }
}

void FiguresView::copy_image() {
  if (!preview_->list() || drawing()) return;
  const std::vector<std::uint8_t> bytes = figure::to_png(*preview_->list());
  QGuiApplication::clipboard()->setImage(
      QImage::fromData(bytes.data(), static_cast<int>(bytes.size())));
  message_->setText(tr("The image is on the clipboard."));
}

}  // namespace conelab::desktop
