// The query behind `conelab lca`: two points, a cone family, the lowest common ancestor.
//
// The result holds exactly the fields of `conelab lca --json`, under the same names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/geometry/model.h"

namespace conelab::geometry {

struct LcaPotential {
  double u = 0, v = 0;
  std::optional<double> lca;  ///< None (null) where there is no common ancestor.
};

struct LcaResult {
  std::string cone;                                        ///< The family's name.
  std::vector<std::pair<std::string, double>> parameters;  ///< Every one used, defaults included.
  std::string model;                                       ///< The model of u, v and lca.
  Vector u, v;                                             ///< As given.
  double base = 0;                                         ///< base(u, v) of geometry.
  LcaPotential potential;                                  ///< s of each.
  std::string relation;                                    ///< relation_name(…).
  bool has_common_ancestor = false;
  std::optional<Vector> lca;  ///< None (null) where there is no common ancestor.
  double depth = 0;  ///< −height, or ρ; the extension where there is no common ancestor.
  double logit = 0;  ///< γ·depth; γ is 1 unless given as the parameter `gamma`.
};

/// `family` is a name of cone_family.h; `parameters` are the KEY=VALUE of `-p`, the family's own
/// keys and `gamma`; an empty `model` means the family's: half-space for infinite sources,
/// Poincaré ball with the source at the origin for finite ones.
/// Misuse (exit 2), each in one line: unknown family, key or model; a value that is not a number or
/// not positive; points of different dimensions; a point that is not finite, outside the model or
/// outside the family's domain, naming the bound; points so far apart that the answer overflows.
[[nodiscard]] LcaResult lca_query(const std::string& family,
                                  const std::map<std::string, std::string>& parameters,
                                  const Vector& u, const Vector& v, const std::string& model = "");

/// Two points of the half-plane.
struct PlanePair {
  Vector u, v;
};

/// u and v of a result in the plane that they span with the source, where cones, LCA and depth are
/// those of the result: themselves for d = 2; otherwise the feet (or directions) apart by `base`,
/// along the first axis from 0 (or symmetric about the vertical below the source).
[[nodiscard]] PlanePair plane_slice(const LcaResult& result);

/// "0.3,-1e-2,2" → numbers. Misuse, beginning with `label`: anything else.
[[nodiscard]] Vector parse_point(const std::string& text, const std::string& label);

}  // namespace conelab::geometry
