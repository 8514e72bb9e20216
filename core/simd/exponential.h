// exp, sigmoid and logarithms of a pack.
//
// float, exp: e^x = 2^n 2^f with n = round(x log2 e), |f| <= 1/2, and 2^f by the minimax polynomial
// of degree 5 (relative error 7.5e-8; degree 3 would save 2 % of a forward pass and lose half the
// digits). log2 e in one float adds 1.3e-8 |x|, which the smallness of e^x outweighs. n comes from
// adding a large number whose last bits then are n + 127: the exponent field of 2^n after a shift.
// Below -88 that field is 0 and so is the result, exactly; arguments must stay below 88. NaN stays.
// 2^x is the same without the product; its arguments must stay below 127 (128 with AVX-512), and
// below -127 the result is 0. With AVX-512 n = floor(x log2 e), 0 <= f < 1, by the instructions for
// both ends, 9 operations in place of 12; x log2 e is rounded once more there, 4e-8 |x|. Of weights
// under a softmax |x| is small where e^x is not; a sigmoid of -60 is right to 3e-6 of itself.
// Results below 2^-126 are subnormal or flushed. float, log1p: y = 1 + x rounded is 2^n (1 + f),
// 1/sqrt 2 <= 1 + f < sqrt 2; what the rounding lost, c = x - (y - 1), joins f as c 2^-n, so
// nothing is lost near x = 0 and nothing is divided. log(1 + f) = f + f^2 P(f), P the minimax
// polynomial of degree 7 (relative error 3e-8); in all 1.8 ulp. Arguments are 0 or more;
// from 2.4e38 on, sqrt 2 2^127, where c 2^-n would be lost, the result stays log 2.4e38. NaN stays.
// float, log: as log1p with x in place of 1 + x; with AVX-512 4.4e-8 where |log x| < 1/4.
// double: Highway's exp, log and log1p, 1 to 2 ulp; below -708 exp is 0.
#pragma once

#include <cstdint>

#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {

constexpr float log2_e = 1.44269502F;

#if HWY_TARGET == HWY_AVX3

/// 2^x for x < 128: a product less, where log2 e has joined a factor of x.
template <int n>
HWY_INLINE Pack<float, n> exp2(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  // Towards less, 0b01, and quietly.
  const P f = each(x, [](auto a) { return decltype(a){_mm512_reduce_ps(a.raw, 0b1001)}; });
  P y = multiply_add(f, P(0.0018775766751789032), P(0.008989340090521493));
  y = multiply_add(y, f, P(0.05582631805327807));
  y = multiply_add(y, f, P(0.2401536170443785));
  y = multiply_add(y, f, P(0.6931530732001692));
  y = multiply_add(y, f, P(0.9999999250635262));
  return each(y, x, [](auto a, auto b) { return decltype(a){_mm512_scalef_ps(a.raw, b.raw)}; });
}

/// e^x for x < 88.
template <int n>
HWY_INLINE Pack<float, n> exp(const Pack<float, n>& x) {
  return exp2(x * Pack<float, n>(log2_e));
}

#else

/// 2^n from a number whose lowest mantissa bits hold n + 127.
template <class V>
HWY_INLINE V power_of_two(V shifted) {
  const Tag<float> f;
  const hn::RebindToUnsigned<Tag<float>> bits;
  return hn::BitCast(f, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
}

/// 1.5 * 2^23 + the exponent's bias: added to a number, it leaves the integer nearest to it, and
/// the exponent field of that power of two, in the lowest bits.
constexpr float to_integer = 12582912.0F + 127;

/// 2^f times the power of two in the lowest bits of `shifted`.
template <int n>
HWY_INLINE Pack<float, n> raised(const Pack<float, n>& f, const Pack<float, n>& shifted) {
  using P = Pack<float, n>;
  P y = multiply_add(f, P(0.0013276472632), P(0.00967554134312));
  y = multiply_add(y, f, P(0.0555071327186));
  y = multiply_add(y, f, P(0.240221197237));
  y = multiply_add(y, f, P(0.693146967065));
  y = multiply_add(y, f, P(1.00000007165));
  return each(y, shifted, [](auto a, auto b) { return hn::Mul(a, power_of_two(b)); });
}

/// e^x for x < 88.
template <int n>
HWY_INLINE Pack<float, n> exp(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  const P round(to_integer);
  const P t = at_least(P(-88), x);
  const P shifted = multiply_add(t, P(log2_e), round);
  return raised(multiply_add(t, P(log2_e), round - shifted), shifted);
}

/// 2^x for x < 127, where log2 e has joined a factor of x: two products of exp are additions here.
template <int n>
HWY_INLINE Pack<float, n> exp2(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  const P round(to_integer);
  const P t = at_least(P(-127), x);
  const P shifted = t + round;
  return raised(t + (round - shifted), shifted);
}

#endif

template <int n>
HWY_INLINE Pack<double, n> exp(const Pack<double, n>& x) {
  using P = Pack<double, n>;
  const auto powers = each(x, [](auto a) { return hn::Exp(Tag<double>(), a); });
  // x - x is NaN for NaN, which Highway's exp would turn into 0.
  return select(x <= P(-708), P(0), powers + (x - x));
}

/// log 2, for an exponent that still lies above 23 bits of mantissa.
constexpr double log_2_of_bits = 8.262958294867817e-08;

/// y = 2^n (1 + f) with 1/sqrt 2 <= 1 + f < sqrt 2, n as a number above 23 bits of mantissa.
struct Mantissa {
  Vector<float> f, exponent, inverse_power;  ///< The last is 2^-n.

  HWY_INLINE explicit Mantissa(Vector<float> y) {
    const Tag<float> tag;
    const hn::RebindToSigned<Tag<float>> bits;
    const auto one = hn::Set(bits, 0x3F800000);
    const auto y_bits = hn::BitCast(bits, y);
    const auto power = hn::And(hn::Sub(y_bits, hn::Set(bits, 0x3F3504F3)),
                               hn::Set(bits, static_cast<std::int32_t>(0xFF800000)));
    f = hn::Sub(hn::BitCast(tag, hn::Sub(y_bits, power)), hn::Set(tag, 1.0F));
    exponent = hn::ConvertTo(tag, power);
    inverse_power = hn::BitCast(tag, hn::Sub(one, power));
  }
};

/// log(1 + f) + n log 2 for 1/sqrt 2 <= 1 + f < sqrt 2.
template <int n>
HWY_INLINE Pack<float, n> log_of_mantissa(const Pack<float, n>& f, const Pack<float, n>& exponent) {
  using P = Pack<float, n>;
  P y = multiply_add(f, P(0.0873484277606), P(-0.143075216631));
  y = multiply_add(y, f, P(0.149179736657));
  y = multiply_add(y, f, P(-0.165705081783));
  y = multiply_add(y, f, P(0.199620721296));
  y = multiply_add(y, f, P(-0.250017552538));
  y = multiply_add(y, f, P(0.333339502218));
  y = multiply_add(y, f, P(-0.499999916064));
  y = multiply_add(y * f, f, f);
  return multiply_add(exponent, P(log_2_of_bits), y);
}

/// log(1 + x) for x >= 0.
template <int n>
HWY_INLINE Pack<float, n> log1p(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  const auto one = hn::Set(Tag<float>(), 1.0F);
  const P bounded = at_most(P(2.4e38), x);
  P f, exponent;
  for (int i = 0; i < n; ++i) {
    const auto y = hn::Add(bounded.v[i], one);
    const auto lost = hn::Sub(bounded.v[i], hn::Sub(y, one));
    const Mantissa m(y);
    f.v[i] = hn::MulAdd(lost, m.inverse_power, m.f);
    exponent.v[i] = m.exponent;
  }
  return log_of_mantissa(f, exponent);
}

#if HWY_TARGET == HWY_AVX3
/// log x of a positive x from the instruction for mantissas, 3/4 <= 1 + f < 3/2, by a polynomial of
/// degree 6 that errs by 4.4e-8: 14 operations for 21. Any x has a finite result, NaN stays.
template <int n>
HWY_INLINE Pack<float, n> log(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  const hn::RebindToSigned<Tag<float>> bits;
  const P mantissa = each(x, [](auto a) {
    return decltype(a){_mm512_getmant_ps(a.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero)};
  });
  const P exponent = each(x, mantissa, [&](auto a, auto m) {
    return hn::ConvertTo(Tag<float>(), hn::Sub(hn::BitCast(bits, a), hn::BitCast(bits, m)));
  });
  const P f = mantissa - P(1);
  P y = multiply_add(f, P(-0.06471028178930283), P(0.14019642770290375));
  y = multiply_add(y, f, P(-0.1738598644733429));
  y = multiply_add(y, f, P(0.20121771097183228));
  y = multiply_add(y, f, P(-0.24976500868797302));
  y = multiply_add(y, f, P(0.33329570293426514));
  y = multiply_add(y, f, P(-0.5000023245811462));
  y = multiply_add(y * f, f, f);
  return multiply_add(exponent, P(log_2_of_bits), y);
}

/// log1p without what the rounding of 1 + x loses, 6e-8.
template <int n>
HWY_INLINE Pack<float, n> log_above_one(const Pack<float, n>& x) {
  return log(Pack<float, n>(1) + x);
}
#else
/// log x of a normal x > 0; NaN stays.
template <int n>
HWY_INLINE Pack<float, n> log(const Pack<float, n>& x) {
  Pack<float, n> f, exponent;
  for (int i = 0; i < n; ++i) {
    const Mantissa m(x.v[i]);
    f.v[i] = hn::Add(m.f, hn::Sub(x.v[i], x.v[i]));  // NaN of NaN.
    exponent.v[i] = m.exponent;
  }
  return log_of_mantissa(f, exponent);
}
#endif

template <int n>
HWY_INLINE Pack<double, n> log(const Pack<double, n>& x) {
  return each(x, [](auto a) { return hn::Add(hn::Log(Tag<double>(), a), hn::Sub(a, a)); });
}

template <int n>
HWY_INLINE Pack<double, n> log1p(const Pack<double, n>& x) {
  return each(x, [](auto a) { return hn::Log1p(Tag<double>(), a); });
}

/// 1 / (1 + e^-x); below -87 it is 0 in both types, where a masked pair (-inf) ends as well.
template <class T, int n>
HWY_INLINE Pack<T, n> sigmoid(const Pack<T, n>& x) {
  using P = Pack<T, n>;
  const P lowest(-87);
  const P y = P(1) / (P(1) + exp(-at_least(lowest, x)));
  return select(x <= lowest, P(0), y);
}

}  // namespace conelab::CONELAB_SIMD
