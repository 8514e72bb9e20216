// Measures of few queries with keys that are not packed.
#include <hwy/cache_control.h>

#include <algorithm>

#include "core/simd/direct.h"
#include "core/simd/lane_sums.h"
#include "core/simd/pack.h"
#include "core/similarity/similarity.h"

namespace conelab::CONELAB_SIMD {
namespace {

constexpr bool has_wide_vectors = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2;
/// The keys of a block, whose sums are stored together.
template <class T>
constexpr int block_keys = summed_vectors<T>;
/// The queries of a block, whose sums stay in registers.
constexpr int most_rows = HWY_TARGET == HWY_AVX3 ? 4 : 2;
/// A block of keys is fetched this many keys ahead.
constexpr int ahead = 24;
constexpr int line = 64;

/// Returns x [count], followed by zeros. Nothing behind is read.
template <class T>
HWY_INLINE Vector<T> load_rest(const T* x, int count) {
  const Tag<T> tag;
  if constexpr (has_wide_vectors) {
    return hn::MaskedLoad(hn::FirstN(tag, static_cast<std::size_t>(count)), tag, x);
  }
  HWY_ALIGN T rest[lanes<T>] = {};
  std::copy_n(x, count, rest);
  return hn::Load(tag, rest);
}

/// Adds the products, or the squares of the differences, of some numbers of a block of keys and of
/// queries to their sums.
template <Measure measure, class V>
HWY_INLINE void add_numbers(const V& query, const V* key, V* sums) {
  constexpr int keys = 16 / sizeof(hn::TFromV<V>);
  for (int k = 0; k < keys; ++k) {
    if constexpr (measure == Measure::product) {
      sums[k] = hn::MulAdd(query, key[k], sums[k]);
    } else {
      const V difference = hn::Sub(query, key[k]);
      sums[k] = hn::MulAdd(difference, difference, sums[k]);
    }
  }
}

/// Measures `rows` queries from `row` on with all keys. The columns behind the last key, up to a
/// whole block, get the measures of that key.
template <Measure measure, int rows, class T>
HWY_INLINE void measure_keys(const RowTile<T>& t, int row) {
  using V = Vector<T>;
  constexpr int keys = block_keys<T>;
  const Tag<T> tag;
  const T* query = t.query + row * t.query_stride;
  const int whole = t.depth / lanes<T> * lanes<T>;
  for (int first = 0; first < t.count; first += keys) {
    const T* key[keys];
    V sums[rows][keys];
    for (int k = 0; k < keys; ++k) {
      const int at = std::min(first + k, t.count - 1);
      key[k] = t.key + at * t.key_stride;
      for (int r = 0; r < rows; ++r) sums[r][k] = hn::Zero(tag);
    }
    const auto add = [&](int i, const V* numbers) __attribute__((always_inline)) {
      for (int r = 0; r < rows; ++r) {
        add_numbers<measure>(hn::LoadU(tag, query + r * t.query_stride + i), numbers, sums[r]);
      }
    };
    V numbers[keys];
    for (int i = 0; i < whole; i += lanes<T>) {
      for (int k = 0; k < keys; ++k) {
        numbers[k] = hn::LoadU(tag, key[k] + i);
        if (i * sizeof(T) % line == 0) {
          hwy::Prefetch(key[k] + static_cast<std::ptrdiff_t>(ahead) * t.key_stride + i);
        }
      }
      add(i, numbers);
    }
    if (whole < t.depth) {
      for (int k = 0; k < keys; ++k) numbers[k] = load_rest(key[k] + whole, t.depth - whole);
      add(whole, numbers);
    }
    for (int r = 0; r < rows; ++r) {
      store_sums(sums[r], t.tile + (row + r) * t.stride + first);
    }
  }
}

template <Measure measure, int rows, class T>
void measure_rows(const RowTile<T>& t, int row) {
  for (; row + rows <= t.rows; row += rows) measure_keys<measure, rows>(t, row);
  if constexpr (rows > 1) measure_rows<measure, rows / 2>(t, row);
}

/// Returns the largest absolute value of the measures, or NaN if any is not finite.
template <class T>
T largest_of(const RowTile<T>& t) {
  const Tag<T> tag;
  auto largest = hn::Zero(tag), other = hn::Zero(tag);  // `other` becomes NaN.
  const int whole = t.count / lanes<T> * lanes<T>;
  const auto add = [&](auto x) {
    largest = hn::Max(largest, hn::Abs(x));
    other = hn::MulAdd(x, hn::Zero(tag), other);
  };
  for (int r = 0; r < t.rows; ++r) {
    const T* row = t.tile + r * t.stride;
    for (int c = 0; c < whole; c += lanes<T>) add(hn::LoadU(tag, row + c));
    if (whole < t.count) add(load_rest(row + whole, t.count - whole));
  }
  return hn::GetLane(hn::MaxOfLanes(tag, largest)) + lane_sum<T>(other);
}

template <class T>
T row_products(const RowTile<T>& t) {
  measure_rows<Measure::product, most_rows>(t, 0);
  return largest_of(t);
}
template <class T>
T row_distances(const RowTile<T>& t) {
  measure_rows<Measure::squared_distance, most_rows>(t, 0);
  return largest_of(t);
}

/// The queries, and the vectors of values, whose sums stay in registers.
constexpr int sum_rows = HWY_TARGET == HWY_AVX3 ? 4 : 2;
constexpr int sum_vectors = 2 * panel_vectors;
/// The number of keys whose products are summed in a register before they are added to the result
/// (see kernel_products.cpp).
constexpr int summed_keys = 128;

template <int rows, int vectors, class T>
HWY_INLINE void sum_block(const WeightedSums<T>& s, int row, int column, int begin, int end) {
  const Tag<T> tag;
  Vector<T> sums[rows][vectors];
  for (auto& of_row : sums) {
    for (auto& sum : of_row) sum = hn::Zero(tag);
  }
  const T* weight = s.weights + row * s.weight_stride;
  for (int j = begin; j < end; ++j) {
    const T* value = s.values + j * s.value_stride + column;
    Vector<T> v[vectors];
    for (int i = 0; i < vectors; ++i) v[i] = hn::LoadU(tag, value + i * lanes<T>);
    for (int r = 0; r < rows; ++r) {
      const auto w = hn::Set(tag, weight[r * s.weight_stride + j]);
      for (int i = 0; i < vectors; ++i) sums[r][i] = hn::MulAdd(w, v[i], sums[r][i]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < vectors; ++i) {
      T* out = s.sums + (row + r) * s.stride + column + i * lanes<T>;
      hn::StoreU(hn::Add(hn::LoadU(tag, out), sums[r][i]), tag, out);
    }
  }
}

template <int rows, class T>
void sum_rows_from(const WeightedSums<T>& s, int row, int begin, int end) {
  for (; row + rows <= s.rows; row += rows) {
    int column = 0;
    for (; column + sum_vectors * lanes<T> <= s.size; column += sum_vectors * lanes<T>) {
      sum_block<rows, sum_vectors>(s, row, column, begin, end);
    }
    for (; column < s.size; column += panel_columns<T>) {
      sum_block<rows, panel_vectors>(s, row, column, begin, end);
    }
  }
  if constexpr (rows > 1) sum_rows_from<rows / 2>(s, row, begin, end);
}

template <class T>
void row_sums(const WeightedSums<T>& s) {
  for (int begin = 0; begin < s.count; begin += summed_keys) {
    sum_rows_from<sum_rows>(s, 0, begin, std::min(begin + summed_keys, s.count));
  }
}

}  // namespace

template <class T>
void narrow_distance(const NarrowTile<T>& tile);
template <class T>
void narrow_sums(const WeightedSums<T>& sums);

template <class T>
DirectKernels<T> make_direct() {
  return {&row_products<T>, &row_distances<T>, &row_sums<T>, &narrow_distance<T>, &narrow_sums<T>};
}
template DirectKernels<float> make_direct();
template DirectKernels<double> make_direct();

}  // namespace conelab::CONELAB_SIMD
