#include "core/reference/structured.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/reference/token_lists.h"

namespace conelab::reference {

void bi_blosa(const Problem& p, HeadOf at, Tensor4<Real>& output);
void relation_network(const Problem& p, HeadOf at, Tensor4<Real>& output);
void volume_preserving(const Problem&, std::int64_t b, std::int64_t h, Tensor4<Real>& output);

namespace {

/// softmax over classes of x W + b, of one token.
std::vector<Real> classes_of(const Problem& p, HeadOf at, std::int64_t token,
                             const std::string& side, std::int64_t m) {
  const std::int64_t d = p.query.shape.feature;
  const Real* x = p.query.row(at.b, at.h, token);
  const Real* w = p.tensor("W_" + side, at.h, 2);
  const Real* offset = p.tensor("b_" + side, at.h, 1);
  std::vector<Real> a(static_cast<std::size_t>(m));
  for (std::int64_t k = 0; k < m; ++k) {
    Real& sum = a[static_cast<std::size_t>(k)];
    sum = offset == nullptr ? 0 : offset[k];
    for (std::int64_t i = 0; i < d; ++i) sum += x[i] * w[i * m + k];
  }
  const Real most = *std::max_element(a.begin(), a.end());
  Real total = 0;
  for (Real& each : a) total += each = std::exp(each - most);
  for (Real& each : a) each /= total;
  return a;
}

/// Returns x P of one token.
std::vector<Real> projected(const Problem& p, HeadOf at, std::int64_t token) {
  const std::int64_t d = p.query.shape.feature;
  const Real* P = p.tensor("P", at.h, 2);
  std::vector<Real> y(static_cast<std::size_t>(d), 0);
  for (std::int64_t c = 0; c < d; ++c) {
    for (std::int64_t r = 0; r < d; ++r) {
      y[static_cast<std::size_t>(c)] += p.query.at(at.b, at.h, token, r) * P[r * d + c];
    }
  }
  return y;
}

/// Agglomerative Attention, Methods: for every query the weighted average of each class over all
/// tokens, or those up to its own, class k over its own columns of x P.
void agglomerative(const Problem& p, HeadOf at, Tensor4<Real>& output) {
  const std::int64_t n = p.query.shape.token, d = p.query.shape.feature;
  const auto m = static_cast<std::int64_t>(p.number("classes", at.h));
  const Real* Q = p.tensor("Q", at.h, 2);
  std::vector<std::vector<Real>> reference, y;
  for (std::int64_t t = 0; t < n; ++t) {
    reference.push_back(classes_of(p, at, t, "reference", m));
    y.push_back(projected(p, at, t));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const std::vector<Real> own = classes_of(p, at, i, "query", m);
    for (std::int64_t r = 0; r < d; ++r) {
      const auto k = static_cast<std::size_t>(r / (d / m)), column = static_cast<std::size_t>(r);
      Real sum = 0, total = 0;
      for (std::int64_t t = 0; t < n; ++t) {
        if (!sees(p, at.b, at.h, i, t)) continue;
        const Real c = reference[static_cast<std::size_t>(t)][k];
        sum += c * y[static_cast<std::size_t>(t)][column];
        total += c;
      }
      const Real u = own[k] * sum / (p.published() ? std::max(total, Real(1e-3)) : total);
      for (std::int64_t c = 0; c < d; ++c) output.at(at.b, at.h, i, c) += u * Q[r * d + c];
    }
  }
}

using OperatorFormula = void (*)(const Problem&, HeadOf, Tensor4<Real>& output);
constexpr std::pair<const char*, OperatorFormula> operators[] = {
    {"agglomerative", &agglomerative},
    {"bi-blosa", &bi_blosa},
    {"relation-network", &relation_network},
    {"star", [](const Problem& p, HeadOf at, Tensor4<Real>& o) { star(p, at.b, at.h, o); }},
    {"segtree", [](const Problem& p, HeadOf at, Tensor4<Real>& o) { segtree(p, at.b, at.h, o); }},
    {"volume-preserving",
     [](const Problem& p, HeadOf at, Tensor4<Real>& o) { volume_preserving(p, at.b, at.h, o); }}};

using LayerFormula = Result (*)(const Problem&);
constexpr std::pair<const char*, LayerFormula> layers[] = {
    {"multi-head", &multi_head},
    {"recursive", &recursive},
    {"random", &random_logits},
};

/// Returns the tokens with their positions.
void map_all(const Problem& p, bool is_query, Tensor4<Real>& tokens) {
  for (std::int64_t b = 0; b < tokens.shape.batch; ++b) {
    for (std::int64_t h = 0; h < tokens.shape.head; ++h) {
      for (std::int64_t i = 0; i < tokens.shape.token; ++i) {
        Real* x = tokens.row(b, h, i);
        const std::vector<Real> y = mapped_token(p, h, is_query, i, {x, x + tokens.shape.feature});
        std::copy(y.begin(), y.end(), x);
      }
    }
  }
}

}  // namespace

Result structured(const Problem& given) {
  for (const auto& [name, formula] : layers) {
    if (given.call.operation == name) return formula(given);
  }
  Problem p = given;
  map_all(given, true, p.query);
  map_all(given, false, p.key);
  for (const auto& [name, formula] : operators) {
    if (p.call.operation != name) continue;
    const Shape4 sizes = p.output_grad.shape;
    Result result;
    result.output = Tensor4<Real>(sizes);
    for (std::int64_t b = 0; b < sizes.batch; ++b) {
      for (std::int64_t h = 0; h < sizes.head; ++h) formula(p, {b, h}, result.output);
    }
    return result;
  }
  fail("the reference has no formula of operator {}: write it in core/reference/structured.cpp",
       p.call.operation);
}

}  // namespace conelab::reference
