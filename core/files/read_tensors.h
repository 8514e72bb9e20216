// Reads the input of attention, q, k, v and further arrays, from HDF5, .npz, .npy or .safetensors.
//
// q is [n × d], [head × n × d] or [batch × head × n × d] of f16, f32, f64 or bf16. k and v default
// to q; their number of heads may be a divisor of that of q. Everything is checked before a number
// is read: existence, dtype, rank, consistent shapes, declared against stored sizes. Errors are
// failures with one line,
//   FILE: what is wrong (expected ..., found ...)
// NaN and Inf are counted, never refused.
//
// For files of unknown origin use read_input_sandboxed (sandbox.h): damaged HDF5 can crash its
// library.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/tensor.h"
#include "core/files/tensor_source.h"

namespace conelab {

/// A tensor as in the file, with its number type and rank.
struct InputTensor {
  std::string name;
  Dtype dtype = Dtype::f32;           ///< Integers of parameters are read as f64.
  std::vector<std::int64_t> extents;  ///< As in the file.
  /// Row-major: f64, f32, or the bits of f16 and bf16.
  std::variant<std::vector<double>, std::vector<float>, std::vector<std::uint16_t>> numbers;
  std::int64_t nan_count = 0;
  std::int64_t infinite_count = 0;

  [[nodiscard]] std::size_t rank() const { return extents.size(); }
  /// Returns the sizes as [batch × head × token × feature]. Missing axes are 1.
  [[nodiscard]] Shape4 shape() const { return shape_of(extents); }
};

/// Returns the numbers as T = double, float, Float16 or Bfloat16, rounded once to nearest if T is
/// narrower.
template <class T>
[[nodiscard]] Tensor4<T> to_tensor(const InputTensor& tensor);
/// Does the same without a copy if the types agree; otherwise frees the original.
template <class T>
[[nodiscard]] Tensor4<T> to_tensor(InputTensor&& tensor);
/// Returns all numbers as double, for parameters of any rank.
[[nodiscard]] std::vector<double> to_doubles(const InputTensor& tensor);

/// Holds what to read.
struct InputOptions : Reading {
  /// Names of the arrays; paths for .npy. Empty: "q", "k", "v". Arrays that are named must exist.
  std::string query, key, value;
  /// Name of an array of attention weights [.. × n_q × n_k], which is read instead of q, k and v.
  std::string weights;
  /// Says whether an array of weights (weights_array.h) is read if there is no q.
  bool or_weights = false;
  /// For structured operators that read q alone.
  bool query_only = false;
  bool with_values = true;  ///< Whether v is read.
  bool with_mask = true;    ///< Whether the array `mask` is read.
  bool with_tokens = true;  ///< Whether the texts of tokens are read.
  /// Returns which tokens of q, k, v and output_grad are read, given the number that the tensor has
  /// and the larger one of queries and keys. Empty: all.
  std::function<std::vector<Rows>(std::int64_t tokens, std::int64_t longest)> rows;
  /// Names of tensor parameters, which are read if they exist.
  std::vector<std::string> parameters;
  /// Names of attributes of the group, which are read if they exist.
  std::vector<std::string> attributes;
  /// If false, only what the file declares of q, k and v is checked, and of the result only the
  /// sizes of these and of the parameters, and the attributes, are set.
  bool numbers = true;
  std::function<void(std::uint64_t)> before_allocation;  ///< See SourceRules.
  std::function<bool()> cancelled;                       ///< See SourceRules.
  /// Receives each tensor once its numbers have been read, in the order q, k, v, output_grad (or
  /// weights), parameters. It may move the numbers away.
  std::function<void(InputTensor&)> tensor_read;
};

/// The content of an input file.
struct Input {
  std::string path;
  std::string group;  ///< The path of the group, or empty.
  FileFormat format = FileFormat::hdf5;
  InputTensor query;
  std::optional<InputTensor> key;    ///< Absent: q is used.
  std::optional<InputTensor> value;  ///< Absent: q is used.
  std::optional<InputTensor> output_grad;
  /// [batch × head × n_q × n_k] of a file without q; the tensors above are empty then.
  std::optional<InputTensor> weights;
  /// The queries and keys of the file where only some were read (InputOptions::rows), otherwise 0.
  std::int64_t all_queries = 0, all_keys = 0;
  /// [n_q] or [batch × n_q] (tokens_of_batch in utf8.h). Bytes as in the file, or empty.
  std::vector<std::string> query_token;
  std::vector<std::string> key_token;  ///< [n_k], [batch × n_k] or empty.
  std::vector<std::uint8_t> mask;      ///< Of 0 and 1, in the sizes `mask_sizes`, or empty.
  /// [1 or batch × 1 or head × 1 or n_q × 1 or n_k]
  Shape4 mask_sizes = {};
  bool mask_left_out = false;  ///< Whether an array `mask` is there that was not read.
  bool bias_left_out = false;  ///< Whether an array `bias` is there that was not read.
  std::map<std::string, InputTensor> parameters;
  std::map<std::string, AttributeValue> attributes;  ///< Those that were asked for.
  std::string model;                                 ///< The attribute, or empty.
  std::optional<std::int64_t> layer;                 ///< The attribute.
  std::string text;                                  ///< The attribute, or empty.
  /// Holds what the user should know of how the file was read, one line; may be empty.
  std::string remark;
  /// The SHA-256 of the arrays that were read, and of nothing else in the file: of a line `NAME
  /// SHA256` for each, in the order of their names, with the digest of its numbers as the file
  /// orders them, or of its texts with a NUL after each. A .npy file has its name without folders.
  std::string sha256;

  [[nodiscard]] const InputTensor& key_or_query() const { return key ? *key : query; }
  /// Return the numbers of batch elements, queries and keys.
  [[nodiscard]] std::int64_t batch() const { return (weights ? *weights : query).shape().batch; }
  [[nodiscard]] std::int64_t queries() const {
    return all_queries > 0 ? all_queries : (weights ? *weights : query).shape().token;
  }
  [[nodiscard]] std::int64_t keys() const {
    if (all_keys > 0) return all_keys;
    return weights ? weights->shape().feature : key_or_query().shape().token;
  }
};

/// A file and a group: "trace.h5:/layer3". If a file with the whole name exists, it is that file.
/// In .npz and .safetensors files the group "/layer3" are the arrays whose names begin with
/// "layer3/".
struct InputSpec {
  std::string path;
  std::string group;
};
[[nodiscard]] InputSpec parse_input_spec(const std::string& spec);

/// Reads in this process. `spec` is FILE or FILE.h5:/group; it is empty if the options name .npy
/// files.
[[nodiscard]] Input read_input(const std::string& spec, const InputOptions& options = {});

/// Reads all numbers of an array of any type except text; integers become f64.
[[nodiscard]] InputTensor read_array(TensorSource& source, const DeclaredArray& array,
                                     const InputOptions& options = {});

/// Reads a tensor parameter of any rank from a .npy file (`-p W=@file.npy`).
[[nodiscard]] InputTensor read_npy_tensor(const std::string& path);

}  // namespace conelab
