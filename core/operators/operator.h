// The public interface of the engine: every operator, forward and backward, on the CPU.
//
//   const auto plan = resolve(call, check_extents(input));
//   const Forward<float> result = forward(*plan, input);
//   const Backward<float> gradients = backward(*plan, input, result);
//
// The first row of the table is attention, the chain of parts of core/call/call.h:
//   logit_ij = similarity(map(q_i), map(k_j)) + bias(j - i - n_k + n_q),  -inf where masked
//   weight_ij = softmax over j or i of logit_ij,  sigmoid(logit_ij)  or  e^logit_ij
//   output_i = sum_j weight_ij v_j,  or the Einstein midpoint of the v_j, after their map
// Structured operators replace the chain as a whole; each is one file and one row.
//
// Tensors hold double, float, Float16 or Bfloat16; 16-bit types are computed in float and rounded
// once, at the end. Memory beyond inputs and outputs is O(n): no n x n array exists unless weights
// or logits are asked for. Results do not depend on the number of threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/parallel.h"
#include "core/call/call_text.h"
#include "core/call/plan.h"
#include "core/call/result.h"
#include "core/tiles/attention.h"

namespace conelab {

/// What lists and messages say of an operator.
struct OperatorInfo {
  const char* name;
  const char* about;  ///< The formula in one line, and the paper.
  const char* cost;   ///< In n: "n", "n log n", "n^2".
  std::span<const ParameterInfo> parameters;
  std::span<const char* const> masks;  ///< Those that it combines with; `every_mask`: all.
  bool reads_keys = false;             ///< Whether it reads k and v, not q alone.
  /// Other fields of a call that it combines with, by name.
  std::span<const char* const> fields = {};
  /// Whether its heads are those of its projections, of tokens with one head.
  bool makes_heads = false;
  /// Of tensors that may each be absent: what a benchmark draws where a call names none.
  std::span<const char* const> drawn = {};
};

inline constexpr const char* every_mask[] = {""};

template <class T>
struct PairCall;

template <class T>
struct OperatorFunctions {
  Forward<T> (*forward)(const Plan& plan, const AttentionInput<T>& input, const Execution& run);
  Backward<T> (*backward)(const Plan& plan, const AttentionInput<T>& input, const Forward<T>& saved,
                          const Execution& run);
  /// As PairMap::tile, of a structured operator that has weights or logits of pairs; else null.
  void (*map)(const Plan& plan, const AttentionInput<T>& input, Map2d which,
              const Forward<T>* saved, const MapTile& tile, Compute<T>* out, const Execution& run);
  /// Of an operator whose weights and logits are those of a chain of parts: that chain and its
  /// input, all maps of tokens applied; else null.
  PairCall<Compute<T>> (*pairs)(const Plan& plan, const AttentionInput<T>& input);
};

struct OperatorRow {
  OperatorInfo info;
  /// The parameters of a call that names the operator; null for attention.
  std::span<const ParameterInfo> (*parameters)(const Call& call) = nullptr;
  /// Refuses what no single parameter shows; null: nothing. Throws misuse.
  void (*check)(const Plan& plan) = nullptr;
  /// Floating-point operations of one pass over all tokens and that share of the pairs which the
  /// masks admit: the leading terms.
  double (*flops)(const Plan& plan, Pass pass, double share);
  /// Whether it has these numbers of pairs.
  bool (*has_map)(const Plan& plan, Map2d which);
  /// Sets the plan's sizes of the output and of pairs; null for attention.
  void (*set_sizes)(Plan& plan) = nullptr;
  /// Plans the chain of parts that the operator runs, from its own plan; null: it runs none. `made`
  /// are the extents with the heads that it makes.
  std::shared_ptr<Plan> (*chain)(const Plan& plan, const Extents& made) = nullptr;
  OperatorFunctions<double> f64;
  OperatorFunctions<float> f32;
  OperatorFunctions<Float16> f16;
  OperatorFunctions<Bfloat16> bf16;
  /// Defaults that `info.parameters` does not say; null: none.
  DefaultOf initial = nullptr;
  /// Makes a tensor that was drawn one that the operator takes; null: any is.
  void (*adjust_drawn)(const Plan& plan, Array<double>& tensor) = nullptr;
  /// Bytes of memory that a pass needs beyond O(n); null: none.
  double (*working_bytes)(const Plan& plan) = nullptr;
};

/// The functions of a plan's operator.
template <class T>
[[nodiscard]] const OperatorFunctions<T>& functions_of(const Plan& plan) {
  const OperatorRow& row = *plan.operation;
  if constexpr (std::is_same_v<T, double>) return row.f64;
  if constexpr (std::is_same_v<T, float>) return row.f32;
  if constexpr (std::is_same_v<T, Float16>) return row.f16;
  if constexpr (std::is_same_v<T, Bfloat16>) return row.bf16;
}

/// Attention, then the structured operators.
[[nodiscard]] std::span<const OperatorRow> operator_table();

/// Checks names, keys, domains, list lengths and shapes of `call` for tensors of these extents.
/// Throws misuse: unknown names get the nearest known name and the list; unknown keys get the keys
/// that the chosen parts take. A missing or ill-shaped tensor is a failure.
[[nodiscard]] std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents);

/// Computes the output. Throws a failure where the input is not that of the plan.
template <class T>
[[nodiscard]] Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                                 const Execution& run = {});
/// Computes the gradients; `saved` is what `forward` returned for the same plan and input.
template <class T>
[[nodiscard]] Backward<T> backward(const Plan& plan, const AttentionInput<T>& input,
                                   const Forward<T>& saved, const Execution& run = {});

/// Floating-point operations of one pass, the count used for rooflines. Attention: forward
/// 2 pairs (d + d_v), backward 2 pairs (3 d + 2 d_v), over the pairs that the masks admit, and the
/// products of projections.
template <class T>
[[nodiscard]] double pass_flops(const Plan& plan, const AttentionInput<T>& input, Pass pass);

/// The pairs of a chain of parts: its call after the maps of tokens, which are applied once. The
/// plan and the input must outlive it.
template <class T>
class PairMap {
 public:
  /// Throws misuse for an operator that has neither weights nor logits of pairs.
  PairMap(const Plan& plan, const AttentionInput<T>& input);
  /// Fills a rectangle of weights or logits [rows x columns], row-major; memory O(tile). `saved` is
  /// what `forward` returned for the same call and is needed for weights only. Masked logits are
  /// -inf, masked weights 0. Throws a failure for a tile that lies outside the map.
  void tile(Map2d which, const Forward<T>* saved, const MapTile& tile, Compute<T>* out,
            const Execution& run = {}) const;

 private:
  const Plan* plan_;
  const AttentionInput<T>* input_;
  /// The pairs that are computed, where these are not the plan's own.
  std::shared_ptr<const Plan> mapped_plan_;
  AttentionInput<Compute<T>> mapped_;
};

/// The same for one tile, and for the whole map [batch x head x n_q x n_k].
template <class T>
void attention_map_tile(const Plan& plan, const AttentionInput<T>& input, Map2d which,
                        const Forward<T>* saved, const MapTile& tile, Compute<T>* out,
                        const Execution& run = {});
template <class T>
[[nodiscard]] Tensor4<Compute<T>> attention_map(const Plan& plan, const AttentionInput<T>& input,
                                                Map2d which, const Execution& run = {});

/// The input after the call's maps of tokens, in the type that it is computed in, and the gradients
/// of that input taken back through the maps; `of_heads` is what forward computed for that input.
/// For plans with `inner`: another device runs `inner`.
template <class T>
[[nodiscard]] AttentionInput<Compute<T>> map_tokens(const Plan& plan,
                                                    const AttentionInput<T>& input);
template <class T>
[[nodiscard]] Backward<T> pull_back(const Plan& plan, const AttentionInput<T>& input,
                                    const Forward<T>& of_heads, Backward<T> of_mapped);

/// The largest difference between what HyPE's columns add to a logit and the bias itself, over
/// evenly spaced pairs; for plans with hype_form=columns.
template <class T>
[[nodiscard]] double hype_columns_error(const Plan& plan, const AttentionInput<T>& input);

/// A call resolved for one input whose tensors have been drawn where the call wants that, with its
/// maps of tokens applied: what looks at pairs alone takes this. Throws as `resolve` and PairMap
/// do.
template <class T>
struct PairCall {
  std::shared_ptr<const Plan> plan;
  AttentionInput<T> input;
};
template <class T>
[[nodiscard]] PairCall<T> pair_call(const Call& call, AttentionInput<T> input);

/// Names of all operators: every similarity and every structured operator.
[[nodiscard]] std::vector<std::string> operator_names();
/// The same with formula, paper and parameters; `cost` in n stands in `about`.
struct OperatorListing {
  PartInfo part;
  std::string cost;
};
[[nodiscard]] std::vector<OperatorListing> list_operators();

/// Every tensor that some operator or part reads beside q, k and v, each name once.
[[nodiscard]] std::vector<ParameterInfo> tensor_parameters();
/// What one head reads of such tensors: those with an axis of heads lose it. Their axes are those
/// of `infos`, the parameters of a call; by default of the first operator that has one of the name.
template <class T>
[[nodiscard]] std::map<std::string, Array<T>> tensors_of_head(
    const std::map<std::string, Array<T>>& tensors, std::int64_t head,
    const std::vector<ParameterInfo>& infos = tensor_parameters());
/// One head of one batch element of an input [1 x 1 x token x feature], tensors included.
template <class T>
[[nodiscard]] AttentionInput<T> input_of_head(const AttentionInput<T>& input, std::int64_t batch,
                                              std::int64_t head);

/// The parameters of the call's operator and parts, each key once.
[[nodiscard]] std::vector<ParameterInfo> call_parameters(const Call& call);
/// Whether the call's operator reads k and v; else it reads q alone.
[[nodiscard]] bool reads_keys(const Call& call);

/// Whether the heads of the call's operator are those of its projections, of tokens with one head.
[[nodiscard]] bool makes_heads(const Call& call);

/// The plan of a chain of parts. Throws as `resolve` does.
[[nodiscard]] std::shared_ptr<Plan> resolve_chain(const Call& call, const Extents& extents);

/// The call with "random" for every tensor that it needs and does not name.
[[nodiscard]] Call with_random_tensors(Call call);
/// Draws the tensors that the call wants drawn (`W=random`) and the input lacks: numbers from
/// N(0, 1/columns), by the call's `seed` plus `seed`; edges of a graph so that a token has about
/// eight neighbours.
template <class T>
void draw_tensors(const Call& call, AttentionInput<T>& input, std::uint64_t seed = 0);

/// The call as it reads for one head alone: lists become that head's number, and defaults that
/// depend on the head are written out. Throws misuse as `resolve` does.
[[nodiscard]] Call call_of_head(const Call& call, const Extents& extents, std::int64_t head);

}  // namespace conelab
