#include "core/call/plan.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (std::find(names.begin(), names.end(), row.name) == names.end())
      names.emplace_back(row.name);
  }
  return names;
}

std::vector<std::string> similarity_names() {
  std::vector<std::string> names;
  for (const auto& row : similarity_table()) {
    if (names.empty() || names.back() != row.info.name) names.emplace_back(row.info.name);
  }
  return names;
}

/// "paper|reference" of the rows that share a name; empty where there is no choice.
std::vector<std::string> words_of(const std::string& similarity) {
  std::vector<std::string> words;
  for (const auto& row : similarity_table()) {
    if (similarity == row.info.name && row.info.choice != nullptr)
      words.emplace_back(row.info.word);
  }
  return words;
}

std::vector<double> parse_numbers(const std::string& key, const std::string& text) {
  std::vector<double> values;
  for (const std::string_view part : split_commas(text)) {
    const std::optional<double> value = parse_number(part);
    if (!value) misuse("parameter {}: '{}' is not a number", key, part);
    values.push_back(*value);
  }
  return values;
}

/// Builds a plan step by step from what the user wrote.
class Resolver {
 public:
  Resolver(const Call& call, const Extents& extents) : call_(call) {
    plan_->call = call;
    plan_->extents = extents;
  }

  std::shared_ptr<const Plan> resolve() {
    choose_similarity();
    choose_map();
    choose_bias();
    choose_masks();
    choose_weights();
    check_keys();
    return plan_;
  }

 private:
  const Call& call_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::vector<std::string> known_keys_;

  void choose_similarity() {
    const std::vector<std::string> words = words_of(call_.similarity);
    std::string word;
    if (!words.empty()) {
      const char* key = find_similarity(call_.similarity, words.front())->info.choice->key;
      const auto given = call_.parameters.find(key);
      word = given == call_.parameters.end() ? words.front() : given->second;
      if (std::find(words.begin(), words.end(), word) == words.end()) {
        unknown_name(key, word, words);
      }
      known_keys_.emplace_back(key);
      plan_->choices[key] = word;
    }
    plan_->similarity = find_similarity(call_.similarity, word);
    if (plan_->similarity == nullptr) {
      unknown_name("similarity", call_.similarity, similarity_names());
    }
    add(plan_->similarity->parameters, plan_->similarity_parameters);
    const double d = static_cast<double>(plan_->extents.feature);
    for (const std::size_t i : plan_->similarity_parameters) {
      // The one default of a similarity that depends on the input is the product's 1/sqrt(d).
      fill(
          i, [d](std::int64_t) { return 1 / std::sqrt(std::max(1.0, d)); }, false);
    }
  }

  void choose_map() {
    std::string& name = plan_->call.map;
    if (name.empty()) name = plan_->similarity->info.default_map;
    plan_->map = find_map(name, plan_->similarity->info.space);
    if (plan_->map == nullptr) {
      std::vector<std::string> fitting;
      for (const MapRow& row : map_table()) {
        if (row.space == plan_->similarity->info.space) fitting.emplace_back(row.name);
      }
      unknown_name(fmt::format("map for {}", call_.similarity), name, fitting);
    }
    if (plan_->extents.feature < 1 && plan_->similarity->info.space != Space::euclidean) {
      fail("{} needs at least one feature per token (found 0)", call_.similarity);
    }
    add(plan_->map->parameters, plan_->map_parameters);
    for (const std::size_t i : plan_->map_parameters) fill(i);
  }

  void choose_bias() {
    plan_->bias = find_bias(call_.bias);
    if (plan_->bias == nullptr) unknown_name("bias", call_.bias, names_of(bias_table()));
    add(plan_->bias->parameters, plan_->bias_parameters);
    const Extents& e = plan_->extents;
    for (std::size_t p = 0; p < plan_->bias_parameters.size(); ++p) {
      const auto initial = [&, p](std::int64_t head) {
        return plan_->bias->initial(static_cast<int>(p), static_cast<int>(head),
                                    static_cast<int>(e.head), std::max(e.query, e.key));
      };
      fill(plan_->bias_parameters[p], initial, true);
    }
  }

  void choose_masks() {
    if (plan_->call.masks.empty()) plan_->call.masks = {"full"};
    for (const std::string& name : plan_->call.masks) {
      const MaskRow* row = find_mask(name);
      if (row == nullptr) unknown_name("mask", name, names_of(mask_table()));
      plan_->masks.push_back({row, {}});
      add(row->parameters, plan_->masks.back().parameters);
      fill_mask(plan_->masks.back());
    }
  }

  void fill_mask(const PlannedMask& mask) {
    for (const std::size_t i : mask.parameters) {
      fill(i);
      const Parameter& p = plan_->parameters[i];
      if (p.values.empty()) misuse("mask {} needs parameter {}", mask.row->name, p.info.key);
      if (p.per_head()) {
        misuse("parameter {} of a mask is one number for all heads (found {})", p.info.key,
               p.values.size());
      }
    }
  }

  void choose_weights() {
    plan_->sigmoid = call_.weights == "sigmoid";
    if (!plan_->sigmoid && call_.weights != "softmax") {
      unknown_name("weights", call_.weights, {"softmax", "sigmoid"});
    }
    plan_->einstein = call_.aggregate == "einstein";
    if (!plan_->einstein && call_.aggregate != "mean") {
      unknown_name("aggregate", call_.aggregate, {"mean", "einstein"});
    }
  }

  void check_keys() {
    for (const auto& [key, text] : call_.parameters) {
      if (std::find(known_keys_.begin(), known_keys_.end(), key) != known_keys_.end()) continue;
      const std::string nearest = nearest_name(key, known_keys_);
      misuse("unknown parameter '{}'{} ({} takes: {})", key,
             nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest), call_.similarity,
             known_keys_.empty() ? "none" : join(known_keys_));
    }
  }

  /// Appends parameters that no earlier part has declared; parts may share a key.
  void add(std::span<const ParameterInfo> infos, ParameterSet& set) {
    for (const ParameterInfo& info : infos) {
      auto& all = plan_->parameters;
      const auto same = std::find_if(all.begin(), all.end(), [&](const Parameter& p) {
        return std::string_view(p.info.key) == info.key;
      });
      set.push_back(static_cast<std::size_t>(same - all.begin()));
      if (same != all.end()) continue;
      all.push_back({info, {}});
      known_keys_.emplace_back(info.key);
    }
  }

  bool given(std::size_t i) const {
    return call_.parameters.contains(plan_->parameters[i].info.key);
  }

  /// Takes what the user gave, else the default, if there is one.
  void fill(std::size_t i) {
    Parameter& p = plan_->parameters[i];
    if (!p.values.empty()) return;
    if (given(i)) {
      p.values = parse_numbers(p.info.key, call_.parameters.at(p.info.key));
      check_length(p);
    } else if (!std::isnan(p.info.initial)) {
      p.values = {p.info.initial};
    }
    for (const double v : p.values) check_domain(p.info, v);
  }

  /// The same, else initial(head), per head if it says so.
  template <class Initial>
  void fill(std::size_t i, Initial initial, bool initial_per_head) {
    fill(i);
    Parameter& p = plan_->parameters[i];
    if (!p.values.empty()) return;
    const std::int64_t count =
        initial_per_head ? std::max<std::int64_t>(1, plan_->extents.head) : 1;
    for (std::int64_t h = 0; h < count; ++h) p.values.push_back(initial(h));
    const bool equal = std::all_of(p.values.begin(), p.values.end(),
                                   [&](double v) { return v == p.values.front(); });
    if (equal) p.values.resize(1);
    for (const double v : p.values) check_domain(p.info, v);
  }

  void check_length(const Parameter& p) const {
    const auto count = static_cast<std::int64_t>(p.values.size());
    if (count == 1 || count == plan_->extents.head) return;
    misuse("parameter {}: a list gives one value per head (expected {}, found {})", p.info.key,
           plan_->extents.head, count);
  }
};

}  // namespace

int Plan::light_index() const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (std::string_view(parameters[i].info.key) == "height") return static_cast<int>(i);
  }
  return -1;
}

bool Plan::sees_all() const {
  return std::all_of(masks.begin(), masks.end(),
                     [](const PlannedMask& mask) { return mask.row == &mask_table().front(); });
}

double Plan::light(std::int64_t head) const {
  if (similarity->light != nullptr) {
    return similarity->light(values(similarity_parameters, head).data());
  }
  const int index = light_index();
  return index < 0 ? std::numeric_limits<double>::infinity()
                   : parameters[static_cast<std::size_t>(index)].at(head);
}

MapContext Plan::map_context(const std::vector<double>& map_values, std::int64_t head) const {
  MapContext context;
  context.feature = static_cast<int>(extents.feature);
  context.p = map_values.data();
  context.light = light(head);
  context.published_code = similarity->info.choice == &convention &&
                           std::string_view(similarity->info.word) == "reference";
  return context;
}

std::vector<MaskPart> Plan::mask_parts() const {
  std::vector<MaskPart> parts;
  for (const PlannedMask& mask : masks) parts.push_back({mask.row, values(mask.parameters, 0)});
  return parts;
}

std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents) {
  return Resolver(call, extents).resolve();
}

const std::vector<Parameter>& parameters(const Plan& plan) { return plan.parameters; }
const std::map<std::string, std::string>& choices(const Plan& plan) { return plan.choices; }
const Call& resolved_call(const Plan& plan) { return plan.call; }

namespace {

template <class Row>
PartInfo part_info(const Row& row) {
  return {row.name, row.about, {row.parameters.begin(), row.parameters.end()}, ""};
}

template <class Rows>
std::vector<PartInfo> part_list(const Rows& rows) {
  std::vector<PartInfo> list;
  for (const auto& row : rows) list.push_back(part_info(row));
  return list;
}

}  // namespace

std::vector<PartInfo> list_similarities() {
  std::vector<PartInfo> list;
  for (const SimilarityRow& row : similarity_table()) {
    const bool another = !list.empty() && list.back().name == row.info.name;
    if (another && list.back().about != row.info.about) {
      list.back().about +=
          fmt::format("; {} = {}: {}", row.info.choice->key, row.info.word, row.info.about);
    }
    if (another) continue;
    list.push_back({row.info.name,
                    row.info.about,
                    {row.parameters.begin(), row.parameters.end()},
                    row.info.default_map});
    if (row.info.choice != nullptr) list.back().parameters.push_back(*row.info.choice);
  }
  return list;
}
std::vector<PartInfo> list_maps() { return part_list(map_table()); }
std::vector<PartInfo> list_biases() { return part_list(bias_table()); }
std::vector<PartInfo> list_masks() { return part_list(mask_table()); }

}  // namespace conelab
