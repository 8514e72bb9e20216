#include "core/files/trace_write.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/files/atomic_file.h"
#include "core/files/hdf5_write.h"
#include "core/files/tensor_write.h"

namespace conelab {
namespace {

using hdf5::Where;

template <class T>
std::vector<T> dense_numbers(const TensorView& view) {
  std::vector<T> numbers;
  numbers.reserve(static_cast<std::size_t>(view.count()));
  const T* data = static_cast<const T*>(view.data);
  for_each_offset(view, [&](std::int64_t at) { numbers.push_back(data[at]); });
  return numbers;
}

template <class T>
void write_tensor(hid_t parent, const TensorView& view, const std::vector<hsize_t>& extents,
                  const Where& where) {
  const Dtype dtype = dtype_of(view);
  hdf5::Dataset dataset = hdf5::create_tensor(parent, view.name, dtype, extents, {}, where);
  hdf5::write_block(dataset, dtype, std::vector<hsize_t>(extents.size(), 0), extents,
                    dense_numbers<T>(view).data(), where);
  dataset.close(where);
}

template <class T>
void write_whole_numbers(hid_t parent, const TensorView& view, const std::vector<hsize_t>& extents,
                         hid_t stored, hid_t in_memory, const Where& where) {
  hdf5::Dataset dataset = hdf5::create_dataset(parent, view.name, stored, extents, {}, where);
  hdf5::write_numbers(dataset, in_memory, dense_numbers<T>(view).data(), where);
  dataset.close(where);
}

void write_array(hid_t parent, const TensorView& view, const Where& where) {
  const std::vector<hsize_t> extents(view.sizes.begin(), view.sizes.end());
  switch (view.type) {
    case NumberType::f64:
      return write_tensor<double>(parent, view, extents, where);
    case NumberType::f32:
      return write_tensor<float>(parent, view, extents, where);
    case NumberType::f16:
      return write_tensor<Float16>(parent, view, extents, where);
    case NumberType::bf16:
      return write_tensor<Bfloat16>(parent, view, extents, where);
    case NumberType::i64:
      return write_whole_numbers<std::int64_t>(parent, view, extents, H5T_STD_I64LE,
                                               H5T_NATIVE_INT64, where);
    case NumberType::u8:
      return write_whole_numbers<std::uint8_t>(parent, view, extents, H5T_STD_U8LE,
                                               H5T_NATIVE_UINT8, where);
  }
}

/// The groups of a file by their paths, each created when it is first wanted.
class Groups {
 public:
  Groups(hid_t root, Where where) : root_(root), where_(std::move(where)) {}

  hid_t of(const std::string& path) {
    if (path.empty()) return root_;
    const auto found = made_.find(path);
    if (found != made_.end()) return found->second.id();
    const std::size_t slash = path.rfind('/');
    const hid_t parent = of(slash == std::string::npos ? "" : path.substr(0, slash));
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (name.empty()) misuse("the group '{}' has no name", path);
    return made_.emplace(path, hdf5::create_group(parent, name, where_.child(path)))
        .first->second.id();
  }

 private:
  hid_t root_;
  Where where_;
  std::map<std::string, hdf5::Group> made_;
};

void check_layers(std::span<const TraceLayer> layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& arrays = layers[i].arrays;
    if (std::none_of(arrays.begin(), arrays.end(), [](const auto& a) { return a.name == "q"; })) {
      misuse("the layer '{}' has no q", layers[i].group);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (layers[i].group == layers[j].group) misuse("two layers are '{}'", layers[i].group);
    }
  }
}

}  // namespace

void write_trace(const std::string& path, std::span<const TraceLayer> layers,
                 const Attributes& attributes) {
  check_layers(layers);
  AtomicFile target(path);
  {
    const hdf5::Lock lock;
    const Where where{path, ""};
    hdf5::File file = hdf5::create_file(target.temporary(), where);
    hdf5::write_attributes(file.id(), attributes, where);
    {
      Groups groups(file.id(), where);
      for (const TraceLayer& layer : layers) {
        const hid_t group = groups.of(layer.group);
        const Where here = layer.group.empty() ? where : where.child(layer.group);
        hdf5::write_attributes(group, layer.attributes, here);
        for (const TensorView& view : layer.arrays) write_array(group, view, here.child(view.name));
        if (layer.tokens.empty()) continue;
        hdf5::Dataset tokens = hdf5::write_strings(group, "token", {layer.tokens.size()},
                                                   layer.tokens, here.child("token"));
        tokens.close(here.child("token"));
      }
    }
    file.close(where);
  }
  target.commit();
}

}  // namespace conelab
