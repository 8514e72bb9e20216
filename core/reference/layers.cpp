// Structured operators that are attention of something else, each written once more from its
// definition.
#include "core/reference/structured.h"

namespace conelab::reference {
namespace {

/// The tokens once for each head.
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

/// Hyperbolic Attention Networks, section 5: x + multi-head(x, x, x), again and again.
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

}  // namespace conelab::reference
