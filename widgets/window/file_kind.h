// What a dropped file is: a trace, a benchmark, a result of attend, or something else.
#pragma once

#include <QString>
#include <string>

#include "widgets/trace/trace.h"

namespace conelab::desktop {

enum class FileKind { trace, benchmark, result, other };

struct FoundFile {
  FileKind kind = FileKind::other;
  std::string quantity;  ///< Of a result of attend: what it stored; empty: neither map.
  std::string made_of;   ///< Of such a result: the trace it was computed from.
};

/// Fails where the file cannot be read at all; throws interrupted where `cancelled` says so.
[[nodiscard]] FoundFile kind_of_file(const std::string& path, const Cancelled& cancelled = {});

/// By its ending and its beginning.
[[nodiscard]] bool is_session_file(const QString& file);

}  // namespace conelab::desktop
