// A table of texts for Qt's table view, and the view that shows it and copies what is selected.
#pragma once

#include <QAbstractTableModel>
#include <QTableView>

#include "core/bench/summary.h"

namespace conelab::desktop {

/// Copies the selected cells as tab-separated text; `role`: which of their texts.
void copy_selection(const QTableView& table, int role = Qt::DisplayRole);

class TextTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  /// Cells that stay in place are updated, so that selection and scroll bars stay as they are.
  void show_table(TextTable table);
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;
  /// Whether a column holds sentences, which may be cut: their whole text is in tooltips.
  [[nodiscard]] bool holds_remarks(int column) const;

 private:
  [[nodiscard]] QVariant alignment(int column) const;
  [[nodiscard]] bool is_titled(int column, std::initializer_list<const char*> titles) const;

  TextTable table_;
};

class TextTableView : public QTableView {
  Q_OBJECT

 public:
  explicit TextTableView(QWidget* parent = nullptr);
  /// Columns widen where texts have become longer, and shrink only with other columns. One of
  /// remarks takes what the columns before it leave of the view.
  void show_table(TextTable table);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] int needed_width(int column) const;
  void fit_remarks();

  TextTableModel model_;
};

}  // namespace conelab::desktop
