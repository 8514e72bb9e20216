// A document over the shipped trace, and the attention maps view over it in one layout.
#pragma once

#include <gtest/gtest.h>

#include "tests/widgets/work.h"
#include "widgets/maps/maps_view.h"

namespace conelab::desktop {

/// A document over the shipped trace, without a window.
struct OpenedTrace : Work {
  explicit OpenedTrace(const char* layout, const char* group = "/german/layer3") {
    document.edit("layout", [&](Session& s) {
      s.maps.layout = layout;
      s.maps.heads_rows = "operators";
      s.trace.head = 5;
    });
    open(shipped_trace(), group);
  }
  [[nodiscard]] std::shared_ptr<MatrixSource> source(const char* similarity, std::int64_t head) {
    const auto input = head_input(*workspace.trace(), 0, head);
    return map_source(input, *workspace.trace(), head, plain_call(similarity), nullptr,
                      Map2d::weights);
  }
};

/// The view over it, shown.
struct ShownLayout : OpenedTrace {
  MapsView view{workspace};
  explicit ShownLayout(const char* layout) : OpenedTrace(layout) {
    view.resize(820, 640);
    show_active(view);
    pump(60);
  }
  [[nodiscard]] bool related() {
    const RelationsModel& model = view.relations();
    return !model.panels().empty() && !model.busy() && view.relations_canvas().sharp();
  }
};

}  // namespace conelab::desktop
