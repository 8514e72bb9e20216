#include "core/call/plan.h"

#include <algorithm>
#include <limits>

namespace conelab {
namespace {

/// Returns how many numbers of a tensor one head reads; 0 for a tensor of pairs, which is read in
/// its own way (core/tiles/pair_bias.h).
std::size_t head_size(const Parameter& p) {
  std::size_t size = p.extents.empty() || is_of_pairs(p.info) ? 0 : 1;
  const std::size_t lead = p.extents.size() > tensor_rank(p.info) ? 1 : 0;
  for (std::size_t i = lead; i < p.extents.size(); ++i) {
    size *= static_cast<std::size_t>(p.extents[i]);
  }
  return size;
}

}  // namespace

std::vector<double> Plan::values(const ParameterSet& set, std::int64_t head) const {
  std::vector<double> v;
  for (const std::size_t i : set) {
    const bool tensor = parameters[i].info.domain == Domain::tensor;
    const bool several = tensor || !parameters[i].extents.empty();
    v.push_back(several ? std::numeric_limits<double>::quiet_NaN() : parameters[i].at(head));
  }
  return v;
}

PartValues Plan::zeros(const ParameterSet& set) const {
  PartValues zeros{std::vector<double>(set.size(), 0.0), {}};
  for (const std::size_t i : set) zeros.tensor.emplace_back(head_size(parameters[i]), 0.0);
  return zeros;
}

PartValues Plan::numbers(const ParameterSet& set, std::int64_t head) const {
  PartValues all{values(set, head), std::vector<std::vector<double>>(set.size())};
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Parameter& p = parameters[set[k]];
    if (!p.is_number() || p.extents.empty()) continue;
    const auto axes = static_cast<std::ptrdiff_t>(head_size(p));
    const auto own = p.values.begin() + (std::ssize(p.values) > axes ? head * axes : 0);
    all.tensor[k].assign(own, own + axes);
  }
  return all;
}

template <class T>
std::vector<std::span<const T>> Plan::tensors_of(
    const ParameterSet& set, std::int64_t head,
    const std::map<std::string, Array<T>>& tensors) const {
  std::vector<std::span<const T>> all(set.size());
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Parameter& p = parameters[set[k]];
    const auto found = tensors.find(p.info.key);
    if (p.info.domain != Domain::tensor || is_of_pairs(p.info) || found == tensors.end()) continue;
    all[k] = {found->second.of_head(head, tensor_rank(p.info)), head_size(p)};
  }
  return all;
}

template <class T>
PartValues Plan::values(const ParameterSet& set, std::int64_t head,
                        const std::map<std::string, Array<T>>& tensors) const {
  PartValues all = numbers(set, head);
  const std::vector<std::span<const T>> given = tensors_of(set, head, tensors);
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Parameter& p = parameters[set[k]];
    if (p.info.domain != Domain::tensor) continue;
    all.tensor[k].assign(head_size(p), 0.0);
    if (!is_of_pairs(p.info)) std::ranges::copy(given[k], all.tensor[k].begin());
  }
  return all;
}

bool Plan::differs_by_head(const ParameterSet& set) const {
  return std::ranges::any_of(set, [&](std::size_t i) {
    const Parameter& p = parameters[i];
    if (p.info.domain == Domain::tensor) return p.extents.size() > tensor_rank(p.info);
    return p.extents.empty() ? p.per_head() : p.extents.size() > 1;
  });
}

std::int64_t Plan::placed_key_heads() const {
  const int index = light_index();
  const bool own_values = similarity->values > 0 && differs_by_head(similarity_parameters);
  const bool own_light = similarity->light == nullptr && index >= 0 &&
                         parameters[static_cast<std::size_t>(index)].per_head();
  return own_values || own_light || differs_by_head(map_parameters) ? extents.head
                                                                    : extents.key_heads();
}

std::vector<std::int64_t> Plan::grid() const {
  for (const std::size_t i : bias_parameters) {
    const Parameter& p = parameters[i];
    if (std::string_view(p.info.key) != "grid" || p.extents.empty()) continue;
    return {p.values.begin(), p.values.end()};
  }
  return {};
}

int Plan::light_index() const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (std::string_view(parameters[i].info.key) == "height") return static_cast<int>(i);
  }
  return -1;
}

bool Plan::sees_all() const {
  return std::ranges::all_of(
      masks, [](const PlannedMask& mask) { return mask.row == &mask_table().front(); });
}

std::shared_ptr<const Plan> Plan::without_stopped_pairs() const {
  std::shared_ptr<Plan> rest;
  for (const PlannedMask& mask : masks) {
    if (mask.row->stopped < 0) continue;
    if (!rest) rest = std::make_shared<Plan>(*this);
    rest->parameters[mask.parameters[static_cast<std::size_t>(mask.row->stopped)]].values = {0};
  }
  if (rest && inner) rest->inner = inner->without_stopped_pairs();
  return rest;
}

double Plan::light(std::int64_t head) const {
  if (similarity->light != nullptr) {
    return similarity->light(values(similarity_parameters, head).data());
  }
  const int index = light_index();
  return index < 0 ? std::numeric_limits<double>::infinity()
                   : parameters[static_cast<std::size_t>(index)].at(head);
}

ModelMapContext Plan::map_context(const std::vector<double>& map_values, std::int64_t head) const {
  ModelMapContext context;
  context.feature = static_cast<int>(extents.feature);
  context.p = map_values.data();
  context.light = light(head);
  context.published_code = similarity->info.has_word("reference");
  return context;
}

template <class T>
std::vector<MaskPart> Plan::mask_parts(const std::map<std::string, Array<T>>& tensors) const {
  std::vector<MaskPart> parts;
  for (const PlannedMask& mask : masks) {
    parts.push_back({mask.row, values(mask.parameters, 0)});
    const bool reads = std::ranges::any_of(
        mask.parameters, [&](std::size_t i) { return tensors.contains(parameters[i].info.key); });
    for (std::int64_t head = 0; reads && head < extents.head; ++head) {
      parts.back().tensors.push_back(values(mask.parameters, head, tensors).tensor);
    }
  }
  return parts;
}

template <class T>
void add_gradients(const Plan& plan, const ParameterSet& set, std::span<const PartValues> by_head,
                   Backward<T>& result) {
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Parameter& p = plan.parameters[set[k]];
    if (!p.info.differentiable || is_of_pairs(p.info)) continue;
    if (p.info.domain == Domain::tensor && p.extents.empty()) continue;
    const bool tensor = !p.extents.empty();
    Array<double>* sum = tensor ? &result.tensors[p.info.key] : nullptr;
    if (tensor && sum->data.empty()) {
      std::size_t size = 1;
      for (const std::int64_t n : p.extents) size *= static_cast<std::size_t>(n);
      *sum = {p.extents, std::vector<double>(size, 0.0)};
    }
    std::vector<double>* numbers = tensor ? nullptr : &result.parameters[p.info.key];
    if (!tensor && numbers->empty()) numbers->assign(p.values.size(), 0.0);
    for (std::size_t index = 0; index < by_head.size(); ++index) {
      const auto head = static_cast<std::int64_t>(index) % plan.extents.head;
      if (!tensor) {
        (*numbers)[p.per_head() ? static_cast<std::size_t>(head) : 0] += by_head[index].p[k];
        continue;
      }
      double* own = sum->of_head(head, tensor_rank(p.info));
      for (const double x : by_head[index].tensor[k]) *own++ += x;
    }
  }
}

std::map<std::string, std::string> choices(const Plan& plan) {
  std::map<std::string, std::string> words;
  for (const Parameter& p : plan.parameters) {
    if (p.info.domain != Domain::choice) continue;
    words[p.info.key] = choice_words(p.info)[static_cast<std::size_t>(p.values.front())];
  }
  return words;
}

#define CONELAB_VALUES(T)                                                                        \
  template std::vector<std::span<const T>> Plan::tensors_of(                                     \
      const ParameterSet&, std::int64_t, const std::map<std::string, Array<T>>&) const;          \
  template PartValues Plan::values(const ParameterSet&, std::int64_t,                            \
                                   const std::map<std::string, Array<T>>&) const;                \
  template std::vector<MaskPart> Plan::mask_parts(const std::map<std::string, Array<T>>&) const; \
  template void add_gradients(const Plan&, const ParameterSet&, std::span<const PartValues>,     \
                              Backward<T>&);
CONELAB_EACH_TYPE(CONELAB_VALUES)

}  // namespace conelab
