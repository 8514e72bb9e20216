#include "widgets/operators/operator_parts.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/base/find_named.h"
#include "core/call/call_text.h"
#include "core/call/composed.h"
#include "core/operators/combines.h"
#include "core/pair/mask.h"
#include "core/token/model_map.h"

namespace conelab::desktop {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the operator whose maps and biases fit the call.
const std::string& taker_of(const CallField& field, const Call& call) {
  const bool by_similarity = field.word == &Call::map || field.word == &Call::bias;
  return by_similarity && makes_heads(call) ? call.similarity : operator_name(call);
}

/// Returns the names of a field that the call's operator takes.
std::vector<std::string> fitting_names(const CallField& field, const Call& call) {
  const auto takes = [&](const Combination& each) { return each.field == field.name; };
  const std::vector<Combination> own = combinations(operator_name(call));
  if (std::none_of(own.begin(), own.end(), takes)) return {};
  const std::vector<Combination> all = combinations(taker_of(field, call));
  const auto found = std::find_if(all.begin(), all.end(), takes);
  return found == all.end() ? std::vector<std::string>() : found->parts;
}

/// Returns whether a part of a field reads what a file or an option brings along.
bool is_of_file(const CallField& field, const PartInfo& part) {
  const MaskRow* row = field.list == &Call::masks ? find_mask(part.name) : nullptr;
  return row != nullptr &&
         (row->operand == MaskOperand::allowed || row->operand == MaskOperand::lengths);
}

/// Returns whether the call's operator takes the value of a field, which for masks is a list.
bool fits(const CallField& field, const Call& call, const Call& from) {
  const std::vector<std::string> names = fitting_names(field, call);
  if (field.word != nullptr) return contains(names, from.*field.word);
  return std::all_of((from.*field.list).begin(), (from.*field.list).end(),
                     [&](const std::string& name) { return contains(names, name); });
}

}  // namespace

std::vector<PartInfo> fitting_parts(const CallField& field, const Call& call) {
  const std::vector<std::string> names = fitting_names(field, call);
  std::vector<PartInfo> fitting, all = field.parts();
  for (std::size_t i = 0; i < all.size(); ++i) {
    // `none` is another map in each space.
    const bool of_space =
        field.word != &Call::map || looks_at(call.similarity, model_map_table()[i].space);
    const bool known = std::any_of(fitting.begin(), fitting.end(),
                                   [&](const PartInfo& part) { return part.name == all[i].name; });
    const bool offered = of_space && !known && !is_of_file(field, all[i]);
    if (offered && contains(names, all[i].name)) fitting.push_back(all[i]);
  }
  return fitting;
}

bool is_needed(const ParameterInfo& info) {
  return info.domain != Domain::tensor && std::isnan(info.initial) && *info.computed == 0;
}

std::string own_map(const Call& call) try {
  Call plain;
  plain.similarity = call.similarity;
  const auto model = call.parameters.find("model");  // The half-space has another map.
  if (model != call.parameters.end()) plain.parameters.insert(*model);
  return resolve(with_random_tensors(plain), {1, 1, 2, 2, 2, 2})->call.map;
} catch (const Error&) {
  return {};
}

void keep_known_parameters(Call& call) {
  const std::vector<ParameterInfo> known = call_parameters(call);
  std::erase_if(call.parameters, [&](const auto& entry) {
    return entry.first != "seed" &&
           std::none_of(known.begin(), known.end(),
                        [&](const ParameterInfo& info) { return entry.first == info.key; });
  });
}

Call with_operator(const Call& call, const std::string& name) {
  Call next;
  set_operator(next, name);
  const bool named = find_named_operator(name) != nullptr;  // It sets its mask.
  for (const CallField& field : call_fields()) {
    if (field.word == &Call::similarity && (is_attention(call) || is_attention(next))) continue;
    if (field.list != nullptr && named) continue;
    if (fits(field, next, call)) set_field(field, next, field_text(field, call, ','), ',');
  }
  next.parameters = call.parameters;
  keep_known_parameters(next);
  for (const OperatorListing& listing : list_operators()) {
    if (listing.part.name != operator_name(next)) continue;
    for (const ParameterInfo& info : listing.part.parameters) next.parameters.erase(info.key);
  }
  if (!draws_tensors(next)) next.parameters.erase("seed");
  return next;
}

std::string operator_help(const OperatorListing& listing) {
  const bool chain = is_attention(call_from_text(listing.part.name));
  return listing.part.name + ": " + description(listing.part) + "\nCost: " + listing.cost +
         (chain ? "" : ", on the CPU only");
}

}  // namespace conelab::desktop
