// Writes a trace: an HDF5 file whose groups hold q, k, v and further arrays of one layer each, as
// read_tensors.h reads them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/tensor_view.h"
#include "core/files/labelled_array.h"

namespace conelab {

struct TraceLayer {
  std::string group;  ///< "layer0", "german/layer0"; empty: the root.
  /// "q", "k", "v" [.. x head x n x d], "mask" [n_q x n_k] of u8, "W", "edge" of i64, ...
  std::vector<TensorView> arrays;
  std::vector<std::string> tokens;  ///< [n] Their texts, or empty.
  Attributes attributes;            ///< "layer".
};

/// Writes the file whole or not at all. `attributes` are those of the file: "model", "text". Throws
/// misuse for layers without q or with the same group, and a failure if the file cannot be written.
void write_trace(const std::string& path, std::span<const TraceLayer> layers,
                 const Attributes& attributes);

}  // namespace conelab
