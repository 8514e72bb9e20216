// Products of a tile: register-tiled micro-kernels over packed panels.
//
// A micro-kernel holds row_block × 2 vectors of the result in registers and walks the depth: two
// loads of the panel and row_block broadcasts feed 2 row_block multiply-adds. With 16 registers
// 6 × 2 vectors is the largest tile without spills; with 32 registers 12 × 2.
#include "core/simd/kernel_parts.h"
#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {
namespace {

constexpr int panel_vectors = 2;
constexpr int block_rows = HWY_TARGET == HWY_AVX3 ? 12 : 6;

template <class T>
constexpr int panel_columns = panel_vectors* lanes<T>;

template <class T>
struct Accumulators {
  Vector<T> v[block_rows][panel_vectors];
};

/// acc[r] += sum over depth of left(r, step) * panel(step). Row r of the block starts at rows[r];
/// rows past the end repeat the last one, which is then stored twice with the same content.
template <class T, bool rows_contiguous>
HWY_INLINE void multiply_block(const T* const* rows, std::ptrdiff_t step_stride, const T* panel,
                               std::ptrdiff_t panel_step, int depth, Accumulators<T>& acc) {
  const Tag<T> tag;
  const T* base = rows[0];
#pragma GCC unroll 8
  for (int step = 0; step < depth; ++step) {
    const auto b0 = hn::LoadU(tag, panel);
    const auto b1 = hn::LoadU(tag, panel + lanes<T>);
    panel += panel_step;
#pragma GCC unroll 12
    for (int r = 0; r < block_rows; ++r) {
      const T* element = rows_contiguous ? base + r : rows[r] + step;
      const auto a = hn::Set(tag, *element);
      acc.v[r][0] = hn::MulAdd(a, b0, acc.v[r][0]);
      acc.v[r][1] = hn::MulAdd(a, b1, acc.v[r][1]);
    }
    if constexpr (rows_contiguous) base += step_stride;
  }
}

/// Fewer rows than a block, with contiguous rows: the broadcasts may not read past the operand.
template <class T>
HWY_INLINE void multiply_columns_tail(const T* base, std::ptrdiff_t step_stride, int rows,
                                      const T* panel, std::ptrdiff_t panel_step, int depth,
                                      Accumulators<T>& acc) {
  const Tag<T> tag;
  for (int step = 0; step < depth; ++step) {
    const auto b0 = hn::LoadU(tag, panel);
    const auto b1 = hn::LoadU(tag, panel + lanes<T>);
    for (int r = 0; r < rows; ++r) {
      const auto a = hn::Set(tag, base[r]);
      acc.v[r][0] = hn::MulAdd(a, b0, acc.v[r][0]);
      acc.v[r][1] = hn::MulAdd(a, b1, acc.v[r][1]);
    }
    base += step_stride;
    panel += panel_step;
  }
}

template <class T>
HWY_INLINE void multiply(const LeftOperand<T>& left, int row, int rows, const T* panel,
                         std::ptrdiff_t panel_step, int depth, Accumulators<T>& acc) {
  const T* base = left.data + row * left.row_stride;
  if (left.step_stride == 1) {
    const T* pointers[block_rows];
    for (int r = 0; r < block_rows; ++r) {
      pointers[r] = base + (r < rows ? r : rows - 1) * left.row_stride;
    }
    multiply_block<T, false>(pointers, 1, panel, panel_step, depth, acc);
  } else if (rows == block_rows) {
    multiply_block<T, true>(&base, left.step_stride, panel, panel_step, depth, acc);
  } else {
    multiply_columns_tail(base, left.step_stride, rows, panel, panel_step, depth, acc);
  }
}

template <class T>
void product(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right, T* c,
             std::ptrdiff_t stride, Store store) {
  const Tag<T> tag;
  for (int column = 0; column < columns; column += panel_columns<T>) {
    const T* panel = right.data + column / panel_columns<T> * right.panel_stride;
    for (int row = 0; row < rows; row += block_rows) {
      const int count = rows - row < block_rows ? rows - row : block_rows;
      T* corner = c + row * stride + column;
      Accumulators<T> acc;
      for (int r = 0; r < block_rows; ++r) {
        for (int i = 0; i < panel_vectors; ++i) acc.v[r][i] = hn::Zero(tag);
      }
      multiply(left, row, count, panel, right.step_stride, depth, acc);
      for (int r = 0; r < count; ++r) {
        for (int i = 0; i < panel_vectors; ++i) {
          T* p = corner + r * stride + i * lanes<T>;
          const auto before = store == Store::add ? hn::LoadU(tag, p) : hn::Zero(tag);
          hn::StoreU(hn::Add(before, acc.v[r][i]), tag, p);
        }
      }
    }
  }
}

template <class T>
void squared_distance(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right,
                      const T* query_norm, const T* key_norm, T close_ratio, T* c,
                      std::ptrdiff_t stride, T* closest) {
  const Tag<T> tag;
  const auto ratio = hn::Set(tag, close_ratio);
  for (int row = 0; row < rows; row += block_rows) {
    const int count = rows - row < block_rows ? rows - row : block_rows;
    Vector<T> least[block_rows];
    for (auto& v : least) v = hn::Set(tag, std::numeric_limits<T>::max());
    for (int column = 0; column < columns; column += panel_columns<T>) {
      Accumulators<T> acc;
      const auto k0 = hn::LoadU(tag, key_norm + column);
      const auto k1 = hn::LoadU(tag, key_norm + column + lanes<T>);
      for (int r = 0; r < block_rows; ++r) {
        const auto q = hn::Set(tag, query_norm[row + (r < count ? r : count - 1)]);
        acc.v[r][0] = hn::Add(q, k0);
        acc.v[r][1] = hn::Add(q, k1);
      }
      const T* panel = right.data + column / panel_columns<T> * right.panel_stride;
      multiply(left, row, count, panel, right.step_stride, depth, acc);
      for (int r = 0; r < count; ++r) {
        T* p = c + (row + r) * stride + column;
        const auto d0 = hn::Max(hn::Zero(tag), acc.v[r][0]);
        const auto d1 = hn::Max(hn::Zero(tag), acc.v[r][1]);
        const auto s0 = hn::NegMulAdd(ratio, k0, d0);
        const auto s1 = hn::NegMulAdd(ratio, k1, d1);
        least[r] = hn::Min(least[r], hn::Min(s0, s1));
        hn::StoreU(d0, tag, p);
        hn::StoreU(d1, tag, p + lanes<T>);
      }
    }
    for (int r = 0; r < count; ++r) {
      closest[row + r] = hn::GetLane(hn::MinOfLanes(tag, least[r]));
    }
  }
}

template <class T>
void margins(const T* tile, std::ptrdiff_t stride, int rows, int columns, T* row_sum,
             T* column_sum) {
  for (int r = 0; r < rows; ++r) {
    const T* row = tile + r * stride;
    Pack<T> total(0);
    for (int c = 0; c < columns; c += Pack<T>::size) {
      const auto w = Pack<T>::load(row + c);
      total = total + w;
      (Pack<T>::load(column_sum + c) + w).store(column_sum + c);
    }
    row_sum[r] += sum(total);
  }
}

/// Enough accumulators to hide the latency of a multiply-add on two units.
constexpr int peak_chains = 12;

template <class T>
T peak(long steps) {
  const Tag<T> tag;
  const auto factor = hn::Set(tag, T(0.999));
  const auto addend = hn::Set(tag, T(0.001));
  Vector<T> chains[peak_chains];
  for (auto& c : chains) c = hn::Set(tag, T(1));
  for (long s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (auto& c : chains) c = hn::MulAdd(c, factor, addend);
  }
  auto total = chains[0];
  for (int i = 1; i < peak_chains; ++i) total = hn::Add(total, chains[i]);
  return hn::GetLane(hn::SumOfLanes(tag, total));
}

}  // namespace

template <class T>
void add_products(Kernels<T>& k) {
  k.panel = panel_columns<T>;
  k.column_multiple = Pack<T>::size;
  k.row_block = block_rows;
  k.product = &product<T>;
  k.squared_distance = &squared_distance<T>;
  k.margins = &margins<T>;
  k.peak = &peak<T>;
  k.peak_flops = 2 * peak_chains * lanes<T>;
}
template void add_products(Kernels<float>&);
template void add_products(Kernels<double>&);

}  // namespace conelab::CONELAB_SIMD
