// A table of texts as a Qt model, and the view that shows it and copies the selection.
#pragma once

#include <QAbstractTableModel>
#include <QTableView>

#include "core/bench/summary.h"

namespace conelab::desktop {

/// The text of a cell or header that is exported, where it differs from the one that is shown.
inline constexpr int exported_role = Qt::UserRole;

/// Returns whether a text is a number, or several such as "0.9 .. 1.1" and "1, 2", with a unit or
/// without, or stands for numbers that are not known: "…", "-".
[[nodiscard]] bool is_number_text(const std::string& text);

/// Copies the selected cells to the clipboard as tab-separated text, below their headers where
/// several are selected. `role` selects which text of a cell is copied.
void copy_selection(const QTableView& table, int role = Qt::DisplayRole);

/// Returns the whole table with its header, one line for each row. Cells that contain the
/// separator, a quote or a line break are quoted.
[[nodiscard]] QString separated_text(const TextTable& table, QChar separator);

class TextTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  /// Shows a table. Cells that keep their position are updated, so that selection and scroll bars
  /// do not change. `exported` has the same shape, with plain numbers in the place of those with
  /// units; if it is empty, the table is exported as it is shown.
  void show_table(TextTable table, TextTable exported = {});
  [[nodiscard]] const TextTable& exported() const {
    return exported_.header.empty() ? table_ : exported_;
  }
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;
  /// Returns whether a column contains sentences. They may be cut; the tooltip shows them
  /// completely.
  [[nodiscard]] bool holds_remarks(int column) const;
  /// Returns whether all cells of a column that are not empty are numbers, which may have units.
  [[nodiscard]] bool holds_numbers(int column) const {
    return numbers_[static_cast<std::size_t>(column)];
  }

 private:
  [[nodiscard]] QVariant alignment(int column) const;

  TextTable table_, exported_;
  std::vector<bool> numbers_;  ///< Of each column: whether it holds numbers.
};

class TextTableView : public QTableView {
  Q_OBJECT

 public:
  TextTableView();
  /// Shows a table. Columns become wider for longer texts and become narrower only if the columns
  /// change. A column of sentences takes the space that the columns before it leave; so does the
  /// last column, unless it holds numbers.
  void show_table(TextTable table, TextTable exported = {});
  /// Lets the last column, too, be as wide as its texts.
  void fit_last_column() { stretches_ = false; }
  /// Asks for a file and writes the table to it, separated by commas or, as .tsv, by tabs.
  void export_table();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void copy_cells();
  [[nodiscard]] int needed_width(int column) const;
  /// Returns whether a column takes the space that the columns before it leave.
  [[nodiscard]] bool takes_rest(int column) const;
  void fit_remarks();

  TextTableModel model_;
  bool stretches_ = true;  ///< Whether a last column of texts takes the rest of the width.
};

}  // namespace conelab::desktop
