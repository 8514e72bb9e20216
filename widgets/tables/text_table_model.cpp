#include "widgets/tables/text_table_model.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int column_gap = 14;
constexpr int looked_at = 50;  ///< Rows outside the view that are used for the widths of columns.

const std::string& text_in(const TextTable& table, const QModelIndex& index) {
  return table
      .rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
}

/// Returns the text after a number at its beginning; the same text if there is none.
std::string_view after_number(std::string_view text) {
  for (const std::string_view word : {"-inf", "inf", "-nan", "nan", "masked"}) {
    if (text.starts_with(word)) return text.substr(word.size());
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::invalid_argument
             ? text
             : text.substr(static_cast<std::size_t>(end - text.data()));
}

/// Returns whether a text is one word, which a unit is.
bool is_unit(std::string_view text) {
  constexpr std::size_t longest = 8;  // "GFLOP/s"; characters such as µ have two bytes.
  return text.size() <= longest && text.find(' ') == std::string_view::npos;
}

/// Returns whether every cell of a column is a number or empty, and one is not empty.
bool is_column_of_numbers(const TextTable& table, std::size_t column) {
  bool found = false;
  for (const auto& row : table.rows) {
    if (row[column].empty()) continue;
    if (!is_number_text(row[column])) return false;
    found = true;
  }
  return found;
}

}  // namespace

bool is_number_text(const std::string& text) {
  for (const char* unknown : {"…", "computing …", "-", "–"}) {
    if (text == unknown) return true;
  }
  std::string_view rest = text;
  const bool brackets = rest.size() > 2 && rest.front() == '(' && rest.back() == ')';
  if (brackets) rest = rest.substr(1, rest.size() - 2);
  for (;;) {
    const std::string_view after = after_number(rest);
    if (after.size() == rest.size()) return false;
    rest = after;
    if (rest.starts_with(", ")) {
      rest.remove_prefix(2);
    } else if (rest.starts_with(" .. ")) {
      rest.remove_prefix(4);
    } else {
      break;
    }
  }
  return rest.empty() || rest == "%" || (rest.front() == ' ' && is_unit(rest.substr(1)));
}

void copy_selection(const QTableView& table, int role) {
  QModelIndexList cells = table.selectionModel()->selectedIndexes();
  std::sort(cells.begin(), cells.end());
  QString text;
  for (qsizetype i = 0; cells.size() > 1 && i < cells.size(); ++i) {
    if (cells[i].row() != cells.front().row()) break;
    const int column = cells[i].column();
    const int titles = role == exported_role ? exported_role : static_cast<int>(Qt::DisplayRole);
    text += table.model()->headerData(column, Qt::Horizontal, titles).toString();
    const bool last = i + 1 == cells.size() || cells[i + 1].row() != cells[i].row();
    text += last ? '\n' : '\t';
  }
  for (qsizetype i = 0; i < cells.size(); ++i) {
    if (i > 0) text += cells[i].row() != cells[i - 1].row() ? '\n' : '\t';
    text += cells[i].data(role).toString();
  }
  QGuiApplication::clipboard()->setText(text);
}

QString separated_text(const TextTable& table, QChar separator) {
  QString text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      QString cell = QString::fromStdString(cells[i]);
      if (cell.contains(separator) || cell.contains('"') || cell.contains('\n')) {
        cell = '"' + cell.replace('"', QStringLiteral("\"\"")) + '"';
      }
      text += cell + (i + 1 < cells.size() ? separator : QChar('\n'));
    }
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return text;
}

void TextTableModel::show_table(TextTable table, TextTable exported) {
  const bool same_shape = table.header == table_.header && table.rows.size() == table_.rows.size();
  if (!same_shape) beginResetModel();
  table_ = std::move(table);
  exported_ = std::move(exported);
  const std::vector<bool> before = std::exchange(numbers_, {});
  for (std::size_t i = 0; i < table_.header.size(); ++i) {
    numbers_.push_back(is_column_of_numbers(table_, i));
  }
  if (!same_shape) return endResetModel();
  if (numbers_ != before) emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
  if (!table_.rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int TextTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int TextTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.header.size());
}

QVariant TextTableModel::data(const QModelIndex& index, int role) const {
  const std::string& text = text_in(table_, index);
  if (role == exported_role) return QString::fromStdString(text_in(exported(), index));
  if (role == Qt::ToolTipRole && text_in(exported(), index) != text) {
    const auto column = static_cast<std::size_t>(index.column());
    return QString::fromStdString(exported().header[column] + ": " + text_in(exported(), index));
  }
  if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return QString::fromStdString(text);
  if (role == Qt::TextAlignmentRole) return alignment(index.column());
  if (role == Qt::ForegroundRole && (text == "faster" || text == "slower")) {
    return verdict_colour(text == "faster", QGuiApplication::palette());
  }
  return {};
}

bool TextTableModel::holds_remarks(int column) const {
  const std::string& title = table_.header[static_cast<std::size_t>(column)];
  return title == "note" || title == "status";
}

QVariant TextTableModel::alignment(int column) const {
  return QVariant((holds_numbers(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

QVariant TextTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal) return alignment(section);
  if (role != Qt::DisplayRole && role != exported_role) return {};
  if (orientation == Qt::Vertical) return section + 1;
  const TextTable& from = role == exported_role ? exported() : table_;
  return QString::fromStdString(from.header[static_cast<std::size_t>(section)]);
}

TextTableView::TextTableView() {
  setModel(&model_);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  verticalHeader()->setDefaultSectionSize(24);
  verticalHeader()->hide();
  horizontalHeader()->setResizeContentsPrecision(looked_at);
}

void TextTableView::show_table(TextTable table, TextTable exported) {
  const int columns = model_.columnCount();
  model_.show_table(std::move(table), std::move(exported));
  const bool anew = columns != model_.columnCount();
  for (int i = 0; i < model_.columnCount(); ++i) {
    if (takes_rest(i)) continue;
    const int need = needed_width(i);
    if (anew || need > columnWidth(i)) setColumnWidth(i, need);
  }
  fit_remarks();
}

int TextTableView::needed_width(int column) const {
  return std::max(sizeHintForColumn(column), horizontalHeader()->sectionSizeHint(column)) +
         column_gap;
}

bool TextTableView::takes_rest(int column) const {
  const bool is_last = column + 1 == model_.columnCount();
  return model_.holds_remarks(column) || (is_last && stretches_ && !model_.holds_numbers(column));
}

void TextTableView::fit_remarks() {
  const int last = model_.columnCount() - 1, least = 16 * fontMetrics().averageCharWidth();
  for (int i = 0, before = 0; i <= last; before += columnWidth(i++)) {
    if (!takes_rest(i)) continue;
    const int need = needed_width(i) - (i == last ? column_gap : 0);
    const int rest = std::max(viewport()->width() - before, std::min(least, need));
    setColumnWidth(i, i == last ? rest : std::min(rest, need));
  }
}

void TextTableView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit_remarks();
}

void TextTableView::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu;
  menu.addAction(tr("Copy the selection"), this, [this] { copy_cells(); });
  menu.addAction(tr("Copy the table"), this, [this] {
    QGuiApplication::clipboard()->setText(separated_text(model_.exported(), '\t'));
  });
  menu.addAction(tr("Export the table …"), this, [this] { export_table(); });
  menu.exec(event->globalPos());
}

/// One cell is copied as it is shown; several with their headers, as they are exported.
void TextTableView::copy_cells() {
  const bool one = selectionModel()->selectedIndexes().size() == 1;
  copy_selection(*this, one ? static_cast<int>(Qt::DisplayRole) : exported_role);
}

void TextTableView::export_table() {
  const QString file =
      ask_where_to_write(this, tr("Export the table"), "table.csv", tr("Tables (*.csv *.tsv)"));
  if (file.isEmpty()) return;
  const bool tabs = file.endsWith(".tsv", Qt::CaseInsensitive);
  try {
    write_text_atomically(file.toStdString(),
                          separated_text(model_.exported(), tabs ? '\t' : ',').toStdString());
  } catch (const Error& error) {
    QMessageBox::warning(this, tr("Export the table"), QString::fromStdString(error.what()));
  }
}

void TextTableView::keyPressEvent(QKeyEvent* event) {
  event->matches(QKeySequence::Copy) ? copy_cells() : QTableView::keyPressEvent(event);
}

}  // namespace conelab::desktop
