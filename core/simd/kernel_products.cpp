// Products of a tile: register-tiled micro-kernels over packed panels.
//
// A micro-kernel holds block_rows × 2 vectors of the result in registers and walks the depth: two
// loads of the panel and block_rows broadcasts feed 2 block_rows multiply-adds. With 16 registers
// 6 × 2 vectors is the largest tile without spills; with 32 registers 12 × 2.
#include <utility>

#include "core/simd/kernel_parts.h"
#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {
namespace {

constexpr int panel_vectors = 2;
constexpr int block_rows = HWY_TARGET == HWY_AVX3 ? 12 : 6;

template <class T>
constexpr int panel_columns = panel_vectors* lanes<T>;

/// f(0), f(1), ... with constants. (A loop that GCC unrolls late leaves the block's vectors in
/// memory, which costs every block 25 cycles of 400.)
template <int count, class F>
HWY_INLINE void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>()), ...);
  }
  (std::make_integer_sequence<int, count>());
}

/// A block of the result in registers.
template <class T>
struct Block {
  Vector<T> v[block_rows][panel_vectors];
};

/// One panel of the right operand, and what of the left one meets it.
template <class T>
struct Strip {
  const T* left;
  std::ptrdiff_t row_stride, step_stride;
  const T* panel;
  int depth;
};

/// Where the rows of a block are. The compiler must not see how the addresses hang together: it
/// would keep one offset a row and step, spill most of them, and lose a tenth of the time.
template <class T>
struct Rows {
  const T* at[block_rows];

  HWY_INLINE explicit Rows(const Strip<T>& s) {
    unrolled<block_rows>([&](auto r) __attribute__((always_inline)) {
      const T* row = s.left + r * s.row_stride;
      asm("" : "+r"(row));
      at[r] = row;
    });
  }
};

/// `steps` steps of a whole block of rows from step `first`.
template <class T, bool rows_contiguous, int steps>
HWY_INLINE void multiply_steps(const Strip<T>& s, const Rows<T>& rows, std::ptrdiff_t first,
                               Block<T>& block) {
  const Tag<T> tag;
  const T* panel = s.panel + first * panel_columns<T>;
  const T* column = s.left + first * s.step_stride;
  unrolled<steps>([&](auto step) __attribute__((always_inline)) {
    const auto b0 = hn::LoadU(tag, panel + step * panel_columns<T>);
    const auto b1 = hn::LoadU(tag, panel + step * panel_columns<T> + lanes<T>);
    unrolled<block_rows>([&](auto r) __attribute__((always_inline)) {
      const auto a = hn::Set(tag, rows_contiguous ? column[r] : rows.at[r][first + step]);
      block.v[r][0] = hn::MulAdd(a, b0, block.v[r][0]);
      block.v[r][1] = hn::MulAdd(a, b1, block.v[r][1]);
    });
    if constexpr (rows_contiguous) column += s.step_stride;
  });
}

/// A row of whole blocks: the next one is so much further in the operands.
struct Walk {
  int blocks;
  std::ptrdiff_t left_advance, panel_advance;
};

/// Whole blocks of rows against panels; each row's two vectors go to `store(block, row, v0, v1)`.
/// The depth is walked in steps of 16, 4 and 1 by loops of their own, and the function is not
/// inlined, so that all of a block stays in registers. The walk is inside and everything passed by
/// value: a call for each block, with addresses read through references, cost 5 % of the distances
/// and of the products over queries. (Steps of 32 or 64, and prefetching the next panel, lose.)
template <class T, bool rows_contiguous, class F>
HWY_NOINLINE void multiply_whole(Strip<T> s, Walk walk, F store) {
  for (int i = 0; i < walk.blocks; ++i) {
    Block<T> block;
    unrolled<block_rows>([&](auto r) __attribute__((always_inline)) {
      block.v[r][0] = hn::Zero(Tag<T>());
      block.v[r][1] = hn::Zero(Tag<T>());
    });
    const Rows<T> rows(s);
    std::ptrdiff_t step = 0;
    for (; step + 16 <= s.depth; step += 16)
      multiply_steps<T, rows_contiguous, 16>(s, rows, step, block);
    for (; step + 4 <= s.depth; step += 4)
      multiply_steps<T, rows_contiguous, 4>(s, rows, step, block);
    for (; step < s.depth; ++step) multiply_steps<T, rows_contiguous, 1>(s, rows, step, block);
    unrolled<block_rows>([&](auto r) __attribute__((always_inline)) {
      store(i, r, block.v[r][0], block.v[r][1]);
    });
    s.left += walk.left_advance;
    s.panel += walk.panel_advance;
  }
}

/// One block of `rows` < block_rows: nothing is read past the operand.
template <class T, class F>
HWY_NOINLINE void multiply_some(Strip<T> s, int rows, F store) {
  const Tag<T> tag;
  Block<T> block;
  for (auto& row : block.v) row[0] = row[1] = hn::Zero(tag);
  for (int step = 0; step < s.depth; ++step) {
    const T* panel = s.panel + step * panel_columns<T>;
    const auto b0 = hn::LoadU(tag, panel);
    const auto b1 = hn::LoadU(tag, panel + lanes<T>);
    for (int r = 0; r < rows; ++r) {
      const auto a = hn::Set(tag, s.left[r * s.row_stride + step * s.step_stride]);
      block.v[r][0] = hn::MulAdd(a, b0, block.v[r][0]);
      block.v[r][1] = hn::MulAdd(a, b1, block.v[r][1]);
    }
  }
  for (int r = 0; r < rows; ++r) store(0, r, block.v[r][0], block.v[r][1]);
}

template <class T, class F>
HWY_INLINE void multiply(const Strip<T>& s, const Walk& walk, const F& store) {
  if (s.step_stride == 1) {
    multiply_whole<T, false>(s, walk, store);
  } else {
    multiply_whole<T, true>(s, walk, store);
  }
}

/// The product of rows with the panel of a column.
template <class T>
Strip<T> strip(const LeftOperand<T>& left, int row, const RightOperand<T>& right, int column,
               int depth) {
  return {left.data + row * left.row_stride, left.row_stride, left.step_stride,
          right.data + column / panel_columns<T> * right.panel_stride, depth};
}

/// Blocks below each other into a tile.
template <class T, Store mode>
struct IntoTile {
  T* corner;
  std::ptrdiff_t stride;

  template <class V>
  HWY_INLINE void operator()(int block, int row, V v0, V v1) const {
    const Tag<T> tag;
    T* p = corner + (block * block_rows + row) * stride;
    if constexpr (mode == Store::add) {
      v0 = hn::Add(hn::LoadU(tag, p), v0);
      v1 = hn::Add(hn::LoadU(tag, p + lanes<T>), v1);
    }
    hn::StoreU(v0, tag, p);
    hn::StoreU(v1, tag, p + lanes<T>);
  }
};

template <class T, Store mode>
void product_into(int rows, int columns, int depth, const LeftOperand<T>& left,
                  const RightOperand<T>& right, T* c, std::ptrdiff_t stride) {
  const int whole = rows / block_rows;
  const int first_of_rest = whole * block_rows;
  const Walk down{whole, block_rows * left.row_stride, 0};
  for (int column = 0; column < columns; column += panel_columns<T>) {
    multiply(strip(left, 0, right, column, depth), down, IntoTile<T, mode>{c + column, stride});
    if (first_of_rest == rows) continue;
    multiply_some(strip(left, first_of_rest, right, column, depth), rows - first_of_rest,
                  IntoTile<T, mode>{c + column + first_of_rest * stride, stride});
  }
}

template <class T>
void product(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right, T* c,
             std::ptrdiff_t stride, Store store) {
  (store == Store::add
       ? product_into<T, Store::add>
       : product_into<T, Store::replace>)(rows, columns, depth, left, right, c, stride);
}

/// Blocks beside each other from products to squared distances.
template <class T>
struct IntoDistances {
  T* corner;
  std::ptrdiff_t stride;
  const T* query_norm;
  const T* key_norm;
  T close_ratio;
  Vector<T>* least;  ///< Per row.

  /// The norms come last: starting from them, every step would round at their magnitude.
  template <class V>
  HWY_INLINE void operator()(int block, int row, V v0, V v1) const {
    const Tag<T> tag;
    const int column = block * panel_columns<T>;
    const auto ratio = hn::Set(tag, close_ratio);
    const auto q = hn::Set(tag, query_norm[row]);
    const auto k0 = hn::LoadU(tag, key_norm + column);
    const auto k1 = hn::LoadU(tag, key_norm + column + lanes<T>);
    const auto d0 = hn::Max(hn::Zero(tag), hn::Add(hn::Add(q, k0), v0));
    const auto d1 = hn::Max(hn::Zero(tag), hn::Add(hn::Add(q, k1), v1));
    const auto s0 = hn::NegMulAdd(ratio, k0, d0);
    const auto s1 = hn::NegMulAdd(ratio, k1, d1);
    least[row] = hn::Min(least[row], hn::Min(s0, s1));
    T* p = corner + row * stride + column;
    hn::StoreU(d0, tag, p);
    hn::StoreU(d1, tag, p + lanes<T>);
  }
};

template <class T>
void squared_distance(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right,
                      const T* query_norm, const T* key_norm, T close_ratio, T* c,
                      std::ptrdiff_t stride, T* closest) {
  const Tag<T> tag;
  for (int row = 0; row < rows; row += block_rows) {
    const int count = rows - row < block_rows ? rows - row : block_rows;
    Vector<T> least[block_rows];
    for (auto& v : least) v = hn::Set(tag, std::numeric_limits<T>::max());
    IntoDistances<T> into{c + row * stride, stride, query_norm + row, key_norm, close_ratio, least};
    if (count == block_rows) {
      const Walk along{columns / panel_columns<T>, 0, right.panel_stride};
      multiply(strip(left, row, right, 0, depth), along, into);
    } else {
      for (int column = 0; column < columns; column += panel_columns<T>) {
        multiply_some(strip(left, row, right, column, depth), count, into);
        into.corner += panel_columns<T>;
        into.key_norm += panel_columns<T>;
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
    row_sum[r] += lane_sum<T>(folded_sum(total));
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
  k.forward_rows = 12;  // A multiple of every target's block.
  k.backward_rows = 48;
  k.product = &product<T>;
  k.squared_distance = &squared_distance<T>;
  k.margins = &margins<T>;
  k.peak = &peak<T>;
  k.peak_flops = 2 * peak_chains * lanes<T>;
}
template void add_products(Kernels<float>&);
template void add_products(Kernels<double>&);

}  // namespace conelab::CONELAB_SIMD
