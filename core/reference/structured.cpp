#include "core/reference/structured.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"

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

namespace {

using Token = std::vector<Real>;
using Tokens = std::vector<Token>;

Tokens tokens_of_head(const Problem& p, std::int64_t b, std::int64_t h) {
  Tokens all;
  for (std::int64_t i = 0; i < p.query.shape.token; ++i) {
    const Real* x = p.query.row(b, h, i);
    all.emplace_back(x, x + p.query.shape.feature);
  }
  return all;
}

/// sum_j softmax_j(scale u.c_j) c_j
Token attend(const Token& u, const Tokens& list, Real scale) {
  std::vector<Real> logits;
  for (const Token& c : list) {
    Real product = 0;
    for (std::size_t k = 0; k < u.size(); ++k) product += u[k] * c[k];
    logits.push_back(scale * product);
  }
  const Real most = *std::max_element(logits.begin(), logits.end());
  Real total = 0;
  for (const Real logit : logits) total += std::exp(logit - most);
  Token result(u.size(), 0);
  for (std::size_t j = 0; j < list.size(); ++j) {
    const Real weight = std::exp(logits[j] - most) / total;
    for (std::size_t k = 0; k < u.size(); ++k) result[k] += weight * list[j][k];
  }
  return result;
}

void write(const Tokens& tokens, std::int64_t b, std::int64_t h, Tensor4<Real>& output) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::copy(tokens[i].begin(), tokens[i].end(), output.row(b, h, static_cast<std::int64_t>(i)));
  }
}

Token mean_of(const Tokens& tokens) {
  Token mean(tokens.front().size(), 0);
  for (const Token& token : tokens) {
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] += token[k] / static_cast<Real>(tokens.size());
    }
  }
  return mean;
}

/// A cell of the tree by its first token and its size, a power of two; it may reach beyond the end.
struct Span {
  std::int64_t first, size;
  auto operator<=>(const Span&) const = default;
};
using Cells = std::map<Span, Token>;

/// Returns the other cells that a token sees. From the token outwards they lie side by side: first
/// one of size 1, then each time the cell of twice the last round's size where one starts (to the
/// right) or ends (to the left) at the place reached, else one of the last round's size.
std::vector<Span> cells_seen(std::int64_t token, std::int64_t n, bool causal) {
  std::vector<Span> seen;
  std::int64_t left = token, right = token + 1;
  for (std::int64_t size = 1; left > 0 || (!causal && right < n); size *= 2) {
    const auto fitting = [size](std::int64_t place) { return place % size == 0 ? size : size / 2; };
    if (left > 0) {
      seen.push_back({left - fitting(left), fitting(left)});
      left = seen.back().first;
    }
    if (!causal && right < n) {
      seen.push_back({right, fitting(right)});
      right += fitting(right);
    }
  }
  return seen;
}

}  // namespace

void star(const Problem& p, std::int64_t b, std::int64_t h, Tensor4<Real>& output) {
  const Tokens e = tokens_of_head(p, b, h);
  const std::size_t n = e.size();
  const Real scale = p.number("scale", h);
  const Real* given = p.tensor("relay", h, 1);
  Token s = given == nullptr ? mean_of(e) : Token(given, given + e.front().size());
  Tokens ring = e;
  for (Real t = 0; t < p.number("steps", h); ++t) {
    Tokens updated;
    for (std::size_t i = 0; i < n; ++i) {
      Tokens list{ring[i], e[i], s};
      const bool cyclic = p.word("boundary") == "cyclic";
      if (cyclic || i > 0) list.push_back(ring[i == 0 ? n - 1 : i - 1]);
      if (cyclic || i + 1 < n) list.push_back(ring[i + 1 == n ? 0 : i + 1]);
      updated.push_back(attend(ring[i], list, scale));
    }
    ring = updated;
    updated.push_back(s);
    s = attend(s, updated, scale);
  }
  write(ring, b, h, output);
}

void segtree(const Problem& p, std::int64_t b, std::int64_t h, Tensor4<Real>& output) {
  const Tokens x = tokens_of_head(p, b, h);
  const auto n = static_cast<std::int64_t>(x.size());
  const auto& masks = p.call.masks;
  const bool causal = std::find(masks.begin(), masks.end(), "causal") != masks.end();
  Cells cells;
  for (std::int64_t i = 0; i < n; ++i) cells[{i, 1}] = x[static_cast<std::size_t>(i)];
  for (std::int64_t size = 2; size < 2 * n; size *= 2) {
    for (std::int64_t first = 0; first < n; first += size) {
      cells[{first, size}] = Token(x.front().size(), 0);
    }
  }
  for (Real t = 0; t < p.number("steps", h); ++t) {
    Cells updated;
    for (const auto& [cell, state] : cells) {
      Tokens list{state};
      if (cell.size == 1) {
        for (const Span& seen : cells_seen(cell.first, n, causal)) list.push_back(cells.at(seen));
      } else {
        const std::int64_t end = std::min(cell.first + cell.size, n);
        for (std::int64_t i = cell.first; i < end; ++i) list.push_back(cells.at({i, 1}));
      }
      updated[cell] = attend(state, list, p.number("scale", h));
    }
    cells = updated;
  }
  Tokens result;
  for (std::int64_t i = 0; i < n; ++i) result.push_back(cells.at({i, 1}));
  write(result, b, h, output);
}

}  // namespace conelab::reference
