#include "core/reference/token_lists.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace conelab::reference {
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
