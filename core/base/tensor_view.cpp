#include "core/base/tensor_view.h"

#include <fmt/ranges.h>

#include "core/base/error.h"

namespace conelab {
namespace {

constexpr const char* number_type_names[] = {"f64", "f32", "f16", "bf16", "i64", "u8"};

}  // namespace

const char* number_type_name(NumberType type) { return number_type_names[static_cast<int>(type)]; }

static_assert(static_cast<int>(NumberType::bf16) == static_cast<int>(Dtype::bf16));

Dtype dtype_of(const TensorView& view) {
  if (view.type > NumberType::bf16) {
    misuse("{} has numbers of a wrong type (expected f64, f32, f16 or bf16, found {})", view.name,
           number_type_name(view.type));
  }
  return static_cast<Dtype>(static_cast<int>(view.type));
}

void check_type(const TensorView& view, NumberType type) {
  if (view.type == type) return;
  misuse("{} has numbers of another type (expected {}, found {})", view.name,
         number_type_name(type), number_type_name(view.type));
}

void check_sizes(const TensorView& view, const std::vector<std::int64_t>& sizes) {
  const std::size_t rank = view.sizes.size(), wanted = sizes.size();
  std::int64_t count = 1;
  for (const std::int64_t n : sizes) count *= n;
  bool fits = view.count() == count;
  for (std::size_t i = 1; fits && i <= rank && i < wanted; ++i) {
    fits = view.sizes[rank - i] == sizes[wanted - i];
  }
  if (fits) return;
  misuse("{} does not have its sizes (expected [{}], found [{}])", view.name,
         fmt::join(sizes, " x "), fmt::join(view.sizes, " x "));
}

}  // namespace conelab
