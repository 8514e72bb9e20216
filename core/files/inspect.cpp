#include "core/files/inspect.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"
#include "core/files/hdf5_read.h"
#include "core/files/read_tensors.h"
#include "core/files/seal.h"

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

/// Returns the number, of a type that is read, in the bytes of an array without axes.
AttributeValue number_of(Element element, const char* bytes) {
  return with_number(element, [&](auto number) -> AttributeValue {
    std::memcpy(&number, bytes, sizeof number);
    if constexpr (!std::is_integral_v<decltype(number)>)
      return static_cast<double>(number);
    else if (std::in_range<std::int64_t>(number))
      return static_cast<std::int64_t>(number);
    else
      return static_cast<std::uint64_t>(number);
  });
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
InspectedItem inspect_array(TensorSource& source, const std::string& name, bool checksummed,
                            bool numbers) {
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
    if (numbers) read_content(source, *array, item);
  } catch (const Unread& error) {
    item.unread = error.what();
  } catch (const Error& error) {
    keep_problem(error, item.problem);
  }
  if (numbers && !item.unread.empty()) check_bytes(source, item);
  if (item.type.empty()) item.type = "unknown";
  return item;
}

void inspect_arrays(Inspection& inspection, const SandboxLimits& limits, bool numbers) {
  try {
    const std::unique_ptr<TensorSource> source =
        open_source(inspection, {{}, {}, limits.cancelled});
    std::vector<std::string> names = source->names();
    if (inspection.format == FileFormat::npy) names = {inspection.path};
    for (const std::string& name : names) {
      inspection.items.push_back(
          inspect_array(*source, name, inspection.format == FileFormat::npz, numbers));
      const std::string& problem = inspection.items.back().problem;
      if (!problem.empty()) inspection.problems.push_back(problem);
    }
  } catch (const Error& error) {
    keep_problem(error, inspection.problems.emplace_back());
  }
}

void inspect_in_child(Inspection& inspection, const SandboxLimits& limits, bool allow_external,
                      bool numbers) {
  try {
    run_sandboxed(
        inspection.path, limits,
        [&](ArchiveWriter& writer) {
          inspect_hdf5(inspection, allow_external, numbers);
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
  return std::ranges::count_if(items,
                               [](const InspectedItem& item) { return !item.unread.empty(); });
}

std::int64_t Inspection::unguarded() const {
  if (sealed) return 0;
  return std::ranges::count_if(items, [](const InspectedItem& item) {
    return item.kind == ItemKind::array && !item.checksummed;
  });
}

namespace {

Inspection look_into(const std::string& path, const SandboxLimits& limits, bool allow_external,
                     bool numbers) {
  Inspection inspection;
  inspection.path = path;
  inspection.format = detect_format(path);
  inspection.file_bytes = ByteFile(path).size();
  if (inspection.format == FileFormat::hdf5) {
    inspect_in_child(inspection, limits, allow_external, numbers);
  } else {
    inspect_arrays(inspection, limits, numbers);
  }
  return inspection;
}

}  // namespace

Inspection inspect(const std::string& path, const SandboxLimits& limits, bool allow_external) {
  Inspection inspection = look_into(path, limits, allow_external, true);
  inspection.sha256 = sha256_of_file(path, limits.cancelled);
  return inspection;
}

Inspection outline(const std::string& path, const SandboxLimits& limits, bool allow_external) {
  return look_into(path, limits, allow_external, false);
}

Inspection inspect_if_small(const std::string& path, const SandboxLimits& limits) {
  constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;
  return ByteFile(path).size() <= most_bytes ? inspect(path, limits) : outline(path, limits);
}

namespace {

using hdf5::LinkKind;
using hdf5::ObjectKind;
using hdf5::Where;

constexpr std::size_t most_items = 100000;
constexpr int most_group_levels = 256;

/// Counts special values among numbers, each of which stands for `times` of them.
void add_special(Element element, const std::vector<char>& bytes, InspectedItem& item,
                 std::int64_t times = 1) {
  const SpecialCount found = count_special(element, bytes.data(), bytes.size());
  item.nan_count += times * found.nan;
  item.infinite_count += times * found.infinite;
}

/// Returns how many chunks the extents consist of.
std::int64_t chunk_count(const hdf5::Stored& stored) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < stored.extents.size(); ++i) {
    count *= (stored.extents[i] + stored.chunk[i] - 1) / stored.chunk[i];
  }
  return count;
}

/// Calls `visit` with the start of every block of a grid over the extents.
template <class Visit>
void for_each_block(const std::vector<hsize_t>& extents, const std::vector<hsize_t>& block,
                    const Visit& visit) {
  std::vector<hsize_t> start(extents.size(), 0);
  while (true) {
    visit(start);
    std::size_t axis = extents.size();
    while (axis-- > 0) {
      start[axis] += block[axis];
      if (start[axis] < extents[axis]) break;
      start[axis] = 0;
      if (axis == 0) return;
    }
  }
}

/// Calls `visit` with the start of every chunk that the file contains.
template <class Visit>
void for_each_written(const hdf5::Dataset& dataset, const hdf5::Space& space,
                      const hdf5::Stored& stored, const Where& where, const Visit& visit) {
  std::vector<hsize_t> start(stored.chunk.size());
  for (std::int64_t i = 0; i < stored.written_chunks; ++i) {
    CONELAB_HDF5(where, "be read",
                 H5Dget_chunk_info(dataset.id(), space.id(), static_cast<hsize_t>(i), start.data(),
                                   nullptr, nullptr, nullptr));
    visit(start);
  }
}

/// Counts special values among `elements` numbers that were never written. All of them are the fill
/// value.
void count_unwritten(const hdf5::Dataset& dataset, const hdf5::Stored& stored, hid_t type,
                     std::int64_t elements, InspectedItem& item, const Where& where) {
  const hdf5::Properties made(
      CONELAB_HDF5(where, "give its fill value", H5Dget_create_plist(dataset.id())));
  std::vector<char> fill(H5Tget_size(type));
  CONELAB_HDF5(where, "give its fill value", H5Pget_fill_value(made.id(), type, fill.data()));
  add_special(stored.element, fill, item, elements);
}

/// Reads every chunk. `type` is that of the data set; floats are in the byte order of this machine.
void read_chunks(const hdf5::Dataset& dataset, const hdf5::Stored& stored, hid_t type,
                 InspectedItem& item, const Where& where) {
  const std::vector<hsize_t> extents(stored.extents.begin(), stored.extents.end());
  const std::vector<hsize_t> block(stored.chunk.begin(), stored.chunk.end());
  const hdf5::Space space(CONELAB_HDF5(where, "give its extents", H5Dget_space(dataset.id())));
  std::int64_t unread = checked_product(stored.extents).value_or(0);
  const auto read = [&](const std::vector<hsize_t>& start) {
    std::vector<hsize_t> count(extents.size());
    hsize_t total = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (start[i] >= extents[i]) fail("{}: has a chunk beyond its extents", where.text());
      count[i] = std::min(block[i], extents[i] - start[i]);
      total *= count[i];
    }
    CONELAB_HDF5(where, "be read",
                 H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr,
                                     count.data(), nullptr));
    const hdf5::Space target(CONELAB_HDF5(where, "be read", H5Screate_simple(1, &total, nullptr)));
    std::vector<char> bytes(total * H5Tget_size(type));
    CONELAB_HDF5(where, "be read",
                 H5Dread(dataset.id(), type, target.id(), space.id(), H5P_DEFAULT, bytes.data()));
    add_special(stored.element, bytes, item);
    unread -= static_cast<std::int64_t>(total);
  };
  if (stored.written_chunks < chunk_count(stored)) {
    // Asking for the place of each chunk takes longer, but a file may declare any number of chunks
    // that it does not contain.
    for_each_written(dataset, hdf5::Space(H5Scopy(space.id())), stored, where, read);
    count_unwritten(dataset, stored, type, unread, item, where);
  } else {
    for_each_block(extents, block, read);
  }
}

/// Reads all of an array to check that it can be read.
void verify(const hdf5::Dataset& dataset, const hdf5::Stored& stored, InspectedItem& item,
            const Where& where) {
  if (checked_product(stored.extents).value_or(0) == 0) return;
  if (stored.element == Element::text) {
    if (stored.stored_bytes == 0) return;
    (void)read_strings(dataset, stored, where, {});
    return;
  }
  const hdf5::Type own(CONELAB_HDF5(where, "give its type", H5Dget_type(dataset.id())));
  if (stored.element == Element::other && H5Tdetect_class(own.id(), H5T_VLEN) > 0) {
    fail_unread("{}: lists of variable length are not read", where.text());
  }
  const hdf5::Type native(
      CONELAB_HDF5(where, "give its type", H5Tget_native_type(own.id(), H5T_DIR_ASCEND)));
  const bool half = stored.element == Element::f16 || stored.element == Element::bf16;
  if (!stored.chunk.empty()) {
    return read_chunks(dataset, stored, half ? own.id() : native.id(), item, where);
  }
  if (stored.stored_bytes == 0) {
    return count_unwritten(dataset, stored, half ? own.id() : native.id(),
                           checked_product(stored.extents).value_or(0), item, where);
  }
  const hid_t type = half ? own.id() : native.id();
  const std::size_t bytes_each = std::max(H5Tget_size(type), H5Tget_size(own.id()));
  const auto count = static_cast<std::size_t>(checked_product(stored.extents).value_or(0));
  allow_more_memory(static_cast<std::uint64_t>(count * bytes_each));
  std::vector<char> bytes(count * bytes_each);
  CONELAB_HDF5(where, "be read",
               H5Dread(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
  add_special(stored.element, bytes, item);
}

/// Returns the value of an array without axes that has been verified. It is absent if the value was
/// never written or cannot be read.
std::optional<AttributeValue> scalar_value(const hdf5::Dataset& dataset, const hdf5::Stored& stored,
                                           const Where& where) {
  const bool readable = stored.element != Element::other && stored.element != Element::raw16 &&
                        stored.stored_bytes > 0;
  if (!stored.extents.empty() || !readable) return std::nullopt;
  if (stored.element == Element::text) {
    std::string text = read_strings(dataset, stored, where, {}).front();
    if (text.size() > longest_value) return std::nullopt;
    return text;
  }
  char bytes[sizeof(std::uint64_t)] = {};
  read_numbers(dataset, stored, bytes, where, {});
  return number_of(stored.element, bytes);
}

class Walk {
 public:
  Walk(const hdf5::File& file, Inspection& inspection, bool allow_external, bool numbers)
      : file_(file),
        inspection_(inspection),
        numbers_(numbers),
        rules_{.allow_external = allow_external, .allow_unwritten = true} {}

  void group(const Where& where, int depth) {
    if (!visited_.insert(object_address(file_, where)).second)
      return link(where, depth, "seen before");
    InspectedItem item = start(where, depth, ItemKind::group);
    item.attributes = attributes(where);
    add(std::move(item));
    if (depth >= most_group_levels)
      fail("{}: more than {} levels of groups", where.text(), most_group_levels);
    for (const std::string& name : children(file_, where)) member(where.child(name), depth + 1);
  }

 private:
  InspectedItem start(const Where& where, int depth, ItemKind kind) const {
    InspectedItem item;
    item.path = where.path;
    item.depth = depth;
    item.kind = kind;
    return item;
  }

  void add(InspectedItem item) {
    if (inspection_.items.size() >= most_items) {
      fail("{}: more than {} items", inspection_.path, most_items);
    }
    if (!item.problem.empty()) inspection_.problems.push_back(item.problem);
    inspection_.items.push_back(std::move(item));
  }

  void link(const Where& where, int depth, const char* type) {
    InspectedItem item = start(where, depth, ItemKind::link);
    item.type = type;
    add(std::move(item));
  }

  [[nodiscard]] Attributes attributes(const Where& where) const {
    const hdf5::Object object = open_object(file_, where);
    Attributes list;
    for (const std::string& name : attribute_names(object.id(), where)) {
      const bool scales = name == "DIMENSION_LIST" || name == "REFERENCE_LIST";
      if (scales) continue;
      if (auto value = read_attribute(object.id(), name, where)) list.emplace_back(name, *value);
    }
    return list;
  }

  /// Inspects one member. Damage of one member is reported in the result, and the others are read
  /// nevertheless.
  void member(const Where& where, int depth) {
    const std::size_t before = inspection_.items.size();
    try {
      switch (hdf5::link_kind(file_, where.path)) {
        case LinkKind::soft:
          return link(where, depth, "soft link");
        case LinkKind::external:
          if (!rules_.allow_external) return link(where, depth, "link to another file");
          break;
        case LinkKind::hard:
          break;
        default:
          return link(where, depth, "link of unknown kind");
      }
      switch (object_kind(file_, where)) {
        case ObjectKind::group:
          return group(where, depth);
        case ObjectKind::dataset:
          return array(where, depth);
        default:
          return link(where, depth, "named type");
      }
    } catch (const Error& error) {
      if (inspection_.items.size() > before) throw;
      InspectedItem item = start(where, depth, ItemKind::link);
      item.type = "damaged";
      item.problem = error.what();
      add(std::move(item));
    }
  }

  void array(const Where& where, int depth) {
    InspectedItem item = start(where, depth, ItemKind::array);
    const hdf5::Dataset dataset = open_dataset(file_, where);
    const hdf5::Stored stored = describe(dataset, where, rules_);
    item.type = stored.type;
    item.extents = stored.extents;
    item.chunk = stored.chunk;
    item.filters = stored.filters;
    item.stored_bytes = stored.stored_bytes;
    item.checksummed = stored.checksummed && numbers_;
    try {
      item.attributes = attributes(where);
      if (stored.damaged) fail("{}: {}", where.text(), stored.refused);
      if (!stored.refused.empty()) fail_unread("{}: {}", where.text(), stored.refused);
      if (numbers_ || stored.extents.empty()) verify(dataset, stored, item, where);
      item.value = scalar_value(dataset, stored, where);
      if (stored.element == Element::other) {
        item.unread = fmt::format("{}: its type {} is not read", where.text(), stored.type);
      }
    } catch (const Unread& error) {
      item.unread = error.what();
      item.checksummed = false;  // Nothing was verified.
    } catch (const Error& error) {
      item.problem = error.what();
    } catch (const std::bad_alloc&) {
      item.problem = where.text() + ": needs more memory than may be taken to look into it";
    }
    add(std::move(item));
  }

  const hdf5::File& file_;
  Inspection& inspection_;
  bool numbers_;  ///< Whether the numbers of arrays are read.
  hdf5::ReadRules rules_;
  std::set<hdf5::ObjectAddress> visited_;
};

}  // namespace

void inspect_hdf5(Inspection& inspection, bool allow_external, bool numbers) {
  const hdf5::Lock lock;
  const Where root{inspection.path, "/"};
  try {
    const hdf5::File file = hdf5::open_file(inspection.path);
    Walk(file, inspection, allow_external, numbers).group(root, 0);
    inspection.creator = attribute_or_empty(inspection.items.front().attributes, "creator");
    if (!numbers) return;
    const hdf5::Seal seal = hdf5::check_seal(file, inspection.path);
    inspection.sealed = seal != hdf5::Seal::none;
    if (seal == hdf5::Seal::broken) {
      inspection.problems.push_back(
          root.file + ": its bytes are not those that were written: damaged, or changed since");
    }
  } catch (const Unread& error) {
    inspection.locked = true;
    inspection.problems.emplace_back(error.what());
  } catch (const Error& error) {
    inspection.problems.emplace_back(error.what());
  }
}

}  // namespace conelab
