// What a similarity is: the vocabulary that every header of this folder uses.
//
// A similarity is a formula for the logit of one query-key pair. The driver hands it
//   x          the pair's measure: the product q.k or the squared distance |q - k|^2 of the
//              placed tokens' base coordinates, see `Measure`,
//   q[], k[]   `values` numbers per token, computed once per token by `token`,
//   c[]        `constants` numbers per head, computed once per head by `constant`,
// and takes back the logit (`score`), or the logit with its partial derivatives (`slope`). It owns
// no loops. `Similarity` below is the contract; table.cpp holds every similarity to it. Optional
// are
//   proportional   true: the logit is c[0] times what does not depend on it, so that with c[0]
//              times log2 e it is one to base 2, core/simd/weight_rows.h
//   one_pass   true: the formula is short enough to share registers with exp,
//              core/simd/weight_rows.h
//   light      the distance of the light that its parameters stand for (Space::ball only)
//   shared, share  how many numbers the tokens of a head have in common, and what makes them of its
//              parameters; `token` finds them behind the parameters
//   is_far, far_score, far_slope, far_potential   shorter formulas for rows all of whose pairs lie
//              far apart, all of them or none; no result is infinite. far_slope is with respect to
//              x, to a potential of its own, and to the logarithms of the first constants; what the
//              pairs of a token add up to in that potential, far_potential takes to the token's
//              own.
//   is_closed, exponential   whether e^logit has a closed form under these constants, and that
//              form: weights then take no logarithm and no exponential. At most e^44.
#pragma once

#include <concepts>

#include "core/base/parameter.h"
#include "core/similarity/number.h"

namespace conelab {

/// What the driver computes for each pair.
enum class Measure { product, squared_distance };

/// Where tokens live after the map; decides which maps a similarity accepts and what a token is:
///   euclidean    base = all d coordinates; no height
///   half_space   base = x_: (d-1), height = x_d
///   hyperboloid  base = unit direction, height = distance r >= 0 from the origin
///   ball         base = unit direction, height = distance rho from the centre
enum class Space { euclidean, half_space, hyperboloid, ball };

/// A token placed by a map, its base coordinates apart. `gap` is the distance to the light without
/// cancellation: h - height under a horosphere of height h, height - rho_0 in the ball; unused
/// elsewhere.
struct Place {
  double height = 0;
  double gap = 0;
};

/// The most per-token values and per-head constants of any similarity: sizes of fixed arrays.
constexpr int max_values = 7;
constexpr int max_constants = 4;

/// Names of a similarity for lists, menus and files.
struct SimilarityInfo {
  const char* name;
  const char* about;  ///< The formula in one line, and the paper.
  Space space;
  Measure measure;
  const char* default_map;
  const ParameterInfo* choice;  ///< Of a row that serves one word of a choice: `convention` ...
  const char* word;             ///< ... "reference". Null and empty where there is one row only.
};

/// The choice between a paper's formula and that of the code published with it.
inline constexpr ParameterInfo convention{
    "convention",     0, Domain::choice, false, "the paper's formula, or the published code's",
    "paper|reference"};

/// A logit and its partial derivatives. `query` and `key` are with respect to the token's
/// potential, the one number that `token_gradient` takes further; `constant` to the constants.
template <class N, int constants>
struct Slope {
  N logit;
  N x;
  N query;
  N key;
  N constant[constants];
};

/// `condition ? yes : no`, lane by lane.
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

/// What the kernels and the table take of a similarity.
template <class S>
concept Similarity = requires(const double* p, const Place& place, double* out, Place& gradient) {
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
/// A similarity with shorter formulas for rows all of whose pairs lie far apart.
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
