// A pack: several SIMD vectors that advance together.
//
// An operator works on all vectors of the pack in turn, so a formula written as in the paper
// becomes a breadth-first instruction stream: the latency of square roots and polynomials is hidden
// behind the other vectors of the pack. (Four vectors against one: penumbral tail 1.31 -> 1.19 ×
// dot.)
//
// Included only by the kernel sources, which are compiled once for each target with CONELAB_SIMD
// set to that target's namespace; nothing of it may leak out of that namespace.
#pragma once

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstddef>
#include <limits>

namespace conelab::CONELAB_SIMD {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;
template <class T>
inline constexpr int lanes = static_cast<int>(hn::MaxLanes(Tag<T>()));

static_assert(HWY_STATIC_TARGET == CONELAB_SIMD_CHECK, "the compiler flags select another target");

constexpr int pack_vectors = 4;

/// The outcome of a comparison of packs.
template <class T>
struct PackMask {
  hn::Mask<Tag<T>> v[pack_vectors];
};

template <class T>
struct Pack {
  Vector<T> v[pack_vectors];
  static constexpr int size = pack_vectors * lanes<T>;

  Pack() = default;
  template <class U>
  requires std::is_arithmetic_v<U> HWY_INLINE explicit Pack(U x) {
    for (auto& e : v) e = hn::Set(Tag<T>(), static_cast<T>(x));
  }
  static HWY_INLINE Pack load(const T* p) {
    Pack r;
    for (int i = 0; i < pack_vectors; ++i) r.v[i] = hn::LoadU(Tag<T>(), p + i * lanes<T>);
    return r;
  }
  HWY_INLINE void store(T* p) const {
    for (int i = 0; i < pack_vectors; ++i) hn::StoreU(v[i], Tag<T>(), p + i * lanes<T>);
  }
};

template <class T, class F>
HWY_INLINE Pack<T> each(const Pack<T>& a, F f) {
  Pack<T> r;
  for (int i = 0; i < pack_vectors; ++i) r.v[i] = f(a.v[i]);
  return r;
}
template <class T, class F>
HWY_INLINE Pack<T> each(const Pack<T>& a, const Pack<T>& b, F f) {
  Pack<T> r;
  for (int i = 0; i < pack_vectors; ++i) r.v[i] = f(a.v[i], b.v[i]);
  return r;
}
template <class T, class F>
HWY_INLINE PackMask<T> compare(const Pack<T>& a, const Pack<T>& b, F f) {
  PackMask<T> r;
  for (int i = 0; i < pack_vectors; ++i) r.v[i] = f(a.v[i], b.v[i]);
  return r;
}

template <class T>
HWY_INLINE Pack<T> operator+(const Pack<T>& a, const Pack<T>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Add(x, y); });
}
template <class T>
HWY_INLINE Pack<T> operator-(const Pack<T>& a, const Pack<T>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Sub(x, y); });
}
template <class T>
HWY_INLINE Pack<T> operator*(const Pack<T>& a, const Pack<T>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Mul(x, y); });
}
template <class T>
HWY_INLINE Pack<T> operator/(const Pack<T>& a, const Pack<T>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Div(x, y); });
}
template <class T>
HWY_INLINE Pack<T> operator-(const Pack<T>& a) {
  return each(a, [](auto x) { return hn::Neg(x); });
}
template <class T>
HWY_INLINE PackMask<T> operator<=(const Pack<T>& a, const Pack<T>& b) {
  return compare(a, b, [](auto x, auto y) { return hn::Le(x, y); });
}
template <class T>
HWY_INLINE PackMask<T> operator>(const Pack<T>& a, const Pack<T>& b) {
  return compare(a, b, [](auto x, auto y) { return hn::Gt(x, y); });
}
template <class T>
HWY_INLINE PackMask<T> operator==(const Pack<T>& a, const Pack<T>& b) {
  return compare(a, b, [](auto x, auto y) { return hn::Eq(x, y); });
}

template <class T>
HWY_INLINE Pack<T> sqrt(const Pack<T>& a) {
  return each(a, [](auto x) { return hn::Sqrt(x); });
}
template <class T>
HWY_INLINE Pack<T> log1p(const Pack<T>& a) {
  return each(a, [](auto x) { return hn::Log1p(Tag<T>(), x); });
}
template <class T>
HWY_INLINE Pack<T> max(const Pack<T>& a, const Pack<T>& b) {
  return each(a, b, [](auto x, auto y) { return hn::Max(x, y); });
}
template <class T>
HWY_INLINE Pack<T> smallest(const Pack<T>&) {
  return Pack<T>(std::numeric_limits<T>::min());
}
/// a * b + c in one rounding.
template <class T>
HWY_INLINE Pack<T> multiply_add(const Pack<T>& a, const Pack<T>& b, const Pack<T>& c) {
  Pack<T> r;
  for (int i = 0; i < pack_vectors; ++i) r.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return r;
}
template <class T>
HWY_INLINE Pack<T> select(const PackMask<T>& m, const Pack<T>& yes, const Pack<T>& no) {
  Pack<T> r;
  for (int i = 0; i < pack_vectors; ++i) r.v[i] = hn::IfThenElse(m.v[i], yes.v[i], no.v[i]);
  return r;
}
template <class T>
HWY_INLINE bool any(const PackMask<T>& m) {
  auto joined = hn::Or(m.v[0], m.v[1]);
  for (int i = 2; i < pack_vectors; ++i) joined = hn::Or(joined, m.v[i]);
  return !hn::AllFalse(Tag<T>(), joined);
}
template <class T>
HWY_INLINE bool all(const PackMask<T>& m) {
  auto joined = hn::And(m.v[0], m.v[1]);
  for (int i = 2; i < pack_vectors; ++i) joined = hn::And(joined, m.v[i]);
  return hn::AllTrue(Tag<T>(), joined);
}

/// The sum of all lanes of all vectors.
template <class T>
HWY_INLINE T sum(const Pack<T>& a) {
  auto joined = hn::Add(hn::Add(a.v[0], a.v[1]), hn::Add(a.v[2], a.v[3]));
  return hn::GetLane(hn::SumOfLanes(Tag<T>(), joined));
}
/// The largest of all lanes of all vectors.
template <class T>
HWY_INLINE T largest(const Pack<T>& a) {
  auto joined = hn::Max(hn::Max(a.v[0], a.v[1]), hn::Max(a.v[2], a.v[3]));
  return hn::GetLane(hn::MaxOfLanes(Tag<T>(), joined));
}

}  // namespace conelab::CONELAB_SIMD
