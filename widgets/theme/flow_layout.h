// A layout that continues in the next line where a line is full, for tool bars of narrow views; a
// row of tools in such a layout that folds to a few lines; layouts with margins, labels for
// sentences, and pages that scroll.
#pragma once

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QList>
#include <QMargins>
#include <QRegularExpression>
#include <QScrollArea>
#include <QToolButton>
#include <QWidget>
#include <algorithm>
#include <vector>

#include "widgets/theme/theme.h"

namespace conelab::desktop {

class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(QWidget* parent, int gap = 6) : QLayout(parent) { setSpacing(gap); }
  ~FlowLayout() override;

  void addItem(QLayoutItem* item) override { items_ << item; }
  [[nodiscard]] int count() const override { return static_cast<int>(items_.size()); }
  [[nodiscard]] QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override;
  [[nodiscard]] Qt::Orientations expandingDirections() const override { return {}; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override { return minimumSize(); }
  [[nodiscard]] QSize minimumSize() const override;
  void setGeometry(const QRect& rect) override;

  /// Keeps this much space at the right end of the first line.
  void keep_end(int width);
  /// Lets only the first `most` lines count for the height; the others lie below it. 0: all count.
  void show_lines(int most);
  /// Returns how many lines there are in a layout of this width.
  [[nodiscard]] int line_count(int width) const;

 private:
  using Line = QList<QLayoutItem*>;
  [[nodiscard]] std::vector<Line> lines(int width) const;
  /// Positions the items if `place` is true, and returns the height of the lines that count.
  int arrange(const QRect& rect, bool place) const;

  QList<QLayoutItem*> items_;
  int end_width_ = 0, most_lines_ = 0;
};

/// A row of tools that takes at most two lines. If they need more, a button at the right end of the
/// first line unfolds the rest; so does the keyboard focus when it goes to a tool that is not
/// visible. Tools that are used often come first.
class ToolRow : public QWidget {
 public:
  ToolRow();
  /// Adds a tool beside that button, whose place is kept while it is hidden.
  void add_at_end(QWidget* tool);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void place_end();

  FlowLayout* flow_;
  QWidget* end_;
  QToolButton* more_;
};

/// Returns a label for sentences: they break into lines, do not determine the width of the view,
/// and can be selected. `name` is that of the object.
template <class Label = QLabel>
[[nodiscard]] Label* text_label(const char* name, const QString& accessible = {}) {
  auto* label = new Label;
  label->setObjectName(name);
  label->setAccessibleName(accessible);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  return label;
}

/// Returns a button for a row of tools. `name` is that of the object, `about` its tool tip.
[[nodiscard]] inline QToolButton* tool_button(const QString& text, const QString& name,
                                              const QString& about = {}, bool checkable = false) {
  auto* button = named(new QToolButton, name, {}, about);
  button->setText(text);
  button->setCheckable(checkable);
  return button;
}

/// Adds a button to a row of tools, or another kind of button; a click calls `act` of `receiver`.
template <class Button = QToolButton, class Receiver, class Act>
Button* add_button(QLayout* line, const QString& text, const QString& name, const QString& about,
                   Receiver* receiver, Act act) {
  auto* button = named(new Button, name, {}, about);
  button->setText(text);
  line->addWidget(button);
  QObject::connect(button, &Button::clicked, receiver, act);
  return button;
}

/// Lets a tool keep its place while it is hidden.
void keep_place_when_hidden(QWidget& tool);

/// Returns a layout with these margins, that of `in` unless that is null. Without a spacing, items
/// are as far apart as the style wants.
template <class Layout>
[[nodiscard]] Layout* laid_out(QWidget* in, const QMargins& margins = {}, int spacing = -1) {
  auto* layout = new Layout(in);
  layout->setContentsMargins(margins);
  layout->setSpacing(spacing);
  return layout;
}

/// Returns an area without a frame in which a page scrolls that is as wide as the area. With
/// `sideways`, a page that cannot be so narrow scrolls that way, too.
[[nodiscard]] inline QScrollArea* scrolled(QWidget* page, const QString& accessible,
                                           bool sideways = false) {
  auto* area = new QScrollArea;
  area->setAccessibleName(accessible);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  if (!sideways) area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setWidget(page);
  return area;
}

/// Returns a layout that holds the widget within these margins; it takes no space while the widget
/// is hidden. The margins of a label itself would be lost whenever its style sheet is set again, as
/// for a new theme.
[[nodiscard]] inline QLayout* inset(QWidget* widget, const QMargins& margins) {
  auto* line = laid_out<QHBoxLayout>(nullptr, margins);
  line->addWidget(widget);
  return line;
}

// A label that reserves space for its longest text. It grows if that was too little and does not
// shrink again, so that its neighbours keep their sizes while the text follows the pointer.

/// Returns the text with non-breaking spaces between values and their names: lines do not break
/// after a colon or an equals sign, before a number, or around a minus sign.
[[nodiscard]] inline QString with_values_bound(QString text) {
  static const QRegularExpression breaks(
      QStringLiteral("(?<=[:=−]) (?! )|(?<! ) (?=[-−=]?\\d|[=−] )"));
  return text.replace(breaks, QString(QChar::Nbsp));
}

class SteadyLabel : public QLabel {
 public:
  using QLabel::QLabel;

  /// Shows a text whose number of lines changed for another reason than its values. The reserved
  /// space is computed again.
  void show_new_text(const QString& text) {
    setText(text);
    if (isVisible()) settle();
  }
  void show_text(const QString& text) {
    setText(text);
    if (wordWrap() && isVisible()) grow(heightForWidth(width()));
  }
  /// Reserves the space that `longest` needs from now on.
  void reserve_space_for(const QString& longest) {
    if (longest == longest_) return;
    longest_ = longest;
    setMinimumHeight(height_of(longest_));
  }

  // The layout around the label is not asked when a text changes, because laying out rich text at
  // several widths takes longer than a frame.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }
  [[nodiscard]] QSize sizeHint() const override { return {1, minimumHeight()}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    if (width() != wrapped_) settle();  // Another width changes the lines and the height.
    QLabel::resizeEvent(event);
  }
  void showEvent(QShowEvent* event) override {
    settle();
    QLabel::showEvent(event);
  }

 private:
  void settle() {
    wrapped_ = width();
    setMinimumHeight(0);  // Otherwise the label includes it in the height of its text.
    setMinimumHeight(std::max(height_of(longest_), wordWrap() ? heightForWidth(width()) : 0));
  }
  void grow(int height) { setMinimumHeight(std::max(minimumHeight(), height)); }
  [[nodiscard]] int height_of(const QString& text) const {
    const QMargins around = contentsMargins();
    const int room = std::max(1, width() - around.left() - around.right());
    return fontMetrics().boundingRect(0, 0, room, 10000, Qt::TextWordWrap, text).height() +
           around.top() + around.bottom();
  }

  QString longest_;
  int wrapped_ = 0;
};

// Copying what a canvas shows, for its menu.

inline void copy_picture(QWidget& canvas) {
  QGuiApplication::clipboard()->setPixmap(canvas.grab());
}

}  // namespace conelab::desktop
