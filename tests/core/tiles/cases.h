// Calls and inputs for the engine's tests, made from the engine's own lists: a similarity that
// joins the lists is tested without a test being written.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/operators/operator.h"
#include "core/reference/evaluate.h"

namespace conelab::tests {

/// A similarity with one word of each of its choices and one map that it accepts.
struct Variant {
  std::string name;  ///< "umbral_reference_height_psi"
  Call call;
};
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

/// Returns every variant that `resolve` accepts.
[[nodiscard]] const std::vector<Variant>& variants();
/// Returns whether tokens may be any numbers: not where they must be points of a model.
[[nodiscard]] bool takes_any_tokens(const Variant& variant);
/// Returns those that take tokens rounded to 16 bits: under map none a rounded token of the
/// hyperboloid is no longer on it.
[[nodiscard]] std::vector<Variant> rounded_variants();
/// Returns those without maps of tokens: what a device computes.
[[nodiscard]] std::vector<Variant> pair_variants();
/// Returns the name of a parametrised test.
[[nodiscard]] std::string variant_name(const testing::TestParamInfo<Variant>& info);

/// The other parts of a call: bias, masks, weights, aggregate, value map, with per-head parameters.
struct Parts {
  std::string bias = "none";
  std::vector<std::string> masks = {"full"};
  std::string weights = "softmax";  ///< With words of its keys: "softmax:axis=query:soft_cap=1".
  std::string aggregate = "mean";
  bool per_head = false;  ///< Give every numeric parameter as a list, one value per head.
  std::string value_map = "none";
  std::string position = "none";
};

/// Returns parts such that any two names of different fields occur together, in as few entries as a
/// greedy choice finds.
[[nodiscard]] std::vector<Parts> pairwise_parts();
/// Returns the variant's call with these parts, without their parameters.
[[nodiscard]] Call chosen_parts(const Variant& variant, const Parts& parts);

/// Returns whether a call of `chosen_parts` is right to be refused, or its gradients if `backward`:
/// for shaw_v, the one tensor that is drawn where the similarity maps queries, with mapped or
/// aggregated points or weights over queries; for points of a model that a position moves; and for
/// gradients of weights over queries that the mask `segment` stops.
[[nodiscard]] bool may_be_refused(const Call& call, bool backward);

/// Returns extents whose number of heads of k and v is, by turns, one of the divisors of the number
/// of heads.
[[nodiscard]] Extents with_key_heads(Extents extents, std::size_t turn);

/// Returns `variant` with these parts for tensors of `extents`, every parameter given away from its
/// default.
[[nodiscard]] Call make_call(const Variant& variant, const Parts& parts, const Extents& extents);

/// Gives what the call's masks need and do not say by default.
void give_mask_parameters(Call& call);

/// Uniform numbers from a seed, the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  /// Returns a number in [0, count).
  [[nodiscard]] std::size_t index(std::size_t count) { return engine_() % count; }

 private:
  std::mt19937_64 engine_;
};

/// Returns tokens in [-spread, spread], or points of the model under map none; values inside the
/// Klein ball; an output gradient; an explicit mask with a quarter of the pairs masked, one for
/// each head of each batch element if k has fewer heads than q; key lengths.
[[nodiscard]] AttentionInput<double> random_input(const Call& call, const Extents& extents,
                                                  std::uint64_t seed, double spread = 1.5);

/// Returns the same with projections to 6 and 5 columns, those of keys and values of each head, and
/// of the joined outputs to 7.
[[nodiscard]] AttentionInput<double> projected_input(const Call& call, const Extents& extents,
                                                     std::uint64_t seed, bool joins_heads);

/// Return the names of the biases that a similarity takes, of all masks and value maps, and all
/// weights with every word of their choices, with the tensors that they may have and with a soft
/// cap, as in Parts.
[[nodiscard]] std::vector<std::string> bias_names(const std::string& similarity = "dot");
[[nodiscard]] std::vector<std::string> mask_names();
[[nodiscard]] std::vector<std::string> value_map_names();
[[nodiscard]] std::vector<std::string> weight_words();
/// Returns whether the weights of a call sum to 1 over queries.
[[nodiscard]] bool is_over_queries(const Call& call);

/// What the engine says, all of it: logits and weights where the operator has them.
template <class T>
struct Answer {
  Forward<T> forward;
  Tensor4<Compute<T>> logits, weights;
};

[[nodiscard]] inline Execution with_threads(int threads, const std::string& simd = "") {
  Execution execution;
  execution.threads = threads;
  execution.simd = simd;
  return execution;
}

/// Small calls are quicker on one thread; that the number changes no bit is a test of its own.
[[nodiscard]] inline Execution one_thread(const std::string& simd = "") {
  return with_threads(1, simd);
}

template <class T>
[[nodiscard]] Answer<T> run(const Call& call, const AttentionInput<T>& input,
                            const Execution& execution = one_thread()) {
  const auto plan = resolve(call, check_extents(input));
  const auto map = [&](Map2d which) {
    if (!plan->operation->has_map(*plan, which)) return Tensor4<Compute<T>>();
    return attention_map(*plan, input, which, execution);
  };
  return {forward(*plan, input, execution), map(Map2d::logits), map(Map2d::weights)};
}

/// Returns the largest |found - expected| / max(1, |expected|); infinity where one is NaN or
/// infinite and the other is not the same, or where the sizes differ.
template <class A, class B>
[[nodiscard]] double difference(const Tensor4<A>& found, const Tensor4<B>& expected) {
  if (!(found.shape == expected.shape)) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const auto a = static_cast<double>(found.data[i]);
    const auto b = static_cast<double>(expected.data[i]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double gap = std::abs(a - b) / std::max(1.0, std::abs(b));
    worst = std::isfinite(gap) ? std::max(worst, gap) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

}  // namespace conelab::tests
