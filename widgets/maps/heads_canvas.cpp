#include "widgets/maps/heads_canvas.h"

#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "widgets/maps/colour_scale.h"
#include "widgets/maps/maps_paint.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double legend_height = 36, legend_width = 520, legend_margin = 14;  ///< Pixels.
constexpr double score_bar = 3, widest_title = 130;

QString text_of(const std::string& text) { return QString::fromStdString(text); }

}  // namespace

HeadsCanvas::HeadsCanvas(HeadsModel& model) : model_(model) {
  setObjectName("heads-canvas");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Attention maps of all heads"));
  connect(&model_, &HeadsModel::changed, this, [this] {
    arrange();
    update();
    emit pointed_changed();
  });
  const Document& document = model_.maps().workspace().document();
  connect(&document, &Document::focus_changed, this, qOverload<>(&QWidget::update));
  connect(&document, &Document::changed, this, qOverload<>(&QWidget::update));
}

// ---- geometry -----------------------------------------------------------------------------------

HeadSpace HeadsCanvas::space() const {
  QFont bold = font();
  bold.setBold(true);
  const QFontMetricsF titles(bold), labels(label_font(font()));
  HeadSpace space{0, labels.horizontalAdvance("00.00"), 0};
  for (const auto& row : model_.rows()) {
    const QString title = text_of(row->title);
    space.title = std::max(space.title, std::min(titles.horizontalAdvance(title), widest_title));
    space.name = std::max(space.name, labels.horizontalAdvance(title + " · 00") + 4);
  }
  return space;
}

HeadGrid HeadsCanvas::arranged(double height) const {
  const auto& rows = model_.rows();
  if (rows.empty()) return {};
  const HeadResults& first = *rows.front()->work.results;
  const double aspect =
      first.queries() == 0
          ? 1
          : std::clamp(static_cast<double>(first.keys()) / static_cast<double>(first.queries()),
                       0.3, 3.0);
  if (model_.listed()) {
    return arrange_head_list(width(), height - legend_height, heads_.size(), aspect, space());
  }
  // A layer that has not been read is taken to have as many heads as the others.
  const auto& trace = model_.maps().workspace().trace();
  std::size_t most = trace ? static_cast<std::size_t>(trace->extents().head) : 0;
  for (const auto& row : rows) most = std::max(most, row->maps.size());
  std::vector<std::size_t> heads;
  for (const auto& row : rows) heads.push_back(row->maps.empty() ? most : row->maps.size());
  return arrange_heads(width(), height - legend_height, heads, aspect, space());
}

void HeadsCanvas::arrange() {
  heads_ = model_.heads();
  scores_ = model_.score_limits();
  grid_ = arranged(height());
  if (!model_.listed()) {
    heads_.clear();
    for (const HeadPlace& place : grid_.maps) heads_.push_back({place.row, place.head});
  }
  if (under_ && *under_ >= grid_.maps.size()) under_.reset();
  const int needed = minimumSizeHint().height();
  if (std::exchange(needed_height_, needed) != needed) updateGeometry();
}

QSize HeadsCanvas::minimumSizeHint() const {
  const HeadGrid smallest = arranged(0);
  return {320, std::max(240, static_cast<int>(std::ceil(smallest.bottom + legend_height)))};
}

MapCamera HeadsCanvas::camera(const HeadRow& row) const {
  MapCamera camera;
  camera.fit(row.work.results->queries(), row.work.results->keys(), grid_.width, grid_.height);
  return camera;
}

bool HeadsCanvas::is_open(const HeadAt& at) const {
  const Session& session = model_.maps().workspace().document().session();
  return session.trace.head == static_cast<std::int64_t>(at.head) &&
         session.trace.group == model_.rows()[at.row]->work.group;
}

QString HeadsCanvas::pointed() const {
  if (!under_) return {};
  const HeadAt& at = heads_[*under_];
  if (at.head >= model_.rows()[at.row]->maps.size()) return {};
  const auto pair = model_.maps().workspace().document().focused();
  const std::string value = pair ? model_.value_text(at, *pair) : "";
  return text_of(model_.about(at) + (value.empty() ? "" : "\n" + value));
}

// ---- painting -----------------------------------------------------------------------------------

void HeadsCanvas::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(rect(), canvas_ground(palette()));
  draw_titles(painter);
  painter.setFont(label_font(font()));
  for (std::size_t i = 0; i < grid_.maps.size(); ++i) {
    const HeadPlace& place = grid_.maps[i];
    const QRectF around = desktop_rect(place.cells).united(desktop_rect(place.label));
    if (around.adjusted(-4, -4, 4, 8).intersects(event->rect())) draw_map_of(painter, i);
  }
  draw_legend(painter);
  draw_errors(painter);
}

/// A list of heads has no titles of rows: if no head can be shown, it says why.
void HeadsCanvas::draw_errors(QPainter& painter) {
  if (!model_.listed()) return;
  std::set<std::string> errors;
  for (const auto& row : model_.rows()) errors.insert(row->error);
  if (errors.contains("")) return;
  QStringList lines;
  for (const std::string& error : errors) lines << text_of(error);
  painter.setFont(font());
  painter.setPen(error_ink(palette()));
  painter.drawText(rect().adjusted(14, 14, -14, -14), Qt::AlignTop | Qt::TextWordWrap,
                   lines.join('\n'));
}

void HeadsCanvas::draw_titles(QPainter& painter) {
  QFont bold = font();
  bold.setBold(true);
  for (std::size_t r = 0; r < grid_.titles.size(); ++r) {
    const HeadRow& row = *model_.rows()[r];
    painter.setFont(bold);
    painter.setPen(palette().color(QPalette::WindowText));
    QRectF box = desktop_rect(grid_.titles[r]);
    if (!row.error.empty()) box.setRight(width() - legend_margin);
    const QString title = text_of(row.error.empty() ? row.title : row.title + ": " + row.error);
    painter.drawText(
        box, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(title, Qt::ElideMiddle, static_cast<int>(box.width())));
  }
  painter.setFont(label_font(font()));
  painter.setPen(quiet_ink(palette()));
  for (std::size_t h = 0; h < grid_.columns.size(); ++h) {
    painter.drawText(desktop_rect(grid_.columns[h]), Qt::AlignCenter, QString::number(h));
  }
}

void HeadsCanvas::draw_map_of(QPainter& painter, std::size_t index) {
  const HeadPlace& place = grid_.maps[index];
  const HeadAt& at = heads_[index];
  const HeadRow& row = *model_.rows()[at.row];
  if (!row.error.empty()) return;
  if (at.head >= row.maps.size() || !row.maps[at.head]) {
    painter.fillRect(desktop_rect(place.cells), QColor(128, 128, 128, 24));
    return draw_frame(painter, index);
  }
  const SmallMap& map = *row.maps[at.head];
  Picture& kept = pictures_[{at.row, at.head}];
  if (kept.of != row.maps[at.head]) kept = {row.maps[at.head], {}};
  const MapCamera fitted = camera(row);
  painter.drawImage(QPointF(place.cells.x, place.cells.y),
                    kept.picture.draw(*map.pyramid, map.summary, fitted, model_.colour_choice(row),
                                      model_.limits(row, at.head), place.cells.width,
                                      place.cells.height, devicePixelRatioF()));
  if (model_.shares_pairs(row)) draw_pair(painter, place.cells, fitted);
  draw_label(painter, index);
  draw_frame(painter, index);
}

/// Draws the score as a number and as a bar below the map, whose length is the place of the score
/// between the smallest and the largest one.
void HeadsCanvas::draw_label(QPainter& painter, std::size_t index) {
  const HeadPlace& place = grid_.maps[index];
  const HeadAt& at = heads_[index];
  const double score = model_.rows()[at.row]->score(at.head, model_.score_info());
  const QString number = text_of(tree::score_text(score));
  const QFontMetricsF metrics(painter.font());
  QRectF box = desktop_rect(place.label);
  painter.setPen(is_open(at) ? palette().color(QPalette::Highlight) : quiet_ink(palette()));
  if (model_.listed()) {
    const QRectF name(box.x(), box.y(), box.width(), box.height() / 2);
    painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter, text_of(model_.name(at, true)));
    box.setTop(name.bottom());
  } else if (grid_.columns.empty()) {
    const QString head = QString::number(at.head);
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, head);
    box.setLeft(box.left() + metrics.horizontalAdvance(head) + 6);
  }
  if (!model_.rows()[at.row]->maps[at.head]->scores) return;
  painter.setPen(palette().color(QPalette::WindowText));
  const bool beside = place.label.x > place.cells.x + 1;
  const auto side =
      beside || model_.listed() || !grid_.columns.empty() ? Qt::AlignLeft : Qt::AlignRight;
  if (metrics.horizontalAdvance(number) <= box.width()) {
    painter.drawText(box.adjusted(0, 0, side == Qt::AlignRight ? -5 : 0, 0),
                     side | Qt::AlignVCenter, number);
  }
  if (std::isnan(score) || scores_.empty()) return;
  const double range = scores_.high - scores_.low;
  const double part = range > 0 ? (score - scores_.low) / range : 0;
  painter.fillRect(QRectF(place.cells.x, place.cells.bottom() + 1.5,
                          std::max(1.0, part * place.cells.width), score_bar),
                   palette().color(QPalette::Highlight));
}

/// Draws the colours that all heads share, and the special colours. If each map has its own range,
/// only the latter are drawn. While heads are computed, their number is shown.
void HeadsCanvas::draw_legend(QPainter& painter) {
  const auto& rows = model_.rows();
  if (rows.empty() || grid_.maps.empty()) return;
  const double top = std::max(height() - legend_height, grid_.bottom) + 4;
  const auto differs = std::ranges::find_if(rows, [](const auto& row) {
    return row->difference();  // The other row, if any, is the reference.
  });
  const HeadRow& row = differs == rows.end() ? *rows.front() : **differs;
  MapsModel& maps = model_.maps();
  const bool shared = maps.workspace().document().session().maps.shared_limits;
  painter.setFont(label_font(font()));
  double room = width() - 2 * legend_margin;
  const auto [done, all] = model_.progress();
  if (model_.busy() && all > 0) {
    const QString text = tr("%1 of %2 heads").arg(done).arg(all);
    const double wide = QFontMetricsF(painter.font()).horizontalAdvance(text);
    painter.setPen(quiet_ink(palette()));
    painter.drawText(QRectF(width() - legend_margin - wide, top - 3, wide, 16),
                     Qt::AlignRight | Qt::AlignVCenter, text);
    room -= wide + 16;
  }
  const figure::Limits limits = shared ? model_.limits(row, 0) : figure::Limits();
  draw_scale(painter, {legend_margin, top, std::min(room, legend_width), 0},
             {model_.colour_choice(row), limits, limits, model_.specials(),
              text_of(shared ? maps.value_name(row.difference()) : "")});
}

void HeadsCanvas::draw_frame(QPainter& painter, std::size_t index) {
  const HeadPlace& place = grid_.maps[index];
  const bool chosen = is_open(heads_[index]), under = under_ == index;
  const QColor accent = palette().color(QPalette::Highlight);
  const double grown = chosen || under ? 1.5 : 0.5;
  painter.setPen(QPen(chosen || under ? accent : hair_line(palette()), chosen ? 2 : 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(desktop_rect(place.cells).adjusted(-grown, -grown, grown, grown));
}

void HeadsCanvas::draw_pair(QPainter& painter, const figure::Box& cells, const MapCamera& camera) {
  const auto pair = model_.maps().workspace().document().focused();
  if (!pair) return;
  const double side = std::max(5.0, camera.scale + 2);
  const QPointF at(cells.x + camera.x_of(static_cast<double>(pair->key) + 0.5, cells.width),
                   cells.y + camera.y_of(static_cast<double>(pair->query) + 0.5, cells.height));
  painter.setPen(QPen(focus_colour(), 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(at.x() - side / 2, at.y() - side / 2, side, side));
}

// ---- input --------------------------------------------------------------------------------------

void HeadsCanvas::resizeEvent(QResizeEvent* event) {
  arrange();
  if (event->size().width() != event->oldSize().width()) updateGeometry();
}

std::optional<Focus> HeadsCanvas::pair_at(const QPointF& point) const {
  const HeadRow& row = *model_.rows()[heads_[*under_].row];
  if (!model_.shares_pairs(row)) return std::nullopt;
  const figure::Box& box = grid_.maps[*under_].cells;
  const Focus pair = cell_under(camera(row), box, point);
  const bool inside = pair.query >= 0 && pair.query < row.work.results->queries() &&
                      pair.key >= 0 && pair.key < row.work.results->keys();
  return inside ? std::optional(pair) : std::nullopt;
}

void HeadsCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  const auto before = under_;
  under_ = grid_.at({at.x(), at.y()});
  setCursor(under_ ? Qt::PointingHandCursor : Qt::ArrowCursor);
  model_.maps().workspace().document().hover(under_ ? pair_at(at) : std::nullopt);
  if (under_ == before) return;
  update();
  emit pointed_changed();
}

void HeadsCanvas::mousePressEvent(QMouseEvent* event) {
  const auto hit = grid_.at({event->position().x(), event->position().y()});
  if (event->button() == Qt::LeftButton && hit) model_.open(heads_[*hit], "maps");
}

void HeadsCanvas::contextMenuEvent(QContextMenuEvent* event) {
  const auto hit = grid_.at({static_cast<double>(event->x()), static_cast<double>(event->y())});
  if (!hit) return event->ignore();
  const HeadAt at = heads_[*hit];
  auto* menu = named(new QMenu(this), "heads-menu");
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const QString name = text_of(model_.name(at, false));
  connect(menu->addAction(tr("Open %1").arg(name)), &QAction::triggered, &model_,
          [this, at] { model_.open(at, "maps"); });
  connect(menu->addAction(tr("Compare the open head with %1").arg(name)), &QAction::triggered,
          &model_, [this, at] { model_.compare(at); });
  menu->addSeparator();
  menu->addAction(tr("Copy the scores"), this,
                  [this, at] { QGuiApplication::clipboard()->setText(text_of(model_.about(at))); });
  menu->addAction(tr("Copy the picture"), this, [this] { copy_picture(*this); });
  menu->popup(event->globalPos());
}

void HeadsCanvas::leaveEvent(QEvent*) {
  under_.reset();
  model_.maps().workspace().document().hover(std::nullopt);
  update();
  emit pointed_changed();
}

namespace {

using figure::Box;

constexpr double head_margin = 14, head_gap = 7, label_line_height = 15, title_line_height = 24,
                 smallest_map = 18;

/// One way to arrange heads: the space beside the maps, and how many maps a line has.
struct GridShape {
  double left = 0;                           ///< Titles left of a line.
  double top = 0;                            ///< The numbers of the columns.
  double above = 0;                          ///< The title above the lines of a row.
  double label_width = 0, label_height = 0;  ///< Of a label right of its map, or above it.
  std::size_t columns = 1;
};

std::size_t lines_of(std::size_t heads, std::size_t columns) {
  return std::max<std::size_t>(1, (heads + columns - 1) / columns);
}

double map_height(double width, double height, const std::vector<std::size_t>& heads, double aspect,
                  const GridShape& s) {
  std::size_t lines = 0;
  for (const std::size_t each : heads) lines += lines_of(each, s.columns);
  const double across =
      (width - 2 * head_margin - s.left + head_gap) / static_cast<double>(s.columns);
  const double titles = s.above * static_cast<double>(heads.size());
  const double down = (height - 2 * head_margin - s.top - titles) / static_cast<double>(lines);
  return std::min((across - head_gap - s.label_width) / aspect, down - head_gap - s.label_height);
}

/// Positions the maps of a shape; `grid` has their size.
void place_heads(double width, const std::vector<std::size_t>& heads, const GridShape& s,
                 HeadGrid& grid) {
  const double across = grid.width + s.label_width + head_gap;
  const double down = grid.height + s.label_height + head_gap;
  double y = head_margin + s.top;
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const double title = s.above > 0 ? width - 2 * head_margin : s.left;
    const double high = s.above > 0 ? s.above : grid.height + s.label_height;
    if (title > 0) grid.titles.push_back({head_margin, y, title, high});
    y += s.above;
    for (std::size_t h = 0; h < heads[row]; ++h) {
      const double x = head_margin + s.left + static_cast<double>(h % s.columns) * across;
      const double top = y + static_cast<double>(h / s.columns) * down;
      const Box cells = {x, top + s.label_height, grid.width, grid.height};
      const Box label = s.label_width > 0
                            ? Box{cells.right() + 3, cells.y, s.label_width, grid.height}
                            : Box{x, top, grid.width + head_gap - 2, s.label_height};
      grid.maps.push_back({row, h, cells, label});
    }
    y += static_cast<double>(lines_of(heads[row], s.columns)) * down;
  }
  grid.bottom = y;
  for (std::size_t h = 0; s.top > 0 && h < s.columns; ++h) {
    grid.columns.push_back(
        {head_margin + s.left + static_cast<double>(h) * across, head_margin, grid.width, s.top});
  }
}

/// Chooses the shape with the largest maps. Among equal ones, the first is chosen.
HeadGrid largest_grid(double width, double height, const std::vector<std::size_t>& heads,
                      double aspect, const std::vector<GridShape>& shapes, double least) {
  HeadGrid grid;
  const GridShape* best = nullptr;
  for (const GridShape& shape : shapes) {
    const double high = map_height(width, height, heads, aspect, shape);
    if (best == nullptr || high > grid.height + 1e-9) grid.height = high, best = &shape;
  }
  if (grid.height < least) {  // The widest shape, of as many lines as it takes.
    grid.height = least;
    best = &shapes.front();
    for (const GridShape& shape : shapes) {
      const double across = least * aspect + shape.label_width + head_gap;
      const double used = shape.left + across * static_cast<double>(shape.columns) - head_gap;
      if (used <= width - 2 * head_margin && shape.columns >= best->columns) best = &shape;
    }
  }
  grid.height = std::floor(grid.height);
  grid.width = std::max(1.0, std::floor(grid.height * aspect));
  place_heads(width, heads, *best, grid);
  return grid;
}

}  // namespace

std::optional<std::size_t> HeadGrid::at(figure::Point point) const {
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (maps[i].cells.contains(point) || maps[i].label.contains(point)) return i;
  }
  return std::nullopt;
}

HeadGrid arrange_heads(double width, double height, const std::vector<std::size_t>& heads,
                       double aspect, const HeadSpace& space) {
  const std::size_t most = heads.empty() ? 0 : *std::ranges::max_element(heads);
  if (most == 0) return {};
  const double left = space.title + 10;
  std::vector<GridShape> shapes;
  for (std::size_t c = 1; c <= most; ++c)
    shapes.push_back({0, 0, title_line_height, 0, label_line_height, c});
  shapes.push_back({left, label_line_height, 0, 0, label_line_height, most});
  shapes.push_back({left, label_line_height, 0, space.score + 4, 0, most});
  return largest_grid(width, height, heads, aspect, shapes, smallest_map);
}

HeadGrid arrange_head_list(double width, double height, std::size_t count, double aspect,
                           const HeadSpace& space) {
  if (count == 0) return {};
  const double room = (width - 2 * head_margin + head_gap) / (space.name + head_gap);
  const auto most =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1.0, room)), 1, count);
  std::vector<GridShape> shapes;
  for (std::size_t c = 1; c <= most; ++c) shapes.push_back({0, 0, 0, 0, 2 * label_line_height, c});
  return largest_grid(width, height, {count}, aspect, shapes, space.name / aspect);
}

}  // namespace conelab::desktop
