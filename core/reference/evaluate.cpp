#include "core/reference/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/reference/maps.h"
#include "core/reference/similarities.h"
#include "core/reference/structured.h"

namespace conelab::reference {
namespace {

constexpr Real nothing = -std::numeric_limits<Real>::infinity();

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
      if (!sees(p, b, head, i, j)) continue;
      const Point& key = (is_stopped(p, i, j) ? stopped : keys)[static_cast<std::size_t>(j)];
      Real& logit = logits.at(b, head, i, j);
      logit = similarity(p, head, query, key) + position_bias(p, b, head, i, j);
      if (!p.has_number("soft_cap")) continue;
      const Real c = p.number("soft_cap", head);
      if (logit != nothing) logit = c * std::tanh(logit / c);
    }
  }
}

/// Softmax weights of `count` logits that lie `stride` apart, as the weights do, and of one more
/// logit, whose weight is left out; returns the log-sum-exp.
Real softmax(const Real* logit, std::int64_t count, std::int64_t stride, Real* weight,
             Real sink = nothing) {
  Real largest = sink;
  for (std::int64_t k = 0; k < count; ++k) {
    const Real x = logit[k * stride];
    if (std::isnan(x) || x > largest) largest = x;
    if (std::isnan(largest)) break;
  }
  if (largest == nothing) return nothing;
  Real sum = std::exp(sink - largest);
  for (std::int64_t k = 0; k < count; ++k) sum += std::exp(logit[k * stride] - largest);
  for (std::int64_t k = 0; k < count; ++k) {
    weight[k * stride] = std::exp(logit[k * stride] - largest) / sum;
  }
  return largest + std::log(sum);
}

/// Computes the weights of one head, and the logarithm of each row's sum of weights before they are
/// normalised to 1.
void weigh_head(const Problem& p, std::int64_t b, std::int64_t head, Result& r) {
  const std::int64_t n_q = p.query.shape.token, n_k = p.key.shape.token;
  const bool normalised = p.call.weights == "softmax";
  const bool over_queries = normalised && p.word("axis") == "query";
  const Real* logit = r.logits.row(b, head, 0);
  Real* weight = r.weights.row(b, head, 0);
  for (std::int64_t j = 0; over_queries && j < n_k; ++j) softmax(logit + j, n_q, n_k, weight + j);
  for (std::int64_t i = 0; i < n_q; ++i, logit += n_k, weight += n_k) {
    Real& lse = r.lse.at(b, head, i, 0);
    if (normalised && !over_queries) {
      const Real* sinks = p.tensor("sinks", head, 0);
      lse = softmax(logit, n_k, 1, weight, sinks == nullptr ? nothing : *sinks);
      continue;
    }
    Real sum = 0;
    for (std::int64_t j = 0; j < n_k; ++j) {
      if (p.call.weights == "sigmoid") weight[j] = 1 / (1 + std::exp(-logit[j]));
      if (p.call.weights == "exp") weight[j] = std::exp(logit[j]);
      sum += weight[j];
    }
    lse = std::log(sum);
  }
}

Real lorentz_factor(const std::vector<Real>& v) {
  Real norm2 = 0;
  for (const Real x : v) norm2 += x * x;
  return 1 / std::sqrt(1 - norm2);
}

void aggregate_row(const Problem& p, std::int64_t b, std::int64_t head, std::int64_t i,
                   const Real* logit, const Real* weight, Real* output) {
  const bool einstein = p.call.aggregate == "einstein";
  Real divisor = 0;
  std::size_t size = 0;
  for (std::int64_t j = 0; j < p.key.shape.token; ++j) {
    if (logit[j] == nothing) continue;
    const Real* given = (is_stopped(p, i, j) ? p.stopped_value : p.value).row(b, head, j);
    std::vector<Real> v = mapped_value(p, {given, given + p.value.shape.feature});
    const Real* added = position_value(p, head, i, j);
    size = v.size();
    for (std::size_t c = 0; added != nullptr && c < size; ++c) v[c] += added[c];
    const Real share = einstein ? weight[j] * lorentz_factor(v) : weight[j];
    for (std::size_t c = 0; c < size; ++c) output[c] += share * v[c];
    divisor += share;
  }
  if (!einstein || divisor == 0) return;
  for (std::size_t c = 0; c < size; ++c) output[c] /= divisor;
}

/// Keys or values with one head for each head of q: each repeated for the heads that share it.
Tensor4<Real> repeated_heads(const Tensor4<Real>& shared, std::int64_t heads) {
  Shape4 s = shared.shape;
  s.head = heads;
  Tensor4<Real> all(s);
  const std::int64_t group = heads / shared.shape.head, size = s.token * s.feature;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      std::copy_n(shared.row(b, h / group, 0), size, all.row(b, h, 0));
    }
  }
  return all;
}

Problem with_repeated_heads(const Problem& p) {
  Problem out = p;
  for (Tensor4<Real>* each : {&out.key, &out.value, &out.stopped_key, &out.stopped_value}) {
    *each = repeated_heads(*each, p.query.shape.head);
  }
  return out;
}

Tensor4<Real> projected_values(const Problem& p, const Tensor4<Real>& values) {
  const Shape4 s = values.shape;
  Tensor4<Real> out;
  out.shape = s;
  for (std::int64_t row = 0; row < s.batch * s.head * s.token; ++row) {
    const Real* v = values.data.data() + row * s.feature;
    const auto y = projected(p, "P_value", row / s.token % s.head, {v, v + s.feature});
    out.data.insert(out.data.end(), y.begin(), y.end());
    out.shape.feature = static_cast<std::int64_t>(y.size());
  }
  return out;
}

Problem with_projected_values(const Problem& p) {
  Problem out = p;
  out.value = projected_values(p, p.value);
  out.stopped_value = projected_values(p, p.stopped_value);
  out.tensors.erase("P_value");
  return out;
}

}  // namespace

Tensor4<Real> joined_heads(const Problem& p, const Tensor4<Real>& of_heads) {
  const Shape4 s = of_heads.shape;
  Tensor4<Real> all({s.batch, 1, s.token, s.head * s.feature});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = 0; i < s.token; ++i) {
      for (std::int64_t c = 0; c < all.shape.feature; ++c) {
        all.at(b, 0, i, c) = of_heads.at(b, c / s.feature, i, c % s.feature);
      }
    }
  }
  const Real* matrix = p.tensor("P_output", 0, 2);
  if (matrix == nullptr) return all;
  Tensor4<Real> out({s.batch, 1, s.token, p.tensors.at("P_output").extents.front()});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = 0; i < s.token; ++i) {
      for (std::int64_t r = 0; r < out.shape.feature; ++r) {
        for (std::int64_t c = 0; c < all.shape.feature; ++c) {
          out.at(b, 0, i, r) += all.at(b, 0, i, c) * matrix[r * all.shape.feature + c];
        }
      }
    }
  }
  return out;
}

Result evaluate(const Problem& p) {
  if (p.key.shape.head != p.query.shape.head) return evaluate(with_repeated_heads(p));
  if (!is_attention(p.call)) return structured(p);
  if (p.tensors.contains("P_value")) return evaluate(with_projected_values(p));
  const Shape4 q = p.query.shape;
  const std::int64_t n_k = p.key.shape.token;
  const std::vector<Real> value(static_cast<std::size_t>(p.value.shape.feature), Real(0));
  const auto columns = static_cast<std::int64_t>(mapped_value(p, value).size());
  Result r{Tensor4<Real>({q.batch, q.head, q.token, columns}),
           Tensor4<Real>({q.batch, q.head, q.token, 1}),
           Tensor4<Real>({q.batch, q.head, q.token, n_k}),
           Tensor4<Real>({q.batch, q.head, q.token, n_k}, nothing)};
  for (std::int64_t b = 0; b < q.batch; ++b) {
    for (std::int64_t h = 0; h < q.head; ++h) {
      logits_of_head(p, b, h, r.logits);
      weigh_head(p, b, h, r);
      for (std::int64_t i = 0; i < q.token; ++i) {
        aggregate_row(p, b, h, i, r.logits.row(b, h, i), r.weights.row(b, h, i),
                      r.output.row(b, h, i));
      }
    }
  }
  if (p.tensors.contains("P_output")) r.output = joined_heads(p, r.output);
  return r;
}

namespace {

Real loss(const Problem& problem) {
  const Tensor4<Real> output = evaluate(problem).output;
  Real sum = 0;
  for (std::size_t i = 0; i < output.data.size(); ++i) {
    sum += output.data[i] * problem.output_grad.data[i];
  }
  return sum;
}

}  // namespace

Difference central_difference(const Problem& problem, Real& x) {
  const Real middle = x;
  const Real step = 1e-4L * std::max(Real(1), std::abs(middle));
  const auto at = [&](Real offset) {
    x = middle + offset;
    const Real value = loss(problem);
    x = middle;
    return value;
  };
  const Real here = at(0);
  const Real right = at(step), left = at(-step);
  const Real coarse = (right - left) / (2 * step);
  const Real fine = (at(step / 2) - at(-step / 2)) / step;
  const Real from_right = (4 * right - 3 * here - at(2 * step)) / (2 * step);
  const Real from_left = (at(-2 * step) + 3 * here - 4 * left) / (2 * step);
  const Real scale = 1 + std::abs(fine);
  Difference result;
  result.slope = static_cast<double>((4 * fine - coarse) / 3);
  result.smooth =
      std::abs(from_right - from_left) < 1e-5L * scale && std::abs(coarse - fine) < 1e-5L * scale;
  return result;
}

}  // namespace conelab::reference
