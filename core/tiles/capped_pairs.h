// The soft cap of one head's logits, logit -> c tanh(logit / c), between the formula of the
// similarity and the weights. The bias is inside the cap, the mask outside.
//
// The kernels of the cap take a tile of logits as others take one of measures, so that the passes
// need not know of it: `logits` turns the one into the other. On the way back, the kernels of the
// cap give dL/dlogit before the cap, and those of the similarity continue from there: with the
// addend -logit their weight is 1, and their dL/dlogit what they are given.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/buffer.h"
#include "core/simd/kernels.h"
#include "core/simd/soft_cap.h"

namespace conelab {

/// An object serves one thread. T is float or double.
template <class T>
class CappedPairs {
 public:
  /// `cap` is c, or 0 if there is none; `own` are the kernels of the similarity.
  CappedPairs(const Kernels<T>& kernels, const SimilarityKernels<T>& own, double cap)
      : own_(&own), cap_kernels_(cap > 0 ? &soft_cap_kernels(kernels) : nullptr), cap_(T(cap)) {}

  [[nodiscard]] bool exist() const { return cap_kernels_ != nullptr; }
  /// Returns the kernels that take what `logits` returns; without a cap those of the similarity.
  [[nodiscard]] const SimilarityKernels<T>& kernels() const {
    return exist() ? *cap_kernels_ : *own_;
  }

  /// Replaces the measures of a tile by logits before the cap, with the bias. `column_lse` [count]
  /// is subtracted from the capped logits of the first columns; null: nothing is. Without a cap the
  /// tile stays as it is. The result is valid until the next call. If `keeps_measures`, `slopes`
  /// may follow.
  ScoreTile<T> logits(const ScoreTile<T>& score, const T* column_lse, int count,
                      bool keeps_measures) {
    if (!exist()) return score;
    const auto size = static_cast<std::size_t>(score.rows * score.stride);
    measured_ = score;
    measured_.addend = nullptr;
    if (keeps_measures) measures_.assign(score.tile, score.tile + size);
    own_->score(measured_);
    if (keeps_measures) {
      undo_.resize(size);
      std::transform(score.tile, score.tile + size, undo_.begin(), [](T x) { return -x; });
    }
    ScoreTile<T> capped = score;
    capped.constants = &cap_;
    capped.least = capped.most = nullptr;
    if (score.addend != nullptr || column_lse != nullptr) add(score, column_lse, count, capped);
    return capped;
  }

  /// Does what the slope kernels do, for the tile that `logits` has returned, and adds dL/dc to
  /// cap_slope.
  void slopes(PairLaw law, const SlopeTile<T>& tile, double& cap_slope) {
    if (!exist()) return own_->slope[law](tile);
    SlopeTile<T> capped = tile;
    capped.constant_slope = &cap_slope;
    capped.logit_slope = nullptr;
    cap_kernels_->slope[law](capped);
    // Says where dL/dlogit is 0 the pair may be masked, and its logit need not be finite.
    for (std::size_t i = 0; i < undo_.size(); ++i) {
      if (tile.slope[i] == 0) undo_[i] = -std::numeric_limits<T>::infinity();
    }
    const auto rows = static_cast<std::size_t>(tile.score.rows);
    zeros_.assign(rows, T(0));
    ones_.assign(rows, T(1));
    SlopeTile<T> own = tile;
    own.score = measured_;
    own.score.tile = measures_.data();
    own.score.addend = undo_.data();
    own.score.addend_stride = measured_.stride;
    own.reference = own.delta = zeros_.data();
    own.inverse_sum = ones_.data();
    own_->slope[referred_exponential](own);
  }

 private:
  const SimilarityKernels<T>* own_;
  const SimilarityKernels<T>* cap_kernels_;
  T cap_;
  ScoreTile<T> measured_{};
  Buffer<T> measures_, undo_, outside_;
  std::vector<T> zeros_, ones_;

  /// Adds the bias to the logits, and sets the addend of the capped ones: -inf for a masked pair.
  void add(const ScoreTile<T>& score, const T* column_lse, int count, ScoreTile<T>& capped) {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    outside_.resize(static_cast<std::size_t>(score.rows * score.stride));
    for (int r = 0; r < score.rows; ++r) {
      T* logit = score.tile + r * score.stride;
      T* outside = outside_.data() + r * score.stride;
      for (int c = 0; c < score.columns; ++c) {
        const T inside = score.addend == nullptr ? T(0) : score.addend[r * score.addend_stride + c];
        outside[c] = inside == hidden ? hidden : T(0);
        logit[c] += inside == hidden ? T(0) : inside;
      }
      for (int c = 0; column_lse != nullptr && c < count; ++c) {
        if (column_lse[c] != hidden) outside[c] -= column_lse[c];
      }
    }
    capped.addend = outside_.data();
    capped.addend_stride = score.stride;
  }
};

}  // namespace conelab
