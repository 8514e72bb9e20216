// Writes tensors in the number types of files, as a whole or in blocks of rows. The caller must
// hold a Lock.
//
// HDF5 compresses one chunk at a time, which for a map takes longer than computing it. Several
// threads therefore compress the rows here, to the same bytes, which H5Dwrite_chunk then stores. A
// chunk has the form that create_dataset (hdf5_write.h) specifies: bytes of equal significance
// together (shuffle), deflate, and at the end the Fletcher-32 sum of the deflated bytes, as HDF5
// computes it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/tensor.h"
#include "core/base/tensor_view.h"
#include "core/files/hdf5.h"
#include "core/files/labelled_array.h"

namespace conelab::hdf5 {

/// Creates a data set of `dtype`. bf16 is uint16 with the attribute dtype="bfloat16".
[[nodiscard]] Dataset create_tensor(hid_t parent, const std::string& name, Dtype dtype,
                                    const std::vector<hsize_t>& extents,
                                    const std::vector<hsize_t>& chunk, const Where& where);

/// Rows [first, first + count) of one head of a [batch × head × row × column] data set.
struct RowsOfHead {
  hsize_t batch = 0, head = 0;
  hsize_t first = 0;  ///< A multiple of the chunk's rows.
  hsize_t count = 0;  ///< A multiple of them as well, except at the end of the data set.
  hsize_t columns = 0;
};

/// Writes rows of one head of a [batch × head × row × column] data set whose chunks hold numbers of
/// one head. T is double if `dtype` is f64, float otherwise. The threads of `execution` compress
/// the chunks. Throws interrupted if `execution.cancelled` returns true.
template <class T>
void write_rows(const Dataset& dataset, Dtype dtype, const RowsOfHead& rows, const T* numbers,
                const Execution& execution, const Where& where);

/// Writes all numbers of a data set of `dtype`, `count` of them, row-major. The threads of
/// `execution` compress the chunks. Float16 and Bfloat16 are written unchanged, so that `dtype`
/// must be theirs. Throws interrupted if `execution.cancelled` returns true.
template <class T>
void write_tensor(const Dataset& dataset, Dtype dtype, const T* numbers, std::size_t count,
                  const Execution& execution, const Where& where);

/// Does the same for some rows of all heads of a data set [batch × head × row] or [.. × column].
template <class T>
void write_tensor_rows(const Dataset& dataset, Dtype dtype, Rows rows, const T* numbers,
                       const Where& where);

}  // namespace conelab::hdf5

namespace conelab {

// Writes a trace: an HDF5 file whose groups hold q, k, v and further arrays of one layer each, as
// read_tensors.h reads them.

struct TraceLayer {
  std::string group;  ///< "layer0", "german/layer0"; empty: the root.
  /// "q", "k", "v" [.. x head x n x d], "mask" [n_q x n_k] of u8, "W", "edge" of i64, ...
  std::vector<TensorView> arrays;
  std::vector<std::string> tokens;  ///< [n_q] or [n_k] Their texts, or empty.
  std::vector<std::string>
      key_tokens;              ///< [n_k] Texts of the keys where they are others, or empty.
  Attributes attributes = {};  ///< "layer", ...
  std::string alias = {};      ///< Another path of the group, or empty.
};

/// Writes the file whole or not at all. `attributes` are those of the file: "model", "text". Throws
/// misuse for layers without q or with the same group, and a failure if the file cannot be written.
void write_trace(const std::string& path, std::span<const TraceLayer> layers,
                 const Attributes& attributes);

}  // namespace conelab
