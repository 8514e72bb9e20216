#include "core/reference/evaluate.h"

#include <cmath>
#include <limits>

#include "core/reference/maps.h"
#include "core/reference/similarities.h"
#include "core/reference/structured.h"

namespace conelab::reference {
namespace {

constexpr Real nothing = -std::numeric_limits<Real>::infinity();

/// A token of a head as a point of the similarity's model.
Point point_of(const Problem& p, const Tensor4<Real>& tokens, std::int64_t b, std::int64_t head,
               std::int64_t row) {
  const Real* x = tokens.row(b, head, row);
  const bool is_query = &tokens == &p.query;
  return map_token(p.call.map, map_settings(p, head),
                   mapped_token(p, head, is_query, row, {x, x + tokens.shape.feature}));
}

void logits_of_head(const Problem& p, std::int64_t b, std::int64_t head, Tensor4<Real>& logits) {
  const std::int64_t n_q = p.query.shape.token;
  const std::int64_t n_k = p.key.shape.token;
  std::vector<Point> keys, stopped;
  for (std::int64_t j = 0; j < n_k; ++j) {
    keys.push_back(point_of(p, p.key, b, head, j));
    stopped.push_back(point_of(p, p.stopped_key, b, head, j));
  }
  for (std::int64_t i = 0; i < n_q; ++i) {
    const Point query = point_of(p, p.query, b, head, i);
    for (std::int64_t j = 0; j < n_k; ++j) {
      if (!sees(p, b, i, j)) continue;
      const Point& key = (is_stopped(p, i, j) ? stopped : keys)[static_cast<std::size_t>(j)];
      logits.at(b, head, i, j) = similarity(p, head, query, key) + position_bias(p, head, i, j);
    }
  }
}

/// Weights of one row [n_k] from its logits; returns the log-sum-exp.
Real softmax_row(const Real* logit, std::int64_t n_k, Real* weight) {
  Real largest = nothing;
  for (std::int64_t j = 0; j < n_k; ++j) {
    if (std::isnan(logit[j]) || logit[j] > largest) largest = logit[j];
    if (std::isnan(largest)) break;
  }
  if (largest == nothing) return nothing;
  Real sum = 0;
  for (std::int64_t j = 0; j < n_k; ++j) sum += std::exp(logit[j] - largest);
  for (std::int64_t j = 0; j < n_k; ++j) weight[j] = std::exp(logit[j] - largest) / sum;
  return largest + std::log(sum);
}

Real sigmoid_row(const Real* logit, std::int64_t n_k, Real* weight) {
  Real sum = 0;
  for (std::int64_t j = 0; j < n_k; ++j) {
    weight[j] = 1 / (1 + std::exp(-logit[j]));
    sum += weight[j];
  }
  return std::log(sum);
}

Real lorentz_factor(const Real* v, std::int64_t size) {
  Real norm2 = 0;
  for (std::int64_t c = 0; c < size; ++c) norm2 += v[c] * v[c];
  return 1 / std::sqrt(1 - norm2);
}

void aggregate_row(const Problem& p, std::int64_t b, std::int64_t head, std::int64_t i,
                   const Real* logit, const Real* weight, Real* output) {
  const bool einstein = p.call.aggregate == "einstein";
  const std::int64_t size = p.value.shape.feature;
  Real divisor = 0;
  for (std::int64_t j = 0; j < p.key.shape.token; ++j) {
    if (logit[j] == nothing) continue;
    const Real* v = (is_stopped(p, i, j) ? p.stopped_value : p.value).row(b, head, j);
    const Real share = einstein ? weight[j] * lorentz_factor(v, size) : weight[j];
    for (std::int64_t c = 0; c < size; ++c) output[c] += share * v[c];
    divisor += share;
  }
  if (!einstein || divisor == 0) return;
  for (std::int64_t c = 0; c < size; ++c) output[c] /= divisor;
}

}  // namespace

Result evaluate(const Problem& p) {
  if (!is_attention(p.call)) return structured(p);
  const Shape4 q = p.query.shape;
  const std::int64_t n_k = p.key.shape.token;
  Result r{Tensor4<Real>({q.batch, q.head, q.token, p.value.shape.feature}),
           Tensor4<Real>({q.batch, q.head, q.token, 1}),
           Tensor4<Real>({q.batch, q.head, q.token, n_k}),
           Tensor4<Real>({q.batch, q.head, q.token, n_k}, nothing)};
  const bool softmax = p.call.weights == "softmax";
  for (std::int64_t b = 0; b < q.batch; ++b) {
    for (std::int64_t h = 0; h < q.head; ++h) {
      logits_of_head(p, b, h, r.logits);
      for (std::int64_t i = 0; i < q.token; ++i) {
        const Real* logit = r.logits.row(b, h, i);
        Real* weight = r.weights.row(b, h, i);
        r.lse.at(b, h, i, 0) =
            softmax ? softmax_row(logit, n_k, weight) : sigmoid_row(logit, n_k, weight);
        aggregate_row(p, b, h, i, logit, weight, r.output.row(b, h, i));
      }
    }
  }
  return r;
}

}  // namespace conelab::reference
