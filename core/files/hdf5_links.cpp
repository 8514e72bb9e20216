// Opens a file and follows its links, one component of a path at a time.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/files/byte_file.h"
#include "core/files/hdf5_read.h"
#include "core/files/text.h"
#include "core/files/unread.h"

namespace conelab::hdf5 {
namespace {

constexpr int most_soft_links = 32;
constexpr std::uint64_t undefined_address = ~std::uint64_t{0};

/// Returns where the superblock begins: at 0, 512, 1024, 2048, ... (HDF5 file format, III.A).
std::uint64_t find_superblock(const ByteFile& file) {
  for (std::uint64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    if (file.peek(at, 8) == "\x89HDF\r\n\x1a\n") return at;
  }
  if (std::string("\x89HDF\r\n\x1a\n").rfind(file.peek(0, 8), 0) == 0) {
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
  std::reverse(pending.begin(), pending.end());
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

}  // namespace conelab::hdf5
