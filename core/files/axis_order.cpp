#include "core/files/axis_order.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/files/element.h"

namespace conelab {
namespace {

constexpr std::array<const char*, 4> axis_names = {"batch", "head", "token", "feature"};

/// Returns the parts of "token,head,feature", without blanks.
std::vector<std::string> names_in(std::string text) {
  std::erase(text, ' ');
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ',') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

void check_names(const std::vector<std::string>& names, const std::string& axes) {
  for (const std::string& name : names) {
    if (std::find(axis_names.begin(), axis_names.end(), name) == axis_names.end())
      unknown_name("axis", name, {axis_names.begin(), axis_names.end()});
  }
  for (std::size_t i = 0; i < axis_names.size(); ++i) {
    const auto count = std::count(names.begin(), names.end(), axis_names[i]);
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
  std::vector<std::string> names = names_in(axes);
  check_names(names, axes);
  for (const char* spare : {axis_names[0], axis_names[1]}) {
    if (names.size() > rank) std::erase(names, spare);
  }
  if (names.size() != rank) {
    fail("{}: has {} axes (expected {} as in --axes {})", place, rank, names.size(), axes);
  }
  AxisOrder order;
  for (const char* name : axis_names) {
    const auto found = std::find(names.begin(), names.end(), name);
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
