#include "core/base/squared_norm.h"

#include <gtest/gtest.h>

#include <vector>

namespace conelab {
namespace {

template <class T>
void check_all_counts() {
  std::vector<T> x;
  double expected = 0;
  for (int count = 0; count <= 17; ++count) {
    EXPECT_EQ(squared_norm(x.data(), count), expected) << count;
    const int next = count - 8;
    x.push_back(static_cast<T>(next));
    expected += next * next;
  }
}

TEST(SquaredNorm, AddsEverySquareOnce) {
  check_all_counts<float>();
  check_all_counts<double>();
}

TEST(SquaredNorm, OfFloatsIsInDouble) {
  const float x[] = {1e30f};
  EXPECT_DOUBLE_EQ(squared_norm(x, 1), static_cast<double>(1e30f) * static_cast<double>(1e30f));
}

}  // namespace
}  // namespace conelab
