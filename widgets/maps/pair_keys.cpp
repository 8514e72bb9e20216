#include "widgets/maps/pair_keys.h"

#include <QObject>
#include <algorithm>

namespace conelab::desktop {

void lock_pair(Document& document, const std::optional<Focus>& pair) {
  document.edit(
      pair ? QObject::tr("select a pair of tokens") : QObject::tr("select nothing"),
      [&](Session& s) { s.locked = pair; }, pair ? "locked" : "");
}

bool move_pair(Document& document, const QKeyEvent& event, std::int64_t rows,
               std::int64_t columns) {
  const auto& locked = document.session().locked;
  if (event.key() == Qt::Key_Escape && locked) return lock_pair(document, std::nullopt), true;
  const std::int64_t down = (event.key() == Qt::Key_Down) - (event.key() == Qt::Key_Up);
  const std::int64_t right = (event.key() == Qt::Key_Right) - (event.key() == Qt::Key_Left);
  if ((down == 0 && right == 0) || rows == 0 || columns == 0) return false;
  Focus cell = locked.value_or(Focus{-down, -right});
  cell.query = std::clamp<std::int64_t>(cell.query + down, 0, rows - 1);
  cell.key = std::clamp<std::int64_t>(cell.key + right, 0, columns - 1);
  document.hover(std::nullopt);
  lock_pair(document, cell);
  return true;
}

}  // namespace conelab::desktop
