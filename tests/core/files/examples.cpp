#include "tests/core/files/examples.h"

#include <zlib.h>

#include <numeric>

namespace conelab::fixtures {
namespace {

std::string number(std::uint64_t value, std::size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}

std::string deflate_raw(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace

void make_h5(const std::string& path, const std::function<void(hid_t root)>& fill) {
  const hdf5::Lock lock;
  const hdf5::Where where{path, ""};
  hdf5::File file = hdf5::create_file(path, where);
  fill(file.id());
  file.close(where);
}

std::vector<double> ramp(std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = 0.5 * static_cast<double>(i);
  return numbers;
}

void add_tensor(hid_t parent, const std::string& name, const std::vector<hsize_t>& extents,
                Dtype dtype) {
  const hdf5::Where where{"fixture", name};
  const std::size_t count =
      std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
  const hdf5::Dataset dataset = hdf5::create_tensor(parent, name, dtype, extents, {}, where);
  hdf5::write_tensor(dataset, dtype, ramp(count).data(), count, {}, where);
}

std::string npy_header(const std::string& dictionary) {
  const std::string text = dictionary + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + number(text.size(), 2) + text;
}

std::string npy(const std::string& descr, const std::string& shape, std::string_view numbers,
                bool fortran_order) {
  return npy_header(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr,
                                fortran_order ? "True" : "False", shape)) +
         std::string(numbers);
}

std::string floats(std::size_t count) {
  const std::vector<double> numbers = ramp(count);
  return bytes_of(std::vector<float>(numbers.begin(), numbers.end()));
}

std::string zip(const std::vector<ZipEntry>& entries) {
  std::string file, directory;
  for (const ZipEntry& entry : entries) {
    const std::string stored = entry.deflated ? deflate_raw(entry.content) : entry.content;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                           static_cast<uInt>(entry.content.size()));
    const std::string common = number(20, 2) + number(0, 2) + number(entry.deflated ? 8 : 0, 2) +
                               number(0, 4) + number(crc, 4) + number(stored.size(), 4) +
                               number(entry.content.size(), 4) + number(entry.name.size(), 2) +
                               number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + common + number(0, 10 - 2) + number(0, 2) +
                 number(file.size(), 4) + entry.name;
    file += "PK\x03\x04" + common + entry.name + stored;
  }
  return file + directory + "PK\x05\x06" + number(0, 4) + number(entries.size(), 2) +
         number(entries.size(), 2) + number(directory.size(), 4) + number(file.size(), 4) +
         number(0, 2);
}

std::string safetensors(const std::string& header, std::string_view numbers) {
  return number(header.size(), 8) + header + std::string(numbers);
}

std::string patched(std::string bytes, std::size_t at, std::string_view by) {
  return bytes.replace(at, by.size(), by);
}

}  // namespace conelab::fixtures
