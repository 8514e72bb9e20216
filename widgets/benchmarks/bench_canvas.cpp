#include "widgets/benchmarks/bench_canvas.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "core/figure/style.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double margin = 14;
/// Pixels per point at which the 7 pt text of figures is legible.
constexpr double wanted_scale = 1.75;
/// The largest distance of the pointer from a case, in pixels.
constexpr double reach = 14;

}  // namespace

BenchCanvas::BenchCanvas(BenchModel& model, QWidget* parent) : QWidget(parent), model_(model) {
  setObjectName("bench-canvas");
  setAccessibleName(tr("Curves of the benchmark"));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(240, 180);
  connect(&model_, &BenchModel::changed, this, &BenchCanvas::redraw);
  redraw();
}

double BenchCanvas::page_width() const {
  const double wanted = std::round((width() - 2 * margin) / wanted_scale / 10) * 10;
  return std::clamp(wanted, figure::single_column, figure::double_column);
}

QString BenchCanvas::longest_text() const {
  const auto by_size = [](const BenchSpot& a, const BenchSpot& b) {
    return a.text.size() < b.text.size();
  };
  const auto longest = std::max_element(picture_.spots.begin(), picture_.spots.end(), by_size);
  return longest == picture_.spots.end() ? QString() : QString::fromStdString(longest->text);
}

double BenchCanvas::scale() const {
  return std::min((width() - 2 * margin) / picture_.list.width,
                  (height() - 2 * margin) / picture_.list.height);
}

QPointF BenchCanvas::origin() const {
  return {(width() - picture_.list.width * scale()) / 2,
          (height() - picture_.list.height * scale()) / 2};
}

QPointF BenchCanvas::place_of(const BenchSpot& spot) const {
  return origin() + scale() * QPointF(spot.at.x, spot.at.y);
}

void BenchCanvas::redraw() {
  const std::string before = spot_ ? picture_.spots[*spot_].text : "";
  picture_ = model_.picture(page_width());
  if (spot_ && *spot_ >= picture_.spots.size()) spot_.reset();
  if (spot_ && picture_.spots[*spot_].text != before) point_at(spot_);
  setAccessibleDescription(QString::fromStdString(picture_.list.metadata.title));
  update();
}

void BenchCanvas::point_at(std::optional<std::size_t> spot) {
  spot_ = spot;
  if (spot_) {
    emit pointed(QString::fromStdString(picture_.spots[*spot_].text));
  }
  update();
}

void BenchCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Window));
  if (picture_.list.items.empty()) {
    painter.setPen(quiet_ink(palette()));
    const QString text = model_.running() ? tr("The first curves appear with the first samples …")
                         : model_.data()  ? tr("No case that is chosen has been measured.")
                                          : tr("Run a sweep, or open a result of `conelab bench`.");
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, text);
    return;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF page(origin(), QSizeF(picture_.list.width, picture_.list.height) * scale());
  painter.fillRect(page, Qt::white);  // Figures are white in every theme.
  painter.setPen(hair_line(palette()));
  painter.drawRect(page.adjusted(-0.5, -0.5, 0.5, 0.5));
  painter.save();
  painter.translate(page.topLeft());
  painter.scale(scale(), scale());
  figure::paint(picture_.list, painter);
  painter.restore();
  if (!spot_) return;
  painter.setPen(QPen(focus_colour(), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(place_of(picture_.spots[*spot_]), 8, 8);
}

void BenchCanvas::resizeEvent(QResizeEvent*) { redraw(); }

void BenchCanvas::mouseMoveEvent(QMouseEvent* event) {
  std::optional<std::size_t> nearest;
  double distance = reach;
  for (std::size_t i = 0; i < picture_.spots.size(); ++i) {
    const QPointF away = place_of(picture_.spots[i]) - event->position();
    if (std::hypot(away.x(), away.y()) >= distance) continue;
    distance = std::hypot(away.x(), away.y());
    nearest = i;
  }
  if (nearest != spot_) point_at(nearest);
}

void BenchCanvas::leaveEvent(QEvent*) { point_at(std::nullopt); }

void BenchCanvas::keyPressEvent(QKeyEvent* event) {
  const std::size_t count = picture_.spots.size();
  const bool forward = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down;
  const bool backward = event->key() == Qt::Key_Left || event->key() == Qt::Key_Up;
  if (count == 0 || (!forward && !backward)) return QWidget::keyPressEvent(event);
  if (!spot_) return point_at(forward ? 0 : count - 1);
  point_at((*spot_ + (forward ? 1 : count - 1)) % count);
}

}  // namespace conelab::desktop
