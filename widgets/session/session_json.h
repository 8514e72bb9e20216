// A session as JSON: its file, and the autosave.
//
//   {"conelab_session": 1, "session": {...}, "layout": "base64"}
// Members that are absent keep their defaults, unknown ones are passed over, so that sessions of
// neighbouring versions open.
#pragma once

#include <QByteArray>
#include <QString>

#include "widgets/session/session.h"

namespace conelab::desktop {

struct SavedSession {
  Session session;
  QByteArray layout;  ///< The main window's own state, opaque.
};

[[nodiscard]] QByteArray session_to_json(const SavedSession& saved);
/// Fails where the text is no session, saying why in one line that begins with `name`.
[[nodiscard]] SavedSession session_from_json(const QByteArray& json, const QString& name);

/// Whole or not at all. Fails with `PATH: why`.
void save_session(const SavedSession& saved, const QString& path);
[[nodiscard]] SavedSession load_session(const QString& path);

}  // namespace conelab::desktop
