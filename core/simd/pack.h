// A pack: several SIMD vectors that advance together.
//
// An operator works on all vectors of the pack in turn. A formula written as in the paper thus
// becomes instructions on independent vectors, and the latency of a square root or a polynomial is
// hidden by the work on the other vectors.
//
// Only the kernel sources include this header. They are compiled once for each target, with
// CONELAB_SIMD set to that target's namespace, and nothing here may be used outside that namespace.
#pragma once

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstddef>
#include <limits>

#include "core/similarity/number.h"

namespace conelab::CONELAB_SIMD {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;
template <class T>
inline constexpr int lanes = static_cast<int>(hn::MaxLanes(Tag<T>()));

static_assert(HWY_STATIC_TARGET == CONELAB_SIMD_CHECK, "the compiler flags select another target");

/// The vectors, and the columns, of one step of a panel.
constexpr int panel_vectors = 2;
template <class T>
constexpr int panel_columns = panel_vectors* lanes<T>;

constexpr int pack_vectors = 4;
constexpr int slope_vectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;
constexpr int one_pass_vectors = 2;
/// With 32 registers, weights are computed for eight vectors at a time.
constexpr int weight_vectors = HWY_TARGET == HWY_AVX3 ? 8 : pack_vectors;

/// The result of a comparison of packs.
template <class T, int n = pack_vectors>
struct PackMask {
  hn::Mask<Tag<T>> v[n];
};

template <class T, int n = pack_vectors>
struct Pack {
  Vector<T> v[n];
  static constexpr int size = n * lanes<T>;

  Pack() = default;
  // Copied vector by vector: the compiler's own copy goes through memory in pieces of 16 bytes, and
  // the next load of a whole vector has to wait for it.
  HWY_INLINE Pack(const Pack& other) {
    for (int i = 0; i < n; ++i) v[i] = other.v[i];
  }
  HWY_INLINE Pack& operator=(const Pack& other) {
    for (int i = 0; i < n; ++i) v[i] = other.v[i];
    return *this;
  }
  template <class U>
  requires std::is_arithmetic_v<U> HWY_INLINE explicit Pack(U x) {
    for (auto& e : v) e = hn::Set(Tag<T>(), static_cast<T>(x));
  }
  HWY_INLINE explicit Pack(Vector<T> x) {
    for (auto& e : v) e = x;
  }
  static HWY_INLINE Pack load(const T* p) {
    Pack r;
    for (int i = 0; i < n; ++i) r.v[i] = hn::LoadU(Tag<T>(), p + i * lanes<T>);
    return r;
  }
  HWY_INLINE void store(T* p) const {
    for (int i = 0; i < n; ++i) hn::StoreU(v[i], Tag<T>(), p + i * lanes<T>);
  }
};

template <class T, int n, class F>
HWY_INLINE Pack<T, n> each(const Pack<T, n>& a, F f) {
  Pack<T, n> r;
  for (int i = 0; i < n; ++i) r.v[i] = f(a.v[i]);
  return r;
}
template <class T, int n, class F>
HWY_INLINE Pack<T, n> each(const Pack<T, n>& a, const Pack<T, n>& b, F f) {
  Pack<T, n> r;
  for (int i = 0; i < n; ++i) r.v[i] = f(a.v[i], b.v[i]);
  return r;
}
template <class T, int n, class F>
HWY_INLINE PackMask<T, n> compare(const Pack<T, n>& a, const Pack<T, n>& b, F f) {
  PackMask<T, n> r;
  for (int i = 0; i < n; ++i) r.v[i] = f(a.v[i], b.v[i]);
  return r;
}

template <class T, int n>
HWY_INLINE Pack<T, n> operator+(const Pack<T, n>& a, const Pack<T, n>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Add(x, y); });
}
template <class T, int n>
HWY_INLINE Pack<T, n> operator-(const Pack<T, n>& a, const Pack<T, n>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Sub(x, y); });
}
template <class T, int n>
HWY_INLINE Pack<T, n> operator*(const Pack<T, n>& a, const Pack<T, n>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Mul(x, y); });
}
template <class T, int n>
HWY_INLINE Pack<T, n> operator/(const Pack<T, n>& a, const Pack<T, n>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Div(x, y); });
}
template <class T, int n>
HWY_INLINE Pack<T, n> operator-(const Pack<T, n>& a) {
  return each(a, [](auto x) { return hn::Neg(x); });
}
template <class T, int n>
HWY_INLINE PackMask<T, n> operator<=(const Pack<T, n>& a, const Pack<T, n>& b) {
  return compare(a, b, [](auto x, auto y) { return hn::Le(x, y); });
}
template <class T, int n>
HWY_INLINE PackMask<T, n> operator>(const Pack<T, n>& a, const Pack<T, n>& b) {
  return compare(a, b, [](auto x, auto y) { return hn::Gt(x, y); });
}
template <class T, int n>
HWY_INLINE PackMask<T, n> operator==(const Pack<T, n>& a, const Pack<T, n>& b) {
  return compare(a, b, [](auto x, auto y) { return hn::Eq(x, y); });
}

/// Returns a * b + c with one rounding.
template <class T, int n>
HWY_INLINE Pack<T, n> multiply_add(const Pack<T, n>& a, const Pack<T, n>& b, const Pack<T, n>& c) {
  Pack<T, n> r;
  for (int i = 0; i < n; ++i) r.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return r;
}

template <class T, int n>
HWY_INLINE Pack<T, n> sqrt(const Pack<T, n>& a) {
  return each(a, [](auto x) { return hn::Sqrt(x); });
}

/// Says whether the machine's estimate of an inverse square root, corrected, takes less time than
/// its square root.
constexpr bool estimates_roots = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2;

/// Returns scale / sqrt(x) within 3 ulp for normal, finite x. The machine's estimate has 14 or 12
/// bits.
template <int n>
HWY_INLINE Pack<float, n> over_sqrt(const Pack<float, n>& scale, const Pack<float, n>& x) {
  using P = Pack<float, n>;
  const P y = each(x, [](auto a) { return hn::ApproximateReciprocalSqrt(a); });
  const P rest = P(1) - x * y * y;
  if constexpr (HWY_TARGET == HWY_AVX3) return y * multiply_add(rest, P(0.5) * scale, scale);
  return y * multiply_add(rest, multiply_add(rest, P(0.375) * scale, P(0.5) * scale), scale);
}

#if HWY_TARGET == HWY_AVX3
/// Returns a / b for normal |b| < 2^126, from an estimate of 1 / b with 14 bits. The result is NaN
/// for b = 0. It takes half the time of the machine's division.
template <int n>
HWY_INLINE Pack<float, n> quotient(const Pack<float, n>& a, const Pack<float, n>& b) {
  using P = Pack<float, n>;
  const P y = each(b, [](auto x) { return hn::ApproximateReciprocal(x); });
  const P q = a * y;
  return multiply_add(a - b * q, y, q);
}

/// Returns y. Where x belongs to one of the `classes`, as the instruction encodes them, returns the
/// number of that class.
template <int classes, int n>
HWY_INLINE Pack<float, n> corrected(const Pack<float, n>& y, const Pack<float, n>& x) {
  return each(y, x, [](auto a, auto b) {
    return decltype(a){_mm512_fixupimm_ps(a.raw, b.raw, _mm512_set1_epi32(classes), 0)};
  });
}

/// Returns sqrt(x) and 1 / sqrt(x) within 2 ulp, from an estimate with 14 bits. For x = 0 and x =
/// infinity the square root is x and the inverse is 0.
template <int n>
HWY_INLINE Root<Pack<float, n>> root(const Pack<float, n>& x) {
  using P = Pack<float, n>;
  constexpr int zero_and_infinity_stay = 0x00500800;
  constexpr int zero_of_zero_and_infinity = 0x00800800;
  const P y = each(x, [](auto a) { return hn::ApproximateReciprocalSqrt(a); });
  const P s = x * y;
  const P rest = P(0.5) - P(0.5) * s * y;
  return {corrected<zero_and_infinity_stay>(multiply_add(rest, s, s), x),
          corrected<zero_of_zero_and_infinity>(multiply_add(rest, y, y), x)};
}
/// Returns the same number as root(x), so that a formula and its derivatives round alike.
template <int n>
HWY_INLINE Pack<float, n> sqrt(const Pack<float, n>& x) {
  return root(x).value;
}
#endif

/// Says whether this target's maximum and minimum return their second argument if either is NaN, as
/// the instructions of x86 do. Other targets may return the number.
constexpr bool keeps_second = HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR;

/// Returns the larger of a and b. It is NaN where b is. (On NEON it is also NaN where a is.)
template <class T, int n>
HWY_INLINE Pack<T, n> max(const Pack<T, n>& a, const Pack<T, n>& b) {
  if constexpr (keeps_second || HWY_ARCH_ARM) {
    return each(a, b, [](auto x, auto y) { return hn::Max(x, y); });
  } else {
    return each(a, b, [](auto x, auto y) { return hn::IfThenElse(hn::Gt(x, y), x, y); });
  }
}

/// Return the larger, and the smaller, of a bound and x. The result is NaN where x is.
template <class T, int n>
HWY_INLINE Pack<T, n> at_least(const Pack<T, n>& bound, const Pack<T, n>& x) {
  if constexpr (keeps_second) {
    return each(bound, x, [](auto b, auto a) { return hn::Max(b, a); });
  } else {
    return each(bound, x, [](auto b, auto a) { return hn::IfThenElse(hn::Gt(b, a), b, a); });
  }
}
template <class T, int n>
HWY_INLINE Pack<T, n> at_most(const Pack<T, n>& bound, const Pack<T, n>& x) {
  if constexpr (keeps_second) {
    return each(bound, x, [](auto b, auto a) { return hn::Min(b, a); });
  } else {
    return each(bound, x, [](auto b, auto a) { return hn::IfThenElse(hn::Lt(b, a), b, a); });
  }
}
template <class T, int n>
HWY_INLINE Pack<T, n> smallest(const Pack<T, n>&) {
  return Pack<T, n>(std::numeric_limits<T>::min());
}
template <class T, int n>
HWY_INLINE Pack<T, n> select(const PackMask<T, n>& m, const Pack<T, n>& yes, const Pack<T, n>& no) {
  Pack<T, n> r;
  for (int i = 0; i < n; ++i) r.v[i] = hn::IfThenElse(m.v[i], yes.v[i], no.v[i]);
  return r;
}
template <class T, int n>
HWY_INLINE PackMask<T, n> either(const PackMask<T, n>& a, const PackMask<T, n>& b) {
  PackMask<T, n> r;
  for (int i = 0; i < n; ++i) r.v[i] = hn::Or(a.v[i], b.v[i]);
  return r;
}
template <class T, int n>
HWY_INLINE bool any(const PackMask<T, n>& m) {
  auto joined = m.v[0];
  for (int i = 1; i < n; ++i) joined = hn::Or(joined, m.v[i]);
  return !hn::AllFalse(Tag<T>(), joined);
}
template <class T, int n>
HWY_INLINE bool all(const PackMask<T, n>& m) {
  auto joined = m.v[0];
  for (int i = 1; i < n; ++i) joined = hn::And(joined, m.v[i]);
  return hn::AllTrue(Tag<T>(), joined);
}

/// Return the sum, and the maximum, of the vectors of a pack, lane by lane. A loop over packs can
/// then accumulate into one register.
template <class T, int n>
HWY_INLINE Vector<T> folded_sum(const Pack<T, n>& a) {
  if constexpr (n == 4) return hn::Add(hn::Add(a.v[0], a.v[1]), hn::Add(a.v[2], a.v[3]));
  auto joined = a.v[0];
  for (int i = 1; i < n; ++i) joined = hn::Add(joined, a.v[i]);
  return joined;
}
template <class T, int n>
HWY_INLINE Vector<T> folded_max(const Pack<T, n>& a) {
  auto joined = a.v[0];
  for (int i = 1; i < n; ++i) joined = hn::Max(joined, a.v[i]);
  return joined;
}

/// Returns whether the sum of any lane of x >= 0 over the vectors of the pack overflows or is NaN.
template <class T, int n>
HWY_INLINE bool may_overflow(const Pack<T, n>& x) {
  const auto largest = hn::Set(Tag<T>(), std::numeric_limits<T>::max());
  return !hn::AllTrue(Tag<T>(), hn::Le(folded_sum(x), largest));
}

template <class T>
HWY_INLINE T lane_sum(Vector<T> a) {
  return hn::GetLane(hn::SumOfLanes(Tag<T>(), a));
}

}  // namespace conelab::CONELAB_SIMD

template <int n>
inline constexpr bool conelab::has_over_sqrt<conelab::CONELAB_SIMD::Pack<float, n>> =
    conelab::CONELAB_SIMD::estimates_roots;
template <int n>
inline constexpr bool conelab::is_double<conelab::CONELAB_SIMD::Pack<double, n>> = true;
