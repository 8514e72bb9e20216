// All heads, arcs, trees and orders as tables of numbers, for reading, copying and screen readers.
// The maps have their own table (map_table.h).
#pragma once

#include <optional>
#include <vector>

#include "widgets/maps/heads_model.h"
#include "widgets/maps/relations_model.h"
#include "widgets/tables/text_table_model.h"

namespace conelab::desktop {

/// A table, with what each of its rows refers to.
struct LayoutRows {
  TextTable table;
  std::vector<std::optional<Focus>> pair;  ///< [row]
  /// [row] The head of each row in the table of all heads; empty in other tables.
  std::vector<HeadAt> head;
};

/// Returns one row per head, in the order of the session: its scores and the range of its values.
[[nodiscard]] LayoutRows heads_rows(const HeadsModel& heads);
/// Returns one row per arc that is drawn; for each query the strongest first.
[[nodiscard]] LayoutRows arcs_rows(const RelationsModel& relations);
/// Returns one row per merge of each operator's tree, the deepest first, with the tokens that it
/// merges.
[[nodiscard]] LayoutRows tree_rows(const RelationsModel& relations);
/// Returns one row per edge of each operator's Hasse diagram.
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
