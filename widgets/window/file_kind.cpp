#include "widgets/window/file_kind.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/inspect.h"
#include "core/files/result_kind.h"
#include "core/source/figure_table.h"
#include "widgets/studies/study_model.h"

namespace conelab::desktop {
namespace {

/// Returns whether a file is a study, or the index of a study's results.
bool is_study_file(const QString& file) {
  return file.endsWith(QLatin1String(".toml"), Qt::CaseInsensitive) ||
         is_study_index(file.toStdString());
}

/// Returns whether the first bytes are those of a session, whatever the file is called.
bool is_session_file(const QString& file) {
  QFile opened(file);
  // Whoever opens a pipe waits for its writer.
  if (!QFileInfo(file).isFile() || !opened.open(QIODevice::ReadOnly)) return false;
  const QByteArray start = opened.read(4096).trimmed();
  return start.startsWith('{') && start.contains("\"conelab_session\"");
}

/// Returns the attributes of a group; none if there is no such group.
Attributes attributes_at(const Inspection& inspection, const std::string& path) {
  const auto found = std::ranges::find(inspection.items, path, &InspectedItem::path);
  return found == inspection.items.end() ? Attributes() : found->attributes;
}

FoundFile in_hdf5(const Inspection& inspection, const QString& path) {
  if (inspection.items.empty() && !inspection.sound()) fail("{}", inspection.problems.front());
  if (!groups_with_queries(inspection).empty()) return {"trace", path};
  const Attributes root = attributes_at(inspection, "/");
  FoundFile found{result_kind(root), path};
  for (const char* quantity : {"logits", "weights"}) {
    const Attributes map = attributes_at(inspection, std::string("/attention/") + quantity);
    if (found.kind == "attend" && !map.empty()) found.quantity = quantity;
  }
  if (figure::figure_of_results(found.kind) != nullptr) {
    const Attributes group = attributes_at(inspection, "/" + attribute_or_empty(root, "default"));
    found.made_of = input_of_spec(attribute_or_empty(root, "spec"));
    if (found.made_of.empty()) found.made_of = input_of_spec(attribute_or_empty(group, "spec"));
    return found;
  }
  if (!groups_with_weights(arrays_of(inspection, 5)).empty()) return {"trace", path};
  found.arrays = arrays_of(inspection);
  if (found.kind.empty()) found.kind = found.arrays.empty() ? "other" : "arrays";
  return found;
}

/// A file of another format is a trace if one of its arrays is called q, as "layer0/q" and
/// "layer0.q" are, or if it holds attention weights. If it cannot be read, the workspace says why.
FoundFile in_archive(const QString& path, FileFormat format, const Cancelled& cancelled) {
  FoundFile found{"trace", path};
  if (format == FileFormat::npy) return found;
  try {
    found.arrays = arrays_of(path.toStdString(), format, cancelled);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return found;
  }
  const auto is_query = [](const NamedArray& array) {
    return array.name == "q" || is_array_of_group(array.name, "q");
  };
  const auto& arrays = found.arrays;
  const bool of_weights =
      !groups_with_weights(arrays_of(path.toStdString(), format, cancelled, 5)).empty();
  if (!of_weights && !arrays.empty() && std::ranges::none_of(arrays, is_query)) {
    found.kind = "arrays";
  }
  return found;
}

}  // namespace

bool FoundFile::has_stored_maps() const {
  return kind == "attend" && content && !stored_maps(*content).empty();
}

FoundFile identify_file(const QString& named, const Cancelled& cancelled) {
  const InputSpec spec = QFileInfo::exists(named) ? InputSpec{named.toStdString(), ""}
                                                  : parse_input_spec(named.toStdString());
  const QString path =
      QDir::cleanPath(QFileInfo(QString::fromStdString(spec.path)).absoluteFilePath());
  if (!spec.group.empty()) return {"trace", path, spec.group};
  if (is_session_file(path)) {
    FoundFile found{"session", path};
    found.session = std::make_shared<SavedSession>(load_session(path));
    return found;
  }
  if (QFileInfo(path).isFile() && is_study_file(path)) return {"study", path};
  const FileFormat format = detect_format(path.toStdString());
  if (format != FileFormat::hdf5) return in_archive(path, format, cancelled);
  const auto content = std::make_shared<const Inspection>(
      inspect_if_small(path.toStdString(), {.cancelled = cancelled}));
  FoundFile found = in_hdf5(*content, path);
  found.content = content;
  return found;
}

namespace {

constexpr int most_recent = 12;

}  // namespace

QStringList RecentFiles::all() const {
  QFile file(kept_in_);
  if (kept_in_.isEmpty() || !file.open(QIODevice::ReadOnly)) return {};
  return QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts);
}

void RecentFiles::add(const QString& file) {
  QStringList files = all();
  if (kept_in_.isEmpty() || (!files.isEmpty() && files.front() == file)) return;
  files.removeAll(file);
  files.prepend(file);
  QDir().mkpath(QFileInfo(kept_in_).path());
  write_text_atomically(kept_in_.toStdString(), files.mid(0, most_recent).join('\n').toStdString());
}

}  // namespace conelab::desktop
