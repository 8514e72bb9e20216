// The rows of the tables as JSON, from which `conelab list` and the manual's reference are made.
#include "app/list_rows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/processors.h"
#include "core/base/tensor.h"
#include "core/call/errata.h"
#include "core/call/resolver.h"
#include "core/dataset/dataset.h"
#include "core/operators/combines.h"
#include "core/operators/operator.h"
#include "core/simd/kernels.h"
#include "core/source/figure_table.h"
#include "core/token/model_map.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

const char* domain_text(Domain domain) {
  static constexpr const char* names[] = {
      "any",    "> 0",   "1e-15 .. 1e15", ">= 0", "whole number >= 1", "whole number >= 0",
      "choice", "tensor"};
  return names[static_cast<std::size_t>(domain)];
}

Json parameter_json(const ParameterInfo& info) {
  const bool is_sides = info.domain == Domain::whole && std::string_view(info.shape) == "axes";
  Json json{{"key", info.key},
            {"about", info.about},
            {"domain", is_sides ? "whole numbers >= 1, joined by x" : domain_text(info.domain)}};
  if (info.domain == Domain::choice) {
    json["choices"] = info.choices;
    json["default"] = std::isnan(info.initial) ? Json(nullptr) : Json(choice_words(info).front());
  } else if (info.domain == Domain::tensor) {
    const std::string axes = join(tensor_axes(info), ",");
    json["shape"] = axes.empty() ? "head" : (is_of_pairs(info) ? "..," : "") + axes;
    json["needed"] = std::isnan(info.initial);
  } else if (std::isnan(info.initial)) {
    json["default"] = nullptr;
  } else {
    const bool whole = info.domain == Domain::whole || info.domain == Domain::count;
    json["default"] = whole ? Json(std::llround(info.initial)) : Json(info.initial);
  }
  if (*info.computed != 0) json["computed"] = info.computed;
  json["differentiable"] = info.differentiable;
  return json;
}

Json part_json(const PartInfo& part) {
  Json json{{"name", part.name}, {"about", part.about}};
  if (!part.variants.empty()) json["variants"] = part.variants;
  json["paper"] = part.paper.empty() ? Json(nullptr) : Json(part.paper);
  if (!part.default_map.empty()) json["default_map"] = part.default_map;
  if (!part.conditions.empty()) json["conditions"] = part.conditions;
  json["parameters"] = Json::array();
  for (const ParameterInfo& info : part.parameters) {
    json["parameters"].push_back(parameter_json(info));
  }
  for (const Erratum& e : errata()) {
    if (part.name != e.part) continue;
    json["errata"].push_back(
        {{"where", e.where}, {"printed", e.printed}, {"correct", e.correct}, {"check", e.check}});
  }
  return json;
}

/// Adds the projections and the soft cap, which every similarity takes, to its parameters. They are
/// marked as shared, so that the list for people names them once.
void add_shared(Json& similarity) {
  const auto add = [&](const ParameterInfo& info) {
    similarity["parameters"].push_back(parameter_json(info));
    similarity["parameters"].back()["shared"] = true;
  };
  for (const ParameterInfo& info : projection_parameters()) add(info);
  add(soft_cap);
}

/// Returns every similarity and every structured operator, with its cost in n, the devices that
/// compute it, and the parts that it combines with.
Json operators_json() {
  Json list = Json::array();
  for (const OperatorListing& listing : list_operators()) {
    Json json = part_json(listing.part);
    json["cost"] = listing.cost;
    json["devices"] = Json::array({"cpu"});
    if (is_attention(call_from_text(listing.part.name))) {
      json["devices"].push_back("cuda");
      add_shared(json);
    }
    for (const Combination& c : combinations(listing.part.name)) {
      json["combines"][c.field] = c.parts;
      if (std::string_view(c.field) == "similarity")
        json["default_similarity"] = operator_similarity;
    }
    list.push_back(json);
  }
  return list;
}

Json similarities_json() {
  Json list = operators_json();
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(list_similarities().size()), list.end());
  return list;
}

Json parts_json(const std::string& field, const std::vector<PartInfo>& parts) {
  Json list = Json::array();
  for (const PartInfo& part : parts) {
    Json json = part_json(part);
    Json& operators = json["combines"]["operators"] = Json::array();
    for (const OperatorListing& listing : list_operators()) {
      for (const Combination& c : combinations(listing.part.name)) {
        const bool fits = contains(c.parts, part.name);
        if (c.field == field && fits) operators.push_back(listing.part.name);
      }
    }
    list.push_back(json);
  }
  return list;
}

Json maps_json() {
  const std::vector<PartInfo> parts = list_maps();
  Json list = Json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    list.push_back(part_json(parts[i]));
    Json& operators = list.back()["combines"]["operators"] = Json::array();
    for (const PartInfo& similarity : list_similarities()) {
      if (looks_at(similarity.name, model_map_table()[i].space))
        operators.push_back(similarity.name);
    }
  }
  return list;
}

/// Returns the names of the operators and of other parts with a tensor that has this axis.
std::set<std::string> parts_with(const TensorAxis& axis) {
  std::vector<PartInfo> parts;
  for (const OperatorListing& listing : list_operators()) parts.push_back(listing.part);
  for (const CallField& field : call_fields()) {
    if (field.parts == nullptr) continue;
    for (const PartInfo& part : field.parts()) parts.push_back(part);
  }
  std::set<std::string> names;
  for (const PartInfo& part : parts) {
    for (const ParameterInfo& info : part.parameters) {
      if (has_axis(info, axis)) names.insert(part.name);
    }
  }
  for (const ParameterInfo& info : projection_parameters()) {
    if (!has_axis(info, axis)) continue;
    for (const PartInfo& similarity : list_similarities()) names.insert(similarity.name);
  }
  return names;
}

/// Returns the axes of tensors with the parts that have them. "2f" is twice as long as f, "2clip+1"
/// one more than twice clip.
Json axes_json() {
  Json list = Json::array();
  for (const TensorAxis& axis : tensor_axis_table()) {
    list.push_back({{"name", axis.name}, {"about", axis.about}, {"parts", parts_with(axis)}});
  }
  return list;
}

Json figures_json() {
  Json list = Json::array();
  for (const figure::FigureInfo& figure : figure::figure_table()) {
    Json json{{"name", figure.name},
              {"about", figure.about},
              {"input", figure.source.text},
              {"parameters", Json::array()}};
    for (const figure::FigureKey& key : figure.keys) {
      Json parameter{{"key", key.key}, {"about", key.about}, {"default", key.initial}};
      parameter["group"] = figure::key_group_titles[static_cast<int>(group_of(figure, key))];
      if (!key.choices.empty()) parameter["choices"] = key.choices;
      json["parameters"].push_back(parameter);
    }
    list.push_back(json);
  }
  return list;
}

Json key_json(const KeyInfo& key) {
  Json json{{"key", key.key}, {"about", key.about}};
  std::optional<double> number;
  if (!key.is_text()) number = parse_number(key.initial);
  json["domain"] = key.is_text() && key.domain == Domain::any ? "text" : domain_text(key.domain);
  if (key.domain == Domain::choice) json["choices"] = key.choices;
  const bool whole = key.domain == Domain::whole || key.domain == Domain::count;
  json["default"] = key.initial;
  if (number) json["default"] = *number;
  if (number && whole) json["default"] = std::llround(*number);
  return json;
}

Json datasets_json() {
  Json list = Json::array();
  for (const DatasetInfo& info : dataset_table()) {
    Json json{{"name", info.name}, {"about", info.about}, {"parameters", Json::array()}};
    for (const KeyInfo& key : keys_of(info)) json["parameters"].push_back(key_json(key));
    list.push_back(json);
  }
  list.push_back({{"name", "minilm_trace"},
                  {"about",
                   "query, key, value of all-MiniLM-L6-v2, layers 0-5, 12 heads, d = 32: groups "
                   "german, english, taxonomy, glosses; ships as datasets/minilm_trace.h5"}});
  list.push_back(
      {{"name", "mammals_trace"},
       {"about",
        "query, key, value of WordNet's carnivores, trained by `conelab train` for dot, "
        "penumbral and umbral, d = 2 and 3: groups dot/seed1 to umbral_d3/seed5; ships as "
        "datasets/mammals_trace.h5"}});
  return list;
}

Json devices_json() {
  const DeviceState cuda = cuda_backend().state();
  return {
      {{"name", "cpu"},
       {"about", fmt::format("{} threads, SIMD target {}", usable_processors(), simd_summary())},
       {"simd", simd_targets<Bfloat16>()},
       {"available", true}},
      {{"name", cuda.name},
       {"about", cuda.about},
       {"driver", cuda.driver.empty() ? Json(nullptr) : Json(cuda.driver)},
       {"available", cuda.available}}};
}

constexpr Listing table[] = {
    {"similarities", similarities_json},
    {"operators", operators_json},
    {"maps", maps_json},
    {"masks", [] { return parts_json("masks", list_masks()); }},
    {"biases", [] { return parts_json("bias", list_biases()); }},
    {"positions", [] { return parts_json("position", list_positions()); }},
    {"weights", [] { return parts_json("weights", list_weights()); }},
    {"value-maps", [] { return parts_json("value_map", list_value_maps()); }},
    {"aggregates", [] { return parts_json("aggregate", list_aggregates()); }},
    {"axes", axes_json},
    {"figures", figures_json},
    {"datasets", datasets_json},
    {"devices", devices_json},
};

}  // namespace

std::vector<std::string> listing_names() { return names_of(table); }

const Listing& find_listing(const std::string& name) { return row_named("list", table, name); }

std::string formula_text(const Json& row) {
  std::string text = row["about"].get<std::string>();
  if (row.contains("paper") && row["paper"].is_string()) {
    text += " (" + row["paper"].get<std::string>() + ")";
  }
  for (const Json& variant : row.value("variants", Json::array())) {
    text += "; " + variant.get<std::string>();
  }
  return text;
}

std::string erratum_text(const Json& e) {
  return fmt::format("{} prints \"{}\"; correct: {}. {}", e["where"].get<std::string>(),
                     e["printed"].get<std::string>(), e["correct"].get<std::string>(),
                     e["check"].get<std::string>());
}

std::string default_text(const Json& p) {
  if (p.contains("computed")) return p["computed"].get<std::string>();
  if (p["default"].is_string()) return p["default"].get<std::string>();
  if (p["default"].is_number_float()) return fmt::format("{}", p["default"].get<double>());
  return p["default"].is_null() ? "(needed)" : p["default"].dump();
}

std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t line_end = 100;
  std::string out;
  std::size_t column = indent, begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t size = end - begin;
    if (column > indent && column + 1 + size > line_end) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ', ++column;
    }
    out += text.substr(begin, size);
    column += size;
    begin = end + 1;
  }
  return out;
}

}  // namespace conelab
