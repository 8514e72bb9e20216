#include "core/tree/score_input.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/tree/head_scores.h"
#include "core/tree/head_tree.h"
#include "core/tree/order.h"

namespace conelab::tree {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "CLS", "SEP", "unused12".
bool is_bracketed_name(std::string_view name) {
  if (name == "UNK") return false;
  if (name.starts_with("unused")) return true;
  return name.size() >= 2 && is_upper(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

/// "s", "/s", "pad", "start_of_turn", "extra_id_3".
bool is_tag_name(std::string_view name) {
  if (name == "unk") return false;
  if (name.starts_with('/')) name.remove_prefix(1);
  return !name.empty() && is_lower(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
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
    const auto plan = resolve(call_of_head, e);
    const auto found = head_elements(*plan, input, Tokens::key, 0, 0);
    if (!found) return {};
    return ancestor_order(found->system.family->base, found->elements).ancestor;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace conelab::tree
