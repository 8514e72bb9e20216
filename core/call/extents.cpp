// Checks of shapes, made once when a call enters the engine.
#include <fmt/ranges.h>

#include <cmath>

#include "core/base/error.h"
#include "core/call/plan.h"

namespace conelab {
namespace {

void check_same(const char* what, const char* a, std::int64_t x, const char* b, std::int64_t y) {
  if (x != y) fail("{} of {} and {} differ ({} has {}, {} has {})", what, a, b, a, x, b, y);
}

/// Throws a failure unless tokens [first, first + count) belong to a sequence of this length.
void check_slice(const char* what, std::int64_t first, std::int64_t count, std::int64_t length) {
  if (first >= 0 && first + count <= length) return;
  fail("the {} are no slice of their sequence (expected tokens of [0, {}), found [{}, {}))", what,
       length, first, first + count);
}

/// Throws misuse if a tensor has no memory, or if its tokens overlap.
template <class T>
void check_memory(const char* name, const StridedTensor4<T>& tensor) {
  const Shape4& s = tensor.shape;
  if (!tensor.has_memory()) {
    misuse("{} has no memory for its numbers (expected {} of them, in the shape {})", name,
           s.size(), to_string(s));
  }
  const Strides4 strides = tensor.strides();
  const auto check_axis = [&](const char* axis, std::int64_t count, std::int64_t stride) {
    if (count <= 1 || stride == 0 || std::abs(stride) >= s.feature) return;
    misuse("the {} of {} overlap (expected a stride of 0 or of at least {} numbers, found {})",
           axis, name, s.feature, stride);
  };
  check_axis("batch elements", s.batch, strides.batch);
  check_axis("heads", s.head, strides.head);
  check_axis("tokens", s.token, strides.token);
}

/// Does what check_extents does, for mapped tokens too, of which k and v may have different heads.
template <class T>
Extents extents_of(const AttentionInput<T>& input) {
  const Shape4& q = input.query.shape;
  const Shape4& k = input.key.shape;
  const Shape4& v = input.value.shape;
  check_same("the batch sizes", "q", q.batch, "k", k.batch);
  check_same("the batch sizes", "k", k.batch, "v", v.batch);
  check_shared_heads("k", q.head, k.head);
  check_shared_heads("v", q.head, v.head);
  check_same("the feature sizes d", "q", q.feature, "k", k.feature);
  check_same("the token counts n_k", "k", k.token, "v", v.token);
  const Shape4 mask = mask_sizes(input);
  if (!input.allowed.empty()) check_pair_sizes("mask", mask, {q.batch, q.head, q.token, k.token});
  if (!input.allowed.empty() && std::ssize(input.allowed) != mask.size()) {
    fail("mask has {} entries (expected {} for its sizes {})", input.allowed.size(), mask.size(),
         to_string(mask));
  }
  const Slice slice(input.positions, q.token, k.token);
  check_slice("queries", slice.first_query, q.token, slice.all_queries);
  check_slice("keys", slice.first_key, k.token, slice.all_keys);
  if (!input.key_lengths.empty() &&
      static_cast<std::int64_t>(input.key_lengths.size()) != q.batch) {
    fail("key lengths must be one per batch element (expected {}, found {})", q.batch,
         input.key_lengths.size());
  }
  for (const std::int64_t length : input.key_lengths) {
    if (length < 0 || length > slice.all_keys) {
      fail("key lengths must lie between 0 and n_k (expected at most {}, found {})", slice.all_keys,
           length);
    }
  }
  const auto edge = input.indices.find("edge");
  if (edge != input.indices.end() &&
      (edge->second.extents.size() != 2 || edge->second.extents.back() != 2)) {
    fail("edge does not have its shape (expected [m x 2], found [{}])",
         fmt::join(edge->second.extents, " x "));
  }
  Extents extents{q.batch,   q.head, q.token,         k.token, q.feature,
                  v.feature, {},     input.positions, k.head,  v.head};
  for (const auto& [name, tensor] : input.tensors) extents.tensors[name] = tensor.extents;
  for (const auto& [name, tensor] : input.indices) extents.tensors[name] = tensor.extents;
  return extents;
}

void check_dropout(const Plan& plan, double share) {
  if (!(share >= 0 && share < 1)) {
    misuse("the share of weights that are dropped is in [0, 1) (found {})", share);
  }
  if (!is_attention(plan.call)) misuse("{} has no dropout of weights", operator_name(plan.call));
  if (plan.evaluation == Evaluation::intervals) misuse("evaluation=intervals has no dropout");
}

}  // namespace

void check_pair_sizes(const char* name, const Shape4& s, const Shape4& pairs) {
  const auto stands_for = [](std::int64_t own, std::int64_t all) { return own == 1 || own == all; };
  if (stands_for(s.batch, pairs.batch) && stands_for(s.head, pairs.head) &&
      stands_for(s.token, pairs.token) && stands_for(s.feature, pairs.feature)) {
    return;
  }
  fail("{} does not have the sizes of the pairs (expected {} or 1 for any of them, found {})", name,
       to_string(pairs), to_string(s));
}

void check_shared_heads(const char* name, std::int64_t heads, std::int64_t own) {
  if (own == heads || (own > 0 && heads % own == 0)) return;
  fail(
      "the heads of q cannot share those of {} in groups of equal size (expected {} or a divisor "
      "of it, found {})",
      name, heads, own);
}

template <class T>
Extents check_extents(const AttentionInput<T>& input) {
  const Extents extents = extents_of(input);
  check_same("the numbers of heads", "k", input.key.shape.head, "v", input.value.shape.head);
  return extents;
}

template <class T>
void check_input(const Plan& plan, const AttentionInput<T>& input) {
  const Extents found = extents_of(input);
  const Extents& e = plan.extents;
  check_same("the batch sizes", "the plan", e.batch, "q", found.batch);
  const bool stands_for_all = plan.inner && found.head == 1;  // See Plan::token_maps.
  if (!stands_for_all) {
    check_same("the numbers of heads", "the plan", e.head, "q", found.head);
  }
  check_same("the numbers of heads", "the plan", e.key_heads(), "k", found.key_heads());
  check_same("the numbers of heads", "the plan", e.value_heads(), "v", found.value_heads());
  check_same("the token counts n_q", "the plan", e.query, "q", found.query);
  check_same("the token counts n_k", "the plan", e.key, "k", found.key);
  if (!(e.positions == found.positions)) {
    misuse(
        "the input has other positions than the plan (expected queries from {} and keys from {})",
        e.positions.first_query, e.positions.first_key);
  }
  check_same("the feature sizes d", "the plan", e.feature, "q", found.feature);
  check_same("the feature sizes d_v", "the plan", e.value, "v", found.value);
  if (input.dropout.share != 0) check_dropout(plan, input.dropout.share);
  for (const Parameter& p : plan.parameters) {
    if (p.info.domain != Domain::tensor || p.extents.empty()) continue;
    const auto given = found.tensors.find(p.info.key);
    if (given == found.tensors.end() || given->second != p.extents) {
      fail("the input does not have tensor {} of the plan (expected [{}], found {})", p.info.key,
           fmt::join(p.extents, " x "),
           given == found.tensors.end() ? "none"
                                        : fmt::format("[{}]", fmt::join(given->second, " x ")));
    }
  }
  if (!input.output_grad.empty() && !(input.output_grad.shape == plan.output)) {
    fail("output_grad does not have the sizes of the output (expected {}, found {})",
         to_string(plan.output), to_string(input.output_grad.shape));
  }
  check_memory("q", input.query);
  check_memory("k", input.key);
  check_memory("v", input.value);
  if (!input.output_grad.empty()) check_memory("output_grad", input.output_grad);
  (void)plan.mask(input);
}

double forward_flops(const Extents& e) {
  const double pairs = static_cast<double>(e.batch * e.head) * static_cast<double>(e.query) *
                       static_cast<double>(e.key);
  return 2 * pairs * static_cast<double>(e.feature + e.value);
}

double backward_flops(const Extents& e) {
  const double pairs = static_cast<double>(e.batch * e.head) * static_cast<double>(e.query) *
                       static_cast<double>(e.key);
  return 2 * pairs * static_cast<double>(3 * e.feature + 2 * e.value);
}

#define CONELAB_CHECKS(T)                                   \
  template Extents check_extents(const AttentionInput<T>&); \
  template void check_input(const Plan&, const AttentionInput<T>&);
CONELAB_EACH_TYPE(CONELAB_CHECKS)

}  // namespace conelab
