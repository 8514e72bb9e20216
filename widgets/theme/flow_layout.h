// Widgets in a line that goes on in the next one where there is no room: tool bars of narrow views.
#pragma once

#include <QLayout>
#include <QList>

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
  /// Places the items, or only finds how high they are.
  int arrange(const QRect& rect, bool place) const;

  QList<QLayoutItem*> items_;
};

}  // namespace conelab::desktop
