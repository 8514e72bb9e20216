// The call, the input and the tensors of one head alone.
#include <string_view>

#include "core/base/error.h"
#include "core/call/composed.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

/// Returns the numbers of one head.
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
  extents.head = 1;
  return extents;
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
    Array<T>& own = found->second;
    own.extents.erase(own.extents.begin());
    const std::size_t size = all.data.size() / static_cast<std::size_t>(all.extents.front());
    own.data.assign(all.of_head(head, rank), all.of_head(head, rank) + size);
  }
  return part;
}

template <class T>
AttentionInput<T> input_of_head(const AttentionInput<T>& input, std::int64_t batch,
                                std::int64_t head, const std::vector<ParameterInfo>& infos) {
  AttentionInput<T> part{head_of(input.query, batch, head), head_of(input.key, batch, head),
                         head_of(input.value, batch, head),
                         head_of(input.output_grad, batch, head)};
  part.allowed = input.allowed;
  if (!input.key_lengths.empty()) {
    part.key_lengths = {input.key_lengths[static_cast<std::size_t>(batch)]};
  }
  part.indices = input.indices;
  part.positions = input.positions;
  const bool alone = input.query.shape.head == 1;
  part.tensors = alone ? input.tensors : tensors_of_head(input.tensors, head, infos);
  return part;
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
                                           const std::vector<ParameterInfo>&);
CONELAB_ONE_HEAD(float)
CONELAB_ONE_HEAD(double)
CONELAB_ONE_HEAD(Float16)
CONELAB_ONE_HEAD(Bfloat16)

}  // namespace conelab
