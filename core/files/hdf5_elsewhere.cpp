#include "core/files/hdf5_elsewhere.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "core/files/text.h"

namespace conelab::hdf5 {
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

/// Returns a name of a source as a virtual data set stores it.
std::string source_name(ssize_t (*get)(hid_t, std::size_t, char*, std::size_t), hid_t properties,
                        std::size_t index, const Where& where) {
  const ssize_t length =
      CONELAB_HDF5(where, "name its sources", get(properties, index, nullptr, 0));
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  CONELAB_HDF5(where, "name its sources", get(properties, index, name.data(), name.size()));
  name.pop_back();
  return name;
}

/// One mapping of a virtual data set.
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

/// Returns whether a source has the `needed` points that are selected of it.
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
