// What a file is that was dropped or named: one of those that this program writes or reads.
#pragma once

#include <QString>
#include <memory>
#include <string>

#include "widgets/session/session_json.h"
#include "widgets/trace/trace.h"

namespace conelab::desktop {

enum class FileKind {
  trace,
  benchmark,
  result,   ///< Of attend.
  tree,     ///< A result of tree.
  session,  ///< Of this program.
  other,    ///< Sound, but of no kind that has a view of its own.
};

struct FoundFile {
  FileKind kind = FileKind::other;
  QString path;               ///< Absolute.
  std::string group = {};     ///< Of a trace: the one that was asked for, or empty.
  std::string quantity = {};  ///< Of a result of attend: the map it stored, or empty.
  std::string made_of = {};   ///< Of a result: the trace it was computed from.
  std::shared_ptr<SavedSession> session = {};      ///< Of a session.
  std::shared_ptr<const Inspection> content = {};  ///< What was looked into; or null.

  /// Whether the figures can draw it.
  [[nodiscard]] bool has_figure() const {
    return kind == FileKind::tree || (kind == FileKind::result && !quantity.empty());
  }
};

/// `named`: a path, or "FILE.h5:/group" for one trace of a file. Fails where the file cannot be
/// read at all; throws interrupted where `cancelled` says so.
[[nodiscard]] FoundFile find_out(const QString& named, const Cancelled& cancelled = {});

}  // namespace conelab::desktop
