#include "core/token/model_map.h"

#include <array>

#include "core/base/cone_parameters.h"
#include "core/base/squared_norm.h"
#include "core/token/model_map_formulas.h"

namespace conelab {
namespace {

using namespace model_maps;

int all_coordinates(int feature) { return feature; }
int all_but_last(int feature) { return feature - 1; }

constexpr std::array xi_parameters{cone_height};

constexpr std::array exp_parameters{ParameterInfo{"base_height", 1.0, Domain::positive, true,
                                                  "height p_d of the point that Exp starts from"}};

constexpr std::array table{
    ModelMapRow{.name = "none",
                .about = "tokens as they are",
                .space = Space::euclidean,
                .inside_domain = true,
                .base_size = &all_coordinates,
                .place = &place_euclidean,
                .gradient = &euclidean_gradient},
    ModelMapRow{.name = "none",
                .about = "tokens are half-space coordinates (penumbral, umbral, hyperbolic with "
                         "model=halfspace)",
                .space = Space::half_space,
                .base_size = &all_but_last,
                .place = &place_half_space,
                .gradient = &half_space_gradient},
    ModelMapRow{.name = "psi",
                .about = "(x_: e^{x_d}, e^{x_d})",
                .paper = "Coneheads eq. 10",
                .space = Space::half_space,
                .exponential = ExponentialMap::psi,
                .base_size = &all_but_last,
                .place = &place_psi,
                .gradient = &psi_gradient},
    ModelMapRow{.name = "xi",
                .about = "(x_: h sigma(x_d), h sigma(x_d)), sigma(t) = 1/(1 + e^-t), below the "
                         "light at height h",
                .paper = "Coneheads eq. 11",
                .space = Space::half_space,
                .parameters = xi_parameters,
                .inside_domain = true,
                .exponential = ExponentialMap::xi,
                .base_size = &all_but_last,
                .place = &place_xi,
                .gradient = &xi_gradient},
    ModelMapRow{.name = "exp",
                .about = "(x_: S t, min(t, h)), S = sinh(|x|)/|x|, t = base_height/(cosh|x| - x_d "
                         "S): Exp at (0, ..., 0, base_height), clamped to the light at height h "
                         "where there is one",
                .paper = "Coneheads eq. 9",
                .space = Space::half_space,
                .parameters = exp_parameters,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_but_last,
                .place = &place_exp,
                .gradient = &exp_gradient},
    ModelMapRow{.name = "pi",
                .about = "(sinh(r) u, cosh r), u = x_:/|x_:|, the first axis where x_: = 0, r = "
                         "x_d",
                .paper = "Coneheads eq. 13",
                .space = Space::hyperboloid,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_but_last,
                .place = &place_pi,
                .gradient = &pi_gradient},
    ModelMapRow{.name = "none",
                .about = "tokens are points (x_s, x_t) of the hyperboloid (hyperbolic)",
                .space = Space::hyperboloid,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_but_last,
                .place = &place_hyperboloid,
                .gradient = &space_gradient},
    ModelMapRow{.name = "lift",
                .about = "(x, sqrt(1 + |x|^2)), the Weierstrass lift to the hyperboloid",
                .space = Space::hyperboloid,
                .inside_domain = true,
                .by_norm = true,
                .base_size = &all_coordinates,
                .place = &place_lift,
                .gradient = &space_gradient},
    ModelMapRow{.name = "none",
                .about = "tokens are points of the Poincare ball, the source at its origin "
                         "(penumbral-finite, umbral-finite, ganea)",
                .space = Space::ball,
                .by_norm = true,
                .base_size = &all_coordinates,
                .place = &place_ball,
                .gradient = &ball_gradient},
    ModelMapRow{
        .name = "polar",
        .about =
            "direction x_:/|x_:|, the first axis where x_: = 0, distance rho_0 + log(1 + e^{x_d}) "
            "from the source's centre; rho_0 = source_radius, object_radius, or asinh(2K)",
        .space = Space::ball,
        .inside_domain = true,
        .by_norm = true,
        .base_size = &all_but_last,
        .place = &place_polar,
        .gradient = &polar_gradient}};

}  // namespace

TokenNumbers token_numbers(const ModelMapRow& map, const ModelMapContext& context,
                           const double* x) {
  if (context.feature == 0) return {};
  const double norm2 = map.by_norm ? squared_norm(x, map.base_size(context.feature)) : 0;
  return {norm2, x[0], x[context.feature - 1]};
}

const char* place_token(const ModelMapRow& map, const ModelMapContext& context, const double* x,
                        double* base, EmbeddedPoint& place) {
  const int m = map.base_size(context.feature);
  Scaling scaling;
  const char* wrong = map.place(context, token_numbers(map, context, x), scaling, place);
  for (int i = 0; i < m; ++i) base[i] = scaling.along_first ? 0 : scaling.factor * x[i];
  if (scaling.along_first && m > 0) base[0] = scaling.factor;
  return wrong;
}

std::span<const ModelMapRow> model_map_table() { return table; }

const ModelMapRow* find_model_map(const std::string& name, Space space) {
  for (const ModelMapRow& row : table) {
    if (name == row.name && space == row.space) return &row;
  }
  return nullptr;
}

}  // namespace conelab
