#include "widgets/explorer/scene_table.h"

#include <QBoxLayout>
#include <QItemSelectionModel>
#include <algorithm>
#include <cmath>

#include "core/drawing/text.h"
#include "widgets/theme/flow_layout.h"

namespace conelab::desktop {
namespace {

/// Returns the row of this name and adds it if it is missing.
std::vector<std::string>& row_named(TextTable& table, const std::string& name) {
  const auto found =
      std::ranges::find_if(table.rows, [&](const auto& row) { return row.front() == name; });
  if (found != table.rows.end()) return *found;
  std::vector<std::string>& row = table.rows.emplace_back(table.header.size());
  row.front() = name;
  return row;
}

}  // namespace

TextTable scene_table(const std::vector<ShownScene>& panes) {
  TextTable table;
  table.header = {"quantity"};
  for (const ShownScene& pane : panes) table.header.push_back(pane.choice.family);
  for (std::size_t i = 0; i < panes.size(); ++i) {
    for (const auto& [name, value] : cone_numbers(panes[i].choice, panes[i].scene)) {
      row_named(table, name)[i + 1] = value;
    }
  }
  return table;
}

TextTable token_table(const ConeChoice& choice, const TokenNames& tokens) {
  TextTable table;
  ConeChoice other = choice;
  const ConeScene own = cone_scene(choice);
  table.header = {
      "key", "token", "x", "height", "distance to u", "relation", similarity_name(own, "u, ·")};
  if (other_similarity(choice)) table.header.push_back(choice.similarity + "(u, ·)");
  for (std::size_t i = 0; i < tokens.places.size(); ++i) {
    const PlanePoint& p = tokens.places[i];
    other.v = {p.x, p.y};
    const ConeScene scene = cone_scene(other);
    std::vector<std::string> row = {std::to_string(i), figure::token_text(tokens.names[i]),
                                    exact_text(p.x), exact_text(p.y)};
    if (scene.error.empty()) {
      row.insert(row.end(),
                 {exact_text(scene.distance), geometry::relation_name(scene.law.relation),
                  exact_text(scene.similarity)});
      if (scene.other) row.push_back(exact_text(*scene.other));
    } else {
      const bool placed = std::isfinite(p.x) && std::isfinite(p.y);
      row.insert(row.end(), {"", placed ? "outside" : "unknown", ""});
    }
    row.resize(table.header.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

SceneTables::SceneTables()
    : scene_(named(new TextTableView, "explorer-scene-table",
                   tr("The scene as numbers, one column a cone family"))),
      tokens_(named(new TextTableView, "explorer-token-table",
                    tr("The tokens in the plane of u and v as numbers"))) {
  auto* column = laid_out<QVBoxLayout>(this);
  column->addWidget(scene_, 1);
  column->addWidget(tokens_, 1);
  // The last columns contain numbers, also among texts, and must not be cut.
  for (TextTableView* table : {scene_, tokens_}) table->fit_last_column();
  tokens_->setSelectionBehavior(QAbstractItemView::SelectRows);
  connect(tokens_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) emit token_chosen(now.row());
          });
}

void SceneTables::show_scene(const std::vector<ShownScene>& panes, const TokenNames& tokens) {
  scene_->show_table(scene_table(panes));
  tokens_->setVisible(!tokens.places.empty());
  if (!tokens.places.empty()) tokens_->show_table(token_table(panes.front().choice, tokens));
}

}  // namespace conelab::desktop
