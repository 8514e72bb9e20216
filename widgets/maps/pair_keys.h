// The keys that move the locked pair of tokens, in every view that shows pairs: arrows move it to
// the next query or key, Escape unlocks it.
#pragma once

#include <QKeyEvent>

#include "widgets/maps/map_tokens.h"
#include "widgets/session/document.h"

namespace conelab::desktop {

/// Handles a key event and returns whether it was one of these keys. There are `rows` queries and
/// `columns` keys.
bool move_pair(Document& document, const QKeyEvent& event, std::int64_t rows, std::int64_t columns);

/// Does the same for cells of maps, of which one may be a word of several tokens.
bool move_cell(Document& document, const QKeyEvent& event, const MapTokens& tokens);

/// Handles a click on a pair, or on none.
void lock_pair(Document& document, const std::optional<Focus>& pair);

}  // namespace conelab::desktop
