// The functions exp, exp2, sigmoid, log and log1p of a pack.
//
// exp of floats: e^x = 2^n 2^f with n = round(x log2 e) and |f| <= 1/2. A minimax polynomial of
// degree 5 gives 2^f with a relative error of 7.5e-8. Rounding log2 e to a float adds a relative
// error of 1.3e-8 |x|. Adding a large constant to x log2 e rounds it to n and leaves n + 127 in the
// lowest bits; a shift turns these into the exponent field of 2^n. Arguments must be below 88.
// Below -88 the result is exactly 0. NaN gives NaN. Results below 2^-126 are subnormal or 0. With
// AVX-512, n = floor(x log2 e) and 0 <= f < 1, because instructions exist for the first and the
// last step. The product x log2 e is then rounded once more, which adds a relative error of 4e-8
// |x|: sigmoid(-60) has one of 3e-6. Under a softmax |x| is small for all weights that matter. exp2
// of floats is the same without the product. Arguments must be below 127 (128 with AVX-512); below
// -127 the result is 0, or subnormal with AVX-512.
//
// log1p of floats: y = 1 + x, rounded, is 2^n (1 + f) with 1/sqrt 2 <= 1 + f < sqrt 2. The rounding
// error of y, c = x - (y - 1), is added to f as c 2^-n, so that no digits are lost near x = 0.
// log(1 + f) = f + f^2 P(f) with the minimax polynomial P of degree 7 (relative error 3e-8). The
// total error is 1.8 ulp. Arguments must be 0 or larger. From 2.4e38 = sqrt 2 2^127 on the result
// is log 2.4e38, because c 2^-n would underflow. NaN gives NaN. log of floats is log1p with x in
// place of 1 + x.
//
// Doubles use Highway's exp, log and log1p, with errors of 1 to 2 ulp. exp is 0 below -708.
#pragma once

#include <cstdint>

#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {

constexpr float log2_e = 1.44269502F;

#if HWY_TARGET == HWY_AVX3

/// Returns 2^x for x < 128. It saves the product of exp if log2 e is folded into a factor of x.
template <int n>
HWY_INLINE Pack<float, n> exp2(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  // Round toward negative infinity (0b01) without exceptions.
  const P f = each(x, [](auto a) { return decltype(a){_mm512_reduce_ps(a.raw, 0b1001)}; });
  P y = multiply_add(f, P(0.0018775766751789032), P(0.008989340090521493));
  y = multiply_add(y, f, P(0.05582631805327807));
  y = multiply_add(y, f, P(0.2401536170443785));
  y = multiply_add(y, f, P(0.6931530732001692));
  y = multiply_add(y, f, P(0.9999999250635262));
  return each(y, x, [](auto a, auto b) { return decltype(a){_mm512_scalef_ps(a.raw, b.raw)}; });
}

/// Returns e^x for x < 88.
template <int n>
HWY_INLINE Pack<float, n> exp(const Pack<float, n>& x) {
  return exp2(x * Pack<float, n>(log2_e));
}

#else

/// Returns 2^n of a number whose lowest mantissa bits hold n + 127.
template <class V>
HWY_INLINE V power_of_two(V shifted) {
  const Tag<float> f;
  const hn::RebindToUnsigned<Tag<float>> bits;
  return hn::BitCast(f, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
}

/// 1.5 * 2^23 + the bias of the exponent. Added to a number, it leaves the nearest integer plus
/// that bias in the lowest bits, which is the exponent field of the power of two.
constexpr float to_integer = 12582912.0F + 127;

/// Returns 2^f times the power of two that the lowest bits of `shifted` hold.
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

/// Returns e^x for x < 88.
template <int n>
HWY_INLINE Pack<float, n> exp(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  const P round(to_integer);
  const P t = at_least(P(-88), x);
  const P shifted = multiply_add(t, P(log2_e), round);
  return raised(multiply_add(t, P(log2_e), round - shifted), shifted);
}

/// Returns 2^x for x < 127. Two multiply-adds of exp are additions if log2 e is folded into a
/// factor of x.
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

/// log 2 divided by 2^23, for an exponent that has not been shifted: it is above 23 bits of
/// mantissa.
constexpr double log_2_of_bits = 8.262958294867817e-08;

/// y = 2^n (1 + f) with 1/sqrt 2 <= 1 + f < sqrt 2. `exponent` is n 2^23.
struct Mantissa {
  Vector<float> f, exponent, inverse_power;  ///< `inverse_power` is 2^-n.

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

/// Returns log(1 + f) + n log 2 for 1/sqrt 2 <= 1 + f < sqrt 2, where `exponent` is n 2^23.
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

/// Returns log(1 + x) for x >= 0.
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
/// Returns log x of a positive x. An instruction extracts the mantissa, 3/4 <= 1 + f < 3/2, and a
/// polynomial of degree 6 gives log(1 + f) with an error of 4.4e-8. Any x has a finite result,
/// except that NaN gives NaN.
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

/// Returns log(1 + x) with the rounding error of 1 + x, 6e-8.
template <int n>
HWY_INLINE Pack<float, n> log_above_one(const Pack<float, n>& x) {
  return log(Pack<float, n>(1) + x);
}
#else
/// Returns log x of a normal x > 0. NaN gives NaN.
template <int n>
HWY_INLINE Pack<float, n> log(const Pack<float, n>& x) {
  Pack<float, n> f, exponent;
  for (int i = 0; i < n; ++i) {
    const Mantissa m(x.v[i]);
    f.v[i] = hn::Add(m.f, hn::Sub(x.v[i], x.v[i]));  // NaN if x is NaN.
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

/// Returns e^-m / (1 + e^-x) = 1 / (e^m + e^(m-x)) for a reference m <= 0. If x - m is below -87 in
/// float or -700 in double it is 0, and therefore also for masked pairs (-inf).
template <class T, int n>
HWY_INLINE Pack<T, n> sigmoid(const Pack<T, n>& x, T m) {
  using P = Pack<T, n>;
  const P lowest(sizeof(T) == sizeof(double) ? -700 : -87);
  const P whole = m == T(0) ? P(1) : exp(P(m)), above = x - P(m);
  const P y = P(1) / (whole + exp(-at_least(lowest, above)));
  return select(above <= lowest, P(0), y);
}

}  // namespace conelab::CONELAB_SIMD
