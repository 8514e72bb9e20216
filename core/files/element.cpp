#include "core/files/element.h"

#include <array>

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
  switch (element) {
    case Element::f64:
      return Dtype::f64;
    case Element::f32:
      return Dtype::f32;
    case Element::f16:
      return Dtype::f16;
    case Element::bf16:
      return Dtype::bf16;
    default:
      return std::nullopt;
  }
}

bool is_integer(Element element) { return element >= Element::i8 && element <= Element::u64; }

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

}  // namespace conelab
