// A session as JSON, for its file and the automatic save.
//
//   {"conelab_session": 1, "session": {...}, "layout": "base64"}
// Missing members keep their defaults and unknown members are ignored, so that sessions of
// neighbouring versions can be opened.
#pragma once

#include <QByteArray>
#include <QString>

#include "widgets/session/session.h"

namespace conelab::desktop {

struct SavedSession {
  Session session;
  QByteArray layout;  ///< The state of the main window, in Qt's format.
};

[[nodiscard]] QByteArray session_to_json(const SavedSession& saved);
/// Parses a session. Throws a failure if the text is no session; the message begins with `name`.
[[nodiscard]] SavedSession session_from_json(const QByteArray& json, const QString& name);

/// Throws misuse if there is a file at `path` that is neither empty nor a session, so that saving
/// replaces no other file.
void check_replaceable_session(const QString& path);
/// Writes a session completely or not at all. Throws a failure `PATH: why`.
void save_session(const SavedSession& saved, const QString& path);
[[nodiscard]] SavedSession load_session(const QString& path);

}  // namespace conelab::desktop
