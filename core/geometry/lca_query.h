// The lowest common ancestor of two points under a cone family, as `conelab lca` shows it.
//
// The fields of `LcaResult` are those of `conelab lca --json`, under the same names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/geometry/cone_law.h"

namespace conelab::geometry {

struct LcaPotential {
  double u = 0, v = 0;
  std::optional<double> lca;  ///< Absent (null in JSON) if there is no common ancestor.
};

struct LcaResult {
  std::string cone;                                        ///< The name of the family.
  std::vector<std::pair<std::string, double>> parameters;  ///< All parameters, defaults included.
  std::string model;                                       ///< The model of u, v and lca.
  Vector u, v;                                             ///< The points as given.
  double base = 0;                                         ///< base(u, v), see cone_family.h.
  LcaPotential potential;                                  ///< The potentials s.
  std::string relation;                                    ///< See `relation_name`.
  bool has_common_ancestor = false;
  std::optional<Vector> lca;  ///< Absent (null in JSON) if there is no common ancestor.
  DepthMeasure measure = DepthMeasure::height;
  double depth = 0;  ///< Of the LCA (cone_law.h); if there is none, of its extension.
  double logit = 0;  ///< γ·depth, where γ is 1 unless the parameter `gamma` is given.
};

/// Computes the LCA of u and v. `family` is a name of cone_family.h. `parameters` are the KEY=VALUE
/// of the option `-p`: keys of the family, `gamma`, and for infinite sources `depth`, a word of
/// cone_law.h. An empty `model` selects that of the family: the half-space for infinite sources,
/// and the Poincaré ball with the source at the origin for finite ones.
/// Throws misuse with a message of one line: for an unknown family, key or model; for a value that
/// is not a positive number; for points of different dimensions; for a point that is not finite, or
/// outside the model or the domain of the family (the message names the bound); and for points so
/// far from each other that the answer overflows.
[[nodiscard]] LcaResult lca_query(const std::string& family,
                                  const std::map<std::string, std::string>& parameters,
                                  const Vector& u, const Vector& v, const std::string& model = "");

/// Two points of the half-plane, [2] each.
struct PlanePair {
  Vector u, v;
};

/// Returns u and v of a result as points of the half-plane that they span with the source. Cones,
/// LCA and depth are the same there. For d = 2 these are the points themselves. For d > 2, if the
/// base of the cones is a plane, u has its foot at 0 and v at `LcaResult::base`. If it is a sphere,
/// the angle between their directions is `base`, and the vertical line below the source bisects it.
[[nodiscard]] PlanePair plane_slice(const LcaResult& result);

/// Parses a point such as "0.3,-1e-2,2". Throws misuse for any other text; the message begins with
/// `label`.
[[nodiscard]] Vector parse_point(const std::string& text, const std::string& label);

}  // namespace conelab::geometry
