// All heads, arcs, trees and orders as tables of numbers, for reading, copying and screen readers.
// The maps have their own table (MapTableView).
#pragma once

#include <QAbstractTableModel>
#include <QPointer>
#include <QWidget>
#include <optional>
#include <vector>

#include "widgets/maps/heads_model.h"
#include "widgets/maps/maps_model.h"
#include "widgets/maps/relations_model.h"
#include "widgets/tables/text_table_model.h"

class QComboBox;
class QTableView;

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
  LayoutTableView(HeadsModel& heads, RelationsModel& relations);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refill();
  void choose(int row);

  HeadsModel& heads_;
  RelationsModel& relations_;
  LayoutRows rows_;
};

// The numbers of the maps as a table, for reading, selecting and screen readers.

/// The matrix of one operator. A cell is computed when the table shows it.
class MapTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit MapTableModel(MapsModel& maps) : maps_(&maps) {}

  void show_panel(int index);
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  QPointer<MapsModel> maps_;  ///< Null while the view is destroyed: the table is hidden later.
  int panel_ = 0;
};

class MapTableView : public QWidget {
  Q_OBJECT

 public:
  explicit MapTableView(MapsModel& maps);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refill();
  void follow_pair();

  MapsModel& maps_;
  MapTableModel model_;
  QComboBox* which_;
  QTableView* table_;
};

}  // namespace conelab::desktop
