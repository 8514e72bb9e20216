// Bi-BloSAN's block self-attention and the relation network, each from its paper's equations.
#include <algorithm>
#include <cmath>

#include "core/reference/pair_terms.h"
#include "core/reference/structured.h"

namespace conelab::reference {
namespace {

using Vector = std::vector<Real>;
using Sequence = std::vector<Vector>;

/// The tensors of one direction of one head: side 1 is the second of two.
struct Side {
  const Problem& p;
  HeadOf at;
  std::size_t side;
  bool later;

  /// W x + b; an empty name or an absent tensor is no offset.
  [[nodiscard]] Vector affine(const std::string& W, const std::string& b, const Vector& x) const {
    const std::size_t d = static_cast<std::size_t>(p.query.shape.feature);
    const std::size_t axis_of_sides = p.word("direction") == "both" ? 1 : 0;
    const Real* w = p.tensor(W, at.h, 2 + axis_of_sides) + side * d * x.size();
    const Real* offset = b.empty() ? nullptr : p.tensor(b, at.h, 1 + axis_of_sides);
    Vector y(d);
    for (std::size_t r = 0; r < d; ++r) {
      if (offset != nullptr) y[r] = offset[side * d + r];
      for (std::size_t c = 0; c < x.size(); ++c) y[r] += w[r * x.size() + c] * x[c];
    }
    return y;
  }
};

Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }
Real elu(Real x) { return x > 0 ? x : std::expm1(x); }

/// sum_j softmax_j(logits[j][f]) x[j][f] for each feature f; 0 of no tokens.
Vector weighed(const Sequence& logits, const Sequence& x, std::size_t d) {
  Vector mean(d);
  for (std::size_t f = 0; f < d && !x.empty(); ++f) {
    Real most = logits.front()[f], total = 0;
    for (const Vector& each : logits) most = std::max(most, each[f]);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const Real e = std::exp(logits[j][f] - most);
      mean[f] += e * x[j][f];
      total += e;
    }
    mean[f] /= total;
  }
  return mean;
}

/// Masked self-attention over a sequence, with 5 tanh(x / 5) for c tanh(x / c).
Sequence self_attention(const Side& s, const Sequence& x, const std::string& W_query,
                        const std::string& W_key, const std::string& b) {
  Sequence result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Sequence logits, seen;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (s.later ? j <= i : j >= i) continue;
      Vector logit = s.affine(W_key, b, x[j]);
      const Vector query = s.affine(W_query, "", x[i]);
      for (std::size_t f = 0; f < logit.size(); ++f) {
        logit[f] = 5 * std::tanh((logit[f] + query[f]) / 5);
      }
      logits.push_back(logit);
      seen.push_back(x[j]);
    }
    result.push_back(weighed(logits, seen, x[i].size()));
  }
  return result;
}

/// Returns the average of a block's tokens h.
Vector source_to_token(const Side& s, const Sequence& h) {
  Sequence logits;
  for (const Vector& each : h) {
    Vector hidden = s.affine("W1_source", "b1_source", each);
    for (Real& x : hidden) x = elu(x);
    logits.push_back(s.affine("W2_source", "", hidden));
  }
  return weighed(logits, h, h.front().size());
}

/// Returns g new + (1 - g) old.
Vector gated(const Vector& g, const Vector& fresh, const Vector& old) {
  Vector mixed(g.size());
  for (std::size_t f = 0; f < g.size(); ++f) {
    const Real share = logistic(g[f]);
    mixed[f] = share * fresh[f] + (1 - share) * old[f];
  }
  return mixed;
}

Sequence one_direction(const Side& s, const Sequence& x, std::size_t block) {
  Sequence h, v, u;
  for (std::size_t first = 0; first < x.size(); first += block) {
    const auto end = x.begin() + static_cast<std::ptrdiff_t>(std::min(first + block, x.size()));
    const Sequence own(x.begin() + static_cast<std::ptrdiff_t>(first), end);
    const Sequence context = self_attention(s, own, "W_query", "W_key", "b");
    h.insert(h.end(), context.begin(), context.end());
    v.push_back(source_to_token(s, context));
  }
  const Sequence o = self_attention(s, v, "W_query_block", "W_key_block", "b_block");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t l = i / block;
    Vector gate = s.affine("W_gate_context", "b_gate", o[l]);
    const Vector of_source = s.affine("W_gate_source", "", v[l]);
    for (std::size_t f = 0; f < gate.size(); ++f) gate[f] += of_source[f];
    Vector all = x[i];
    all.insert(all.end(), h[i].begin(), h[i].end());
    const Vector e = gated(gate, o[l], v[l]);
    all.insert(all.end(), e.begin(), e.end());
    Vector fused = s.affine("W_fusion", "b_fusion", all);
    for (Real& each : fused) each = elu(each);
    u.push_back(gated(s.affine("W_fusion_gate", "b_fusion_gate", all), fused, x[i]));
  }
  return u;
}

Vector token_of(const Tensor4<Real>& tokens, HeadOf at, std::int64_t i) {
  const Real* x = tokens.row(at.b, at.h, i);
  return {x, x + tokens.shape.feature};
}

}  // namespace

void bi_blosa(const Problem& p, HeadOf at, Tensor4<Real>& output) {
  Sequence x;
  for (std::int64_t i = 0; i < p.query.shape.token; ++i) x.push_back(token_of(p.query, at, i));
  const auto block = static_cast<std::size_t>(p.number("block", at.h));
  const std::string direction = p.word("direction");
  std::int64_t column = 0;
  for (std::size_t side = 0; side < (direction == "both" ? 2u : 1u); ++side) {
    const Side s{p, at, side, direction == "backward" || side == 1};
    const Sequence u = one_direction(s, x, block);
    for (std::size_t i = 0; i < u.size(); ++i) {
      std::copy(u[i].begin(), u[i].end(),
                output.row(at.b, at.h, static_cast<std::int64_t>(i)) + column);
    }
    column += p.query.shape.feature;
  }
}

void relation_network(const Problem& p, HeadOf at, Tensor4<Real>& output) {
  const std::int64_t d = p.query.shape.feature, columns = output.shape.feature;
  const std::vector<std::int64_t>& out_extents = p.tensors.at("W_out").extents;
  const std::int64_t a = out_extents.back();
  const Real* W_query = p.tensor("W_query", at.h, 2);
  const Real* W_key = p.tensor("W_key", at.h, 2);
  const Real* W_out = p.tensor("W_out", at.h, 2);
  const Real* b = p.tensor("b", at.h, 1);
  for (std::int64_t i = 0; i < p.query.shape.token; ++i) {
    for (std::int64_t j = 0; j < p.key.shape.token; ++j) {
      if (!sees(p, at.b, at.h, i, j)) continue;
      for (std::int64_t f = 0; f < a; ++f) {
        Real relation = b == nullptr ? 0 : b[f];
        for (std::int64_t c = 0; c < d; ++c) {
          relation += W_query[f * d + c] * p.query.at(at.b, at.h, i, c) +
                      W_key[f * d + c] * p.key.at(at.b, at.h, j, c);
        }
        relation = std::max(relation, Real(0));
        for (std::int64_t r = 0; r < columns; ++r) {
          output.at(at.b, at.h, i, r) += W_out[r * a + f] * relation;
        }
      }
    }
  }
}

}  // namespace conelab::reference
