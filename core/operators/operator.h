// The public interface of the engine: every operator, forward and backward, on the CPU.
//
//   const auto plan = resolve(call, check_extents(input));
//   const Forward<float> result = forward(*plan, input);
//   const Backward<float> gradients = backward(*plan, input, result);
//
// The first row of the table is attention, the chain of parts of core/call/call.h:
//
//   logit_ij = similarity(map(q_i), map(k_j)) + bias(j - i - n_k + n_q),  -inf if masked
//   weight_ij = softmax over j or i of logit_ij,  sigmoid(logit_ij)  or  e^logit_ij
//   output_i = sum_j weight_ij v_j,  or the Einstein midpoint of the mapped v_j
// The structured operators replace the whole chain. Each is one file and one row.
//
// Tensors hold double, float, Float16 or Bfloat16. 16-bit types are computed in float and rounded
// once, at the end. Tokens and dL/doutput may lie in memory of the caller with any strides
// (core/base/strided_tensor.h), which changes no bit of a result. Results are dense. Memory beyond
// inputs and outputs is O(n): an n × n array exists only if weights or logits are asked for.
// Results do not depend on the number of threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/parallel.h"
#include "core/call/call.h"
#include "core/call/plan.h"
#include "core/call/result.h"
#include "core/tiles/attention.h"

namespace conelab {

/// The names and properties of an operator, for lists and messages.
struct OperatorInfo {
  const char* name;
  const char* about;  ///< The formula in one line.
  const char* paper;  ///< The paper and the section.
  const char* cost;   ///< How its time grows with n: "n", "n log n", "n^2".
  std::span<const ParameterInfo> parameters;
  std::span<const char* const> masks;  ///< The masks that it accepts; `every_mask`: all.
  /// Whether it reads other tensors than q: k, and v if it needs values.
  bool reads_keys = false;
  bool ignores_values = false;  ///< Whether it reads k but not v.
  /// Names of the other fields of a call that it accepts.
  std::span<const char* const> fields = {};
  /// Whether its projections make the heads, from tokens with one head.
  bool makes_heads = false;
  /// Names of optional tensors that a benchmark draws if a call names no tensor of the operator.
  std::span<const char* const> drawn = {};
};

inline constexpr const char* every_mask[] = {""};

/// A resolved call with its maps of tokens applied, for code that works with pairs only.
template <class T>
struct PairCall {
  std::shared_ptr<const Plan> plan;
  AttentionInput<T> input;
};

template <class T>
struct OperatorFunctions {
  Forward<T> (*forward)(const Plan& plan, const AttentionInput<T>& input, const Execution& run);
  Backward<T> (*backward)(const Plan& plan, const AttentionInput<T>& input, const Forward<T>& saved,
                          const Execution& run);
  /// Does the same as PairMap::tile, for a plan without maps of tokens.
  void (*map)(const Plan& plan, const AttentionInput<T>& input, Map2d which,
              const Forward<T>* saved, const MapTile& tile, Compute<T>* out, const Execution& run);
  /// Returns the chain of parts whose weights and logits are those of the operator, and its input
  /// with all maps of tokens applied. Null if the operator runs no chain.
  PairCall<Compute<T>> (*pairs)(const Plan& plan, const AttentionInput<T>& input);
};

struct OperatorRow {
  OperatorInfo info;
  /// Returns the parameters of a call that names the operator; null for attention.
  std::span<const ParameterInfo> (*parameters)(const Call& call) = nullptr;
  /// Throws misuse for what the domains of single parameters do not exclude. Null: nothing.
  void (*check)(const Plan& plan) = nullptr;
  /// Returns the floating-point operations of one pass, leading terms only. `share` is the share of
  /// the pairs that the masks admit.
  double (*flops)(const Plan& plan, Pass pass, double share);
  /// Returns whether the operator has logits, or weights, of pairs.
  bool (*has_map)(const Plan& plan, Map2d which);
  /// Sets the plan's sizes of the output and of the pairs; null for attention.
  void (*set_sizes)(Plan& plan) = nullptr;
  /// Returns the plan of the chain of parts that the operator runs, given its own plan. `made` are
  /// the extents with the heads that it makes. Null: it runs no chain.
  std::shared_ptr<Plan> (*chain)(const Plan& plan, const Extents& made) = nullptr;
  OperatorFunctions<double> f64;
  OperatorFunctions<float> f32;
  OperatorFunctions<Float16> f16;
  OperatorFunctions<Bfloat16> bf16;
  /// Returns defaults that are NaN in `info.parameters`. Null: there are none.
  DefaultOf initial = nullptr;
  /// Changes a tensor that was drawn at random into one that the operator accepts. Null: it accepts
  /// any.
  void (*adjust_drawn)(const Plan& plan, Array<double>& tensor) = nullptr;
  /// Bytes of memory that a pass needs beyond O(n); null: none.
  double (*working_bytes)(const Plan& plan) = nullptr;
};

/// Returns the functions of a plan's operator.
template <class T>
[[nodiscard]] const OperatorFunctions<T>& functions_of(const Plan& plan) {
  const OperatorRow& row = *plan.operation;
  if constexpr (std::is_same_v<T, double>) return row.f64;
  if constexpr (std::is_same_v<T, float>) return row.f32;
  if constexpr (std::is_same_v<T, Float16>) return row.f16;
  if constexpr (std::is_same_v<T, Bfloat16>) return row.bf16;
}

/// Returns the table: attention, then the structured operators.
[[nodiscard]] std::span<const OperatorRow> operator_table();

/// Checks names, keys, domains, list lengths and shapes of `call` for tensors with these extents
/// and returns the plan. Throws misuse for an unknown name, with the nearest known name and the
/// list, and for an unknown key, with the keys that the chosen parts accept. Throws a failure for a
/// missing tensor or one with a wrong shape.
[[nodiscard]] std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents);
/// Returns how often `resolve` has been called in this process. Tests count with it that a job
/// resolves its call once.
[[nodiscard]] std::int64_t resolve_count();

/// Computes the output. Throws a failure if the shapes of the input are not those of the plan.
template <class T>
[[nodiscard]] Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                                 const Execution& run = {});
/// Computes the gradients. `saved` is what `forward` returned for the same plan and input.
template <class T>
[[nodiscard]] Backward<T> backward(const Plan& plan, const AttentionInput<T>& input,
                                   const Forward<T>& saved, const Execution& run = {});

/// Returns how a pass is evaluated: by intervals, or else by pairs.
template <class T>
[[nodiscard]] Evaluation evaluation_of(const Plan& plan, const AttentionInput<T>& input, Pass pass);

/// Returns the floating-point operations of one pass, as counted for rooflines. For attention these
/// are 2 pairs (d + d_v) in the forward pass and 2 pairs (3 d + 2 d_v) in the backward pass, over
/// the pairs that the masks admit, plus the products of projections. By intervals they are
/// 4 n (d_v + 1) log2 n and 2.5 times that, with n = n_q + n_k, for each head.
template <class T>
[[nodiscard]] double pass_flops(const Plan& plan, const AttentionInput<T>& input, Pass pass);

/// The logits and weights of pairs of an operator. The constructor applies the maps of tokens once.
/// The plan and the input must outlive the object.
template <class T>
class PairMap {
 public:
  /// Throws misuse if the operator has neither weights nor logits of pairs.
  PairMap(const Plan& plan, const AttentionInput<T>& input);
  /// Computes a rectangle of weights or logits into out [rows × columns], row-major, with O(tile)
  /// additional memory. `saved` is what `forward` returned for the same call; it is needed for
  /// weights only. Masked logits are -inf, masked weights 0. Throws a failure if the tile is not
  /// inside the map.
  void tile(Map2d which, const Forward<T>* saved, const MapTile& tile, Compute<T>* out,
            const Execution& run = {}) const;

 private:
  const Plan* plan_;
  const AttentionInput<T>* input_;
  /// The plan and the input after the maps of tokens. Its plan is null if there are none, and the
  /// two above are used.
  PairCall<Compute<T>> mapped_;
};

/// Returns the whole map [batch × head × n_q × n_k].
template <class T>
[[nodiscard]] Tensor4<Compute<T>> attention_map(const Plan& plan, const AttentionInput<T>& input,
                                                Map2d which, const Execution& run = {});

/// For a device that runs `plan.inner` itself: map_tokens applies the maps of tokens to the input
/// and returns it in the type of the computation. Tensors without maps may view those of `input`,
/// which must outlive the result. pull_back takes the gradients of that result back through the
/// maps. `of_heads` is what forward computed for the mapped input. The plan must have an `inner`.
template <class T>
[[nodiscard]] AttentionInput<Compute<T>> map_tokens(const Plan& plan,
                                                    const AttentionInput<T>& input);
template <class T>
[[nodiscard]] Backward<T> pull_back(const Plan& plan, const AttentionInput<T>& input,
                                    const Forward<T>& of_heads, Backward<T> of_mapped);

/// Returns the largest difference between the bias and what HyPE's columns add to a logit, over
/// evenly spaced pairs. The plan must have hype_form=columns.
template <class T>
[[nodiscard]] double hype_columns_error(const Plan& plan, const AttentionInput<T>& input);

/// Returns the plan and the input with all maps of tokens applied. T is float or double.
template <class T>
[[nodiscard]] PairCall<T> mapped_call(std::shared_ptr<const Plan> plan, AttentionInput<T> input);
/// Draws the tensors that the call sets to `random`, resolves it and applies its maps of tokens.
/// Throws as `resolve` and PairMap do.
template <class T>
[[nodiscard]] PairCall<T> pair_call(const Call& call, AttentionInput<T> input);
/// Does the same for a resolved call.
template <class T>
[[nodiscard]] PairCall<T> pair_call(std::shared_ptr<const Plan> plan, AttentionInput<T> input);

/// Returns the names of all operators: every similarity and every structured operator.
[[nodiscard]] std::vector<std::string> operator_names();
/// An operator for lists and menus.
struct OperatorListing {
  PartInfo part;
  std::string cost;  ///< OperatorInfo::cost
};
/// Returns all operators with formula, paper and parameters.
[[nodiscard]] std::vector<OperatorListing> list_operators();

/// Returns every tensor that some operator or part reads in addition to q, k and v, each name once.
[[nodiscard]] std::vector<ParameterInfo> tensor_parameters();
/// Returns the parameters of all operators and parts, each key once.
[[nodiscard]] std::vector<ParameterInfo> all_parameters();
/// Returns what one head reads of such tensors: those with an axis of heads lose it; tensors of
/// pairs [batch x head x n_q x n_k] have one head then. `infos` gives the axes of each; by default
/// they are those of the first operator that has a tensor with this name.
template <class T>
[[nodiscard]] std::map<std::string, Array<T>> tensors_of_head(
    const std::map<std::string, Array<T>>& tensors, std::int64_t head,
    const std::vector<ParameterInfo>& infos = tensor_parameters());
/// Returns one head of one batch element of an input [1 × 1 × token × feature], with its tensors.
/// They stay whole if the input has one head, from which an operator may make others. `infos` is
/// that of `tensors_of_head`.
template <class T>
[[nodiscard]] AttentionInput<T> input_of_head(
    const AttentionInput<T>& input, std::int64_t batch, std::int64_t head,
    const std::vector<ParameterInfo>& infos = tensor_parameters());

/// Leaves the explicit mask of one head, if heads have their own.
template <class T>
void keep_mask_of_head(AttentionInput<T>& input, std::int64_t head);

/// Returns the tensors of projections, which every similarity takes.
[[nodiscard]] std::vector<ParameterInfo> projection_parameters();

/// Returns the parameters of the call's operator and parts, each key once.
[[nodiscard]] std::vector<ParameterInfo> call_parameters(const Call& call);
/// Returns whether the call's operator reads other tensors than q: k, and v if it needs values.
[[nodiscard]] bool reads_keys(const Call& call);
/// Returns whether the call's operator reads k but not v.
[[nodiscard]] bool ignores_values(const Call& call);

/// Returns whether the projections of the call's operator make its heads, from tokens with one
/// head.
[[nodiscard]] bool makes_heads(const Call& call);

/// Returns the plan of a chain of parts. Throws as `resolve` does.
[[nodiscard]] std::shared_ptr<Plan> resolve_chain(const Call& call, const Extents& extents);

/// Returns the call with "random" for every tensor that it needs and does not name.
[[nodiscard]] Call with_random_tensors(Call call);
/// Draws the tensors that the call sets to `random` and the input lacks, and returns the
/// call's plan for the input with them. The seed is the call's `seed` plus `seed`. Numbers are from
/// N(0, 1/columns). Edges of a graph give a token about eight neighbours. Throws as `resolve` does.
template <class T>
std::shared_ptr<const Plan> draw_tensors(const Call& call, AttentionInput<T>& input,
                                         std::uint64_t seed = 0);

/// Returns the call for one head alone: lists become the number of that head, and defaults that
/// depend on the head are written out. An operator that makes its heads makes them from this one,
/// and lists for them stay. Throws misuse as `resolve` does.
[[nodiscard]] Call call_of_head(const Call& call, const Extents& extents, std::int64_t head);

/// Returns the call as it was given, with the numbers of one head: a list of one number for each
/// head becomes that of the head. On a grid of several axes, where a list has one number for each
/// axis, `;` separates the lists of the heads. Nothing is checked; a list that is too short stays.
[[nodiscard]] Call with_numbers_of_head(Call call, std::int64_t head);

}  // namespace conelab
