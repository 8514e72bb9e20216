#include "core/files/tensor_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

struct Row {
  const char* name;
  std::size_t size;
};

constexpr std::array<Row, 16> rows = {{{"f64", 8},
                                       {"f32", 4},
                                       {"f16", 2},
                                       {"bf16", 2},
                                       {"int8", 1},
                                       {"int16", 2},
                                       {"int32", 4},
                                       {"int64", 8},
                                       {"uint8", 1},
                                       {"uint16", 2},
                                       {"uint32", 4},
                                       {"uint64", 8},
                                       {"boolean", 1},
                                       {"2 raw bytes", 2},
                                       {"text", 0},
                                       {"other", 0}}};

}  // namespace

const char* element_name(Element element) { return rows[static_cast<std::size_t>(element)].name; }

std::size_t element_size(Element element) { return rows[static_cast<std::size_t>(element)].size; }

std::optional<Dtype> element_dtype(Element element) {
  if (element > Element::bf16) return std::nullopt;
  return static_cast<Dtype>(element);  // Both begin with f64, f32, f16, bf16.
}

bool is_integer(Element element) { return element >= Element::i8 && element <= Element::u64; }

std::optional<Element> integer_of(std::size_t size, bool has_sign) {
  for (int element = static_cast<int>(has_sign ? Element::i8 : Element::u8), i = 0; i < 4; ++i) {
    if (size == std::size_t{1} << i) return static_cast<Element>(element + i);
  }
  return std::nullopt;
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

}  // namespace conelab
