#include "widgets/maps/map_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace conelab::desktop {
namespace {

constexpr std::string_view continues = "##";
constexpr std::string_view begins[] = {"▁", "Ġ", " "};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_sign(std::string_view token, std::string_view sign) {
  return token.size() > sign.size() && token.starts_with(sign);
}

/// Returns the sign at the beginning of words that this tokenizer uses; empty if it uses none.
std::string_view sign_of_words(const std::vector<std::string>& tokens) {
  for (const std::string_view sign : begins) {
    const bool used = std::any_of(tokens.begin(), tokens.end(),
                                  [&](const std::string& t) { return has_sign(t, sign); });
    if (used) return sign;
  }
  return {};
}

/// Bytes beyond ASCII belong to letters.
bool is_punctuation(std::string_view token) {
  return std::none_of(token.begin(), token.end(), [](char c) {
    return is_upper(c) || is_lower(c) || is_digit(c) || static_cast<unsigned char>(c) > 127;
  });
}

bool continues_word(const std::string& token, bool word_pieces, std::string_view sign) {
  if (word_pieces) return has_sign(token, continues);
  return !sign.empty() && !token.starts_with(sign) && !is_punctuation(token);
}

bool shows_matrices(const MapChoice& choice) {
  return choice.layout == "maps" || choice.layout == "table";
}

}  // namespace

std::vector<bool> begins_word(const std::vector<std::string>& tokens) {
  const bool word_pieces = std::any_of(tokens.begin(), tokens.end(),
                                       [](const std::string& t) { return has_sign(t, continues); });
  const std::string_view sign = sign_of_words(tokens);
  std::vector<bool> begin(tokens.size(), true);
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const bool alone = tree::is_special_token(tokens[i]) || tree::is_special_token(tokens[i - 1]);
    begin[i] = alone || !continues_word(tokens[i], word_pieces, sign);
  }
  return begin;
}

std::string without_sign(const std::string& piece) {
  if (has_sign(piece, continues)) return piece.substr(continues.size());
  for (const std::string_view sign : begins) {
    if (has_sign(piece, sign)) return piece.substr(sign.size());
  }
  return piece;
}

std::int64_t MapAxis::cell_of(std::int64_t token) const {
  if (!merged()) return token;
  return std::upper_bound(first.begin(), first.end(), token) - first.begin() - 1;
}

std::string MapAxis::label_of(std::int64_t cell) const {
  const auto index = static_cast<std::size_t>(cell);
  return index < label.size() ? label[index] : std::to_string(cell);
}

std::string MapAxis::text_of(std::int64_t cell) const {
  const auto index = static_cast<std::size_t>(cell);
  const std::int64_t begin = first[index], last = first[index + 1] - 1;
  std::string text = fmt::format("{} {}", name, begin);
  if (last > begin) text += fmt::format("–{}", last);
  return index < label.size() ? text + fmt::format(" “{}”", label[index]) : text;
}

MapAxis map_axis(const char* name, const std::vector<std::string>& tokens, std::int64_t count,
                 bool merge) {
  MapAxis axis;
  axis.name = name;
  const bool named = static_cast<std::int64_t>(tokens.size()) == count;
  const std::vector<bool> begin = named && merge ? begins_word(tokens) : std::vector<bool>();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (!begin.empty() && !begin[index]) {
      axis.label.back() += without_sign(tokens[index]);
      continue;
    }
    axis.first.push_back(i);
    axis.special.push_back(named && tree::is_special_token(tokens[index]) ? 1 : 0);
    if (named) axis.label.push_back(merge ? without_sign(tokens[index]) : tokens[index]);
  }
  axis.first.push_back(count);
  return axis;
}

bool MapTokens::has_special() const {
  const auto any = [](const MapAxis& axis) {
    return std::find(axis.special.begin(), axis.special.end(), 1) != axis.special.end();
  };
  return any(query) || any(key);
}

std::optional<Focus> MapTokens::cell_of(const std::optional<Focus>& pair) const {
  if (!pair || pair->query < 0 || pair->key < 0 || pair->query >= query.tokens() ||
      pair->key >= key.tokens()) {
    return std::nullopt;
  }
  return Focus{query.cell_of(pair->query), key.cell_of(pair->key)};
}

Focus MapTokens::pair_of(const Focus& cell) const {
  return {query.first[static_cast<std::size_t>(cell.query)],
          key.first[static_cast<std::size_t>(cell.key)]};
}

bool merges_words(const MapChoice& choice) { return choice.merge_words && shows_matrices(choice); }

bool excludes_special(const MapChoice& choice) {
  return choice.special_tokens == "excluded" &&
         (shows_matrices(choice) || choice.layout == "heads");
}

MapTokens map_tokens(const Trace& trace, std::int64_t batch, const MapChoice& choice) {
  const bool merge = merges_words(choice);
  const auto& stored = trace.stored;
  const std::string rows = stored ? stored->row_axis : "query";
  const std::string columns = stored && !stored->of_pairs() ? stored->column_axis : "key";
  return {map_axis(rows.c_str(), trace.query_tokens(batch), trace.query.shape.token, merge),
          map_axis(columns.c_str(), trace.key_tokens(batch), trace.key.shape.token, merge),
          excludes_special(choice)};
}

MapChoice shown_maps(const MapChoice& choice, const Trace* trace) {
  if (trace == nullptr || !trace->stored) return choice;
  MapChoice shown = choice;
  shown.calls = {Call()};
  shown.reference = -1;
  shown.join = head_joins[0];
  shown.quantity = trace->stored->name;
  return shown;
}

}  // namespace conelab::desktop
