// Structured operators that apply attention to tensors made from the input. Each is written a
// second time here, from its definition.
#include "core/reference/structured.h"

namespace conelab::reference {
namespace {

/// Returns the tokens of x, copied for each head.
Tensor4<Real> for_each_head(const Tensor4<Real>& x, std::int64_t heads) {
  Tensor4<Real> all({x.shape.batch, heads, x.shape.token, x.shape.feature});
  for (std::int64_t b = 0; b < all.shape.batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < all.shape.token; ++i) {
        for (std::int64_t c = 0; c < all.shape.feature; ++c) all.at(b, h, i, c) = x.at(b, 0, i, c);
      }
    }
  }
  return all;
}

}  // namespace

/// Vaswani et al., section 3.2.2.
Result multi_head(const Problem& p) {
  const auto heads = static_cast<std::int64_t>(p.number("heads", 0));
  Problem attention = p;
  attention.call.operation = "attention";
  attention.query = for_each_head(p.query, heads);
  attention.key = for_each_head(p.key, heads);
  attention.value = for_each_head(p.value, heads);
  attention.stopped_key = for_each_head(p.stopped_key, heads);
  attention.stopped_value = for_each_head(p.stopped_value, heads);
  attention.tensors.erase("P_output");
  Result result = evaluate(attention);
  result.output = joined_heads(p, result.output);
  return result;
}

/// Computes x + multi-head(x, x, x), `steps` times (Hyperbolic Attention Networks, section 5).
Result recursive(const Problem& p) {
  Problem layer = p;
  for (std::int64_t t = 0; t < static_cast<std::int64_t>(p.number("steps", 0)); ++t) {
    layer.key = layer.value = layer.stopped_key = layer.stopped_value = layer.query;
    const Tensor4<Real> sum = multi_head(layer).output;
    for (std::size_t i = 0; i < sum.data.size(); ++i) layer.query.data[i] += sum.data[i];
  }
  Result result;
  result.output = layer.query;
  return result;
}

/// Synthesizer, (Factorized) Random: the logits are R, or the product of R_query and R_key, by
/// plain attention of these with the scale 1. R itself is the product of R and the rows of the
/// identity.
Result random_logits(const Problem& p) {
  Problem attention = p;
  attention.call.operation = "attention";
  attention.call.similarity = "dot";
  attention.call.map = "none";
  attention.numbers["scale"] = {1};
  const bool full = p.tensors.contains("R");
  const std::int64_t n_q = p.query.shape.token, n_k = p.key.shape.token;
  const std::int64_t rank = full ? n_k : p.tensors.at("R_query").extents.back();
  attention.query = Tensor4<Real>({p.query.shape.batch, p.query.shape.head, n_q, rank});
  attention.key = Tensor4<Real>({p.query.shape.batch, p.query.shape.head, n_k, rank});
  const auto fill = [&](Tensor4<Real>& tokens, const char* name) {
    for (std::int64_t b = 0; b < tokens.shape.batch; ++b) {
      for (std::int64_t h = 0; h < tokens.shape.head; ++h) {
        const Real* from = p.tensor(name, h, 2);
        for (std::int64_t i = 0; i < tokens.shape.token; ++i) {
          for (std::int64_t c = 0; c < rank; ++c) {
            tokens.at(b, h, i, c) = from == nullptr ? Real(i == c) : from[i * rank + c];
          }
        }
      }
    }
  };
  fill(attention.query, full ? "R" : "R_query");
  fill(attention.key, full ? "" : "R_key");
  attention.stopped_key = attention.key;
  return evaluate(attention);
}

}  // namespace conelab::reference
