#include "tests/core/tiles/cases.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "core/base/names.h"
#include "core/call/composed.h"
#include "core/similarity/table.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::istringstream in(text);
  std::vector<std::string> items;
  for (std::string item; std::getline(in, item, separator);) items.push_back(item);
  return items;
}

/// Each variant once for each of these values of a parameter.
std::vector<Variant> with_each(const std::vector<Variant>& variants, const std::string& key,
                               const std::vector<std::string>& words) {
  std::vector<Variant> all;
  for (const Variant& variant : variants) {
    for (const std::string& word : words) {
      all.push_back(variant);
      if (word.empty()) continue;
      all.back().call.parameters[key] = word;
      all.back().name += "_" + (word == "random" ? key : word);
    }
  }
  return all;
}

/// The calls that differ in words of a similarity's choices, and in whether tensors that it may
/// have are there.
std::vector<Variant> choices_of(const PartInfo& similarity) {
  const Call call = call_from_text(similarity.name);
  std::vector<Variant> all{{similarity.name, call}};
  for (const ParameterInfo& p : similarity.parameters) {
    if (std::string_view(p.key) == "evaluation") continue;  // See interval_attention_test.cpp.
    const bool optional = p.domain == Domain::tensor && !std::isnan(p.initial);
    if (optional) all = with_each(all, p.key, {"", "random"});
    if (p.domain == Domain::choice) all = with_each(all, p.key, choice_words(p));
  }
  return all;
}

bool resolves(const Call& call) {
  const Extents extents{1, 1, 2, 2, 3, 1};
  return !fixtures::caught([&] { return resolve(with_random_tensors(call), extents); });
}

std::vector<std::string> map_names() {
  std::vector<std::string> names;
  for (const PartInfo& map : list_maps()) {
    if (std::find(names.begin(), names.end(), map.name) == names.end()) names.push_back(map.name);
  }
  return names;
}

std::vector<Variant> make_variants() {
  std::vector<Variant> all;
  for (const PartInfo& similarity : list_similarities()) {
    for (Variant variant : choices_of(similarity)) {
      const std::string stem = variant.name;
      for (const std::string& map : map_names()) {
        variant.call.map = map;
        variant.call = with_random_tensors(variant.call);
        variant.name = fmt::format("{}_{}", stem, map);
        if (resolves(variant.call)) all.push_back(variant);
      }
    }
  }
  return all;
}

/// A value of the parameter's domain, different for each head, that keeps logits moderate.
double sample_value(const ParameterInfo& info, std::int64_t head) {
  const std::string key = info.key;
  if (key == "memory") return 4;  // Longer than a segment.
  if (key == "seed") return 0;    // What tests draw by themselves.
  if (key == "height") return 1.25 + 0.25 * static_cast<double>(head);
  // A large source leaves no space for the random tokens.
  if (key == "K") return 0.75 + 0.0625 * static_cast<double>(head);
  const double step = 0.125 * static_cast<double>(head);
  if (info.domain == Domain::whole) return 3;
  if (info.domain == Domain::count) return 2;
  if (key == "hype_mu") return 0.0625 + 0.25 * step;
  return info.domain == Domain::any ? -0.375 - step : 0.75 + step;
}

std::string sample_text(const ParameterInfo& info, std::int64_t heads) {
  std::vector<double> values;
  for (std::int64_t h = 0; h < heads; ++h) values.push_back(sample_value(info, h));
  return fmt::format("{}", fmt::join(values, ","));
}

/// What a token must be: any numbers, a point of a model, or an exponent below the light.
enum class Points { euclidean, half_space, hyperboloid, below_light, ball };

Points points_of(const Call& call) {
  if (call.similarity == "penumbral" && call.map == "psi") return Points::below_light;
  if (call.map != "none" || find_composed(call.similarity) != nullptr) return Points::euclidean;
  const auto model = call.parameters.find("model");
  std::vector<std::string> words;
  if (model != call.parameters.end()) words.push_back(model->second.text());
  switch (find_similarity(call.similarity, words)->info.space) {
    case Space::euclidean:
      return Points::euclidean;
    case Space::half_space:
      return Points::half_space;
    case Space::hyperboloid:
      return Points::hyperboloid;
    case Space::ball:
      return Points::ball;
  }
  return Points::euclidean;
}

/// Makes the last coordinate that of a point of the model.
void close_point(Points points, Random& random, double* x, std::int64_t d) {
  if (d < 1 || points == Points::euclidean) return;
  if (points == Points::below_light) {
    x[d - 1] = -std::abs(x[d - 1]);  // e^{x_d} <= 1
    return;
  }
  if (points == Points::half_space) {
    x[d - 1] = random.uniform(0.1, 0.95);
    return;
  }
  if (points == Points::ball) {
    // Distances 1.6 to 3.2 from the centre: beyond every source of `sample_value`.
    double norm2 = 0;
    for (std::int64_t c = 0; c < d; ++c) norm2 += x[c] * x[c];
    const double scale = std::tanh(random.uniform(0.8, 1.6)) / std::sqrt(norm2);
    for (std::int64_t c = 0; c < d; ++c) x[c] *= scale;
    return;
  }
  double time2 = 1;
  for (std::int64_t c = 0; c + 1 < d; ++c) time2 += x[c] * x[c];
  x[d - 1] = std::sqrt(time2);
}

Tensor4<double> random_tensor(Shape4 shape, Random& random, double spread) {
  Tensor4<double> t(shape);
  for (double& x : t.data) x = random.uniform(-spread, spread);
  return t;
}

Tensor4<double> random_tokens(Shape4 shape, Points points, Random& random, double spread) {
  Tensor4<double> t = random_tensor(shape, random, spread);
  for (std::int64_t row = 0; row * shape.feature < shape.size(); ++row) {
    close_point(points, random, t.data.data() + row * shape.feature, shape.feature);
  }
  return t;
}

}  // namespace

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = make_variants();
  return all;
}

bool takes_any_tokens(const Variant& variant) {
  const Call& call = variant.call;
  return call.map != "none" ||
         (find_composed(call.similarity) == nullptr && points_of(call) == Points::euclidean);
}

std::vector<Variant> rounded_variants() {
  std::vector<Variant> some;
  std::copy_if(variants().begin(), variants().end(), std::back_inserter(some), takes_any_tokens);
  return some;
}

std::vector<Variant> pair_variants() {
  std::vector<Variant> some;
  std::copy_if(variants().begin(), variants().end(), std::back_inserter(some),
               [](const Variant& v) { return find_composed(v.call.similarity) == nullptr; });
  return some;
}

std::vector<Parts> pairwise_parts() {
  const std::vector<std::vector<std::string>> names{bias_names(),
                                                    mask_names(),
                                                    weight_words(),
                                                    value_map_names(),
                                                    names_of(list_aggregates()),
                                                    names_of(list_positions())};
  using Name = std::pair<std::size_t, std::size_t>;  // A field and one of its names.
  std::set<std::pair<Name, Name>> missing;
  for (std::size_t f = 0; f < names.size(); ++f) {
    for (std::size_t g = f + 1; g < names.size(); ++g) {
      for (std::size_t a = 0; a < names[f].size(); ++a) {
        for (std::size_t b = 0; b < names[g].size(); ++b) missing.insert({{f, a}, {g, b}});
      }
    }
  }
  std::vector<Parts> all;
  while (!missing.empty()) {
    std::map<std::size_t, std::size_t> chosen{missing.begin()->first, missing.begin()->second};
    const auto gain = [&](const Name& name) {
      return std::count_if(chosen.begin(), chosen.end(), [&](const Name& other) {
        return missing.contains({std::min(name, other), std::max(name, other)});
      });
    };
    for (std::size_t f = 0; f < names.size(); ++f) {
      if (chosen.contains(f)) continue;
      std::size_t best = 0;
      for (std::size_t a = 1; a < names[f].size(); ++a) {
        if (gain({f, a}) > gain({f, best})) best = a;
      }
      chosen[f] = best;
    }
    for (const Name a : chosen) {
      for (const Name b : chosen) missing.erase({a, b});
    }
    const auto name = [&](std::size_t f) { return names[f][chosen[f]]; };
    all.push_back({name(0), {name(1)}, name(2), name(4), all.size() % 2 == 0, name(3), name(5)});
  }
  return all;
}

bool may_be_refused(const Call& call, bool backward) {
  const bool adds_to_values = find_bias(call.bias)->of_queries && maps_tokens(call.similarity);
  const bool has_plain_values = call.value_map == "none" && call.aggregate == "mean";
  if (adds_to_values && (!has_plain_values || is_over_queries(call))) return true;
  if (call.position != "none" && points_of(call) != Points::euclidean) return true;
  return backward && is_over_queries(call) && call.masks.front() == "segment";
}

std::string variant_name(const testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void give_mask_parameters(Call& call) {
  for (const PartInfo& mask : list_masks()) {
    if (std::find(call.masks.begin(), call.masks.end(), mask.name) == call.masks.end()) continue;
    for (const ParameterInfo& p : mask.parameters) {
      if (p.domain == Domain::tensor || !std::isnan(p.initial)) continue;
      call.parameters.emplace(p.key, sample_text(p, 1));
    }
  }
}

Call chosen_parts(const Variant& variant, const Parts& parts) {
  Call call = variant.call;
  call.bias = parts.bias;
  call.masks = parts.masks;
  call.position = parts.position;
  const std::vector<std::string> weights = split(parts.weights, ':');
  call.weights = weights.front();
  for (std::size_t i = 1; i < weights.size(); ++i) {
    const std::vector<std::string> choice = split(weights[i], '=');
    call.parameters[choice.front()] = choice.back();
  }
  call.value_map = parts.value_map;
  call.aggregate = parts.aggregate;
  return call;
}

Extents with_key_heads(Extents extents, std::size_t turn) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t n = extents.head; n > 0; --n) {
    if (extents.head % n == 0) divisors.push_back(n);
  }
  extents.key_head = extents.value_head = divisors[turn % divisors.size()];
  return extents;
}

Call make_call(const Variant& variant, const Parts& parts, const Extents& extents) {
  Call call = chosen_parts(variant, parts);
  give_mask_parameters(call);
  call = with_random_tensors(std::move(call));
  const auto plan = resolve(call, extents);
  const ComposedSimilarity* composed = find_composed(call.similarity);
  for (const Parameter& p : plan->parameters) {
    const std::string key = p.info.key;
    if (key == "grid") continue;  // It must fit the keys.
    const bool list = parts.per_head && p.info.differentiable;
    if (p.is_number() && (composed == nullptr || key != composed->fixed)) {
      call.parameters[key] = sample_text(p.info, list ? extents.head : 1);
    }
  }
  return call;
}

AttentionInput<double> random_input(const Call& call, const Extents& e, std::uint64_t seed,
                                    double spread) {
  Random random(seed);
  const Points points = points_of(call);
  AttentionInput<double> input;
  input.query = random_tokens({e.batch, e.head, e.query, e.feature}, points, random, spread);
  input.key = random_tokens({e.batch, e.key_heads(), e.key, e.feature}, points, random, spread);
  // |v| < 0.9 in every dimension.
  const double radius = 0.9 / std::sqrt(std::max(1.0, static_cast<double>(e.value)));
  input.value = random_tensor({e.batch, e.value_heads(), e.key, e.value}, random, radius);
  const TokenMapRow* value_map = find_token_map(call.value_map);
  const std::int64_t columns = value_map == nullptr ? e.value : value_map->columns(e.value, {});
  input.output_grad = random_tensor({e.batch, e.head, e.query, columns}, random, 1);
  const bool shared = e.key_heads() < e.head;
  if (shared) input.allowed_sizes = {e.batch, e.head, e.query, e.key};
  for (std::int64_t i = 0; i < (shared ? e.batch * e.head : 1) * e.query * e.key; ++i) {
    input.allowed.push_back(random.uniform(0, 1) < 0.75 ? 1 : 0);
  }
  for (std::int64_t b = 0; b < e.batch; ++b) {
    input.key_lengths.push_back(static_cast<std::int64_t>(random.uniform(0, 1) * (e.key + 1)));
  }
  draw_tensors(with_random_tensors(call), input, seed);
  return input;
}

AttentionInput<double> projected_input(const Call& call, const Extents& e, std::uint64_t seed,
                                       bool joins_heads) {
  AttentionInput<double> input = random_input(call, e, seed);
  input.tensors.clear();
  Random random(seed + 1);
  const auto add = [&](const char* name, std::vector<std::int64_t> extents) {
    Array<double>& tensor = input.tensors[name];
    std::int64_t size = 1;
    for (const std::int64_t n : extents) size *= n;
    tensor.extents = std::move(extents);
    for (std::int64_t i = 0; i < size; ++i) tensor.data.push_back(random.uniform(-0.5, 0.5));
  };
  add("P_query", {6, e.feature});
  add("P_key", {e.head, 6, e.feature});
  add("P_value", {e.head, 5, e.value});
  if (joins_heads) add("P_output", {7, 5 * e.head});
  const std::int64_t heads = joins_heads ? 1 : e.head, columns = joins_heads ? 7 : 5;
  input.output_grad = random_tensor({e.batch, heads, e.query, columns}, random, 1);
  draw_tensors(with_random_tensors(call), input, seed);
  return input;
}

std::vector<std::string> bias_names(const std::string& similarity) {
  std::vector<std::string> names;
  for (const PartInfo& bias : list_biases()) {
    Call call = call_from_text(similarity);
    call.bias = bias.name;
    if (resolves(call)) names.push_back(bias.name);
  }
  return names;
}
std::vector<std::string> mask_names() { return names_of(list_masks()); }
std::vector<std::string> value_map_names() { return names_of(list_value_maps()); }

std::vector<std::string> weight_words() {
  std::vector<std::string> all;
  for (const PartInfo& part : list_weights()) {
    if (part.parameters.empty()) all.push_back(part.name);
    for (const ParameterInfo& p : part.parameters) {
      const bool tensor = p.domain == Domain::tensor;
      for (const std::string& word :
           tensor ? std::vector<std::string>{"random"} : choice_words(p)) {
        all.push_back(fmt::format("{}:{}={}", part.name, p.key, word));
      }
    }
    all.push_back(all.back() + ":soft_cap=1");
  }
  return all;
}

bool is_over_queries(const Call& call) {
  const auto axis = call.parameters.find("axis");
  return axis != call.parameters.end() && axis->second == "query";
}

}  // namespace conelab::tests
