#include "core/tree/head_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace conelab::tree {

std::string score_text(double score) {
  if (std::isnan(score)) return "–";
  const int decimals = std::abs(score) < 9.995 ? 2 : std::abs(score) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", score, decimals);
}

HeadScorer::HeadScorer(std::size_t queries, std::size_t keys, std::vector<std::uint8_t> special,
                       std::vector<std::uint8_t> ancestor)
    : queries_(queries),
      keys_(keys),
      special_(std::move(special)),
      ancestor_(std::move(ancestor)),
      allowed_(keys),
      row_(keys) {
  if (queries == keys) {
    segmentation_.emplace(keys);
  } else {
    ancestor_.clear();
  }
}

void HeadScorer::add_rows(const float* weights, std::size_t count) {
  for (std::size_t r = 0; r < count; ++r) add_row(weights + r * keys_);
}

void HeadScorer::add_row(const float* weights) {
  const double position =
      static_cast<double>(done_) + static_cast<double>(keys_) - static_cast<double>(queries_);
  double sum = 0, logarithms = 0;
  for (std::size_t j = 0; j < keys_; ++j) {
    allowed_[j] = !(std::isinf(weights[j]) && weights[j] < 0);
    const double w = row_[j] = allowed_[j] ? static_cast<double>(weights[j]) : 0;
    known_ = known_ && std::isfinite(w) && w >= 0;
    if (!(w > 0)) continue;
    const double away = static_cast<double>(j) - position;
    sum += w;
    logarithms += w * std::log(w);
    distance_ += w * std::abs(away);
    if (away < 0) earlier_ += w;
    if (special_[j] != 0) on_special_ += w;
    if (special_[j] == separator_mark) on_separators_ += w;
    if (!ancestor_.empty() && ancestor_[j * keys_ + done_]) on_ancestors_ += w;
  }
  if (segmentation_) segmentation_->add_row(row_.data(), allowed_.data());
  ++done_;
  if (!(sum > 0)) return;
  total_ += sum;
  ++rows_with_weight_;
  entropy_ += std::log(sum) - logarithms / sum;  // −Σ p ln p with p = w / sum.
}

HeadScores HeadScorer::scores() const {
  HeadScores out;
  if (!known_ || rows_with_weight_ == 0) return out;
  // Rounding may bring the entropy of a row with one weight below 0.
  out.entropy = std::max(0.0, entropy_ / static_cast<double>(rows_with_weight_));
  out.distance = distance_ / total_;
  out.earlier = earlier_ / total_;
  out.special = on_special_ / total_;
  const bool separates =
      std::find(special_.begin(), special_.end(), separator_mark) != special_.end();
  if (separates) out.separator = on_separators_ / total_;
  if (!ancestor_.empty()) out.order = on_ancestors_ / total_;
  if (!segmentation_) return out;
  const Segmentation found = segmentation_->result();
  if (found.strongest >= 0) {
    out.boundary = found.relative[static_cast<std::size_t>(found.strongest)];
  }
  return out;
}

}  // namespace conelab::tree
