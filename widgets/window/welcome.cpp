#include "widgets/window/welcome.h"

#include <QBoxLayout>
#include <QCommandLinkButton>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStylePainter>

#include "widgets/theme/theme.h"
#include "widgets/window/examples.h"

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

/// A button with a title and a question. In a narrow window both take several lines; the class of
/// Qt keeps the title on one.
class ExampleButton : public QCommandLinkButton {
 public:
  ExampleButton(const QString& title, const QString& question)
      : QCommandLinkButton(title, question) {
    bold_ = font();
    bold_.setBold(true);
  }
  [[nodiscard]] QSize minimumSizeHint() const override { return {narrowest, 0}; }
  [[nodiscard]] int heightForWidth(int width) const override {
    return question_place(width).bottom() + 1 + above;
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QStylePainter painter(this);
    QStyleOptionButton frame;
    initStyleOption(&frame);
    frame.text.clear();
    painter.drawControl(QStyle::CE_PushButton, frame);
    const auto draw = [&](const QFont& letters, const QRect& place, const QString& words) {
      painter.setFont(letters);
      painter.drawItemText(place, Qt::TextWordWrap, palette(), isEnabled(), words,
                           QPalette::ButtonText);
    };
    draw(bold_, title_place(width()), text());
    draw(font(), question_place(width()), description());
  }

 private:
  static constexpr int beside = 12, above = 10, narrowest = 160;

  [[nodiscard]] static QRect place(const QFont& letters, int top, int width, const QString& words) {
    const QRect room(beside, top, width - 2 * beside, 0);
    const int height = QFontMetrics(letters).boundingRect(room, Qt::TextWordWrap, words).height();
    return {room.topLeft(), QSize(room.width(), height)};
  }
  [[nodiscard]] QRect title_place(int width) const { return place(bold_, above, width, text()); }
  [[nodiscard]] QRect question_place(int width) const {
    return place(font(), title_place(width).bottom() + 1, width, description());
  }

  QFont bold_;
};

}  // namespace

Welcome::Welcome(const std::string& shipped_trace, QWidget* parent) : QWidget(parent) {
  setObjectName("welcome");
  auto* whole = new QVBoxLayout(this);  // In a small window the page is scrolled.
  whole->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea;
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setAccessibleName(tr("Welcome page"));
  whole->addWidget(scroll);
  auto* page = new QWidget;
  scroll->setWidget(page);
  auto* outer = new QHBoxLayout(page);
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
        new ExampleButton(QString::fromUtf8(example.title), QString::fromUtf8(example.question));
    button->setObjectName(QStringLiteral("example-%1").arg(index));
    button->setEnabled(!shipped_trace.empty());
    button->setIcon(QIcon());
    column->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, index] { emit example_wanted(index); });
    ++index;
  }
  column->addSpacing(12);
  column->addWidget(heading(tr("Open"), 2));
  auto* open = new QPushButton(tr("Open a file …"));
  connect(open, &QPushButton::clicked, this, &Welcome::open_wanted);
  column->addWidget(open, 0, Qt::AlignLeft);
  recent_ = new QVBoxLayout;
  column->addLayout(recent_);
  auto* hint = new QLabel(tr(
      "HDF5, .npz, .npy and .safetensors with q, k, v; results of attend, tree and bench; studies; "
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
