#include "core/tree/head_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/tree/head_tree.h"
#include "core/tree/order.h"

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
  const bool separates = contains(special_, separator_mark);
  if (separates) out.separator = on_separators_ / total_;
  if (!ancestor_.empty()) out.order = on_ancestors_ / total_;
  if (!segmentation_) return out;
  const Segmentation found = segmentation_->result();
  if (found.strongest >= 0) {
    out.boundary = found.relative[static_cast<std::size_t>(found.strongest)];
  }
  return out;
}

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "CLS", "SEP", "unused12".
bool is_bracketed_name(std::string_view name) {
  if (name == "UNK") return false;
  if (name.starts_with("unused")) return true;
  return name.size() >= 2 && is_upper(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

/// "s", "/s", "pad", "start_of_turn", "extra_id_3".
bool is_tag_name(std::string_view name) {
  if (name == "unk") return false;
  if (name.starts_with('/')) name.remove_prefix(1);
  return !name.empty() && is_lower(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

/// Returns whether a token separates or ends texts.
bool is_separator(const std::string& token) {
  return token == "[SEP]" || token == "<sep>" || token == "</s>" || token == "<eos>";
}

}  // namespace

bool is_special_token(const std::string& token) {
  const std::string_view t = token;
  if (t.size() < 3) return false;
  if (t.size() >= 5 && t.starts_with("<|") && t.ends_with("|>")) return true;
  const std::string_view name = t.substr(1, t.size() - 2);
  if (t.front() == '[' && t.back() == ']') return is_bracketed_name(name);
  return t.front() == '<' && t.back() == '>' && is_tag_name(name);
}

std::vector<std::uint8_t> special_tokens(const std::vector<std::string>& tokens,
                                         std::size_t count) {
  std::vector<std::uint8_t> special(count);
  bool any = false;
  for (std::size_t i = 0; i < std::min(count, tokens.size()); ++i) {
    if (!is_special_token(tokens[i])) continue;
    special[i] = is_separator(tokens[i]) ? separator_mark : special_mark;
    any = true;
  }
  if (!any && count > 0) special.front() = special.back() = special_mark;
  return special;
}

std::vector<std::uint8_t> key_ancestors(const Call& call_of_head,
                                        const AttentionInput<double>& input) {
  const Extents e = check_extents(input);
  if (e.query != e.key || e.key > most_ordered || !is_attention(call_of_head)) return {};
  try {
    const auto found = head_elements(pair_call(call_of_head, input), Tokens::key, 0, 0);
    if (!found) return {};
    return ancestor_order(found->system.family->base, found->elements).ancestor;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace conelab::tree
