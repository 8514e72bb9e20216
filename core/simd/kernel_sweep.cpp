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
constexpr int recent_additions = 64;
/// How many steps ahead rows are fetched.
constexpr std::ptrdiff_t steps_ahead = 16;

/// Calls f with the indices 0 ... n - 1 as constants, so that arrays of vectors stay in registers.
template <int n, class F>
HWY_INLINE void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (f(std::integral_constant<int, i>()), ...); }
  (std::make_integer_sequence<int, n>());
}

/// The running sum of n vectors of columns. Its recent additions have a sum of their own: the
/// rounding error of that grows with the square root of their number, and the error of the whole
/// with that of the number of such sums.
template <class T, int n>
struct RunningSum {
  Vector<T> old[n], recent[n];
  int added = 0;  ///< Additions to `recent`.

  /// Takes over the part of a state that begins at a column.
  HWY_INLINE void load(const SweepState<T>& state, std::ptrdiff_t columns, std::ptrdiff_t first) {
    added = state.recent;
    unrolled<n>([&](auto i) {
      const T* at = state.parts.data() + first + i * lanes<T>;
      old[i] = hn::LoadU(Tag<T>(), at);
      recent[i] = hn::LoadU(Tag<T>(), at + columns);
    });
  }
  HWY_INLINE void store(SweepState<T>& state, std::ptrdiff_t columns, std::ptrdiff_t first) const {
    unrolled<n>([&](auto i) {
      T* at = state.parts.data() + first + i * lanes<T>;
      hn::StoreU(old[i], Tag<T>(), at);
      hn::StoreU(recent[i], Tag<T>(), at + columns);
    });
  }
  HWY_INLINE void scale(T factor) {
    const Vector<T> f = hn::Set(Tag<T>(), factor);
    unrolled<n>([&](auto i) {
      old[i] = hn::Mul(old[i], f);
      recent[i] = hn::Mul(recent[i], f);
    });
  }
  HWY_INLINE void add(T factor, const T* row) {
    const Vector<T> f = hn::Set(Tag<T>(), factor);
    unrolled<n>([&](auto i) {
      recent[i] = hn::MulAdd(f, hn::LoadU(Tag<T>(), row + i * lanes<T>), recent[i]);
    });
    if (++added < recent_additions) return;
    added = 0;
    unrolled<n>([&](auto i) {
      old[i] = hn::Add(old[i], recent[i]);
      recent[i] = hn::Zero(Tag<T>());
    });
  }
  /// Adds the sum, times a factor, to a row.
  HWY_INLINE void give(T factor, T* row) const {
    const Vector<T> f = hn::Set(Tag<T>(), factor);
    unrolled<n>([&](auto i) {
      T* at = row + i * lanes<T>;
      hn::StoreU(hn::MulAdd(f, hn::Add(old[i], recent[i]), hn::LoadU(Tag<T>(), at)), Tag<T>(), at);
    });
  }
  /// Returns the product of the sum and a row.
  [[nodiscard]] HWY_INLINE double dot(const T* row) const {
    Vector<T> dot = hn::Zero(Tag<T>());
    unrolled<n>([&](auto i) {
      dot = hn::MulAdd(hn::Add(old[i], recent[i]), hn::LoadU(Tag<T>(), row + i * lanes<T>), dot);
    });
    return static_cast<double>(hn::GetLane(hn::SumOfLanes(Tag<T>(), dot)));
  }
};

/// Fetches the row that a step reads or changes.
template <class T, int n, bool has_output>
HWY_INLINE void fetch(const Sweep<T>& s, const SweepStep<T>& step, const T* summand,
                      const T* output) {
  const T* rows = has_output && step.kind != StepKind::add ? output : summand;
  const auto* at = reinterpret_cast<const char*>(rows + step.row * s.columns);
  unrolled<n>([&](auto i) { __builtin_prefetch(at + i * sizeof(Vector<T>)); });
}

/// Adds the products of the running sum and a row to the dots of an output.
template <class T, int n>
HWY_INLINE void add_dots(const Sweep<T>& s, const RunningSum<T, n>& sum, const SweepStep<T>& step,
                         std::ptrdiff_t first) {
  if (step.dots == no_dots) return;
  const double dot =
      sum.dot(s.other + s.partner[step.row] * s.columns + first) * static_cast<double>(step.factor);
  double* dots = s.dots + 2 * static_cast<std::ptrdiff_t>(step.row);
  dots[0] += (step.dots & first_dot) != 0 ? dot : 0;
  dots[1] += (step.dots & second_dot) != 0 ? dot : 0;
}

/// Runs the sweep on the columns [first, first + n vectors). Returns the number of recent
/// additions.
template <class T, int n, bool has_output, bool has_dots>
int run_columns(const Sweep<T>& s, std::ptrdiff_t first) {
  const T* summand = s.summand + first;
  T* output = has_output ? s.output + first : nullptr;
  RunningSum<T, n> sum;
  unrolled<n>([&](auto i) { sum.old[i] = sum.recent[i] = hn::Zero(Tag<T>()); });
  if (s.state != nullptr) sum.load(*s.state, s.columns, first);
  for (std::ptrdiff_t t = 0; t < s.count; ++t) {
    fetch<T, n, has_output>(s, s.steps[std::min(t + steps_ahead, s.count - 1)], summand, output);
    const SweepStep<T>& step = s.steps[t];
    const std::ptrdiff_t at = step.row * s.columns;
    if (step.kind == StepKind::add) {
      sum.add(step.factor, summand + at);
    } else if (step.kind == StepKind::give) {
      if constexpr (has_output) sum.give(step.factor, output + at);
      if constexpr (has_dots) add_dots(s, sum, step, first);
    } else if (step.kind == StepKind::scale_output) {
      for (int c = 0; has_output && c < n * lanes<T>; ++c) output[at + c] *= step.factor;
    } else {
      sum.scale(step.kind == StepKind::clear ? T(0) : step.factor);
    }
  }
  if (s.state != nullptr) sum.store(*s.state, s.columns, first);
  return sum.added;
}

template <class T, int n>
int run_vectors(const Sweep<T>& s, std::ptrdiff_t first) {
  if (s.dots == nullptr) return run_columns<T, n, true, false>(s, first);
  if (s.output == nullptr) return run_columns<T, n, false, true>(s, first);
  return run_columns<T, n, true, true>(s, first);
}

template <class T, int n = most_vectors>
int run_group(const Sweep<T>& s, std::ptrdiff_t first, std::ptrdiff_t vectors) {
  if constexpr (n > 1) {
    if (vectors < n) return run_group<T, n - 1>(s, first, vectors);
  }
  return run_vectors<T, n>(s, first);
}

template <class T>
void run(const Sweep<T>& s) {
  const std::ptrdiff_t vectors = s.columns / lanes<T>;
  const std::ptrdiff_t groups = (vectors + most_vectors - 1) / most_vectors;
  int recent = 0;
  for (std::ptrdiff_t g = 0; g < groups; ++g) {
    const std::ptrdiff_t begin = vectors * g / groups, end = vectors * (g + 1) / groups;
    recent = run_group(s, begin * lanes<T>, end - begin);
  }
  if (s.state != nullptr) s.state->recent = recent;
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
