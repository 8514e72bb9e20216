#include "core/reference/header_formula.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace conelab::reference {
namespace {

std::vector<double> parameters_of(const SimilarityRow& row, const Problem& p, std::int64_t head) {
  std::vector<double> values;
  for (const ParameterInfo& info : row.parameters) {
    values.push_back(static_cast<double>(p.number(info.key, head)));
  }
  return token_parameters(row, std::move(values));
}

Real norm(const std::vector<Real>& x) {
  return std::sqrt(squared_distance(x, std::vector<Real>(x.size(), 0)));
}

/// A point as the header takes it: see Space. On the hyperboloid the base is a unit direction.
Point placed(const SimilarityRow& row, const Point& point, const double* values) {
  Point out = point;
  if (row.info.space == Space::hyperboloid) {
    const Real length = norm(point.base);
    for (Real& x : out.base) x /= length > 0 ? length : Real(1);
    out.height = std::asinh(length);
  }
  if (row.light != nullptr) out.gap = point.height - Real(row.light(values));
  return out;
}

Real measure(const SimilarityRow& row, const Point& u, const Point& v) {
  if (row.info.measure == Measure::squared_distance) return squared_distance(u.base, v.base);
  Real sum = 0;
  for (std::size_t i = 0; i < u.base.size(); ++i) sum += u.base[i] * v.base[i];
  return sum;
}

std::vector<double> token_values(const SimilarityRow& row, const Point& point,
                                 const double* values) {
  std::vector<double> out(static_cast<std::size_t>(std::max(1, row.values)));
  const Place place{static_cast<double>(point.height), static_cast<double>(point.gap)};
  row.token(place, values, out.data());
  return out;
}

}  // namespace

const SimilarityRow& row_of(const Problem& p) {
  const SimilarityRow* first = find_similarity(p.call.similarity, "");
  if (first == nullptr) misuse("the reference has no similarity {}", p.call.similarity);
  if (first->info.choice == nullptr) return *first;
  const auto word = p.words.find(first->info.choice->key);
  if (word == p.words.end()) return *first;
  const SimilarityRow* chosen = find_similarity(p.call.similarity, word->second);
  return chosen == nullptr ? *first : *chosen;
}

Real header_light(const Problem& p, std::int64_t head) {
  const SimilarityRow& row = row_of(p);
  if (row.light == nullptr) return std::numeric_limits<Real>::infinity();
  return row.light(parameters_of(row, p, head).data());
}

Real header_similarity(const Problem& p, std::int64_t head, const Point& u, const Point& v) {
  const SimilarityRow& row = row_of(p);
  const std::vector<double> parameters = parameters_of(row, p, head);
  std::vector<double> constants(static_cast<std::size_t>(std::max(1, row.constants)));
  row.constant(parameters.data(), constants.data());
  const Point query = placed(row, u, parameters.data());
  const Point key = placed(row, v, parameters.data());
  const auto x = static_cast<double>(measure(row, query, key));
  return row.score(x, token_values(row, query, parameters.data()).data(),
                   token_values(row, key, parameters.data()).data(), constants.data());
}

}  // namespace conelab::reference
