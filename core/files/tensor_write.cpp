#include "core/files/tensor_write.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/files/atomic_file.h"
#include "core/files/hdf5_read.h"
#include "core/files/hdf5_write.h"

namespace conelab::hdf5 {
namespace {

Type file_type(Dtype dtype, const Where& where) {
  if (dtype == Dtype::f16) return f16_type();
  const hid_t type = dtype == Dtype::f64   ? number_type<double>()
                     : dtype == Dtype::f32 ? number_type<float>()
                                           : number_type<Bfloat16>();
  return Type(CONELAB_HDF5(where, "be created", H5Tcopy(type)));
}

template <class T>
std::vector<std::uint16_t> narrowed(Dtype dtype, const T* numbers, std::size_t count) {
  std::vector<std::uint16_t> bits(count);
  for (std::size_t i = 0; i < count; ++i) {
    bits[i] = dtype == Dtype::f16 ? to_f16(numbers[i]) : to_bf16(numbers[i]);
  }
  return bits;
}

/// Returns the first bytes of all elements, then the second bytes, and so on.
std::string shuffled(std::string_view plain, std::size_t element_bytes) {
  const std::size_t count = plain.size() / element_bytes;
  std::string bytes(plain.size(), '\0');
  for (std::size_t b = 0; b < element_bytes; ++b) {
    char* out = bytes.data() + b * count;
    for (std::size_t i = 0; i < count; ++i) out[i] = plain[i * element_bytes + b];
  }
  return bytes;
}

/// Returns HDF5's checksum. Its words are pairs of bytes, the first of which is the upper one; a
/// last odd byte is an upper one.
std::uint32_t fletcher32(std::string_view bytes) {
  constexpr std::size_t words_before_overflow = 360;
  std::uint32_t sum = 0, sum_of_sums = 0;
  const auto fold = [](std::uint32_t x) { return (x & 0xffff) + (x >> 16); };
  std::size_t words = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    const auto upper = static_cast<unsigned char>(bytes[at]);
    const auto lower = static_cast<unsigned char>(at + 1 < bytes.size() ? bytes[at + 1] : 0);
    sum += static_cast<std::uint32_t>(upper << 8 | lower);
    sum_of_sums += sum;
    if (++words % words_before_overflow == 0) sum = fold(sum), sum_of_sums = fold(sum_of_sums);
  }
  sum = fold(fold(sum));
  sum_of_sums = fold(fold(sum_of_sums));
  return sum_of_sums << 16 | sum;
}

using Sizes = std::vector<hsize_t>;

/// Copies the part of a row-major box [sizes] of elements that begins at `begin` and has the sizes
/// of a chunk. What lies outside of the box stays as it is in `out`.
void copy_chunk(const char* box, const Sizes& sizes, const Sizes& begin, const Sizes& chunk,
                std::size_t element_bytes, char* out, std::size_t axis = 0) {
  const hsize_t count = std::min(chunk[axis], sizes[axis] - begin[axis]);
  std::size_t inner = element_bytes, inner_out = element_bytes;
  for (std::size_t i = axis + 1; i < sizes.size(); ++i) inner *= sizes[i], inner_out *= chunk[i];
  box += begin[axis] * inner;
  if (axis + 1 == sizes.size()) {
    std::memcpy(out, box, count * element_bytes);
    return;
  }
  for (hsize_t i = 0; i < count; ++i) {
    copy_chunk(box + i * inner, sizes, begin, chunk, element_bytes, out + i * inner_out, axis + 1);
  }
}

std::string packed_chunk(std::string_view plain, std::size_t element_bytes) {
  const std::string bytes = shuffled(plain, element_bytes);
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  // The buffer is large enough for any bytes, so the call can only run out of memory.
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                deflate_level) != Z_OK) {
    throw std::bad_alloc();
  }
  packed.resize(size);
  const std::uint32_t sum = fletcher32(packed);
  for (int shift = 0; shift < 32; shift += 8) packed.push_back(static_cast<char>(sum >> shift));
  return packed;
}

/// Returns the sizes of a data set's chunks; empty where it has none.
Sizes chunk_sizes(const Dataset& dataset, std::size_t rank, const Where& where) {
  const Properties creation(
      CONELAB_HDF5(where, "give its chunks", H5Dget_create_plist(dataset.id())));
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return {};
  Sizes sizes(rank);
  CONELAB_HDF5(where, "give its chunks",
               H5Pget_chunk(creation.id(), static_cast<int>(rank), sizes.data()));
  return sizes;
}

/// Writes a row-major box [sizes] of elements that begins at `origin`. The threads of `execution`
/// compress chunks, 32 MB of them at a time, before these are written.
void write_chunks(const Dataset& dataset, const Sizes& chunk, const Sizes& origin,
                  const Sizes& sizes, std::size_t element_bytes, const char* box,
                  const Execution& execution, const Where& where) {
  static_assert(std::endian::native == std::endian::little);
  std::size_t chunk_bytes = element_bytes, count = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    chunk_bytes *= chunk[i], count *= (sizes[i] + chunk[i] - 1) / chunk[i];
  }
  const auto begin_of = [&](std::size_t index) {
    Sizes begin(sizes.size());
    for (std::size_t i = sizes.size(); i-- > 0;) {
      const hsize_t across = (sizes[i] + chunk[i] - 1) / chunk[i];
      begin[i] = index % across * chunk[i], index /= across;
    }
    return begin;
  };
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{32} << 20) / chunk_bytes);
  for (std::size_t first = 0; first < count; first += at_once) {
    std::vector<std::string> packed(std::min(at_once, count - first));
    run_tasks(std::ssize(packed), execution, [&](std::int64_t task, const auto&) {
      const auto index = static_cast<std::size_t>(task);
      std::string plain(chunk_bytes, '\0');
      copy_chunk(box, sizes, begin_of(first + index), chunk, element_bytes, plain.data());
      packed[index] = packed_chunk(plain, element_bytes);
    });
    for (std::size_t index = 0; index < packed.size(); ++index) {
      Sizes place = begin_of(first + index);
      for (std::size_t i = 0; i < place.size(); ++i) place[i] += origin[i];
      CONELAB_HDF5(where, "be written",
                   H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, place.data(), packed[index].size(),
                                  packed[index].data()));
    }
  }
}

/// Calls use(bytes) with the numbers in the type that a data set of `dtype` has. Throws a failure
/// for numbers of 16 bits and a wider `dtype`.
template <class T, class Use>
void in_stored_type(Dtype dtype, const T* numbers, std::size_t count, const Use& use) {
  const auto pass = [&](const auto& stored) { use(reinterpret_cast<const char*>(stored)); };
  if (dtype_size(dtype) == sizeof(T)) return pass(numbers);
  if constexpr (sizeof(T) > 2) {
    if (dtype_size(dtype) == 2) return pass(narrowed(dtype, numbers, count).data());
    pass(std::vector<std::conditional_t<sizeof(T) == 8, float, double>>(numbers, numbers + count)
             .data());
  } else {
    fail("numbers of 16 bits are not stored as {}", dtype_name(dtype));
  }
}

}  // namespace

Dataset create_tensor(hid_t parent, const std::string& name, Dtype dtype,
                      const std::vector<hsize_t>& extents, const std::vector<hsize_t>& chunk,
                      const Where& where) {
  const Type type = file_type(dtype, where);
  Dataset dataset = create_dataset(parent, name, type.id(), extents, chunk, where);
  if (dtype == Dtype::bf16) write_attribute(dataset.id(), "dtype", "bfloat16", where);
  return dataset;
}

template <class T>
void write_rows(const Dataset& dataset, Dtype dtype, const RowsOfHead& rows, const T* numbers,
                const Execution& execution, const Where& where) {
  if (rows.count == 0 || rows.columns == 0) return;
  in_stored_type(dtype, numbers, rows.count * rows.columns, [&](const char* bytes) {
    write_chunks(dataset, chunk_sizes(dataset, 4, where), {rows.batch, rows.head, rows.first, 0},
                 {1, 1, rows.count, rows.columns}, dtype_size(dtype), bytes, execution, where);
  });
}

template <class T>
void write_tensor(const Dataset& dataset, Dtype dtype, const T* numbers, std::size_t count,
                  const Execution& execution, const Where& where) {
  if (count == 0) return;
  const Space space(CONELAB_HDF5(where, "give its extents", H5Dget_space(dataset.id())));
  const Sizes sizes = extents_of(space, where);
  const Sizes chunk = chunk_sizes(dataset, sizes.size(), where);
  in_stored_type(dtype, numbers, count, [&](const char* bytes) {
    if (chunk.empty()) return write_numbers(dataset, file_type(dtype, where).id(), bytes, where);
    write_chunks(dataset, chunk, Sizes(sizes.size()), sizes, dtype_size(dtype), bytes, execution,
                 where);
  });
}

template <class T>
void write_tensor_rows(const Dataset& dataset, Dtype dtype, Rows rows, const T* numbers,
                       const Where& where) {
  if (rows.count() > 0)
    write_rows_of_all(dataset, file_type(dtype, where).id(), rows, numbers, where);
}

template void write_tensor_rows(const Dataset&, Dtype, Rows, const float*, const Where&);
template void write_tensor_rows(const Dataset&, Dtype, Rows, const double*, const Where&);
template void write_tensor_rows(const Dataset&, Dtype, Rows, const Float16*, const Where&);
template void write_tensor_rows(const Dataset&, Dtype, Rows, const Bfloat16*, const Where&);
template void write_rows(const Dataset&, Dtype, const RowsOfHead&, const float*, const Execution&,
                         const Where&);
template void write_rows(const Dataset&, Dtype, const RowsOfHead&, const double*, const Execution&,
                         const Where&);
template void write_tensor(const Dataset&, Dtype, const float*, std::size_t, const Execution&,
                           const Where&);
template void write_tensor(const Dataset&, Dtype, const double*, std::size_t, const Execution&,
                           const Where&);
template void write_tensor(const Dataset&, Dtype, const Float16*, std::size_t, const Execution&,
                           const Where&);
template void write_tensor(const Dataset&, Dtype, const Bfloat16*, std::size_t, const Execution&,
                           const Where&);

}  // namespace conelab::hdf5

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

void write_array(hid_t group, const TensorView& view, const Where& where) {
  const std::vector<hsize_t> extents(view.sizes.begin(), view.sizes.end());
  const auto write_floats = [&](auto type) {
    const auto numbers = dense_numbers<decltype(type)>(view);
    const Dtype dtype = dtype_of(view);
    hdf5::Dataset dataset = hdf5::create_tensor(group, view.name, dtype, extents, {}, where);
    write_tensor(dataset, dtype, numbers.data(), numbers.size(), {}, where);
    dataset.close(where);
  };
  const auto write_whole = [&](auto type) {
    hdf5::write_list(group, view.name, extents, dense_numbers<decltype(type)>(view), where)
        .close(where);
  };
  switch (view.type) {
    case NumberType::f64:
      return write_floats(double());
    case NumberType::f32:
      return write_floats(float());
    case NumberType::f16:
      return write_floats(Float16());
    case NumberType::bf16:
      return write_floats(Bfloat16());
    case NumberType::i64:
      return write_whole(std::int64_t());
    case NumberType::u8:
      return write_whole(std::uint8_t());
  }
}

hdf5::Object open_group(const hdf5::File& file, const std::string& path, const std::string& shown) {
  for (const std::string& part : hdf5::prefixes(path)) {
    if (part.ends_with('/')) misuse("the group '{}' has no name", part.substr(1));
    if (hdf5::link_kind(file, part) != hdf5::LinkKind::missing) continue;
    hdf5::create_group(file.id(), part, {shown, part}).close({shown, part});
  }
  return hdf5::open_object(file, {shown, "/" + path});
}

/// Returns the number of tokens of q or k, which is the last one of `names` that the layer has.
std::int64_t tokens_of(const TraceLayer& layer, std::initializer_list<const char*> names) {
  std::int64_t count = 0;
  for (const char* name : names) {
    for (const TensorView& array : layer.arrays) {
      const std::size_t rank = array.sizes.size();
      if (rank > 1 && array.name == name) count = array.sizes[rank - 2];
    }
  }
  return count;
}

/// Throws misuse unless the layer has no texts of tokens or as many as q or k has tokens.
void check_tokens(const TraceLayer& layer) {
  const std::int64_t queries = tokens_of(layer, {"q"}), keys = tokens_of(layer, {"q", "k"});
  const auto check = [&](const auto& texts, const char* name, std::int64_t expected) {
    if (texts.empty() || std::ssize(texts) == expected) return;
    misuse("the layer '{}' has {} tokens with texts (expected {}, as {} has)", layer.group,
           texts.size(), expected, name);
  };
  const bool alone = layer.key_tokens.empty() && std::ssize(layer.tokens) == keys;
  check(layer.tokens, "q", alone ? keys : queries);
  check(layer.key_tokens, "k", keys);
}

void write_tokens(hid_t group, const TraceLayer& layer, const Where& where) {
  const auto write = [&](const char* name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    hdf5::write_strings(group, name, {texts.size()}, texts, where.child(name))
        .close(where.child(name));
  };
  const bool apart = !layer.key_tokens.empty() && layer.key_tokens != layer.tokens;
  write(apart ? "query_token" : "token", layer.tokens);
  if (apart) write("key_token", layer.key_tokens);
}

void check_layers(std::span<const TraceLayer> layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& arrays = layers[i].arrays;
    if (std::ranges::none_of(arrays, [](const auto& a) { return a.name == "q"; })) {
      misuse("the layer '{}' has no q", layers[i].group);
    }
    check_tokens(layers[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (layers[i].group == layers[j].group) misuse("two layers are '{}'", layers[i].group);
    }
  }
}

}  // namespace

void write_trace(const std::string& path, std::span<const TraceLayer> layers,
                 const Attributes& attributes) {
  check_layers(layers);
  check_replaceable_trace(path);
  AtomicFile target(path);
  {
    const hdf5::Lock lock;
    const Where where{path, ""};
    hdf5::File file = hdf5::create_file(target.temporary(), where);
    hdf5::write_attributes(file.id(), attributes, where);
    for (const TraceLayer& layer : layers) {
      const Where here = layer.group.empty() ? where : where.child(layer.group);
      const hdf5::Object group = open_group(file, layer.group, path);
      hdf5::write_attributes(group.id(), layer.attributes, here);
      for (const TensorView& view : layer.arrays) {
        write_array(group.id(), view, here.child(view.name));
      }
      write_tokens(group.id(), layer, here);
      if (layer.alias.empty()) continue;
      CONELAB_HDF5(where.child(layer.alias), "be created",
                   H5Lcreate_soft(("/" + layer.group).c_str(), file.id(), layer.alias.c_str(),
                                  H5P_DEFAULT, H5P_DEFAULT));
    }
    file.close(where);
  }
  target.commit();
}

}  // namespace conelab
