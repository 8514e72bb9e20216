#include "core/statistics/order.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/random.h"

namespace conelab {
namespace {

/// Returns 0, 1, n-1, 2, n-2, ...: for even n, neighbours differ by every amount once (modulo n).
std::vector<int> zigzag(int n) {
  std::vector<int> row;
  for (int i = 0; i < n; ++i) row.push_back(i % 2 == 1 ? (i + 1) / 2 : (n - i / 2) % n);
  return row;
}

/// Returns `count` <= n different rows of a Williams square over shuffled cases, in random order.
void add_square(int n, int count, Random& random, std::vector<std::vector<int>>& orders) {
  std::vector<int> names(static_cast<std::size_t>(n));
  std::iota(names.begin(), names.end(), 0);
  random.shuffle(names);
  std::vector<int> shifts;
  for (int i = 0; i < count; ++i) {
    shifts.push_back(static_cast<int>(static_cast<std::int64_t>(i) * n / count));
  }
  random.shuffle(shifts);
  const std::vector<int> first = zigzag(n);
  for (const int shift : shifts) {
    std::vector<int> order;
    for (const int value : first)
      order.push_back(names[static_cast<std::size_t>((value + shift) % n)]);
    orders.push_back(std::move(order));
  }
}

}  // namespace

std::vector<std::vector<int>> balanced_orders(int cases, int rounds, std::uint64_t seed) {
  if (cases < 0 || rounds < 0) misuse("order: {} cases in {} rounds", cases, rounds);
  std::vector<std::vector<int>> orders;
  if (cases == 0) orders.resize(static_cast<std::size_t>(rounds));
  Random random(seed);
  while (static_cast<int>(orders.size()) < rounds) {
    const int left = rounds - static_cast<int>(orders.size());
    add_square(cases, std::min(cases, left), random, orders);
  }
  return orders;
}

}  // namespace conelab
