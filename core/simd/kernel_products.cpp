// Products of a tile: register-tiled micro-kernels over packed panels. The sums over its rows and
// columns are here as well.
//
// A micro-kernel keeps block_rows rows of one or two panels of the result in registers and loops
// over the depth. Each step loads the vectors of the panels once and broadcasts one number of each
// row. With 16 registers 6 × 2 vectors (one panel) are the largest block without spills, with 32
// registers 6 × 4 (two panels). 12 × 2 vectors would take more instructions for the same
// multiply-adds, which costs time where two threads share a core.
#include <utility>

#include "core/simd/exponential.h"
#include "core/simd/kernel_parts.h"
#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {
namespace {

template <int panels>
constexpr int block_rows = HWY_TARGET == HWY_AVX3&& panels == 1 ? 12 : 6;
constexpr int block_panels = HWY_TARGET == HWY_AVX3 ? 2 : 1;
/// The number of steps of the depth that are unrolled.
constexpr int many_steps = HWY_TARGET == HWY_AVX3 ? 4 : 8;
/// The number of steps whose products are summed in a register before they are added to the result.
/// Summing all 512 keys of a tile at once would increase the error by half. The parts are iterated
/// over here, because a call for each of them takes longer.
constexpr int summed_steps = 128;
/// Whether to save instructions, which matters where two threads share a core: a block starts with
/// products instead of zeros, and one index serves all its rows.
constexpr bool is_terse = HWY_TARGET != HWY_AVX3;

/// Calls f(0), f(1), ... with constants. (A loop that GCC unrolls later would keep the vectors of a
/// block in memory.)
template <int count, class F>
HWY_INLINE void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>()), ...);
  }
  (std::make_integer_sequence<int, count>());
}

template <class T, int rows, int panels>
struct Block {
  Vector<T> v[rows][panels * panel_vectors];
};

template <class T>
struct Strip {
  const T* left;
  std::ptrdiff_t row_stride, left_step;
  const T* panel;
  std::ptrdiff_t panel_stride, right_step;
  int depth;
};

/// Pointers to the rows of a block. The `asm` hides how the addresses depend on each other: the
/// compiler would otherwise keep one offset for each row and step, and spill most of them.
template <class T, int rows>
struct Rows {
  const T* at[rows];

  HWY_INLINE explicit Rows(const Strip<T>& s) {
    unrolled<rows>([&](auto r) __attribute__((always_inline)) {
      const T* row = s.left + r * s.row_stride;
      asm("" : "+r"(row));
      at[r] = row;
    });
  }
};

template <int panels>
using Vectors = std::make_integer_sequence<int, panels * panel_vectors>;

template <class T, int... v>
HWY_INLINE void load_step(const T* panel, std::ptrdiff_t stride, Vector<T>* b,
                          std::integer_sequence<int, v...>) {
  ((b[v] = hn::LoadU(Tag<T>(), panel + v / panel_vectors * stride + v % panel_vectors * lanes<T>)),
   ...);
}

/// Adds the products of a number and a step's vectors to a row of a block, or begins it with them.
template <bool begins, class V, int... v>
HWY_INLINE void multiply_row(V a, const V* b, V* row, std::integer_sequence<int, v...>) {
  if constexpr (begins) {
    ((row[v] = hn::Mul(a, b[v])), ...);
  } else {
    ((row[v] = hn::MulAdd(a, b[v], row[v])), ...);
  }
}

/// The same for all rows of a block. `left` is where the numbers of the rows are in this step.
template <bool begins, class T, int panels, int rows, class Left, int... r>
HWY_INLINE void multiply_step(const Left& left, const Vector<T>* b, Block<T, rows, panels>& block,
                              std::integer_sequence<int, r...>) {
  (multiply_row<begins>(hn::Set(Tag<T>(), left(r)), b, block.v[r], Vectors<panels>()), ...);
}

/// Adds the products of `steps` steps, from step `first` on, to a block. `panel` points to the
/// first of them and is advanced. If `begins`, the block is overwritten: it has no numbers yet.
template <class T, bool rows_contiguous, bool packed, int steps, bool begins, int rows, int panels>
HWY_INLINE void multiply_steps(const Strip<T>& s, const Rows<T, rows>& row, std::ptrdiff_t first,
                               const T*& panel, Block<T, rows, panels>& block) {
  const T* column = s.left + first * s.left_step;
  unrolled<steps>([&](auto step) __attribute__((always_inline)) {
    Vector<T> b[panels * panel_vectors];
    load_step(panel, s.panel_stride, b, Vectors<panels>());
    const auto left = [&](int r) __attribute__((always_inline)) {
      return rows_contiguous ? column[r] : row.at[r][first + step];
    };
    multiply_step<begins && step == 0>(left, b, block, std::make_integer_sequence<int, rows>());
    panel += packed ? panel_columns<T> : s.right_step;
    if constexpr (rows_contiguous) column += s.left_step;
  });
}

/// The blocks of a product: `across` groups of panels next to each other, and for each of them
/// `down` blocks of rows below each other. The first-level cache holds one group of panels. The
/// first block starts at row `first` of the result.
struct Walk {
  int across, down, first;
};

/// Multiplies blocks of rows by panels and passes the vectors of each row to `store(across, row,
/// vectors)`. The depth is covered in steps of many_steps, 4 and 1; blocks of fewer rows than
/// block_rows do without many_steps, which would only be more code.
template <class T, bool rows_contiguous, bool packed, int rows, int panels, class F>
HWY_INLINE void multiply_part(Strip<T> s, const Walk& walk, const F& store) {
  constexpr int most_steps = rows == block_rows<panels> ? many_steps : 4;
  for (int i = 0; i < walk.across; ++i) {
    Strip<T> at = s;
    for (int j = 0, first = walk.first; j < walk.down; ++j, first += rows) {
      Block<T, rows, panels> block;
      const Rows<T, rows> row(at);
      const T* panel = at.panel;
      std::ptrdiff_t step = 0;
      if (is_terse && most_steps <= at.depth) {
        multiply_steps<T, rows_contiguous, packed, most_steps, true>(at, row, step, panel, block);
        step = most_steps;
      } else {
        unrolled<rows>([&](auto r) __attribute__((always_inline)) {
          for (auto& v : block.v[r]) v = hn::Zero(Tag<T>());
        });
      }
      for (; step + most_steps <= at.depth; step += most_steps) {
        // Otherwise each row would have its own index.
        if constexpr (is_terse) asm("" : "+r"(step));
        multiply_steps<T, rows_contiguous, packed, most_steps, false>(at, row, step, panel, block);
      }
      for (; most_steps > 4 && step + 4 <= at.depth; step += 4)
        multiply_steps<T, rows_contiguous, packed, 4, false>(at, row, step, panel, block);
      for (; step < at.depth; ++step)
        multiply_steps<T, rows_contiguous, packed, 1, false>(at, row, step, panel, block);
      unrolled<rows>([&](auto r)
                         __attribute__((always_inline)) { store(i, first + r, block.v[r]); });
      at.left += rows * at.row_stride;
    }
    s.panel += panels * s.panel_stride;
  }
}

/// Calls multiply_part, for parts of the depth unless F wants the whole. It is not inlined, so that
/// all of a block stays in registers. It contains the loops over blocks and takes its arguments by
/// value: a call for each block, with addresses read through references, would take longer.
template <class T, bool rows_contiguous, bool packed, int rows, int panels, class F>
HWY_NOINLINE void multiply_blocks(Strip<T> s, Walk walk, F store) {
  if constexpr (F::whole) {
    multiply_part<T, rows_contiguous, packed, rows, panels>(s, walk, store);
  } else {
    const int depth = s.depth;
    for (int done = 0; done < depth; done += summed_steps) {
      s.depth = depth - done < summed_steps ? depth - done : summed_steps;
      multiply_part<T, rows_contiguous, packed, rows, panels>(s, walk, store);
      s.left += s.depth * s.left_step;
      s.panel += s.depth * s.right_step;
    }
  }
}

/// Selects the loop for the strides of the operands. The address of a step in a packed panel is
/// part of the instruction.
template <class T, int rows, int panels, class F>
HWY_INLINE void multiply(const Strip<T>& s, const Walk& walk, const F& store) {
  const bool packed = s.right_step == panel_columns<T>;
  if (s.left_step != 1) {
    multiply_blocks<T, true, F::packed, rows, panels>(s, walk, store);
  } else if (packed || F::packed) {
    multiply_blocks<T, false, true, rows, panels>(s, walk, store);
  } else {
    multiply_blocks<T, false, false, rows, panels>(s, walk, store);
  }
}

/// Calls f(number of panels as a constant, first, count) for groups of block_panels panels, then
/// for single ones.
template <class F>
HWY_INLINE void for_panels(int panels, const F& f) {
  const int whole = panels / block_panels;
  if (whole > 0) f(std::integral_constant<int, block_panels>(), 0, whole);
  if constexpr (block_panels > 1) {
    const int first = whole * block_panels;
    if (first < panels) f(std::integral_constant<int, 1>(), first, panels - first);
  }
}

/// Calls f(number of rows as a constant, first) for the rows that do not fill a block of `size`, in
/// blocks of 6, 4, 2 and 1. Each block keeps its sums in registers, and nothing is read past the
/// operand.
template <int size, class F>
HWY_INLINE void for_rest(int first, int rows, const F& f) {
  constexpr int block = size > 8 ? 6 : size > 4 ? 4 : size > 2 ? 2 : 1;
  for (; first + block <= rows; first += block) f(std::integral_constant<int, block>(), first);
  if constexpr (block > 1) for_rest<block>(first, rows, f);
}

/// Returns the operands of a product of the rows from `row` on with the panels from `panel` on.
template <class T>
Strip<T> strip(const LeftOperand<T>& left, int row, const RightOperand<T>& right, int panel,
               int depth) {
  const std::ptrdiff_t panel_stride = right.packed ? right.stride : panel_columns<T>;
  return {left.data + row * left.row_stride,
          left.row_stride,
          left.step_stride,
          right.data + panel * panel_stride,
          panel_stride,
          right.packed ? panel_columns<T> : right.stride,
          depth};
}

template <class T, Store mode, int panels>
struct IntoTile {
  static constexpr bool packed = false;
  static constexpr bool whole = mode == Store::replace;
  T* corner;
  std::ptrdiff_t stride;

  template <class V>
  HWY_INLINE void operator()(int across, int row, const V* sums) const {
    const Tag<T> tag;
    T* p = corner + across * panels * panel_columns<T> + row * stride;
    for (int v = 0; v < panels * panel_vectors; ++v) {
      T* at = p + v * lanes<T>;
      hn::StoreU(mode == Store::add ? hn::Add(hn::LoadU(tag, at), sums[v]) : sums[v], tag, at);
    }
  }
};

template <class T, int panels, class F>
HWY_INLINE void multiply_rows(int rows, const Strip<T>& s, int across, const F& store) {
  constexpr int height = block_rows<panels>;
  const int whole = rows / height;
  multiply<T, height, panels>(s, {across, whole, 0}, store);
  for_rest<height>(whole * height, rows, [&](auto block, int first) {
    Strip<T> rest = s;
    rest.left += first * s.row_stride;
    multiply<T, block, panels>(rest, {across, 1, first}, store);
  });
}

template <class T, Store mode>
void product_into(int rows, int columns, int depth, const LeftOperand<T>& left,
                  const RightOperand<T>& right, T* c, std::ptrdiff_t stride) {
  for_panels(columns / panel_columns<T>, [&](auto panels, int panel, int count) {
    multiply_rows<T, panels>(rows, strip(left, 0, right, panel, depth), count,
                             IntoTile<T, mode, panels>{c + panel * panel_columns<T>, stride});
  });
}

template <class T>
void product(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right, T* c,
             std::ptrdiff_t stride, Store store) {
  (store == Store::add
       ? product_into<T, Store::add>
       : product_into<T, Store::replace>)(rows, columns, depth, left, right, c, stride);
}

/// Returns the smaller of a value and a bound. Returns the bound if the value is NaN, as for a key
/// whose norm overflows.
template <class V>
HWY_INLINE V lesser(V value, V bound) {
  if constexpr (keeps_second) return hn::Min(value, bound);
  return hn::IfThenElse(hn::Lt(value, bound), value, bound);
}

/// The number of rows of distances that share a group of panels. Otherwise every block of rows
/// would fetch all panels from the second-level cache again.
constexpr int distance_rows = 48;

/// Converts blocks of products to squared distances and stores them to a tile.
template <class T, int panels>
struct IntoDistances {
  static constexpr bool packed = true;
  static constexpr bool whole = true;
  T* corner;
  std::ptrdiff_t stride;
  const T* query_norm;
  const T* key_norm;
  Vector<T>* least;  ///< [rows] The smallest distance so far, in each lane.

  /// The norms are added last. If the sums started from them, every step would round at their
  /// magnitude.
  template <class V>
  HWY_INLINE void operator()(int across, int row, const V* sums) const {
    const Tag<T> tag;
    const auto q = hn::Set(tag, query_norm[row]);
    auto smallest = least[row];
    for (int v = 0; v < panels * panel_vectors; ++v) {
      const int column = across * panels * panel_columns<T> + v * lanes<T>;
      const auto k = hn::LoadU(tag, key_norm + column);
      const auto d = hn::Add(hn::Add(q, k), sums[v]);
      smallest = lesser(d, smallest);
      hn::StoreU(d, tag, corner + row * stride + column);
    }
    least[row] = smallest;
  }
};

template <class T>
void squared_distance(int rows, int columns, int depth, LeftOperand<T> left, RightOperand<T> right,
                      const T* query_norm, const T* key_norm, T* c, std::ptrdiff_t stride,
                      T* least) {
  const Tag<T> tag;
  for (int first = 0; first < rows; first += distance_rows) {
    const int part = rows - first < distance_rows ? rows - first : distance_rows;
    Vector<T> smallest[distance_rows];
    for (int r = 0; r < part; ++r) smallest[r] = hn::Set(tag, std::numeric_limits<T>::max());
    for_panels(columns / panel_columns<T>, [&](auto panels, int panel, int count) {
      const int column = panel * panel_columns<T>;
      IntoDistances<T, panels> store{c + first * stride + column, stride, query_norm + first,
                                     key_norm + column, smallest};
      multiply_rows<T, panels>(part, strip(left, first, right, panel, depth), count, store);
    });
    for (int r = 0; r < part; ++r) {
      least[first + r] = hn::GetLane(hn::MinOfLanes(tag, smallest[r]));
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

template <class T>
void add_exponentials(const T* logits, std::ptrdiff_t stride, int rows, int columns,
                      const T* reference, T* sum) {
  using P = Pack<T>;
  for (int c = 0; c < columns; c += P::size) {
    const P highest = P::load(reference + c);
    P total(0);
    for (int r = 0; r < rows; ++r) total = total + exp(P::load(logits + r * stride + c) - highest);
    (P::load(sum + c) + total).store(sum + c);
  }
}

/// The number of accumulators, enough to hide the latency of a multiply-add on two units.
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
  k.packed_steps = 1;
  k.packed_numbers = panel_columns<T>;
  constexpr int forward_rows = HWY_TARGET == HWY_AVX3 ? 48 : 12;  // A multiple of block_rows.
  static_assert(forward_rows <= most_forward_rows);
  k.forward_rows = forward_rows;
  // More rows would save little time, and their sums over queries would have larger errors.
  k.backward_rows = 48;
  k.product = &product<T>;
  k.squared_distance = &squared_distance<T>;
  k.margins = &margins<T>;
  k.add_exponentials = &add_exponentials<T>;
  k.peak = &peak<T>;
  k.peak_flops = 2 * peak_chains * lanes<T>;
}
template void add_products(Kernels<float>&);
template void add_products(Kernels<double>&);

}  // namespace conelab::CONELAB_SIMD
