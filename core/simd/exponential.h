// exp of a pack.
//
// float: e^x = 2^n 2^f with n = round(x log2 e), |f| <= 1/2, and 2^f by the minimax polynomial of
// degree 5 (relative error 7.5e-8; degree 3 would save 2 % of a forward pass and lose half the
// digits). log2 e in one float adds 1.3e-8 |x|, which the smallness of e^x outweighs. n comes from
// adding a large number whose last bits then are n + 127: the exponent field of 2^n after a shift.
// Below -88 that field is 0 and so is the result, exactly; arguments must stay below 88. NaN stays.
// double: Highway's exp, 1 ulp; below -708 the result is 0.
#pragma once

#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {

/// 2^n from a number whose lowest mantissa bits hold n + 127.
template <class V>
HWY_INLINE V power_of_two(V shifted) {
  const Tag<float> f;
  const hn::RebindToUnsigned<Tag<float>> bits;
  return hn::BitCast(f, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
}

/// e^x for x < 88.
template <int n>
HWY_INLINE Pack<float, n> exp(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  const P round(12582912.0 + 127);  // 1.5 * 2^23 + the exponent's bias
  const P log2_e(1.44269502e+0);
  const P t = max(P(-88), x);
  const P shifted = multiply_add(t, log2_e, round);
  const P f = multiply_add(t, log2_e, round - shifted);
  P y = multiply_add(f, P(0.0013276472632), P(0.00967554134312));
  y = multiply_add(y, f, P(0.0555071327186));
  y = multiply_add(y, f, P(0.240221197237));
  y = multiply_add(y, f, P(0.693146967065));
  y = multiply_add(y, f, P(1.00000007165));
  return each(y, shifted, [](auto a, auto b) { return hn::Mul(a, power_of_two(b)); });
}

template <int n>
HWY_INLINE Pack<double, n> exp(const Pack<double, n>& x) {
  using P = Pack<double, n>;
  const auto powers = each(x, [](auto a) { return hn::Exp(Tag<double>(), a); });
  // x - x is NaN for NaN, which Highway's exp would turn into 0.
  return select(x <= P(-708), P(0), powers + (x - x));
}

/// 1 / (1 + e^-x); below -87 it is 0 in both types, where a masked pair (-inf) ends as well.
template <class T, int n>
HWY_INLINE Pack<T, n> sigmoid(const Pack<T, n>& x) {
  using P = Pack<T, n>;
  const P lowest(-87);
  const P y = P(1) / (P(1) + exp(-max(lowest, x)));
  return select(x <= lowest, P(0), y);
}

}  // namespace conelab::CONELAB_SIMD
