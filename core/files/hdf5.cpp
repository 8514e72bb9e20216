#include "core/files/hdf5.h"

#include <fmt/format.h>
#include <lzf.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

#include "core/base/error.h"

namespace conelab::hdf5 {
namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// Index of the parameter of h5py's filter that gives the size of an unpacked chunk.
constexpr std::size_t size_value = 2;

/// Unpacks a chunk for HDF5, which calls it. Returns 0 if it fails.
std::size_t filter(unsigned flags, std::size_t value_count, const unsigned values[],
                   std::size_t bytes, std::size_t* buffer_size, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0 || value_count <= size_value) return 0;
  const std::size_t room = values[size_value];
  if (room == 0 || room / best_lzf > bytes) return 0;
  void* unpacked = H5allocate_memory(room, false);
  if (unpacked == nullptr) return 0;
  const std::size_t written =
      unpack_lzf({static_cast<const char*>(*buffer), bytes}, static_cast<char*>(unpacked), room);
  if (written != room) {
    H5free_memory(unpacked);
    return 0;
  }
  H5free_memory(*buffer);
  *buffer = unpacked;
  *buffer_size = room;
  return written;
}

void register_lzf() {
  const H5Z_class2_t lzf{H5Z_CLASS_T_VERS, lzf_filter, 0, 1, "lzf", nullptr, nullptr, filter};
  CONELAB_HDF5((Where{"HDF5 library", ""}), "take the filter lzf", H5Zregister(&lzf));
}

void set_up_library() {
  H5dont_atexit();
  const Where library{"HDF5 library", ""};
  CONELAB_HDF5(library, "turn plugins off", H5PLset_loading_state(0));
  register_lzf();
}

/// Turns the printing of errors off for this thread. A thread-safe HDF5 has this setting, and a
/// stack of errors, for each thread.
void set_up_thread() {
  const Where library{"HDF5 library", ""};
  CONELAB_HDF5(library, "turn error printing off", H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr));
}

herr_t keep_first(unsigned /*depth*/, const H5E_error2_t* error, void* text) {
  auto& kept = *static_cast<std::string*>(text);
  if (kept.empty() && error->desc != nullptr) kept = error->desc;
  return 0;
}

/// Returns a floating-point type of two bytes with this many bits of exponent and of mantissa.
Type two_byte_float(std::size_t exponent, std::size_t mantissa) {
  const Where where{"HDF5 library", ""};
  Type type(CONELAB_HDF5(where, "make a type", H5Tcopy(H5T_IEEE_F32LE)));
  CONELAB_HDF5(where, "make a type", H5Tset_fields(type.id(), 15, mantissa, exponent, 0, mantissa));
  CONELAB_HDF5(where, "make a type", H5Tset_precision(type.id(), 16));
  CONELAB_HDF5(where, "make a type", H5Tset_size(type.id(), 2));
  CONELAB_HDF5(where, "make a type",
               H5Tset_ebias(type.id(), (std::size_t{1} << (exponent - 1)) - 1));
  return type;
}

}  // namespace

Lock::Lock() : lock_(library_mutex()) {
  static const bool ready = (set_up_library(), true);
  thread_local const bool quiet = (set_up_thread(), true);
  (void)ready, (void)quiet;
}

void Lock::renew_after_fork() { new (&library_mutex()) std::recursive_mutex; }

std::string Where::text() const { return path.empty() ? file : fmt::format("{}: {}", file, path); }

Where Where::child(const std::string& name) const {
  return {file, path.empty() || path.back() == '/' ? (path.empty() ? "/" : path) + name
                                                   : path + "/" + name};
}

std::vector<std::string> prefixes(const std::string& path) {
  std::vector<std::string> list;
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    list.push_back("/" + path.substr(0, end));
  }
  return list;
}

std::string last_error() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  H5Eclear2(H5E_DEFAULT);
  constexpr std::string_view mark = "error message = '";
  const std::size_t begin = text.find(mark);
  if (begin == std::string::npos) return text.empty() ? "unknown reason" : text;
  const std::size_t from = begin + mark.size();
  return text.substr(from, text.find('\'', from) - from);
}

void fail_call(const Where& where, const char* action, const char* expression, const char* source,
               int line) {
  const std::string_view call = expression;
  const std::string_view path = source;
  const std::string place = std::getenv("CONELAB_DEBUG") == nullptr
                                ? ""
                                : fmt::format(" at {}:{}", path.substr(path.rfind('/') + 1), line);
  fail("{}: cannot {} ({}{}: {})", where.text(), action, call.substr(0, call.find('(')), place,
       last_error());
}

Type f16_type() { return two_byte_float(5, 10); }

Type bf16_type() { return two_byte_float(8, 7); }

Type string_type() {
  const Where where{"HDF5 library", ""};
  Type type(CONELAB_HDF5(where, "make a type", H5Tcopy(H5T_C_S1)));
  CONELAB_HDF5(where, "make a type", H5Tset_size(type.id(), H5T_VARIABLE));
  CONELAB_HDF5(where, "make a type", H5Tset_cset(type.id(), H5T_CSET_UTF8));
  return type;
}

Space simple_space(const std::vector<hsize_t>& extents, const Where& where) {
  const hid_t id =
      extents.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  return Space(CONELAB_HDF5(where, "make its extents", id));
}

std::vector<hsize_t> extents_of(const Space& space, const Where& where) {
  std::vector<hsize_t> extents(static_cast<std::size_t>(
      CONELAB_HDF5(where, "give its extents", H5Sget_simple_extent_ndims(space.id()))));
  CONELAB_HDF5(where, "give its extents",
               H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr));
  return extents;
}

void select_rows(const Space& space, std::size_t axis, Rows rows, const Where& where) {
  std::vector<hsize_t> count = extents_of(space, where);
  std::vector<hsize_t> begin(count.size(), 0);
  begin[axis] = static_cast<hsize_t>(rows.begin);
  count[axis] = static_cast<hsize_t>(rows.count());
  CONELAB_HDF5(where, "select rows",
               H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, count.data(),
                                   nullptr));
}

std::size_t unpack_lzf(std::string_view packed, char* out, std::size_t room) {
  constexpr std::size_t most = std::numeric_limits<unsigned>::max();
  // The library reads a first byte in any case.
  if (packed.empty() || packed.size() > most || room > most) return 0;
  return lzf_decompress(packed.data(), static_cast<unsigned>(packed.size()), out,
                        static_cast<unsigned>(room));
}

}  // namespace conelab::hdf5
