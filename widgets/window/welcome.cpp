#include "widgets/window/welcome.h"

#include <QBoxLayout>
#include <QCommandLinkButton>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>

#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

QLabel* heading(const QString& text, int extra) {
  auto* label = new QLabel(text);
  QFont font = label->font();
  font.setPointSize(font.pointSize() + extra);
  font.setBold(true);
  label->setFont(font);
  return label;
}

Call with(const char* similarity, std::map<std::string, std::string> parameters) {
  Call call = plain_call(similarity);
  call.parameters = std::move(parameters);
  return call;
}

}  // namespace

std::vector<Example> examples(const std::string& shipped_trace) {
  Session halves, sharpness, cones;
  halves.trace = {shipped_trace, "/german/layer3", 0, 5};
  halves.locked = Focus{3, 8};
  sharpness.trace = {shipped_trace, "/german/layer3", 0, 5};
  sharpness.maps.calls = {with("penumbral", {}), with("penumbral", {{"gamma", "4"}}),
                          with("penumbral", {{"gamma", "16"}})};
  sharpness.maps.reference = 0;
  cones.trace = {shipped_trace, "/german/layer3", 0, 5};
  cones.cones.family = "umbral";
  cones.locked = Focus{2, 6};
  // Any two tokens have a common ancestor here; under a penumbral light many pairs have none.
  cones.maps.calls = {with("umbral", {})};
  return {
      {"What cones see that dot products do not",
       "One sentence, one head, three similarities side by side. Point at a cell: the same pair is "
       "marked in every map, with its exact values.",
       halves},
      {"Sharper and sharper",
       "Penumbral attention at γ = 1, 4 and 16, as differences against the first. Hold R over the "
       "maps to flip to the reference.",
       sharpness},
      {"Two tokens and their lowest common ancestor",
       "A pair of tokens in the half-plane: their cones, where they meet, and the ancestor whose "
       "height is the logit. Drag u and v.",
       cones},
  };
}

Welcome::Welcome(const std::string& shipped_trace, QWidget* parent) : QWidget(parent) {
  setObjectName("welcome");
  auto* outer = new QHBoxLayout(this);
  auto* column = new QVBoxLayout;
  outer->addStretch(1);
  outer->addLayout(column, 4);
  outer->addStretch(1);
  column->addStretch(1);
  column->addWidget(heading(tr("Conelab"), 14));
  auto* about = new QLabel(
      tr("Attention that knows hierarchy: what cone attention makes of a trace, beside the dot "
         "product, exactly and at once."));
  about->setWordWrap(true);
  column->addWidget(about);
  column->addSpacing(16);
  column->addWidget(heading(tr("Guided examples"), 2));
  int index = 0;
  for (const Example& example : examples(shipped_trace)) {
    auto* button =
        new QCommandLinkButton(QString::fromUtf8(example.title), QString::fromUtf8(example.about));
    button->setObjectName(QStringLiteral("example-%1").arg(index));
    button->setEnabled(!shipped_trace.empty());
    button->setIcon(QIcon());
    column->addWidget(button);
    connect(button, &QCommandLinkButton::clicked, this,
            [this, index] { emit example_wanted(index); });
    ++index;
  }
  column->addSpacing(12);
  column->addWidget(heading(tr("Open"), 2));
  auto* open = new QPushButton(tr("Open a file …"));
  connect(open, &QPushButton::clicked, this, &Welcome::open_wanted);
  column->addWidget(open, 0, Qt::AlignLeft);
  recent_ = new QVBoxLayout;
  column->addLayout(recent_);
  auto* hint = new QLabel(
      tr("HDF5, .npz, .npy and .safetensors with q, k, v; results of attend, tree and bench; "
         "sessions. Drop any number of them anywhere. Press ? for the shortcuts and Ctrl+Shift+P "
         "for every command."));
  hint->setWordWrap(true);
  hint->setEnabled(false);
  column->addWidget(hint);
  column->addStretch(2);
  follow_palette(this,
                 [this] { show_recent(files_); });  // The colour of links is part of the text.
}

void Welcome::show_recent(const QStringList& files) {
  files_ = files;
  while (QLayoutItem* item = recent_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const QString& file : files_.mid(0, 5)) {
    auto* link = new QLabel(QStringLiteral("<a href='x'>%1</a>  <small>%2</small>")
                                .arg(QFileInfo(file).fileName().toHtmlEscaped(),
                                     QFileInfo(file).path().toHtmlEscaped()));
    connect(link, &QLabel::linkActivated, this, [this, file] { emit file_wanted(file); });
    recent_->addWidget(link);
  }
}

}  // namespace conelab::desktop
