#include "core/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/evaluation.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/weights.h"
#include "core/call/composed.h"
#include "core/pair/bias.h"
#include "core/pair/mask.h"
#include "core/similarity/table.h"
#include "core/token/model_map.h"
#include "core/token/token_map.h"

namespace conelab {
namespace {

constexpr std::array fields{
    CallField{"similarity", "--similarity", "pairwise logit", &Call::similarity, nullptr,
              &list_similarities},
    CallField{"position", "--position", "how positions change queries and keys", &Call::position,
              nullptr, &list_positions},
    CallField{"map", "--map", "from Euclid to the model; default: the similarity's own", &Call::map,
              nullptr, &list_maps},
    CallField{"bias", "--bias", "a number added to the logit by relative position", &Call::bias,
              nullptr, &list_biases},
    CallField{"masks", "--mask", "which keys a query sees; several intersect: causal,padding",
              nullptr, &Call::masks, &list_masks},
    CallField{"weights", "--weights", "how logits become weights", &Call::weights, nullptr,
              &list_weights},
    CallField{"value_map", "--value-map", "how values become points that are aggregated",
              &Call::value_map, nullptr, &list_value_maps},
    CallField{"aggregate", "--aggregate", "how weighted values become the output", &Call::aggregate,
              nullptr, &list_aggregates},
};

/// The bias whose tensor has the name of its field. A text gives both at once: bias=@FILE.npy.
constexpr const char* pair_bias = "explicit";
constexpr const char* pair_tensor = "bias";

template <class Row>
PartInfo part_info(const Row& row) {
  PartInfo info{row.name, row.about, row.paper, {}};
  if constexpr (requires { row.parameters; }) {
    info.parameters.assign(row.parameters.begin(), row.parameters.end());
  }
  if constexpr (requires { row.conditions; }) info.conditions = row.conditions;
  return info;
}

template <class Rows>
std::vector<PartInfo> part_list(const Rows& rows) {
  std::vector<PartInfo> list;
  for (const auto& row : rows) list.push_back(part_info(row));
  return list;
}

/// Returns "none", described by `none`, followed by the token maps of one kind.
template <class Kind>
std::vector<PartInfo> token_map_list(const char* none, const Kind& kind) {
  std::vector<PartInfo> list{{"none", none, "", {}}};
  for (const TokenMapRow& row : token_map_table()) {
    if (kind(row)) list.push_back(part_info(row));
  }
  return list;
}

PartInfo similarity_info(const SimilarityRow& row) {
  PartInfo info{row.info.name,
                row.info.about,
                row.info.paper,
                {row.parameters.begin(), row.parameters.end()},
                row.info.default_map};
  for (const ChosenWord& word : row.info.words) {
    if (word.choice != nullptr) info.parameters.push_back(*word.choice);
  }
  if (std::string_view(row.info.name) == "umbral") info.parameters.push_back(evaluation_choice);
  return info;
}

/// Returns "FORMULA (PAPER)".
std::string with_paper(const std::string& formula, const std::string& paper) {
  return paper.empty() ? formula : fmt::format("{} ({})", formula, paper);
}

/// Returns "convention = reference: ..." with the words that differ from those of the name's
/// first row.
std::string other_formula(const SimilarityRow& row) {
  std::string text;
  for (const ChosenWord& word : row.info.words) {
    if (word.choice == nullptr || choice_words(*word.choice).front() == word.word) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", word.choice->key, word.word);
  }
  return fmt::format("{}: {}", text, with_paper(row.info.about, row.info.paper));
}

/// Returns a composed similarity as a part. Its free parameters are those of the map, then those of
/// the similarity.
PartInfo composed_info(const ComposedSimilarity& composed) {
  const SimilarityRow* row = find_similarity(composed.similarity);
  PartInfo info{composed.name, composed.about, composed.paper, {}, row->info.default_map};
  if (const TokenMapRow* tokens = find_token_map(composed.token_map)) {
    info.parameters.assign(tokens->parameters.begin(), tokens->parameters.end());
  }
  for (const ParameterInfo& p : row->parameters) {
    if (std::string_view(p.key) != composed.fixed) info.parameters.push_back(p);
  }
  return info;
}

}  // namespace

std::string description(const PartInfo& part) {
  std::string text = with_paper(part.about, part.paper);
  for (const std::string& variant : part.variants) text += "; " + variant;
  return text;
}

bool draws_tensors(const Call& call) {
  return std::ranges::any_of(call.parameters,
                             [](const auto& parameter) { return parameter.second.is_random(); });
}

std::span<const CallField> call_fields() { return fields; }

std::string field_text(const CallField& field, const Call& call, char separator) {
  if (field.word != nullptr) return call.*field.word;
  std::string text;
  for (const std::string& entry : call.*field.list) {
    text += (text.empty() ? "" : std::string(1, separator)) + entry;
  }
  return text;
}

void set_field(const CallField& field, Call& call, const std::string& text, char separator) {
  if (field.word == &Call::bias && (Value(text).is_random() || Value(text).file())) {
    call.bias = pair_bias;
    call.parameters[pair_tensor] = text;
    return;
  }
  if (field.word != nullptr) {
    call.*field.word = text;
    return;
  }
  std::vector<std::string>& list = call.*field.list;
  list.assign(1, "");
  for (const char c : text) c == separator ? list.emplace_back() : list.back() += c;
}

bool is_default(const CallField& field, const Call& call) {
  Call plain;
  if (!is_attention(call)) plain.similarity = operator_similarity;
  return field_text(field, call, ',') == field_text(field, plain, ',');
}

std::vector<PartInfo> list_similarities() {
  std::vector<PartInfo> list;
  for (const SimilarityRow& row : similarity_table()) {
    if (find_composed(row.info.name) != nullptr) continue;
    const bool another = !list.empty() && list.back().name == row.info.name;
    if (!another) {
      list.push_back(similarity_info(row));
    } else if (list.back().about != row.info.about) {
      list.back().variants.push_back(other_formula(row));
    }
  }
  for (const ComposedSimilarity& composed : composed_similarities()) {
    list.push_back(composed_info(composed));
  }
  return list;
}
std::vector<PartInfo> list_positions() {
  return token_map_list("positions do not change tokens",
                        [](const TokenMapRow& row) { return row.is_position; });
}
std::vector<PartInfo> list_maps() { return part_list(model_map_table()); }
std::vector<PartInfo> list_biases() { return part_list(bias_table()); }
std::vector<PartInfo> list_masks() { return part_list(mask_table()); }
std::vector<PartInfo> list_weights() { return part_list(weight_rows); }
std::vector<PartInfo> list_value_maps() {
  return token_map_list("values as they are; for einstein Klein coordinates",
                        [](const TokenMapRow& row) { return row.maps_value; });
}
std::vector<PartInfo> list_aggregates() { return part_list(aggregate_rows); }

std::vector<ParameterInfo> part_parameters(const Call& call, std::span<const char* const> fields) {
  std::vector<ParameterInfo> all;
  const auto add = [&](const PartInfo* part) {
    if (part == nullptr) return;
    for (const ParameterInfo& info : part->parameters) {
      if (!contains_key(all, info.key)) all.push_back(info);
    }
  };
  Call named = call;
  const std::vector<PartInfo> similarities = list_similarities();
  const PartInfo* similarity = find_named(similarities, call.similarity);
  if (named.map.empty() && similarity != nullptr) named.map = similarity->default_map;
  for (const CallField& field : call_fields()) {
    const bool taken =
        std::ranges::any_of(fields, [&](std::string_view name) { return name == field.name; });
    const bool structured_takes = field.list == &Call::masks || field.word == &Call::position;
    if (!is_attention(call) && !structured_takes && !taken) continue;
    const std::vector<PartInfo> parts = field.parts();
    if (field.word != nullptr) {
      add(find_named(parts, named.*field.word));
    } else {
      for (const std::string& entry : named.*field.list) add(find_named(parts, entry));
    }
  }
  return all;
}

namespace {

/// Returns the numbers between separators; none if an entry is no number.
std::vector<double> numbers_at(std::string_view text, char separator) {
  std::vector<double> numbers;
  for (const std::string_view part : split_at(text, separator)) {
    const std::optional<double> number = parse_number(part);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::vector<double>> lists_of(std::string_view text) {
  std::vector<std::vector<double>> lists;
  for (const std::string_view part : split_at(text, ';')) {
    lists.push_back(numbers_at(part, ','));
    if (lists.back().empty()) return {};
  }
  return lists;
}

}  // namespace

Value::Value(double number) : text_(fmt::format("{}", number)), lists_{{number}}, sides_{number} {}

Value::Value(const std::vector<double>& list) : text_(join(list, ",")), lists_{list} {
  if (list.size() == 1) sides_ = list;
}

Value::Value(std::string text)
    : text_(std::move(text)), lists_(lists_of(text_)), sides_(numbers_at(text_, 'x')) {}

Value Value::of_sides(const std::vector<double>& sides) { return join(sides, "x"); }

std::optional<double> Value::number() const {
  if (lists_.size() != 1 || lists_.front().size() != 1) return std::nullopt;
  return lists_.front().front();
}

std::optional<std::string> Value::file() const {
  if (!text_.starts_with('@')) return std::nullopt;
  return text_.substr(1);
}

Value Value::of_head(std::int64_t head, bool by_axis) const {
  if (is_random() || file()) return *this;
  std::string text = text_;
  if (!by_axis) std::ranges::replace(text, ';', ',');
  const std::vector<std::string_view> by_head = split_at(text, by_axis ? ';' : ',');
  const auto at = static_cast<std::size_t>(head);
  if (by_head.size() < 2 || at >= by_head.size()) return *this;
  return std::string(by_head[at]);
}

namespace {

/// Returns the field with this name in JSON or on the command line, or null for a parameter's key.
const CallField* field_named(const std::string& key) {
  const auto found = std::ranges::find_if(call_fields(), [&](const CallField& field) {
    return key == field.name || "--" + key == field.option;
  });
  return found == call_fields().end() ? nullptr : &*found;
}

bool is_similarity(const std::string& name) {
  const std::vector<PartInfo> all = list_similarities();
  return std::ranges::any_of(all, [&](const PartInfo& p) { return p.name == name; });
}

}  // namespace

void set_operator(Call& call, const std::string& name) {
  if (const NamedOperator* named = find_named_operator(name)) {
    call.similarity = named->similarity;
    call.masks = {named->mask};
  } else if (is_similarity(name)) {
    call.similarity = name;
  } else {
    call.operation = name;
    call.similarity = operator_similarity;
  }
}

void check_named_operator(const Call& call, const std::string& name) {
  const NamedOperator* named = find_named_operator(name);
  if (named == nullptr) return;
  Call own = call;
  set_operator(own, name);
  if (own == call) return;
  misuse("{} is {} with the mask {} and takes no other similarity or mask", name, named->similarity,
         named->mask);
}

Call call_from_text(const std::string& text) {
  std::vector<std::string> list = words_at(text, ':');
  if (list.empty()) list.emplace_back();
  Call call;
  set_operator(call, list.front());
  std::set<std::string> keys;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const std::size_t equals = list[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      misuse("{}: '{}' is no KEY=VALUE (expected as penumbral:gamma=2)", text, list[i]);
    }
    const std::string key = list[i].substr(0, equals), value = list[i].substr(equals + 1);
    const CallField* field = field_named(key);
    if (!keys.insert(field == nullptr ? key : field->name).second) {
      misuse("{}: the key '{}' is given twice", text, key);
    }
    if (field == nullptr) {
      call.parameters[key] = value;
    } else if (is_attention(call) && field->word == &Call::similarity && value != call.similarity) {
      misuse("{}: the similarity {} contradicts the operator {}", text, value, list.front());
    } else {
      set_field(*field, call, value, '+');
    }
  }
  check_named_operator(call, list.front());
  return call;
}

std::string call_text(const Call& call) {
  std::string text = operator_name(call);
  for (const CallField& field : call_fields()) {
    if (is_default(field, call) || (is_attention(call) && field.word == &Call::similarity))
      continue;
    if (field.word == &Call::bias && call.parameters.contains(pair_tensor)) continue;
    text += fmt::format(":{}={}", field.name, field_text(field, call, '+'));
  }
  for (const auto& [key, value] : call.parameters) text += fmt::format(":{}={}", key, value.text());
  return text;
}

namespace {

/// Returns a value for titles: as it was typed, but numbers with more than eight characters have
/// four digits.
std::string title_text(const Value& value) {
  bool typed = true;
  std::vector<std::string> lists;
  for (const std::vector<double>& list : value.lists()) {
    std::vector<std::string> numbers;
    for (const double x : list) {
      numbers.push_back(fmt::format("{}", x));
      if (numbers.back().size() <= 8) continue;
      typed = false;
      numbers.back() = fmt::format("{:.4g}", x);
    }
    lists.push_back(join(numbers, ","));
  }
  return typed ? value.text() : join(lists, ";");
}

}  // namespace

std::string call_title(const Call& call) {
  std::string title = operator_name(call);
  const bool of_heads = !is_attention(call) && call.similarity != operator_similarity;
  if (of_heads) title += ", " + call.similarity;
  if (!call.map.empty()) title += ", " + call.map;
  for (const auto& [key, value] : call.parameters) title += ", " + key + " = " + title_text(value);
  for (const CallField& field : call_fields()) {
    const bool named = field.word == &Call::similarity || field.word == &Call::map;
    if (named || is_default(field, call)) continue;
    std::string words = field_text(field, call, ',');
    for (std::size_t at = 0; (at = words.find(',', at)) != std::string::npos; at += 2) {
      words.insert(at + 1, " ");
    }
    title += ", " + words;
  }
  return title;
}

Call call_with_own_mask(Call call) {
  if (!read_by_any(call.masks, MaskOperand::allowed)) {
    std::erase(call.masks, "full");
    call.masks.emplace_back(mask_reading(MaskOperand::allowed).name);
  }
  return call;
}

}  // namespace conelab
