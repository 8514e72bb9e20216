#include "widgets/window/file_kind.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <optional>

#include "core/base/error.h"
#include "core/files/inspect.h"
#include "core/files/sandbox.h"

namespace conelab::desktop {
namespace {

/// What a result of attend says of itself; none for other files.
std::optional<FoundFile> as_result(const std::string& path, const Cancelled& cancelled) {
  if (detect_format(path) != FileFormat::hdf5) return std::nullopt;
  std::optional<FoundFile> found;
  for (const InspectedItem& item : inspect(path, {.cancelled = cancelled}).items) {
    if (found && item.path == "/attention/weights") found->quantity = "weights";
    if (found && item.path == "/attention/logits" && found->quantity.empty())
      found->quantity = "logits";
    if (item.path != "/attention") continue;
    for (const auto& [name, value] : item.attributes) {
      const auto* text = std::get_if<std::string>(&value);
      if (name != "spec" || text == nullptr) continue;
      const QJsonObject spec = QJsonDocument::fromJson(QByteArray::fromStdString(*text)).object();
      found = FoundFile{FileKind::result, "", spec["input"].toString().toStdString()};
    }
    if (!found) return std::nullopt;
  }
  return found;
}

}  // namespace

bool is_session_file(const QString& file) {
  QFile opened(file);
  return file.endsWith(".json", Qt::CaseInsensitive) && opened.open(QIODevice::ReadOnly) &&
         opened.read(4096).contains("conelab_session");
}

FoundFile kind_of_file(const std::string& path, const Cancelled& cancelled) {
  if (!groups_with_queries(path, cancelled).empty()) return {FileKind::trace, "", ""};
  if (auto result = as_result(path, cancelled)) return *result;
  try {
    static_cast<void>(read_labelled_sandboxed(path, "bench/runtime", {.cancelled = cancelled}));
    return {FileKind::benchmark, "", ""};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return {};
  }
}

}  // namespace conelab::desktop
