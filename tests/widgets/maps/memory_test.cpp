// A thousand maps, one after the other, leave no memory behind.
#include "tests/helpers/memory.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/widgets/maps/shown_maps.h"

namespace conelab::desktop {
namespace {

/// Each has another head and another gamma, so that it is computed. The edits are one step of the
/// history, which keeps up to a thousand steps.
TEST(Maps, AThousandMapsLeaveNoMemoryBehind) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  fixtures::expect_calls_keep_no_memory(1000, [&](int i) {
    const auto change = [&](Session& s) {
      s.trace.head = i % 12;
      for (auto& call : s.maps.calls) {
        if (call.similarity != "dot") call.parameters["gamma"] = std::to_string(1 + i * 1e-3);
      }
    };
    shown.document.edit("another map", change, "another map");
    shown.settle(1);
  });
}

}  // namespace
}  // namespace conelab::desktop
