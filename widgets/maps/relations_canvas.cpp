#include "widgets/maps/relations_canvas.h"

#include <QElapsedTimer>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "widgets/maps/pair_keys.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/on_ground.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

using figure::Box;
using figure::Point;

constexpr double scale = 1.4;   ///< Pixels a point: text as large as the window's labels.
constexpr double grasp = 5;     ///< Points around a thing within which it is pointed at.
constexpr double faded = 0.35;  ///< Opacity of what is not in focus.
constexpr double least_width = 240, most_width = 900;  ///< Of a sheet, in points.

/// The place of the point nearest to `p`, at most `reach` away.
template <class Points, class Place>
std::optional<std::size_t> nearest(const Points& points, const Place& place, Point p,
                                   double reach) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point q = place(points[i]);
    const double away = std::hypot(q.x - p.x, q.y - p.y);
    if (away <= reach) best = i, reach = away;
  }
  return best;
}

/// The token whose column a point of the label band lies in.
std::int64_t column_of(const Box& band, std::size_t count, Point p) {
  const double part = (p.x - band.x) / band.width * static_cast<double>(count);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(part), 0,
                                  static_cast<std::int64_t>(count) - 1);
}

figure::Stroke focus_stroke(double width) { return {figure_colour(focus_colour()), width}; }

QImage painted(const figure::DisplayList& list, double density) {
  QImage picture((QSizeF(list.width, list.height) * scale * density).toSize(),
                 QImage::Format_ARGB32_Premultiplied);
  picture.setDevicePixelRatio(density);
  picture.fill(Qt::transparent);
  QPainter into(&picture);
  into.scale(scale, scale);
  figure::paint(list, into);
  return picture;
}

/// The label of a token, tinted.
void mark_label(figure::DisplayList& list, const Box& band, double x, std::size_t count) {
  const double width = std::max(4.0, band.width / static_cast<double>(count));
  list.rectangle({x - width / 2, band.y, width, band.height},
                 figure::Paint::filled(figure_colour(focus_colour()).opacity(0.25)));
}

}  // namespace

RelationsCanvas::RelationsCanvas(RelationsModel& model, QWidget* parent)
    : QWidget(parent), model_(model) {
  setObjectName("relations-canvas");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Arcs and trees between tokens"));
  connect(&model_, &RelationsModel::changed, this, &RelationsCanvas::lay_out);
  connect(&model_.workspace().document(), &Document::focus_changed, this,
          qOverload<>(&QWidget::update));
  lay_out();
}

// ---- layout -------------------------------------------------------------------------------------

void RelationsCanvas::lay_out() {
  const std::vector<Sheet> before = std::exchange(sheets_, {});
  pointed_.clear();
  const double width = std::floor(std::clamp(this->width() / scale, least_width, most_width));
  const std::string& layout = model_.workspace().document().session().maps.layout;
  QStringList described;
  double top = 0;
  for (std::size_t i = 0; i < model_.panels().size(); ++i) {
    const RelationPanel& panel = *model_.panels()[i];
    Sheet sheet;
    sheet.panel = i;
    if (!panel.tree) {
      figure::DrawnArcs drawn = figure::place_arcs(model_.arcs_figure(width));
      sheet.list = std::move(drawn.list);
      sheet.arcs = std::move(drawn.panels);
      described << QString::fromStdString(sheet.list.metadata.description);
      add_sheet(std::move(sheet), top);
      break;  // One list holds them all.
    }
    figure::TreeFigure figure = model_.tree_figure(i, width);
    const bool orders = layout == "hasse";
    if (!panel.head_tree || (orders && !figure.tree.order)) {
      figure.tree = {}, figure.tokens.clear();
      figure.caption = !panel.error.empty() ? panel.error
                       : panel.job.active() ? "computing …"
                                            : "only cone families order tokens";
    }
    const bool order = orders && figure.tree.order;
    figure::DrawnTree drawn = order ? figure::place_hasse(figure) : figure::place_tree(figure);
    sheet.list = std::move(drawn.list);
    if (figure.tree.size > 0) sheet.tree = std::move(drawn.places);
    described << QString::fromStdString(figure.title + ": " + sheet.list.metadata.description);
    add_sheet(std::move(sheet), top);
  }
  // Until they are painted anew, sheets look as they did.
  for (std::size_t i = 0; i < std::min(before.size(), sheets_.size()); ++i) {
    sheets_[i].picture = before[i].picture;
  }
  setAccessibleDescription(described.join("\n"));
  setMinimumHeight(static_cast<int>(std::ceil(top)));
  update();
}

void RelationsCanvas::add_sheet(Sheet sheet, double& top) {
  sheet.list = on_ground(std::move(sheet.list), palette());
  sheet.top = top;
  top += sheet.list.height * scale + 8;
  sheets_.push_back(std::move(sheet));
}

void RelationsCanvas::resizeEvent(QResizeEvent*) { lay_out(); }

void RelationsCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) lay_out();
  QWidget::changeEvent(event);
}

// ---- painting -----------------------------------------------------------------------------------

void RelationsCanvas::paintEvent(QPaintEvent* event) {
  QElapsedTimer clock;
  clock.start();
  QPainter painter(this);
  painter.fillRect(rect(), canvas_ground(palette()));
  if (sheets_.empty()) {
    painter.setPen(quiet_ink(palette()));
    painter.drawText(rect(), Qt::AlignCenter, tr("Open a trace and add an operator."));
  }
  for (Sheet& sheet : sheets_) {
    const QRectF box(0, sheet.top, sheet.list.width * scale, sheet.list.height * scale);
    if (box.intersects(QRectF(event->rect()))) draw_sheet(painter, sheet);
  }
  paint_time_ = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

/// In a job: a thousand arcs are not painted within a moment.
void RelationsCanvas::start_painting(Sheet& sheet) {
  if (sheet.painting.active()) return;
  const auto index = static_cast<std::size_t>(&sheet - sheets_.data());
  const double density = devicePixelRatioF();
  sheet.painting = model_.workspace().jobs().start<QImage>(
      "painting",
      [list = sheet.list, density](const JobContext&) { return painted(list, density); },
      [this, index, density](QImage picture) {
        Sheet& done = sheets_[index];
        done.painting.finished();
        done.picture = std::move(picture);
        done.painted_for = density;
        update();
      },
      nullptr, true);
}

bool RelationsCanvas::sharp() const {
  return std::none_of(sheets_.begin(), sheets_.end(),
                      [](const Sheet& sheet) { return sheet.painting.active(); });
}

void RelationsCanvas::draw_sheet(QPainter& painter, Sheet& sheet) {
  if (sheet.painted_for != devicePixelRatioF()) start_painting(sheet);
  if (sheet.picture.isNull()) return;
  const auto pair = model_.workspace().document().focused();
  // Arcs cover each other: what is not of the pair steps back.
  painter.setOpacity(pair && !sheet.arcs.empty() ? faded : 1);
  painter.drawImage(QPointF(0, sheet.top), sheet.picture);
  painter.setOpacity(1);
  if (!pair) return;
  painter.save();
  painter.translate(0, sheet.top);
  painter.scale(scale, scale);
  figure::paint(marks(sheet, *pair), painter);
  painter.restore();
}

figure::DisplayList RelationsCanvas::marks(const Sheet& sheet, const Focus& pair) const {
  figure::DisplayList list;
  list.width = sheet.list.width, list.height = sheet.list.height;
  sheet.tree ? mark_tree(list, sheet, pair) : mark_arcs(list, sheet, pair);
  return list;
}

/// Titles and labels again over the faded picture, all arcs of the query and of the key, and the
/// pair's own in the colour of the focus.
void RelationsCanvas::mark_arcs(figure::DisplayList& list, const Sheet& sheet,
                                const Focus& pair) const {
  for (const figure::Item& item : sheet.list.items) {
    if (std::holds_alternative<figure::TextItem>(item)) list.items.push_back(item);
  }
  const auto query = static_cast<std::size_t>(pair.query), key = static_cast<std::size_t>(pair.key);
  for (const figure::ArcsPlace& place : sheet.arcs) {
    if (query >= place.query.size() || key >= place.key.size()) continue;
    mark_label(list, place.query_labels, place.query[query].x, place.query.size());
    mark_label(list, place.key_labels, place.key[key].x, place.key.size());
    for (const figure::PlacedArc& arc : place.arcs) {
      if (arc.arc.query != query && arc.arc.key != key) continue;
      const bool own = arc.arc.query == query && arc.arc.key == key;
      if (arc.stroke.width == 0) {
        list.path(arc.path, figure::Paint::filled(own ? figure_colour(focus_colour())
                                                      : figure_colour(quiet_ink(palette()))));
      } else {
        list.path(arc.path,
                  {figure::transparent, own ? focus_stroke(arc.stroke.width + 0.8) : arc.stroke});
      }
    }
  }
}

/// Both tokens, and in a dendrogram the way from each up to where they join.
void RelationsCanvas::mark_tree(figure::DisplayList& list, const Sheet& sheet,
                                const Focus& pair) const {
  const figure::TreePlaces& places = *sheet.tree;
  const tree::HeadTree& tree = *model_.panels()[sheet.panel]->head_tree;
  const auto i = static_cast<std::size_t>(pair.query), j = static_cast<std::size_t>(pair.key);
  if (i >= tree.size || j >= tree.size) return;
  for (const std::size_t token : {i, j}) {
    mark_label(list, places.labels, places.token[token].x, tree.size);
    list.circle(places.token[token], 2.6, figure::Paint::filled(figure_colour(focus_colour())));
  }
  if (i == j || places.merge.empty()) return;
  const auto up = RelationsModel::merges_above(tree, i),
             other = RelationsModel::merges_above(tree, j);
  const auto joint = std::find_first_of(up.begin(), up.end(), other.begin(), other.end());
  if (joint == up.end()) return;
  for (const std::size_t token : {i, j}) {
    std::vector<Point> way = {places.token[token]};
    for (const std::size_t merge : token == i ? up : other) {
      const Point top = places.merge[merge];
      way.push_back({way.back().x, top.y});
      way.push_back(top);
      if (merge == *joint) break;
    }
    list.path(figure::Path::polyline(way), {figure::transparent, focus_stroke(1.6)});
  }
  list.circle(places.merge[*joint], 2.6, figure::Paint::filled(figure_colour(focus_colour())));
}

// ---- pointing -----------------------------------------------------------------------------------

RelationsCanvas::Hit RelationsCanvas::hit(const QPointF& at) const {
  for (const Sheet& sheet : sheets_) {
    const Point p{at.x() / scale, (at.y() - sheet.top) / scale};
    if (p.y < 0 || p.y > sheet.list.height) continue;
    return sheet.tree ? hit_tree(sheet, p) : hit_arcs(sheet, p);
  }
  return {};
}

RelationsCanvas::Hit RelationsCanvas::hit_arcs(const Sheet& sheet, Point p) const {
  for (const figure::ArcsPlace& place : sheet.arcs) {
    if (!place.box.grown(2).contains(p)) continue;
    // Arcs are pointed at where they are drawn; the strongest of those near lies on top.
    const figure::PlacedArc* best = nullptr;
    double reach = grasp;
    for (auto arc = place.arcs.rbegin(); arc != place.arcs.rend(); ++arc) {
      for (std::size_t k = 1; k < arc->points.size(); ++k) {
        const Point a = arc->points[k - 1], b = arc->points[k];
        const double x = b.x - a.x, y = b.y - a.y, length = std::max(1e-12, x * x + y * y);
        const double t = std::clamp(((p.x - a.x) * x + (p.y - a.y) * y) / length, 0.0, 1.0);
        const double away = std::hypot(a.x + t * x - p.x, a.y + t * y - p.y);
        if (away < reach) best = &*arc, reach = away;
      }
    }
    Hit found;
    if (best != nullptr) {
      found.pair = Focus{static_cast<std::int64_t>(best->arc.query),
                         static_cast<std::int64_t>(best->arc.key)};
    } else if (place.query_labels.contains(p)) {
      const std::int64_t token = column_of(place.query_labels, place.query.size(), p);
      found.pair = place.query.size() == place.key.size() && place.query_labels == place.key_labels
                       ? Focus{token, token}
                       : with_token(token, false);
    } else if (place.key_labels.contains(p)) {
      found.pair = with_token(column_of(place.key_labels, place.key.size(), p), true);
    }
    return found;
  }
  return {};
}

RelationsCanvas::Hit RelationsCanvas::hit_tree(const Sheet& sheet, Point p) const {
  const figure::TreePlaces& places = *sheet.tree;
  const RelationPanel& panel = *model_.panels()[sheet.panel];
  const auto itself = [](const Point& q) { return q; };
  if (const auto merge = nearest(places.merge, itself, p, grasp)) {
    return {std::nullopt, QString::fromStdString(model_.about_merge(sheet.panel, *merge))};
  }
  if (places.box.contains(p) || places.labels.contains(p)) {
    const auto token = nearest(
        places.token,
        [&](const Point& q) {
          return Point{q.x, p.y};
        },
        p, places.box.width / static_cast<double>(panel.head_tree->size));
    if (token) return {with_token(static_cast<std::int64_t>(*token), panel.tokens == "key"), {}};
  }
  if (places.segmentation.contains(p)) {
    const auto boundary = nearest(
        places.boundary,
        [&](double x) {
          return Point{x, p.y};
        },
        p, places.box.width / static_cast<double>(panel.head_tree->size));
    if (boundary) {
      return {std::nullopt, QString::fromStdString(model_.about_boundary(sheet.panel, *boundary))};
    }
  }
  return {};
}

/// One token alone is a pair with the other of the locked pair, or with itself.
Focus RelationsCanvas::with_token(std::int64_t token, bool key) const {
  const auto& locked = model_.workspace().document().session().locked;
  if (!locked) return {std::min(token, model_.queries() - 1), std::min(token, model_.keys() - 1)};
  return key ? Focus{locked->query, token} : Focus{token, locked->key};
}

void RelationsCanvas::mouseMoveEvent(QMouseEvent* event) {
  const Hit found = hit(event->position());
  setCursor(found.pair ? Qt::PointingHandCursor : Qt::ArrowCursor);
  model_.workspace().document().hover(found.pair);
  if (found.text == pointed_) return;
  pointed_ = found.text;
  emit pointed_changed();
}

void RelationsCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const Hit found = hit(event->position()); found.pair) {
    lock_pair(model_.workspace().document(), found.pair);
  }
}

void RelationsCanvas::leaveEvent(QEvent*) {
  model_.workspace().document().hover(std::nullopt);
  if (pointed_.isEmpty()) return;
  pointed_.clear();
  emit pointed_changed();
}

void RelationsCanvas::keyPressEvent(QKeyEvent* event) {
  if (!move_pair(model_.workspace().document(), *event, model_.queries(), model_.keys())) {
    QWidget::keyPressEvent(event);
  }
}

// ---- places -------------------------------------------------------------------------------------

QPointF RelationsCanvas::on_canvas(const Sheet& sheet, Point p) const {
  return {p.x * scale, p.y * scale + sheet.top};
}

const RelationsCanvas::Sheet* RelationsCanvas::sheet_of(std::size_t panel) const {
  for (const Sheet& sheet : sheets_) {
    if (sheet.panel == panel && sheet.tree) return &sheet;
  }
  return nullptr;
}

std::optional<QPointF> RelationsCanvas::place_of_arc(std::size_t panel, const Focus& arc) const {
  if (sheets_.empty() || panel >= sheets_.front().arcs.size()) return std::nullopt;
  for (const figure::PlacedArc& placed : sheets_.front().arcs[panel].arcs) {
    if (static_cast<std::int64_t>(placed.arc.query) == arc.query &&
        static_cast<std::int64_t>(placed.arc.key) == arc.key) {
      return on_canvas(sheets_.front(), placed.points[placed.points.size() / 2]);
    }
  }
  return std::nullopt;
}

std::optional<QPointF> RelationsCanvas::place_of_token(std::size_t panel, std::size_t token) const {
  const Sheet* sheet = sheet_of(panel);
  if (sheet == nullptr || token >= sheet->tree->token.size()) return std::nullopt;
  return on_canvas(*sheet, {sheet->tree->token[token].x, sheet->tree->labels.y + 4});
}

std::optional<QPointF> RelationsCanvas::place_of_merge(std::size_t panel, std::size_t merge) const {
  const Sheet* sheet = sheet_of(panel);
  if (sheet == nullptr || merge >= sheet->tree->merge.size()) return std::nullopt;
  return on_canvas(*sheet, sheet->tree->merge[merge]);
}

std::optional<QPointF> RelationsCanvas::place_of_boundary(std::size_t panel, std::size_t b) const {
  const Sheet* sheet = sheet_of(panel);
  if (sheet == nullptr || b >= sheet->tree->boundary.size()) return std::nullopt;
  return on_canvas(*sheet, {sheet->tree->boundary[b], sheet->tree->segmentation.bottom() - 4});
}

}  // namespace conelab::desktop
