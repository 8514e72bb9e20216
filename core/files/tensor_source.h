// An opened input file of any format: named arrays whose extents are known before a number is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/half.h"
#include "core/base/rows.h"
#include "core/base/tensor.h"
#include "core/files/labelled_array.h"

namespace conelab {

// The order of the axes of arrays in a file: Fortran, MATLAB and Julia write the last axis first,
// and `--axes` names any order.

/// order[i] says which axis of the file is axis i of an array. Empty: the order of the file.
using AxisOrder = std::vector<std::size_t>;

/// Returns the order of `rank` axes that are stored last axis first.
[[nodiscard]] AxisOrder reversed_axes(std::size_t rank);

/// Returns the order that brings the axes named in `axes` ("token,head,feature") to the last `rank`
/// of [batch × head × token × feature]. Of more names than `rank`, batch and then head are left
/// out. Throws misuse unless the names are different ones of these, token and feature among them,
/// and a failure `PLACE: ...` if the array has other axes.
[[nodiscard]] AxisOrder named_axes(const std::string& axes, std::size_t rank,
                                   const std::string& place);

/// Returns the extents in this order.
[[nodiscard]] std::vector<std::int64_t> in_order(const std::vector<std::int64_t>& extents,
                                                 const AxisOrder& order);

/// Moves numbers of `item` bytes from the file's order, in which the last axis is contiguous, to
/// that of `extents` [rank], whose axis i is axis order[i] of the file.
void reorder(void* numbers, const std::vector<std::int64_t>& extents, const AxisOrder& order,
             std::size_t item);

// The types of numbers in files of any format.

/// `boolean` is one byte, `raw16` two bytes of unknown meaning (ml_dtypes writes bf16 so), `text`
/// has no fixed size, and `other` cannot be read.
enum class Element {
  f64,
  f32,
  f16,
  bf16,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  raw16,
  text,
  other
};

/// Returns "f32", "uint8", "text", ...
[[nodiscard]] const char* element_name(Element element);
/// Returns the bytes of one element; 0 for text and other.
[[nodiscard]] std::size_t element_size(Element element);
/// Returns the number type of a tensor, or nothing if the element is none of the four.
[[nodiscard]] std::optional<Dtype> element_dtype(Element element);
[[nodiscard]] bool is_integer(Element element);
/// Returns the type of `size` bytes of a kind as numpy names it: 'f', 'i', 'u', 'b' (boolean) or
/// 'V' (raw bytes); `other` if there is none.
[[nodiscard]] Element element_of(char kind, std::size_t size);

/// Returns `visit` of a number of the element's type, such as `std::int16_t()`. The element is a
/// number of one of the types up to `u64`; a boolean is visited as `std::uint8_t`.
template <class Visit>
auto with_number(Element element, const Visit& visit) {
  switch (element) {
    case Element::f64:
      return visit(double());
    case Element::f32:
      return visit(float());
    case Element::f16:
      return visit(Float16());
    case Element::bf16:
      return visit(Bfloat16());
    case Element::i8:
      return visit(std::int8_t());
    case Element::i16:
      return visit(std::int16_t());
    case Element::i32:
      return visit(std::int32_t());
    case Element::i64:
      return visit(std::int64_t());
    case Element::u16:
      return visit(std::uint16_t());
    case Element::u32:
      return visit(std::uint32_t());
    case Element::u64:
      return visit(std::uint64_t());
    default:
      return visit(std::uint8_t());
  }
}

/// How many numbers are not finite.
struct SpecialCount {
  std::int64_t nan = 0, infinite = 0;
};
/// Counts them among numbers in memory, which fill this many bytes.
[[nodiscard]] SpecialCount count_special(Element element, const void* numbers, std::size_t bytes);

/// Returns the product of extents, or nothing if one is negative or the product exceeds 2^62.
[[nodiscard]] std::optional<std::int64_t> checked_product(const std::vector<std::int64_t>& extents);

/// Returns the last four extents as [batch × head × token × feature]. Missing axes are 1.
[[nodiscard]] Shape4 shape_of(const std::vector<std::int64_t>& extents);
/// Returns "[12, 30, 32]".
[[nodiscard]] std::string extents_text(const std::vector<std::int64_t>& extents);

/// Holds what a file declares about an array. The sizes have been compared with the stored bytes.
struct DeclaredArray {
  std::string name;
  Element element = Element::other;
  std::string type;  ///< The format's name of the type, for messages.
  std::vector<std::int64_t> extents;
  /// Says where the axes of `extents` lie in the file. TensorSource::read leaves the file's order.
  AxisOrder order = {};
  /// The tokens that are read, in ascending order, of the `all_tokens` that each head has in the
  /// file; `extents` counts these alone. Empty: all.
  std::vector<Rows> rows = {};
  std::int64_t all_tokens = 0;

  [[nodiscard]] std::int64_t count() const { return checked_product(extents).value_or(0); }
  [[nodiscard]] std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(count()) * element_size(element);
  }
};

/// Returns the array with some of its tokens (its last axis but one) alone.
[[nodiscard]] DeclaredArray rows_of(DeclaredArray array, std::vector<Rows> rows);
/// Calls each(first, count, at) for the runs of numbers that array.rows are in the file: `count`
/// numbers from number `first` of the file on, which are those from number `at` of the rows on.
void for_each_run(const DeclaredArray& array,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& each);

/// How the user says that a file is to be read.
struct Reading {
  bool allow_external = false;  ///< Whether HDF5's links and storage outside the file are followed.
  std::vector<std::string> bf16 = {};  ///< Arrays whose elements of 2 bytes are bf16.
  std::string axes = {};  ///< The order of the axes of q, k and v, see named_axes; empty: standard.

  bool operator==(const Reading&) const = default;
};

/// Holds what the caller allows and wants to be told.
struct SourceRules : Reading {
  /// Receives the bytes of each large array before memory is allocated for it. It may throw.
  std::function<void(std::uint64_t)> before_allocation;
  /// Polled while formats other than HDF5 are read. If it returns true, interrupted is thrown.
  std::function<bool()> cancelled = {};
};

/// An opened file. Functions throw a failure `FILE: what is wrong (expected ..., found ...)`.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// Returns an array's name for messages: "FILE: /group/q" or "FILE: q".
  [[nodiscard]] virtual std::string place(const std::string& name) const = 0;
  /// Returns the names of the arrays in the file or group, without reading them.
  [[nodiscard]] virtual std::vector<std::string> names() = 0;
  /// Returns what the file declares, or nothing if there is no such array. Throws a failure if it
  /// must not be read.
  [[nodiscard]] virtual std::optional<DeclaredArray> find(const std::string& name) = 0;
  /// Reads array.bytes() bytes, row-major, in the machine's byte order.
  virtual void read(const DeclaredArray& array, void* numbers) = 0;
  /// Reads array.rows alone, in the order of `extents`. By default all are read and some are kept.
  virtual void read_rows(const DeclaredArray& array, void* numbers);
  /// Returns the strings of an array of text, as bytes.
  [[nodiscard]] virtual std::vector<std::string> read_strings(const DeclaredArray& array) = 0;
  /// Reads the stored bytes of an array of any type, and checks their checksum. It does nothing for
  /// formats without checksums.
  virtual void check(const std::string& name) { (void)name; }
  /// Returns an attribute of the group, or of the nearest group above that has it.
  [[nodiscard]] virtual std::optional<AttributeValue> attribute(const std::string& name) = 0;
  /// Returns a description of a result that this program wrote: "a result of attend, no trace;
  /// computed from FILE". Returns an empty string for any other file.
  [[nodiscard]] virtual std::string result_kind() { return ""; }
  /// Returns what to add to the message "no array q", for example where there is one; may be empty.
  [[nodiscard]] virtual std::string hint(const std::string& name) {
    (void)name;
    return "";
  }
};

/// `group` is a path inside the file. The object holds the lock of HDF5 while it exists.
[[nodiscard]] std::unique_ptr<TensorSource> open_hdf5_source(const std::string& path,
                                                             const std::string& group,
                                                             const SourceRules& rules);
/// Opens a zip archive whose members are NAME.npy, stored or deflated. Nothing is extracted to
/// disk.
[[nodiscard]] std::unique_ptr<TensorSource> open_npz_source(const std::string& path,
                                                            const SourceRules& rules);
/// Returns a source whose names are paths of .npy files.
[[nodiscard]] std::unique_ptr<TensorSource> open_npy_source(const SourceRules& rules);
[[nodiscard]] std::unique_ptr<TensorSource> open_safetensors_source(const std::string& path,
                                                                    const SourceRules& rules);
/// The end of the name of the index of a model in several .safetensors files, which
/// open_safetensors_source opens too.
inline constexpr const char* safetensors_index = ".safetensors.index.json";

enum class FileFormat { hdf5, npz, npy, safetensors };
[[nodiscard]] const char* format_name(FileFormat format);

/// Returns the format by the file's first bytes, whatever its name. Throws a failure if it is none
/// of the four.
[[nodiscard]] FileFormat detect_format(const std::string& path);

}  // namespace conelab
