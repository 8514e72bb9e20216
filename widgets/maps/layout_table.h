// All heads, arcs, trees and orders as numbers: the tables beside those canvases, for reading,
// copying and screen readers. Maps have a table of their own (map_table.h).
#pragma once

#include <optional>
#include <vector>

#include "widgets/maps/heads_model.h"
#include "widgets/maps/relations_model.h"
#include "widgets/tables/text_table_model.h"

namespace conelab::desktop {

/// A table, and what a row is about.
struct LayoutRows {
  TextTable table;
  std::vector<std::optional<Focus>> pair;         ///< [row]
  std::vector<std::optional<std::int64_t>> head;  ///< [row], or empty.
};

/// One row a head of each operator: mean entropy, range.
[[nodiscard]] LayoutRows heads_rows(const HeadsModel& heads);
/// One row an arc that is drawn, of each query the strongest first.
[[nodiscard]] LayoutRows arcs_rows(const RelationsModel& relations);
/// One row a merge of each operator's tree, deepest first, with the tokens that it joins.
[[nodiscard]] LayoutRows tree_rows(const RelationsModel& relations);
/// One row an edge of each operator's Hasse diagram.
[[nodiscard]] LayoutRows order_rows(const RelationsModel& relations);

class LayoutTableView : public TextTableView {
  Q_OBJECT

 public:
  LayoutTableView(HeadsModel& heads, RelationsModel& relations, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refill();
  void choose(int row);

  HeadsModel& heads_;
  RelationsModel& relations_;
  LayoutRows rows_;
};

}  // namespace conelab::desktop
