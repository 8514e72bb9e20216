// What a head fixes before any pair is looked at: its constants, its bias tables, and how its
// tokens become operands of the kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/attention/operand.h"
#include "core/attention/plan.h"
#include "core/base/buffer.h"
#include "core/simd/kernels.h"

namespace conelab {

/// Keys of a tile on the way forward. A row's sum and largest logit are folded once for each tile:
/// 512 floats in place of 256 take .97 of the time, twice as many no less (avx512; avx2 .97 to
/// .99).
template <class T>
constexpr int forward_keys = 2048 / sizeof(T);
/// On the way back a tile is two arrays of pairs, and a ticket that one thread takes.
template <class T>
constexpr int backward_keys = 1024 / sizeof(T);

/// dL/d of placed tokens, by which `Head::token_gradient` goes back through the map.
template <class T>
struct OperandGradient {
  const T* base;     ///< [m] dL/dbase of one token
  double potential;  ///< dL/dpotential
};

/// Tokens are of any stored type S whose Compute<S> is T.
template <class T>
class Head {
 public:
  /// `keys` are the head's keys [n_k × d]: where they lie off the origin together, the median of a
  /// sample becomes the centre of both operands, so that squared distances keep more of their bits.
  /// Where a mask hides keys the origin stays the centre: not even the last bits of a row may
  /// depend on a key that it does not see.
  template <class S>
  Head(const Plan& plan, const Kernels<T>& kernels, std::int64_t head, const S* keys);

  [[nodiscard]] int feature() const { return context_.feature; }
  [[nodiscard]] int base_size() const { return base_size_; }
  /// Whether tokens are their own base coordinates and have no other values.
  [[nodiscard]] bool takes_tokens_as_they_are() const {
    return plan_->map->space == Space::euclidean && plan_->similarity->values == 0;
  }
  [[nodiscard]] const T* constants() const { return constants_; }
  [[nodiscard]] bool has_bias() const { return !bias_.empty(); }
  [[nodiscard]] int bias_slopes() const { return static_cast<int>(bias_slopes_.size()); }
  /// The bias of the pair (query, key), and of the keys after it.
  [[nodiscard]] const T* bias(std::int64_t query, std::int64_t key) const {
    return bias_.data() + (key - query + plan_->extents.query - 1);
  }
  [[nodiscard]] const T* bias_slope(int parameter, std::int64_t query, std::int64_t key) const {
    return bias_slopes_[static_cast<std::size_t>(parameter)].data() +
           (key - query + plan_->extents.query - 1);
  }

  /// Places tokens [count × d], the first of which is token `first` of `tensor` in messages.
  /// Buffers hold at least `capacity` tokens, those past `count` zero.
  template <class S>
  void place(const S* tokens, std::int64_t count, std::int64_t capacity, const char* tensor,
             std::int64_t first, int panel, Operand<T>& out) const;

  /// What a finite token x [d] is before it is centred and rounded: its base coordinates [d + 1]
  /// and the similarity's values of it.
  void exact_token(const double* x, double* base, double* values) const;
  /// The bias of a pair, and its derivatives by the bias's parameters, before rounding.
  [[nodiscard]] double exact_bias(std::int64_t query, std::int64_t key) const;
  void exact_bias_slope(std::int64_t query, std::int64_t key, double* by_parameter) const;

  /// Sets dL/dx [d] of one token, and adds dL/dparameters: those of the similarity, then dL/dlight.
  /// `upstream.base` may be dx itself.
  template <class S>
  void token_gradient(const S* token, const OperandGradient<T>& upstream, S* dx,
                      double* dparameters) const;

 private:
  const Plan* plan_;
  const Kernels<T>* kernels_;
  int base_size_;
  std::vector<double> similarity_values_;
  std::vector<double> map_values_;
  MapContext context_;
  std::vector<double> centre_;
  std::vector<double> bias_values_;
  T constants_[max_constants] = {};
  Buffer<T> bias_;
  std::vector<Buffer<T>> bias_slopes_;

  [[nodiscard]] MapContext context() const {
    MapContext c = context_;
    c.p = map_values_.data();
    return c;
  }
  template <class S>
  void find_centre(const S* keys);
  /// Token i of `out` is not finite.
  void skip_token(std::int64_t i, Operand<T>& out) const;
  /// Rounds a place as token i of `out`.
  void store_token(const double* base, const Place& place, std::int64_t i, Operand<T>& out) const;
  [[noreturn]] void fail_outside(const Place& place, const char* tensor, std::int64_t index) const;
  void tabulate_bias();
  /// How far a key lies ahead of a query's own position.
  [[nodiscard]] double offset(std::int64_t query, std::int64_t key) const {
    return static_cast<double>(key - query + plan_->extents.query - plan_->extents.key);
  }
};

}  // namespace conelab
