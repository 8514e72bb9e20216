#include "gpu/tile/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace conelab::gpu::tests {
namespace {

/// Operands holds the numbers of the registers that a lane gives to a tensor core in one call.
struct Operands {
  std::vector<float> a, b;
};

/// The tensor core of a warp whose lanes run one after the other, twice: at first it keeps their
/// operands, then it knows those of all lanes and multiplies them as the PTX ISA places them
/// (figures of mma.m16n8k8 and mma.m16n8k16): register r of lane l has, with g = l / 4 and t = l %
/// 4,
///   of A: row g + 8 (r % 2), and of 8 columns t + 4 (r / 2), of 16 columns 2 t + 8 (r / 2) + half;
///   of B: column g, and of 8 rows t + 4 r, of 16 rows 2 t + 8 r + half;
///   of C: row g + 8 (r / 2), column 2 t + r % 2.
/// Numbers of 8 columns are read with 11 significant bits; sums are truncated to floats.
class Warp {
 public:
  void start(int lane, bool keeps) {
    lane_ = lane;
    keeps_ = keeps;
    call_ = 0;
  }
  void operator()(float (&sum)[4], const float (&a)[4], const float (&b)[2]) {
    Operands own;
    for (const float x : a) own.a.push_back(truncated(x));
    for (const float x : b) own.b.push_back(truncated(x));
    multiply(sum, own, 1);
  }
  template <class T>
  void narrow(float (&sum)[4], const std::uint32_t (&a)[4], const Pairs& b) {
    Operands own;
    for (const std::uint32_t pair : a) append<T>(pair, own.a);
    for (const std::uint32_t pair : b.at) append<T>(pair, own.b);
    multiply(sum, own, 2);
  }

 private:
  std::vector<std::vector<Operands>> calls_;  // [call][lane]
  int lane_ = 0;
  bool keeps_ = true;
  std::size_t call_ = 0;

  template <class T>
  static void append(std::uint32_t pair, std::vector<float>& to) {
    for (const std::uint32_t bits : {pair & 0xffffu, pair >> 16}) {
      to.push_back(std::bit_cast<T>(static_cast<std::uint16_t>(bits)));
    }
  }

  /// `halves` numbers share a register.
  void multiply(float (&sum)[4], const Operands& own, int halves) {
    if (keeps_) {
      if (call_ == calls_.size()) calls_.emplace_back(32);
      calls_[call_][static_cast<std::size_t>(lane_)] = own;
    } else {
      for (int r = 0; r < 4; ++r) {
        const int row = lane_ / 4 + 8 * (r / 2), column = lane_ % 4 * 2 + r % 2;
        double exact = sum[r];
        for (int k = 0; k < 8 * halves; ++k) {
          const int t = k / halves % 4, far = k / (4 * halves), half = k % halves;
          const int of_a = (row / 8 + 2 * far) * halves + half, of_b = far * halves + half;
          exact += static_cast<double>(at(row % 8 * 4 + t).a[static_cast<std::size_t>(of_a)]) *
                   at(column * 4 + t).b[static_cast<std::size_t>(of_b)];
        }
        const auto nearest = static_cast<float>(exact);
        const bool beyond = std::abs(static_cast<double>(nearest)) > std::abs(exact);
        sum[r] = beyond ? std::nextafter(nearest, 0.0f) : nearest;
      }
    }
    ++call_;
  }
  [[nodiscard]] const Operands& at(int lane) const {
    return calls_[call_][static_cast<std::size_t>(lane)];
  }
};

/// Runs `multiply(warp, thread, sum)` for all threads of a block; returns the tile [row][column].
template <class Multiply>
std::vector<float> run(const Multiply& multiply) {
  std::vector<float> tile(tile_rows * tile_columns);
  for (int first = 0; first < tile_threads; first += 32) {
    Warp warp;
    for (const bool keeps : {true, false}) {
      for (int lane = 0; lane < 32; ++lane) {
        warp.start(lane, keeps);
        Fragment<float> sum = {};
        multiply(warp, first + lane, sum);
        for (int i = 0; i < row_share; ++i) {
          for (int j = 0; j < column_share; ++j) {
            const int at = row_of(first + lane, i) * tile_columns + column_of(first + lane, j);
            tile[static_cast<std::size_t>(at)] = sum.at[i][j];
          }
        }
      }
    }
  }
  return tile;
}

template <class T>
std::vector<T> random_numbers(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<T> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(T(normal(random)));
  return numbers;
}

/// Expects a(row, step) * b(step, column) with errors of at most `bound` of the sum of magnitudes.
template <class A, class B>
void expect_product(const std::vector<float>& found, int steps, const A& a, const B& b,
                    double bound) {
  for (int row = 0; row < tile_rows; ++row) {
    for (int column = 0; column < tile_columns; ++column) {
      double sum = 0, magnitude = 0;
      for (int step = 0; step < steps; ++step) {
        const double term = static_cast<double>(a(row, step)) * b(step, column);
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(found[static_cast<std::size_t>(row * tile_columns + column)], sum,
                  bound * magnitude)
          << row << ' ' << column;
    }
  }
}

template <bool split_b, class T>
void expect_wide_product() {
  const auto left = random_numbers<float>(tile_rows * tile_steps, 1);
  const auto right = random_numbers<T>(tile_steps * tile_columns, 2);
  const auto a = [&](int row, int step) {
    return left[static_cast<std::size_t>(row * tile_steps + step)];
  };
  const auto b = [&](int step, int column) {
    return static_cast<float>(right[static_cast<std::size_t>(step * tile_columns + column)]);
  };
  std::vector<float> totals(tile_rows);
  const auto found = run([&](auto& warp, int thread, Fragment<float>& sum) {
    float total[row_share] = {};
    multiply_on<split_b>(warp, thread, a, b, sum, total);
    for (int i = 0; i < row_share; ++i) {
      totals[static_cast<std::size_t>(row_of(thread, i))] = total[i];
    }
  });
  expect_product(found, tile_steps, a, b, 1e-6);
  for (int row = 0; row < tile_rows; ++row) {
    double sum = 0;
    for (int step = 0; step < tile_steps; ++step) sum += a(row, step);
    EXPECT_NEAR(totals[static_cast<std::size_t>(row)], sum, 2e-5);
  }
}

TEST(TensorCores, MultiplyFloatsWithTheErrorsOfFloats) { expect_wide_product<true, float>(); }
TEST(TensorCores, MultiplyFloatsByNumbersOfSixteenBits) {
  expect_wide_product<false, Float16>();
  expect_wide_product<false, Bfloat16>();
}

template <class T>
void expect_narrow_product() {
  const auto left = random_numbers<T>(tile_rows * narrow_steps, 3);
  const auto right = random_numbers<T>(tile_columns * narrow_steps, 4);
  const auto a = [&](int row, int step) -> const T& {
    return left[static_cast<std::size_t>(row * narrow_steps + step)];
  };
  const auto b = [&](int column, int step) -> const T& {
    return right[static_cast<std::size_t>(column * narrow_steps + step)];
  };
  const auto found = run([&](auto& warp, int thread, Fragment<float>& sum) {
    multiply_narrow_on<T>(warp, thread, a, b, sum);
  });
  expect_product(
      found, narrow_steps, a, [&](int step, int column) { return b(column, step); }, 1e-6);
}

TEST(TensorCores, MultiplyNumbersOfSixteenBits) {
  expect_narrow_product<Float16>();
  expect_narrow_product<Bfloat16>();
}

}  // namespace
}  // namespace conelab::gpu::tests
