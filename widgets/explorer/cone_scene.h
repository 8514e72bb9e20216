// The numbers behind the scene of the cone explorer: both points in the coordinates of the law,
// their lowest common ancestor, distances, potentials and K. Also the commands that reproduce the
// scene.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/figure/similarity_field.h"
#include "core/geometry/cone_law.h"
#include "core/trace/trace.h"
#include "widgets/explorer/plane_frame.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

using figure::LawPoint;

struct ConeScene {
  std::string error;  ///< One line if a point is outside the domain of the family; otherwise empty.
  geometry::ConeSystem system;
  bool infinite = true, penumbral = true;
  double parameter = 1;  ///< h, r or R; for Ganea's cones the radius R that K determines.
  LawPoint u, v;
  std::optional<LawPoint> lca;
  std::optional<PlanePoint> lca_place;
  double largest_shadow = 0;
  geometry::Lca law;
  geometry::DepthMeasure measure = geometry::DepthMeasure::height;
  double similarity = 0;        ///< K(u, v), the depth of the LCA by that measure.
  std::optional<double> other;  ///< The similarity of u and v that the choice names, if another.
  double distance = 0;
  double potential_u = 0, potential_v = 0;
};

/// Returns the parameters that the family takes; a choice may also hold those of other families.
[[nodiscard]] std::map<std::string, double> own_parameters(const ConeChoice& choice);

[[nodiscard]] ConeScene cone_scene(const ConeChoice& choice);

/// Returns the families that a choice shows, each once: its own, then those beside it.
[[nodiscard]] std::vector<std::string> families_of(const ConeChoice& choice);
/// Returns whether the source of the choice's family is a point of the plane.
[[nodiscard]] bool finite_family(const ConeChoice& choice);
/// Returns the similarity that the choice shows in place of its family's; null if it is that.
[[nodiscard]] const figure::PlaneSimilarityInfo* other_similarity(const ConeChoice& choice);
/// Returns what the logit of a scene is, for readouts: "log K(u, v)", or "log K(u, v) by distance".
[[nodiscard]] std::string similarity_name(const ConeScene& scene, const char* pair = "u, v");

/// Pairs of name and value.
using NamedNumbers = std::vector<std::pair<std::string, std::string>>;
/// Returns the exact numbers that change while a point is dragged, one per line.
[[nodiscard]] NamedNumbers cone_readout(const ConeChoice& choice, const ConeScene& scene);
/// Returns these and all other numbers of the picture: the source, parameters, depths of u and v.
[[nodiscard]] NamedNumbers cone_numbers(const ConeChoice& choice, const ConeScene& scene);
/// Formats a number with twelve digits, as in the readout.
[[nodiscard]] std::string exact_text(double value);

/// The number of level lines of K(u, ·) on each side of the border of the common ancestors.
inline constexpr int level_lines = 6;
/// The largest number of level lines of another similarity, which are at round values.
inline constexpr int most_level_lines = 12;

/// The points of the tokens in the plane of u and v, under the first family.
struct TokenNames {
  std::vector<PlanePoint> places;  ///< Half-plane coordinates, one per key of the head.
  std::vector<std::string> names;  ///< [places]
};

/// Returns the point inside the domain of the family that is nearest to `wanted`, for dragging.
[[nodiscard]] PlanePoint into_domain(const ConeChoice& choice, const PlanePoint& wanted);

/// Returns `wanted` moved to the nearest of: the x of another point, the height of another point,
/// and multiples of the round number that is 8 to 20 pixels long there. `name` is u, v or source.
[[nodiscard]] PlanePoint snapped(const ConeChoice& choice, const std::string& name,
                                 const PlanePoint& wanted, const PlaneFrame& frame);

/// Returns the command that computes the same numbers: `conelab lca …`.
[[nodiscard]] std::vector<std::string> cone_command(const ConeChoice& choice);

/// The largest number of tokens that a figure takes: each is a part of the command's line.
inline constexpr std::size_t most_tokens_of_figure = 100;
/// Returns the figure `cones` of the same scene with every setting that the figure has: one panel
/// for each family, and the tokens. The figure of H³ shows its slice, the half-plane. The figure
/// chooses its own view.
[[nodiscard]] FigureChoice cone_figure(const ConeChoice& choice, const TokenNames& tokens = {});

/// Return one line on what is visible but not part of that command or figure; empty if nothing is.
[[nodiscard]] std::string command_leaves_out(const ConeChoice& choice,
                                             const TokenNames& tokens = {});
[[nodiscard]] std::string figure_leaves_out(const ConeChoice& choice,
                                            const TokenNames& tokens = {});

}  // namespace conelab::desktop
