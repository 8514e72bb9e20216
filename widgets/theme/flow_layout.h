// A layout that continues in the next line where a line is full, for tool bars of narrow views; and
// a layout with margins.
#pragma once

#include <QHBoxLayout>
#include <QList>
#include <QMargins>

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

 private:
  /// Positions the items if `place` is true, and returns their height.
  int arrange(const QRect& rect, bool place) const;

  QList<QLayoutItem*> items_;
};

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
