#include "widgets/maps/layout_table.h"

#include <fmt/format.h>

#include <QBoxLayout>
#include <QComboBox>
#include <QHeaderView>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTableView>
#include <algorithm>
#include <cmath>

#include "core/drawing/text.h"
#include "widgets/maps/map_tokens.h"
#include "widgets/tables/text_table_model.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// The largest number of tokens of a cluster that are listed.
constexpr std::size_t most_named = 8;

std::string number_text(double value) { return fmt::format("{:.10g}", value); }

std::string token(const std::vector<std::string>& tokens, std::size_t i) {
  return i < tokens.size() ? figure::token_text(tokens[i]) : "";
}

void add_row(LayoutRows& rows, std::vector<std::string> cells, const std::optional<Focus>& pair) {
  rows.table.rows.push_back(std::move(cells));
  rows.pair.push_back(pair);
}

/// Adds why an operator has no rows.
void add_note(LayoutRows& rows, const std::string& title, const std::string& note) {
  std::vector<std::string> cells(rows.table.header.size());
  cells.front() = title, cells.back() = note;
  add_row(rows, std::move(cells), {});
}

/// Returns the tokens of each cluster, numbered as in `Dendrogram`.
std::vector<std::vector<std::size_t>> clusters_of(const tree::HeadTree& tree) {
  std::vector<std::vector<std::size_t>> clusters(tree.size);
  for (std::size_t i = 0; i < tree.size; ++i) clusters[i] = {i};
  for (const tree::Merge& m : tree.dendrogram.merges) {
    std::vector<std::size_t> both = clusters[static_cast<std::size_t>(m.left)];
    const auto& right = clusters[static_cast<std::size_t>(m.right)];
    both.insert(both.end(), right.begin(), right.end());
    clusters.push_back(std::move(both));
  }
  return clusters;
}

std::string names_of(const std::vector<std::size_t>& cluster,
                     const std::vector<std::string>& tokens) {
  std::string text;
  for (std::size_t i = 0; i < cluster.size() && i < most_named; ++i) {
    const std::string name = token(tokens, cluster[i]);
    text +=
        fmt::format("{}{}", i == 0 ? "" : " ", name.empty() ? std::to_string(cluster[i]) : name);
  }
  return cluster.size() > most_named ? text + " …" : text;
}

}  // namespace

LayoutRows heads_rows(const HeadsModel& heads) {
  LayoutRows rows;
  rows.table.header = {"of", "head"};
  for (const auto& info : tree::head_score_table) rows.table.header.emplace_back(info.name);
  rows.table.header.insert(rows.table.header.end(), {"smallest", "largest"});
  for (const HeadAt& at : heads.heads()) {
    const HeadRow& row = *heads.rows()[at.row];
    const auto& map = row.maps[at.head];
    const bool known = map && map->complete();
    std::vector<std::string> cells = {row.title, std::to_string(at.head)};
    for (const auto& info : tree::head_score_table) {
      const double score = row.score(at.head, info);
      cells.push_back(!known ? "computing …" : std::isnan(score) ? "–" : number_text(score));
    }
    cells.push_back(known ? number_text(map->summary.limits.low) : "");
    cells.push_back(known ? number_text(map->summary.limits.high) : "");
    add_row(rows, std::move(cells), {});
    rows.head.push_back(at);
  }
  return rows;
}

LayoutRows arcs_rows(const RelationsModel& relations) {
  LayoutRows rows;
  rows.table.header = {"operator", "query", "token", "key", "token", "rank", "weight"};
  const figure::ArcsFigure figure = relations.arcs_figure(figure::double_column);
  for (const figure::ArcsPanel& panel : figure.panels) {
    if (!panel.note.empty()) add_note(rows, panel.title, panel.note);
    std::size_t query = static_cast<std::size_t>(-1), rank = 0;
    for (const figure::Arc& arc : panel.arcs) {
      rank = arc.query == query ? rank + 1 : 1;
      query = arc.query;
      const Focus pair = relations.pair_of(arc.query, arc.key);
      add_row(rows,
              {panel.title, std::to_string(pair.query), token(figure.query_tokens, arc.query),
               std::to_string(pair.key), token(figure.key_tokens, arc.key), std::to_string(rank),
               number_text(arc.weight)},
              pair);
    }
  }
  return rows;
}

LayoutRows tree_rows(const RelationsModel& relations) {
  LayoutRows rows;
  rows.table.header = {"operator", "merge", "joins at", "value", "tokens", "left", "right"};
  for (std::size_t i = 0; i < relations.panels().size(); ++i) {
    const RelationPanel& panel = *relations.panels()[i];
    if (!panel.head_tree) {
      add_note(rows, panel.title, panel.error.empty() ? "computing …" : panel.error);
      continue;
    }
    const tree::HeadTree& t = *panel.head_tree;
    const auto clusters = clusters_of(t);
    const std::vector<std::string> tokens = relations.tokens(i);
    const char* what = !t.order ? "logit" : t.heights ? "height" : "depth";
    for (std::size_t k = 0; k < t.dendrogram.merges.size(); ++k) {
      const tree::Merge& m = t.dendrogram.merges[k];
      const auto& left = clusters[static_cast<std::size_t>(m.left)];
      const auto& right = clusters[static_cast<std::size_t>(m.right)];
      add_row(rows,
              {panel.title, std::to_string(k), what,
               number_text(t.order && t.heights ? -m.depth : m.depth), std::to_string(m.size),
               names_of(left, tokens), names_of(right, tokens)},
              relations.pair_of(left.front(), right.front()));
    }
  }
  return rows;
}

LayoutRows order_rows(const RelationsModel& relations) {
  LayoutRows rows;
  rows.table.header = {"operator", "ancestor", "token", "descendant", "token"};
  for (std::size_t i = 0; i < relations.panels().size(); ++i) {
    const RelationPanel& panel = *relations.panels()[i];
    if (!panel.head_tree || !panel.head_tree->order) {
      add_note(rows, panel.title,
               !panel.error.empty() ? panel.error
               : panel.head_tree    ? "only cone families order tokens"
                                    : "computing …");
      continue;
    }
    const tree::AncestorOrder& order = *panel.head_tree->order;
    const std::vector<std::string> tokens = relations.tokens(i);
    const std::size_t before = rows.table.rows.size();
    for (std::size_t u = 0; u < order.size; ++u) {
      for (std::size_t v = 0; v < order.size; ++v) {
        if (!order.covers(u, v)) continue;
        const Focus pair = relations.pair_of(u, v);
        add_row(rows,
                {panel.title, std::to_string(pair.query), token(tokens, u),
                 std::to_string(pair.key), token(tokens, v)},
                pair);
      }
    }
    if (rows.table.rows.size() == before) {
      add_note(rows, panel.title, "no token is an ancestor of another");
    }
  }
  return rows;
}

LayoutTableView::LayoutTableView(HeadsModel& heads, RelationsModel& relations)
    : heads_(heads), relations_(relations) {
  setObjectName("layout-table");
  setAccessibleName(tr("What the canvas shows, as numbers"));
  setSelectionBehavior(QAbstractItemView::SelectRows);
  connect(&heads_, &HeadsModel::changed, this, &LayoutTableView::refill);
  connect(&relations_, &RelationsModel::changed, this, &LayoutTableView::refill);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { choose(now.row()); });
}

void LayoutTableView::showEvent(QShowEvent* event) {
  TextTableView::showEvent(event);
  refill();
}

void LayoutTableView::refill() {
  if (!isVisible()) return;
  const std::string& layout = relations_.workspace().document().session().maps.layout;
  rows_ = layout == "heads"  ? heads_rows(heads_)
          : layout == "arcs" ? arcs_rows(relations_)
          : layout == "tree" ? tree_rows(relations_)
                             : order_rows(relations_);
  show_table(rows_.table);
}

void LayoutTableView::choose(int row) {
  const auto at = static_cast<std::size_t>(row);
  if (row < 0 || at >= rows_.pair.size()) return;
  Document& document = relations_.workspace().document();
  if (rows_.pair[at]) lock_pair(document, rows_.pair[at]);
  if (at < rows_.head.size()) heads_.open(rows_.head[at], "");
}

namespace {

QString near_text(const MapPanel& panel, std::int64_t row, std::int64_t column) {
  if (!panel.pyramid->complete()) return QObject::tr("computing …");
  float value = 0;
  panel.pyramid->source().cells({row, row + 1, column, column + 1}, &value);
  return is_masked(value) ? QObject::tr("masked") : QString::number(value, 'g', 5);
}

}  // namespace

void MapTableModel::show_panel(int index) {
  beginResetModel();
  panel_ = index;
  endResetModel();
}

int MapTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !maps_ ? 0 : static_cast<int>(maps_->rows());
}

int MapTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || !maps_ ? 0 : static_cast<int>(maps_->columns());
}

QVariant MapTableModel::data(const QModelIndex& index, int role) const {
  const auto panel = static_cast<std::size_t>(panel_);
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (!maps_) return {};
  if ((role != Qt::DisplayRole && role != Qt::ToolTipRole) || panel >= maps_->panels().size()) {
    return {};
  }
  const MapPanel& shown = *maps_->panels()[panel];
  const MapTokens& tokens = *shown.tokens;
  if (index.row() >= tokens.query.size() || index.column() >= tokens.key.size()) return {};
  // Five digits of the picture's float value are shown if the exact row takes long.
  const bool quick = !shown.pyramid || shown.pyramid->source().exact_is_quick(index.row());
  if (role == Qt::DisplayRole && !quick) return near_text(shown, index.row(), index.column());
  const std::string text = quick ? maps_->value_text(shown, {index.row(), index.column()})
                                 : MapsModel::exact_text(shown, {index.row(), index.column()});
  if (role == Qt::ToolTipRole) return QString::fromStdString(text);
  bool number = false;
  const double value = QString::fromStdString(text).toDouble(&number);
  return number ? QString::number(value, 'g', 5) : QString::fromStdString(text);
}

QVariant MapTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (!maps_) return {};
  const auto panel = static_cast<std::size_t>(panel_);
  const auto& panels = maps_->panels();
  const MapTokens& tokens = panel < panels.size() ? *panels[panel]->tokens : maps_->tokens();
  const MapAxis& axis = orientation == Qt::Vertical ? tokens.query : tokens.key;
  if (section >= axis.size()) return {};
  if (role == Qt::ToolTipRole) return QString::fromStdString(axis.text_of(section));
  if (role != Qt::DisplayRole) return {};
  const std::string label = axis.label_of(section);
  return QString::fromStdString(figure::token_text(label));
}

MapTableView::MapTableView(MapsModel& maps) : maps_(maps), model_(maps) {
  auto* column = laid_out<QVBoxLayout>(this, {10, 0, 10, 6});
  which_ = named(new QComboBox, "table-operator", tr("Operator of the table"));
  column->addWidget(which_, 0, Qt::AlignLeft);
  table_ = named(new QTableView, {}, tr("Attention as numbers, queries down, keys across"));
  table_->setModel(&model_);
  const int digits = table_->fontMetrics().horizontalAdvance(QStringLiteral("-0.00000e-000")) + 12;
  table_->horizontalHeader()->setDefaultSectionSize(digits);
  table_->horizontalHeader()->setTextElideMode(Qt::ElideRight);
  table_->verticalHeader()->setDefaultSectionSize(22);
  column->addWidget(table_);
  connect(which_, &QComboBox::currentIndexChanged, this,
          [this](int index) { model_.show_panel(std::max(0, index)); });
  connect(&maps_, &MapsModel::panels_changed, this, &MapTableView::refill);
  connect(&maps_.workspace().document(), &Document::changed, this, &MapTableView::follow_pair);
  connect(table_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& now) {
            Document& document = maps_.workspace().document();
            const Focus cell{now.row(), now.column()};
            // A word has several pairs of tokens, of which one may be kept already.
            if (!now.isValid() || maps_.tokens().cell_of(document.session().locked) == cell) return;
            lock_pair(document, maps_.tokens().pair_of(cell));
          });
  auto* copy = new QShortcut(QKeySequence::Copy, table_, nullptr, nullptr, Qt::WidgetShortcut);
  // The tooltips show all digits.
  connect(copy, &QShortcut::activated, this, [this] { copy_selection(*table_, Qt::ToolTipRole); });
  refill();
}

void MapTableView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  follow_pair();
}

/// Shows the cell of the kept pair, and the beginning of its row where there is space for both.
void MapTableView::follow_pair() {
  const auto cell = maps_.tokens().cell_of(maps_.workspace().document().session().locked);
  if (!cell || !isVisible()) return;
  const QModelIndex at = model_.index(static_cast<int>(cell->query), static_cast<int>(cell->key));
  if (!at.isValid() || at == table_->currentIndex()) return;
  table_->setCurrentIndex(at);
  table_->scrollTo(at);
}

void MapTableView::refill() {
  const QSignalBlocker quiet(which_);
  const int before = which_->currentIndex();
  which_->clear();
  for (const auto& panel : maps_.panels()) which_->addItem(QString::fromStdString(panel->title));
  which_->setCurrentIndex(std::clamp(before, 0, std::max(0, which_->count() - 1)));
  model_.show_panel(std::max(0, which_->currentIndex()));
  follow_pair();
}

}  // namespace conelab::desktop
