// Token maps that multiply tokens by matrices: the projections, and the maps of composed
// similarities (core/call/composed.h).
//
//   P_query, P_key, P_value   x' = P x (Vaswani et al., section 3.2.2)
//   bilinear   q' = W^T q, so that q'.k = q^T W k
//   gat        q' = (a_1.W q, 1) and k' = (1, a_2.W k), so that q'.k' = a_1.W q + a_2.W k
//   additive   q' = (W q, 0) and k' = (U k, v_a), each half padded with zeros: the operands of
//              Measure::tanh_sum (core/similarity/similarity.h)
#include <Eigen/Core>
#include <array>
#include <limits>
#include <vector>

#include "core/base/buffer.h"
#include "core/similarity/similarity.h"
#include "core/token/eigen_products.h"
#include "core/token/token_map.h"

namespace conelab {
namespace {

constexpr double needed = std::numeric_limits<double>::quiet_NaN();

constexpr std::array bilinear_parameters{
    ParameterInfo{"W", needed, Domain::tensor, true, "the matrix of q^T W k", "", "d,d"}};

/// Returns a tensor of the row as a matrix [size / columns x columns].
template <class T>
RowMatrixView<T> matrix_of(const TokenBlock<T>& b, std::size_t parameter, std::int64_t columns) {
  const std::span<const T> numbers = b.tensors[parameter];
  return {numbers.data(), std::ssize(numbers) / columns, columns};
}
template <class T>
void bilinear(const TokenBlock<T>& b, T* out) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  set_product(Eigen::Map<RowMatrix<T>>(out, b.x.count, b.x.columns), x,
              matrix_of(b, 0, b.x.columns));
}
template <class T>
void bilinear_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const RowMatrixView<T> up(upstream, b.x.count, b.x.columns);
  set_product(Eigen::Map<RowMatrix<T>>(dx, b.x.count, b.x.columns), up,
              matrix_of(b, 0, b.x.columns).transpose());
  const RowMatrix<T> dw = product_of(x.transpose(), up);
  Eigen::Map<RowMatrix<double>>(gradient.tensor[0].data(), b.x.columns, b.x.columns) +=
      dw.template cast<double>();
}

constexpr std::array gat_parameters{
    ParameterInfo{"W", 0, Domain::tensor, true, "the matrix of W q and W k; absent: the identity",
                  "", "f=d,d"},
    ParameterInfo{"a", needed, Domain::tensor, true, "a_1 of the query, then a_2 of the key", "",
                  "2f"}};
std::int64_t gat_columns(std::int64_t, std::span<const Parameter>) { return 2; }

template <class T>
Eigen::VectorXd half_of(const TokenBlock<T>& b) {
  const std::span<const T> a = b.tensors[1];
  const auto f = static_cast<Eigen::Index>(a.size() / 2);
  return Eigen::Map<const Eigen::VectorX<T>>(a.data() + (b.is_query ? 0 : f), f)
      .template cast<double>();
}

template <class T>
RowMatrix<double> wide_matrix(const TokenBlock<T>& b) {
  return matrix_of(b, 0, b.x.columns).template cast<double>();
}

template <class T>
Eigen::VectorXd gat_direction(const TokenBlock<T>& b) {
  return b.tensors[0].empty() ? half_of(b) : wide_matrix(b).transpose() * half_of(b);
}
template <class T>
void gat(const TokenBlock<T>& b, T* out) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  Eigen::Map<RowMatrix<T>> to(out, b.x.count, 2);
  to.col(b.is_query ? 0 : 1) = (x.template cast<double>() * gat_direction(b)).template cast<T>();
  to.col(b.is_query ? 1 : 0).setOnes();
}
template <class T>
void gat_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const Eigen::VectorXd up =
      RowMatrixView<T>(upstream, b.x.count, 2).col(b.is_query ? 0 : 1).template cast<double>();
  Eigen::Map<RowMatrix<T>>(dx, b.x.count, b.x.columns) =
      (up * gat_direction(b).transpose()).template cast<T>();
  // Eigen chooses the order of the sums by the stride of the tokens; a dense copy has one order.
  const RowMatrix<double> wide = x.template cast<double>();
  const Eigen::VectorXd by_direction = wide.transpose() * up;
  std::vector<double>& da = gradient.tensor[1];
  const auto f = static_cast<Eigen::Index>(da.size() / 2);
  Eigen::Map<Eigen::VectorXd> by_a(da.data() + (b.is_query ? 0 : f), f);
  if (b.tensors[0].empty()) {
    by_a += by_direction;
    return;
  }
  by_a += wide_matrix(b) * by_direction;
  Eigen::Map<RowMatrix<double>>(gradient.tensor[0].data(), f, b.x.columns) +=
      half_of(b) * by_direction.transpose();
}

constexpr std::array additive_parameters{
    ParameterInfo{"W", needed, Domain::tensor, true, "the matrix of W q", "", "a,d"},
    ParameterInfo{"U", needed, Domain::tensor, true, "the matrix of U k", "", "a,d"},
    ParameterInfo{"v_a", needed, Domain::tensor, true, "the weights of tanh(W q + U k)", "", "a"}};

std::int64_t half_columns(std::int64_t size) {
  return round_up<std::int64_t>(size, tanh_sum_multiple);
}
std::int64_t additive_columns(std::int64_t, std::span<const Parameter> own) {
  return 2 * half_columns(own[2].extents.back());
}
template <class T>
void additive(const TokenBlock<T>& b, T* out) {
  const std::span<const T> weights = b.tensors[2];
  const std::int64_t size = std::ssize(weights), half = half_columns(size);
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  Eigen::Map<RowMatrix<T>> to(out, b.x.count, 2 * half);
  to.setZero();
  set_product(to.leftCols(size), x, matrix_of(b, b.is_query ? 0 : 1, b.x.columns).transpose());
  if (b.is_query) return;
  to.middleCols(half, size).rowwise() = RowMatrixView<T>(weights.data(), 1, size).row(0);
}
template <class T>
void additive_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const std::int64_t size = std::ssize(b.tensors[2]);
  const std::int64_t half = half_columns(size);
  const std::size_t side = b.is_query ? 0 : 1;
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const RowMatrixView<T> up(upstream, b.x.count, 2 * half);
  set_product(Eigen::Map<RowMatrix<T>>(dx, b.x.count, b.x.columns), up.leftCols(size),
              matrix_of(b, side, b.x.columns));
  const RowMatrix<T> by_matrix = product_of(up.leftCols(size).transpose(), x);
  Eigen::Map<RowMatrix<double>>(gradient.tensor[side].data(), size, b.x.columns) +=
      by_matrix.template cast<double>();
  if (b.is_query) return;
  Eigen::Map<RowMatrix<double>>(gradient.tensor[2].data(), 1, size) +=
      up.middleCols(half, size).template cast<double>().colwise().sum();
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

template <class T>
void project(const TokenBlock<T>& b, T* out) {
  const RowMatrixView<T> p = matrix_of(b, 0, b.x.columns);  // [d' x d]
  set_product(Eigen::Map<RowMatrix<T>>(out, b.x.count, p.rows()), matrix_of_tokens(b.x),
              p.transpose());
}
template <class T>
void project_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const RowMatrixView<T> p = matrix_of(b, 0, b.x.columns);  // [d' x d]
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const RowMatrixView<T> up(upstream, b.x.count, p.rows());
  set_product(Eigen::Map<RowMatrix<T>>(dx, b.x.count, b.x.columns), up, p);
  const RowMatrix<T> dp = product_of(up.transpose(), x);
  Eigen::Map<RowMatrix<double>>(gradient.tensor[0].data(), p.rows(), b.x.columns) +=
      dp.template cast<double>();
}

enum class Side { query, key, value };

constexpr TokenMapRow projection_row(const char* about, std::span<const ParameterInfo> parameters,
                                     Side side) {
  return {.name = parameters[0].key,
          .about = about,
          .parameters = parameters,
          .maps_query = side == Side::query,
          .maps_key = side == Side::key,
          .maps_value = side == Side::value,
          .columns = &projected_columns,
          .f32 = {&project<float>, &project_back<float>},
          .f64 = {&project<double>, &project_back<double>}};
}
constexpr std::array projections{projection_row("q' = P_query q", query_projection, Side::query),
                                 projection_row("k' = P_key k", key_projection, Side::key),
                                 projection_row("v' = P_value v", value_projection, Side::value)};

constexpr std::array matrix_maps{TokenMapRow{.name = "bilinear",
                                             .about = "q' = W^T q",
                                             .parameters = bilinear_parameters,
                                             .maps_query = true,
                                             .f32 = {&bilinear<float>, &bilinear_back<float>},
                                             .f64 = {&bilinear<double>, &bilinear_back<double>}},
                                 TokenMapRow{.name = "gat",
                                             .about = "q' = (a_1.W q, 1), k' = (1, a_2.W k)",
                                             .parameters = gat_parameters,
                                             .maps_query = true,
                                             .maps_key = true,
                                             .columns = &gat_columns,
                                             .f32 = {&gat<float>, &gat_back<float>},
                                             .f64 = {&gat<double>, &gat_back<double>}},
                                 TokenMapRow{.name = "additive",
                                             .about = "q' = (W q, 0), k' = (U k, v_a)",
                                             .parameters = additive_parameters,
                                             .maps_query = true,
                                             .maps_key = true,
                                             .columns = &additive_columns,
                                             .f32 = {&additive<float>, &additive_back<float>},
                                             .f64 = {&additive<double>, &additive_back<double>}}};

}  // namespace

std::span<const TokenMapRow> token_projections() { return projections; }
std::span<const TokenMapRow> matrix_rows() { return matrix_maps; }

}  // namespace conelab
