#include "core/files/tensor_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"

namespace conelab {
namespace {

struct Row {
  const char* name;
  std::size_t size;
  char kind;  ///< See element_of; a blank: it is found by no kind.
};

constexpr std::array<Row, 16> rows = {{{"f64", 8, 'f'},
                                       {"f32", 4, 'f'},
                                       {"f16", 2, 'f'},
                                       {"bf16", 2, ' '},
                                       {"int8", 1, 'i'},
                                       {"int16", 2, 'i'},
                                       {"int32", 4, 'i'},
                                       {"int64", 8, 'i'},
                                       {"uint8", 1, 'u'},
                                       {"uint16", 2, 'u'},
                                       {"uint32", 4, 'u'},
                                       {"uint64", 8, 'u'},
                                       {"boolean", 1, 'b'},
                                       {"2 raw bytes", 2, 'V'},
                                       {"text", 0, ' '},
                                       {"other", 0, ' '}}};

}  // namespace

const char* element_name(Element element) { return rows[static_cast<std::size_t>(element)].name; }

std::size_t element_size(Element element) { return rows[static_cast<std::size_t>(element)].size; }

std::optional<Dtype> element_dtype(Element element) {
  if (element > Element::bf16) return std::nullopt;
  return static_cast<Dtype>(element);  // Both begin with f64, f32, f16, bf16.
}

bool is_integer(Element element) { return element >= Element::i8 && element <= Element::u64; }

Element element_of(char kind, std::size_t size) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (kind != ' ' && rows[i].kind == kind && rows[i].size == size) return Element(i);
  }
  return Element::other;
}

SpecialCount count_special(Element element, const void* numbers, std::size_t bytes) {
  SpecialCount found;
  with_number(element, [&](auto type) {
    using Number = decltype(type);
    if constexpr (!std::is_integral_v<Number>) {
      for (const Number& x : std::span(static_cast<const Number*>(numbers), bytes / sizeof(type))) {
        const auto wide = static_cast<double>(x);
        found.nan += std::isnan(wide) ? 1 : 0;
        found.infinite += std::isinf(wide) ? 1 : 0;
      }
    }
  });
  return found;
}

std::optional<std::int64_t> checked_product(const std::vector<std::int64_t>& extents) {
  std::int64_t product = 1;
  bool overflow = false;
  for (const std::int64_t extent : extents) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) return 0;
    overflow |= product > (std::int64_t{1} << 62) / extent;
    if (!overflow) product *= extent;
  }
  return overflow ? std::nullopt : std::optional(product);
}

Shape4 shape_of(const std::vector<std::int64_t>& extents) {
  const auto at = [&](std::size_t from_end) {
    return from_end <= extents.size() ? extents[extents.size() - from_end] : 1;
  };
  return {at(4), at(3), at(2), at(1)};
}

std::string extents_text(const std::vector<std::int64_t>& extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

namespace {

constexpr std::array<const char*, 4> axis_names = {"batch", "head", "token", "feature"};

void check_names(const std::vector<std::string>& names, const std::string& axes) {
  for (const std::string& name : names) {
    if (std::ranges::find(axis_names, name) == axis_names.end())
      unknown_name("axis", name, {axis_names.begin(), axis_names.end()});
  }
  for (std::size_t i = 0; i < axis_names.size(); ++i) {
    const auto count = std::ranges::count(names, axis_names[i]);
    if (count > 1 || (i >= 2 && count == 0)) {
      misuse("--axes {}: expected token and feature, with head or batch and head, each once", axes);
    }
  }
}

}  // namespace

AxisOrder reversed_axes(std::size_t rank) {
  AxisOrder order(rank);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return order;
}

AxisOrder named_axes(const std::string& axes, std::size_t rank, const std::string& place) {
  std::vector<std::string> names = words_at(axes, ',');
  check_names(names, axes);
  for (const char* spare : {axis_names[0], axis_names[1]}) {
    if (names.size() > rank) std::erase(names, spare);
  }
  if (names.size() != rank) {
    fail("{}: has {} axes (expected {} as in --axes {})", place, rank, names.size(), axes);
  }
  AxisOrder order;
  for (const char* name : axis_names) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) order.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return order;
}

std::vector<std::int64_t> in_order(const std::vector<std::int64_t>& extents,
                                   const AxisOrder& order) {
  std::vector<std::int64_t> result;
  for (const std::size_t axis : order) result.push_back(extents[axis]);
  return result;
}

void reorder(void* numbers, const std::vector<std::int64_t>& extents, const AxisOrder& order,
             std::size_t item) {
  const std::size_t rank = extents.size();
  std::vector<std::size_t> size(rank), stride(rank), index(rank, 0);
  for (std::size_t i = 0; i < rank; ++i) size[order[i]] = static_cast<std::size_t>(extents[i]);
  for (std::size_t i = 0; i < rank; ++i) {
    stride[i] = std::accumulate(size.begin() + static_cast<std::ptrdiff_t>(order[i]) + 1,
                                size.end(), item, std::multiplies<>());
  }
  auto* to = static_cast<char*>(numbers);
  const std::string file(to, static_cast<std::size_t>(checked_product(extents).value_or(0)) * item);
  for (std::size_t at = 0, from = 0; at < file.size(); at += item) {
    std::memcpy(to + at, file.data() + from, item);
    for (std::size_t i = rank; i-- > 0;) {
      from += stride[i];
      if (++index[i] < static_cast<std::size_t>(extents[i])) break;
      from -= index[i] * stride[i];
      index[i] = 0;
    }
  }
}

// Finds out the format of a file from its first bytes.

namespace {

void refuse_pytorch(const std::string& path) {
  if (!path.ends_with(".pt") && !path.ends_with(".pth")) return;
  fail(
      "{}: a pickle of PyTorch, which is not read (save its tensors with numpy.savez or "
      "safetensors.torch.save_file)",
      path);
}

/// Returns the format that the name of a file suggests. Its reader can then report what is wrong
/// with the file.
FileFormat format_by_name(const ByteFile& file) {
  const std::string& path = file.path();
  refuse_pytorch(path);
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return FileFormat::hdf5;
  if (path.ends_with(".npz")) return FileFormat::npz;
  if (path.ends_with(".npy")) return FileFormat::npy;
  if (path.ends_with(".safetensors")) return FileFormat::safetensors;
  fail(
      "{}: unknown format (expected HDF5, .npz, .npy or .safetensors, found a file that begins "
      "with '{}')",
      path, printable(file.peek(0, 8)));
}

}  // namespace

const char* format_name(FileFormat format) {
  constexpr std::array<const char*, 4> names = {"HDF5", "npz", "npy", "safetensors"};
  return names[static_cast<std::size_t>(format)];
}

FileFormat detect_format(const std::string& path) {
  const ByteFile file(path);
  const std::string head = file.peek(0, 9);
  if (head.starts_with("\x93NUMPY")) return FileFormat::npy;
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
    refuse_pytorch(path);
    return FileFormat::npz;
  }
  if (find_hdf5(file)) return FileFormat::hdf5;
  if (path.ends_with(safetensors_index)) return FileFormat::safetensors;
  if (head.size() == 9 && head[8] == '{') return FileFormat::safetensors;
  return format_by_name(file);
}

DeclaredArray rows_of(DeclaredArray array, std::vector<Rows> rows) {
  std::int64_t& tokens = array.extents[array.extents.size() - 2];
  array.all_tokens = std::exchange(tokens, 0);
  for (const Rows& run : rows) tokens += run.count();
  array.rows = std::move(rows);
  return array;
}

void for_each_run(const DeclaredArray& array,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& each) {
  const std::int64_t columns = array.extents.back();
  const std::int64_t row = array.extents[array.extents.size() - 2] * columns;
  std::int64_t at = 0;
  for (std::int64_t head = 0; row > 0 && head < array.count() / row; ++head) {
    for (const Rows& run : array.rows) {
      const std::int64_t count = run.count() * columns;
      each((head * array.all_tokens + run.begin) * columns, count, at);
      at += count;
    }
  }
}

void TensorSource::read_rows(const DeclaredArray& array, void* numbers) {
  DeclaredArray whole = array;
  whole.rows.clear();
  whole.extents[whole.extents.size() - 2] = array.all_tokens;
  const std::size_t item = element_size(array.element);
  std::vector<char> bytes(whole.bytes());
  read(whole, bytes.data());
  if (!array.order.empty()) reorder(bytes.data(), whole.extents, array.order, item);
  for_each_run(array, [&](std::int64_t first, std::int64_t count, std::int64_t at) {
    std::memcpy(static_cast<char*>(numbers) + static_cast<std::size_t>(at) * item,
                bytes.data() + static_cast<std::size_t>(first) * item,
                static_cast<std::size_t>(count) * item);
  });
}

}  // namespace conelab
