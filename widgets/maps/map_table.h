// The numbers of the maps as a table, for reading, selecting and screen readers.
#pragma once

#include <QAbstractTableModel>
#include <QWidget>

#include "widgets/maps/maps_model.h"

class QComboBox;
class QTableView;

namespace conelab::desktop {

/// The matrix of one operator. A cell is computed when the table shows it.
class MapTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  explicit MapTableModel(MapsModel& maps, QObject* parent = nullptr)
      : QAbstractTableModel(parent), maps_(maps) {}

  void show_panel(int index);
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  MapsModel& maps_;
  int panel_ = 0;
};

class MapTableView : public QWidget {
  Q_OBJECT

 public:
  explicit MapTableView(MapsModel& maps, QWidget* parent = nullptr);

 private:
  void refill();

  MapsModel& maps_;
  MapTableModel model_;
  QComboBox* which_;
  QTableView* table_;
};

}  // namespace conelab::desktop
