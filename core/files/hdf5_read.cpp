// Reads data sets and attributes of files of unknown origin.
#include "core/files/hdf5_read.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/files/hdf5.h"

namespace conelab::hdf5 {
namespace {

constexpr std::int64_t most_chunk_bytes = std::int64_t{1} << 30;
/// deflate cannot do better than 1 : 1032 (zlib's technical notes).
constexpr std::int64_t best_deflate = 1032;
constexpr std::size_t most_string_bytes = std::size_t{1} << 30;

struct FilterName {
  H5Z_filter_t id;
  const char* name;
};
/// Common registered filters. The first four can be read.
constexpr std::array<FilterName, 15> known_filters = {{{H5Z_FILTER_DEFLATE, "deflate"},
                                                       {H5Z_FILTER_SHUFFLE, "shuffle"},
                                                       {H5Z_FILTER_FLETCHER32, "fletcher32"},
                                                       {lzf_filter, "lzf"},
                                                       {H5Z_FILTER_SZIP, "szip"},
                                                       {H5Z_FILTER_NBIT, "nbit"},
                                                       {H5Z_FILTER_SCALEOFFSET, "scaleoffset"},
                                                       {307, "bzip2"},
                                                       {32001, "blosc"},
                                                       {32004, "lz4"},
                                                       {32008, "bitshuffle"},
                                                       {32013, "zfp"},
                                                       {32015, "zstd"},
                                                       {32017, "sz"},
                                                       {32026, "blosc2"}}};
constexpr std::size_t readable_filters = 4;

std::string filter_text(H5Z_filter_t id) {
  for (std::size_t i = 0; i < known_filters.size(); ++i) {
    if (known_filters[i].id != id) continue;
    return i < readable_filters ? known_filters[i].name
                                : fmt::format("{} ({})", id, known_filters[i].name);
  }
  return fmt::format("{} (unknown)", id);
}

bool same_type(hid_t a, hid_t b) { return H5Tequal(a, b) > 0; }

Element float_element(hid_t type) {
  if (same_type(type, H5T_IEEE_F32LE) || same_type(type, H5T_IEEE_F32BE)) return Element::f32;
  if (same_type(type, H5T_IEEE_F64LE) || same_type(type, H5T_IEEE_F64BE)) return Element::f64;
  for (const H5T_order_t order : {H5T_ORDER_LE, H5T_ORDER_BE}) {
    const Type half = f16_type(), brain = bf16_type();
    if (H5Tset_order(half.id(), order) < 0 || H5Tset_order(brain.id(), order) < 0) break;
    if (same_type(type, half.id())) return Element::f16;
    if (same_type(type, brain.id())) return Element::bf16;
  }
  return Element::other;
}

Element integer_element(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  const bool padded = H5Tget_precision(type) != 8 * size || H5Tget_offset(type) != 0;
  const bool positive = H5Tget_sign(type) == H5T_SGN_NONE;
  return padded ? Element::other : element_of(positive ? 'u' : 'i', size);
}

/// h5py stores booleans as an enumeration over one byte.
Element enum_element(hid_t type) {
  const Type base(H5Tget_super(type));
  return base.id() >= 0 && H5Tget_size(base.id()) == 1 ? Element::boolean : Element::other;
}

Element type_element(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return float_element(type);
    case H5T_INTEGER:
      return integer_element(type);
    case H5T_ENUM:
      return enum_element(type);
    case H5T_STRING:
      return Element::text;
    case H5T_OPAQUE:
      return element_of('V', H5Tget_size(type));
    default:
      return Element::other;
  }
}

std::string type_text(hid_t type, Element element) {
  if (element != Element::other) return element_name(element);
  const H5T_class_t kind = H5Tget_class(type);
  if (H5Tget_size(type) == 1 && (kind == H5T_FLOAT || kind == H5T_OPAQUE)) {
    return "1 byte (float8? it is not supported)";
  }
  if (kind == H5T_FLOAT) return fmt::format("a float of {} bytes", H5Tget_size(type));
  if (kind == H5T_INTEGER) return fmt::format("an integer of {} bytes", H5Tget_size(type));
  static const std::map<H5T_class_t, const char*> others = {
      {H5T_COMPOUND, "compound (complex numbers?)"},
      {H5T_REFERENCE, "reference"},
      {H5T_ENUM, "enumeration"},
      {H5T_VLEN, "variable-length list"},
      {H5T_ARRAY, "array"},
      {H5T_OPAQUE, "opaque"},
      {H5T_BITFIELD, "bit field"},
      {H5T_TIME, "time"}};
  const auto found = others.find(kind);
  return found == others.end() ? "unknown type" : found->second;
}

std::vector<std::int64_t> space_extents(const Space& space, const Where& where) {
  if (H5Sget_simple_extent_type(space.id()) == H5S_NULL) return {0};
  const std::vector<hsize_t> extents = extents_of(space, where);
  return {extents.begin(), extents.end()};
}

void describe_filters(hid_t properties, Stored& stored, const Where& where) {
  const int count = CONELAB_HDF5(where, "give its filters", H5Pget_nfilters(properties));
  int compressions = 0;
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t id =
        CONELAB_HDF5(where, "give its filters",
                     H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr,
                                    0, nullptr, nullptr));
    stored.filters.push_back(filter_text(id));
    compressions += id == H5Z_FILTER_DEFLATE || id == lzf_filter ? 1 : 0;
    stored.checksummed |= id == H5Z_FILTER_FLETCHER32;
    if (stored.filters.back().find('(') != std::string::npos && stored.refused.empty()) {
      stored.refused = fmt::format(
          "filter {} is not read (expected deflate, lzf, shuffle or fletcher32; rewrite it with "
          "gzip)",
          stored.filters.back());
    }
  }
  if (compressions > 1) {
    stored.refused = fmt::format("{} deflate or lzf filters in a row (refused)", compressions);
  }
}

std::int64_t count_written_chunks(const Dataset& dataset, const Where& where) {
  const Space space(CONELAB_HDF5(where, "give its extents", H5Dget_space(dataset.id())));
  hsize_t count = 0;
  CONELAB_HDF5(where, "count its chunks", H5Dget_num_chunks(dataset.id(), space.id(), &count));
  return static_cast<std::int64_t>(count);
}

void describe_layout(const Dataset& dataset, std::uint64_t declared_bytes, Stored& stored,
                     const Where& where, const ReadRules& rules) {
  const Properties properties(
      CONELAB_HDF5(where, "give its storage", H5Dget_create_plist(dataset.id())));
  const H5D_layout_t layout =
      CONELAB_HDF5(where, "give its storage", H5Pget_layout(properties.id()));
  stored.is_virtual = layout == H5D_VIRTUAL;
  const auto refuse = [&](Refusal refusal) {
    stored.refused = std::move(refusal.why);
    stored.damaged = refusal.damaged;
  };
  if (stored.is_virtual) {
    refuse(refuse_virtual(dataset, properties.id(), stored.extents, where, rules));
  }
  if (layout == H5D_CHUNKED) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    const int rank = CONELAB_HDF5(where, "give its chunks",
                                  H5Pget_chunk(properties.id(), H5S_MAX_RANK, chunk.data()));
    stored.chunk.assign(chunk.begin(), chunk.begin() + rank);
    describe_filters(properties.id(), stored, where);
    if (rules.allow_unwritten) stored.written_chunks = count_written_chunks(dataset, where);
  }
  if (layout == H5D_CONTIGUOUS) {
    refuse(refuse_external(properties.id(), declared_bytes, rules));
  }
  if (stored.refused.empty()) {
    stored.stored_bytes = static_cast<std::int64_t>(H5Dget_storage_size(dataset.id()));
  }
}

/// Returns by which factor the stored bytes may be smaller than the numbers.
std::int64_t best_compression(const Stored& stored) {
  const auto has = [&](const char* name) {
    return std::ranges::find(stored.filters, name) != stored.filters.end();
  };
  return has("deflate") ? best_deflate : has("lzf") ? static_cast<std::int64_t>(best_lzf) : 1;
}

/// Returns why numbers of this declared size cannot be in the stored bytes. It is empty if they
/// can.
std::string size_refusal(const Stored& stored, std::int64_t element_bytes, const ReadRules& rules) {
  const std::optional<std::int64_t> count = checked_product(stored.extents);
  if (!count || *count > (std::int64_t{1} << 62) / element_bytes) {
    return fmt::format("declares an impossible size {}", extents_text(stored.extents));
  }
  std::vector<std::int64_t> chunk = stored.chunk;
  const std::optional<std::int64_t> chunk_count = checked_product(chunk);
  if (!chunk_count || *chunk_count > most_chunk_bytes / element_bytes) {
    return fmt::format("has chunks of {} (expected at most {} bytes each)", extents_text(chunk),
                       most_chunk_bytes);
  }
  if (stored.is_virtual) return "";  // The numbers are stored in other files.
  std::int64_t declared = *count * element_bytes;
  if (rules.allow_unwritten && stored.stored_bytes == 0) return "";
  // Text is always read as a whole.
  if (rules.allow_unwritten && !chunk.empty() && stored.element != Element::text) {
    declared = std::min(declared, stored.written_chunks * *chunk_count * element_bytes);
  }
  if (declared / best_compression(stored) > stored.stored_bytes) {
    return fmt::format("declares {} = {} bytes, but only {} are stored",
                       extents_text(stored.extents), declared, stored.stored_bytes);
  }
  return "";
}

Type memory_type(const Dataset& dataset, Element element, const Where& where) {
  Type own(CONELAB_HDF5(where, "give its type", H5Dget_type(dataset.id())));
  if (element == Element::boolean || H5Tget_class(own.id()) == H5T_OPAQUE) return own;
  if (element == Element::f16) return f16_type();
  if (element == Element::bf16) {
    if (H5Tget_class(own.id()) == H5T_FLOAT) return bf16_type();
    element = Element::u16;
  }
  const auto number = [](auto x) { return number_type<decltype(x)>(); };
  return Type(CONELAB_HDF5(where, "give its type", H5Tcopy(with_number(element, number))));
}

/// Returns a string of fixed length without its padding. NUL within it is kept if NUL pads it.
std::string fixed_string(std::string bytes, H5T_str_t padding) {
  if (padding == H5T_STR_NULLPAD) {
    bytes.resize(bytes.find_last_not_of('\0') + 1);
    return bytes;
  }
  bytes.resize(std::min(bytes.find('\0'), bytes.size()));
  if (padding == H5T_STR_SPACEPAD) bytes.resize(bytes.find_last_not_of(' ') + 1);
  return bytes;
}

/// Returns the strings of fixed length that stand side by side in `bytes`.
std::vector<std::string> split_fixed(const std::string& bytes, const Type& type) {
  const std::size_t size = H5Tget_size(type.id());
  std::vector<std::string> strings;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    strings.push_back(fixed_string(bytes.substr(at, size), H5Tget_strpad(type.id())));
  }
  return strings;
}

/// A limit for the memory of strings of variable length. Otherwise a small file with many
/// references to one long string could fill the memory of the machine.
struct StringBudget {
  std::size_t left = most_string_bytes;

  static void* allocate(std::size_t size, void* budget) {
    auto& left = static_cast<StringBudget*>(budget)->left;
    if (size > left) return nullptr;
    left -= size;
    return std::malloc(size);
  }
  static void release(void* memory, void*) { std::free(memory); }
};

std::vector<std::string> read_variable_strings(const Dataset& dataset, const Type& type,
                                               std::size_t count, const Where& where,
                                               const ReadRules& rules) {
  if (rules.before_allocation) rules.before_allocation(2 * most_string_bytes + count * 64);
  StringBudget budget;
  const Properties transfer(CONELAB_HDF5(where, "be read", H5Pcreate(H5P_DATASET_XFER)));
  CONELAB_HDF5(where, "be read",
               H5Pset_vlen_mem_manager(transfer.id(), StringBudget::allocate, &budget,
                                       StringBudget::release, &budget));
  std::vector<char*> pointers(count, nullptr);
  const herr_t status = H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, transfer.id(),
                                static_cast<void*>(pointers.data()));
  std::vector<std::string> strings;
  for (char* text : pointers) {
    strings.emplace_back(status < 0 || text == nullptr ? "" : text);
    std::free(text);
  }
  CONELAB_HDF5(where, "be read (damaged, or more than 1 GiB of text)", status);
  return strings;
}

}  // namespace

Dataset open_dataset(const File& file, const Where& where) {
  return Dataset(
      CONELAB_HDF5(where, "be opened", H5Dopen2(file.id(), where.path.c_str(), H5P_DEFAULT)));
}

Stored describe(const Dataset& dataset, const Where& where, const ReadRules& rules) {
  Stored stored;
  const Type type(CONELAB_HDF5(where, "give its type", H5Dget_type(dataset.id())));
  const Space space(CONELAB_HDF5(where, "give its extents", H5Dget_space(dataset.id())));
  stored.element = type_element(type.id());
  stored.type = type_text(type.id(), stored.element);
  stored.extents = space_extents(space, where);
  const auto bytes = static_cast<std::int64_t>(std::max<std::size_t>(H5Tget_size(type.id()), 1));
  const std::int64_t count = checked_product(stored.extents).value_or(0);
  describe_layout(dataset, static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(bytes),
                  stored, where, rules);
  if (stored.refused.empty()) {
    stored.refused = size_refusal(stored, bytes, rules);
    stored.damaged = !stored.refused.empty();
  }
  if (stored.element == Element::u16 || stored.element == Element::raw16) {
    const auto dtype = read_attribute(dataset.id(), "dtype", where);
    const auto* name = dtype ? std::get_if<std::string>(&*dtype) : nullptr;
    if (name != nullptr && *name == "bfloat16")
      stored.element = Element::bf16, stored.type = "bf16";
  }
  return stored;
}

void read_numbers(const Dataset& dataset, const Stored& stored, void* numbers, const Where& where,
                  const ReadRules& rules, const std::vector<Rows>& rows) {
  if (!stored.refused.empty()) fail("{}: {}", where.text(), stored.refused);
  if (element_size(stored.element) == 0) {
    fail("{}: a dtype that cannot be read ({})", where.text(), stored.type);
  }
  if (rules.before_allocation) {
    rules.before_allocation(static_cast<std::uint64_t>(checked_product(stored.chunk).value_or(0)) *
                            element_size(stored.element) * 4);
  }
  const Type type = memory_type(dataset, stored.element, where);
  if (rows.empty()) {
    CONELAB_HDF5(where, "be read",
                 H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
    return;
  }
  std::vector<hsize_t> sizes(stored.extents.begin(), stored.extents.end());
  const std::size_t axis = sizes.size() - 2;
  hsize_t& tokens = sizes[axis] = 0;
  for (const Rows& run : rows) tokens += static_cast<hsize_t>(run.count());
  const Space space(CONELAB_HDF5(where, "give its extents", H5Dget_space(dataset.id())));
  const Space memory = simple_space(sizes, where);
  std::int64_t at = 0;
  for (const Rows& run : rows) {
    if (run.count() == 0) continue;
    select_rows(space, axis, run, where);
    select_rows(memory, axis, {at, at + run.count()}, where);
    at += run.count();
    CONELAB_HDF5(where, "be read",
                 H5Dread(dataset.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, numbers));
  }
}

std::vector<std::string> read_strings(const Dataset& dataset, const Stored& stored,
                                      const Where& where, const ReadRules& rules) {
  if (!stored.refused.empty()) fail("{}: {}", where.text(), stored.refused);
  if (stored.element != Element::text) {
    fail("{}: wrong dtype (expected strings, found {})", where.text(), stored.type);
  }
  const auto count = static_cast<std::size_t>(checked_product(stored.extents).value_or(0));
  if (count == 0) return {};
  const Type type(CONELAB_HDF5(where, "give its type", H5Dget_type(dataset.id())));
  if (H5Tis_variable_str(type.id()) > 0)
    return read_variable_strings(dataset, type, count, where, rules);
  std::string bytes(count * H5Tget_size(type.id()), '\0');
  CONELAB_HDF5(where, "be read",
               H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
  return split_fixed(bytes, type);
}

// Reads attributes of objects of unknown origin.

namespace {

/// Longer lists are not labels and are skipped.
constexpr hssize_t most_values = 4096;
/// Fixed-length strings beyond this size are a sign of damage and are read as empty.
constexpr std::size_t most_attribute_bytes = std::size_t{1} << 26;

std::vector<std::string> attribute_strings(const Attribute& attribute, const Type& type,
                                           std::size_t count, const Where& where) {
  std::vector<std::string> strings;
  if (H5Tis_variable_str(type.id()) > 0) {
    const Space space(CONELAB_HDF5(where, "give an attribute", H5Aget_space(attribute.id())));
    std::vector<char*> pointers(count, nullptr);
    CONELAB_HDF5(where, "give an attribute",
                 H5Aread(attribute.id(), type.id(), static_cast<void*>(pointers.data())));
    for (const char* text : pointers) strings.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, static_cast<void*>(pointers.data()));
    return strings;
  }
  const std::size_t size = H5Tget_size(type.id());
  if (size > most_attribute_bytes / count) return std::vector<std::string>(count);
  std::string bytes(count * size, '\0');
  CONELAB_HDF5(where, "give an attribute", H5Aread(attribute.id(), type.id(), bytes.data()));
  return split_fixed(bytes, type);
}

template <class Number>
std::vector<Number> attribute_numbers(const Attribute& attribute, std::size_t count,
                                      const Where& where) {
  std::vector<Number> numbers(count);
  CONELAB_HDF5(where, "give an attribute",
               H5Aread(attribute.id(), number_type<Number>(), numbers.data()));
  return numbers;
}

AttributeValue value_of(const Attribute& attribute, const Type& type, std::size_t count,
                        bool scalar, const Where& where) {
  const auto value = [&](auto list) -> AttributeValue {
    if (scalar) return list.front();
    return list;
  };
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind == H5T_STRING) return value(attribute_strings(attribute, type, count, where));
  if (kind == H5T_FLOAT) return value(attribute_numbers<double>(attribute, count, where));
  // The library would replace a number above 2^63 - 1 by this bound.
  auto whole = attribute_numbers<std::uint64_t>(attribute, count, where);
  const bool large =
      H5Tget_sign(type.id()) == H5T_SGN_NONE && std::ranges::any_of(whole, [](std::uint64_t x) {
        return x > std::numeric_limits<std::int64_t>::max();
      });
  if (large) return value(std::move(whole));
  return value(attribute_numbers<std::int64_t>(attribute, count, where));
}

herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* list) {
  static_cast<std::vector<std::string>*>(list)->emplace_back(name);
  return 0;
}

}  // namespace

std::optional<AttributeValue> read_attribute(hid_t object, const std::string& name,
                                             const Where& where) {
  if (CONELAB_HDF5(where, "give an attribute", H5Aexists(object, name.c_str())) == 0) return {};
  const Attribute attribute(
      CONELAB_HDF5(where, "give an attribute", H5Aopen(object, name.c_str(), H5P_DEFAULT)));
  const Type type(CONELAB_HDF5(where, "give an attribute", H5Aget_type(attribute.id())));
  const Space space(CONELAB_HDF5(where, "give an attribute", H5Aget_space(attribute.id())));
  const hssize_t count =
      CONELAB_HDF5(where, "give an attribute", H5Sget_simple_extent_npoints(space.id()));
  if (count < 1 || count > most_values) return {};
  const bool scalar = H5Sget_simple_extent_type(space.id()) == H5S_SCALAR;
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind != H5T_STRING && kind != H5T_INTEGER && kind != H5T_FLOAT) return {};
  return value_of(attribute, type, static_cast<std::size_t>(count), scalar, where);
}

std::vector<std::string> attribute_names(hid_t object, const Where& where) {
  std::vector<std::string> names;
  CONELAB_HDF5(where, "list its attributes",
               H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names));
  return names;
}

}  // namespace conelab::hdf5
