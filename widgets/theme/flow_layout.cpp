#include "widgets/theme/flow_layout.h"

#include <QApplication>
#include <QEvent>
#include <algorithm>
#include <utility>

namespace conelab::desktop {
namespace {

constexpr int folded_lines = 2;

}  // namespace

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

std::vector<FlowLayout::Line> FlowLayout::lines(int width) const {
  std::vector<Line> all(1);
  int x = 0, room = width - end_width_;
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;  // Hidden.
    const int wide = item->sizeHint().width();
    if (x > 0 && x + wide > room) {
      all.emplace_back();
      x = 0, room = width;
    }
    all.back().append(item);
    x += wide + spacing();
  }
  return all;
}

int FlowLayout::line_count(int width) const {
  const QMargins m = contentsMargins();
  return static_cast<int>(lines(width - m.left() - m.right()).size());
}

void FlowLayout::keep_end(int width) {
  if (std::exchange(end_width_, width) != width) invalidate();
}

void FlowLayout::show_lines(int most) {
  most_lines_ = most;
  invalidate();
}

int FlowLayout::arrange(const QRect& rect, bool place) const {
  const QMargins m = contentsMargins();
  const QRect inside = rect.marginsRemoved(m);
  int y = inside.y(), bottom = y, number = 0;
  for (const Line& line : lines(inside.width())) {
    int x = inside.x(), height = 0;
    for (const QLayoutItem* item : line) height = std::max(height, item->sizeHint().height());
    for (QLayoutItem* item : line) {
      const QSize size = item->sizeHint();
      const int width = std::min(size.width(), std::max(1, inside.width()));
      const int top = y + (height - size.height()) / 2;
      if (place) item->setGeometry({x, top, width, size.height()});
      x += width + spacing();
    }
    if (most_lines_ == 0 || number++ < most_lines_) bottom = y + height;
    y += height + spacing();
  }
  return bottom - rect.y() + m.bottom();
}

ToolRow::ToolRow() : flow_(new FlowLayout(this)) {
  flow_->setContentsMargins(10, 4, 10, 4);
  end_ = new QWidget(this);
  end_->setLayout(laid_out<QHBoxLayout>(nullptr, {}, flow_->spacing()));
  more_ = tool_button(tr("more"), "more-tools",
                      tr("Shows the tools for which this line has no space"), true);
  add_at_end(more_);
  flow_->show_lines(folded_lines);
  connect(more_, &QToolButton::toggled, this,
          [this](bool on) { flow_->show_lines(on ? 0 : folded_lines); });
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    if (now == nullptr || !isAncestorOf(now)) return;
    if (now->mapTo(this, QPoint()).y() >= height()) more_->setChecked(true);
  });
}

void ToolRow::add_at_end(QWidget* tool) {
  keep_place_when_hidden(*tool);
  static_cast<QHBoxLayout*>(end_->layout())->insertWidget(0, tool);
  place_end();
}

/// Places the end of the first line, and shows the button if there are more lines.
void ToolRow::place_end() {
  const QSize size = end_->sizeHint();
  flow_->keep_end(size.width() + flow_->spacing());
  const QMargins m = flow_->contentsMargins();
  end_->setGeometry(width() - m.right() - size.width(), m.top(), size.width(), size.height());
  more_->setVisible(flow_->line_count(width()) > folded_lines);
}

void ToolRow::resizeEvent(QResizeEvent* event) {
  place_end();
  QWidget::resizeEvent(event);
}

bool ToolRow::event(QEvent* event) {
  if (event->type() == QEvent::LayoutRequest) place_end();
  return QWidget::event(event);
}

void keep_place_when_hidden(QWidget& tool) {
  QSizePolicy policy = tool.sizePolicy();
  policy.setRetainSizeWhenHidden(true);
  tool.setSizePolicy(policy);
}

}  // namespace conelab::desktop
