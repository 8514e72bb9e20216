#include "tests/core/tiles/plain_formulas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace conelab::tests {
namespace {
namespace formulas {  // Sources of tests are compiled together, and these names are short.

/// Returns f(a) with the derivatives of a times `slope` = df/da.
Dual of_one(float value, float slope, const Dual& a) {
  Dual out{value, {}};
  for (int i = 0; i < variables; ++i) out.by[i] = a.by[i] == 0 ? 0 : slope * a.by[i];
  return out;
}
Dual of_two(float value, float by_a, const Dual& a, float by_b, const Dual& b) {
  Dual out = of_one(value, by_a, a);
  const Dual other = of_one(value, by_b, b);
  for (int i = 0; i < variables; ++i) out.by[i] += other.by[i];
  return out;
}

Dual operator+(const Dual& a, const Dual& b) { return of_two(a.value + b.value, 1, a, 1, b); }
Dual operator-(const Dual& a, const Dual& b) { return of_two(a.value - b.value, 1, a, -1, b); }
Dual operator*(const Dual& a, const Dual& b) {
  return of_two(a.value * b.value, b.value, a, a.value, b);
}
Dual operator/(const Dual& a, const Dual& b) {
  const float ratio = a.value / b.value;
  return of_two(ratio, 1 / b.value, a, -ratio / b.value, b);
}
Dual operator+(const Dual& a, float b) { return of_one(a.value + b, 1, a); }
Dual operator-(const Dual& a, float b) { return of_one(a.value - b, 1, a); }
Dual operator-(float a, const Dual& b) { return of_one(a - b.value, -1, b); }
Dual operator*(float a, const Dual& b) { return of_one(a * b.value, a, b); }
Dual operator/(const Dual& a, float b) { return of_one(a.value / b, 1 / b, a); }
Dual operator/(float a, const Dual& b) { return Dual{a, {}} / b; }

/// The derivative of a root at 0 is taken as 0.
Dual sqrt(const Dual& a) {
  const float root = std::sqrt(a.value);
  return of_one(root, root > 0 ? 0.5F / root : 0, a);
}
Dual log(const Dual& a) { return of_one(std::log(a.value), 1 / a.value, a); }
Dual sin(const Dual& a) { return of_one(std::sin(a.value), std::cos(a.value), a); }
Dual sinh(const Dual& a) { return of_one(std::sinh(a.value), std::cosh(a.value), a); }
Dual cosh(const Dual& a) { return of_one(std::cosh(a.value), std::sinh(a.value), a); }
Dual asinh(const Dual& a) { return of_one(std::asinh(a.value), 1 / std::hypot(1.0F, a.value), a); }
/// Returns the angle of the direction (x, y).
Dual atan2(const Dual& y, const Dual& x) {
  const float norm2 = x.value * x.value + y.value * y.value;
  return of_two(std::atan2(y.value, x.value), x.value / norm2, y, -y.value / norm2, x);
}
/// Equal numbers share the derivative equally.
Dual max(const Dual& a, const Dual& b) {
  if (a.value != b.value) return a.value > b.value ? a : b;
  return of_two(a.value, 0.5F, a, 0.5F, b);
}

Dual squared(const Dual& a) { return a * a; }

using Pair = std::array<Dual, variables>;

Dual dot(const float* p, const Pair& pair) { return p[0] * pair[measure_x]; }
Dual additive(const float*, const Pair& pair) { return pair[measure_x]; }
Dual gat(const float* p, const Pair& pair) {
  const Dual& x = pair[measure_x];
  return x.value > 0 ? x : p[0] * x;
}
Dual laplacian(const float* p, const Pair& pair) { return -p[0] * sqrt(pair[measure_x]); }

/// Returns sinh^2 of half the distance of two points, given in polar coordinates.
Dual half_distance2(const Pair& pair) {
  const Dual &u = pair[query_height], &v = pair[key_height];
  return squared(sinh((u - v) / 2)) + sinh(u) * sinh(v) * pair[measure_x] / 4;
}
Dual hyperboloid(const float* p, const Pair& pair) {
  return -2 * p[0] * asinh(sqrt(half_distance2(pair))) - p[1];
}
Dual half_space(const float* p, const Pair& pair) {
  const Dual &u = pair[query_height], &v = pair[key_height];
  const Dual chord = sqrt(pair[measure_x] + squared(u - v));
  return -2 * p[0] * asinh(chord / (2 * sqrt(u * v))) - p[1];
}

/// Returns the height of the lowest common ancestor below a light of height h. With s^2 = h^2 -
/// x_d^2 for each token, h - s is x_d^2 / (h + s).
Dual penumbral_height(const Pair& pair, float h) {
  const Dual &u = pair[query_height], &v = pair[key_height];
  const Dual su = sqrt(pair[query_light] * (u + h)), sv = sqrt(pair[key_light] * (v + h));
  const Dual distance = sqrt(pair[measure_x]);
  if (distance.value <= su.value + sv.value) {
    const Dual pu = squared(u) / (su + h), pv = squared(v) / (sv + h);
    const Dual depth = max(max(pu, pv), (pu + pv + distance) / 2);
    return sqrt(depth * (2 * h - depth));
  }
  const Dual tilt = (u - v) * (u + v) / (2 * distance);
  return sqrt(pair[measure_x] / 4 + (squared(u) + squared(v)) / 2 + squared(tilt));
}
Dual penumbral(const float* p, const Pair& pair) { return -p[0] * penumbral_height(pair, p[1]); }
Dual penumbral_distance(const float* p, const Pair& pair) {
  return -p[0] * log(penumbral_height(pair, p[1]) / p[1]);
}
Dual penumbral_reference(const float* p, const Pair& pair) {
  constexpr float epsilon = 1e-6F;
  const float h = p[1];
  const Dual &u = pair[query_height], &v = pair[key_height];
  const Dual au = squared(u), av = squared(v);
  const Dual su2 = pair[query_light] * (u + h), sv2 = pair[key_light] * (v + h);
  const Dual su = sqrt(su2 + epsilon), sv = sqrt(sv2 + epsilon);
  const Dual distance = sqrt(pair[measure_x]);
  if (distance.value <= su.value + std::sqrt(sv2.value)) {
    return -p[0] * max(max(au, av), h * h - squared((su + sv - distance) / 2));
  }
  const Dual centre = (pair[measure_x] + av - au) / (2 * distance + epsilon);
  return -p[0] * (squared(centre) + au);
}

Dual umbral_height(const Pair& pair, float r) {
  const Dual &u = pair[query_height], &v = pair[key_height];
  return max(max(u, v), sqrt(pair[measure_x]) / (2 * std::sinh(r)) + (u + v) / 2);
}
Dual umbral(const float* p, const Pair& pair) { return -p[0] * umbral_height(pair, p[1]); }
Dual umbral_distance(const float* p, const Pair& pair) {
  return -p[0] * log(umbral_height(pair, p[1]));
}

/// Returns the angle between two unit vectors, given their squared distance, and its sine.
Dual angle(const Dual& x) { return 2 * atan2(sqrt(x), sqrt(4 - x)); }
Dual sine_of_angle(const Dual& x) { return sqrt(x * (4 - x)) / 2; }
/// Returns the angle g of the finite cones from those of the tokens.
Dual cone_angle(const Dual& u, const Dual& v, const Dual& x) {
  return max(max(u, v), (u + v + angle(x)) / 2);
}

/// With s of the cones' definition, returns arccos(tanh R) - s by its sine and cosine:
/// sinh R / (sinh^2 rho (coth rho + f)) and tanh^2 R coth rho + f / cosh^2 R, where
/// f^2 = 1 - sinh^2 R / sinh^2 rho.
Dual penumbral_angle(const Dual& rho, const Dual& beyond, float radius) {
  const Dual s = sinh(rho);
  const Dual f = sqrt(sinh(beyond) * sinh(rho + radius)) / s;
  const Dual coth = cosh(rho) / s;
  const float t = std::tanh(radius), c = std::cosh(radius);
  return atan2(std::sinh(radius) / (s * s * (coth + f)), t * t * coth + f / (c * c));
}
/// Without a common ancestor, the distance of the geodesic from the centre.
Dual penumbral_depth(const Pair& pair, float radius) {
  const Dual &u = pair[query_height], &v = pair[key_height], &x = pair[measure_x];
  const Dual g = cone_angle(penumbral_angle(u, pair[query_light], radius),
                            penumbral_angle(v, pair[key_light], radius), x);
  const float most = std::atan2(1.0F, std::sinh(radius));  // arccos(tanh R)
  if (g.value <= most) return asinh(std::tanh(radius) / sqrt(sin(g) * sin(2 * most - g)));
  const Dual half = half_distance2(pair);
  return asinh(sinh(u) * sinh(v) * sine_of_angle(x) / (2 * sqrt(half * (half + 1))));
}
Dual penumbral_finite(const float* p, const Pair& pair) {
  return p[0] * penumbral_depth(pair, p[1]);
}
Dual ganea(const float* p, const Pair& pair) {
  return p[0] * penumbral_depth(pair, std::asinh(2 * p[1]));
}

Dual umbral_angle(const Dual& rho, const Dual& beyond, float radius) {
  return atan2(Dual{std::sinh(radius), {}}, sqrt(sinh(beyond) * sinh(rho + radius)));
}
Dual umbral_finite(const float* p, const Pair& pair) {
  const Dual &u = pair[query_height], &v = pair[key_height], &x = pair[measure_x];
  const Dual g = cone_angle(umbral_angle(u, pair[query_light], p[1]),
                            umbral_angle(v, pair[key_light], p[1]), x);
  if (g.value <= std::acos(0.0F)) return p[0] * asinh(std::sinh(p[1]) / sin(g));
  const Dual a = sinh(u), b = sinh(v);
  return p[0] * asinh(a * b * sine_of_angle(x) / sqrt(squared(a - b) + a * b * x));
}

struct Row {
  std::string_view name;
  std::string_view words;  ///< Those of SimilarityInfo::words, with a space after each.
  PlainFormula formula;
};
constexpr Row rows[] = {{"dot", "", dot},
                        {"laplacian", "", laplacian},
                        {"hyperbolic", "hyperboloid ", hyperboloid},
                        {"hyperbolic", "halfspace ", half_space},
                        {"penumbral", "paper height ", penumbral},
                        {"penumbral", "paper distance ", penumbral_distance},
                        {"penumbral", "reference height ", penumbral_reference},
                        {"umbral", "paper height ", umbral},
                        {"umbral", "paper distance ", umbral_distance},
                        {"umbral", "reference height ", umbral},
                        {"penumbral-finite", "", penumbral_finite},
                        {"umbral-finite", "", umbral_finite},
                        {"ganea", "", ganea},
                        {"gat", "", gat},
                        {"additive", "", additive}};

}  // namespace formulas
}  // namespace

PlainFormula plain_formula(const SimilarityRow& row) {
  std::string words;
  for (const ChosenWord& w : row.info.words) {
    if (w.choice != nullptr) words += w.word + std::string(" ");
  }
  for (const formulas::Row& r : formulas::rows) {
    if (r.name == row.info.name && r.words == words) return r.formula;
  }
  return nullptr;
}

std::array<double, 1 + variables> in_double(const SimilarityRow& row, const std::vector<double>& p,
                                            const PairNumbers& pair) {
  const std::vector<double> own = token_parameters(row, p);
  double q[max_values] = {}, k[max_values] = {}, c[max_constants] = {}, unused[64] = {};
  const EmbeddedPoint query{pair[query_height], pair[query_light]};
  const EmbeddedPoint key{pair[key_height], pair[key_light]};
  row.constant(p.data(), c);
  row.token(query, own.data(), q);
  row.token(key, own.data(), k);
  const PairSlope s = row.slope(pair[measure_x], q, k, c);
  EmbeddedPoint by_query, by_key;
  row.token_gradient(query, own.data(), s.query, by_query, unused);
  row.token_gradient(key, own.data(), s.key, by_key, unused);
  return {
      s.logit, s.x, by_query.height, by_query.light_distance, by_key.height, by_key.light_distance};
}

Dual evaluate(PlainFormula formula, const SimilarityRow& row, const std::vector<float>& p,
              const PairNumbers& pair) {
  if (formula == nullptr) {
    const auto exact = in_double(row, {p.begin(), p.end()}, pair);
    Dual found{static_cast<float>(exact[0]), {}};
    std::copy(exact.begin() + 1, exact.end(), found.by.begin());
    return found;
  }
  std::array<Dual, variables> numbers;
  for (std::size_t i = 0; i < pair.size(); ++i) {
    numbers[i].value = pair[i];
    numbers[i].by[i] = 1;
  }
  return formula(p.data(), numbers);
}

}  // namespace conelab::tests
