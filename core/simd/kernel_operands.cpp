// Kernels that scale, pack and exactly multiply tokens.
#include <cmath>
#include <cstddef>

#include "core/simd/kernel_parts.h"
#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {
namespace {

inline Vector<double> load_exact(const double* x) { return hn::LoadU(Tag<double>(), x); }
inline Vector<double> load_exact(const float* x) {
  return hn::PromoteTo(Tag<double>(), hn::LoadU(hn::Rebind<float, Tag<double>>(), x));
}

template <class One>
double sum_of_places(int size, const One& one) {
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += one(i);
  return sum;
}
inline double exact_lane_sum(Vector<double> sums) { return lane_sum<double>(sums); }
inline double exact_lane_sum(Vector<float> sums) {
#if HWY_TARGET == HWY_SCALAR
  return hn::GetLane(sums);
#else
  const Tag<double> tag;
  return lane_sum<double>(hn::Add(hn::PromoteTo(tag, hn::LowerHalf(sums)),
                                  hn::PromoteTo(tag, hn::UpperHalf(hn::Half<Tag<float>>(), sums))));
#endif
}

/// Returns the sum of terms [0, size). `add` adds the terms of one vector of T, from term i on, to
/// a vector of sums; it may be called twice for a term. `one` returns a single term.
template <class T, class Add, class One>
HWY_INLINE double sum_of_places(int size, const Add& add, const One& one) {
  const Tag<T> tag;
  constexpr int width = lanes<T>;
  if (size < width) return sum_of_places(size, one);
  auto even = hn::Zero(tag), odd = hn::Zero(tag);
  int i = 0;
  for (; i + 2 * width <= size; i += 2 * width) {
    even = add(i, even);
    odd = add(i + width, odd);
  }
  if (i + width <= size) {
    even = add(i, even);
    i += width;
  }
  if (i < size) {
    const auto counted = hn::FirstN(tag, static_cast<std::size_t>(i - (size - width)));
    odd = hn::Add(odd, hn::IfThenZeroElse(counted, add(size - width, hn::Zero(tag))));
  }
  return exact_lane_sum(hn::Add(even, odd));
}

template <class T, class Term>
double exact_sum(const T* a, const T* b, int size, const Term& term) {
  const auto set = [](T x) { return hn::Set(Tag<double>(), static_cast<double>(x)); };
  return sum_of_places<double>(
      size,
      [&](int i, Vector<double> sum) { return term(load_exact(a + i), load_exact(b + i), sum); },
      [&](int i) { return hn::GetLane(term(set(a[i]), set(b[i]), hn::Zero(Tag<double>()))); });
}

/// Whether infinity and numbers that overflow become the largest float when doubles are rounded to
/// floats. Highway does this on targets without vector instructions.
constexpr bool saturates = HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128;

inline Vector<double> store_rounded(Vector<double> x, double* row) {
  hn::StoreU(x, Tag<double>(), row);
  return x;
}
inline Vector<double> store_rounded(Vector<double> x, float* row) {
  const hn::Rebind<float, Tag<double>> half;
  const auto rounded = hn::DemoteTo(half, x);
  hn::StoreU(rounded, half, row);
  return hn::PromoteTo(Tag<double>(), rounded);
}

/// Returns whether floats represent the factor as the sum of two.
inline bool is_two_floats(double factor) {
  return std::abs(factor) > 1e-30 && std::abs(factor) < 1e30;
}

template <class T>
double store_scaled(const T* x, double factor, const double* centre, int size, T* row) {
  const auto one = [&](int i) {
    const double shift = centre == nullptr ? 0 : centre[i];
    row[i] = static_cast<T>(static_cast<double>(x[i]) * factor - shift);
    return static_cast<double>(row[i]) * static_cast<double>(row[i]);
  };
  if constexpr (saturates) return sum_of_places(size, one);
  if constexpr (sizeof(T) == sizeof(float)) {
    // Floats round factor x once if the factor is the sum of two floats.
    if (centre == nullptr && is_two_floats(factor)) {
      const Tag<float> tag;
      const auto high = static_cast<float>(factor);
      const auto large = hn::Set(tag, high);
      const auto small = hn::Set(tag, static_cast<float>(factor - static_cast<double>(high)));
      const auto square_of = [&](int i, Vector<float> sum) {
        const auto token = hn::LoadU(tag, x + i);
        const auto placed = hn::MulAdd(token, large, hn::Mul(token, small));
        hn::StoreU(placed, tag, row + i);
        return hn::MulAdd(placed, placed, sum);
      };
      return sum_of_places<float>(size, square_of, one);
    }
  }
  const Tag<double> tag;
  const auto scale = hn::Set(tag, factor);
  const auto square_of = [&](int i, Vector<double> sum) {
    const auto shift = centre == nullptr ? hn::Zero(tag) : hn::LoadU(tag, centre + i);
    const auto rounded = store_rounded(hn::MulSub(load_exact(x + i), scale, shift), row + i);
    return hn::MulAdd(rounded, rounded, sum);
  };
  return sum_of_places<double>(size, square_of, one);
}

/// A square block of numbers whose rows are vectors of 128 bits, the smallest that all targets
/// shuffle alike.
template <class T>
using SquareTag = hn::CappedTag<T, 16 / sizeof(T)>;
template <class T>
constexpr int square = hn::MaxLanes(SquareTag<T>());

template <class T>
HWY_INLINE void transpose(const T* rows, std::ptrdiff_t stride, T factor, T* out) {
  const SquareTag<T> tag;
  const auto scale = hn::Set(tag, factor);
  const auto row = [&](int r) { return hn::Mul(hn::LoadU(tag, rows + r * stride), scale); };
  const auto store = [&](auto column, int c) {
    hn::StoreU(column, tag, out + c * panel_columns<T>);
  };
#if HWY_TARGET == HWY_SCALAR
  store(row(0), 0);
#else
  // 128 bits hold four floats or two doubles.
  const auto interleave = [&](auto a, auto b, int c) {
    store(hn::InterleaveLower(tag, a, b), c);
    store(hn::InterleaveUpper(tag, a, b), c + 1);
  };
  if constexpr (square<T> == 2) {
    interleave(row(0), row(1), 0);
  } else {
    const auto a = row(0), b = row(1), c = row(2), d = row(3);
    interleave(hn::InterleaveLower(tag, a, c), hn::InterleaveLower(tag, b, d), 0);
    interleave(hn::InterleaveUpper(tag, a, c), hn::InterleaveUpper(tag, b, d), 2);
  }
#endif
}

template <class T>
void pack_panels(const T* rows, std::ptrdiff_t stride, int count, int depth, T factor, T* out) {
  constexpr int panel = panel_columns<T>;
  const int whole = depth / square<T> * square<T>;
  for (int first = 0; first < count; first += panel) {
    T* to = out + static_cast<std::ptrdiff_t>(first) * depth;
    const T* from = rows + first * stride;
    for (int j = 0; j < panel; j += square<T>) {
      for (int k = 0; k < whole; k += square<T>) {
        transpose(from + j * stride + k, stride, factor, to + k * panel + j);
      }
      for (int k = whole; k < depth; ++k) {
        for (int i = j; i < j + square<T>; ++i) to[k * panel + i] = factor * from[i * stride + k];
      }
    }
  }
}

template <class T>
bool split_panels(const T* rows, std::ptrdiff_t stride, int count, T* out,
                  std::ptrdiff_t panel_stride) {
  const Tag<T> tag;
  constexpr int panel = panel_columns<T>;
  Vector<T> sums[panel_vectors];  // Sums of x * 0, which is 0 or NaN.
  for (auto& sum : sums) sum = hn::Zero(tag);
  for (std::ptrdiff_t first = 0; first < stride; first += panel, out += panel_stride) {
    for (int i = 0; i < count; ++i) {
      for (int v = 0; v < panel_vectors; ++v) {
        const auto x = hn::LoadU(tag, rows + i * stride + first + v * lanes<T>);
        hn::StoreU(x, tag, out + i * panel + v * lanes<T>);
        sums[v] = hn::MulAdd(x, hn::Zero(tag), sums[v]);
      }
    }
  }
  return hn::AllTrue(tag, hn::Eq(hn::Add(sums[0], sums[1]), hn::Zero(tag)));
}

template <class T>
double exact_product(const T* a, const T* b, int size) {
  return exact_sum(a, b, size, [](auto x, auto y, auto sum) { return hn::MulAdd(x, y, sum); });
}
template <class T>
double exact_distance2(const T* a, const T* b, int size) {
  return exact_sum(a, b, size, [](auto x, auto y, auto sum) {
    const auto difference = hn::Sub(x, y);
    return hn::MulAdd(difference, difference, sum);
  });
}

template <class T>
void add_to_sums(const T* numbers, std::ptrdiff_t count, double* sums) {
  const Tag<double> tag;
  std::ptrdiff_t i = 0;
  for (; i + lanes<double> <= count; i += lanes<double>) {
    hn::StoreU(hn::Add(hn::LoadU(tag, sums + i), load_exact(numbers + i)), tag, sums + i);
  }
  for (; i < count; ++i) sums[i] += static_cast<double>(numbers[i]);
}

}  // namespace

template <class T>
void add_operands(Kernels<T>& k) {
  k.store_scaled = &store_scaled<T>;
  k.pack_panels = &pack_panels<T>;
  k.split_panels = &split_panels<T>;
  k.exact_product = &exact_product<T>;
  k.exact_distance2 = &exact_distance2<T>;
  k.add_to_sums = &add_to_sums<T>;
}
template void add_operands(Kernels<float>&);
template void add_operands(Kernels<double>&);

}  // namespace conelab::CONELAB_SIMD
