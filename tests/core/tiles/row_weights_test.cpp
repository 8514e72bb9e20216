#include "core/tiles/row_weights.h"

#include <gtest/gtest.h>

#include <limits>

namespace conelab {
namespace {

template <class T>
void expect_no_weight_above_one() {
  int above = 0;
  for (int i = 0; i < 10000; ++i) {
    const T logit = static_cast<T>(0.001 * i);
    // Of a row with this logit alone, whose reference is 0, and whose exponential the kernels round
    // down.
    const T sum = std::nextafter(std::exp(logit), T(0));
    const RowWeights<T> law{WeightLaw::softmax, 0, T(1) / sum};
    above += std::exp(logit) * (T(1) / sum) > 1 ? 1 : 0;
    EXPECT_LE(law.of(logit), 1) << logit;
    EXPECT_GE(law.of(logit), 1 - 4 * std::numeric_limits<T>::epsilon()) << logit;
  }
  EXPECT_GT(above, 0) << "no product rounds up";
}

TEST(RowWeights, NoShareOfASumExceedsOne) {
  expect_no_weight_above_one<float>();
  expect_no_weight_above_one<double>();
}

TEST(RowWeights, OnlySharesAreBounded) {
  EXPECT_EQ((RowWeights<double>{WeightLaw::exponential}.of(1)), std::exp(1.0));
  EXPECT_TRUE(std::isnan(RowWeights<double>{WeightLaw::softmax, 0, std::nan("")}.of(1)));
}

}  // namespace
}  // namespace conelab
