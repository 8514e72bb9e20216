// The rows of token maps.
//
//   rope       column pair i of the token at position p is turned by the angle p base^(-2i/d)
//              (RoFormer, section 3.2.2). interleaved: columns 2i, 2i + 1; halves: i, i + d/2
//   bilinear   q' = W^T q, so that q'.k = q^T W k
//   gat        q' = (a_1.W q, 1) and k' = (1, a_2.W k), so that q'.k' = a_1.W q + a_2.W k
//   additive   q' = (W q, 0) and k' = (U k, v_a), each half filled up with zeros: operands of
//              Measure::tanh_sum (core/similarity/similarity.h)
#include "core/token/token_map.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/buffer.h"
#include "core/similarity/similarity.h"

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

constexpr std::array gat_parameters{
    ParameterInfo{"W", 0, Domain::tensor, true, "the matrix of W q and W k; absent: the identity",
                  "", "f=d,d"},
    ParameterInfo{"a", needed, Domain::tensor, true, "a_1 of the query, then a_2 of the key", "",
                  "2f"}};
std::int64_t gat_columns(std::span<const Parameter>) { return 2; }

/// The half of a, and the half of dL/da, that belong to the block's side.
template <class A>
auto half_of(A& a, bool is_query) {
  const auto f = static_cast<Eigen::Index>(a.size() / 2);
  return Eigen::Map<std::conditional_t<std::is_const_v<A>, const Eigen::VectorXd, Eigen::VectorXd>>(
      a.data() + (is_query ? 0 : f), f);
}

/// W^T a_1 or W^T a_2 [d].
template <class T>
Eigen::VectorXd gat_direction(const TokenBlock<T>& b) {
  const auto a = half_of(b.values.tensor[1], b.is_query);
  const std::vector<double>& w = b.values.tensor[0];
  if (w.empty()) return a;
  return Rows<double>(w.data(), a.size(), b.columns).transpose() * a;
}
template <class T>
void gat(const TokenBlock<T>& b, T* out) {
  const Rows<T> x(b.x, b.count, b.columns);
  Eigen::Map<Matrix<T>> to(out, b.count, 2);
  to.col(b.is_query ? 0 : 1) = (x.template cast<double>() * gat_direction(b)).template cast<T>();
  to.col(b.is_query ? 1 : 0).setOnes();
}
template <class T>
void gat_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const Rows<T> x(b.x, b.count, b.columns);
  const Eigen::VectorXd up =
      Rows<T>(upstream, b.count, 2).col(b.is_query ? 0 : 1).template cast<double>();
  Eigen::Map<Matrix<T>>(dx, b.count, b.columns) =
      (up * gat_direction(b).transpose()).template cast<T>();
  const Eigen::VectorXd by_direction = x.template cast<double>().transpose() * up;
  auto by_a = half_of(gradient.tensor[1], b.is_query);
  const std::vector<double>& w = b.values.tensor[0];
  if (w.empty()) {
    by_a += by_direction;
    return;
  }
  by_a += Rows<double>(w.data(), by_a.size(), b.columns) * by_direction;
  Eigen::Map<Matrix<double>>(gradient.tensor[0].data(), by_a.size(), b.columns) +=
      half_of(b.values.tensor[1], b.is_query) * by_direction.transpose();
}

constexpr std::array additive_parameters{
    ParameterInfo{"W", needed, Domain::tensor, true, "the matrix of W q", "", "a,d"},
    ParameterInfo{"U", needed, Domain::tensor, true, "the matrix of U k", "", "a,d"},
    ParameterInfo{"v_a", needed, Domain::tensor, true, "the weights of tanh(W q + U k)", "", "a"}};

/// Columns of each half.
std::int64_t half_columns(std::int64_t size) {
  return round_up<std::int64_t>(size, tanh_sum_multiple);
}
std::int64_t additive_columns(std::span<const Parameter> own) {
  return 2 * half_columns(own[2].extents.back());
}
template <class T>
void additive(const TokenBlock<T>& b, T* out) {
  const std::vector<double>& weights = b.values.tensor[2];
  const auto size = static_cast<std::int64_t>(weights.size()), half = half_columns(size);
  const Rows<double> matrix(b.values.tensor[b.is_query ? 0 : 1].data(), size, b.columns);
  const Rows<T> x(b.x, b.count, b.columns);
  Eigen::Map<Matrix<T>> to(out, b.count, 2 * half);
  to.setZero();
  to.leftCols(size).noalias() = x * matrix.template cast<T>().transpose();
  if (b.is_query) return;
  const Rows<double> row(weights.data(), 1, size);
  to.middleCols(half, size).rowwise() = row.template cast<T>().row(0);
}
template <class T>
void additive_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const auto size = static_cast<std::int64_t>(b.values.tensor[2].size());
  const std::int64_t half = half_columns(size);
  const std::size_t side = b.is_query ? 0 : 1;
  const Rows<double> matrix(b.values.tensor[side].data(), size, b.columns);
  const Rows<T> x(b.x, b.count, b.columns), up(upstream, b.count, 2 * half);
  Eigen::Map<Matrix<T>>(dx, b.count, b.columns).noalias() =
      up.leftCols(size) * matrix.template cast<T>();
  const Matrix<T> by_matrix = up.leftCols(size).transpose() * x;
  Eigen::Map<Matrix<double>>(gradient.tensor[side].data(), size, b.columns) +=
      by_matrix.template cast<double>();
  if (b.is_query) return;
  Eigen::Map<Matrix<double>>(gradient.tensor[2].data(), 1, size) +=
      up.middleCols(half, size).template cast<double>().colwise().sum();
}

constexpr std::array token_maps{TokenMapRow{"rope",
                                            "column pairs turned by p base^(-2i/d) (RoFormer)",
                                            rope_parameters,
                                            true,
                                            true,
                                            true,
                                            &refuses_odd,
                                            nullptr,
                                            {&rope<float>, &rope_back<float>},
                                            {&rope<double>, &rope_back<double>}},
                                TokenMapRow{"bilinear",
                                            "q' = W^T q",
                                            bilinear_parameters,
                                            false,
                                            true,
                                            false,
                                            &nothing,
                                            nullptr,
                                            {&bilinear<float>, &bilinear_back<float>},
                                            {&bilinear<double>, &bilinear_back<double>}},
                                TokenMapRow{"gat",
                                            "q' = (a_1.W q, 1), k' = (1, a_2.W k)",
                                            gat_parameters,
                                            false,
                                            true,
                                            true,
                                            &nothing,
                                            &gat_columns,
                                            {&gat<float>, &gat_back<float>},
                                            {&gat<double>, &gat_back<double>}},
                                TokenMapRow{"additive",
                                            "q' = (W q, 0), k' = (U k, v_a)",
                                            additive_parameters,
                                            false,
                                            true,
                                            true,
                                            &nothing,
                                            &additive_columns,
                                            {&additive<float>, &additive_back<float>},
                                            {&additive<double>, &additive_back<double>}}};

}  // namespace

std::span<const TokenMapRow> token_map_table() { return token_maps; }

const TokenMapRow* find_token_map(const std::string& name) {
  const auto found = std::find_if(token_maps.begin(), token_maps.end(),
                                  [&](const TokenMapRow& row) { return name == row.name; });
  return found == token_maps.end() ? nullptr : &*found;
}

}  // namespace conelab
