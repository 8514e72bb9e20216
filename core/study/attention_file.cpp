#include "core/study/attention_file.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/hdf5_write.h"
#include "core/files/seal.h"
#include "core/files/tensor_write.h"

namespace conelab {
namespace {

using hdf5::Dataset;
using hdf5::Group;
using hdf5::Where;

constexpr std::int64_t format_version = 1;
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

std::vector<hsize_t> sizes(const std::vector<FileAxis>& axes) {
  std::vector<hsize_t> list;
  for (const FileAxis& axis : axes) list.push_back(static_cast<hsize_t>(axis.size));
  return list;
}

/// A group of tensors that share their axes. The scale of an axis is written when a tensor first
/// needs it.
class TensorGroup {
 public:
  TensorGroup(hid_t parent, const Where& where, const std::string& name)
      : where_(where.child(name)), group_(hdf5::create_group(parent, name, where_)) {}

  [[nodiscard]] hid_t id() const { return group_.id(); }
  [[nodiscard]] const Where& where() const { return where_; }

  void describe(const std::string& nx_class, const std::string& signal,
                const std::vector<FileAxis>& axes) {
    write_attribute(id(), "NX_class", nx_class, where_);
    if (signal.empty()) return;
    std::vector<std::string> names;
    for (const FileAxis& axis : axes) names.push_back(axis.name);
    write_attribute(id(), "signal", signal, where_);
    write_attribute(id(), "axes", names, where_);
  }

  void attach(const Dataset& dataset, const std::vector<FileAxis>& axes, const Where& where) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      hdf5::attach_scale(dataset, scale(axes[i]), static_cast<unsigned>(i), where);
    }
  }

  template <class T>
  void write(const std::string& name, Dtype dtype, const std::vector<FileAxis>& axes,
             const Tensor4<T>& tensor) {
    const Where here = where_.child(name);
    const std::vector<hsize_t> extents = sizes(axes);
    const auto expected =
        std::accumulate(extents.begin(), extents.end(), hsize_t{1}, std::multiplies<>());
    if (tensor.data.size() != expected) {
      fail("{}: wrong shape (expected [{}], found {})", here.text(), fmt::join(extents, ", "),
           to_string(tensor.shape));
    }
    Dataset dataset = create_tensor(id(), name, dtype, extents, {}, here);
    write_block(dataset, dtype, std::vector<hsize_t>(extents.size(), 0), extents,
                tensor.data.data(), here);
    attach(dataset, axes, here);
    dataset.close(here);
  }

  /// Writes numbers in double, whatever the type of the tensors.
  void write_numbers(const std::string& name, const std::vector<FileAxis>& axes,
                     const std::vector<double>& values) {
    const Where here = where_.child(name);
    Dataset dataset = hdf5::create_dataset(id(), name, H5T_IEEE_F64LE, sizes(axes), {}, here);
    hdf5::write_numbers(dataset, H5T_NATIVE_DOUBLE, values.data(), here);
    attach(dataset, axes, here);
    dataset.close(here);
  }

  /// Writes tokens [axis], or [batch × axis] if each batch element has its own.
  void write_tokens(const std::string& name, const FileAxis& batch, const FileAxis& axis,
                    const std::vector<std::string>& tokens) {
    if (tokens.empty()) return;
    const Where here = where_.child(name);
    const auto count = static_cast<std::int64_t>(tokens.size());
    std::vector<FileAxis> axes = {axis};
    if (count == batch.size * axis.size && batch.size > 1) axes.insert(axes.begin(), batch);
    if (axes.size() == 1 && count != axis.size) {
      fail("{}: wrong length (expected {}, found {})", here.text(), axis.size, count);
    }
    Dataset dataset = hdf5::write_strings(id(), name, sizes(axes), tokens, here);
    attach(dataset, axes, here);
    dataset.close(here);
  }

  void close() {
    for (auto& [name, scale] : scales_) scale.close(where_.child(name));
    group_.close(where_);
  }

 private:
  const Dataset& scale(const FileAxis& axis) {
    const auto found = scales_.find(axis.name);
    if (found != scales_.end()) return found->second;
    const LabelledAxis labels = counted_axis(axis.name, static_cast<std::size_t>(axis.size));
    const auto& numbers = std::get<std::vector<std::int64_t>>(labels.labels);
    return scales_
        .emplace(axis.name, hdf5::write_scale(id(), axis.name, numbers, where_.child(axis.name)))
        .first->second;
  }

  Where where_;
  Group group_;
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
      write_rows(dataset, dtype, chunk[2], chunk[3], part, block.data(), file.execution, where);
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
  const Where here = group.where().child(name);
  const std::vector<hsize_t> chunk = map_chunk(file.pairs);
  Dataset dataset = create_tensor(group.id(), name, dtype, sizes(axes), chunk, here);
  write_map_rows(dataset, file, produce, dtype, chunk, here);
  group.attach(dataset, axes, here);
  dataset.close(here);
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
  TensorGroup group(parent, where, "output");
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
    group.write_numbers("determinant", {a.batch, a.head}, file.determinant);
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
  TensorGroup group(parent, where, "gradients");
  group.describe("NXcollection", "", {});
  const std::int64_t shared = file.extents.key_heads();
  const FileAxis of_keys{shared == a.head.size ? a.head.name : key_heads, shared};
  group.write("q", file.dtype, {a.batch, a.head, a.query, a.feature}, gradients.query);
  if (!gradients.key.empty()) {
    group.write("k", file.dtype, {a.batch, of_keys, a.key, a.feature}, gradients.key);
  }
  if (!gradients.value.empty()) {
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
    group.write_numbers(name, scalar ? std::vector<FileAxis>{} : std::vector<FileAxis>{heads},
                        values);
  }
  for (const auto& [name, tensor] : gradients.tensors) {
    std::vector<FileAxis> axes;
    for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
      axes.push_back({fmt::format("{}_axis_{}", name, i), tensor.extents[i]});
    }
    group.write_numbers(name, axes, tensor.data);
  }
  group.close();
}

LabelledVariable as_variable(const std::string& name, const FileValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return {name, {}, std::vector<std::string>{*text}, "", {}};
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return {name, {}, std::vector<double>{*real}, "", {}};
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return {name, {}, std::vector<std::int64_t>{*integer}, "", {}};
  }
  return {name, {"head"}, std::get<std::vector<double>>(value), "", {}};
}

void add_tensor(LabelledArray& array, const TensorParameter& tensor) {
  LabelledVariable variable{tensor.name, {}, tensor.values, "", {}};
  for (std::size_t i = 0; i < tensor.extents.size(); ++i) {
    variable.axes.push_back(fmt::format("{}_axis_{}", tensor.name, i));
    array.axes.push_back(
        counted_axis(variable.axes.back(), static_cast<std::size_t>(tensor.extents[i])));
  }
  array.variables.push_back(std::move(variable));
}

void write_values(hid_t parent, const Where& where, const std::string& name,
                  const FileValues& values, const std::vector<TensorParameter>& tensors,
                  std::int64_t heads) {
  LabelledArray array;
  const bool per_head = std::ranges::any_of(values, [](const auto& entry) {
    return std::holds_alternative<std::vector<double>>(entry.second);
  });
  if (per_head) array.axes.push_back(counted_axis("head", static_cast<std::size_t>(heads)));
  for (const auto& [key, value] : values) array.variables.push_back(as_variable(key, value));
  for (const TensorParameter& tensor : tensors) add_tensor(array, tensor);
  const Where here = where.child(name);
  Group group = hdf5::create_group(parent, name, here);
  hdf5::write_labelled_group(group.id(), array, here);
  group.close(here);
}

template <class T>
void write_entry(hid_t root, const Where& where, const AttentionFile<T>& file) {
  Group entry = hdf5::create_group(root, "attention", where);
  const hid_t id = entry.id();
  write_attribute(id, "NX_class", std::string("NXentry"), where);
  const char* shown = file.weights ? "weights" : file.output || file.lse ? "output" : "parameters";
  write_attribute(id, "default", std::string(shown), where);
  write_attribute(id, "spec", file.spec, where);
  if (!file.call.empty()) write_attribute(id, "call", file.call, where);
  write_map(id, where, "weights", "weight", file, file.weights, file.dtype);
  write_map(id, where, "logits", "logit", file, file.logits, wide_dtype(file.dtype));
  write_output(id, where, file);
  write_gradients(id, where, file);
  write_values(id, where, "parameters", file.parameters, file.tensor_parameters, file.pairs.head);
  write_values(id, where, "environment", file.environment, {}, file.extents.head);
  entry.close(where);
}

}  // namespace

template <class T>
void write_attention(const std::string& path, const AttentionFile<T>& file) {
  const hdf5::Lock lock;
  AtomicFile destination(path);
  const Where where{path, ""};
  hdf5::File opened = hdf5::create_file(destination.temporary(), where);
  write_attribute(opened.id(), "NX_class", std::string("NXroot"), where);
  write_attribute(opened.id(), "default", std::string("attention"), where);
  write_attribute(opened.id(), "conelab_format", format_version, where);
  write_attribute(opened.id(), "creator", file.creator, where);
  write_entry(opened.id(), where.child("attention"), file);
  hdf5::close_sealed(opened, destination.temporary(), where);
  destination.commit();
}

template void write_attention(const std::string&, const AttentionFile<float>&);
template void write_attention(const std::string&, const AttentionFile<double>&);
template void write_attention(const std::string&, const AttentionFile<Float16>&);
template void write_attention(const std::string&, const AttentionFile<Bfloat16>&);

}  // namespace conelab
