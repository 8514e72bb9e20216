// What a head fixes before any pair is looked at: its constants, its bias, and how its tokens
// become operands of the kernels.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/tiles/head_bias.h"
#include "core/tiles/operand.h"
#include "core/tiles/position_values.h"

namespace conelab {

/// dL/d of placed tokens, by which `Head::token_gradients` goes back through the map.
template <class T>
struct OperandGradient {
  const T* base;  ///< [tokens × stride] dL/dbase of each token.
  std::ptrdiff_t stride;
  const T* potential;  ///< [tokens] dL/dpotential.
};

/// How large e^radius of a token may be, of which a pair multiplies two. In float32 also its
/// coordinates, its height in the half-space and the inverse of that, of which a pair multiplies up
/// to four (the squared distance over both heights), and so do its slopes: float32 holds them all,
/// and log1p of four times that (core/simd/exponential.h). float64 reaches further than needed:
/// only what overflows is out of its reach.
template <class T>
inline constexpr double reach = std::is_same_v<T, float> ? 2.78e9 : 6.7e153;

/// Tokens are of any stored type S whose Compute<S> is T.
template <class T>
class Head {
 public:
  /// Where the head's keys lie off the origin together, the mean of a sample becomes the centre of
  /// both operands, so that squared distances keep more of their bits. Where a mask hides keys the
  /// origin stays the centre: not even the last bits of a row may depend on a key that it does not
  /// see. `index` is batch * heads + head.
  template <class S>
  Head(const Plan& plan, const Kernels<T>& kernels, const AttentionInput<S>& input,
       std::int64_t index);

  [[nodiscard]] int feature() const { return context_.feature; }
  [[nodiscard]] int base_size() const { return base_size_; }
  [[nodiscard]] const T* constants() const { return constants_; }
  [[nodiscard]] const HeadBias<T>& bias() const { return bias_; }
  [[nodiscard]] const PositionValues<T>& position_values() const { return position_values_; }

  /// Places tokens [count × d], the first of which is token `first` of `tensor` in messages.
  /// Buffers hold at least `capacity` tokens, those past `count` zero.
  template <class S>
  void place(const S* tokens, std::int64_t count, std::int64_t capacity, const char* tensor,
             std::int64_t first, int panel, Operand<T>& out) const;

  /// Sets dL/dx of tokens [count × d], and adds dL/dparameters: those of the similarity, then
  /// dL/dlight. `upstream.base` may be dx itself, `stride` d then.
  template <class S>
  void token_gradients(const S* tokens, std::int64_t count, const OperandGradient<T>& upstream,
                       S* dx, double* dparameters) const;
  /// Adds what the bias makes of dL/dlogit by position in its table: dL/d(its parameters), and
  /// where it is one of queries dL/dq [n_q × d] and, as token_gradients, dL/dparameters.
  template <class S>
  void bias_gradients(const double* by_offset, const S* queries, S* query_grad, PartValues& bias,
                      double* dparameters) const;

 private:
  const Plan* plan_;
  const Kernels<T>* kernels_;
  int base_size_;
  std::vector<double> similarity_values_;
  std::vector<double> map_values_;
  MapContext context_;
  std::vector<double> centre_;
  Buffer<T> first_axis_;  ///< e_1 [m]
  T constants_[max_constants] = {};
  HeadBias<T> bias_;
  PositionValues<T> position_values_;

  [[nodiscard]] MapContext context() const {
    MapContext c = context_;
    c.p = map_values_.data();
    return c;
  }
  /// Whether the similarity is the product with a scale.
  [[nodiscard]] bool is_dot() const;
  template <class S>
  void find_centre(const S* keys);
  /// Places x [d], whose last number is finite, as token i of `out`; null or what is wrong with it.
  [[nodiscard]] const char* store_token(const T* x, std::int64_t i, Place& place,
                                        Operand<T>& out) const;
  /// Whether T holds what pairs make of a token of this squared norm at this height.
  [[nodiscard]] bool is_within_reach(double norm2, double height) const;
  /// Token i of `out` is not finite, or out of reach.
  void skip_token(std::int64_t i, Operand<T>& out) const;
  [[noreturn]] void fail_outside(const Place& place, const char* tensor, std::int64_t index) const;
};

}  // namespace conelab
