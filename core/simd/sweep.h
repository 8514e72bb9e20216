// Sweeps: running sums of weighted rows, which are added to other rows on the way.
//
// A sweep has one running sum s [columns], 0 at first, and does its steps in order:
//   add           s += factor * summand[row]
//   give          output[row] += factor * s, and dots[row] += factor * (s . other[partner[row]])
//   scale_sum     s *= factor
//   scale_output  output[row] *= factor
//   clear         s = 0
// The sums over quadrants of core/tiles/four_sums.h are made of such steps. The running sum is kept
// in two parts, so that its rounding error grows with the square root of the number of steps
// divided by 128, not of the steps.
//
// The loops are compiled once for each SIMD target, like those of kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/buffer.h"

namespace conelab {

enum class StepKind : std::uint8_t { add, give, scale_sum, scale_output, clear };
/// Which numbers of a row of `Sweep::dots` a step adds to; they can be combined.
enum Dots : std::uint8_t { no_dots = 0, first_dot = 1, second_dot = 2 };

template <class T>
struct SweepStep {
  std::int32_t row;
  StepKind kind;
  std::uint8_t dots;  ///< Of the kind `give`.
  T factor;
};

/// The columns of a sweep are a multiple of this.
constexpr std::ptrdiff_t sweep_columns = 16;

/// A running sum between two runs.
template <class T>
struct SweepState {
  Buffer<T> parts;  ///< [2 × columns] The older additions, and the recent ones.
  int recent = 0;   ///< How many these are.
};

/// The rows of all arrays have `columns` numbers.
template <class T>
struct Sweep {
  const SweepStep<T>* steps;
  std::ptrdiff_t count;
  std::ptrdiff_t columns;
  const T* summand;
  T* output;                    ///< Null: none.
  const T* other;               ///< The rows that running sums are multiplied by. Null: none.
  const std::int32_t* partner;  ///< The row of `other` that belongs to a row of `dots`.
  double* dots;                 ///< [rows × 2]
  /// The running sum begins with it and is left in it, so that a long sweep can be run in parts.
  /// Null: it begins with 0 and is not needed further.
  SweepState<T>* state;
};

template <class T>
struct SweepKernels {
  void (*run)(const Sweep<T>& sweep);
  /// Replaces the factor of every step by its exponential, which is 0 below -87 (float) or -708.
  void (*exponentials)(SweepStep<T>* steps, std::ptrdiff_t count);
};

/// Returns the kernels of a target, which is chosen as in `kernels` of kernels.h. T is float or
/// double. Throws misuse if the target is unknown or cannot run on this machine.
template <class T>
[[nodiscard]] SweepKernels<T> sweep_kernels(const std::string& target);

}  // namespace conelab
