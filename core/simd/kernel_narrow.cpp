// Kernels for tokens and values of few dimensions. A product of panels would multiply padding: the
// columns of a panel are more than the dimensions of a value.
#include <algorithm>

#include "core/simd/lane_sums.h"
#include "core/simd/narrow.h"
#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {
namespace {

// Blocks whose sums stay in registers: queries × vectors of keys, and queries × dimensions.
constexpr int distance_block = 4;
constexpr int distance_panels = HWY_TARGET == HWY_AVX3 ? 2 : 1;
constexpr int sum_block = HWY_TARGET == HWY_AVX3 ? 4 : 2;

/// Computes the distances of `rows` queries to the keys of `panels` panels.
template <class T, int rows, int panels>
HWY_INLINE void distances_of_block(const T* query, std::ptrdiff_t query_stride, const T* panel,
                                   std::ptrdiff_t panel_stride, int depth, T* c,
                                   std::ptrdiff_t stride) {
  constexpr int vectors = panels * panel_vectors;
  const Tag<T> tag;
  Vector<T> sums[rows][vectors], key[vectors];
  const auto difference = [&](int r, int v, int i) __attribute__((always_inline)) {
    return hn::Sub(hn::Set(tag, query[r * query_stride + i]), key[v]);
  };
  const auto load = [&](int i) __attribute__((always_inline)) {
    for (int v = 0; v < vectors; ++v) {
      key[v] = hn::LoadU(tag, panel + v / panel_vectors * panel_stride + i * panel_columns<T> +
                                  v % panel_vectors * lanes<T>);
    }
  };
  load(0);
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      const auto d = difference(r, v, 0);
      sums[r][v] = hn::Mul(d, d);
    }
  }
  for (int i = 1; i < depth; ++i) {
    load(i);
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vectors; ++v) {
        const auto d = difference(r, v, i);
        sums[r][v] = hn::MulAdd(d, d, sums[r][v]);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      hn::StoreU(sums[r][v], tag, c + r * stride + v * lanes<T>);
    }
  }
}

template <class T, int rows>
void distances_of_rows(const NarrowTile<T>& t, int first) {
  const int panels = t.columns / panel_columns<T>;
  for (; first + rows <= t.rows; first += rows) {
    const T* query = t.query + first * t.query_stride;
    T* out = t.tile + first * t.stride;
    int p = 0;
    for (; p + distance_panels <= panels; p += distance_panels) {
      distances_of_block<T, rows, distance_panels>(query, t.query_stride,
                                                   t.panels + p * t.panel_stride, t.panel_stride,
                                                   t.depth, out + p * panel_columns<T>, t.stride);
    }
    for (; p < panels; ++p) {
      distances_of_block<T, rows, 1>(query, t.query_stride, t.panels + p * t.panel_stride,
                                     t.panel_stride, t.depth, out + p * panel_columns<T>, t.stride);
    }
  }
  if constexpr (rows > 1) distances_of_rows<T, rows / 2>(t, first);
}

template <class T, int rows, int size>
HWY_INLINE void sums_of_block(const WeightedSums<T>& s) {
  const Tag<T> tag;
  Vector<T> sums[rows][size];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(tag);
  }
  for (int j = 0; j < s.count; j += lanes<T>) {
    Vector<T> value[size];
    for (int i = 0; i < size; ++i) value[i] = hn::LoadU(tag, s.values + i * s.value_stride + j);
    for (int r = 0; r < rows; ++r) {
      const auto weight = hn::LoadU(tag, s.weights + r * s.weight_stride + j);
      for (int i = 0; i < size; ++i) sums[r][i] = hn::MulAdd(weight, value[i], sums[r][i]);
    }
  }
  constexpr int together = summed_vectors<T>;
  for (int r = 0; r < rows; ++r) {
    T* out = s.sums + r * s.stride;
    int i = 0;
    for (; i + together <= size; i += together) {
      T found[together];
      store_sums(sums[r] + i, found);
      for (int k = 0; k < together; ++k) out[i + k] += found[k];
    }
    for (; i < size; ++i) out[i] += lane_sum<T>(sums[r][i]);
  }
}

template <class T, int rows, int size>
void sums_of_columns(WeightedSums<T> s) {
  for (; s.size >= size; s.size -= size) {
    sums_of_block<T, rows, size>(s);
    s.values += size * s.value_stride;
    s.sums += size;
  }
  if constexpr (size > 1) sums_of_columns<T, rows, size / 2>(s);
}

template <class T, int rows>
void sums_of_rows(WeightedSums<T> s) {
  for (; s.rows >= rows; s.rows -= rows) {
    sums_of_columns<T, rows, 4>(s);
    s.weights += rows * s.weight_stride;
    s.sums += rows * s.stride;
  }
  if constexpr (rows > 1) sums_of_rows<T, rows / 2>(s);
}

template <class T>
void distance(const NarrowTile<T>& tile) {
  if (tile.depth > 0) return distances_of_rows<T, distance_block>(tile, 0);
  for (int r = 0; r < tile.rows; ++r) std::fill_n(tile.tile + r * tile.stride, tile.columns, T(0));
}
template <class T>
void sums(const WeightedSums<T>& sums) {
  sums_of_rows<T, sum_block>(sums);
}

}  // namespace

template <class T>
NarrowKernels<T> make_narrow() {
  return {&distance<T>, &sums<T>};
}
template NarrowKernels<float> make_narrow();
template NarrowKernels<double> make_narrow();

}  // namespace conelab::CONELAB_SIMD
