// The keys that move the locked pair of tokens, in every view that shows pairs: arrows step to the
// next query or key, Escape lets go.
#pragma once

#include <QKeyEvent>

#include "widgets/session/document.h"

namespace conelab::desktop {

/// True where the key was one of them; `rows` queries and `columns` keys.
bool move_pair(Document& document, const QKeyEvent& event, std::int64_t rows, std::int64_t columns);

/// A click on a pair, or on none.
void lock_pair(Document& document, const std::optional<Focus>& pair);

}  // namespace conelab::desktop
