#include "widgets/maps/relations_canvas.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "widgets/maps/map_tokens.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

using figure::Box;
using figure::Point;

constexpr double pointing_reach = 5;  ///< Distance in points within which an item is pointed at.
constexpr double faded = 0.35;        ///< Opacity of items that are not in focus.
constexpr double least_width = 240, most_width = 900;  ///< Width of a sheet in points.

/// Returns the token whose column contains a point of the band of labels.
std::int64_t column_of(const Box& band, std::size_t count, Point p) {
  const double part = (p.x - band.x) / band.width * static_cast<double>(count);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(part), 0,
                                  static_cast<std::int64_t>(count) - 1);
}

figure::Stroke focus_stroke(double width) { return {figure_colour(focus_colour()), width}; }

QImage painted(const figure::DisplayList& list, double density) {
  QImage picture((QSizeF(list.width, list.height) * RelationsCanvas::scale * density).toSize(),
                 QImage::Format_ARGB32_Premultiplied);
  picture.setDevicePixelRatio(density);
  picture.fill(Qt::transparent);
  QPainter into(&picture);
  into.scale(RelationsCanvas::scale, RelationsCanvas::scale);
  figure::paint(list, into);
  return picture;
}

std::vector<figure::TextItem> texts_of(const figure::DisplayList& list) {
  std::vector<figure::TextItem> texts;
  for (const figure::Item& item : list.items) {
    if (const auto* text = std::get_if<figure::TextItem>(&item)) texts.push_back(*text);
  }
  return texts;
}

/// Returns the label of a token in a colour.
void mark_label(figure::DisplayList& list, const Box& band, double x, std::size_t count) {
  const double width = std::max(4.0, band.width / static_cast<double>(count));
  list.rectangle({x - width / 2, band.y, width, band.height},
                 figure::Paint::filled(figure_colour(focus_colour()).opacity(0.25)));
}

}  // namespace

RelationsCanvas::RelationsCanvas(RelationsModel& model) : model_(model) {
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

double RelationsCanvas::page_width() const {
  return std::floor(std::clamp(width() / scale, least_width, most_width));
}

void RelationsCanvas::lay_out() {
  width_ = page_width();
  density_ = devicePixelRatioF();
  pointed_.clear();
  // Sheets keep their old picture until they are drawn again. Panels that were removed cannot be
  // pointed at.
  const bool same = panels_ == model_.panels();
  panels_ = model_.panels();
  sheets_.resize(panels_.empty() || panels_.front()->tree ? panels_.size() : 1);
  for (std::size_t i = 0; i < sheets_.size(); ++i) {
    sheets_[i].panel = i;
    if (!same) sheets_[i].page.arcs.clear(), sheets_[i].page.tree.reset();
    draw(sheets_[i]);
  }
  stack();
}

/// Runs in a job, because laying out and painting a thousand tokens takes long.
void RelationsCanvas::draw(Sheet& sheet) {
  std::function<Page(const PoolContext&)> work;
  const auto paint = [palette = palette(), density = density_](const figure::DisplayList& drawn) {
    const figure::DisplayList list = on_ground(drawn, palette);
    return Page{.width = list.width,
                .height = list.height,
                .picture = painted(list, density),
                .description = QString::fromStdString(list.metadata.description),
                .texts = texts_of(list)};
  };
  if (!panels_[sheet.panel]->tree) {
    work = [figure = model_.arcs_figure(width_), paint](const PoolContext&) {
      figure::DrawnArcs drawn = figure::place_arcs(figure);
      Page page = paint(drawn.list);
      page.arcs = std::move(drawn.panels);
      return page;
    };
  } else {
    const bool order = model_.workspace().document().session().maps.layout == "hasse";
    work = [figure = model_.tree_figure(sheet.panel, width_), order, paint](const PoolContext&) {
      figure::DrawnTree drawn =
          order && figure.tree->order ? figure::place_hasse(figure) : figure::place_tree(figure);
      Page page = paint(drawn.list);
      page.description.prepend(QString::fromStdString(figure.title + ": "));
      if (figure.tree->size > 0) page.tree = std::move(drawn.places);
      return page;
    };
  }
  sheet.job = model_.workspace().jobs().start<Page>(
      "painting", std::move(work),
      [this, index = sheet.panel](Page page) {
        sheets_[index].page = std::move(page);
        stack();
      },
      nullptr, true);
}

/// Arranges the sheets one below the other.
void RelationsCanvas::stack() {
  QStringList described;
  double top = 0;
  for (Sheet& sheet : sheets_) {
    sheet.top = top;
    top += sheet.page.height * scale + 8;
    described << sheet.page.description;
  }
  setAccessibleDescription(described.join("\n"));
  setMinimumHeight(static_cast<int>(std::ceil(top)));
  update();
}

void RelationsCanvas::resizeEvent(QResizeEvent*) {
  if (page_width() != width_) lay_out();
}

void RelationsCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) lay_out();
  QWidget::changeEvent(event);
}

// ---- painting -----------------------------------------------------------------------------------

void RelationsCanvas::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(rect(), canvas_ground(palette()));
  if (std::ranges::all_of(sheets_,
                          [](const Sheet& sheet) { return sheet.page.picture.isNull(); })) {
    painter.setPen(quiet_ink(palette()));
    painter.drawText(rect(), Qt::AlignCenter,
                     sheets_.empty() ? tr("Open a trace and add an operator.") : tr("computing …"));
  }
  if (density_ != devicePixelRatioF()) lay_out();
  for (const Sheet& sheet : sheets_) {
    const QRectF box(0, sheet.top, sheet.page.width * scale, sheet.page.height * scale);
    if (box.intersects(QRectF(event->rect()))) paint_sheet(painter, sheet);
  }
}

bool RelationsCanvas::sharp() const {
  return std::ranges::none_of(sheets_, [](const Sheet& sheet) { return sheet.job.active(); });
}

void RelationsCanvas::paint_sheet(QPainter& painter, const Sheet& sheet) const {
  const auto pair = model_.workspace().document().focused();
  // Arcs overlap each other, so that those that do not belong to the pair are faded.
  painter.setOpacity(pair && !sheet.page.arcs.empty() ? faded : 1);
  painter.drawImage(QPointF(0, sheet.top), sheet.page.picture);
  painter.setOpacity(1);
  if (!pair) return;
  figure::DisplayList marks;
  marks.width = sheet.page.width, marks.height = sheet.page.height;
  const Focus local = model_.in_range(*pair);
  sheet.page.tree ? mark_tree(marks, sheet, local) : mark_arcs(marks, sheet, local);
  painter.save();
  painter.translate(0, sheet.top);
  painter.scale(scale, scale);
  figure::paint(marks, painter);
  painter.restore();
}

/// Draws titles and labels again over the faded picture, with all arcs of the query and of the key;
/// the arc of the pair has the colour of the focus.
void RelationsCanvas::mark_arcs(figure::DisplayList& list, const Sheet& sheet,
                                const Focus& pair) const {
  list.items.assign(sheet.page.texts.begin(), sheet.page.texts.end());
  const auto query = static_cast<std::size_t>(pair.query), key = static_cast<std::size_t>(pair.key);
  for (const figure::ArcsPlace& place : sheet.page.arcs) {
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

/// Marks both tokens, and in a dendrogram the path from each to the merge that joins them.
void RelationsCanvas::mark_tree(figure::DisplayList& list, const Sheet& sheet,
                                const Focus& pair) const {
  const figure::TreePlaces& places = *sheet.page.tree;
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
    if (p.y < 0 || p.y > sheet.page.height) continue;
    return sheet.page.tree ? hit_tree(sheet, p) : hit_arcs(sheet, p);
  }
  return {};
}

RelationsCanvas::Hit RelationsCanvas::hit_arcs(const Sheet& sheet, Point p) const {
  for (const figure::ArcsPlace& place : sheet.page.arcs) {
    if (!place.box.grown(2).contains(p)) continue;
    // Arcs are found where they are drawn; of several near ones the strongest is on top.
    const figure::PlacedArc* best = nullptr;
    double reach = pointing_reach;
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
      found.pair = model_.pair_of(best->arc.query, best->arc.key);
    } else if (place.query_labels.contains(p)) {
      const std::int64_t token = column_of(place.query_labels, place.query.size(), p);
      const auto index = static_cast<std::size_t>(token);
      found.pair = place.query.size() == place.key.size() && place.query_labels == place.key_labels
                       ? model_.pair_of(index, index)
                       : with_token(token, false);
    } else if (place.key_labels.contains(p)) {
      found.pair = with_token(column_of(place.key_labels, place.key.size(), p), true);
    }
    return found;
  }
  return {};
}

RelationsCanvas::Hit RelationsCanvas::hit_tree(const Sheet& sheet, Point p) const {
  const figure::TreePlaces& places = *sheet.page.tree;
  const RelationPanel& panel = *model_.panels()[sheet.panel];
  if (const auto merge = figure::nearest(places.merge, std::identity(), p, pointing_reach)) {
    return {std::nullopt, QString::fromStdString(model_.about_merge(sheet.panel, *merge))};
  }
  if (places.box.contains(p) || places.labels.contains(p)) {
    const auto token = figure::nearest(
        places.token,
        [&](const Point& q) {
          return Point{q.x, p.y};
        },
        p, places.box.width / static_cast<double>(panel.head_tree->size));
    if (token) return {with_token(static_cast<std::int64_t>(*token), panel.tokens == "key"), {}};
  }
  if (places.segmentation.contains(p)) {
    const auto boundary = figure::nearest(
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

/// A single token forms a pair with the other token of the locked pair, or with itself.
Focus RelationsCanvas::with_token(std::int64_t number, bool key) const {
  const std::int64_t token = number + model_.range().begin;
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

}  // namespace conelab::desktop
