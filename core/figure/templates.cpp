#include "core/figure/templates.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/figure/geometry_templates.h"

namespace conelab::figure {
namespace {

const TemplateKey caption_key = {"caption", "", "text under the figure"};

// Which cases of a benchmark; where nothing is initial, the first that the file has.
const TemplateKey pass_key = {"pass", "forward", "forward, backward or forward+backward", true,
                              "forward|backward|forward+backward"};
const TemplateKey device_key = {"device", "cpu", "which device", true};
const TemplateKey dtype_key = {"dtype", "", "which dtype", true, "f64|f32|bf16|f16"};
const TemplateKey threads_key = {"threads", "", "which number of threads", true};
const TemplateKey dim_key = {"dim", "", "which dimension per head", true};
const TemplateKey head_key = {"head", "", "which number of heads", true};

std::optional<std::string> value_of(const Parameters& parameters, const std::string& key) {
  const auto found = parameters.find(key);
  return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

double number(const std::string& key, std::string_view text) {
  const std::optional<double> value = parse_number(text);
  if (!value) misuse("-p {}={}: not a number", key, text);
  return *value;
}

namespace {

void read(const Parameters& p, const std::string& key, double& value) {
  if (const auto text = value_of(p, key)) value = number(key, *text);
}

void read(const Parameters& p, const std::string& key, std::string& value) {
  if (const auto text = value_of(p, key)) value = *text;
}

/// One of two words; true for the first.
void read(const Parameters& p, const std::string& key, const std::string& yes,
          const std::string& no, bool& value) {
  const auto text = value_of(p, key);
  if (!text) return;
  if (*text != yes && *text != no) misuse("-p {}={}: expected {} or {}", key, *text, yes, no);
  value = *text == yes;
}

}  // namespace

namespace {

using Keys = std::vector<TemplateKey>;

const TemplateKey similarities_key = {
    "similarities", "dot,penumbral,umbral",
    "operators, one panel each; with parameters as penumbral:gamma=2:masks=causal", true};
const TemplateKey batch_key = {"batch", "0", "which batch element", true};
const TemplateKey limits_key = {"limits", "shared", "shared by the panels, or own", false,
                                "shared|own"};
constexpr const char* attention_input = "a trace (q, k, v) or a result of `attend`";

TemplateInfo heatmap_template() {
  return {"heatmap",
          "attention of several operators side by side on one trace, with token labels",
          attention_input,
          "double",
          {similarities_key,
           {"quantity", "weights", "weights or logits", true, "weights|logits"},
           batch_key,
           {"head", "0", "which head", true},
           {"difference", "", "operator whose values the others are subtracted from", true},
           {"scale", "linear", "linear, log, row (divided by the row's largest) or rank", false,
            "linear|log|row|rank"},
           limits_key,
           {"low", "", "lower limit of the colours"},
           {"high", "", "upper limit of the colours"},
           {"colours", "sequential", "sequential, dark or diverging", false,
            "sequential|dark|diverging"},
           caption_key}};
}

TemplateInfo arcs_template() {
  return {"arcs",
          "attention of several operators on one trace as arcs between tokens",
          attention_input,
          "double",
          {similarities_key,
           batch_key,
           {"head", "0", "which head", true},
           {"top", "3", "how many arcs a query has at most, its strongest", true},
           {"threshold", "0.01", "the weakest weight that is drawn", true},
           {"arrangement", "sides",
            "sides (above: to earlier tokens, below: to later ones), above, or rows", false,
            "sides|above|rows"},
           limits_key,
           caption_key}};
}

/// Of a figure of a benchmark: which of its cases, then what it takes besides.
TemplateInfo bench_template(const char* name, const char* about, const char* width,
                            const char* operators, const Keys& more = {}) {
  Keys keys = {{"operators", "", operators, true},
               pass_key,
               device_key,
               dtype_key,
               threads_key,
               dim_key,
               head_key};
  keys.insert(keys.end(), more.begin(), more.end());
  keys.push_back(caption_key);
  return {name, about, "a result of `bench`", width, keys};
}

std::vector<TemplateInfo> all_templates() {
  const char* chosen = "which of the file's operators";
  std::vector<TemplateInfo> all = {
      heatmap_template(),
      arcs_template(),
      bench_template("scaling",
                     "time against sequence length, with 95 % intervals and fitted exponents",
                     "double", chosen,
                     {{"ratio", "no", "yes adds a panel of times relative to the first operator",
                       false, "yes|no"},
                      {"guide", "2", "slope of the guide line, or none"}}),
      bench_template("ratio", "time relative to the first operator against sequence length",
                     "single", "which of the file's operators; the first is the base"),
      bench_template("roofline", "attained against attainable performance", "single", chosen),
  };
  all.insert(all.end(), geometry_templates().begin(), geometry_templates().end());
  return all;
}

}  // namespace

const std::vector<TemplateInfo>& figure_templates() {
  static const std::vector<TemplateInfo> table = all_templates();
  return table;
}

const TemplateInfo& figure_template(const std::string& name) {
  std::vector<std::string> known;
  for (const TemplateInfo& info : figure_templates()) {
    if (name == info.name) return info;
    known.emplace_back(info.name);
  }
  unknown_name("figure", name, known);
}

void check_keys(const TemplateInfo& info, const Parameters& parameters) {
  std::vector<std::string> known;
  for (const TemplateKey& key : info.keys) known.emplace_back(key.key);
  for (const auto& [key, value] : parameters) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      unknown_name("key of figure " + std::string(info.name), key, known);
    }
  }
}

void set_parameters(const Parameters& p, HeatmapFigure& figure) {
  if (const auto scale = value_of(p, "scale")) figure.scale = heat_scale_from_name(*scale);
  if (const auto map = value_of(p, "colours")) figure.map = colour_map_from_name(*map);
  read(p, "limits", "shared", "own", figure.shared_limits);
  const bool low = p.contains("low"), high = p.contains("high");
  if (low != high) misuse("heatmap: low and high are given together (found one of them)");
  if (low) {
    read(p, "low", figure.limits.low), read(p, "high", figure.limits.high);
    if (!(figure.limits.low < figure.limits.high)) misuse("heatmap: low must be below high");
  }
  read(p, "caption", figure.caption);
}

void set_parameters(const Parameters& p, ArcsFigure& figure) {
  if (const auto name = value_of(p, "arrangement")) {
    figure.arrangement = arc_arrangement_from_name(*name);
  }
  read(p, "limits", "shared", "own", figure.shared_limits);
  read(p, "caption", figure.caption);
}

void set_parameters(const Parameters& p, ScalingFigure& figure) {
  read(p, "ratio", "yes", "no", figure.ratio_panel);
  if (const auto guide = value_of(p, "guide")) {
    figure.guide = *guide == "none" ? std::nullopt : std::optional(number("guide", *guide));
  }
  read(p, "caption", figure.caption);
}

void set_parameters(const Parameters& p, RooflineFigure& figure) {
  read(p, "caption", figure.caption);
}

}  // namespace conelab::figure
