// The loops of sweep.h. Columns are processed in groups of up to `most_vectors` vectors, so that
// both parts of the running sum stay in registers.
#include <algorithm>
#include <utility>

#include "core/simd/exponential.h"
#include "core/simd/pack.h"
#include "core/simd/sweep.h"

namespace conelab::CONELAB_SIMD {
namespace {

constexpr int most_vectors = HWY_TARGET == HWY_AVX3 ? 6 : 4;
/// Steps of a chunk, whose additions have a sum of their own: its rounding error grows with the
/// square root of their number, and that of the sum over all chunks with that of the chunks.
constexpr int chunk_steps = 32;

/// Calls f with the indices 0 ... n - 1 as constants, so that arrays of vectors stay in registers.
template <int n, class F>
HWY_INLINE void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (f(std::integral_constant<int, i>()), ...); }
  (std::make_integer_sequence<int, n>());
}

/// Consecutive steps of the kinds `add` and `give`, in two lists.
template <class T>
struct Chunk {
  const SweepStep<T>* add[chunk_steps + 1];
  const SweepStep<T>* give[chunk_steps + 1];
  std::int32_t before[chunk_steps + 1];  ///< How many additions precede a step of `give`.
  int adds = 0, gives = 0;

  /// Takes steps up to one of another kind. Returns the first that is not taken.
  HWY_INLINE const SweepStep<T>* take(const SweepStep<T>* step, const SweepStep<T>* end) {
    adds = gives = 0;
    end = std::min(end, step + chunk_steps);
    for (; step < end && step->kind <= StepKind::give; ++step) {
      const int gives_now = static_cast<int>(step->kind);
      add[adds] = give[gives] = step;
      before[gives] = adds;
      adds += 1 - gives_now;
      gives += gives_now;
    }
    return step;
  }
};

/// Fetches the rows of the steps after those of a chunk.
template <class T, int n>
HWY_INLINE void fetch(const Sweep<T>& s, const SweepStep<T>* step, const T* summand,
                      const T* output) {
  const SweepStep<T>* end = std::min(step + chunk_steps, s.steps + s.count);
  for (; step < end; ++step) {
    const T* rows = step->kind == StepKind::add || output == nullptr ? summand : output;
    const auto* at = reinterpret_cast<const char*>(rows + step->row * s.columns);
    unrolled<n>([&](auto i) { __builtin_prefetch(at + i * sizeof(Vector<T>)); });
  }
}

/// Adds the running sum, times the factor of a step, to its output, and its products to the dots.
template <class T, int n, bool has_output, bool has_dots>
HWY_INLINE void give(const Sweep<T>& s, std::ptrdiff_t first, const SweepStep<T>& step,
                     const T* sum) {
  if constexpr (has_output) {
    const Vector<T> factor = hn::Set(Tag<T>(), step.factor);
    T* row = s.output + step.row * s.columns + first;
    unrolled<n>([&](auto i) {
      T* at = row + i * lanes<T>;
      const Vector<T> part = hn::Load(Tag<T>(), sum + i * lanes<T>);
      hn::StoreU(hn::MulAdd(factor, part, hn::LoadU(Tag<T>(), at)), Tag<T>(), at);
    });
  }
  if constexpr (has_dots) {
    if (step.dots == no_dots) return;
    const T* other = s.other + s.partner[step.row] * s.columns + first;
    Vector<T> products = hn::Zero(Tag<T>());
    unrolled<n>([&](auto i) {
      products = hn::MulAdd(hn::Load(Tag<T>(), sum + i * lanes<T>),
                            hn::LoadU(Tag<T>(), other + i * lanes<T>), products);
    });
    const double dot = static_cast<double>(hn::GetLane(hn::SumOfLanes(Tag<T>(), products))) *
                       static_cast<double>(step.factor);
    double* dots = s.dots + 2 * static_cast<std::ptrdiff_t>(step.row);
    dots[0] += (step.dots & first_dot) != 0 ? dot : 0;
    dots[1] += (step.dots & second_dot) != 0 ? dot : 0;
  }
}

/// Runs the sweep on the columns [first, first + n vectors). Whether a step adds or gives cannot be
/// predicted. Chunks are therefore run in two loops: the first stores the running sum after each
/// addition, the second reads what each `give` needs.
template <class T, int n, bool has_output, bool has_dots>
void run_columns(const Sweep<T>& s, std::ptrdiff_t first) {
  const T* summand = s.summand + first;
  T* output = has_output ? s.output + first : nullptr;
  constexpr std::ptrdiff_t width = n * lanes<T>;
  alignas(64) T sums[(chunk_steps + 1) * width] = {};  // sums[0]: the sum before the chunk.
  Chunk<T> chunk;
  const SweepStep<T>* end = s.steps + s.count;
  for (const SweepStep<T>* step = s.steps; step < end;) {
    if (step->kind == StepKind::scale_sum || step->kind == StepKind::clear) {
      const T factor = step->kind == StepKind::clear ? T(0) : step->factor;
      for (std::ptrdiff_t c = 0; c < width; ++c) sums[c] *= factor;
      ++step;
      continue;
    }
    if (step->kind == StepKind::scale_output) {
      T* row = output + step->row * s.columns;
      for (std::ptrdiff_t c = 0; has_output && c < width; ++c) row[c] *= step->factor;
      ++step;
      continue;
    }
    step = chunk.take(step, end);
    fetch<T, n>(s, step, summand, output);
    Vector<T> before[n], added[n];
    unrolled<n>([&](auto i) {
      before[i] = hn::Load(Tag<T>(), sums + i * lanes<T>);
      added[i] = hn::Zero(Tag<T>());
    });
    for (int k = 0; k < chunk.adds; ++k) {
      const T* row = summand + chunk.add[k]->row * s.columns;
      const Vector<T> factor = hn::Set(Tag<T>(), chunk.add[k]->factor);
      unrolled<n>([&](auto i) {
        added[i] = hn::MulAdd(factor, hn::LoadU(Tag<T>(), row + i * lanes<T>), added[i]);
        hn::Store(hn::Add(before[i], added[i]), Tag<T>(), sums + (k + 1) * width + i * lanes<T>);
      });
    }
    for (int k = 0; k < chunk.gives; ++k) {
      give<T, n, has_output, has_dots>(s, first, *chunk.give[k], sums + chunk.before[k] * width);
    }
    unrolled<n>(
        [&](auto i) { hn::Store(hn::Add(before[i], added[i]), Tag<T>(), sums + i * lanes<T>); });
  }
}

template <class T, int n>
void run_vectors(const Sweep<T>& s, std::ptrdiff_t first) {
  if (s.dots == nullptr) return run_columns<T, n, true, false>(s, first);
  if (s.output == nullptr) return run_columns<T, n, false, true>(s, first);
  run_columns<T, n, true, true>(s, first);
}

template <class T, int n = most_vectors>
void run_group(const Sweep<T>& s, std::ptrdiff_t first, std::ptrdiff_t vectors) {
  if constexpr (n > 1) {
    if (vectors < n) return run_group<T, n - 1>(s, first, vectors);
  }
  run_vectors<T, n>(s, first);
}

template <class T>
void run(const Sweep<T>& s) {
  const std::ptrdiff_t vectors = s.columns / lanes<T>;
  const std::ptrdiff_t groups = (vectors + most_vectors - 1) / most_vectors;
  for (std::ptrdiff_t g = 0; g < groups; ++g) {
    const std::ptrdiff_t begin = vectors * g / groups, end = vectors * (g + 1) / groups;
    run_group(s, begin * lanes<T>, end - begin);
  }
}

template <class T>
void exponentials(SweepStep<T>* steps, std::ptrdiff_t count) {
  using P = Pack<T, 4>;
  T x[P::size];
  for (std::ptrdiff_t t = 0; t < count; t += P::size) {
    const auto some = static_cast<int>(std::min<std::ptrdiff_t>(P::size, count - t));
    for (int i = 0; i < some; ++i) x[i] = steps[t + i].factor;
    for (int i = some; i < P::size; ++i) x[i] = T(0);
    exp(P::load(x)).store(x);
    for (int i = 0; i < some; ++i) steps[t + i].factor = x[i];
  }
}

}  // namespace

template <class T>
SweepKernels<T> make_sweep() {
  return {&run<T>, &exponentials<T>};
}
template SweepKernels<float> make_sweep();
template SweepKernels<double> make_sweep();

}  // namespace conelab::CONELAB_SIMD
