#include "core/files/inspect.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/byte_file.h"
#include "core/files/read_tensors.h"
#include "core/files/unread.h"

namespace conelab {

template <class Archive>
void visit(Archive& archive, InspectedItem& item) {
  visit_all(archive, item.path, item.depth, item.kind, item.attributes, item.type, item.extents,
            item.chunk, item.filters, item.stored_bytes, item.nan_count, item.infinite_count,
            item.value, item.checksummed, item.problem, item.unread);
}

template <class Archive>
void visit(Archive& archive, Inspection& inspection) {
  visit_all(archive, inspection.creator, inspection.sealed, inspection.locked, inspection.problems,
            inspection.items);
}

namespace {

std::unique_ptr<TensorSource> open_source(const Inspection& inspection, const SourceRules& rules) {
  switch (inspection.format) {
    case FileFormat::npz:
      return open_npz_source(inspection.path, rules);
    case FileFormat::npy:
      return open_npy_source(rules);
    default:
      return open_safetensors_source(inspection.path, rules);
  }
}

/// Keeps the message of an error for the result. It throws the error again if the user asked to
/// stop.
void keep_problem(const Error& error, std::string& problem) {
  if (error.kind() == ErrorKind::interrupted) throw error;
  problem = error.what();
}

void read_content(TensorSource& source, const DeclaredArray& array, InspectedItem& item) {
  const bool single = array.extents.empty();
  if (array.element == Element::text) {
    const std::vector<std::string> texts = source.read_strings(array);
    if (single && texts.front().size() <= longest_value) item.value = texts.front();
    return;
  }
  const bool known = array.element != Element::other && array.element != Element::raw16;
  if (!known) fail_unread("{}: its type {} is not read", source.place(array.name), array.type);
  const InputTensor tensor = read_array(source, array);
  item.nan_count = tensor.nan_count;
  item.infinite_count = tensor.infinite_count;
  if (!single) return;
  char bytes[sizeof(std::uint64_t)] = {};
  source.read(array, bytes);
  item.value = number_of(array.element, bytes);
}

/// Checks the bytes of an array that is not read.
void check_bytes(TensorSource& source, InspectedItem& item) {
  try {
    source.check(item.path);
  } catch (const Unread&) {
    item.checksummed = false;  // They cannot be unpacked.
  } catch (const Error& error) {
    keep_problem(error, item.problem);
  }
}

/// Reads an array to check that it can be read, and counts NaN and Inf.
InspectedItem inspect_array(TensorSource& source, const std::string& name, bool checksummed) {
  InspectedItem item;
  item.path = name;
  item.kind = ItemKind::array;
  item.checksummed = checksummed;
  try {
    const std::optional<DeclaredArray> array = source.find(name);
    if (!array) fail("{}: not found", source.place(name));
    item.type = array->element == Element::other ? array->type : element_name(array->element);
    item.extents = array->extents;
    item.stored_bytes = static_cast<std::int64_t>(array->bytes());
    read_content(source, *array, item);
  } catch (const Unread& error) {
    item.unread = error.what();
  } catch (const Error& error) {
    keep_problem(error, item.problem);
  }
  if (!item.unread.empty()) check_bytes(source, item);
  if (item.type.empty()) item.type = "unknown";
  return item;
}

void inspect_arrays(Inspection& inspection, const SandboxLimits& limits) {
  try {
    const std::unique_ptr<TensorSource> source =
        open_source(inspection, {{}, {}, limits.cancelled});
    std::vector<std::string> names = source->names();
    if (inspection.format == FileFormat::npy) names = {inspection.path};
    for (const std::string& name : names) {
      inspection.items.push_back(
          inspect_array(*source, name, inspection.format == FileFormat::npz));
      const std::string& problem = inspection.items.back().problem;
      if (!problem.empty()) inspection.problems.push_back(problem);
    }
  } catch (const Error& error) {
    keep_problem(error, inspection.problems.emplace_back());
  }
}

void inspect_in_child(Inspection& inspection, const SandboxLimits& limits, bool allow_external) {
  try {
    run_sandboxed(
        inspection.path, limits,
        [&](ArchiveWriter& writer) {
          inspect_hdf5(inspection, allow_external);
          visit(writer, inspection);
        },
        [&](ArchiveReader& reader) { receive_inspection(reader, inspection); });
  } catch (const Error& error) {
    keep_problem(error, inspection.problems.emplace_back());
  }
}

}  // namespace

void receive_inspection(ArchiveReader& reader, Inspection& inspection) {
  visit(reader, inspection);
}

std::int64_t Inspection::unread() const {
  return std::count_if(items.begin(), items.end(),
                       [](const InspectedItem& item) { return !item.unread.empty(); });
}

std::int64_t Inspection::unguarded() const {
  if (sealed) return 0;
  return std::count_if(items.begin(), items.end(), [](const InspectedItem& item) {
    return item.kind == ItemKind::array && !item.checksummed;
  });
}

Inspection inspect(const std::string& path, const SandboxLimits& limits, bool allow_external) {
  Inspection inspection = inspect_without_digest(path, limits, allow_external);
  inspection.sha256 = sha256_of_file(path, limits.cancelled);
  return inspection;
}

Inspection inspect_without_digest(const std::string& path, const SandboxLimits& limits,
                                  bool allow_external) {
  Inspection inspection;
  inspection.path = path;
  inspection.format = detect_format(path);
  inspection.file_bytes = ByteFile(path).size();
  if (inspection.format == FileFormat::hdf5) {
    inspect_in_child(inspection, limits, allow_external);
  } else {
    inspect_arrays(inspection, limits);
  }
  return inspection;
}

}  // namespace conelab
