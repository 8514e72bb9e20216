// A layout that continues in the next line where a line is full, for tool bars of narrow views; a
// row of tools in such a layout that folds to a few lines; and a layout with margins.
#pragma once

#include <QHBoxLayout>
#include <QList>
#include <QMargins>
#include <QToolButton>
#include <vector>

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
  explicit ToolRow(QWidget* parent = nullptr);
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

/// Lets a tool keep its place while it is hidden.
void keep_place_when_hidden(QWidget& tool);

/// Returns a layout that holds the widget within these margins; it takes no space while the widget
/// is hidden. The margins of a label itself would be lost whenever its style sheet is set again, as
/// for a new theme.
[[nodiscard]] inline QLayout* inset(QWidget* widget, const QMargins& margins) {
  auto* line = new QHBoxLayout;
  line->setContentsMargins(margins);
  line->addWidget(widget);
  return line;
}

}  // namespace conelab::desktop
