// The kind of a file that was dropped or named, among those that this program writes or reads.
#pragma once

#include <QString>
#include <QStringList>
#include <memory>
#include <string>

#include "core/trace/array_choice.h"
#include "core/trace/trace.h"
#include "widgets/session/session_json.h"

namespace conelab::desktop {

struct FoundFile {
  /// "trace"; the kind of a result (core/files/result_kind.h); "session"; "study", or the
  /// index.json of its results; "arrays", none of which is called q; or "other".
  std::string kind = "other";
  QString path;               ///< Absolute path.
  std::string group = {};     ///< For a trace: the requested group, or empty.
  std::string quantity = {};  ///< For a result of attend: the map that it contains, or empty.
  std::string made_of = {};   ///< For a result that figures draw: what it was computed from.
  std::vector<NamedArray> arrays = {};             ///< Those that may be q, k or v.
  std::shared_ptr<SavedSession> session = {};      ///< For a session.
  std::shared_ptr<const Inspection> content = {};  ///< The content, if it was read; or null.

  /// Returns whether maps can show what the file holds: a result of attend.
  [[nodiscard]] bool has_stored_maps() const;
  /// Returns whether the user has to choose the arrays that are q, k and v.
  [[nodiscard]] bool has_arrays() const { return kind != "trace" && !arrays.empty(); }
};

/// Determines the kind of a file. `named` is a path, or "FILE.h5:/group" for one trace of a file.
/// Throws a failure if the file cannot be read, and interrupted if `cancelled` returns true.
[[nodiscard]] FoundFile identify_file(const QString& named, const Cancelled& cancelled = {});

// The files that were opened last; they are stored between runs.

class RecentFiles {
 public:
  /// Stores the list in this file, one name per line; if empty, nothing is stored.
  explicit RecentFiles(const QString& kept_in) : kept_in_(kept_in) {}

  /// Returns the files, the newest first.
  [[nodiscard]] QStringList all() const;
  /// Adds a file. Throws a failure `PATH: why` if the list cannot be stored.
  void add(const QString& file);

 private:
  QString kept_in_;
};

}  // namespace conelab::desktop
