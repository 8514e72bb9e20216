#include "core/files/tensor_write.h"

#include <functional>
#include <numeric>

#include "core/base/half.h"
#include "core/files/hdf5_write.h"

namespace conelab::hdf5 {
namespace {

Type file_type(Dtype dtype, const Where& where) {
  switch (dtype) {
    case Dtype::f64:
      return Type(CONELAB_HDF5(where, "be created", H5Tcopy(H5T_IEEE_F64LE)));
    case Dtype::f32:
      return Type(CONELAB_HDF5(where, "be created", H5Tcopy(H5T_IEEE_F32LE)));
    case Dtype::f16:
      return f16_type();
    case Dtype::bf16:
      break;
  }
  return Type(CONELAB_HDF5(where, "be created", H5Tcopy(H5T_STD_U16LE)));
}

template <class T>
std::vector<std::uint16_t> narrowed(Dtype dtype, const T* numbers, std::size_t count) {
  std::vector<std::uint16_t> bits(count);
  for (std::size_t i = 0; i < count; ++i) {
    bits[i] = dtype == Dtype::f16 ? to_f16(numbers[i]) : to_bf16(numbers[i]);
  }
  return bits;
}

}  // namespace

Dataset create_tensor(hid_t parent, const std::string& name, Dtype dtype,
                      const std::vector<hsize_t>& extents, const std::vector<hsize_t>& chunk,
                      const Where& where) {
  const Type type = file_type(dtype, where);
  Dataset dataset = create_dataset(parent, name, type.id(), extents, chunk, where);
  if (dtype == Dtype::bf16) {
    write_attribute(dataset.id(), "dtype", std::string("bfloat16"), where);
  }
  return dataset;
}

template <class T>
void write_block(const Dataset& dataset, Dtype dtype, const std::vector<hsize_t>& start,
                 const std::vector<hsize_t>& count, const T* numbers, const Where& where) {
  const hsize_t total =
      std::accumulate(count.begin(), count.end(), hsize_t{1}, std::multiplies<>());
  if (total == 0) return;
  const Space target(CONELAB_HDF5(where, "be written", H5Dget_space(dataset.id())));
  CONELAB_HDF5(where, "be written",
               H5Sselect_hyperslab(target.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                   nullptr));
  const Space source(CONELAB_HDF5(where, "be written", H5Screate_simple(1, &total, nullptr)));
  const auto write = [&](hid_t type, const void* data) {
    CONELAB_HDF5(where, "be written",
                 H5Dwrite(dataset.id(), type, source.id(), target.id(), H5P_DEFAULT, data));
  };
  if (dtype == Dtype::f64 || dtype == Dtype::f32) {
    return write(sizeof(T) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT, numbers);
  }
  if constexpr (sizeof(T) == 2) return write(file_type(dtype, where).id(), numbers);
  const std::vector<std::uint16_t> bits = narrowed(dtype, numbers, total);
  write(file_type(dtype, where).id(), bits.data());
}

template void write_block(const Dataset&, Dtype, const std::vector<hsize_t>&,
                          const std::vector<hsize_t>&, const float*, const Where&);
template void write_block(const Dataset&, Dtype, const std::vector<hsize_t>&,
                          const std::vector<hsize_t>&, const double*, const Where&);
template void write_block(const Dataset&, Dtype, const std::vector<hsize_t>&,
                          const std::vector<hsize_t>&, const Float16*, const Where&);
template void write_block(const Dataset&, Dtype, const std::vector<hsize_t>&,
                          const std::vector<hsize_t>&, const Bfloat16*, const Where&);

}  // namespace conelab::hdf5
