#include "core/source/winners_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/dataset/hierarchy.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/text.h"
#include "core/figure/figure_input.h"
#include "core/job/read_result.h"
#include "core/source/figure_request.h"
#include "core/statistics/paired.h"

namespace conelab {
namespace {

using ValuesBySeed = HeadsByHierarchy::BySeed;
using ValuesOfCell = HeadsByHierarchy::ByOperator;
using Place = HeadsByHierarchy::Place;

/// Returns "dog: 190 nodes, depth 5, extra edges: 12".
std::string hierarchy_title(const LabelledArray& group, const std::string& path) {
  const Hierarchy hierarchy = hierarchy_of_group(group, path);
  const NodeLists parents = parents_of(hierarchy);
  const auto roots = std::ranges::count(parents, std::vector<Node>());
  const auto further = static_cast<std::int64_t>(hierarchy.edges.size()) - hierarchy.size() + roots;
  std::string title =
      fmt::format("{} nodes, depth {}", hierarchy.size(), std::ranges::max(hierarchy.depths));
  if (further > 0) title += fmt::format(", extra edges: {}", further);
  const auto root = std::ranges::find(parents, std::vector<Node>()) - parents.begin();
  const std::string& name = hierarchy.names[static_cast<std::size_t>(root)];
  const bool named = roots == 1 && name.find('.') != std::string::npos;
  return named ? name.substr(0, name.find('.')) + ": " + title : title;
}

}  // namespace

void read_winners(const FigureRequest& request, figure::FigureInput& input);
void read_winners(const FigureRequest& request, figure::FigureInput& input) {
  HeadsByHierarchy heads{request.value("measure"), {}, {}, {}, {}};
  for (const std::string& path : request.inputs) {
    const LabelledFile file = read_result(path, request.context);
    const LabelledArray* hierarchy = file.group("hierarchy");
    const auto* value = find_attribute<double>(file.attributes, heads.measure);
    if (hierarchy == nullptr || value == nullptr) {
      fail(
          "{}: has no {} of one head of a hierarchy (expected a result of train with one "
          "similarity, dimension and seed)",
          path, heads.measure);
    }
    const Json spec = Json::parse(attribute_or_empty(file.attributes, "spec"));
    const std::string row = hierarchy_title(*hierarchy, path);
    const std::string column = "<i>d</i> = " + spec.value("dim", ""),
                      name = spec.value("similarity", "");
    add_once(heads.rows, row);
    add_once(heads.columns, column);
    add_once(heads.operators, name);
    heads.cells[{row, column}][name][spec.value("seeds", "")] = *value;
  }
  input.own = std::move(heads);
}

}  // namespace conelab

namespace conelab::figure {

namespace {

struct Winner {
  std::string name;
  double mean = 0, ahead = NAN, p = NAN;  ///< NaN of a lone operator.
};

double mean_of(const ValuesBySeed& values) {
  double sum = 0;
  for (const auto& [seed, value] : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Winner winner_of(const ValuesOfCell& cell) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, values] : cell) order.emplace_back(-mean_of(values), name);
  std::ranges::sort(order);
  Winner winner{order[0].second, -order[0].first, NAN, NAN};
  if (order.size() < 2) return winner;
  std::vector<double> best, second;
  for (const auto& [seed, value] : cell.at(winner.name)) {
    const auto twin = cell.at(order[1].second).find(seed);
    if (twin == cell.at(order[1].second).end()) continue;
    best.push_back(value), second.push_back(twin->second);
  }
  const PairedDifference found = paired_difference(second, best);
  winner.ahead = found.mean.value;
  winner.p = found.p;
  return winner;
}

/// Returns the winner of each cell, with p values that are corrected for all of them.
std::map<Place, Winner> winners_of(const HeadsByHierarchy& heads) {
  std::map<Place, Winner> winners;
  std::vector<double> p;
  for (const auto& [place, cell] : heads.cells) {
    p.push_back((winners[place] = winner_of(cell)).p);
  }
  p = holm_corrected(p);
  for (std::size_t i = 0; auto& [place, winner] : winners) winner.p = p[i++];
  return winners;
}

void draw_cell(DisplayList& list, const Winner& winner, Colour colour, const Box& box) {
  const bool decided = winner.p < 0.05;
  list.rectangle(box, Paint::filled(colour.opacity(decided ? 0.45 : 0.12)));
  const double middle = box.x + box.width / 2, room = box.width - 4;
  const auto write = [&](double y, const std::string& text, Face face, Colour ink_of) {
    list.text({middle, y}, elide(text, small_size, room, face),
              {.size = small_size, .face = face, .anchor = Anchor::middle, .colour = ink_of});
  };
  write(box.y + 0.43 * box.height, winner.name, decided ? Face::bold : Face::regular, ink);
  std::string numbers = fmt::format("{:.3g}", winner.mean);
  if (std::isfinite(winner.ahead)) numbers += fmt::format(" (+{:.2g})", winner.ahead);
  write(box.y + 0.84 * box.height, numbers, Face::regular, ink);
}

}  // namespace

DisplayList make_winners(const FigureInput& input) {
  const auto& heads = std::any_cast<const HeadsByHierarchy&>(input.own);
  DisplayList list = input.page(single_column, "Which operator is best");
  double labels = 0;
  for (const std::string& row : heads.rows) {
    labels = std::max(labels, text_width(row, small_size));
  }
  labels = std::min(labels, 0.4 * list.width) + 4;
  const double width =
      (list.width - 2 * margin - labels) / static_cast<double>(heads.columns.size());
  const double height = 2.9 * small_size, left = margin + labels, top = margin + 1.6 * text_size;
  const std::map<Place, Winner> winners = winners_of(heads);
  for (std::size_t c = 0; c < heads.columns.size(); ++c) {
    list.text({left + (static_cast<double>(c) + 0.5) * width, margin}, rich(heads.columns[c]),
              {.size = text_size, .anchor = Anchor::middle, .align = Align::top, .colour = ink});
  }
  for (std::size_t r = 0; r < heads.rows.size(); ++r) {
    const double y = top + static_cast<double>(r) * height;
    list.text({left - 4, y + height / 2}, elide(heads.rows[r], small_size, labels - 4),
              {.size = small_size, .anchor = Anchor::end, .align = Align::middle, .colour = ink});
    for (std::size_t c = 0; c < heads.columns.size(); ++c) {
      const auto found = winners.find({heads.rows[r], heads.columns[c]});
      if (found == winners.end()) continue;
      const auto number = std::ranges::find(heads.operators, found->second.name);
      const Box box{left + static_cast<double>(c) * width, y, width, height};
      draw_cell(list, found->second,
                series_colour(static_cast<std::size_t>(number - heads.operators.begin())),
                box.grown(-0.5));
    }
  }
  finish_with_caption(
      list,
      input.described(fmt::format(
          "The operator with the most {} of {}, by hierarchy and dimension of a token: its mean "
          "over "
          "seeds, and how far it is ahead of the second. Pale: this may be chance (paired by seed, "
          "Student's t, Holm's p of {} cells above 0.05)",
          heads.measure, join(heads.operators), heads.cells.size())),
      top + static_cast<double>(heads.rows.size()) * height + 4);
  return drawable(std::move(list), input.parameters);
}

}  // namespace conelab::figure
