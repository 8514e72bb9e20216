#include "gpu/tensor_call.h"

#include <cstring>
#include <string_view>

#include "core/base/error.h"

namespace conelab::gpu {
namespace {

constexpr std::size_t alignment = 256;

/// Hands out pieces of one piece of memory; of none at all, it counts their bytes.
template <class Byte>
class Pieces {
 public:
  explicit Pieces(Byte* memory) : memory_(memory) {}
  /// Returns the place of `count` numbers.
  template <class T>
  T* take(std::int64_t count) {
    const std::size_t at = used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + alignment - 1) / alignment * alignment;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  Byte* memory_;
  std::size_t used_ = 0;
};

const TensorView* find(Views views, std::string_view name) {
  for (const TensorView& view : views) {
    if (view.name == name) return &view;
  }
  return nullptr;
}

template <class N>
N* memory_of(Views views, std::string_view name) {
  const TensorView* view = find(views, name);
  return view == nullptr ? nullptr : static_cast<N*>(view->data);
}

/// Returns the first part of a call that only the CPU computes, or null.
const char* cpu_part(const Plan& plan) {
  if (!is_attention(plan.call)) return "a structured operator";
  if (plan.inner || !plan.token_maps.empty()) return "a map by tensors, or a position";
  if (plan.call.bias != "none") return "a bias";
  if (!plan.sinks.empty()) return "a sink";
  if (plan.weights != WeightLaw::softmax) return "a law of weights other than softmax";
  if (is_midpoint(plan.aggregate)) return "the Einstein midpoint";
  if (plan.evaluation == Evaluation::intervals) return "evaluation=intervals";
  if (plan.without_stopped_pairs()) return "a mask that stops gradients";
  for (const PlannedMask& mask : plan.masks) {
    if (mask.row->operand != MaskOperand::none) return "a mask that reads a tensor";
  }
  return plan.cpu_part();
}

/// Gives the tokens of a problem their memory.
template <class N>
void place_side(Side<N>& side, const Problem<N>& p, int values, Pieces<std::byte>& pieces) {
  const std::int64_t tokens = static_cast<std::int64_t>(p.groups / side.share) * side.count;
  side.base = pieces.take<std::byte>(tokens * p.base_stride * storage_size(p.storage));
  side.values = pieces.take<N>(tokens * values);
  side.offset = pieces.take<N>(tokens);
}

}  // namespace

template <class N>
TensorPlan<N>::TensorPlan(const Call& call, Views inputs) : prepared_(prepare(call, inputs)) {
  const char* part = find(inputs, "dropout") != nullptr ? "dropout" : cpu_part(plan());
  if (part != nullptr) {
    misuse("device cuda: {} is computed on the CPU only for tensors of PyTorch", part);
  }
  const auto type = static_cast<int>(prepared_->results(Pass::forward).front().type);
  if (std::is_same_v<N, float> && static_cast<Storage>(type) == Storage::f64) {
    misuse("device cuda computes f32, f16 and bf16 (found f64); the CPU computes f64");
  }
  operands_ = make_structure<N>(plan(), static_cast<Storage>(type));
  find_numbers();
  Pieces<const std::byte> counted(nullptr);
  const auto count = [&](const auto& array) {
    using T = typename std::decay_t<decltype(array)>::value_type;
    return counted.take<const T>(static_cast<std::int64_t>(array.size()));
  };
  (void)operands_.view(count);
  (void)count(numbers_);
  structure_.resize(counted.used());
  Pieces<std::byte> pieces(structure_.data());
  const auto copy = [&](const auto& array) {
    using T = typename std::decay_t<decltype(array)>::value_type;
    T* to = pieces.take<T>(static_cast<std::int64_t>(array.size()));
    if (!array.empty()) std::memcpy(to, array.data(), array.size() * sizeof(T));
    return static_cast<const T*>(to);
  };
  (void)operands_.view(copy);
  (void)copy(numbers_);
}

template <class N>
int TensorPlan<N>::similarity() const {
  return static_cast<int>(plan().similarity - similarity_table().data());
}

template <class N>
void TensorPlan<N>::find_numbers() {
  const Plan& plan = this->plan();
  map_.map = static_cast<int>(plan.map - model_map_table().data());
  map_.feature = static_cast<int>(plan.extents.feature);
  map_.by_norm = plan.map->by_norm;
  map_.inside_domain = plan.map->inside_domain;
  map_.map_parameters = static_cast<int>(plan.map_parameters.size());
  map_.similarity_parameters = static_cast<int>(plan.similarity_parameters.size());
  for (std::int64_t head = 0; head < operands_.shape.heads; ++head) {
    const std::vector<double> of_map = plan.values(plan.map_parameters, head);
    const std::vector<double> of_similarity =
        token_parameters(*plan.similarity, plan.values(plan.similarity_parameters, head));
    const ModelMapContext context = plan.map_context(of_map, head);
    map_.published_code = context.published_code;
    map_.numbers = static_cast<int>(1 + of_map.size() + of_similarity.size());
    numbers_.push_back(context.light);
    numbers_.insert(numbers_.end(), of_map.begin(), of_map.end());
    numbers_.insert(numbers_.end(), of_similarity.begin(), of_similarity.end());
  }
  if (map_.derivatives() > max_derivatives) fail("device cuda: too many parameters");
}

template <class N>
Lines TensorPlan<N>::lines(Views views, const char* name, std::int64_t heads) const {
  const TensorView* view = find(views, name);
  if (view == nullptr) return {};
  const auto tokens = tokens_of<float>(*view);  // Of any type: nothing is read.
  const Strides4 s = tokens.strides();
  return {view->data,
          static_cast<Storage>(static_cast<int>(view->type)),
          s.batch,
          s.head,
          s.token,
          static_cast<int>(tokens.shape.feature),
          static_cast<int>(heads == 0 ? 1 : plan().extents.head / heads)};
}

template <class N>
ParameterResult TensorPlan<N>::parameter(const TensorView& view) const {
  const Plan& plan = this->plan();
  ParameterResult result{static_cast<double*>(view.data), 0, view.count() > 1};
  unsigned column = 0;
  const auto add = [&](std::size_t index) {
    if (plan.parameters[index].info.key == view.name) result.columns |= 1U << column;
    ++column;
  };
  for (const std::size_t index : plan.similarity_parameters) add(index);
  if (plan.light_index() >= 0) add(static_cast<std::size_t>(plan.light_index()));
  column = static_cast<unsigned>(plan.similarity_parameters.size()) + 1;
  for (const std::size_t index : plan.map_parameters) add(index);
  return result;
}

template <class N>
std::size_t TensorPlan<N>::workspace(Pass pass) const {
  const TensorCall<N> counted = call(pass, {}, {}, nullptr, nullptr);
  return counted.workspace;
}

template <class N>
TensorCall<N> TensorPlan<N>::call(Pass pass, Views inputs, Views results,
                                  const std::byte* structure, std::byte* workspace) const {
  const Extents& e = plan().extents;
  const int values = plan().similarity->values;
  TensorCall<N> c;
  Pieces<const std::byte> arrays(structure);
  const auto place = [&](const auto& array) {
    using T = typename std::decay_t<decltype(array)>::value_type;
    const T* at = arrays.take<const T>(static_cast<std::int64_t>(array.size()));
    return array.empty() ? nullptr : at;
  };
  Problem<N>& p = c.pairs = operands_.view(place);
  c.map = map_;
  c.map.heads = place(numbers_);
  Pieces<std::byte> pieces(workspace);
  place_side(p.query, p, values, pieces);
  place_side(p.key, p, values, pieces);
  const std::int64_t keys = static_cast<std::int64_t>(p.groups / p.key.share) * p.key.count;
  const std::int64_t rows = static_cast<std::int64_t>(p.groups) * p.query.count;
  const std::int64_t columns = static_cast<std::int64_t>(p.groups) * p.key.count;
  p.value = pieces.take<std::byte>(keys * p.width * storage_size(p.storage));
  p.value_mark = pieces.take<N>(keys);
  c.has_marks = pieces.take<int>(1);
  const bool has_k = find(inputs, "k") != nullptr, has_v = find(inputs, "v") != nullptr;
  const char *k = has_k ? "k" : "q", *v = has_v ? "v" : k;
  c.q = lines(inputs, "q", e.head);
  c.k = lines(inputs, k, e.key_heads());
  c.v = lines(inputs, v, e.value_heads());
  if (pass == Pass::forward) {
    c.output = lines(results, "output", e.head);
    c.lse = memory_of<N>(results, "lse");
    c.sums = {pieces.take<N>(rows * p.width), memory_of<N>(results, "row_reference"),
              memory_of<N>(results, "row_sum")};
    if (c.sums.maximum == nullptr) c.sums.maximum = pieces.take<N>(rows);
    if (c.sums.sum == nullptr) c.sums.sum = pieces.take<N>(rows);
    c.workspace = pieces.used();
    return c;
  }
  c.output = lines(inputs, "output", e.head);
  c.output_grad = lines(inputs, "output_grad", e.head);
  c.sums.maximum = memory_of<N>(inputs, "row_reference");
  c.sums.sum = memory_of<N>(inputs, "row_sum");
  c.upstream = {pieces.take<N>(rows * p.width), c.sums.maximum, pieces.take<N>(rows),
                pieces.take<N>(rows)};
  const int constants = plan().similarity->constants;
  const std::int64_t blocks = ceil_div(p.query.count, tile_rows);
  const std::int64_t key_blocks = ceil_div(p.key.count, tile_rows);
  c.gradient = {
      pieces.take<N>(rows * p.base_size),    pieces.take<N>(rows),
      pieces.take<N>(columns * p.base_size), pieces.take<N>(columns),
      pieces.take<N>(columns * p.width),     pieces.take<double>(p.groups * blocks * constants)};
  const std::int64_t derivatives = map_.derivatives();
  c.by_query = pieces.take<double>(p.groups * blocks * derivatives);
  c.by_key = pieces.take<double>(p.groups * key_blocks * derivatives);
  c.by_group = pieces.take<double>(p.groups * (constants + derivatives));
  c.by_head = pieces.take<double>(p.heads * derivatives);
  c.q_grad = lines(results, "q", e.head);
  c.k_grad = lines(results, "k", e.key_heads());
  c.v_grad = lines(results, "v", e.value_heads());
  for (const TensorView& view : results) {
    if (view.name == "q" || view.name == "k" || view.name == "v") continue;
    if (c.result_count == max_results) fail("device cuda: too many parameters");
    c.results[c.result_count++] = parameter(view);
  }
  c.workspace = pieces.used();
  return c;
}

template class TensorPlan<float>;
template class TensorPlan<double>;

}  // namespace conelab::gpu
