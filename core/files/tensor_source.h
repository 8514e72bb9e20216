// One opened input file of any format: named arrays whose extents are known before a number is
// read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/files/element.h"
#include "core/files/labelled_array.h"

namespace conelab {

/// What a file declares about an array; sizes are checked against the bytes stored.
struct DeclaredArray {
  std::string name;
  Element element = Element::other;
  std::string type;  ///< As the format calls it, for messages.
  std::vector<std::int64_t> extents;

  [[nodiscard]] std::int64_t count() const { return checked_product(extents).value_or(0); }
  [[nodiscard]] std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(count()) * element_size(element);
  }
};

/// What the caller permits, and wants to know.
struct SourceRules {
  bool allow_external = false;  ///< Follow HDF5's links and storage out of the file.
  /// Told the bytes of each large array before memory is taken for it; may throw.
  std::function<void(std::uint64_t)> before_allocation;
  /// Polled while reading formats other than HDF5; true throws interrupted.
  std::function<bool()> cancelled = {};
};

/// An opened file. Functions fail with `FILE: what is wrong (expected ..., found ...)`.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// How messages call an array: "FILE: /group/q" or "FILE: q".
  [[nodiscard]] virtual std::string place(const std::string& name) const = 0;
  /// The arrays in the file or group, without reading them.
  [[nodiscard]] virtual std::vector<std::string> names() = 0;
  /// Empty where there is no such array; fails where there is one that must not be read.
  [[nodiscard]] virtual std::optional<DeclaredArray> find(const std::string& name) = 0;
  /// Fills array.bytes() bytes: row-major, the machine's byte order.
  virtual void read(const DeclaredArray& array, void* numbers) = 0;
  /// The strings of an array of text, as bytes.
  [[nodiscard]] virtual std::vector<std::string> read_strings(const DeclaredArray& array) = 0;
  /// An attribute of the group, else of the groups above it.
  [[nodiscard]] virtual std::optional<AttributeValue> attribute(const std::string& name) = 0;
  /// Of a file that this program wrote as a result: "a result of attend, no trace; its trace is
  /// FILE". Empty for all others.
  [[nodiscard]] virtual std::string result_kind() { return ""; }
  /// What to say beside "no array q": where one is, for example; may be empty.
  [[nodiscard]] virtual std::string hint(const std::string& name) {
    (void)name;
    return "";
  }
};

/// `group` is a path inside the file. Holds the lock of HDF5 while it lives.
[[nodiscard]] std::unique_ptr<TensorSource> open_hdf5_source(const std::string& path,
                                                             const std::string& group,
                                                             const SourceRules& rules);
/// Members NAME.npy of a zip archive, stored or deflated; never extracted to disk.
[[nodiscard]] std::unique_ptr<TensorSource> open_npz_source(const std::string& path,
                                                            const SourceRules& rules);
/// Names are paths of .npy files.
[[nodiscard]] std::unique_ptr<TensorSource> open_npy_source(const SourceRules& rules);
/// `source`, in which the path of a .npy file that exists names that file: it may lie beside.
[[nodiscard]] std::unique_ptr<TensorSource> with_npy_files(std::unique_ptr<TensorSource> source,
                                                           const SourceRules& rules);
[[nodiscard]] std::unique_ptr<TensorSource> open_safetensors_source(const std::string& path,
                                                                    const SourceRules& rules);

enum class FileFormat { hdf5, npz, npy, safetensors };
[[nodiscard]] const char* format_name(FileFormat format);

/// By the first bytes, whatever the name says; fails for what is none of the four.
[[nodiscard]] FileFormat detect_format(const std::string& path);

}  // namespace conelab
