// Kernels for tokens that are read where they lie, and the places of several tokens at a time.
#include <algorithm>
#include <limits>

#include "core/simd/exponential.h"
#include "core/simd/lane_sums.h"
#include "core/simd/pack.h"
#include "core/simd/token_rows.h"
#include "core/similarity/all.h"
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

template <class S, class T>
bool place_together(const ExponentialTokens<T>& t) {
  using P = Pack<double, placed_together / lanes<double>>;
  const auto takes_packs = [](auto place) {
    return requires(P * values, const double* p) { S::token(place, p, values); };
  };
  if constexpr (!takes_packs(ExponentialPlace<P>())) {
    return false;
  } else {
    const P light(t.light), rate(t.rate);
    const P most_last(800 / t.rate);  // Its exponential is infinite; that of a pack is not always.
    const P most(static_cast<double>(std::numeric_limits<T>::max()));
    const P x = at_most(most_last, P::load(t.last));
    const auto place =
        t.map == ExponentialMap::psi ? psi_place(x, rate, light) : xi_place(x, light);
    bool fits = all(place.height <= P(t.reach)) && all(P(1 / t.reach) <= place.height) &&
                all(place.light_distance > P(0));
    place.height.store(t.factor);
    P value[S::values + 1];
    S::token(place, t.parameters, value);
    for (int v = 0; v < S::values; ++v) {
      fits = fits && all(max(value[v], -value[v]) <= most);
      double exact[P::size];
      value[v].store(exact);
      T rounded[P::size];
      std::transform(exact, exact + P::size, rounded, [](double n) { return static_cast<T>(n); });
      std::copy_n(rounded, t.count, t.values + v * t.value_stride);
    }
    return fits;
  }
}

/// Returns the functions of all similarities, in the order of the list.
template <class T, class... S>
const ExponentialPlacing<T>* placings(TypeList<S...>) {
  static constexpr ExponentialPlacing<T> all[] = {&place_together<S, T>...};
  return all;
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
  return {&squared_norms<T>, &products<T>, &distances<T>, placings<T>(Similarities{}),
          &add_weighted<T>};
}
template RowKernels<float> make_rows();
template RowKernels<double> make_rows();

}  // namespace conelab::CONELAB_SIMD
