// exp of a pack.
//
// float: e^x = 2^n 2^f with n = round(x log2 e), |f| <= 1/2, and 2^f by the minimax polynomial of
// degree 5 (relative error 7.5e-8; degree 3 would save 2 % of a forward pass and lose half the
// digits). log2 e is applied in two parts, so that f keeps its bits for large |x|. Below -87.3 the
// result is 0, above 88 it stays at e^88. NaN stays NaN.
// double: Highway's exp, 1 ulp; below -708 the result is 0.
#pragma once

#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {

/// 2^n for an integral float n in [-127, 128), by writing the exponent field.
template <class V>
HWY_INLINE V power_of_two(V n) {
  const Tag<float> f;
  const hn::RebindToSigned<Tag<float>> i;
  const auto biased = hn::Add(hn::ConvertTo(i, n), hn::Set(i, 127));
  return hn::BitCast(f, hn::ShiftLeft<23>(biased));
}

HWY_INLINE Pack<float> exp(const Pack<float>& x) {
  using P = Pack<float>;
  const P t = each(P(88), max(P(-88), x), [](auto a, auto b) { return hn::Min(a, b); });
  const P n = each(t * P(1.44269502e+0), [](auto a) { return hn::Round(a); });
  const P f = multiply_add(t, P(1.92596299e-8), multiply_add(t, P(1.44269502e+0), -n));
  P y = multiply_add(f, P(0.0013276472632), P(0.00967554134312));
  y = multiply_add(y, f, P(0.0555071327186));
  y = multiply_add(y, f, P(0.240221197237));
  y = multiply_add(y, f, P(0.693146967065));
  y = multiply_add(y, f, P(1.00000007165));
  const P scaled = each(y, n, [](auto a, auto b) { return hn::Mul(a, power_of_two(b)); });
  return select(x <= P(-87.3), P(0), scaled);
}

HWY_INLINE Pack<double> exp(const Pack<double>& x) {
  const auto powers = each(x, [](auto a) { return hn::Exp(Tag<double>(), a); });
  return select(x <= Pack<double>(-708), Pack<double>(0), powers);
}

/// 1 / (1 + e^-x) without overflow.
template <class T>
HWY_INLINE Pack<T> sigmoid(const Pack<T>& x) {
  return Pack<T>(1) / (Pack<T>(1) + exp(-x));
}

}  // namespace conelab::CONELAB_SIMD
