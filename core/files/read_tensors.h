// The input of attention: q, k, v and what belongs to them, from HDF5, .npz, .npy or .safetensors.
//
// q [n × d], [head × n × d] or [batch × head × n × d] of f16, f32, f64 or bf16; k and v default to
// q. Everything is checked before a number is read: existence, dtype, rank, shapes against each
// other, declared against stored sizes. What is wrong is told in one line,
//   FILE: what is wrong (expected ..., found ...)
// as Error of kind failure. NaN and Inf are counted, never refused.
//
// For files of unknown origin use read_input_sandboxed (sandbox.h), which survives what damaged
// HDF5 does to its library.
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

/// A tensor as it is in the file: number type and rank kept.
struct InputTensor {
  std::string name;
  Dtype dtype = Dtype::f32;           ///< Integers of parameters are read as f64.
  std::vector<std::int64_t> extents;  ///< As in the file.
  /// f64, f32, or the bits of f16 and bf16; row-major.
  std::variant<std::vector<double>, std::vector<float>, std::vector<std::uint16_t>> numbers;
  std::int64_t nan_count = 0;
  std::int64_t infinite_count = 0;

  [[nodiscard]] std::size_t rank() const { return extents.size(); }
  /// Rank 2, 3 or 4 as [batch × head × token × feature], missing axes 1.
  [[nodiscard]] Shape4 shape() const;
};

/// The numbers as T = double, float, Float16 or Bfloat16, rounded once to nearest where T is
/// narrower.
template <class T>
[[nodiscard]] Tensor4<T> to_tensor(const InputTensor& tensor);
/// The same without a copy where the types agree, and freeing the original otherwise.
template <class T>
[[nodiscard]] Tensor4<T> to_tensor(InputTensor&& tensor);
/// All numbers in double, any rank: for parameters.
[[nodiscard]] std::vector<double> to_doubles(const InputTensor& tensor);

/// What to read.
struct InputOptions {
  /// Names of the arrays; paths for .npy. Empty: "q", "k", "v". Given names must exist.
  std::string query, key, value;
  bool query_only = false;              ///< Structured operators read q alone.
  std::vector<std::string> parameters;  ///< Tensor parameters to read where present.
  bool allow_external = false;          ///< HDF5: follow links out of the file.
  bool digest = true;                   ///< Compute the SHA-256.
  std::function<void(std::uint64_t)> before_allocation;  ///< See SourceRules.
  /// Called with each tensor when its numbers have been read, in the order q, k, v, output_grad,
  /// parameters; may take the numbers away.
  std::function<void(InputTensor&)> tensor_read;
};

/// An input file's content.
struct Input {
  std::string path;
  std::string group;  ///< HDF5: the group's path; else empty.
  FileFormat format = FileFormat::hdf5;
  InputTensor query;
  std::optional<InputTensor> key;    ///< Absent: q.
  std::optional<InputTensor> value;  ///< Absent: q.
  std::optional<InputTensor> output_grad;
  std::vector<std::string> query_token;  ///< Bytes as in the file; [n_q] or empty.
  std::vector<std::string> key_token;    ///< [n_k] or empty.
  std::vector<std::uint8_t> mask;        ///< [n_q × n_k] of 0 and 1, or empty.
  std::map<std::string, InputTensor> parameters;
  std::string model;                  ///< Attribute, or empty.
  std::optional<std::int64_t> layer;  ///< Attribute.
  std::string text;                   ///< Attribute, or empty.
  std::string sha256;                 ///< Of the file (of q's file for .npy); empty unless asked.

  [[nodiscard]] const InputTensor& key_or_query() const { return key ? *key : query; }
  [[nodiscard]] const InputTensor& value_or_query() const { return value ? *value : query; }
};

/// "trace.h5:/layer3" as a file and a group. A file that exists under the whole name wins.
struct InputSpec {
  std::string path;
  std::string group;
};
[[nodiscard]] InputSpec parse_input_spec(const std::string& spec);

/// Reads in this process. `spec` is FILE or FILE.h5:/group, empty where options name .npy files.
[[nodiscard]] Input read_input(const std::string& spec, const InputOptions& options = {});

/// All numbers of one declared array, of any type but text; integers as f64.
[[nodiscard]] InputTensor read_array(TensorSource& source, const DeclaredArray& array,
                                     const InputOptions& options = {});

/// One tensor parameter from a .npy file (`-p W=@file.npy`); numbers of any rank.
[[nodiscard]] InputTensor read_npy_tensor(const std::string& path);

}  // namespace conelab
