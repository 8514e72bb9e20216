// The rows of token maps.
//
//   rope       column pair i of the token at position p is turned by the angle p base^(-2i/d)
//              (RoFormer, section 3.2.2). interleaved: columns 2i, 2i + 1; halves: i, i + d/2
//   bilinear   q' = W^T q, so that q'.k = q^T W k
//   P_query, P_key, P_value   x' = P x (Vaswani et al., section 3.2.2)
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

constexpr std::array query_projection{
    ParameterInfo{"P_query", 0, Domain::tensor, true,
                  "projection of the queries; absent: the identity", "", "d',d"}};
constexpr std::array key_projection{ParameterInfo{
    "P_key", 0, Domain::tensor, true, "projection of the keys; absent: the identity", "", "d',d"}};
constexpr std::array value_projection{
    ParameterInfo{"P_value", 0, Domain::tensor, true,
                  "projection of the values; absent: the identity", "", "d_v',d_v"}};

std::int64_t projected_columns(std::int64_t, std::span<const Parameter> own) {
  return own[0].extents[own[0].extents.size() - 2];
}

/// P [d' x d]
template <class T>
Matrix<T> projection_of(const TokenBlock<T>& b) {
  const std::vector<double>& p = b.values.tensor[0];
  const auto rows = static_cast<std::int64_t>(p.size()) / b.columns;
  return Rows<double>(p.data(), rows, b.columns).template cast<T>();
}
template <class T>
void project(const TokenBlock<T>& b, T* out) {
  const Matrix<T> p = projection_of(b);
  Eigen::Map<Matrix<T>>(out, b.count, p.rows()).noalias() =
      Rows<T>(b.x, b.count, b.columns) * p.transpose();
}
template <class T>
void project_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const Matrix<T> p = projection_of(b);
  const Rows<T> x(b.x, b.count, b.columns), up(upstream, b.count, p.rows());
  Eigen::Map<Matrix<T>>(dx, b.count, b.columns).noalias() = up * p;
  const Matrix<T> dp = up.transpose() * x;
  Eigen::Map<Matrix<double>>(gradient.tensor[0].data(), p.rows(), b.columns) +=
      dp.template cast<double>();
}

constexpr TokenMapRow projection_row(const char* about, std::span<const ParameterInfo> parameters,
                                     bool of_query, bool of_key, bool of_value) {
  return {parameters[0].key,
          about,
          parameters,
          false,
          of_query,
          of_key,
          &nothing,
          {&project<float>, &project_back<float>},
          {&project<double>, &project_back<double>},
          of_value,
          &projected_columns};
}
constexpr std::array projections{
    projection_row("q' = P_query q", query_projection, true, false, false),
    projection_row("k' = P_key k", key_projection, false, true, false),
    projection_row("v' = P_value v", value_projection, false, false, true)};

constexpr std::array token_maps{TokenMapRow{"rope",
                                            "column pairs turned by p base^(-2i/d) (RoFormer)",
                                            rope_parameters,
                                            true,
                                            true,
                                            true,
                                            &refuses_odd,
                                            {&rope<float>, &rope_back<float>},
                                            {&rope<double>, &rope_back<double>}},
                                TokenMapRow{"bilinear",
                                            "q' = W^T q",
                                            bilinear_parameters,
                                            false,
                                            true,
                                            false,
                                            &nothing,
                                            {&bilinear<float>, &bilinear_back<float>},
                                            {&bilinear<double>, &bilinear_back<double>}}};

}  // namespace

std::span<const TokenMapRow> token_map_table() { return token_maps; }
std::span<const TokenMapRow> token_projections() { return projections; }

const TokenMapRow* find_token_map(const std::string& name) {
  const auto found = std::find_if(token_maps.begin(), token_maps.end(),
                                  [&](const TokenMapRow& row) { return name == row.name; });
  return found == token_maps.end() ? nullptr : &*found;
}

}  // namespace conelab
