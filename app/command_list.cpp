// `conelab list WHAT`: the parts by name, with formulas, parameters and defaults.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "core/base/names.h"
#include "core/figure/figure_table.h"
#include "core/operators/operator.h"
#include "core/simd/kernels.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

const char* domain_text(Domain domain) {
  switch (domain) {
    case Domain::positive:
      return "> 0";
    case Domain::moderate:
      return "1e-15 .. 1e15";
    case Domain::non_negative:
      return ">= 0";
    case Domain::whole:
      return "whole number >= 1";
    case Domain::count:
      return "whole number >= 0";
    case Domain::choice:
      return "choice";
    case Domain::tensor:
      return "tensor";
    case Domain::any:
      break;
  }
  return "any";
}

Json parameter_json(const ParameterInfo& info) {
  Json json{{"key", info.key}, {"about", info.about}, {"domain", domain_text(info.domain)}};
  if (info.domain == Domain::choice) {
    json["choices"] = info.choices;
  } else if (info.domain == Domain::tensor) {
    json["shape"] = fmt::format("{}", fmt::join(tensor_axes(info), ","));
    json["needed"] = std::isnan(info.initial);
    json["differentiable"] = info.differentiable;
  } else {
    json["default"] = std::isnan(info.initial) ? Json(nullptr) : Json(info.initial);
    json["differentiable"] = info.differentiable;
  }
  return json;
}

Json parts_json(const std::vector<PartInfo>& parts) {
  Json list = Json::array();
  for (const PartInfo& part : parts) {
    Json json{{"name", part.name}, {"about", part.about}};
    if (!part.default_map.empty()) json["default_map"] = part.default_map;
    json["parameters"] = Json::array();
    for (const ParameterInfo& info : part.parameters) {
      json["parameters"].push_back(parameter_json(info));
    }
    list.push_back(json);
  }
  return list;
}

/// Every similarity and every structured operator, with its cost in n.
Json operators_json() {
  Json list = Json::array();
  for (const OperatorListing& listing : list_operators()) {
    Json json = parts_json({listing.part}).front();
    json["cost"] = listing.cost;
    list.push_back(json);
  }
  return list;
}

Json figures_json() {
  Json list = Json::array();
  for (const figure::FigureInfo& figure : figure::figure_table()) {
    Json json{{"name", figure.name},
              {"about", figure.about},
              {"input", figure.input()},
              {"parameters", Json::array()}};
    for (const figure::FigureKey& key : figure.keys) {
      Json parameter{{"key", key.key}, {"about", key.about}, {"default", key.initial}};
      if (*key.choices != '\0') parameter["choices"] = key.choices;
      json["parameters"].push_back(parameter);
    }
    list.push_back(json);
  }
  return list;
}

Json datasets_json() {
  return {{{"name", "minilm_trace"},
           {"about",
            "query, key, value of all-MiniLM-L6-v2, layers 0-5, 12 heads, d = 32: groups german, "
            "english, taxonomy, glosses; ships as datasets/minilm_trace.h5"}}};
}

/// The machine's devices; the CPU is always there.
Json devices_json() {
  const DeviceState cuda = cuda_backend().state();
  return {{{"name", "cpu"},
           {"about", fmt::format("{} threads, SIMD target {}", std::thread::hardware_concurrency(),
                                 simd_summary())},
           {"simd", simd_targets<Bfloat16>()},
           {"available", true}},
          {{"name", cuda.name},
           {"about", cuda.about},
           {"driver", cuda.driver.empty() ? Json(nullptr) : Json(cuda.driver)},
           {"available", cuda.available}}};
}

/// Text that starts at column `indent`, broken between words.
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

/// The default of a parameter as it is listed; of a choice its words, the default first.
std::string default_text(const Json& p) {
  if (p.contains("shape")) return "[" + p["shape"].get<std::string>() + "]";
  if (!p.contains("default")) return p["choices"].get<std::string>();
  if (p["default"].is_string()) return p["default"].get<std::string>();
  if (!p["default"].is_null()) return p["default"].dump();
  // Without a number, `about` says what the default depends on, or that there is none.
  const bool none =
      p["about"].get_ref<const std::string&>().find("no default") != std::string::npos;
  return none ? "(needed)" : "from the input";
}

void print_parameters(const Json& part) {
  std::size_t width = 0;
  for (const Json& p : part["parameters"]) {
    width = std::max(width, p["key"].get_ref<const std::string&>().size());
  }
  for (const Json& p : part["parameters"]) {
    const std::string value = default_text(p);
    say("      -p {:<{}} = {:<16} {}", p["key"].get<std::string>(), width, value,
        p["about"].get<std::string>());
  }
}

void print_rows(const Json& rows) {
  std::size_t width = 0;
  for (const Json& row : rows) {
    width = std::max(width, row["name"].get_ref<const std::string&>().size());
  }
  for (const Json& row : rows) {
    std::string map =
        row.contains("default_map") ? " [map " + row["default_map"].get<std::string>() + "]" : "";
    if (row.contains("cost")) map += " [cost " + row["cost"].get<std::string>() + "]";
    say("  {:<{}}  {}", row["name"].get<std::string>(), width,
        wrapped(row["about"].get<std::string>() + map, width + 4));
    if (row.contains("parameters")) print_parameters(row);
  }
}

void print_devices(const Json& rows) {
  for (const Json& row : rows) {
    say("  {}: {}", row["name"].get<std::string>(), row["about"].get<std::string>());
  }
}

struct Listing {
  const char* name;
  Json (*rows)();
  void (*print)(const Json& rows) = print_rows;
};

const Listing listings[] = {
    {"similarities", [] { return parts_json(list_similarities()); }},
    {"operators", operators_json},
    {"maps", [] { return parts_json(list_maps()); }},
    {"masks", [] { return parts_json(list_masks()); }},
    {"biases", [] { return parts_json(list_biases()); }},
    {"positions", [] { return parts_json(list_positions()); }},
    {"weights", [] { return parts_json(list_weights()); }},
    {"aggregates", [] { return parts_json(list_aggregates()); }},
    {"figures", figures_json},
    {"datasets", datasets_json},
    {"devices", devices_json, print_devices},
};

std::vector<std::string> listing_names() {
  std::vector<std::string> names;
  for (const Listing& listing : listings) names.emplace_back(listing.name);
  return names;
}

const Listing& find_listing(const std::string& name) {
  for (const Listing& listing : listings) {
    if (listing.name == name) return listing;
  }
  unknown_name("list", name, listing_names());
}

}  // namespace

Action declare_list(CLI::App& options) {
  struct Typed {
    std::string what;
    bool json = false;
  };
  const auto typed = std::make_shared<Typed>();
  options.add_option("WHAT", typed->what, join(listing_names()))->required();
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] {
    const Listing& listing = find_listing(typed->what);
    const Json rows = listing.rows();
    typed->json ? print_json(rows) : listing.print(rows);
    return 0;
  };
}

}  // namespace conelab
