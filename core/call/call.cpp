#include "core/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/find_named.h"
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
  return std::any_of(call.parameters.begin(), call.parameters.end(),
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
    const bool taken = std::any_of(fields.begin(), fields.end(),
                                   [&](std::string_view name) { return name == field.name; });
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

}  // namespace conelab
