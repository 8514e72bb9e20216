// The contract of a similarity, and the types that every header of this folder uses.
//
// A similarity is a formula for the logit of one pair of a query and a key. The driver passes it
//   x          the measure of the pair, see `Measure`, a function of the tokens' base coordinates,
//   q[], k[]   `values` numbers per token, computed once per token by `token`,
//   c[]        `constants` numbers per head, computed once per head by `constant`.
// `score` returns the logit, `slope` the logit with its partial derivatives. A similarity owns no
// loops.
//
// The potential of a token is one number, computed from its height and its distance from the light,
// through which these enter the logit (for penumbral a length, for finite cones an angle; it may be
// the height itself).
// Derivatives with respect to tokens are taken by potentials:
//   token_slope   is true if the logit depends on potentials. Otherwise it depends on the tokens by
//       the measure alone, and the two functions for tokens do nothing.
//   token(place, p, q)   computes the numbers q[] of a token, given the parameters p[]. It may be a
//       template over the types of the place and of the numbers: under the maps psi and xi, the
//       kernels then compute several tokens at a time (core/similarity/exponential_place.h).
//   token_gradient(place, p, d, gradient, dp)   adds the derivatives by the height and the distance
//       from the light to `gradient`, and those by the parameters to dp[], given
//       d = dL/d(potential).
//   constant(p, c)   computes the numbers c[] of a head.
//   constant_gradient(p, dc, dp)   adds the sum over i of dc[i] dc_i/dp_j to dp[j] for every j.
// The concept `Similarity` below lists what a similarity must have; table.cpp checks it at compile
// time. A similarity may also have
//   proportional   is true if the logit is c[0] times an expression without c[0]. The driver can
//       then fold log2 e into c[0] and use powers of 2 (core/simd/weight_rows.h).
//   one_pass   is true if the formula is so short that it can share the registers with the
//       exponential (core/simd/weight_rows.h).
//   light   returns the radius of the source or object that the parameters define (Space::ball).
//   shared, share   `share` computes from the parameters the `shared` numbers that all tokens of a
//       head use. `token` finds them behind the parameters.
//   is_far, far_score, far_slope, far_potential   are shorter formulas for rows in which every pair
//       is far, as decided by is_far. Their results must be finite. far_slope returns derivatives
//       with respect to x, to an auxiliary potential of its choice, and to the logarithms of the
//       first constants. far_potential converts the sum of a token's derivatives with respect to
//       the auxiliary potential to a derivative with respect to the token's potential.
//   is_closed, exponential   is_closed returns whether e^logit has a closed form for these
//       constants (it may always be true), and exponential returns that value, which must be at
//       most e^44. Weights are then computed without a logarithm and an exponential.
#pragma once

#include <concepts>
#include <string_view>

#include "core/base/parameter.h"
#include "core/similarity/number.h"

namespace conelab {

/// The quantity that the driver computes for each pair from the base coordinates q, k [m]:
///   product           q.k
///   squared_distance  |q - k|^2
///   tanh_sum          sum_f k_{m/2+f} tanh(q_f + k_f), f < m/2: the second half of a key holds the
///                     weights, that of a query is not read. m/2 is a multiple of
///                     tanh_sum_multiple.
enum class Measure { product, squared_distance, tanh_sum };
constexpr int tanh_sum_multiple = 16;

/// The space in which the mapped tokens lie. It decides which maps a similarity accepts and how a
/// token is stored:
///   euclidean    base = all d coordinates; no height
///   half_space   base = x_: [d-1], height = x_d > 0
///   hyperboloid  base = unit direction [d], height = distance r >= 0 from the origin
///   ball         base = unit direction [d], height = distance rho > 0 from the centre
enum class Space { euclidean, half_space, hyperboloid, ball };

/// The height of a mapped token; its base coordinates are stored elsewhere. `light_distance` is the
/// distance from the token to the light, computed without cancellation: h - height below a
/// horosphere of height h, height - rho_0 in a ball. The other spaces do not use it.
struct EmbeddedPoint {
  double height = 0;
  double light_distance = 0;
};

/// The largest number of values per token and of constants per head. They are sizes of arrays.
constexpr int max_values = 7;
constexpr int max_constants = 4;

/// One value of a choice.
struct ChosenWord {
  const ParameterInfo* choice;
  const char* word;
};

/// The names of a similarity in lists, menus and files.
struct SimilarityInfo {
  const char* name;
  const char* about;  ///< The formula in one line.
  const char* paper;  ///< The paper and the equation; empty if there is none.
  Space space;
  Measure measure;
  const char* default_map;
  /// The values of choices that select this row among those of its name, which all have the same
  /// choices; null behind the last.
  ChosenWord words[2] = {};

  [[nodiscard]] constexpr bool has_word(std::string_view word) const {
    for (const ChosenWord& w : words) {
      if (w.choice != nullptr && word == w.word) return true;
    }
    return false;
  }
};

/// The choice between the formula of the paper and that of the authors' published code.
inline constexpr ParameterInfo convention{
    "convention",     0, Domain::choice, false, "the paper's formula, or the published code's",
    "paper|reference"};
/// The choice between the height of an infinite cone's LCA and its logarithm, which is the distance
/// from the light up to sign and a constant.
inline constexpr ParameterInfo lca_depth{
    "depth",          0, Domain::choice, false, "the LCA's height, or its distance from the light",
    "height|distance"};

/// A logit and its partial derivatives. `query` and `key` are the derivatives with respect to the
/// potentials of the tokens, from which `token_gradient` continues; `constant` holds those with
/// respect to the constants.
template <class N, int constants>
struct Slope {
  N logit;
  N x;
  N query;
  N key;
  N constant[constants];
};

/// Returns `condition ? yes : no` for each lane and each member.
template <class M, class N, int constants>
CONELAB_FORMULA inline Slope<N, constants> select(const M& condition,
                                                  const Slope<N, constants>& yes,
                                                  const Slope<N, constants>& no) {
  Slope<N, constants> s{select(condition, yes.logit, no.logit),
                        select(condition, yes.x, no.x),
                        select(condition, yes.query, no.query),
                        select(condition, yes.key, no.key),
                        {}};
  for (int i = 0; i < constants; ++i) {
    s.constant[i] = select(condition, yes.constant[i], no.constant[i]);
  }
  return s;
}

/// The members that kernels and the table require of a similarity.
template <class S>
concept Similarity = requires(const double* p, const EmbeddedPoint& place, double* out,
                              EmbeddedPoint& gradient) {
  { S::info } -> std::convertible_to<const SimilarityInfo&>;
  { S::parameters[0] } -> std::convertible_to<const ParameterInfo&>;
  { S::values } -> std::convertible_to<int>;
  { S::constants } -> std::convertible_to<int>;
  { S::token_slope } -> std::convertible_to<bool>;
  S::constant(p, out);
  S::constant_gradient(p, p, out);
  S::token(place, p, out);
  S::token_gradient(place, p, 0.0, gradient, out);
  { S::score(0.0, p, p, p) } -> std::same_as<double>;
  { S::slope(0.0, p, p, p) } -> std::same_as<Slope<double, S::constants>>;
};

template <class S>
concept HasLight = requires(const double* p) {
  { S::light(p) } -> std::same_as<double>;
};

template <class S>
concept HasShared = requires(const double* p, double* out) {
  { S::shared } -> std::convertible_to<int>;
  S::share(p, out);
};
/// A similarity with shorter formulas for rows in which every pair is far.
template <class S>
concept HasFar = requires(const float* p, float* out) {
  { S::is_far(0.0F, 0.0F, p, p) } -> std::same_as<bool>;
  { S::far_score(0.0F, p, p, p) } -> std::same_as<float>;
  { S::far_slope(0.0F, p, p, p).logit } -> std::convertible_to<float>;
  { S::far_potential(0.0F, p, out) } -> std::same_as<float>;
};
template <class S>
concept HasPartOfFar = requires {
  &S::template is_far<float>;
}
|| requires { &S::template far_score<float>; }
|| requires { &S::template far_slope<float>; }
|| requires { &S::template far_potential<float>; };

/// A similarity with a closed form of e^logit.
template <class S>
concept HasExponential = requires(const float* p) {
  { S::is_closed(p) } -> std::same_as<bool>;
  { S::exponential(0.0F, p, p, p) } -> std::same_as<float>;
};
template <class S>
concept HasPartOfExponential = requires {
  &S::template is_closed<float>;
}
|| requires { &S::template exponential<float>; };

}  // namespace conelab
