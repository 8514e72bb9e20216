#include "core/operators/combines.h"

#include <algorithm>

#include "core/base/names.h"
#include "core/call/composed.h"

namespace conelab {
namespace {

std::vector<std::string> fitting_maps(const std::string& similarity) {
  std::vector<std::string> names;
  for (const ModelMapRow& row : model_map_table()) {
    const bool known = contains(names, row.name);
    if (!known && looks_at(similarity, row.space)) names.emplace_back(row.name);
  }
  return names;
}

std::vector<Combination> combinations_of_similarity(const std::string& similarity) {
  std::vector<Combination> all;
  for (const CallField& field : call_fields()) {
    if (field.word == &Call::similarity) continue;
    const bool is_map = field.word == &Call::map;
    all.push_back({field.name, is_map ? fitting_maps(similarity) : names_of(field.parts())});
  }
  return all;
}

/// Returns the positions that every structured operator accepts: those that are added to tokens.
std::vector<std::string> added_positions() {
  std::vector<std::string> names{"none"};
  for (const TokenMapRow& row : token_map_table()) {
    if (row.is_added) names.emplace_back(row.name);
  }
  return names;
}

std::vector<Combination> combinations_of_row(const OperatorInfo& info) {
  std::vector<Combination> all{{"masks", {info.masks.begin(), info.masks.end()}}};
  if (info.masks.data() == every_mask) all.front().parts = names_of(list_masks());
  const auto takes_field = [&](std::string_view name) { return contains(info.fields, name); };
  if (!takes_field("position")) all.push_back({"position", added_positions()});
  for (const CallField& field : call_fields()) {
    if (takes_field(field.name)) all.push_back({field.name, names_of(field.parts())});
  }
  return all;
}

}  // namespace

bool looks_at(const std::string& similarity, Space space) {
  const ComposedSimilarity* composed = find_composed(similarity);
  const std::string base = composed == nullptr ? similarity : composed->similarity;
  const auto rows = similarity_table();
  return std::ranges::any_of(rows, [&](const SimilarityRow& row) {
    return row.info.name == base && row.info.space == space;
  });
}

std::vector<Combination> combinations(const std::string& operation) {
  for (const OperatorRow& row : operator_table().subspan(1)) {
    const OperatorInfo& info = row.info;
    if (operation == info.name) return combinations_of_row(info);
  }
  if (const NamedOperator* named = find_named_operator(operation)) {
    std::vector<Combination> all = combinations_of_similarity(named->similarity);
    for (Combination& each : all) {
      if (each.field == "masks") each.parts = {named->mask};
    }
    return all;
  }
  for (const PartInfo& part : list_similarities()) {
    if (operation == part.name) return combinations_of_similarity(operation);
  }
  return {};
}

bool combines(const std::string& operation, std::string_view field, std::string_view part) {
  for (const Combination& each : combinations(operation)) {
    if (each.field != field) continue;
    return contains(each.parts, part);
  }
  return false;
}

}  // namespace conelab
