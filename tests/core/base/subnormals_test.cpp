#include "core/base/subnormals.h"

#include <gtest/gtest.h>

#include <limits>

namespace conelab::tests {
namespace {

/// Out of the compiler's sight, which would compute it beforehand.
[[gnu::noinline]] float half_of(volatile const float& x) { return x * 0.5F; }

TEST(Subnormals, AreFlushedWhileTheGuardLives) {
  const float smallest = std::numeric_limits<float>::min();
  {
    const FlushSubnormals outer;
    { const FlushSubnormals inner; }
#if defined(__x86_64__)
    EXPECT_EQ(half_of(smallest), 0.0F) << "the inner guard must not end the outer one";
#endif
  }
  EXPECT_EQ(half_of(smallest), smallest / 2);
}

}  // namespace
}  // namespace conelab::tests
