// Opens a file and follows its links, one component of a path at a time.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"
#include "core/files/hdf5_read.h"

namespace conelab::hdf5 {
namespace {

constexpr int most_soft_links = 32;
constexpr std::uint64_t undefined_address = ~std::uint64_t{0};

std::uint64_t find_superblock(const ByteFile& file) {
  if (const auto found = find_hdf5(file)) return *found;
  if (hdf5_signature.starts_with(file.peek(0, hdf5_signature.size()))) {
    check_not_truncated(file.path(), 96, file.size());
  }
  fail("{}: is not an HDF5 file (expected its signature, found '{}')", file.path(),
       printable(file.peek(0, 8)));
}

/// Compares the end of file that the superblock declares with the real one.
void check_superblock(const ByteFile& file) {
  const std::uint64_t at = find_superblock(file);
  const std::string head = file.peek(at, 96);
  if (head.size() < 12) check_not_truncated(file.path(), at + 96, file.size());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  const unsigned version = byte(8);
  if (version > 3)
    fail("{}: HDF5 superblock version {} is unknown (expected 0 to 3)", file.path(), version);
  const int size = version < 2 ? head.size() > 13 ? byte(13) : 8 : byte(9);
  if (size != 2 && size != 4 && size != 8) {
    fail("{}: damaged HDF5 superblock (expected addresses of 2, 4 or 8 bytes, found {})",
         file.path(), size);
  }
  const std::size_t first = version == 0 ? 24 : version == 1 ? 28 : 12;
  const std::size_t end = first + static_cast<std::size_t>(3 * size);
  check_not_truncated(file.path(), at + end, file.size());
  const std::uint64_t base = little_endian(head.data() + first, size);
  const std::uint64_t end_of_file =
      little_endian(head.data() + end - static_cast<std::size_t>(size), size);
  // The library reports what is wrong.
  if (end_of_file == undefined_address || base > end_of_file) return;
  check_not_truncated(file.path(), end_of_file, file.size());
}

std::vector<std::string> components(const std::string& path) {
  std::vector<std::string> list;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") list.push_back(part);
    begin = end + 1;
  }
  return list;
}

[[noreturn]] void fail_missing(const File& file, const Where& group, const std::string& name) {
  const std::vector<std::string> known = children(file, group);
  const std::string nearest = nearest_name(name, known);
  const std::string hint =
      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", printable(nearest));
  std::vector<std::string> shown;
  for (const std::string& child : known) {
    if (shown.size() < 12) shown.push_back(printable(child, 40));
  }
  if (known.size() > shown.size()) shown.emplace_back("...");
  fail("{}: no '{}' here{} (found: {})", group.text(), printable(name), hint,
       shown.empty() ? "nothing" : join(shown));
}

std::string soft_target(const File& file, const Where& link) {
  H5L_info_t info{};
  CONELAB_HDF5(link, "be examined", H5Lget_info(file.id(), link.path.c_str(), &info, H5P_DEFAULT));
  if (info.u.val_size == 0 || info.u.val_size > 65536) {
    fail("{}: damaged soft link (target of {} bytes)", link.text(), info.u.val_size);
  }
  std::string target(info.u.val_size, '\0');
  CONELAB_HDF5(link, "be examined",
               H5Lget_val(file.id(), link.path.c_str(), target.data(), target.size(), H5P_DEFAULT));
  return target.substr(0, target.find('\0'));
}

/// Appends one component to a resolved path. The components of a soft link's target are put in
/// front of the pending ones.
std::string step(const File& file, const std::string& resolved, const std::string& name,
                 std::vector<std::string>& pending, int& soft_links, const Where& where,
                 const ReadRules& rules) {
  const Where group{where.file, resolved.empty() ? "/" : resolved};
  if (object_kind(file, group) != ObjectKind::group) {
    fail("{}: is not a group (expected one that holds '{}')", group.text(), printable(name));
  }
  const Where link = group.child(name);
  switch (link_kind(file, link.path)) {
    case LinkKind::hard:
      return link.path;
    case LinkKind::missing:
      fail_missing(file, group, name);
    case LinkKind::external:
      if (rules.allow_external) return link.path;
      fail("{}: is a link to another file (--allow-external follows it)", link.text());
    case LinkKind::other:
      fail("{}: is a link of unknown kind (refused)", link.text());
    case LinkKind::soft:
      break;
  }
  if (++soft_links > most_soft_links) fail("{}: links form a cycle", link.text());
  const std::string target = soft_target(file, link);
  const std::vector<std::string> parts = components(target);
  pending.insert(pending.end(), parts.rbegin(), parts.rend());
  return !target.empty() && target.front() == '/' ? "" : resolved;
}

herr_t collect_name(hid_t, const char* name, const H5L_info_t*, void* list) {
  static_cast<std::vector<std::string>*>(list)->emplace_back(name);
  return 0;
}

/// Returns whether another program has locked a file for writing.
bool is_locked(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

H5O_info_t object_info(const File& file, const Where& where) {
  H5O_info_t info{};
  CONELAB_HDF5(
      where, "be examined",
      H5Oget_info_by_name2(file.id(), where.path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT));
  return info;
}

}  // namespace

File open_file(const std::string& path) {
  check_superblock(ByteFile(path));
  const Where where{path, ""};
  const Properties access(CONELAB_HDF5(where, "be opened", H5Pcreate(H5P_FILE_ACCESS)));
  CONELAB_HDF5(where, "be opened", H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG));
  try {
    return File(
        CONELAB_HDF5(where, "be opened", H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id())));
  } catch (const Error&) {
    if (!is_locked(path)) throw;
    fail_unread("{}: is open in another program (HDF5_USE_FILE_LOCKING=FALSE reads it anyway)",
                path);
  }
}

std::string resolve(const File& file, const std::string& path, const Where& where,
                    const ReadRules& rules) {
  std::vector<std::string> pending = components(path);
  std::ranges::reverse(pending);
  std::string resolved;
  int soft_links = 0;
  while (!pending.empty()) {
    const std::string name = pending.back();
    pending.pop_back();
    resolved = step(file, resolved, name, pending, soft_links, where, rules);
  }
  return resolved.empty() ? "/" : resolved;
}

LinkKind link_kind(const File& file, const std::string& path) {
  if (H5Lexists(file.id(), path.c_str(), H5P_DEFAULT) <= 0) {
    H5Eclear2(H5E_DEFAULT);
    return LinkKind::missing;
  }
  H5L_info_t info{};
  CONELAB_HDF5((Where{"", path}), "be examined",
               H5Lget_info(file.id(), path.c_str(), &info, H5P_DEFAULT));
  switch (info.type) {
    case H5L_TYPE_HARD:
      return LinkKind::hard;
    case H5L_TYPE_SOFT:
      return LinkKind::soft;
    case H5L_TYPE_EXTERNAL:
      return LinkKind::external;
    default:
      return LinkKind::other;
  }
}

ObjectKind object_kind(const File& file, const Where& where) {
  switch (object_info(file, where).type) {
    case H5O_TYPE_GROUP:
      return ObjectKind::group;
    case H5O_TYPE_DATASET:
      return ObjectKind::dataset;
    default:
      return ObjectKind::type;
  }
}

ObjectAddress object_address(const File& file, const Where& where) {
  const H5O_info_t info = object_info(file, where);
  return {info.fileno, info.addr};
}

std::vector<std::string> children(const File& file, const Where& where) {
  const Group group(
      CONELAB_HDF5(where, "be opened", H5Gopen2(file.id(), where.path.c_str(), H5P_DEFAULT)));
  std::vector<std::string> names;
  const herr_t in_order =
      H5Literate(group.id(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect_name, &names);
  if (in_order >= 0) return names;
  H5Eclear2(H5E_DEFAULT);
  names.clear();
  CONELAB_HDF5(where, "be listed",
               H5Literate(group.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names));
  return names;
}

Object open_object(const File& file, const Where& where) {
  return Object(
      CONELAB_HDF5(where, "be opened", H5Oopen(file.id(), where.path.c_str(), H5P_DEFAULT)));
}

namespace {

namespace fs = std::filesystem;

// ---- raw files ----------------------------------------------------------------------------------

struct RawFile {
  std::string name;
  off_t offset = 0;
  hsize_t size = 0;  ///< H5F_UNLIMITED: to the end of the file.
};

RawFile raw_file(hid_t properties, unsigned index) {
  const Where library{"HDF5 library", ""};
  RawFile file;
  std::array<char, 4096> name{};
  CONELAB_HDF5(
      library, "name a raw file",
      H5Pget_external(properties, index, name.size() - 1, name.data(), &file.offset, &file.size));
  file.name = name.data();
  return file;
}

/// Returns the bytes of a raw file behind its offset; 0 if it is missing.
std::uint64_t bytes_behind(const RawFile& file) {
  const char* prefix = std::getenv("HDF5_EXTFILE_PREFIX");
  std::error_code none;
  const std::uintmax_t size = fs::file_size(fs::path(prefix ? prefix : "") / file.name, none);
  const auto offset = static_cast<std::uint64_t>(std::max<off_t>(file.offset, 0));
  return none || size < offset ? 0 : size - offset;
}

// ---- sources of virtual data sets ---------------------------------------------------------------

std::string source_name(ssize_t (*get)(hid_t, std::size_t, char*, std::size_t), hid_t properties,
                        std::size_t index, const Where& where) {
  const ssize_t length =
      CONELAB_HDF5(where, "name its sources", get(properties, index, nullptr, 0));
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  CONELAB_HDF5(where, "name its sources", get(properties, index, name.data(), name.size()));
  name.pop_back();
  return name;
}

struct Source {
  std::string file, set;
  Space from, to;  ///< The selections of the source, and of the virtual data set.

  Source(hid_t properties, std::size_t index, const Where& where)
      : file(source_name(H5Pget_virtual_filename, properties, index, where)),
        set(source_name(H5Pget_virtual_dsetname, properties, index, where)),
        from(CONELAB_HDF5(where, "name its sources", H5Pget_virtual_srcspace(properties, index))),
        to(CONELAB_HDF5(where, "name its sources", H5Pget_virtual_vspace(properties, index))) {}

  [[nodiscard]] std::string text() const {
    return (file == "." ? "" : printable(file) + ": ") + printable(set);
  }
  /// Returns whether the names stand for any number of sources.
  [[nodiscard]] bool is_pattern() const { return (file + set).find('%') != std::string::npos; }
  [[nodiscard]] bool is_in(const std::string& own) const {
    std::error_code none;
    return file == "." || fs::equivalent(fs::path(own).parent_path() / file, own, none);
  }
};

/// Opens a source as the library finds it: in the virtual data set's own file, beside it, or else
/// relative to the working directory. Without one the result's identifier is negative.
Dataset open_source(const Dataset& dataset, const Source& source, const std::string& own) {
  std::vector<File> files;
  if (source.is_in(own)) {
    files.emplace_back(H5Iget_file_id(dataset.id()));  // It cannot be opened in another way twice.
  } else {
    const std::string beside = fs::path(own).parent_path() / source.file;
    for (const std::string& path : {beside, source.file}) {
      files.emplace_back(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    }
  }
  for (const File& file : files) {
    if (file.id() < 0) continue;
    Dataset found(H5Dopen2(file.id(), source.set.c_str(), H5P_DEFAULT));
    if (found.id() >= 0) return found;
  }
  H5Eclear2(H5E_DEFAULT);
  return Dataset();
}

/// Returns the number of selected points. A selection of all, which the library stores without
/// extents, has `all`; one without bounds has -1.
hssize_t points_of(const Space& selection, hssize_t all) {
  if (H5Sget_select_type(selection.id()) == H5S_SEL_ALL) return all;
  return H5Sget_select_npoints(selection.id());
}

bool has_selection(const Dataset& dataset, const Space& selection, hssize_t needed) {
  const Space own(H5Dget_space(dataset.id()));
  if (H5Sget_select_type(selection.id()) == H5S_SEL_ALL) {
    return H5Sget_simple_extent_npoints(own.id()) >= needed;
  }
  std::array<hsize_t, H5S_MAX_RANK> begin{}, end{}, extents{};
  const int rank = H5Sget_simple_extent_dims(own.id(), extents.data(), nullptr);
  if (rank < 0 || H5Sget_simple_extent_ndims(selection.id()) != rank) return false;
  if (H5Sget_select_bounds(selection.id(), begin.data(), end.data()) < 0) {
    H5Eclear2(H5E_DEFAULT);
    return true;  // It has no bounds: nothing, or as much as there is.
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    if (end[i] >= extents[i]) return false;
  }
  return true;
}

/// Returns why a data set of the same file must not be read through a virtual one.
std::string refuse_own_source(const Dataset& dataset, const Source& source, const Where& where) {
  const File file(H5Iget_file_id(dataset.id()));
  const Where own{where.file, resolve(file, source.set, where, {})};
  if (object_kind(file, own) != ObjectKind::dataset) return "is not a data set";
  const Stored stored = describe(open_dataset(file, own), own, {});
  return stored.is_virtual ? "is virtual too (--allow-external reads it)" : stored.refused;
}

constexpr const char* of_others =
    "is a virtual data set, made of other files (--allow-external reads them)";

}  // namespace

Refusal refuse_external(hid_t properties, std::uint64_t bytes, const ReadRules& rules) {
  const Where library{"HDF5 library", ""};
  const int count = CONELAB_HDF5(library, "count raw files", H5Pget_external_count(properties));
  if (count == 0) return {};
  if (!rules.allow_external) {
    return {"keeps its numbers in another file (--allow-external reads it)"};
  }
  std::uint64_t left = bytes;
  for (unsigned i = 0; i < static_cast<unsigned>(count) && left > 0; ++i) {
    const RawFile file = raw_file(properties, i);
    const std::uint64_t needed = std::min<std::uint64_t>(left, file.size);
    const std::uint64_t have = bytes_behind(file);
    if (have < needed) {
      return {fmt::format("keeps its numbers in {}, which is missing or truncated: expected {} "
                          "bytes from {}, have {}",
                          printable(file.name), needed, file.offset, have),
              true};
    }
    left -= needed;
  }
  if (left == 0) return {};
  return {fmt::format("declares {} bytes, {} more than its raw files have", bytes, left), true};
}

Refusal refuse_virtual(const Dataset& dataset, hid_t properties,
                       const std::vector<std::int64_t>& extents, const Where& where,
                       const ReadRules& rules) {
  std::size_t count = 0;
  CONELAB_HDF5(where, "name its sources", H5Pget_virtual_count(properties, &count));
  const std::int64_t declared = checked_product(extents).value_or(-1);
  std::int64_t covered = 0;
  bool fixed = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Source source(properties, i, where);
    // The library opens a file that is named a second time, and may find fill values in it.
    if (!rules.allow_external && (source.file != "." || source.is_pattern())) return {of_others};
    const hssize_t points = points_of(source.to, declared);
    fixed = fixed && points >= 0 && !source.is_pattern();
    covered += std::max<hssize_t>(points, 0);
    if (source.is_pattern()) continue;
    const auto is = [&](const std::string& what) {
      return fmt::format("is a virtual data set whose source {} {}", source.text(), what);
    };
    // Nothing is opened through a link before it is known where that leads.
    const std::string why = rules.allow_external ? "" : refuse_own_source(dataset, source, where);
    if (!why.empty()) return {is(why)};
    const Dataset found = open_source(dataset, source, where.file);
    if (found.id() < 0) return {is("is missing"), true};
    if (!has_selection(found, source.from, points)) {
      return {is("is smaller than what is taken from it"), true};
    }
  }
  if (rules.allow_external) return {};
  if (fixed && declared >= 0 && declared <= covered) return {};
  return {fmt::format("declares {}, more than its sources hold", extents_text(extents)), true};
}

}  // namespace conelab::hdf5
