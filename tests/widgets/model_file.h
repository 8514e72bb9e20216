// A file with the tensors of a whole model: groups layer0, layer1, … with random q, k and v.
#pragma once

#include <fmt/format.h>

#include <QTemporaryDir>
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/files/hdf5_write.h"

namespace conelab::desktop {

struct ModelShape {
  std::size_t layers = 12, heads = 12, tokens = 512, features = 64;
};

/// Writes the file and returns its path. `attributes` are those of the layers: the operators that
/// they were trained for; the last ones are also those of the layers that follow.
inline std::string write_model(const QTemporaryDir& folder, const ModelShape& shape,
                               const char* name = "model.h5", std::uint64_t seed = 1,
                               const std::vector<Attributes>& attributes = {}) {
  const std::string path = folder.filePath(name).toStdString();
  const hdf5::Lock lock;
  const hdf5::Where where{path, ""};
  const hdf5::File file = hdf5::create_file(path, where);
  Random random(seed);
  std::vector<float> numbers(shape.heads * shape.tokens * shape.features);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const hdf5::Group group = hdf5::create_group(file.id(), fmt::format("layer{}", layer), where);
    if (!attributes.empty()) {
      const std::size_t last = attributes.size() - 1;
      hdf5::write_attributes(group.id(), attributes[std::min(layer, last)], where);
    }
    for (const char* tensor : {"q", "k", "v"}) {
      for (float& x : numbers) x = static_cast<float>(random.normal());
      const hsize_t extents[] = {shape.heads, shape.tokens, shape.features};
      const hdf5::Space space(H5Screate_simple(3, extents, nullptr));
      const hdf5::Dataset dataset(H5Dcreate2(group.id(), tensor, H5T_IEEE_F32LE, space.id(),
                                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      hdf5::write_numbers(dataset, H5T_NATIVE_FLOAT, numbers.data(), where);
    }
  }
  return path;
}

}  // namespace conelab::desktop
