// Attention on tensors that lie in the device's memory: the passes before and after the kernels of
// pairs, which the host computes for tensors of its own (gpu/operands.h).
//
//   forward    place q, k and v -> kernel of pairs -> output and log-sum-exp
//   backward   place q, k and v -> dL/d(output) -> kernels of pairs -> gradients of placed tokens,
//              of tokens, and of parameters
//
// Each thread has one token. Maps are computed in double and rounded once, with the formulas of the
// CPU (core/token/model_map_formulas.h, core/similarity). Base coordinates are not centred.
// A finite token outside the model makes the rows that see it NaN, because no device can throw.
#pragma once

#include <limits>

#include "core/token/model_map_formulas.h"
#include "gpu/tile/passes.h"

namespace conelab::gpu {

/// A tensor [batch × head × n × columns] in memory of the caller. The numbers of a token are
/// contiguous; other strides count numbers.
struct Lines {
  void* data = nullptr;
  Storage storage = Storage::f32;
  std::int64_t batch = 0, head = 0, token = 0;  ///< Strides.
  int columns = 0;
  int share = 1;  ///< How many consecutive heads of q have one head of this tensor.

  /// Returns the place of the first number of a token.
  CONELAB_TILE std::int64_t of(int group, int heads, int i) const {
    return group / heads * batch + group % heads / share * head + i * token;
  }
};

/// Sets number `index` of an array of type `storage` to x, rounded.
template <class N>
CONELAB_TILE void store(void* data, Storage storage, std::int64_t index, N x) {
  switch (storage) {
    case Storage::f64:
      static_cast<double*>(data)[index] = x;
      break;
    case Storage::f32:
      static_cast<float*>(data)[index] = static_cast<float>(x);
      break;
    case Storage::f16:
      static_cast<std::uint16_t*>(data)[index] = to_f16(x);
      break;
    case Storage::bf16:
      static_cast<std::uint16_t*>(data)[index] = to_bf16(x);
      break;
  }
}

/// The map of tokens, and the numbers of each head that it and the similarity read.
struct TokenMap {
  int map = 0;  ///< The row of model_map_table().
  int feature = 0;
  bool by_norm = false, inside_domain = false, published_code = false;
  int map_parameters = 0, similarity_parameters = 0;
  int numbers = 0;  ///< Of a head.
  /// [head × numbers] The light, the map's parameters, those of the similarity, and what its tokens
  /// share.
  const double* heads = nullptr;

  /// Returns the number of derivatives by parameters: those of the similarity, the light, the map.
  CONELAB_TILE int derivatives() const { return similarity_parameters + 1 + map_parameters; }
  CONELAB_TILE const double* of_similarity(int head) const {
    return heads + head * numbers + 1 + map_parameters;
  }
  CONELAB_TILE ModelMapContext context(int head) const {
    const double* own = heads + head * numbers;
    return {feature, own + 1, own[0], published_code};
  }
};

/// The largest number of derivatives that TokenMap::derivatives returns.
constexpr int max_derivatives = 8;

/// Where the gradient of a parameter goes.
struct ParameterResult {
  double* to = nullptr;  ///< [1] or [head]
  unsigned columns = 0;  ///< Bit c: derivative c is part of it.
  bool by_head = false;
};
constexpr int max_results = 8;

/// A call. Pointers of the backward pass are null in the forward pass.
template <class N>
struct TensorCall {
  Problem<N> pairs;  ///< The memory of its tokens and values is written.
  TokenMap map;
  Lines q, k, v, output;
  ForwardResult<N> sums;
  N* lse = nullptr;          ///< [group × n_q] or null
  int* has_marks = nullptr;  ///< Whether some value is not finite.

  Lines output_grad, q_grad, k_grad, v_grad;
  Upstream<N> upstream;
  GradientResult<N> gradient;
  /// [group × ⌈n / 64⌉ × derivatives] by tokens of a block, and [group × (constants +
  /// derivatives)], [head × derivatives] their sums.
  double *by_query = nullptr, *by_key = nullptr, *by_group = nullptr, *by_head = nullptr;
  ParameterResult results[max_results];
  int result_count = 0;
  std::size_t workspace = 0;  ///< The bytes of memory that the pass works in.
};

/// The tile of one token for each of the first threads. `Pass` has
///   count(c)               the number of tokens,
///   run(c, group, token)   the work for one.
template <class Pass>
struct TokenTile {
  template <class Block, class N>
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p, const TensorCall<N>& c,
                               const TilePlace& place, SharedTile<N>& /*shared*/) {
    block.phase([&](int thread) {
      const int token = place.block * tile_rows + thread;
      if (thread < tile_rows && token < Pass::count(p)) Pass::run(c, place.group, token);
    });
  }
};

template <class N>
CONELAB_TILE bool is_finite(N x) {
  return x - x == N(0);
}

/// A token and its place in the model.
template <class S, Owner owner>
struct PlacedToken {
  const Lines& lines;
  std::int64_t first;
  TokenNumbers numbers;

  template <class N>
  CONELAB_TILE PlacedToken(const TensorCall<N>& c, int group, int token)
      : lines(owner == Owner::query ? c.q : c.k), first(lines.of(group, c.pairs.heads, token)) {
    if (c.map.feature == 0) return;
    numbers.first = at(0);
    numbers.last = at(c.map.feature - 1);
    for (int i = 0; c.map.by_norm && i < c.pairs.base_size; ++i) numbers.norm2 += at(i) * at(i);
  }
  [[nodiscard]] CONELAB_TILE double at(int column) const {
    return load<double>(lines.data, lines.storage, first + column);
  }
};

/// Writes the operands of a token, as `Head::place` computes them.
template <class S, Owner owner>
struct Place {
  template <class N>
  CONELAB_TILE static int count(const Problem<N>& p) {
    return row_side<owner>(p).count;
  }
  template <class N>
  CONELAB_TILE static void run(const TensorCall<N>& c, int group, int token) {
    const Problem<N>& p = c.pairs;
    const Side<N>& side = row_side<owner>(p);
    if (owner == Owner::query && group == 0 && token == 0) *c.has_marks = 0;
    if (group % side.share != 0) return;
    const PlacedToken<S, owner> x(c, group, token);
    const int head = group % p.heads;
    Scaling scaling;
    EmbeddedPoint place;
    bool good = true;
    model_maps::with_model_map(c.map.map, [&](auto* place_of, auto*) {
      good = place_of(c.map.context(head), x.numbers, scaling, place) == nullptr;
    });
    good = good && (c.map.inside_domain || !(place.light_distance <= 0));
    good = good && (c.map.feature == 0 || is_finite(x.numbers.last));
    const std::int64_t own = side.of(group) * side.count + token;
    void* base = const_cast<void*>(side.base);
    double norm = 0;
    for (int i = 0; i < p.base_stride; ++i) {
      const double coordinate = i >= p.base_size      ? 0
                                : scaling.along_first ? (i == 0 ? scaling.factor : 0)
                                                      : scaling.factor * x.at(i);
      store(base, p.storage, own * p.base_stride + i, static_cast<N>(coordinate));
      const auto stored = load<double>(base, p.storage, own * p.base_stride + i);
      norm += stored * stored;
    }
    double value[max_values] = {};
    if (good) S::token(place, c.map.of_similarity(head), value);
    N* values = const_cast<N*>(side.values) + side.of(group) * S::values * side.count + token;
    good = good && is_finite(norm) &&
           is_within_reach<N>(S::info.space, S::info.measure, norm, place.height);
    for (int v = 0; v < S::values; ++v) {
      values[v * side.count] = static_cast<N>(value[v]);
      good = good && is_finite(static_cast<N>(value[v]));
    }
    const bool distance = S::info.measure == Measure::squared_distance;
    const_cast<N*>(side.offset)[own] = distance ? static_cast<N>(norm) : N(0);
    if (good) return;
    const_cast<N*>(side.offset)[own] = std::numeric_limits<N>::quiet_NaN();
    for (int i = 0; i < p.base_stride; ++i) {
      store(base, p.storage, own * p.base_stride + i, N(0));
    }
    for (int v = 0; v < S::values; ++v) values[v * side.count] = N(0);
  }
};

/// Copies a value. If it is not finite, it becomes 0 and is marked.
struct PlaceValue {
  template <class N>
  CONELAB_TILE static int count(const Problem<N>& p) {
    return p.key.count;
  }
  template <class N>
  CONELAB_TILE static void run(const TensorCall<N>& c, int group, int token) {
    const Problem<N>& p = c.pairs;
    if (group % p.key.share != 0) return;
    const std::int64_t from = c.v.of(group, p.heads, token);
    const std::int64_t own = p.key.of(group) * p.key.count + token;
    bool finite = true;
    for (int i = 0; i < p.width; ++i) {
      finite = finite && is_finite(load<N>(c.v.data, c.v.storage, from + i));
    }
    for (int i = 0; i < p.width; ++i) {
      const N x = finite ? load<N>(c.v.data, c.v.storage, from + i) : N(0);
      store(const_cast<void*>(p.value), p.storage, own * p.width + i, x);
    }
    const_cast<N*>(p.value_mark)[own] = finite ? N(0) : std::numeric_limits<N>::quiet_NaN();
    if (!finite) *c.has_marks = 1;
  }
};

/// A pass over queries.
struct OfQueries {
  template <class N>
  CONELAB_TILE static int count(const Problem<N>& p) {
    return p.query.count;
  }
};

/// Writes the output and the log-sum-exp of a row. One that sees a value that is not finite is NaN.
struct FinishRow : OfQueries {
  template <class N>
  CONELAB_TILE static void run(const TensorCall<N>& c, int group, int token) {
    const Problem<N>& p = c.pairs;
    const std::int64_t row = static_cast<std::int64_t>(group) * p.query.count + token;
    const std::int64_t to = c.output.of(group, p.heads, token);
    const bool marked = *c.has_marks != 0 && sees_mark(p, group, token);
    for (int i = 0; i < p.width; ++i) {
      const N x = marked ? std::numeric_limits<N>::quiet_NaN() : c.sums.output[row * p.width + i];
      store(c.output.data, c.output.storage, to + i, x);
    }
    if (c.lse == nullptr) return;
    const N sum = c.sums.sum[row];
    c.lse[row] =
        sum == N(0) ? -std::numeric_limits<N>::infinity() : c.sums.maximum[row] + logarithm(sum);
  }

 private:
  template <class N>
  CONELAB_TILE static bool sees_mark(const Problem<N>& p, int group, int token) {
    const N* marks = p.value_mark + p.key.of(group) * p.key.count;
    const Visit visit = visit_of<Owner::query>(p, group, token / tile_rows);
    const KeySpan span = p.span[static_cast<std::int64_t>(group / p.heads) * p.query.count + token];
    const int begin = visit.listed ? visit.begin : span.begin;
    for (int at = begin; at < (visit.listed ? visit.end : span.end); ++at) {
      if (visit.listed && (visit.rows[at] >> token % tile_rows & 1) == 0) continue;
      if (!is_finite(marks[visit.listed ? visit.token[at] : at])) return true;
    }
    return false;
  }
};

/// Writes what the backward kernels read of a row.
struct PlaceUpstream : OfQueries {
  template <class N>
  CONELAB_TILE static void run(const TensorCall<N>& c, int group, int token) {
    const Problem<N>& p = c.pairs;
    const std::int64_t row = static_cast<std::int64_t>(group) * p.query.count + token;
    const std::int64_t up = c.output_grad.of(group, p.heads, token);
    const std::int64_t out = c.output.of(group, p.heads, token);
    double sum = 0;
    for (int i = 0; i < p.width; ++i) {
      const N x = load<N>(c.output_grad.data, c.output_grad.storage, up + i);
      const_cast<N*>(c.upstream.output_grad)[row * p.width + i] = x;
      sum += static_cast<double>(x) * load<double>(c.output.data, c.output.storage, out + i);
    }
    const_cast<N*>(c.upstream.delta)[row] = static_cast<N>(sum);
    const N total = c.sums.sum[row];
    const_cast<N*>(c.upstream.inverse_sum)[row] = total == N(0) ? N(0) : N(1) / total;
  }
};

/// Turns the gradients of 64 placed tokens of a group into those of its tokens, in their place: the
/// potential's becomes that of x_d where this is no base coordinate. Sums derivatives by
/// parameters.
template <class S, Owner owner>
struct GradientOfTokens {
  template <class Block, class N>
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p, const TensorCall<N>& c,
                               const TilePlace& place, SharedTile<N>& shared) {
    typename Block::template Local<State> locals;
    const int count = row_side<owner>(p).count;
    block.phase([&](int thread) {
      State& s = locals[thread];
      for (double& d : s.derivative) d = 0;
      const int token = place.block * tile_rows + thread;
      if (thread < tile_rows && token < count) turn(c, place.group, token, s.derivative);
    });
    double* to = owner == Owner::query ? c.by_query : c.by_key;
    to += (static_cast<std::int64_t>(place.group) * ceil_div(count, tile_rows) + place.block) *
          c.map.derivatives();
    for (int n = 0; n < c.map.derivatives(); ++n) {
      block.phase([&](int thread) { shared.sums[thread] = locals[thread].derivative[n]; });
      block.phase([&](int thread) {
        if (thread != 0) return;
        double sum = 0;
        for (int t = 0; t < tile_rows; ++t) sum += shared.sums[t];
        to[n] = sum;
      });
    }
  }

 private:
  struct State {
    double derivative[max_derivatives];
  };

  template <class N>
  CONELAB_TILE static void turn(const TensorCall<N>& c, int group, int token, double* derivative) {
    const Problem<N>& p = c.pairs;
    constexpr bool query = owner == Owner::query;
    const std::int64_t own = static_cast<std::int64_t>(group) * row_side<owner>(p).count + token;
    N* base = (query ? c.gradient.query_base : c.gradient.key_base) + own * p.base_size;
    N& potential = (query ? c.gradient.query_potential : c.gradient.key_potential)[own];
    bool untouched = potential == N(0);
    for (int i = 0; i < p.base_size; ++i) untouched = untouched && base[i] == N(0);
    if (untouched) return;  // This includes tokens that are not finite and that no query saw.
    const PlacedToken<S, owner> x(c, group, token);
    const int head = group % p.heads;
    double along = 0;
    for (int i = 0; i < p.base_size; ++i) along += x.at(i) * static_cast<double>(base[i]);
    EmbeddedPoint place, by_place;
    Scaling unused;
    TokenGradient by;
    model_maps::with_model_map(c.map.map, [&](auto* place_of, auto* gradient_of) {
      const ModelMapContext context = c.map.context(head);
      (void)place_of(context, x.numbers, unused, place);
      S::token_gradient(place, c.map.of_similarity(head), static_cast<double>(potential), by_place,
                        derivative);
      by = gradient_of(context, x.numbers, {along, by_place},
                       derivative + c.map.similarity_parameters);
    });
    for (int i = 0; i < p.base_size; ++i) {
      const double more = by.by_token == 0 ? 0 : by.by_token * x.at(i);
      base[i] = static_cast<N>(by.by_base * static_cast<double>(base[i]) + more);
    }
    potential = static_cast<N>(by.last);
  }
};

/// Which gradient of tokens `SumHeads` writes.
enum class Gradient { query, key, value };

/// Adds the gradients of a token of the heads that share it.
template <Gradient of>
struct SumHeads {
  template <class N>
  CONELAB_TILE static int count(const Problem<N>& p) {
    return of == Gradient::query ? p.query.count : p.key.count;
  }
  template <class N>
  CONELAB_TILE static void run(const TensorCall<N>& c, int group, int token) {
    const Problem<N>& p = c.pairs;
    const Lines& to = of == Gradient::query ? c.q_grad : of == Gradient::key ? c.k_grad : c.v_grad;
    if (group % p.heads % to.share != 0 || to.data == nullptr) return;
    const N* from = of == Gradient::query ? c.gradient.query_base
                    : of == Gradient::key ? c.gradient.key_base
                                          : c.gradient.value;
    const N* last = of == Gradient::query ? c.gradient.query_potential : c.gradient.key_potential;
    const int size = of == Gradient::value ? p.width : p.base_size;
    const std::int64_t first = to.of(group, p.heads, token);
    for (int i = 0; i < to.columns; ++i) {
      N sum = N(0);
      for (int s = 0; s < to.share; ++s) {
        const std::int64_t own = static_cast<std::int64_t>(group + s) * count(p) + token;
        sum += i < size ? from[own * size + i] : last[own];
      }
      store(to.data, to.storage, first + i, sum);
    }
  }
};

/// Sums the derivatives of a group by each constant and parameter.
template <class S>
struct SumGroup {
  template <class Block, class N>
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p, const TensorCall<N>& c,
                               const TilePlace& place, SharedTile<N>& /*shared*/) {
    const int derivatives = c.map.derivatives(), all = S::constants + derivatives;
    const int queries = ceil_div(p.query.count, tile_rows), keys = ceil_div(p.key.count, tile_rows);
    const auto sum = [&](const double* from, int blocks, int size, int column) {
      double total = 0;
      for (int b = 0; b < blocks; ++b) {
        total += from[(static_cast<std::int64_t>(place.group) * blocks + b) * size + column];
      }
      return total;
    };
    block.phase([&](int thread) {
      if (thread >= all) return;
      const int n = thread - S::constants;
      c.by_group[place.group * all + thread] =
          n < 0 ? sum(c.gradient.sums, queries, S::constants, thread)
                : sum(c.by_query, queries, derivatives, n) + sum(c.by_key, keys, derivatives, n);
    });
  }
};

/// Writes the gradients of parameters, by the first block.
template <class S>
struct FinishParameters {
  template <class Block, class N>
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p, const TensorCall<N>& c,
                               const TilePlace& place, SharedTile<N>& /*shared*/) {
    if (place.group != 0) return;
    const int derivatives = c.map.derivatives(), all = S::constants + derivatives;
    block.phase([&](int thread) {
      for (int head = thread; head < p.heads; head += tile_threads) {
        double constant[max_constants] = {};
        double* own = c.by_head + head * derivatives;
        for (int n = 0; n < derivatives; ++n) own[n] = 0;
        for (int group = head; group < p.groups; group += p.heads) {
          const double* from = c.by_group + group * all;
          for (int n = 0; n < S::constants; ++n) constant[n] += from[n];
          for (int n = 0; n < derivatives; ++n) own[n] += from[S::constants + n];
        }
        S::constant_gradient(c.map.of_similarity(head), constant, own);
      }
    });
    block.phase([&](int thread) {
      if (thread >= c.result_count) return;
      const ParameterResult& result = c.results[thread];
      double total = 0;
      for (int head = 0; head < p.heads; ++head) {
        double sum = 0;
        for (int n = 0; n < derivatives; ++n) {
          if ((result.columns >> n & 1) != 0) sum += c.by_head[head * derivatives + n];
        }
        total += sum;
        if (result.by_head) result.to[head] = sum;
      }
      if (!result.by_head) result.to[0] = total;
    });
  }
};

template <class S, class N, class Runner>
void place_tokens(const Runner& runner, const TensorCall<N>& c) {
  const Problem<N>& p = c.pairs;
  runner.template run<TokenTile<Place<S, Owner::query>>>(p.query.count, Slices{0, 1}, p, c);
  runner.template run<TokenTile<Place<S, Owner::key>>>(p.key.count, Slices{0, 1}, p, c);
  runner.template run<TokenTile<PlaceValue>>(p.key.count, Slices{0, 1}, p, c);
}

template <class S, class N, class Runner>
void run_tensor_forward(const Runner& runner, const TensorCall<N>& c) {
  place_tokens<S>(runner, c);
  run_forward<S>(runner, c.pairs, c.sums);
  runner.template run<TokenTile<FinishRow>>(c.pairs.query.count, Slices{0, 1}, c.pairs, c);
}

template <class S, class N, class Runner>
void run_tensor_gradient(const Runner& runner, const TensorCall<N>& c) {
  const Problem<N>& p = c.pairs;
  const Slices one{0, 1};
  place_tokens<S>(runner, c);
  runner.template run<TokenTile<PlaceUpstream>>(p.query.count, one, p, c);
  run_gradient<S>(runner, p, c.upstream, c.gradient);
  runner.template run<GradientOfTokens<S, Owner::query>>(p.query.count, one, p, c);
  runner.template run<GradientOfTokens<S, Owner::key>>(p.key.count, one, p, c);
  runner.template run<TokenTile<SumHeads<Gradient::query>>>(p.query.count, one, p, c);
  runner.template run<TokenTile<SumHeads<Gradient::key>>>(p.key.count, one, p, c);
  runner.template run<TokenTile<SumHeads<Gradient::value>>>(p.key.count, one, p, c);
  runner.template run<SumGroup<S>>(1, one, p, c);
  runner.template run<FinishParameters<S>>(1, one, p, c);
}

}  // namespace conelab::gpu
