#include "core/reference/logits.h"

#include <cmath>

#include "core/base/error.h"
#include "core/reference/finite_cones.h"
#include "core/reference/header_formula.h"
#include "core/reference/hyperbolic.h"
#include "core/reference/maps.h"
#include "core/reference/penumbral.h"
#include "core/reference/umbral.h"

namespace conelab::reference {
namespace {

/// rho_0 of the finite cones: the radius of the light, or of the objects.
Real source_radius(const Problem& p, std::int64_t head) {
  if (p.call.similarity == "ganea") return std::asinh(2 * p.number("K", head));
  const bool umbral = p.call.similarity == "umbral-finite";
  return p.number(umbral ? "object_radius" : "source_radius", head);
}

bool is_finite_cone(const std::string& similarity) {
  return similarity == "penumbral-finite" || similarity == "umbral-finite" || similarity == "ganea";
}

Model model_of(const Problem& p) {
  switch (row_of(p).info.space) {
    case Space::euclidean:
      return Model::euclidean;
    case Space::half_space:
      return Model::half_space;
    case Space::hyperboloid:
      return Model::hyperboloid;
    case Space::ball:
      return Model::ball;
  }
  misuse("the reference does not know where {} lives", p.call.similarity);
}

Real product(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Real penumbral(const Problem& p, std::int64_t head, const Point& u, const Point& v) {
  const Real h = p.number("height", head);
  return p.published() ? published_penumbral_height2(u, v, h) : penumbral_height(u, v, h);
}

Real hyperbolic_distance(const Problem& p, const Point& u, const Point& v) {
  return model_of(p) == Model::hyperboloid ? hyperboloid_distance(u, v) : half_space_distance(u, v);
}

}  // namespace

Point map_row(const Problem& p, const Tensor4<Real>& tokens, std::int64_t b, std::int64_t head,
              std::int64_t row) {
  const Real* x = tokens.row(b, head, row);
  const bool lit = p.call.similarity == "penumbral" || p.call.map == "xi";
  Real light = lit ? p.number("height", head) : header_light(p, head);
  if (is_finite_cone(p.call.similarity)) light = source_radius(p, head);
  const MapSettings settings{model_of(p), light, p.number("base_height", head), p.published()};
  return map_token(p.call.map, settings, {x, x + tokens.shape.feature});
}

Real similarity(const Problem& p, std::int64_t head, const Point& u, const Point& v) {
  const std::string& name = p.call.similarity;
  if (name == "dot") return p.number("scale", head) * product(u.base, v.base);
  if (name == "laplacian") {
    return -p.number("gamma", head) * std::sqrt(squared_distance(u.base, v.base));
  }
  if (name == "hyperbolic") {
    return -p.number("beta", head) * hyperbolic_distance(p, u, v) - p.number("offset", head);
  }
  if (name == "penumbral") return -p.number("gamma", head) * penumbral(p, head, u, v);
  if (name == "umbral") {
    return -p.number("gamma", head) * umbral_height(u, v, p.number("radius", head));
  }
  if (name == "umbral-finite") {
    return p.number("gamma", head) * umbral_depth(u, v, source_radius(p, head));
  }
  if (is_finite_cone(name)) {
    return p.number("gamma", head) * penumbral_depth(u, v, source_radius(p, head));
  }
  return header_similarity(p, head, u, v);
}

Real position_bias(const Problem& p, std::int64_t head, std::int64_t offset) {
  const auto x = static_cast<Real>(offset);
  if (p.call.bias == "none") return 0;
  if (p.call.bias == "alibi") return -p.number("alibi_slope", head) * std::abs(x);
  if (p.call.bias == "hype") {
    return -p.number("hype_tau", head) * std::sinh(p.number("hype_mu", head) * x);
  }
  misuse("the reference has no bias {}", p.call.bias);
}

}  // namespace conelab::reference
