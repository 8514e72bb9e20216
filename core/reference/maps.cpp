#include "core/reference/maps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"

namespace conelab::reference {
namespace {

std::vector<Real> all_but_last(const std::vector<Real>& x) { return {x.begin(), x.end() - 1}; }

std::vector<Real> scaled(std::vector<Real> x, Real factor) {
  for (Real& c : x) c *= factor;
  return x;
}

Real norm(const std::vector<Real>& x) {
  return std::sqrt(squared_distance(x, std::vector<Real>(x.size(), 0)));
}

Point psi(const MapSettings& s, const std::vector<Real>& x) {
  const Real exponent = s.published ? x.back() / static_cast<Real>(x.size()) : x.back();
  const Real height = std::exp(exponent);
  return {scaled(all_but_last(x), height), height, s.light - height};
}

Point xi(const MapSettings& s, const std::vector<Real>& x) {
  const Real height = s.light / (1 + std::exp(-x.back()));
  const Real light_distance = s.light / (1 + std::exp(x.back()));
  return {scaled(all_but_last(x), height), height, light_distance};
}

/// cosh s - x_d sinh(s)/s, as e^{-s} + (s - x_d) sinh(s)/s.
Real exp_denominator(const std::vector<Real>& x, Real s, Real sinhc) {
  const Real side = norm(all_but_last(x));
  const Real ahead = x.back() > 0 ? side * side / (s + x.back()) : s - x.back();
  return std::exp(-s) + ahead * sinhc;
}

Point exponential(const MapSettings& settings, const std::vector<Real>& x) {
  const Real s = norm(x);
  const Real sinhc = s == 0 ? Real(1) : std::sinh(s) / s;
  const Real unclamped = settings.base_height / exp_denominator(x, s, sinhc);
  const Real height = std::min(unclamped, settings.light);
  return {scaled(all_but_last(x), sinhc * unclamped), height, settings.light - height};
}

Point pseudo_polar(const std::vector<Real>& x) {
  std::vector<Real> direction = all_but_last(x);
  const Real length = norm(direction);
  if (direction.empty()) return {{std::sinh(std::abs(x.back()))}, std::cosh(x.back()), 0};
  if (length != 0) {
    for (Real& c : direction) c /= length;
  } else {
    direction.front() = 1;
  }
  const Real r = x.back();
  return {scaled(direction, std::sinh(r)), std::cosh(r), 0};
}

/// Returns x/|x|, or the first axis where x = 0.
std::vector<Real> unit(std::vector<Real> x) {
  const Real length = norm(x);
  if (length != 0) return scaled(std::move(x), 1 / length);
  if (!x.empty()) x.front() = 1;
  return x;
}

Point polar(const MapSettings& s, const std::vector<Real>& x) {
  return {unit(all_but_last(x)), s.light + std::log1p(std::exp(x.back())), 0};
}

Point as_it_is(const MapSettings& s, const std::vector<Real>& x) {
  if (s.model == Model::euclidean) return {x, 0, 0};
  if (s.model == Model::hyperboloid) {
    return {all_but_last(x), std::hypot(Real(1), norm(all_but_last(x))), 0};
  }
  if (s.model == Model::ball) return {unit(x), 2 * std::atanh(norm(x)), 0};
  return {all_but_last(x), x.back(), s.light - x.back()};
}

}  // namespace

Matrix transposed(const Matrix& m) {
  Matrix rows(m.front().size(), std::vector<Real>(m.size()));
  for (std::size_t r = 0; r < m.size(); ++r) {
    for (std::size_t c = 0; c < rows.size(); ++c) rows[c][r] = m[r][c];
  }
  return rows;
}

Real squared_distance(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

Point map_token(const std::string& name, const MapSettings& settings, const std::vector<Real>& x) {
  if (name == "none") return as_it_is(settings, x);
  if (settings.model == Model::half_space) {
    if (name == "psi") return psi(settings, x);
    if (name == "xi") return xi(settings, x);
    if (name == "exp") return exponential(settings, x);
  }
  if (settings.model == Model::hyperboloid && name == "pi") return pseudo_polar(x);
  if (settings.model == Model::hyperboloid && name == "lift") {
    return {x, std::hypot(Real(1), norm(x)), 0};
  }
  if (settings.model == Model::ball && name == "polar") return polar(settings, x);
  misuse("the reference has no map {} into this similarity's model", name);
}

}  // namespace conelab::reference
