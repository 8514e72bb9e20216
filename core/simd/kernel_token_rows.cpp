// Kernels for tokens that are read where they lie, and the places of several tokens at a time.
#include <algorithm>
#include <limits>

#include "core/simd/exponential.h"
#include "core/simd/lane_sums.h"
#include "core/simd/pack.h"
#include "core/simd/token_rows.h"
#include "core/similarity/exponential_place.h"

namespace conelab::CONELAB_SIMD {
namespace {

/// Tokens whose sums are in registers together.
template <class T>
constexpr int tokens_together = std::max(lanes<T>, summed_vectors<T>);

/// Stores the sums over coordinates of term(x, i, sum), where x holds the coordinates from i on of
/// the token at row(t).
template <class T, class Row, class Term>
HWY_INLINE void sums_of_group(int size, const Row& row, const Term& term, T* out) {
  constexpr int together = tokens_together<T>;
  const Tag<T> tag;
  Vector<T> sums[together];
  for (auto& sum : sums) sum = hn::Zero(tag);
  int i = 0;
  for (; i + lanes<T> <= size; i += lanes<T>) {
    for (int t = 0; t < together; ++t) sums[t] = term(hn::LoadU(tag, row(t) + i), i, sums[t]);
  }
  if (i < size) {
    const auto rest = hn::FirstN(tag, static_cast<std::size_t>(size - i));
    for (int t = 0; t < together; ++t) {
      sums[t] = term(hn::MaskedLoad(rest, tag, row(t) + i), i, sums[t]);
    }
  }
  for (int t = 0; t < together; t += summed_vectors<T>) store_sums(sums + t, out + t);
}

template <class T, class Term>
HWY_INLINE void sums_of_tokens(const LyingTokens<T>& tokens, const Term& term, T* out) {
  constexpr int together = tokens_together<T>;
  if (tokens.count < together) {  // The last token takes the places of those that are missing.
    T sums[together];
    const auto row = [&](int t) {
      return tokens.rows + std::min(t, tokens.count - 1) * tokens.stride;
    };
    sums_of_group<T>(tokens.size, row, term, sums);
    std::copy_n(sums, tokens.count, out);
    return;
  }
  for (int begin = 0; begin < tokens.count; begin += together) {
    const int first = std::min(begin, tokens.count - together);
    const T* rows = tokens.rows + first * tokens.stride;
    const auto row = [&](int t) __attribute__((always_inline)) { return rows + t * tokens.stride; };
    sums_of_group<T>(tokens.size, row, term, out + first);
  }
}

template <class T>
void squared_norms(const LyingTokens<T>& tokens, T* norms) {
  if (tokens.count == 0) return;
  sums_of_tokens(
      tokens,
      [](auto x, int, auto sum) __attribute__((always_inline)) { return hn::MulAdd(x, x, sum); },
      norms);
}

template <class T>
void products(const T* query, const LyingTokens<T>& tokens, T* out) {
  if (tokens.count == 0) return;
  sums_of_tokens(
      tokens,
      [&](auto x, int i, auto sum) __attribute__((always_inline)) {
        return hn::MulAdd(x, hn::LoadU(Tag<T>(), query + i), sum);
      },
      out);
}

template <class T>
T distances(const DistanceParts<T>& p, int count, T* products) {
  using P = Pack<T, 1>;
  P least(std::numeric_limits<T>::infinity());
  int i = 0;
  for (; i + P::size <= count; i += P::size) {
    const P twice = P(-2) * P::load(p.factors + i);
    const P x = multiply_add(twice, P::load(products + i), P(p.query_norm) + P::load(p.norms + i));
    x.store(products + i);
    least = select(least > x, x, least);
  }
  T smallest = -hn::GetLane(hn::MaxOfLanes(Tag<T>(), (-least).v[0]));
  for (; i < count; ++i) {
    const T x = std::fma(T(-2) * p.factors[i], products[i], p.query_norm + p.norms[i]);
    products[i] = x;
    smallest = x < smallest ? x : smallest;
  }
  return smallest;
}

void places(const ExponentialPlaces& p) {
  using P = Pack<double, 2>;
  const P light(p.light), rate(p.rate);
  const P most(800 / p.rate);  // Its exponential is infinite; far beyond, that of a pack is not.
  for (int i = 0; i < p.count; i += P::size) {
    double last[P::size] = {}, factor[P::size], distance[P::size];
    const int count = std::min(P::size, p.count - i);
    std::copy_n(p.last + i, count, last);
    const P x = at_most(most, P::load(last));
    const auto place =
        p.map == ExponentialMap::psi ? psi_place(x, rate, light) : xi_place(x, light);
    place.height.store(factor);
    place.light_distance.store(distance);
    std::copy_n(factor, count, p.factor + i);
    std::copy_n(distance, count, p.light_distance + i);
  }
}

/// Tokens whose products are summed in registers before they are added to the result, as in
/// kernel_products.cpp.
constexpr int summed_tokens = 128;
/// Vectors of sums in registers: enough to hide the latency of the multiply-adds.
constexpr int most_sums = 8;

/// Adds sums of `vectors` vectors of columns at a time, then of half as many.
template <class T, int vectors>
HWY_INLINE void add_columns(const T* weights, LyingTokens<T> tokens, T* sums) {
  const Tag<T> tag;
  constexpr int columns = vectors * lanes<T>;
  for (; tokens.size >= columns; tokens.size -= columns, tokens.rows += columns, sums += columns) {
    Vector<T> sum[vectors];
    for (auto& v : sum) v = hn::Zero(tag);
    for (int t = 0; t < tokens.count; ++t) {
      const auto weight = hn::Set(tag, weights[t]);
      const T* row = tokens.rows + t * tokens.stride;
      for (int v = 0; v < vectors; ++v) {
        sum[v] = hn::MulAdd(weight, hn::LoadU(tag, row + v * lanes<T>), sum[v]);
      }
    }
    for (int v = 0; v < vectors; ++v) {
      T* at = sums + v * lanes<T>;
      hn::StoreU(hn::Add(hn::LoadU(tag, at), sum[v]), tag, at);
    }
  }
  if constexpr (vectors > 1) add_columns<T, vectors / 2>(weights, tokens, sums);
}

template <class T>
void add_weighted(const T* weights, const LyingTokens<T>& tokens, T* sums) {
  for (int first = 0; first < tokens.count; first += summed_tokens) {
    const int count = std::min(summed_tokens, tokens.count - first);
    add_columns<T, most_sums>(
        weights + first, {tokens.rows + first * tokens.stride, tokens.stride, count, tokens.size},
        sums);
  }
}

}  // namespace

template <class T>
RowKernels<T> make_rows() {
  return {&squared_norms<T>, &products<T>, &distances<T>, &places, &add_weighted<T>};
}
template RowKernels<float> make_rows();
template RowKernels<double> make_rows();

}  // namespace conelab::CONELAB_SIMD
