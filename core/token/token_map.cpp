// The table of token maps.
//
//   rope       rotates the column pair i of the token at position p by the angle p base^(-2i/d)
//              (RoFormer, section 3.2.2). interleaved: columns 2i, 2i + 1; halves: i, i + d/2
//   sinusoidal adds sin and cos of p base^(-2i/d) in turn, or as halves (Vaswani et al.)
//   bilinear   q' = W^T q, so that q'.k = q^T W k
//   gat        q' = (a_1.W q, 1) and k' = (1, a_2.W k), so that q'.k' = a_1.W q + a_2.W k
//   additive   q' = (W q, 0) and k' = (U k, v_a), each half padded with zeros: the operands of
//              Measure::tanh_sum (core/similarity/similarity.h)
//   polar      maps a value (v_:, r) to tanh(r) v_:/|v_:| in the Klein ball (Gulcehre et al.). If
//              v_: = 0 the direction is the first axis and its derivative 0. A negative r gives the
//              point opposite to that of |r|
//   lift       maps a value v to v / sqrt(1 + |v|^2) in the Klein ball, which is the point
//              (v, sqrt(1 + |v|^2)) of the hyperboloid
//   P_query, P_key, P_value   x' = P x (Vaswani et al., section 3.2.2)
#include "core/token/token_map.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/base/squared_norm.h"
#include "core/similarity/similarity.h"
#include "core/token/eigen_products.h"

namespace conelab {
namespace {

constexpr double needed = std::numeric_limits<double>::quiet_NaN();

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Rows = Eigen::Map<const Matrix<T>>;

constexpr std::array rope_parameters{
    ParameterInfo{"position_base", 10000, Domain::positive, false,
                  "base of the angles p base^(-2i/d)"},
    ParameterInfo{"layout", 0, Domain::choice, false,
                  "which columns turn together: 2i and 2i + 1, or i and i + d/2",
                  "interleaved|halves"}};

const char* refuses_odd(std::int64_t columns) {
  return columns % 2 == 0 ? nullptr : "rope turns pairs of columns: their number must be even";
}

/// The cosines and sines of position × rate for successive positions. They are computed anew for
/// positions that are multiples of `exact_distance`, and turned by one rate at a time in between,
/// which adds an error below 1e-14 and takes a fraction of the time.
class Angles {
 public:
  Angles(std::vector<double> rates, std::int64_t position)
      : rate_(std::move(rates)), cosine_(rate_.size()), sine_(rate_.size()) {
    for (const double rate : rate_) step_.emplace_back(std::cos(rate), std::sin(rate));
    const std::int64_t beyond = (position % exact_distance + exact_distance) % exact_distance;
    position_ = position - beyond;
    compute();
    for (std::int64_t i = 0; i < beyond; ++i) advance();
  }
  [[nodiscard]] double cosine(std::size_t i) const { return cosine_[i]; }
  [[nodiscard]] double sine(std::size_t i) const { return sine_[i]; }
  /// Goes on to the next position.
  void advance() {
    if (++position_ % exact_distance == 0) return compute();
    for (std::size_t i = 0; i < rate_.size(); ++i) {
      const double c = cosine_[i], s = sine_[i];
      cosine_[i] = c * step_[i].first - s * step_[i].second;
      sine_[i] = s * step_[i].first + c * step_[i].second;
    }
  }

 private:
  static constexpr std::int64_t exact_distance = 32;

  std::vector<double> rate_, cosine_, sine_;
  std::vector<std::pair<double, double>> step_;  ///< Cosine and sine of each rate.
  std::int64_t position_;

  void compute() {
    for (std::size_t i = 0; i < rate_.size(); ++i) {
      const double angle = static_cast<double>(position_) * rate_[i];
      cosine_[i] = std::cos(angle);
      sine_[i] = std::sin(angle);
    }
  }
};

/// Returns base^-(i step) for i = 0 ... count - 1.
std::vector<double> rates(std::int64_t count, double base, double step) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(std::pow(base, -(static_cast<double>(i) * step)));
  }
  return all;
}

/// Rotates every pair of columns by `sign` times its angle.
template <class T>
void turn(const TokenBlock<T>& b, const TokenRows<const T>& tokens, double sign, T* out) {
  const std::int64_t columns = tokens.columns, pairs = columns / 2;
  const bool halves = b.values.p[1] != 0;
  Angles angles(rates(pairs, b.values.p[0], 2 / static_cast<double>(columns)), b.position);
  for (std::int64_t t = 0; t < tokens.count; ++t, out += columns, angles.advance()) {
    const T* x = tokens.row(t);
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto angle = static_cast<std::size_t>(i);
      const double c = angles.cosine(angle), s = sign * angles.sine(angle);
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
  turn(block, {upstream, block.x.count, block.x.columns, block.x.columns}, -1, dx);
}

constexpr std::array sinusoidal_parameters{
    ParameterInfo{"position_base", 10000, Domain::positive, false,
                  "base of the angles p base^(-2i/d), in halves p base^(-i/(d/2 - 1))"},
    ParameterInfo{"layout", 0, Domain::choice, false,
                  "sines and cosines in turn, or sines in the first half and cosines in the second",
                  "interleaved|halves"}};

/// Describes what sinusoidal adds to a column: the sine or cosine of a rate, or 0.
struct SinusoidalColumn {
  std::size_t rate;
  bool is_sine, is_zero;
};
std::vector<SinusoidalColumn> sinusoidal_columns(std::size_t columns, bool halves) {
  const std::size_t half = columns / 2;
  std::vector<SinusoidalColumn> all;
  for (std::size_t c = 0; c < columns; ++c) {
    if (!halves) all.push_back({c / 2, c % 2 == 0, false});
    // The last one of an odd number of columns gets 0.
    if (halves) all.push_back({c < half ? c : c - half, c < half, c == 2 * half});
  }
  return all;
}

template <class T>
void sinusoidal(const TokenBlock<T>& b, T* out) {
  const std::int64_t columns = b.x.columns, half = columns / 2;
  const bool halves = b.values.p[1] != 0;
  const double step =
      halves ? 1 / std::max(1.0, static_cast<double>(half - 1)) : 2 / static_cast<double>(columns);
  const auto added = sinusoidal_columns(static_cast<std::size_t>(columns), halves);
  Angles angles(rates(half + 1, b.values.p[0], step), b.position);
  for (std::int64_t t = 0; t < b.x.count; ++t, angles.advance()) {
    const T* x = b.x.row(t);
    for (const SinusoidalColumn& a : added) {
      const double wave = a.is_sine ? angles.sine(a.rate) : angles.cosine(a.rate);
      *out++ = static_cast<T>(static_cast<double>(*x++) + (a.is_zero ? 0 : wave));
    }
  }
}
template <class T>
void sinusoidal_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  std::copy_n(upstream, b.x.count * b.x.columns, dx);
}

constexpr std::array bilinear_parameters{
    ParameterInfo{"W", needed, Domain::tensor, true, "the matrix of q^T W k", "", "d,d"}};

template <class T>
Matrix<T> matrix_of(const PartValues& values, std::int64_t columns) {
  return Rows<double>(values.tensor[0].data(), columns, columns).template cast<T>();
}
template <class T>
void bilinear(const TokenBlock<T>& b, T* out) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  set_product(Eigen::Map<Matrix<T>>(out, b.x.count, b.x.columns), x,
              matrix_of<T>(b.values, b.x.columns));
}
template <class T>
void bilinear_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const Rows<T> up(upstream, b.x.count, b.x.columns);
  set_product(Eigen::Map<Matrix<T>>(dx, b.x.count, b.x.columns), up,
              matrix_of<T>(b.values, b.x.columns).transpose());
  const Matrix<T> dw = product_of(x.transpose(), up);
  Eigen::Map<Matrix<double>>(gradient.tensor[0].data(), b.x.columns, b.x.columns) +=
      dw.template cast<double>();
}

constexpr std::array gat_parameters{
    ParameterInfo{"W", 0, Domain::tensor, true, "the matrix of W q and W k; absent: the identity",
                  "", "f=d,d"},
    ParameterInfo{"a", needed, Domain::tensor, true, "a_1 of the query, then a_2 of the key", "",
                  "2f"}};
std::int64_t gat_columns(std::int64_t, std::span<const Parameter>) { return 2; }

/// Return the half of a, and the half of dL/da, that belong to the block's side.
template <class A>
auto half_of(A& a, bool is_query) {
  const auto f = static_cast<Eigen::Index>(a.size() / 2);
  return Eigen::Map<std::conditional_t<std::is_const_v<A>, const Eigen::VectorXd, Eigen::VectorXd>>(
      a.data() + (is_query ? 0 : f), f);
}

/// Returns W^T a_1 or W^T a_2 [d].
template <class T>
Eigen::VectorXd gat_direction(const TokenBlock<T>& b) {
  const auto a = half_of(b.values.tensor[1], b.is_query);
  const std::vector<double>& w = b.values.tensor[0];
  if (w.empty()) return a;
  return Rows<double>(w.data(), a.size(), b.x.columns).transpose() * a;
}
template <class T>
void gat(const TokenBlock<T>& b, T* out) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  Eigen::Map<Matrix<T>> to(out, b.x.count, 2);
  to.col(b.is_query ? 0 : 1) = (x.template cast<double>() * gat_direction(b)).template cast<T>();
  to.col(b.is_query ? 1 : 0).setOnes();
}
template <class T>
void gat_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const Eigen::VectorXd up =
      Rows<T>(upstream, b.x.count, 2).col(b.is_query ? 0 : 1).template cast<double>();
  Eigen::Map<Matrix<T>>(dx, b.x.count, b.x.columns) =
      (up * gat_direction(b).transpose()).template cast<T>();
  const Eigen::VectorXd by_direction = x.template cast<double>().transpose() * up;
  auto by_a = half_of(gradient.tensor[1], b.is_query);
  const std::vector<double>& w = b.values.tensor[0];
  if (w.empty()) {
    by_a += by_direction;
    return;
  }
  by_a += Rows<double>(w.data(), by_a.size(), b.x.columns) * by_direction;
  Eigen::Map<Matrix<double>>(gradient.tensor[0].data(), by_a.size(), b.x.columns) +=
      half_of(b.values.tensor[1], b.is_query) * by_direction.transpose();
}

constexpr std::array additive_parameters{
    ParameterInfo{"W", needed, Domain::tensor, true, "the matrix of W q", "", "a,d"},
    ParameterInfo{"U", needed, Domain::tensor, true, "the matrix of U k", "", "a,d"},
    ParameterInfo{"v_a", needed, Domain::tensor, true, "the weights of tanh(W q + U k)", "", "a"}};

/// Returns the number of columns of each half.
std::int64_t half_columns(std::int64_t size) {
  return round_up<std::int64_t>(size, tanh_sum_multiple);
}
std::int64_t additive_columns(std::int64_t, std::span<const Parameter> own) {
  return 2 * half_columns(own[2].extents.back());
}
template <class T>
void additive(const TokenBlock<T>& b, T* out) {
  const std::vector<double>& weights = b.values.tensor[2];
  const auto size = static_cast<std::int64_t>(weights.size()), half = half_columns(size);
  const Rows<double> matrix(b.values.tensor[b.is_query ? 0 : 1].data(), size, b.x.columns);
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  Eigen::Map<Matrix<T>> to(out, b.x.count, 2 * half);
  to.setZero();
  const Matrix<T> narrow = matrix.template cast<T>();
  set_product(to.leftCols(size), x, narrow.transpose());
  if (b.is_query) return;
  const Rows<double> row(weights.data(), 1, size);
  to.middleCols(half, size).rowwise() = row.template cast<T>().row(0);
}
template <class T>
void additive_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const auto size = static_cast<std::int64_t>(b.values.tensor[2].size());
  const std::int64_t half = half_columns(size);
  const std::size_t side = b.is_query ? 0 : 1;
  const Rows<double> matrix(b.values.tensor[side].data(), size, b.x.columns);
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const Rows<T> up(upstream, b.x.count, 2 * half);
  const Matrix<T> narrow = matrix.template cast<T>();
  set_product(Eigen::Map<Matrix<T>>(dx, b.x.count, b.x.columns), up.leftCols(size), narrow);
  const Matrix<T> by_matrix = product_of(up.leftCols(size).transpose(), x);
  Eigen::Map<Matrix<double>>(gradient.tensor[side].data(), size, b.x.columns) +=
      by_matrix.template cast<double>();
  if (b.is_query) return;
  Eigen::Map<Matrix<double>>(gradient.tensor[2].data(), 1, size) +=
      up.middleCols(half, size).template cast<double>().colwise().sum();
}

/// The largest |v| of a point of the Klein ball. Such a point stays inside when its coordinates are
/// rounded to T and their squares are summed in double.
template <class T>
constexpr double klein_border = 1 - std::max<double>(std::numeric_limits<T>::epsilon(),
                                                     16 * std::numeric_limits<double>::epsilon());

const char* refuses_one(std::int64_t columns) {
  return columns >= 2 ? nullptr
                      : "value map polar takes a direction and a radius: values need at "
                        "least two columns";
}
std::int64_t all_but_radius(std::int64_t columns, std::span<const Parameter>) {
  return columns - 1;
}

/// Returns |v_:| and sets u [size] to v_:/|v_:|, or to the first axis if v_: = 0.
template <class T>
double direction_of(const T* x, std::int64_t size, double* u) {
  const double norm = std::sqrt(squared_norm(x, size));
  for (std::int64_t i = 0; i < size; ++i) {
    u[i] = norm == 0 ? (i == 0 ? 1 : 0) : static_cast<double>(x[i]) / norm;
  }
  return norm;
}
template <class T>
double klein_radius(T r) {
  const double most = klein_border<T>;
  return std::clamp(std::tanh(static_cast<double>(r)), -most, most);
}
template <class T>
void polar(const TokenBlock<T>& b, T* out) {
  const std::int64_t size = b.x.columns - 1;
  std::vector<double> u(static_cast<std::size_t>(size));
  for (std::int64_t t = 0; t < b.x.count; ++t, out += size) {
    const T* x = b.x.row(t);
    (void)direction_of(x, size, u.data());
    const double radius = klein_radius(x[size]);
    for (std::int64_t i = 0; i < size; ++i) {
      out[i] = static_cast<T>(radius * u[static_cast<std::size_t>(i)]);
    }
  }
}
template <class T>
void polar_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  const std::int64_t size = b.x.columns - 1;
  std::vector<double> u(static_cast<std::size_t>(size));
  for (std::int64_t t = 0; t < b.x.count; ++t, dx += size + 1, upstream += size) {
    const T* x = b.x.row(t);
    const double norm = direction_of(x, size, u.data());
    double along = 0;
    for (std::int64_t i = 0; i < size; ++i) along += u[static_cast<std::size_t>(i)] * upstream[i];
    const double scale = norm == 0 ? 0 : klein_radius(x[size]) / norm;
    for (std::int64_t i = 0; i < size; ++i) {
      dx[i] = static_cast<T>(scale * (upstream[i] - along * u[static_cast<std::size_t>(i)]));
    }
    const double cosine = std::cosh(static_cast<double>(x[size]));
    dx[size] = static_cast<T>(along / (cosine * cosine));
  }
}

template <class T>
void lift(const TokenBlock<T>& b, T* out) {
  const std::int64_t size = b.x.columns;
  for (std::int64_t t = 0; t < b.x.count; ++t, out += size) {
    const T* x = b.x.row(t);
    const double norm2 = squared_norm(x, size);
    // If sqrt(1 + |v|^2) rounds to |v|, the point is moved inside.
    const double time = std::max(std::sqrt(1 + norm2), std::sqrt(norm2) / klein_border<T>);
    for (std::int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(x[i] / time);
  }
}
template <class T>
void lift_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues&) {
  const std::int64_t size = b.x.columns;
  for (std::int64_t t = 0; t < b.x.count; ++t, dx += size, upstream += size) {
    const T* x = b.x.row(t);
    const double time2 = 1 + squared_norm(x, size), time = std::sqrt(time2);
    double along = 0;
    for (std::int64_t i = 0; i < size; ++i) along += static_cast<double>(x[i]) * upstream[i];
    for (std::int64_t i = 0; i < size; ++i) {
      dx[i] = static_cast<T>((upstream[i] - along / time2 * x[i]) / time);
    }
  }
}

/// The parameters of hype-columns: those of the bias (mu, tau, grid, form), followed by the scale.
struct HypeColumns {
  const PartValues& v;

  [[nodiscard]] std::size_t axes() const { return std::max<std::size_t>(1, v.tensor[0].size()); }
  [[nodiscard]] double mu(std::size_t a) const { return number(0, a); }
  [[nodiscard]] double tau(std::size_t a) const { return number(1, a); }
  [[nodiscard]] double scale() const { return v.p[4]; }
  /// Returns the coordinate of the token at position p.
  [[nodiscard]] double coordinate(std::int64_t p, std::size_t a) const {
    if (axes() == 1) return static_cast<double>(p);
    for (std::size_t last = axes() - 1; last > a; --last) p /= side(last);
    return static_cast<double>(p % side(a));
  }
  /// Returns the largest distance of the coordinates of tokens [begin, end) from 0.
  [[nodiscard]] double reach(std::size_t a, std::int64_t begin, std::int64_t end) const {
    const std::int64_t most = axes() == 1 ? std::max(-begin, end - 1) : side(a) - 1;
    return static_cast<double>(most);
  }

 private:
  [[nodiscard]] double number(std::size_t k, std::size_t a) const {
    return v.tensor[k].empty() ? v.p[k] : v.tensor[k][a];
  }
  [[nodiscard]] std::int64_t side(std::size_t a) const {
    return static_cast<std::int64_t>(v.tensor[2][a]);
  }
};

/// Returns the number of columns after hype-columns, which appends two for each axis of the grid.
/// `own` begins with mu, whose extents are those axes.
std::int64_t with_hype_columns(std::int64_t columns, std::span<const Parameter> own) {
  const std::vector<std::int64_t>& axes = own.front().extents;
  return columns + 2 * (axes.empty() ? 1 : axes.back());
}

void check_columns(const PartValues& values, std::int64_t begin, std::int64_t end, double largest) {
  const HypeColumns h{values};
  if (h.scale() == 0) misuse("hype_form=columns needs another scale than 0: use hype_form=bias");
  for (std::size_t a = 0; a < h.axes(); ++a) {
    const double factor = std::log(std::abs(h.tau(a)) / (2 * std::abs(h.scale())));
    const double limit = std::log(largest) - std::max(0.0, factor);
    const double found = std::abs(h.mu(a)) * h.reach(a, begin, end);
    if (found <= limit) continue;
    misuse(
        "hype_form=columns overflows: hype_mu (L - 1) must not exceed {:.4g}, the logarithm of the "
        "largest number less that of |hype_tau| / (2 scale) (found {:.4g}; use hype_form=bias)",
        limit, found);
  }
}

template <class T>
void hype_columns(const TokenBlock<T>& b, T* out) {
  const HypeColumns h{b.values};
  for (std::int64_t t = 0; t < b.x.count; ++t) {
    out = std::copy_n(b.x.row(t), b.x.columns, out);
    for (std::size_t a = 0; a < h.axes(); ++a) {
      const double exponent = h.mu(a) * h.coordinate(b.position + t, a);
      const double c = b.is_query ? -h.tau(a) / (2 * h.scale()) : 1;
      *out++ = static_cast<T>(c * std::exp(b.is_query ? -exponent : exponent));
      *out++ = static_cast<T>(b.is_query ? -c * std::exp(exponent) : std::exp(-exponent));
    }
  }
}
template <class T>
void hype_columns_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const HypeColumns h{b.values};
  const bool several = h.axes() > 1;
  for (std::int64_t t = 0; t < b.x.count; ++t, dx += b.x.columns) {
    std::copy_n(upstream, b.x.columns, dx);
    upstream += b.x.columns;
    for (std::size_t a = 0; a < h.axes(); ++a) {
      const double x = h.coordinate(b.position + t, a), sign = b.is_query ? -1 : 1;
      const double c = b.is_query ? -h.tau(a) / (2 * h.scale()) : 1;
      // The columns are c first and sign c second.
      const double first = std::exp(sign * h.mu(a) * x), second = std::exp(-sign * h.mu(a) * x);
      const auto up = static_cast<double>(*upstream++), down = static_cast<double>(*upstream++);
      double& mu = several ? gradient.tensor[0][a] : gradient.p[0];
      mu += c * x * (sign * up * first - down * second);
      if (!b.is_query) continue;
      const double by_factor = up * first - down * second;
      double& tau = several ? gradient.tensor[1][a] : gradient.p[1];
      tau -= by_factor / (2 * h.scale());
      gradient.p[4] += by_factor * h.tau(a) / (2 * h.scale() * h.scale());
    }
  }
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
  const auto rows = static_cast<std::int64_t>(p.size()) / b.x.columns;
  return Rows<double>(p.data(), rows, b.x.columns).template cast<T>();
}
template <class T>
void project(const TokenBlock<T>& b, T* out) {
  const Matrix<T> p = projection_of(b);
  set_product(Eigen::Map<Matrix<T>>(out, b.x.count, p.rows()), matrix_of_tokens(b.x),
              p.transpose());
}
template <class T>
void project_back(const TokenBlock<T>& b, const T* upstream, T* dx, PartValues& gradient) {
  const Matrix<T> p = projection_of(b);
  const TokenMatrix<T> x = matrix_of_tokens(b.x);
  const Rows<T> up(upstream, b.x.count, p.rows());
  set_product(Eigen::Map<Matrix<T>>(dx, b.x.count, b.x.columns), up, p);
  const Matrix<T> dp = product_of(up.transpose(), x);
  Eigen::Map<Matrix<double>>(gradient.tensor[0].data(), p.rows(), b.x.columns) +=
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

constexpr std::array token_maps{
    TokenMapRow{.name = "sinusoidal",
                .about =
                    "sines and cosines of the position added (Vaswani et al.; layout = halves: "
                    "Tensor2Tensor)",
                .parameters = sinusoidal_parameters,
                .is_position = true,
                .is_added = true,
                .maps_query = true,
                .maps_key = true,
                .f32 = {&sinusoidal<float>, &sinusoidal_back<float>},
                .f64 = {&sinusoidal<double>, &sinusoidal_back<double>}},
    TokenMapRow{.name = "rope",
                .about = "column pairs turned by p base^(-2i/d) (RoFormer)",
                .parameters = rope_parameters,
                .is_position = true,
                .maps_query = true,
                .maps_key = true,
                .refuses = &refuses_odd,
                .f32 = {&rope<float>, &rope_back<float>},
                .f64 = {&rope<double>, &rope_back<double>}},
    TokenMapRow{.name = "bilinear",
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
                .makes_operands = true,
                .columns = &gat_columns,
                .f32 = {&gat<float>, &gat_back<float>},
                .f64 = {&gat<double>, &gat_back<double>}},
    TokenMapRow{.name = "additive",
                .about = "q' = (W q, 0), k' = (U k, v_a)",
                .parameters = additive_parameters,
                .maps_query = true,
                .maps_key = true,
                .makes_operands = true,
                .columns = &additive_columns,
                .f32 = {&additive<float>, &additive_back<float>},
                .f64 = {&additive<double>, &additive_back<double>}},
    TokenMapRow{.name = "hype-columns",
                .about = "two columns for each axis, whose product is the bias hype (HyPE)",
                .maps_query = true,
                .maps_key = true,
                .replaces_bias = true,
                .columns = &with_hype_columns,
                .check = &check_columns,
                .f32 = {&hype_columns<float>, &hype_columns_back<float>},
                .f64 = {&hype_columns<double>, &hype_columns_back<double>}},
    TokenMapRow{.name = "polar",
                .about = "(v_:, r) to tanh(r) v_:/|v_:|, Klein coordinates, the first axis where "
                         "v_: = 0 (Gulcehre et al.)",
                .maps_value = true,
                .refuses = &refuses_one,
                .columns = &all_but_radius,
                .f32 = {&polar<float>, &polar_back<float>},
                .f64 = {&polar<double>, &polar_back<double>}},
    TokenMapRow{.name = "lift",
                .about = "v / sqrt(1 + |v|^2), Klein coordinates",
                .maps_value = true,
                .f32 = {&lift<float>, &lift_back<float>},
                .f64 = {&lift<double>, &lift_back<double>}}};

}  // namespace

std::span<const TokenMapRow> token_map_table() { return token_maps; }
std::span<const TokenMapRow> token_projections() { return projections; }

const TokenMapRow* find_token_map(const std::string& name) {
  const auto found = std::find_if(token_maps.begin(), token_maps.end(),
                                  [&](const TokenMapRow& row) { return name == row.name; });
  return found == token_maps.end() ? nullptr : &*found;
}

}  // namespace conelab
