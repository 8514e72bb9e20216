// Makes the figures `heatmap` and `arcs` from attention maps of one head.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call.h"
#include "core/figure/figure_input.h"

namespace conelab::figure {
namespace {

bool shares_limits(const Parameters& p) {
  const std::string* limits = text_of(p, "limits");
  return limits == nullptr || *limits == "shared";
}

std::size_t reference_panel(const FigureInput& input, const std::vector<HeatmapPanel>& panels,
                            const std::string& reference) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::string& title = panels[i].title;
    const bool named = i < input.names.size() && input.names[i] == reference;
    if (named || title == reference || title == call_title(call_from_text(reference))) return i;
    known.push_back(title);
  }
  unknown_name("value of -p difference", reference, known);
}

/// Replaces every panel except the reference by its difference from the reference, which comes
/// first.
void subtract_reference(std::vector<HeatmapPanel>& panels, const FigureInput& input) {
  const std::string reference = input.value("difference");
  const auto found =
      panels.begin() + static_cast<std::ptrdiff_t>(reference_panel(input, panels, reference));
  std::rotate(panels.begin(), found, found + 1);
  for (std::size_t p = 1; p < panels.size(); ++p) {
    if (panels[p].values.size() != panels[0].values.size()) {
      misuse("{} and {} differ in size and cannot be subtracted", panels[p].title, reference);
    }
    subtract(panels[p], panels[0]);
    panels[p].title += " − " + panels[0].title;
  }
}

/// Every panel is followed by what it is compared with, and by their difference where the sizes
/// agree.
void compare(HeatmapFigure& figure, std::vector<HeatmapPanel> beside, const FigureInput& input) {
  std::vector<HeatmapPanel> all;
  figure.together = 2;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    HeatmapPanel& open = figure.panels[i];
    HeatmapPanel difference = open;
    const bool same = open.rows == beside[i].rows && open.cols == beside[i].cols;
    if (same) subtract(difference, beside[i]), figure.together = 3;
    difference.title += ", difference";
    open.title += ", " + input.subject, beside[i].title += ", " + input.beside_subject;
    all.push_back(std::move(open)), all.push_back(std::move(beside[i]));
    if (same) all.push_back(std::move(difference));
  }
  figure.panels = std::move(all);
}

ArcsPanel arcs_of(const HeatmapPanel& map, const ArcChoice& choice) {
  ArcsPanel panel;
  panel.title = map.title;
  panel.queries = map.rows;
  panel.keys = map.cols;
  panel.unknown = static_cast<std::size_t>(
      std::ranges::count_if(map.values, [](double w) { return !std::isfinite(w); }));
  for (std::size_t i = 0; i < map.rows; ++i) {
    pick_arcs(map.values.data() + i * map.cols, map.cols, i, choice, panel.arcs);
  }
  if (panel.arcs.empty() && panel.unknown == map.values.size()) {
    panel.note = "the weights are not finite numbers";
  } else if (panel.arcs.empty()) {
    panel.note = fmt::format("no weight reaches {}", choice.threshold);
  }
  return panel;
}

}  // namespace

void set_parameters(const Parameters& p, HeatLook& look) {
  if (const auto* scale = text_of(p, "scale")) look.scale = heat_scale_from_name(*scale);
  if (const auto* map = text_of(p, "colours")) look.map = colour_map_from_name(*map);
  look.shared_limits = shares_limits(p);
  const auto *low = text_of(p, "low"), *high = text_of(p, "high");
  if (!low != !high) misuse("low and high are given together (found one of them)");
  if (low == nullptr) return;
  look.limits = {number("low", *low), number("high", *high)};
  if (!(look.limits.low < look.limits.high)) misuse("low must be below high");
}

void set_parameters(const Parameters& p, ArcsFigure& figure) {
  if (const auto* name = text_of(p, "arrangement")) {
    figure.arrangement = arc_arrangement_from_name(*name);
  }
  figure.shared_limits = shares_limits(p);
}

DisplayList make_heatmap(const FigureInput& input) {
  HeatmapFigure figure;
  figure.value_name = input.value("quantity") == "logits" ? "logit" : "attention weight";
  figure.panels = input.panels;
  figure.caption = input.caption;
  std::vector<HeatmapPanel> beside = input.beside;
  if (input.value("quantity") == "weights") {
    for (HeatmapPanel& panel : figure.panels) mark_signed(panel);
    for (HeatmapPanel& panel : beside) mark_signed(panel);
  }
  if (!input.value("difference").empty()) {
    subtract_reference(figure.panels, input);
    if (!beside.empty()) subtract_reference(beside, input);
  }
  if (!beside.empty()) {
    compare(figure, std::move(beside), input);
  } else if (!input.subject.empty()) {
    for (HeatmapPanel& panel : figure.panels) panel.title += ", " + input.subject;
  }
  return finished(std::move(figure), input, draw_heatmap);
}

DisplayList make_arcs(const FigureInput& input) {
  ArcsFigure figure;
  figure.choice = {whole_number("top", input.value("top")),
                   number("threshold", input.value("threshold"))};
  if (figure.choice.top == 0) misuse("-p top=0: leaves no arcs (expected 1 or more)");
  for (const HeatmapPanel& map : input.panels) figure.panels.push_back(arcs_of(map, figure.choice));
  if (!input.panels.empty()) {
    figure.query_tokens = input.panels.front().row_tokens;
    figure.key_tokens = input.panels.front().column_tokens;
  }
  figure.caption = input.caption;
  return finished(std::move(figure), input, draw_arcs);
}

}  // namespace conelab::figure
