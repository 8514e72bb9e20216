// A thousand maps, one after the other, leave no memory behind.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "core/bench/machine.h"
#include "tests/widgets/maps/shown_maps.h"

namespace conelab::desktop {
namespace {

/// Each has another head and another gamma, so that it is computed. The edits are one step of the
/// history, which keeps up to a thousand steps.
TEST(Maps, AThousandMapsLeaveNoMemoryBehind) {
  REQUIRE_DISPLAY();
  if (fixtures::slowness > 1) GTEST_SKIP() << "a sanitizer keeps memory";
  ShownMaps shown;
  const auto show = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const auto change = [&](Session& s) {
        s.trace.head = i % 12;
        for (auto& call : s.maps.calls) {
          if (call.similarity != "dot") call.parameters["gamma"] = std::to_string(1 + i * 1e-3);
        }
      };
      shown.document.edit("another map", change, "another map");
      shown.settle(1);
    }
    return resident_bytes() / 1e6;
  };
  show(200);
  const double before = show(1), grown = show(1000) - before;
  std::printf("a thousand maps took %.2f MB more\n", grown);
  EXPECT_LT(grown, 1);
}

}  // namespace
}  // namespace conelab::desktop
