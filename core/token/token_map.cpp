// The rows of token maps.
//
//   sinusoidal the token at position p gets an added vector (Vaswani et al., section 3.5)
//              interleaved: columns 2i, 2i + 1 are sin, cos of p base^(-2i/d)
//              halves (Tensor2Tensor): with m = floor(d/2), columns i, m + i are sin, cos of
//              p base^(-i/(m - 1)), i < m
//              Of an odd d the last column is a sine without its cosine, or in halves 0.
//   rope       column pair i of the token at position p is turned by the angle p base^(-2i/d)
//              (RoFormer, section 3.2.2). interleaved: columns 2i, 2i + 1; halves: i, i + d/2
//   bilinear   q' = W^T q, so that q'.k = q^T W k
#include "core/token/token_map.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace conelab {
namespace {

constexpr double needed = std::numeric_limits<double>::quiet_NaN();

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Rows = Eigen::Map<const Matrix<T>>;

const char* nothing(std::int64_t) { return nullptr; }

constexpr std::array rope_parameters{
    ParameterInfo{"position_base", 10000, Domain::positive, false,
                  "base of the angles p base^(-2i/d)"},
    ParameterInfo{"layout", 0, Domain::choice, false,
                  "which columns turn together: 2i and 2i + 1, or i and i + d/2",
                  "interleaved|halves"}};

const char* refuses_odd(std::int64_t columns) {
  return columns % 2 == 0 ? nullptr : "rope turns pairs of columns: their number must be even";
}

/// Turns every pair by `sign` times its angle.
template <class T>
void turn(const TokenBlock<T>& b, const T* x, double sign, T* out) {
  const std::int64_t pairs = b.columns / 2;
  const bool halves = b.values.p[1] != 0;
  std::vector<double> rate(static_cast<std::size_t>(pairs));
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double part = static_cast<double>(2 * i) / static_cast<double>(b.columns);
    rate[static_cast<std::size_t>(i)] = std::pow(b.values.p[0], -part);
  }
  for (std::int64_t t = 0; t < b.count; ++t, x += b.columns, out += b.columns) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(b.position + t) * rate[static_cast<std::size_t>(i)];
      const double c = std::cos(angle), s = sign * std::sin(angle);
      const std::int64_t first = halves ? i : 2 * i, second = halves ? i + pairs : 2 * i + 1;
      const auto u = static_cast<double>(x[first]), v = static_cast<double>(x[second]);
      out[first] = static_cast<T>(c * u - s * v);
      out[second] = static_cast<T>(s * u + c * v);
    }
  }
}
template <class T>
void rope(const TokenBlock<T>& block, T* out) {
  turn(block, block.x, 1, out);
}
template <class T>
void rope_back(const TokenBlock<T>& block, const T* upstream, T* dx, PartValues&) {
  turn(block, upstream, -1, dx);
}

constexpr std::array sinusoidal_parameters{
    ParameterInfo{"position_base", 10000, Domain::positive, false,
                  "base of the angles p base^(-2i/d), in halves p base^(-i/(d/2 - 1))"},
    ParameterInfo{"layout", 0, Domain::choice, false,
                  "sines and cosines in turn, or sines in the first half and cosines in the second",
                  "interleaved|halves"}};

/// A column of the added vectors: sine or cosine of the position times a rate.
struct Wave {
  double rate;
  bool is_sine;
};
std::vector<Wave> waves(std::int64_t d, const PartValues& values) {
  const bool halves = values.p[1] != 0;
  const std::int64_t half = d / 2;
  std::vector<Wave> all;
  for (std::int64_t c = 0; c < d; ++c) {
    const auto i = static_cast<double>(halves ? c % std::max<std::int64_t>(1, half) : c / 2);
    const double part =
        halves ? i / std::max(1.0, static_cast<double>(half - 1)) : 2 * i / static_cast<double>(d);
    all.push_back({std::pow(values.p[0], -part), halves ? c < half : c % 2 == 0});
  }
  if (halves && d % 2 != 0) all.back() = {0, true};
  return all;
}
template <class T>
void sinusoidal(const TokenBlock<T>& b, T* out) {
  const std::vector<Wave> columns = waves(b.columns, b.values);
  const T* x = b.x;
  for (std::int64_t t = 0; t < b.count; ++t) {
    for (const Wave& wave : columns) {
      const double angle = static_cast<double>(b.position + t) * wave.rate;
      const double added = wave.is_sine ? std::sin(angle) : std::cos(angle);
      *out++ = static_cast<T>(static_cast<double>(*x++) + added);
    }
  }
}
template <class T>
void sinusoidal_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  std::copy_n(upstream, b.count * b.columns, dx);
}

constexpr std::array bilinear_parameters{
    ParameterInfo{"W", needed, Domain::tensor, true, "the matrix of q^T W k", "", "d,d"}};

template <class T>
Matrix<T> matrix_of(const PartValues& values, std::int64_t columns) {
  return Rows<double>(values.tensor[0].data(), columns, columns).template cast<T>();
}
template <class T>
void bilinear(const TokenBlock<T>& b, T* out) {
  const Rows<T> x(b.x, b.count, b.columns);
  Eigen::Map<Matrix<T>>(out, b.count, b.columns).noalias() = x * matrix_of<T>(b.values, b.columns);
}
template <class T>
void bilinear_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const Rows<T> x(b.x, b.count, b.columns), up(upstream, b.count, b.columns);
  Eigen::Map<Matrix<T>>(dx, b.count, b.columns).noalias() =
      up * matrix_of<T>(b.values, b.columns).transpose();
  const Matrix<T> dw = x.transpose() * up;
  Eigen::Map<Matrix<double>>(gradient.tensor[0].data(), b.columns, b.columns) +=
      dw.template cast<double>();
}

constexpr std::array token_maps{TokenMapRow{"sinusoidal",
                                            "sines and cosines of the position added (Vaswani et "
                                            "al.; layout = halves: Tensor2Tensor)",
                                            sinusoidal_parameters,
                                            true,
                                            true,
                                            true,
                                            true,
                                            &nothing,
                                            {&sinusoidal<float>, &sinusoidal_back<float>},
                                            {&sinusoidal<double>, &sinusoidal_back<double>}},
                                TokenMapRow{"rope",
                                            "column pairs turned by p base^(-2i/d) (RoFormer)",
                                            rope_parameters,
                                            true,
                                            false,
                                            true,
                                            true,
                                            &refuses_odd,
                                            {&rope<float>, &rope_back<float>},
                                            {&rope<double>, &rope_back<double>}},
                                TokenMapRow{"bilinear",
                                            "q' = W^T q",
                                            bilinear_parameters,
                                            false,
                                            false,
                                            true,
                                            false,
                                            &nothing,
                                            {&bilinear<float>, &bilinear_back<float>},
                                            {&bilinear<double>, &bilinear_back<double>}}};

}  // namespace

std::span<const TokenMapRow> token_map_table() { return token_maps; }

const TokenMapRow* find_token_map(const std::string& name) {
  const auto found = std::find_if(token_maps.begin(), token_maps.end(),
                                  [&](const TokenMapRow& row) { return name == row.name; });
  return found == token_maps.end() ? nullptr : &*found;
}

}  // namespace conelab
