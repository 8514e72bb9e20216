#include "widgets/maps/maps_canvas.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/maps/map_tokens.h"
#include "widgets/maps/maps_paint.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// The fraction of a map's side that labels may take, and the pixels that they may always take.
constexpr double label_part = 0.2, least_label_space = 34;
/// Maps are at least so high where the view can scroll. Below the other heights, histograms and
/// margins leave their space to the cells.
constexpr double least_map = 200, histogram_map = 220, margin_map = 220;
constexpr double margin = 30, profile_margin = 56, histogram_height = 26;
constexpr double grasp = 6;      ///< Distance in pixels within which a handle is held.
constexpr double bin_width = 4;  ///< Of a histogram.
constexpr int drag_start = 4;
constexpr int lowest = 240;  ///< Height of the canvas.

}  // namespace

MapsCanvas::MapsCanvas(MapsModel& model, MapRegionModel& region) : model_(model), region_(region) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Attention maps"));
  connect(&model_, &MapsModel::panels_changed, this, [this] {
    arrange();
    update();
  });
  connect(&model_, &MapsModel::progressed, this, qOverload<>(&QWidget::update));
  connect(&model_.workspace(), &Workspace::loading_changed, this, qOverload<>(&QWidget::update));
  connect(&region_, &MapRegionModel::changed, this, qOverload<>(&QWidget::update));
  const Document& document = model_.workspace().document();
  connect(&document, &Document::focus_changed, this, [this, &document] {
    setAccessibleDescription(QString::fromStdString(model_.readout(document.focused())));
    update();
  });
}

// ---- geometry -----------------------------------------------------------------------------------

LabelSpace MapsCanvas::label_spaces() {
  const MapTokens& tokens = model_.tokens();
  LabelSpace space;
  // While a head is trained, its numbers change and its tokens do not.
  const auto measure = [&](Measured& of, const MapAxis& axis, std::int64_t count) {
    if (of.labels != axis.label || of.count != count || of.font != font()) {
      const QFontMetricsF metrics(label_font(font()));
      of = {axis.label, count, font(), label_space(metrics, axis.label, count)};
    }
    return of.space;
  };
  space.row = measure(measured_[0], tokens.query, model_.rows());
  space.column = measure(measured_[1], tokens.key, model_.columns());
  // The panels of one operator alone may take two rows; what is compared stays side by side.
  const bool several = model_.panels().size() > model_.together();
  space.together = several ? model_.together() : 1;
  space.least_columns = several ? model_.together() : std::min<std::size_t>(2, model_.together());
  space.own_labels = model_.tokens_differ();
  space.own_bars = !model_.one_bar();
  const bool profiles = model_.workspace().document().session().maps.profiles;
  space.lists = model_.workspace().document().session().locked.has_value();
  space.margin = profiles ? profile_margin : margin;
  space.histogram = histogram_height;
  return space;
}

double MapsCanvas::aspect() const {
  const auto [columns, rows] = model_.largest_size();
  const double wide = static_cast<double>(std::max<std::int64_t>(1, columns)),
               high = static_cast<double>(std::max<std::int64_t>(1, rows));
  return std::clamp(wide / high, 0.3, 3.0);
}

/// Small maps keep their space: histograms and margins are left out, and labels are cut.
void MapsCanvas::arrange() {
  keep_readable();
  const LabelSpace whole = label_spaces();
  LabelSpace space = whole;
  const auto arranged = [&] {
    layout_ = arrange_panels(width(), height(), model_.panels().size(), aspect(), space);
    return layout_.panels.empty() ? Box() : layout_.panels.front().cells;
  };
  const auto with_cut_labels = [&](const Box& cells) {
    const auto room = [](double side) { return std::max(least_label_space, label_part * side); };
    space.row = std::min(whole.row, room(cells.width));
    space.column = std::min(whole.column, room(cells.height));
    return arranged();
  };
  Box cells = with_cut_labels(arranged());
  if (cells.height < histogram_map) space.histogram = 0, cells = arranged();
  if (cells.height < margin_map && space.margin == margin) space.margin = 0, cells = arranged();
  cells = with_cut_labels(cells);  // Cells may have grown.
  // A second line of titles may take the space of small maps only if the first tells nothing.
  if (titles_are_cut(cells.width)) {
    const MapLayout one_line = layout_;
    space.title_lines = 2;
    const double least = std::min(least_map, cells.height);
    if (arranged().height < least) layout_ = one_line;
    cells = layout_.panels.front().cells;
  }
  pictures_.resize(layout_.panels.size());
  if (!model_.camera_fits || layout_.panels.empty()) return;
  const auto [columns, rows] = model_.largest_size();
  model_.camera.fit(rows, columns, cells.width, cells.height);
}

bool MapsCanvas::titles_are_cut(double width) const {
  QFont bold = font();
  bold.setBold(true);
  const QFontMetrics metrics(bold);
  // Titles take as much space while the reference is shown, so that nothing moves.
  return std::ranges::any_of(model_.panels(), [&](const auto& panel) {
    return metrics.horizontalAdvance(QString::fromStdString(panel->title)) > width;
  });
}

void MapsCanvas::keep_readable() {
  LabelSpace space = label_spaces();
  space.histogram = 0;
  if (space.margin == margin) space.margin = 0;
  space.row = std::min(space.row, label_part * least_map);
  space.column = std::min(space.column, label_part * least_map);
  const std::size_t count = model_.panels().size();
  const double seen = parentWidget() == nullptr ? height() : parentWidget()->height();
  const MapLayout whole = arrange_panels(width(), seen, count, aspect(), space);
  const bool fits = count > 0 && whole.panels.front().cells.height >= nearly * least_map;
  if (titles_are_cut(least_map)) space.title_lines = 2;
  const double least = fits ? 0 : least_height(width(), count, aspect(), space, least_map);
  const int needed = std::max(lowest, static_cast<int>(std::ceil(least)));
  if (needed == readable_height_) return;
  readable_height_ = needed;
  updateGeometry();
}

void MapsCanvas::fit() {
  model_.fit();
  update();
}

void MapsCanvas::reveal(const Focus& cell, bool readable) {
  if (layout_.panels.empty()) return;
  const Box& box = layout_.panels.front().cells;
  const QPointF at = cell_centre(0, cell);
  const double least = readable ? QFontMetricsF(label_font(font())).height() : 0;
  if (!box.contains({at.x(), at.y()}) || model_.camera.scale < least) {
    model_.camera.row = static_cast<double>(cell.query) + 0.5;
    model_.camera.column = static_cast<double>(cell.key) + 0.5;
    model_.camera.scale = std::max(model_.camera.scale, least);
    model_.keep_camera(tr("select a pair of tokens"), "locked");
  }
  update();
  emit shown_at(cell_centre(0, cell));
}

std::optional<Focus> MapsCanvas::cell_of_profile(const QPointF& point) const {
  const Document& document = model_.workspace().document();
  const auto focus = model_.tokens().cell_of(document.session().locked);
  if (!document.session().maps.profiles || !focus) return std::nullopt;
  for (const PanelPlace& place : layout_.panels) {
    const Box& cells = place.cells;
    if (place.column_margin.contains({point.x(), point.y()})) {
      return cell_at(
          {point.x(),
           cells.y + model_.camera.y_of(static_cast<double>(focus->query) + 0.5, cells.height)});
    }
    if (place.row_margin.contains({point.x(), point.y()})) {
      return cell_at(
          {cells.x + model_.camera.x_of(static_cast<double>(focus->key) + 0.5, cells.width),
           point.y()});
    }
  }
  return std::nullopt;
}

int MapsCanvas::panel_at(const QPointF& point) const {
  for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
    if (layout_.panels[i].cells.contains({point.x(), point.y()})) return static_cast<int>(i);
  }
  return -1;
}

std::optional<Focus> MapsCanvas::cell_at(const QPointF& point) const {
  const int index = panel_at(point);
  if (index < 0) return std::nullopt;
  const Box& box = layout_.panels[static_cast<std::size_t>(index)].cells;
  const MapTokens& own = *model_.shown(static_cast<std::size_t>(index)).tokens;
  const Focus cell = cell_under(model_.camera, box, point);
  const bool inside = cell.query >= 0 && cell.query < std::min(model_.rows(), own.query.size()) &&
                      cell.key >= 0 && cell.key < std::min(model_.columns(), own.key.size());
  return inside ? std::optional(cell) : std::nullopt;
}

QPointF MapsCanvas::cell_centre(std::size_t panel, const Focus& cell) const {
  const Box& box = layout_.panels[panel].cells;
  return {box.x + model_.camera.x_of(static_cast<double>(cell.key) + 0.5, box.width),
          box.y + model_.camera.y_of(static_cast<double>(cell.query) + 0.5, box.height)};
}

// ---- painting -----------------------------------------------------------------------------------

void MapsCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), canvas_ground(palette()));
  arrange();
  if (model_.panels().empty()) {
    const Workspace& workspace = model_.workspace();
    painter.setPen(quiet_ink(palette()));
    painter.drawText(rect(), Qt::AlignCenter,
                     workspace.loading() ? tr("reading the trace …")
                     : workspace.trace() ? tr("Add an operator to see its attention.")
                                         : tr("Open or drop a trace to see its attention."));
  }
  for (std::size_t i = 0; i < layout_.panels.size(); ++i) draw_panel(painter, i);
  painter.setFont(label_font(font()));
  for (const Bar& bar : bars()) draw_scale(painter, bar.box, bar.scale);
  draw_largest_keys(painter);
}

void MapsCanvas::draw_largest_keys(QPainter& painter) {
  constexpr double narrowest = 130;
  constexpr std::size_t count = 5;
  listed_.clear();
  const auto cell = model_.tokens().cell_of(model_.workspace().document().session().locked);
  const Box& box = layout_.rest;
  const double line = painter.fontMetrics().lineSpacing() + 2;
  if (!cell && box.width >= narrowest) {
    painter.setPen(quiet_ink(palette()));
    painter.drawText(desktop_rect(box), Qt::TextWordWrap,
                     tr("Click a cell: the largest keys of its row are listed here."));
  }
  if (!cell || box.width < narrowest || box.height < (count + 2) * line) return;
  largest_.resize(model_.panels().size());
  const auto fit = static_cast<std::size_t>(box.width / narrowest);
  const std::size_t across = std::max<std::size_t>(1, std::min(fit, largest_.size()));
  const double width = box.width / static_cast<double>(across);
  const auto text = [&](const QRectF& at, const std::string& words) {
    const QString whole = QString::fromStdString(words);
    const int most = static_cast<int>(at.width()) - 8;
    painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(whole, Qt::ElideRight, most));
  };
  painter.setPen(quiet_ink(palette()));
  text({box.x, box.y, box.width, line},
       tr("Largest keys of %1")
           .arg(QString::fromStdString(model_.tokens().query.text_of(cell->query)))
           .toStdString());
  for (std::size_t i = 0; i < largest_.size(); ++i) {
    const MapPanel& panel = *model_.panels()[i];
    Largest& list = largest_[i];
    const bool same = list.pyramid == panel.pyramid && list.query == cell->query;
    if (!same || list.keys.empty()) {
      list = {panel.pyramid, cell->query, MapsModel::largest_keys(panel, cell->query, count)};
    }
    const double x = box.x + width * static_cast<double>(i % across);
    double y = box.y + line * (1.3 + static_cast<double>(i / across) * (count + 1.5));
    if (y + (static_cast<double>(list.keys.size()) + 1) * line > box.y + box.height) break;
    painter.setPen(palette().color(QPalette::WindowText));
    text({x, y, width, line}, panel.title);
    for (const auto& [key, value] : list.keys) {
      y += line;
      const QRectF place(x, y, width, line);
      const bool kept = key == cell->key;
      painter.setPen(kept ? focus_colour() : palette().color(QPalette::WindowText));
      text(place, fmt::format("{:.4g}  {}", value, panel.tokens->key.brief_of(key)));
      listed_.emplace_back(place, Focus{cell->query, key});
    }
  }
}

void MapsCanvas::draw_panel(QPainter& painter, std::size_t index) {
  const PanelPlace& place = layout_.panels[index];
  const MapPanel& panel = model_.shown(index);
  painter.setFont(font());
  draw_title(painter, place, panel, model_.cancelled(), model_.flat(panel));
  painter.setPen(hair_line(palette()));
  painter.drawRect(desktop_rect(place.cells).adjusted(-0.5, -0.5, 0.5, 0.5));
  if (panel.failed()) {
    painter.setPen(focus_colour());
    painter.drawText(desktop_rect(place.cells).adjusted(8, 8, -8, -8), Qt::TextWordWrap,
                     QString::fromStdString(panel.error));
    // The other maps of its row and column have no labels of their own.
    if (!model_.tokens_differ()) draw_labels(painter, place, panel);
    return;
  }
  painter.save();
  painter.setClipRect(desktop_rect(place.cells));
  draw_cells(painter, index);
  if (model_.camera.scale >= 14) {
    draw_cell_grid(painter, place.cells, model_.camera, panel.pyramid->rows(),
                   panel.pyramid->columns());
  }
  const MapTokens& tokens = *panel.tokens;
  const auto& special = model_.workspace().document().session().maps.special_tokens;
  if (tokens.excludes || special == "marked") {
    draw_special(painter, place.cells, model_.camera, tokens);
  }
  draw_focus(painter, place.cells, panel);
  painter.restore();
  draw_labels(painter, place, panel);
  draw_margins(painter, place, panel);
}

void MapsCanvas::draw_cells(QPainter& painter, std::size_t index) {
  const Box& box = layout_.panels[index].cells;
  const MapPanel& panel = model_.shown(index);
  model_.request_tiles(index, box.width, box.height);
  painter.drawImage(QPointF(box.x, box.y),
                    pictures_[index].draw(*panel.pyramid, panel.summary, model_.camera,
                                          model_.colour_choice(panel), model_.limits(panel),
                                          box.width, box.height, devicePixelRatioF()));
}

void MapsCanvas::draw_labels(QPainter& painter, const PanelPlace& place, const MapPanel& panel) {
  const MapTokens& tokens = *panel.tokens;
  const bool marks = model_.workspace().document().session().maps.special_tokens == "marked";
  const auto focus = tokens.cell_of(model_.workspace().document().focused());
  painter.setFont(label_font(font()));
  draw_row_labels(painter, place, model_.camera, tokens.query, marks, focus ? focus->query : -1);
  draw_column_labels(painter, place, model_.camera, tokens.key, marks, focus ? focus->key : -1);
}

void MapsCanvas::draw_margins(QPainter& painter, const PanelPlace& place, const MapPanel& panel) {
  if (place.row_margin.width <= 0) return;
  painter.setFont(label_font(font()));
  const auto focus = panel.tokens->cell_of(model_.workspace().document().focused());
  if (model_.workspace().document().session().maps.profiles && focus) {
    return draw_profiles(painter, place, model_.camera, panel, *focus);
  }
  if (panel.summary.row_entropy.empty() || panel.summary.is_signed()) return;
  draw_entropy(painter, place, model_.camera, panel);
  draw_column_sums(painter, place, model_.camera, panel);
}

void MapsCanvas::draw_focus(QPainter& painter, const Box& cells, const MapPanel& panel) {
  const Document& document = model_.workspace().document();
  const MapTokens& tokens = *panel.tokens;
  const auto region = selecting_ ? selecting_ : region_.region();
  if (region) {
    const std::string mass = selecting_ ? "" : region_.short_mass(panel);
    painter.setFont(label_font(font()));
    draw_region(painter, cells, model_.camera, *region, QString::fromStdString(mass));
  }
  draw_cell_mark(painter, cells, model_.camera, tokens.cell_of(document.session().locked), true);
  draw_cell_mark(painter, cells, model_.camera, tokens.cell_of(document.hovered()), false);
}

std::vector<MapsCanvas::Bar> MapsCanvas::bars() const {
  std::vector<Bar> all;
  const QFontMetricsF metrics(label_font(font()));
  const auto add = [&](const Box& box, std::size_t index, const figure::Specials& used) {
    const MapPanel& panel = model_.shown(index);
    if (panel.failed()) return;
    ColourScale scale{model_.colour_choice(panel), model_.range(panel), model_.limits(panel), used,
                      QString::fromStdString(model_.value_name(panel))};
    scale.handles = true;
    const ScalePlace place = place_scale(metrics, box, scale);
    if (place.histogram.height > 0) {
      std::vector<const MapSummary*> summaries;
      for (const MapPanel* one : model_.sharing(panel)) summaries.push_back(&one->summary);
      scale.histogram = histogram_of(summaries, scale.choice, scale.range,
                                     static_cast<int>(place.bar.width / bin_width));
    }
    all.push_back({index, box, std::move(scale), place});
  };
  if (layout_.panels.empty()) return all;
  if (layout_.shared_bar.width > 0) {
    figure::Specials used;
    for (const auto& panel : model_.panels()) {
      const figure::Specials one = model_.specials(*panel);
      used = {used.zero || one.zero, used.masked || one.masked, used.nan || one.nan};
    }
    if (const auto first = model_.first_with_map()) add(layout_.shared_bar, *first, used);
    return all;
  }
  for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
    add(layout_.panels[i].colour_bar, i, model_.specials(model_.shown(i)));
  }
  return all;
}

// ---- input --------------------------------------------------------------------------------------

void MapsCanvas::resizeEvent(QResizeEvent*) { arrange(); }

std::optional<MapsCanvas::Bar> MapsCanvas::bar_at(const QPointF& point) const {
  for (Bar& bar : bars()) {
    const double top = std::min(bar.place.histogram.y, bar.place.bar.y);
    const Box box{bar.place.bar.x - grasp, top - 2, bar.place.bar.width + 2 * grasp,
                  bar.place.bar.bottom() + 4 - top};
    if (box.contains({point.x(), point.y()}) && !bar.scale.limits.empty()) return std::move(bar);
  }
  return std::nullopt;
}

std::optional<MapsCanvas::Handle> MapsCanvas::handle_at(const QPointF& point) const {
  std::optional<Bar> bar = bar_at(point);
  if (!bar || !(bar->scale.range.low < bar->scale.range.high)) return std::nullopt;
  const double low = std::abs(place_of(bar->place, bar->scale, bar->scale.limits.low) - point.x());
  const double high =
      std::abs(place_of(bar->place, bar->scale, bar->scale.limits.high) - point.x());
  if (std::min(low, high) > grasp) return std::nullopt;
  return Handle{std::move(*bar), high < low};
}

/// The bar keeps the range that it had when the drag began.
void MapsCanvas::drag_handle(double x) {
  const ColourScale& scale = handle_->bar.scale;
  const ScalePlace& place = handle_->bar.place;
  figure::Limits limits = scale.limits;
  const double other = place_of(place, scale, handle_->high ? limits.low : limits.high);
  const double apart = handle_->high ? std::max(x, other + 2) : std::min(x, other - 2);
  const double value = value_at(place, scale, scale.choice.diverging ? x : apart);
  (handle_->high ? limits.high : limits.low) = value;
  if (scale.choice.diverging) {  // Colours are symmetric about zero.
    const double least = (scale.range.high - scale.range.low) / 200;
    const double reach = std::max(least, handle_->high ? value : -value);
    limits = {-reach, reach};
  }
  const std::size_t index = handle_->bar.panel;
  if (index < model_.panels().size()) model_.set_limits(*model_.panels()[index], limits);
  QToolTip::showText(mapToGlobal(QPoint(static_cast<int>(x), static_cast<int>(place.bar.y) - 40)),
                     QString::number(value, 'g', 4), this);
}

void MapsCanvas::drag_region(const QPointF& at) {
  const Box& box = layout_.panels[static_cast<std::size_t>(corner_panel_)].cells;
  const Focus cell = cell_under(model_.camera, box, at);
  const std::int64_t row = std::clamp<std::int64_t>(cell.query, 0, model_.rows() - 1);
  const std::int64_t column = std::clamp<std::int64_t>(cell.key, 0, model_.columns() - 1);
  selecting_ = MapRegion{std::min(row, corner_->query), std::max(row, corner_->query) + 1,
                         std::min(column, corner_->key), std::max(column, corner_->key) + 1};
  update();
}

void MapsCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (handle_) return drag_handle(at.x());
  if (press_ && (event->buttons() & Qt::LeftButton)) {
    dragged_ = dragged_ || (at - *press_).manhattanLength() > drag_start;
    if (dragged_ && corner_) {
      drag_region(at);
    } else if (dragged_) {
      model_.camera.pan(at.x() - last_.x(), at.y() - last_.y());
      const auto [columns, rows] = model_.largest_size();
      model_.camera.clamp(rows, columns);
      model_.camera_fits = false;
      setCursor(Qt::ClosedHandCursor);
      update();
    }
    last_ = at;
    return;
  }
  setCursor(handle_at(at)                          ? Qt::SplitHCursor
            : cell_of_profile(at) || is_listed(at) ? Qt::PointingHandCursor
                                                   : Qt::ArrowCursor);
  hover(at);
}

bool MapsCanvas::is_listed(const QPointF& point) const {
  return std::ranges::any_of(listed_, [&](const auto& each) { return each.first.contains(point); });
}

void MapsCanvas::hover(const QPointF& point) {
  const auto cell = cell_at(point);
  model_.workspace().document().hover(cell ? std::optional(model_.tokens().pair_of(*cell))
                                           : std::nullopt);
}

void MapsCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  handle_ = handle_at(event->position());
  if (handle_) return model_.workspace().document().close_step();
  for (const auto& [place, cell] : listed_) {
    if (!place.contains(event->position())) continue;
    lock_pair(model_.workspace().document(), model_.tokens().pair_of(cell));
    return reveal(cell);
  }
  if (const auto cell = cell_of_profile(event->position())) {
    return lock_pair(model_.workspace().document(), model_.tokens().pair_of(*cell));
  }
  if (panel_at(event->position()) < 0) return;
  press_ = last_ = event->position();
  dragged_ = false;
  corner_.reset();
  if (event->modifiers() & Qt::ShiftModifier) corner_ = cell_at(event->position());
  corner_panel_ = panel_at(event->position());
}

void MapsCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (handle_) {
    handle_.reset();
    return model_.workspace().document().close_step();
  }
  if (!press_) return;
  unsetCursor();
  press_.reset();
  const bool selects = corner_.has_value();
  const auto region = std::exchange(selecting_, std::nullopt);
  corner_.reset();
  if (selects) return region_.choose(region);  // A click with Shift removes the region.
  if (dragged_) return model_.keep_camera(tr("move the maps"), "maps camera");
  if (const auto cell = cell_at(event->position())) {
    lock_pair(model_.workspace().document(), model_.tokens().pair_of(*cell));
  }
}

void MapsCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  const auto bar = bar_at(event->position());
  if (!bar) return fit();
  if (bar->panel < model_.panels().size()) model_.reset_limits(*model_.panels()[bar->panel]);
}

void MapsCanvas::contextMenuEvent(QContextMenuEvent* event) {
  const int panel = panel_at(event->pos());
  if (panel < 0) return event->ignore();
  emit menu_wanted(static_cast<std::size_t>(panel), cell_at(event->pos()), event->globalPos());
}

void MapsCanvas::wheelEvent(QWheelEvent* event) {
  const int index = panel_at(event->position());
  if (index < 0) return event->ignore();
  const Box& box = layout_.panels[static_cast<std::size_t>(index)].cells;
  const auto [columns, rows] = model_.largest_size();
  const double least = 0.5 * std::min(box.width / std::max<double>(1, static_cast<double>(columns)),
                                      box.height / std::max<double>(1, static_cast<double>(rows)));
  model_.camera.zoom(std::exp2(event->angleDelta().y() / 240.0), event->position().x() - box.x,
                     event->position().y() - box.y, box.width, box.height, least);
  model_.camera.clamp(rows, columns);
  model_.keep_camera(tr("zoom the maps"), "maps camera");
  hover(event->position());
  update();
  event->accept();
}

void MapsCanvas::focusOutEvent(QFocusEvent* event) {
  model_.flip(false);
  QWidget::focusOutEvent(event);
}

void MapsCanvas::leaveEvent(QEvent*) { model_.workspace().document().hover(std::nullopt); }

QString MapsCanvas::help_at(const QPointF& point) const {
  if (const auto bar = bar_at(point)) {
    return tr("Colours from %1 to %2. Drag the handles to change that; double-click to see all "
              "values. Heights of the histogram are logarithms of counts.")
        .arg(bar->scale.limits.low, 0, 'g', 4)
        .arg(bar->scale.limits.high, 0, 'g', 4);
  }
  for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
    const bool over_title = layout_.panels[i].title.contains({point.x(), point.y()});
    if (over_title) return QString::fromStdString(model_.shown(i).title);
  }
  auto cell = cell_at(point);
  if (!cell) cell = cell_of_profile(point);
  return cell ? QString::fromStdString(model_.readout(model_.tokens().pair_of(*cell))) : QString();
}

bool MapsCanvas::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QString text = help_at(help->pos());
  text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace conelab::desktop
