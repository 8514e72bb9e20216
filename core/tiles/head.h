// Holds what is common to all pairs of one head: its constants, its bias, and how its tokens become
// operands of the kernels. A token is `placed` when it has been mapped, centred and rounded to T.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/simd/narrow.h"
#include "core/simd/token_rows.h"
#include "core/tiles/head_bias.h"

namespace conelab {

// Placed tokens as operands of the kernels.

/// Returns the leading dimension of placed tokens with this number of base coordinates.
[[nodiscard]] constexpr std::ptrdiff_t operand_stride(int base_size, int panel) {
  return round_up<std::ptrdiff_t>(std::max(1, base_size), panel);
}

/// Placed tokens as operands of the kernels.
template <class T>
struct Operand {
  std::ptrdiff_t stride = 0;  ///< Leading dimension of `base`, a multiple of the panel width.
  std::ptrdiff_t value_stride = 0;
  Buffer<T> base;     ///< [tokens × stride] Base coordinates, centred; 0 beyond base_size.
  Buffer<T> factors;  ///< [tokens] What the map multiplies base coordinates by. See place_lying.
  Buffer<T> values;   ///< [values × value_stride] Values of the tokens for the similarity.
  Buffer<T> norms;    ///< [tokens] Squared norms of the rounded base coordinates.
  /// Tokens that are not finite or beyond `reach` (core/token/model_map_formulas.h), ascending.
  /// Their numbers above are 0, so that they cannot affect rows that do not see them; the tiles set
  /// the measures of their pairs to NaN.
  std::vector<std::int64_t> non_finite;

  [[nodiscard]] T largest_norm() const {
    return norms.empty() ? T(0) : *std::ranges::max_element(norms);
  }
};

/// dL/d(placed tokens), from which Head::token_gradients continues.
template <class T>
struct OperandGradient {
  const T* base;  ///< [tokens × stride] dL/d(base coordinates).
  std::ptrdiff_t stride;
  const T* potential;  ///< [tokens] dL/d(potential).
};

/// Returns "token 3 of k (batch 0, head 2)", the head of k or v that serves this head of q. `head`
/// is batch * heads + head.
[[nodiscard]] std::string token_name(const Plan& plan, std::int64_t head, const char* tensor,
                                     std::int64_t token);

/// Tokens may have any stored type S whose Compute<S> is T.
template <class T>
class Head {
 public:
  /// `index` is batch * heads + head. For squared distances, coordinates in which the keys of a
  /// sample have nearly the same value are centred at that value, for queries and keys, so that the
  /// distances lose fewer bits. If a mask hides keys, nothing is centred: not even the last bits of
  /// a row may depend on a key that it does not see.
  template <class S>
  Head(const Plan& plan, const Kernels<T>& kernels, const AttentionInput<S>& input,
       std::int64_t index);

  [[nodiscard]] std::int64_t index() const { return index_; }
  [[nodiscard]] int feature() const { return context_.feature; }
  [[nodiscard]] int base_size() const { return base_size_; }
  [[nodiscard]] const T* constants() const { return constants_; }
  [[nodiscard]] const HeadBias<T>& bias() const { return bias_; }
  /// Returns Plan::sink.
  [[nodiscard]] double sink() const { return sink_; }
  /// Returns the c of the soft cap, or 0 if there is none.
  [[nodiscard]] double soft_cap() const { return soft_cap_; }
  [[nodiscard]] const PositionValues<T>& position_values() const { return position_values_; }

  /// Places tokens [n × d]. The first one is token `first` of `tensor` in messages. The buffers of
  /// `out` hold at least `capacity` tokens; those past the n are zero. Throws a failure if a finite
  /// token lies outside the model.
  template <class S>
  void place(const TokenRows<const S>& tokens, std::int64_t capacity, const char* tensor,
             std::int64_t first, int panel, Operand<T>& out) const;

  /// Returns whether the queries that share a key are so few that keys are used where they lie: the
  /// base coordinates of a key are then its factor times its own. It is the same for the forward
  /// pass, the backward pass and the maps of a call, which round large logits alike.
  [[nodiscard]] bool uses_lying_keys() const { return lying_keys_; }
  /// Does the same as `place` for lying keys, but sets `factors` in place of `base`.
  void place_lying(const TokenRows<const T>& keys, std::int64_t capacity, std::int64_t first,
                   Operand<T>& out) const;
  /// Returns true if `place` would store these tokens as they are, without values, and all of them
  /// are finite and within reach. It may return false where that is so.
  [[nodiscard]] bool places_as_is(const TokenRows<const T>& tokens) const;

  /// Sets dx to dL/dx of tokens [n × d], and adds to dparameters: the derivatives by the
  /// parameters of the similarity, then the one by the radius or height of the light. Out is S, or
  /// T for sums that are rounded later. `upstream.base` may be dx itself if both have the same
  /// stride.
  template <class S, class Out>
  void token_gradients(const TokenRows<const S>& tokens, const OperandGradient<T>& upstream,
                       const TokenRows<Out>& dx, double* dparameters) const;
  /// Applies the chain rule to dL/dlogit, summed in the layout of the bias's table: adds
  /// dL/d(parameters of the bias) to `bias`. If the bias depends on queries, it also adds dL/dq to
  /// query_grad [n_q × d], and dL/d(scale) to dparameters if the similarity is `dot`.
  template <class S>
  void bias_gradients(const double* by_offset, const TokenRows<const S>& queries,
                      const TokenRows<S>& query_grad, PartValues& bias, double* dparameters) const;

 private:
  const Plan* plan_;
  std::int64_t index_;  ///< batch * heads + head
  const Kernels<T>* kernels_;
  const RowKernels<T>* rows_;
  int base_size_;
  std::vector<double> similarity_values_;
  std::vector<double> map_values_;
  ModelMapContext context_;
  std::vector<double> centre_;
  bool centred_ = false;  ///< Whether the centre is not 0.
  bool lying_keys_ = false;
  Buffer<T> first_axis_;  ///< [base_size] The first unit vector.
  T constants_[max_constants] = {};
  HeadBias<T> bias_;
  PositionValues<T> position_values_;
  double sink_, soft_cap_ = 0;

  [[nodiscard]] ModelMapContext context() const {
    ModelMapContext c = context_;
    c.p = map_values_.data();
    return c;
  }
  /// Returns whether a bias that depends on queries shares the scale of the similarity: that of
  /// `dot`. relation, which is 0 q.k, has none.
  [[nodiscard]] bool shares_scale() const;
  /// Returns whether a token is stored as it is, without values, if it is finite and within reach.
  [[nodiscard]] bool is_product() const;
  template <class S>
  void find_centre(const TokenRows<const S>& keys);
  /// Returns what the map reads of x [d].
  [[nodiscard]] TokenNumbers token_numbers(const T* x) const;
  /// The place to which the map takes a token: `wrong` says why it is outside the model, or is
  /// null.
  struct MappedToken {
    Scaling base;
    EmbeddedPoint place;
    const char* wrong = nullptr;
    double norm = 0;  ///< The squared norm of the stored base coordinates.
  };
  void map(const T* x, MappedToken& token) const;
  /// Sets the values of tokens `at` to `at + count` of `out`, and their factors, several at a time.
  /// Returns false if that cannot be done for these tokens.
  bool place_together(const T* const* x, int count, std::int64_t at, double* factor,
                      Operand<T>& out) const;
  /// Stores the norm of token i of `out`, as which it is skipped if it is beyond reach.
  void store_norm(double norm, std::int64_t i, Operand<T>& out) const;
  /// Throws a failure if a finite token lies outside the model.
  void check_place(const T* x, const MappedToken& token, const char* tensor,
                   std::int64_t index) const;
  /// Sets the sizes of `out` except for base coordinates, and the numbers past the `count` to 0.
  void make_room(std::int64_t count, std::int64_t capacity, Operand<T>& out) const;
  /// Stores the base coordinates of x [d] as those of token i of `out`, and their norm in `token`.
  void store_base(const T* x, std::int64_t i, MappedToken& token, Operand<T>& out) const;
  /// Stores the rest of x [d] as token i of `out`, as which it is skipped if it is not finite or
  /// beyond reach. `base` are its base coordinates, which may be scaled.
  void store_token(const T* x, const T* base, const MappedToken& mapped, std::int64_t i,
                   Operand<T>& out) const;
  /// Marks token i of `out` as not finite, or as beyond reach.
  void skip_token(std::int64_t i, Operand<T>& out) const;
  [[noreturn]] void fail_outside(const EmbeddedPoint& place, const char* tensor,
                                 std::int64_t token) const;
};

}  // namespace conelab
