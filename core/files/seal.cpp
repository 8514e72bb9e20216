#include "core/files/seal.h"

#include <fcntl.h>
#include <hdf5_hl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/atomic_file.h"
#include "core/files/byte_file.h"
#include "core/files/hdf5_read.h"
#include "core/files/hdf5_write.h"

namespace conelab::hdf5 {
namespace {

constexpr std::int64_t format_version = 1;
constexpr std::size_t seal_bytes = 32;
constexpr std::uint64_t piece = 1 << 20;

std::string digest(const std::string& path, std::uint64_t offset,
                   const std::function<bool()>& cancelled) {
  const ByteFile file(path, cancelled);
  Sha256 sum;
  for (std::uint64_t at = 0; at < file.size(); at += piece) {
    std::string bytes = file.peek(at, piece);
    const std::uint64_t from = std::max(at, offset);
    const std::uint64_t to = std::min(at + bytes.size(), offset + seal_bytes);
    if (from < to)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from - at), to - from, '\0');
    sum.update(bytes.data(), bytes.size());
  }
  return sum.bytes();
}

void overwrite(const std::string& path, std::uint64_t offset, const std::string& text,
               const Where& where) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && ::pwrite(file, text.data(), text.size(), static_cast<off_t>(offset)) ==
                       static_cast<ssize_t>(text.size());
  const int why = errno;
  if (file >= 0) ::close(file);
  if (!written) fail("{}: cannot be sealed: {}", where.file, std::strerror(why));
}

/// Returns the offset of the seal's bytes. It is absent if the file itself has no such data set;
/// links are not followed.
std::optional<std::uint64_t> seal_offset(const File& file) {
  if (link_kind(file, seal_name) != LinkKind::hard) return {};
  const Dataset dataset(H5Dopen2(file.id(), seal_name, H5P_DEFAULT));
  if (dataset.id() < 0) return {};
  const Type type(H5Dget_type(dataset.id()));
  const Space space(H5Dget_space(dataset.id()));
  const haddr_t offset = H5Dget_offset(dataset.id());
  const bool ours = type.id() >= 0 && space.id() >= 0 && H5Tget_class(type.id()) == H5T_INTEGER &&
                    H5Tget_size(type.id()) == 1 &&
                    H5Sget_simple_extent_npoints(space.id()) == seal_bytes;
  if (!ours || offset == HADDR_UNDEF) return {};
  return offset;
}

/// Closes a complete file at `path`, which messages call `where.file`, and seals it.
void close_sealed(File& file, const std::string& path, const Where& where) {
  const Where here = where.child(seal_name);
  const hsize_t size = seal_bytes;
  const Space space(CONELAB_HDF5(here, "make its extents", H5Screate_simple(1, &size, nullptr)));
  const Properties properties(CONELAB_HDF5(here, "be created", H5Pcreate(H5P_DATASET_CREATE)));
  CONELAB_HDF5(here, "be created", H5Pset_obj_track_times(properties.id(), false));
  CONELAB_HDF5(here, "be created", H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY));
  Dataset dataset(CONELAB_HDF5(here, "be created",
                               H5Dcreate2(file.id(), seal_name, H5T_STD_U8LE, space.id(),
                                          H5P_DEFAULT, properties.id(), H5P_DEFAULT)));
  const std::string zeros(seal_bytes, '\0');
  CONELAB_HDF5(here, "be written",
               H5Dwrite(dataset.id(), H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()));
  // It is a coordinate without another dimension, which every reader of labelled arrays accepts.
  CONELAB_HDF5(here, "be made a scale", H5DSset_scale(dataset.id(), seal_name));
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (offset == HADDR_UNDEF) fail("{}: has no place in the file", here.text());
  dataset.close(here);
  file.close(where);
  overwrite(path, offset, digest(path, offset, {}), where);
}

}  // namespace

void write_sealed(const std::string& path, const RootFacts& root,
                  const std::function<void(const File&)>& fill) {
  const Lock lock;
  AtomicFile destination(path);
  const Where where{path, ""};
  File file = create_file(destination.temporary(), where);
  write_attribute(file.id(), "NX_class", "NXroot", where);
  if (!root.shown.empty()) write_attribute(file.id(), "default", root.shown, where);
  write_attribute(file.id(), "conelab_format", format_version, where);
  write_attribute(file.id(), "creator", root.creator, where);
  write_attributes(file.id(), root.more, where);
  fill(file);
  close_sealed(file, destination.temporary(), where);
  destination.commit();
}

std::string stated_digest(const File& file, const std::string& path) {
  const std::optional<std::uint64_t> offset = seal_offset(file);
  return offset ? hex_digits(ByteFile(path).peek(*offset, seal_bytes)) : "";
}

Seal check_seal(const File& file, const std::string& path, const std::function<bool()>& cancelled) {
  const std::optional<std::uint64_t> offset = seal_offset(file);
  if (!offset) return Seal::none;
  const std::string kept = ByteFile(path).peek(*offset, seal_bytes);
  return kept == digest(path, *offset, cancelled) ? Seal::whole : Seal::broken;
}

}  // namespace conelab::hdf5

namespace conelab {

namespace {

std::string digest_of_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> entries;
  std::error_code error, none;
  constexpr auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end;
       at.increment(error)) {
    const bool file = !at->is_symlink(none) && at->is_regular_file(none);
    entries.push_back(at->path().lexically_relative(folder).string() + '\0' +
                      (file ? std::to_string(at->file_size(none)) : "") + '\0');
  }
  if (error) fail("{}: {}", folder, error.message());
  std::ranges::sort(entries);
  Sha256 sum;
  for (const std::string& entry : entries) sum.update(entry.data(), entry.size());
  return sum.hex();
}

}  // namespace

std::string content_digest(const std::string& path, const std::function<bool()>& cancelled) {
  if (std::error_code none; std::filesystem::is_directory(path, none)) {
    return digest_of_folder(path);
  }
  if (ByteFile(path).peek(0, hdf5_signature.size()) != hdf5_signature) {
    return sha256_of_file(path, cancelled);
  }
  const std::uint64_t bytes = ByteFile(path).size();
  const auto digest = read_sandboxed<std::string>(
      path, SandboxLimits{.cancelled = cancelled}.scaled_to(bytes), [&] {
        const hdf5::Lock lock;
        const hdf5::File file = hdf5::open_file(path);
        if (hdf5::check_seal(file, path) == hdf5::Seal::broken) {
          fail("{}: its bytes are not those that were written", path);
        }
        return hdf5::stated_digest(file, path);
      });
  return digest.empty() ? sha256_of_file(path, cancelled) : digest;
}

template <class Archive>
void visit(Archive& archive, FileNumbers& found) {
  visit_all(archive, found.seal, found.digest, found.numbers);
}

namespace {

using hdf5::Where;

void add_numbers(const hdf5::File& file, const Where& where, FileNumbers& found) {
  const hdf5::Object object = hdf5::open_object(file, where);
  for (const std::string& name : hdf5::attribute_names(object.id(), where)) {
    const auto same = [&](const auto& known) { return known.first == name; };
    if (name == "conelab_format" || std::ranges::any_of(found.numbers, same)) continue;
    const auto value = hdf5::read_attribute(object.id(), name, where);
    if (!value) continue;
    if (const auto* real = std::get_if<double>(&*value)) found.numbers.emplace_back(name, *real);
    if (const auto* whole = std::get_if<std::int64_t>(&*value)) {
      found.numbers.emplace_back(name, static_cast<double>(*whole));
    }
  }
}

}  // namespace

FileNumbers read_file_numbers(const std::string& path, const SandboxLimits& limits) {
  return read_sandboxed<FileNumbers>(path, limits, [&] {
    const hdf5::Lock lock;
    const hdf5::File file = hdf5::open_file(path);
    FileNumbers found{hdf5::check_seal(file, path), hdf5::stated_digest(file, path), {}};
    const Where root{path, "/"};
    add_numbers(file, root, found);
    for (const std::string& name : hdf5::children(file, root)) {
      const Where child = root.child(name);
      if (hdf5::link_kind(file, child.path) != hdf5::LinkKind::hard) continue;
      if (hdf5::object_kind(file, child) == hdf5::ObjectKind::group)
        add_numbers(file, child, found);
    }
    return found;
  });
}

}  // namespace conelab
