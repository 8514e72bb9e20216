// The call, the input and the tensors of one head alone.
#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/call/composed.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

Value value_of_head(const Parameter& p, std::int64_t head) {
  if (p.extents.empty()) return p.at(head);
  const std::int64_t axes = p.extents.back();
  const bool by_head = p.values.size() > static_cast<std::size_t>(axes);
  const auto first = p.values.begin() + (by_head ? head * axes : 0);
  const std::vector<double> own(first, first + axes);
  return p.info.domain == Domain::whole ? Value::of_sides(own) : Value(own);
}

/// Returns the extents with the one head of tokens from which the call's operator makes its heads.
/// Throws a failure if a tensor of the input has an axis of the input's heads.
Extents with_one_head(const Call& call, Extents extents) {
  for (const ParameterInfo& info : call_parameters(call)) {
    const auto found = extents.tensors.find(info.key);
    if (extents.head == 1 || info.domain != Domain::tensor || found == extents.tensors.end()) {
      continue;
    }
    if (found->second.size() > tensor_rank(info)) {
      fail(
          "{} makes its heads from one of the input's {}, and tensor {} has an axis of heads (draw "
          "the weights of a result of `conelab attend --head N`)",
          operator_name(call), extents.head, info.key);
    }
  }
  extents.head = extents.key_head = extents.value_head = 1;
  return extents;
}

/// Returns the explicit mask of one head of a batch element and sets `sizes`, those of the input's,
/// to its own.
template <class T>
std::vector<std::uint8_t> mask_of_head(const AttentionInput<T>& input, std::int64_t batch,
                                       std::int64_t head, Shape4& sizes) {
  if (input.allowed.empty()) return {};
  const std::int64_t b = sizes.batch > 1 ? batch : 0, h = sizes.head > 1 ? head : 0;
  const std::int64_t first = (b * sizes.head + h) * sizes.token * sizes.feature;
  sizes.batch = sizes.head = 1;
  const auto begin = input.allowed.begin() + first;
  return {begin, begin + sizes.size()};
}

/// Returns a tensor of pairs with one of its batch elements, all if `batch` is negative, and one of
/// its heads; those that share numbers have the first.
template <class T>
Array<T> pairs_of_head(const Array<T>& all, std::int64_t batch, std::int64_t head) {
  const Shape4 s = pair_sizes(all.extents);
  const std::int64_t size = s.token * s.feature, h = std::min(head, s.head - 1);
  const std::int64_t first = batch < 0 ? 0 : std::min(batch, s.batch - 1);
  Array<T> own{{batch < 0 ? s.batch : 1, 1, s.token, s.feature}, {}};
  for (std::int64_t b = first; b < first + own.extents.front(); ++b) {
    const auto begin = all.data.begin() + (b * s.head + h) * size;
    own.data.insert(own.data.end(), begin, begin + size);
  }
  return own;
}

}  // namespace

template <class T>
std::map<std::string, Array<T>> tensors_of_head(const std::map<std::string, Array<T>>& tensors,
                                                std::int64_t head,
                                                const std::vector<ParameterInfo>& infos) {
  std::map<std::string, Array<T>> part = tensors;
  for (const ParameterInfo& info : infos) {
    if (info.domain != Domain::tensor) continue;
    const auto found = part.find(info.key);
    const std::size_t rank = tensor_rank(info);
    if (found == part.end() || found->second.extents.size() <= rank) continue;
    const Array<T>& all = tensors.at(info.key);
    if (is_of_pairs(info)) {
      found->second = pairs_of_head(all, -1, head);
      continue;
    }
    Array<T>& own = found->second;
    own.extents.erase(own.extents.begin());
    if (rank == 0) own.extents = {1};
    const std::size_t size = all.data.size() / static_cast<std::size_t>(all.extents.front());
    own.data.assign(all.of_head(head, rank), all.of_head(head, rank) + size);
  }
  return part;
}

template <class T>
AttentionInput<T> input_of_head(const AttentionInput<T>& input, std::int64_t batch,
                                std::int64_t head, const std::vector<ParameterInfo>& infos) {
  const auto own = [&](const StridedTensor4<T>& shared) {
    return head_of(shared, batch, shared_head(head, shared.shape.head, input.query.shape.head));
  };
  AttentionInput<T> part{head_of(input.query, batch, head), own(input.key), own(input.value),
                         head_of(input.output_grad, batch, head)};
  part.allowed_sizes = mask_sizes(input);
  part.allowed = mask_of_head(input, batch, head, part.allowed_sizes);
  if (!input.key_lengths.empty()) {
    part.key_lengths = {input.key_lengths[static_cast<std::size_t>(batch)]};
  }
  part.indices = input.indices;
  part.positions = input.positions;
  const bool alone = input.query.shape.head == 1;
  part.tensors = alone ? input.tensors : tensors_of_head(input.tensors, head, infos);
  for (const ParameterInfo& info : infos) {
    const auto pairs = part.tensors.find(info.key);
    if (!is_of_pairs(info) || pairs == part.tensors.end()) continue;
    pairs->second = pairs_of_head(pairs->second, batch, 0);
  }
  return part;
}

template <class T>
void keep_mask_of_head(AttentionInput<T>& input, std::int64_t head) {
  const Shape4 all = mask_sizes(input);
  if (input.allowed.empty() || all.head == 1) return;
  std::vector<std::uint8_t> kept;
  for (std::int64_t b = 0; b < all.batch; ++b) {
    Shape4 own = all;
    const std::vector<std::uint8_t> part = mask_of_head(input, b, head, own);
    kept.insert(kept.end(), part.begin(), part.end());
  }
  input.allowed = std::move(kept);
  input.allowed_sizes = {all.batch, 1, all.token, all.feature};
}

Call call_of_head(const Call& call, const Extents& extents, std::int64_t head) {
  if (makes_heads(call)) return resolve(call, with_one_head(call, extents))->call;
  const auto plan = resolve(call, extents);
  Call one = plan->call;
  one.parameters.clear();
  for (const Parameter& p : plan->parameters) {
    const auto given = call.parameters.find(p.info.key);
    if (p.info.domain == Domain::tensor && given != call.parameters.end()) {
      one.parameters[p.info.key] = given->second;
    }
    // Sizes are the same for every head, and not every form of an operator reads them.
    const bool is_size = p.info.domain == Domain::whole || p.info.domain == Domain::count;
    if (is_size && given == call.parameters.end()) continue;
    if (p.is_number()) one.parameters[p.info.key] = value_of_head(p, head);
  }
  if (const ComposedSimilarity* composed = find_composed(call.similarity)) {
    one.parameters.erase(composed->fixed);
  }
  for (const auto& [key, word] : choices(*plan)) one.parameters[key] = word;
  return one;
}

Call with_numbers_of_head(Call call, std::int64_t head) {
  const auto grid = call.parameters.find("grid");
  const bool has_axes = grid != call.parameters.end() && grid->second.sides().size() > 1;
  for (const ParameterInfo& info : call_parameters(call)) {
    const auto given = call.parameters.find(info.key);
    if (given == call.parameters.end() || info.domain == Domain::tensor) continue;
    const bool by_axis = has_axes && std::string_view(info.shape) == "axes";
    given->second = given->second.of_head(head, by_axis);
  }
  return call;
}

#define CONELAB_ONE_HEAD(T)                                                                      \
  template std::map<std::string, Array<T>> tensors_of_head(                                      \
      const std::map<std::string, Array<T>>&, std::int64_t, const std::vector<ParameterInfo>&);  \
  template AttentionInput<T> input_of_head(const AttentionInput<T>&, std::int64_t, std::int64_t, \
                                           const std::vector<ParameterInfo>&);                   \
  template void keep_mask_of_head(AttentionInput<T>&, std::int64_t);
CONELAB_EACH_TYPE(CONELAB_ONE_HEAD)

}  // namespace conelab
