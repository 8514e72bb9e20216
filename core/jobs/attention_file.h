// The result file of `attend`: groups, names and axes that other programs rely on.
//
//   /                     NX_class=NXroot default=attention conelab_format=1 creator=...
//   /attention            NXentry; attribute spec: the call as JSON; call: as typed; evaluation:
//   the
//                         way that was taken, of umbral attention alone
//     weights/weight      [batch, head, query, key]      only when kept
//     logits/logit        [batch, head, query, key]      only when kept; the type of lse
//     output/output       [batch, head, query, feature]
//     output/lse          [batch, head, query]           f32, or f64 where the output is f64
//     output/determinant  [batch, head]                  f64, only when kept
//     gradients/q         [batch, head, query, feature]  only when kept
//     gradients/k         [batch, head, key, feature], key_head where k has fewer heads than q
//     gradients/v         [batch, head, key, value_feature]
//     gradients/KEY       a number, or [head]; of a tensor over KEY_axis_0, ...
//     parameters/KEY      a number, a word or [head]; tensors over KEY_axis_0, ...
//     environment/KEY     a number or a word
//
// Each matrix is stored with its axes as dimension scales and with the token texts query_token and
// key_token, [query] and [key], or [batch, query] and [batch, key]. Equal content gives equal
// bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/rows.h"
#include "core/base/tensor.h"
#include "core/files/labelled_array.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Computes `out` [(query_end - query_begin) × n_k], row-major, for one head of one batch element.
/// It is called once for each block, in the order of batch, head and query. Blocks hold about 4 MB.
template <class T>
using RowBlocks = std::function<void(std::int64_t batch, std::int64_t head,
                                     std::int64_t query_begin, std::int64_t query_end, T* out)>;

/// Calls write(rows, numbers) for consecutive rows of all heads, [batch × head × rows × columns],
/// of the tensor "output", "lse", "q", "k" or "v", until all are written. A row of all heads has
/// `bytes_a_row` bytes.
using StoredRows =
    std::function<void(const std::string& tensor, std::size_t bytes_a_row,
                       const std::function<void(Rows rows, const void* numbers)>& write)>;

/// Holds what `attend` computed. T is the type in memory (that of rows is Compute<T>) and `dtype`
/// the type in the file. Tensors are not copied and must outlive the call of write_attention.
template <class T>
struct AttentionFile {
  Extents extents;
  Shape4 pairs = {};  ///< [batch × head × n_q × n_k] Sizes of weights and logits.
  Dtype dtype = Dtype::f32;
  const Tensor4<T>* output = nullptr;        ///< [batch × head × n_q × columns]; null: not kept.
  const Tensor4<Compute<T>>* lse = nullptr;  ///< [heads of pairs × n_q × 1]; null: not kept.
  RowBlocks<Compute<T>> weights;             ///< Empty: not kept.
  RowBlocks<Compute<T>> logits;              ///< Empty: not kept.
  const Backward<T>* gradients = nullptr;    ///< Null: not kept.
  std::vector<double> determinant;           ///< [heads of the output]; empty: not kept.
  std::vector<std::string> query_token;      ///< [n_q], [batch × n_q] or empty.
  std::vector<std::string> key_token;        ///< [n_k], [batch × n_k] or empty.
  std::string spec;                          ///< The call as JSON, every default written out.
  std::string call;                          ///< The call as typed (call.h); may be empty.
  /// The way that was taken where a call has a choice: "pairs", "intervals"; empty elsewhere.
  std::string evaluation;
  LabelledArray parameters;   ///< Over `head`, or over axes of their own.
  LabelledArray environment;  ///< Without axes.
  std::string creator;
  /// Gives the rows of output, lse and gradients of tokens if other processes hold them; the
  /// tensors above then have their sizes alone. Empty: the tensors have all.
  StoredRows rows;
  Execution execution;  ///< Its threads compress the tensors and poll `cancelled`.
};

/// Writes the file atomically: it is complete at `path`, or `path` is untouched. bf16 is stored as
/// uint16 with the attribute dtype="bfloat16", f16 as IEEE half. Throws a failure `PATH: why`, also
/// for shapes that do not match `extents`. Exceptions of the RowBlocks pass through.
template <class T>
void write_attention(const std::string& path, const AttentionFile<T>& file);

}  // namespace conelab
