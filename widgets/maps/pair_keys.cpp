#include "widgets/maps/pair_keys.h"

#include <QObject>
#include <algorithm>

namespace conelab::desktop {

void lock_pair(Document& document, const std::optional<Focus>& pair) {
  document.edit(
      pair ? QObject::tr("select a pair of tokens") : QObject::tr("select nothing"),
      [&](Session& s) { s.locked = pair; }, pair ? "locked" : "");
}

namespace {

/// Returns where an arrow key moves the locked cell; nothing for another key.
std::optional<Focus> moved(const std::optional<Focus>& locked, const QKeyEvent& event,
                           std::int64_t rows, std::int64_t columns) {
  const std::int64_t down = (event.key() == Qt::Key_Down) - (event.key() == Qt::Key_Up);
  const std::int64_t right = (event.key() == Qt::Key_Right) - (event.key() == Qt::Key_Left);
  if ((down == 0 && right == 0) || rows == 0 || columns == 0) return std::nullopt;
  Focus cell = locked.value_or(Focus{-down, -right});
  cell.query = std::clamp<std::int64_t>(cell.query + down, 0, rows - 1);
  cell.key = std::clamp<std::int64_t>(cell.key + right, 0, columns - 1);
  return cell;
}

bool unlock(Document& document, const QKeyEvent& event) {
  if (event.key() != Qt::Key_Escape || !document.session().locked) return false;
  lock_pair(document, std::nullopt);
  return true;
}

}  // namespace

bool move_pair(Document& document, const QKeyEvent& event, std::int64_t rows,
               std::int64_t columns) {
  if (unlock(document, event)) return true;
  const auto pair = moved(document.session().locked, event, rows, columns);
  if (!pair) return false;
  document.hover(std::nullopt);
  lock_pair(document, pair);
  return true;
}

bool move_cell(Document& document, const QKeyEvent& event, const MapTokens& tokens) {
  if (unlock(document, event)) return true;
  const auto cell = moved(tokens.cell_of(document.session().locked), event, tokens.query.size(),
                          tokens.key.size());
  if (!cell) return false;
  document.hover(std::nullopt);
  lock_pair(document, tokens.pair_of(*cell));
  return true;
}

}  // namespace conelab::desktop
