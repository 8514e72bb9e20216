#include "widgets/theme/flow_layout.h"

#include <algorithm>
#include <utility>

namespace conelab::desktop {

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

QLayoutItem* FlowLayout::takeAt(int index) {
  return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

int FlowLayout::heightForWidth(int width) const { return arrange({0, 0, width, 0}, false); }

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_) {
    if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
  }
  const QMargins m = contentsMargins();
  return size + QSize(m.left() + m.right(), m.top() + m.bottom());
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool place) const {
  const QMargins m = contentsMargins();
  const QRect inside = rect.marginsRemoved(m);
  int x = inside.x(), y = inside.y(), line = 0;
  QList<std::pair<QLayoutItem*, QRect>> in_line;  // Centred once the height of the line is known.
  const auto end_line = [&] {
    for (auto& [item, box] : in_line) {
      box.moveTop(y + (line - box.height()) / 2);
      if (place) item->setGeometry(box);
    }
    in_line.clear();
  };
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;  // Hidden.
    const int width = std::min(item->sizeHint().width(), std::max(1, inside.width()));
    if (x > inside.x() && x + width > inside.right() + 1) {
      end_line();
      x = inside.x();
      y += line + spacing();
      line = 0;
    }
    const int height = item->sizeHint().height();
    in_line.append({item, QRect(x, y, width, height)});
    x += width + spacing();
    line = std::max(line, height);
  }
  end_line();
  return y + line - rect.y() + m.bottom();
}

}  // namespace conelab::desktop
