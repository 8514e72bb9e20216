// Small input files of every format, whole and wrong.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/tensor.h"
#include "core/files/hdf5_write.h"
#include "core/files/tensor_write.h"
#include "tests/core/files/fixture.h"

namespace conelab::fixtures {

/// An HDF5 file with what `fill` puts into its root.
void make_h5(const std::string& path, const std::function<void(hid_t root)>& fill);

/// Adds a tensor of 0, 0.5, 1, ... to a group.
void add_tensor(hid_t parent, const std::string& name, const std::vector<hsize_t>& extents,
                Dtype dtype = Dtype::f32);
/// 0, 0.5, 1, ...
std::vector<double> ramp(std::size_t count);

/// A .npy array: header and the bytes of the numbers.
std::string npy(const std::string& descr, const std::string& shape, std::string_view numbers,
                bool fortran_order = false);
/// A header of any dictionary.
std::string npy_header(const std::string& dictionary);

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}
std::string floats(std::size_t count);

struct ZipEntry {
  std::string name;
  std::string content;
  bool deflated = false;
};
/// A zip archive as Python's zipfile writes it.
std::string zip(const std::vector<ZipEntry>& entries);

/// A .safetensors file of a header and the bytes behind it.
std::string safetensors(const std::string& header, std::string_view numbers);

/// Changes bytes at a place.
std::string patched(std::string bytes, std::size_t at, std::string_view by);

}  // namespace conelab::fixtures
