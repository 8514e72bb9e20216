// The colours of the maps: what they mean, which limits they have, and which maps share these.
#include <cmath>
#include <tuple>

#include "widgets/maps/maps_model.h"

namespace conelab::desktop {
namespace {

/// Returns what colours mean on a scale: "rank of weights".
std::string on_scale(const std::string& name, figure::HeatScale scale) {
  if (scale == figure::HeatScale::row_normalised) return name + " / largest in row";
  return scale == figure::HeatScale::rank ? "rank of " + name : name;
}

/// Returns the percentiles of a choice: "1-99" are 1 and 99, "all" 0 and 100.
std::pair<double, double> percentiles_of(const std::string& text) {
  double low = 0, high = 100;
  std::sscanf(text.c_str(), "%lf-%lf", &low, &high);
  return {low, high};
}

}  // namespace

// ---- colours ------------------------------------------------------------------------------------

void MapsModel::use_dark_colours(bool dark) {
  if (dark_ == dark) return;
  dark_ = dark;
  emit progressed();
}

ColourChoice MapsModel::colour_choice(bool has_signs) const {
  ColourChoice choice;
  choice.scale = figure::heat_scale_from_name(choice_.scale);
  const bool of_theme = choice_.colours == MapChoice().colours;
  choice.map = !of_theme ? figure::colour_map_from_name(choice_.colours)
               : dark_   ? figure::ColourMap::dark
                         : figure::ColourMap::sequential;
  choice.diverging = has_signs;
  choice.zero_special = !has_signs && choice_.quantity == "weights";
  std::tie(choice.low_percentile, choice.high_percentile) = percentiles_of(choice_.percentiles);
  // Logits and differences have signs, which a logarithmic scale cannot show.
  if (choice.scale == figure::HeatScale::log && !choice.zero_special) {
    choice.scale = figure::HeatScale::linear;
  }
  return choice;
}

bool MapsModel::one_bar() const {
  if (!choice_.shared_limits || reference_call(choice_) != nullptr) return false;
  const auto first = first_with_map();
  return std::ranges::all_of(panels_, [&](const auto& panel) {
    return panel->failed() || of_one_kind(*panel, *panels_[*first]);
  });
}

std::string MapsModel::value_name(bool difference) const {
  const bool stored = head_ && head_->stored;
  return on_scale(difference && !stored ? "difference of " + choice_.quantity : choice_.quantity,
                  colour_choice(difference).scale);
}

std::string MapsModel::value_name(const MapPanel& panel) const {
  return panel.stored.empty() ? value_name(panel.difference)
                              : on_scale(panel.stored, colour_choice(panel).scale);
}

bool MapsModel::zeros_are_special(bool has_signs) const {
  const ColourChoice choice = colour_choice(has_signs);
  return choice.zero_special || choice.scale == figure::HeatScale::log;
}

figure::Specials MapsModel::specials(const MapPanel& panel) const {
  return {zeros_are_special(has_signs(panel)) && panel.summary.zero > 0,
          panel.summary.masked > panel.summary.excluded, panel.summary.nan > 0};
}

// ---- limits -------------------------------------------------------------------------------------

bool MapsModel::of_one_kind(const MapPanel& a, const MapPanel& b) const {
  return a.difference == b.difference && has_signs(a) == has_signs(b) &&
         quantity_of(a) == quantity_of(b);
}

bool MapsModel::can_share_limits() const {
  if (panels_.size() < 2) return true;
  for (auto a = panels_.begin(); a != panels_.end(); ++a) {
    const auto is_alike = [&](const auto& b) {
      return (*a)->pyramid && b->pyramid && of_one_kind(**a, *b);
    };
    if (std::any_of(std::next(a), panels_.end(), is_alike)) return true;
  }
  return false;
}

std::vector<const MapPanel*> MapsModel::sharing(const MapPanel& panel) const {
  if (!choice_.shared_limits) return {&panel};
  std::vector<const MapPanel*> all;
  for (const auto& other : panels_) {
    if (other->pyramid && of_one_kind(*other, panel)) all.push_back(other.get());
  }
  return all;
}

std::string MapsModel::limits_name(const MapPanel& panel) const {
  std::string name = value_name(panel);
  if (has_signs(panel) && !panel.difference) name += " with signs";
  if (colour_choice(panel).scale == figure::HeatScale::log) name += ", logarithmic";
  return choice_.shared_limits ? name : name + " of " + panel.title;
}

figure::Limits MapsModel::limits(const MapPanel& panel) const {
  const auto by_hand = choice_.limits.find(limits_name(panel));
  if (by_hand != choice_.limits.end()) return {by_hand->second[0], by_hand->second[1]};
  const ColourChoice choice = colour_choice(panel);
  figure::Limits limits;
  for (const MapPanel* one : sharing(panel)) limits.include(colour_limits(one->summary, choice));
  return limits;
}

figure::Limits MapsModel::range(const MapPanel& panel) const {
  ColourChoice choice = colour_choice(panel);
  choice.low_percentile = 0, choice.high_percentile = 100;
  figure::Limits range = limits(panel);
  for (const MapPanel* one : sharing(panel)) range.include(colour_limits(one->summary, choice));
  return range;
}

void MapsModel::set_limits(const MapPanel& panel, figure::Limits limits) {
  const std::string name = limits_name(panel);
  if (has_signs(panel)) {
    const double reach = std::max(std::abs(limits.low), std::abs(limits.high));
    limits = {-reach, reach};
  }
  workspace_.document().edit(
      tr("set colour limits"),
      [&](Session& s) {
        s.maps.limits[name] = {limits.low, limits.high};
      },
      "limits");
}

void MapsModel::reset_limits(const MapPanel& panel) {
  const std::string name = limits_name(panel);
  workspace_.document().edit(tr("reset colour limits"), [&](Session& s) {
    s.maps.limits.erase(name);
    s.maps.percentiles = MapChoice().percentiles;
  });
}

double MapsModel::used_colours(const MapPanel& panel) const {
  ColourChoice choice = colour_choice(panel);
  // Values beyond the percentiles have the colours of the ends. (Limits of percentile 0 are 0.)
  choice.low_percentile = std::min(choice.low_percentile, 1e-9), choice.high_percentile = 100;
  const figure::Limits own = colour_limits(panel.summary, choice), all = limits(panel);
  if (!choice_.shared_limits || own.empty() || own == all) return 1;
  const auto place = [&](double v) { return figure::place_on_map(v, all, choice.scale); };
  return place(own.high) - place(own.low);
}

bool MapsModel::flat(const MapPanel& panel) const {
  constexpr double least = 0.12;  // Fraction of the colour map that a panel needs to be readable.
  return used_colours(panel) < least;
}

}  // namespace conelab::desktop
