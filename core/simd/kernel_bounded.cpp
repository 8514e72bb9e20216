// The loops of bounded_softmax.h. A pack holds `bounded_columns` columns.
#include "core/simd/bounded_softmax.h"
#include "core/simd/exponential.h"
#include "core/simd/pack.h"

namespace conelab::CONELAB_SIMD {
namespace {

template <class T>
using Columns = Pack<T, bounded_columns / lanes<T>>;

/// Returns r = 1 / (1 + e^(2 (q + k) / 5)). An exponent above 80 is replaced by 80: r is then 0 to
/// every digit of the weight.
template <class T>
HWY_INLINE Columns<T> complement(const Columns<T>& scaled_query, const Columns<T>& key) {
  using P = Columns<T>;
  const P exponent = multiply_add(key, P(0.4), scaled_query);
  return P(1) / (P(1) + exp(at_most(P(80), exponent)));
}
template <class T>
HWY_INLINE Columns<T> weight(const Columns<T>& r) {
  return exp(r * Columns<T>(-10));
}

/// The rows [begin, end) that row i averages.
struct Others {
  int begin, end;
};
template <class T>
Others others(const BoundedBlock<T>& block, int i) {
  return block.later ? Others{i + 1, block.rows} : Others{0, i};
}

template <class T>
void average(const BoundedBlock<T>& block) {
  using P = Columns<T>;
  for (int c = 0; c < block.columns; c += P::size) {
    for (int i = 0; i < block.rows; ++i) {
      const P query = P::load(block.query + i * block.stride + c) * P(0.4);
      P sum(0), weighed(0);
      const Others seen = others(block, i);
      for (int j = seen.begin; j < seen.end; ++j) {
        const std::ptrdiff_t at = j * block.stride + c;
        const P w = weight<T>(complement<T>(query, P::load(block.key + at)));
        sum = sum + w;
        weighed = multiply_add(w, P::load(block.value + at), weighed);
      }
      const P inverse = seen.begin < seen.end ? P(1) / sum : P(0);
      (weighed * inverse).store(block.average + i * block.stride + c);
      inverse.store(block.inverse_sum + i * block.stride + c);
    }
  }
}

template <class T>
void slopes(const BoundedSlopes<T>& s) {
  using P = Columns<T>;
  const BoundedBlock<T>& block = s.block;
  for (int c = 0; c < block.columns; c += P::size) {
    for (int i = 0; i < block.rows; ++i) {
      P(0).store(s.key_slope + i * block.stride + c);
      P(0).store(s.value_slope + i * block.stride + c);
    }
    for (int i = 0; i < block.rows; ++i) {
      const std::ptrdiff_t own = i * block.stride + c;
      const P query = P::load(block.query + own) * P(0.4);
      const P slope = P::load(s.average_slope + own) * P::load(block.inverse_sum + own);
      const P mean = P::load(block.average + own);
      P query_slope(0);
      const Others seen = others(block, i);
      for (int j = seen.begin; j < seen.end; ++j) {
        const std::ptrdiff_t at = j * block.stride + c;
        const P r = complement<T>(query, P::load(block.key + at));
        const P share = weight<T>(r) * slope;  // dL/dvalue
        const P sum_slope =
            share * (P::load(block.value + at) - mean) * (P(4) * r * (P(1) - r));  // dL/d(q + k)
        query_slope = query_slope + sum_slope;
        (P::load(s.key_slope + at) + sum_slope).store(s.key_slope + at);
        (P::load(s.value_slope + at) + share).store(s.value_slope + at);
      }
      query_slope.store(s.query_slope + own);
    }
  }
}

}  // namespace

template <class T>
BoundedKernels<T> make_bounded() {
  return {&average<T>, &slopes<T>};
}
template BoundedKernels<float> make_bounded();
template BoundedKernels<double> make_bounded();

}  // namespace conelab::CONELAB_SIMD
