#include "widgets/maps/map_figure.h"

#include <gtest/gtest.h>

#include "core/source/figure_table.h"
#include "tests/widgets/driving.h"

namespace conelab::desktop {
namespace {

/// Expects that the figure of the session has its values, whether it says them or leaves them to
/// the table's defaults, and that it says no default.
void expect_values_of(const Session& session, const Trace& trace) {
  const MapChoice& maps = session.maps;
  const std::string limits = maps.shared_limits ? "shared" : "own";
  const std::vector<std::array<std::string, 3>> values = {
      {"maps", "quantity", maps.quantity},
      {"maps", "scale", maps.scale},
      {"maps", "limits", limits},
      {"maps", "join", maps.join},
      {"heads", "quantity", maps.quantity},
      {"heads", "scale", maps.scale},
      {"heads", "limits", limits},
      {"heads", "rows", maps.heads_rows},
      {"heads", "score", maps.head_score},
      {"heads", "order", maps.heads_order},
      {"heads", "similarities", maps.calls[0].similarity},
      {"arcs", "limits", limits},
      {"arcs", "top", std::to_string(maps.arc_top)},
      {"arcs", "threshold", fmt::format("{}", maps.arc_threshold)},
      {"arcs", "arrangement", maps.arc_arrangement},
      {"tree", "tokens", maps.tree_tokens},
      {"tree", "similarity", maps.calls[0].similarity},
      {"hasse", "tokens", maps.tree_tokens},
      {"hasse", "similarity", maps.calls[0].similarity},
  };
  for (const auto& [layout, key, value] : values) {
    SCOPED_TRACE(layout + " " + key);
    Session shown = session;
    shown.maps.layout = layout;
    const FigureChoice figure = *map_figure(shown, trace);
    const figure::FigureInfo& info = figure::figure_named(figure.name);
    EXPECT_EQ(figure::value_of(info, figure.parameters, key), value);
    EXPECT_EQ(figure.parameters.contains(key), figure::value_of(info, {}, key) != value);
  }
}

TEST(MapFigure, SaysWhatIsNotADefaultOfItsTable) {
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  Session session;
  expect_values_of(session, *trace);
  session.maps.calls = {plain_call("umbral")};
  session.maps.quantity = "logits";
  session.maps.scale = "rank";
  session.maps.shared_limits = false;
  session.maps.join = "mean";
  session.maps.heads_rows = "file";
  session.maps.head_score = "order";
  session.maps.heads_order = "lowest first";
  session.maps.arc_top = 7;
  session.maps.arc_threshold = 0.125;
  session.maps.arc_arrangement = "above";
  session.maps.tree_tokens = "query";
  expect_values_of(session, *trace);
}

}  // namespace
}  // namespace conelab::desktop
