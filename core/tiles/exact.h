// Pairs in float64, from tokens placed again on demand. For the few whose rounding would show:
//   close     their squared distance, as norms less a product, would cancel
//   decisive  their weight is large, and moves by as much as their logit is rounded
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/tiles/head.h"

namespace conelab {

/// A decisive pair has at least so much of its row's weights. More than a quarter, to which forward
/// looks at large weights; not one part of a few, which of as many equal keys would prefer some.
constexpr double least_share = 0.26;

/// Whether a row's large weights are worth a closer look. Where its logits, which are near the
/// reference, are larger than this, their own rounding moves all of its weights by more.
[[nodiscard]] inline bool is_fine(double reference) { return std::abs(reference) <= 32; }

/// Whether a logit's rounding shows in its row's output, which share (1 - share) of it moves.
/// `share` is the pair's part of the row's weights.
[[nodiscard]] inline bool is_decisive(double share, double reference) {
  return share >= least_share && share <= 0.999 && is_fine(reference);
}

/// A decisive weight from its exact logit; as it is where the two are apart by more than rounding,
/// in numbers that float32 does not hold.
[[nodiscard]] inline double sharpened(double weight, double exact) {
  return std::abs(exact - weight) < 1e-3 * weight ? exact : weight;
}

/// Whether weights of T are sharpened: in double roundings do not show, and the weights of a
/// sigmoid have no sum of which one could be large.
template <class T>
[[nodiscard]] bool sharpens_weights(const Plan& plan) {
  return sizeof(T) < sizeof(double) && !plan.sigmoid;
}

/// The tokens of a head as they are given, without their type.
template <class T>
struct GivenTokens {
  std::function<void(std::int64_t i, double* x)> copy;  ///< Token i [d].
  const T* placed;  ///< [tokens × d], where they are their own base coordinates and all that the
                    ///< similarity takes of them; else null.
};

template <class T, class S>
[[nodiscard]] GivenTokens<T> given_tokens(const Head<T>& head, const Tensor4<S>& tokens,
                                          std::int64_t batch, std::int64_t index) {
  const T* placed = nullptr;
  if constexpr (std::is_same_v<S, T>) {
    if (head.takes_tokens_as_they_are()) placed = tokens.row(batch, index, 0);
  }
  return {[&tokens, batch, index](std::int64_t i, double* x) {
            std::copy_n(tokens.row(batch, index, i), tokens.shape.feature, x);
          },
          placed};
}

/// The tokens that pairs have asked for lately.
template <class T>
class ExactTokens {
 public:
  ExactTokens(const Head<T>& head, GivenTokens<T> given)
      : head_(&head), given_(std::move(given)), room_(static_cast<std::size_t>(head.feature())) {}

  struct Row {
    const double* base;    ///< [base_size] base coordinates
    const double* values;  ///< [values] of the similarity
  };
  /// Valid until the next call.
  Row row(std::int64_t token);
  /// GivenTokens::placed of one token.
  [[nodiscard]] const T* placed(std::int64_t token) const {
    return given_.placed == nullptr ? nullptr : given_.placed + token * head_->feature();
  }

 private:
  static constexpr std::int64_t kept = 256;
  const Head<T>* head_;
  GivenTokens<T> given_;
  std::size_t room_;                ///< For base coordinates, see Head::exact_token.
  std::vector<std::int64_t> held_;  ///< [kept] or empty
  Buffer<double> x_, rows_;         ///< [d], [kept × (room + max_values)]
};

/// A head's pairs. Not to be shared between threads: it keeps tokens.
template <class T>
class ExactPairs {
 public:
  ExactPairs(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
             GivenTokens<T> queries, GivenTokens<T> keys)
      : plan_(&plan),
        kernels_(&kernels),
        head_(&head),
        queries_(head, std::move(queries)),
        keys_(head, std::move(keys)) {
    std::copy_n(head.constants(), max_constants, constants_);
  }

  [[nodiscard]] double distance2(std::int64_t query, std::int64_t key);
  /// Adds a query's base coordinates less those of a key times `factor` to out [base_size].
  void add_difference(std::int64_t query, std::int64_t key, T factor, T* out);
  /// Of a visible pair, with its bias.
  [[nodiscard]] double logit(std::int64_t query, std::int64_t key);
  [[nodiscard]] PairSlope slope(std::int64_t query, std::int64_t key);

 private:
  using Row = typename ExactTokens<T>::Row;

  const Plan* plan_;
  const Kernels<T>* kernels_;
  const Head<T>* head_;
  ExactTokens<T> queries_, keys_;
  /// As rounded for the kernels: what shifts all logits of a row alike must do so here.
  double constants_[max_constants];

  struct Pair {
    double measure;
    const double *query, *key;  ///< The similarity's values of the tokens.
  };
  [[nodiscard]] Pair pair(std::int64_t query, std::int64_t key);
};

}  // namespace conelab
