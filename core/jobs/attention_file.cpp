#include "core/jobs/attention_file.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/files/hdf5_write.h"
#include "core/files/seal.h"
#include "core/files/tensor_write.h"

namespace conelab {
namespace {

using hdf5::Dataset;
using hdf5::Group;
using hdf5::Where;

/// A chunk holds at most this many keys and at most 65,536 numbers.
constexpr std::int64_t keys_a_chunk = 1024;
constexpr std::int64_t numbers_a_chunk = 65536;
/// Rows are computed in blocks of about this many numbers; the number of rows is a multiple of the
/// chunk's.
constexpr std::int64_t numbers_a_block = std::int64_t{1} << 20;

/// Name of the axis of heads of k and v, if these are fewer than those of q.
constexpr const char* key_heads = "key_head";
/// Name of the axis of heads that projections made, if other tensors have another number of heads.
constexpr const char* made_heads = "made_head";

struct FileAxis {
  std::string name;
  std::int64_t size;
};

struct Axes {
  FileAxis batch, head, query, key, feature, value_feature;
};

std::vector<FileAxis> pair_axes(const Shape4& pairs) {
  return {
      {"batch", pairs.batch}, {"head", pairs.head}, {"query", pairs.token}, {"key", pairs.feature}};
}

Axes axes_of(const Extents& e) {
  return {{"batch", e.batch}, {"head", e.head},       {"query", e.query},
          {"key", e.key},     {"feature", e.feature}, {"value_feature", e.value}};
}

/// A group of tensors that share their axes. The scale of an axis is written when a tensor first
/// needs it.
class TensorGroup {
 public:
  /// `rows` and `execution` are those of AttentionFile.
  TensorGroup(hid_t parent, const Where& where, const std::string& name, StoredRows rows = {},
              Execution execution = {})
      : where_(where.child(name)),
        group_(hdf5::create_group(parent, name, where_)),
        rows_(std::move(rows)),
        execution_(std::move(execution)) {}

  [[nodiscard]] hid_t id() const { return group_.id(); }
  [[nodiscard]] const Where& where() const { return where_; }

  void describe(const std::string& nx_class, const std::string& signal,
                const std::vector<FileAxis>& axes) {
    write_attribute(id(), "NX_class", nx_class, where_);
    if (signal.empty()) return;
    write_attribute(id(), "signal", signal, where_);
    write_attribute(id(), "axes", names_of(axes), where_);
  }

  template <class Make>
  void add(const std::string& name, const std::vector<FileAxis>& axes, const Make& make) {
    const Where here = where_.child(name);
    std::vector<hsize_t> extents;
    for (const FileAxis& axis : axes) extents.push_back(static_cast<hsize_t>(axis.size));
    Dataset dataset = make(extents, here);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      hdf5::attach_scale(dataset, scale(axes[i]), static_cast<unsigned>(i), here);
    }
    dataset.close(here);
  }

  template <class T>
  void write(const std::string& name, Dtype dtype, const std::vector<FileAxis>& axes,
             const Tensor4<T>& tensor) {
    add(name, axes, [&](const std::vector<hsize_t>& extents, const Where& here) {
      const auto expected =
          std::accumulate(extents.begin(), extents.end(), hsize_t{1}, std::multiplies<>());
      const std::size_t found =
          rows_ ? static_cast<std::size_t>(tensor.shape.size()) : tensor.data.size();
      if (found != expected) {
        fail("{}: wrong shape (expected [{}], found {})", here.text(), fmt::join(extents, ", "),
             to_string(tensor.shape));
      }
      Dataset dataset = create_tensor(id(), name, dtype, extents, {}, here);
      if (!rows_) {
        write_tensor(dataset, dtype, tensor.data.data(), tensor.data.size(), execution_, here);
        return dataset;
      }
      const Shape4& s = tensor.shape;
      const auto a_row = static_cast<std::size_t>(s.batch * s.head * s.feature) * sizeof(T);
      rows_(name, a_row, [&](Rows rows, const void* numbers) {
        write_tensor_rows(dataset, dtype, rows, static_cast<const T*>(numbers), here);
      });
      return dataset;
    });
  }

  template <class Item>
  void write_list(const std::string& name, const std::vector<FileAxis>& axes,
                  const std::vector<Item>& list) {
    add(name, axes, [&](const std::vector<hsize_t>& extents, const Where& here) {
      return hdf5::write_list(id(), name, extents, list, here);
    });
  }

  /// Writes tokens [axis], or [batch × axis] if each batch element has its own.
  void write_tokens(const std::string& name, const FileAxis& batch, const FileAxis& axis,
                    const std::vector<std::string>& tokens) {
    if (tokens.empty()) return;
    const auto count = static_cast<std::int64_t>(tokens.size());
    if (count == batch.size * axis.size && batch.size > 1) {
      return write_list(name, {batch, axis}, tokens);
    }
    if (count != axis.size) {
      fail("{}: wrong length (expected {}, found {})", where_.child(name).text(), axis.size, count);
    }
    write_list(name, {axis}, tokens);
  }

  void close() {
    for (auto& [name, scale] : scales_) scale.close(where_.child(name));
    group_.close(where_);
  }

 private:
  const Dataset& scale(const FileAxis& axis) {
    const auto found = scales_.find(axis.name);
    if (found != scales_.end()) return found->second;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(axis.size));
    std::iota(numbers.begin(), numbers.end(), 0);
    return scales_
        .emplace(axis.name,
                 hdf5::write_scale(id(), axis.name, hdf5::number_type<std::int64_t>(),
                                   numbers.size(), numbers.data(), where_.child(axis.name)))
        .first->second;
  }

  Where where_;
  Group group_;
  StoredRows rows_;
  Execution execution_;
  std::map<std::string, Dataset> scales_;
};

std::vector<hsize_t> map_chunk(const Shape4& pairs) {
  const std::int64_t keys = std::clamp<std::int64_t>(pairs.feature, 1, keys_a_chunk);
  const std::int64_t rows =
      std::clamp<std::int64_t>(pairs.token, 1, std::max<std::int64_t>(1, numbers_a_chunk / keys));
  return {1, 1, static_cast<hsize_t>(rows), static_cast<hsize_t>(keys)};
}

/// Returns the type of logits and their sums, which 16 bits might round too much or not be able to
/// represent.
Dtype wide_dtype(Dtype dtype) { return dtype == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

/// Asks for the rows of every head, block by block, and writes each block. It needs O(n_k) memory.
template <class T>
void write_map_rows(const Dataset& dataset, const AttentionFile<T>& file,
                    const RowBlocks<Compute<T>>& produce, Dtype dtype,
                    const std::vector<hsize_t>& chunk, const Where& where) {
  const Shape4& p = file.pairs;
  const std::int64_t keys = p.feature;
  const auto chunk_rows = static_cast<std::int64_t>(chunk[2]);
  const std::int64_t chunks =
      std::max<std::int64_t>(1, numbers_a_block / std::max<std::int64_t>(1, chunk_rows * keys));
  const std::int64_t rows = chunk_rows * chunks;
  std::vector<Compute<T>> block(static_cast<std::size_t>(std::min(rows, p.token) * keys));
  for (std::int64_t pair = 0; pair < p.batch * p.head; ++pair) {
    const std::int64_t b = pair / p.head, h = pair % p.head;
    for (std::int64_t begin = 0; begin < p.token; begin += rows) {
      const std::int64_t end = std::min(begin + rows, p.token);
      produce(b, h, begin, end, block.data());
      const hdf5::RowsOfHead part{static_cast<hsize_t>(b), static_cast<hsize_t>(h),
                                  static_cast<hsize_t>(begin), static_cast<hsize_t>(end - begin),
                                  static_cast<hsize_t>(keys)};
      write_rows(dataset, dtype, part, block.data(), file.execution, where);
    }
  }
}

template <class T>
void write_map(hid_t parent, const Where& where, const std::string& group_name,
               const std::string& name, const AttentionFile<T>& file,
               const RowBlocks<Compute<T>>& produce, Dtype dtype) {
  if (!produce) return;
  const std::vector<FileAxis> axes = pair_axes(file.pairs);
  TensorGroup group(parent, where, group_name);
  group.describe("NXdata", name, axes);
  const std::vector<hsize_t> chunk = map_chunk(file.pairs);
  group.add(name, axes, [&](const std::vector<hsize_t>& extents, const Where& here) {
    Dataset dataset = create_tensor(group.id(), name, dtype, extents, chunk, here);
    write_map_rows(dataset, file, produce, dtype, chunk, here);
    return dataset;
  });
  group.write_tokens("query_token", axes[0], axes[2], file.query_token);
  group.write_tokens("key_token", axes[0], axes[3], file.key_token);
  group.close();
}

template <class T>
void write_output(hid_t parent, const Where& where, const AttentionFile<T>& file) {
  if (file.output == nullptr && file.lse == nullptr) return;
  const Axes a = axes_of(file.extents);
  const std::vector<FileAxis> pairs = pair_axes(file.pairs);
  std::vector<FileAxis> row_axes(pairs.begin(), pairs.end() - 1);
  TensorGroup group(parent, where, "output", file.rows, file.execution);
  if (file.output != nullptr) {
    const Shape4& s = file.output->shape;
    if (s.head != file.pairs.head) row_axes[1].name = made_heads;
    const std::vector<FileAxis> axes = {a.batch, {"head", s.head}, a.query, {"feature", s.feature}};
    group.describe("NXdata", "output", axes);
    group.write("output", file.dtype, axes, *file.output);
  } else {
    group.describe("NXdata", "lse", row_axes);
  }
  if (file.lse != nullptr) group.write("lse", wide_dtype(file.dtype), row_axes, *file.lse);
  if (!file.determinant.empty()) {
    group.write_list("determinant", {a.batch, a.head}, file.determinant);
  }
  group.write_tokens("query_token", a.batch, a.query, file.query_token);
  group.close();
}

template <class T>
void write_gradients(hid_t parent, const Where& where, const AttentionFile<T>& file) {
  if (file.gradients == nullptr) return;
  const Axes a = axes_of(file.extents);
  const FileAxis heads{file.pairs.head == a.head.size ? a.head.name : made_heads, file.pairs.head};
  const Backward<T>& gradients = *file.gradients;
  TensorGroup group(parent, where, "gradients", file.rows, file.execution);
  group.describe("NXcollection", "", {});
  const std::int64_t shared = file.extents.key_heads();
  const FileAxis of_keys{shared == a.head.size ? a.head.name : key_heads, shared};
  group.write("q", file.dtype, {a.batch, a.head, a.query, a.feature}, gradients.query);
  if (gradients.key.shape.size() > 0) {
    group.write("k", file.dtype, {a.batch, of_keys, a.key, a.feature}, gradients.key);
  }
  if (gradients.value.shape.size() > 0) {
    group.write("v", file.dtype, {a.batch, of_keys, a.key, a.value_feature}, gradients.value);
  }
  group.write_tokens("query_token", a.batch, a.query, file.query_token);
  group.write_tokens("key_token", a.batch, a.key, file.key_token);
  for (const auto& [name, values] : gradients.parameters) {
    const Where here = group.where().child(name);
    const bool scalar = values.size() == 1;
    if (!scalar && static_cast<std::int64_t>(values.size()) != heads.size) {
      fail("{}: wrong length (expected 1 or {}, found {})", here.text(), heads.size, values.size());
    }
    group.write_list(name, scalar ? std::vector<FileAxis>{} : std::vector<FileAxis>{heads}, values);
  }
  for (const auto& [name, tensor] : gradients.tensors) {
    std::vector<FileAxis> axes;
    for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
      axes.push_back({fmt::format("{}_axis_{}", name, i), tensor.extents[i]});
    }
    group.write_list(name, axes, tensor.data);
  }
  group.close();
}

void write_values(hid_t parent, const Where& where, const std::string& name,
                  const LabelledArray& values) {
  const Where here = where.child(name);
  Group group = hdf5::create_group(parent, name, here);
  hdf5::write_labelled_group(group.id(), values, here);
  group.close(here);
}

template <class T>
void write_entry(hid_t root, const Where& where, const AttentionFile<T>& file) {
  Group entry = hdf5::create_group(root, "attention", where);
  const hid_t id = entry.id();
  write_attribute(id, "NX_class", "NXentry", where);
  const char* shown = file.weights ? "weights" : file.output || file.lse ? "output" : "parameters";
  write_attribute(id, "default", shown, where);
  write_attribute(id, "spec", file.spec, where);
  if (!file.call.empty()) write_attribute(id, "call", file.call, where);
  if (!file.evaluation.empty()) write_attribute(id, "evaluation", file.evaluation, where);
  write_map(id, where, "weights", "weight", file, file.weights, file.dtype);
  write_map(id, where, "logits", "logit", file, file.logits, wide_dtype(file.dtype));
  write_output(id, where, file);
  write_gradients(id, where, file);
  write_values(id, where, "parameters", file.parameters);
  write_values(id, where, "environment", file.environment);
  entry.close(where);
}

}  // namespace

template <class T>
void write_attention(const std::string& path, const AttentionFile<T>& file) {
  hdf5::write_sealed(path, {"attention", file.creator}, [&](const hdf5::File& opened) {
    write_entry(opened.id(), Where{path, "/attention"}, file);
  });
}

#define CONELAB_WRITTEN(T) \
  template void write_attention(const std::string&, const AttentionFile<T>&);
CONELAB_EACH_TYPE(CONELAB_WRITTEN)

}  // namespace conelab
