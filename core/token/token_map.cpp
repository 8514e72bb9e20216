// The rows of token maps.
//
//   sinusoidal the token at position p gets an added vector (Vaswani et al., section 3.5)
//              interleaved: columns 2i, 2i + 1 are sin, cos of p base^(-2i/d)
//              halves (Tensor2Tensor): with m = floor(d/2), columns i, m + i are sin, cos of
//              p base^(-i/(m - 1)), i < m
//              Of an odd d the last column is a sine without its cosine, or in halves 0.
//   rope       column pair i of the token at position p is turned by the angle p base^(-2i/d)
//              (RoFormer, section 3.2.2). interleaved: columns 2i, 2i + 1; halves: i, i + d/2
//   hype-columns  appends two columns for each axis of the grid; x is a coordinate, s the scale:
//              query (-t/(2 s) e^(-mu x), t/(2 s) e^(mu x)), key (e^(mu x), e^(-mu x)), t = tau
//              s times their product is HyPE's bias -tau sinh(mu (x_j - x_i)), whatever d and s are
//   bilinear   q' = W^T q, so that q'.k = q^T W k
#include "core/token/token_map.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"

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

/// The numbers of hype-columns: mu, tau, grid, form as the bias's, then the scale.
struct HypeColumns {
  const PartValues& v;

  [[nodiscard]] std::size_t axes() const { return std::max<std::size_t>(1, v.tensor[0].size()); }
  [[nodiscard]] double mu(std::size_t a) const { return number(0, a); }
  [[nodiscard]] double tau(std::size_t a) const { return number(1, a); }
  [[nodiscard]] double scale() const { return v.p[4]; }
  /// The coordinate of the token at position p.
  [[nodiscard]] double coordinate(std::int64_t p, std::size_t a) const {
    if (axes() == 1) return static_cast<double>(p);
    for (std::size_t last = axes() - 1; last > a; --last) p /= side(last);
    return static_cast<double>(p % side(a));
  }
  /// How far coordinates of tokens at [begin, end) lie from 0.
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

std::int64_t appended_columns(const PartValues& values) {
  return 2 * static_cast<std::int64_t>(HypeColumns{values}.axes());
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
  const T* x = b.x;
  for (std::int64_t t = 0; t < b.count; ++t, x += b.columns) {
    out = std::copy_n(x, b.columns, out);
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
  for (std::int64_t t = 0; t < b.count; ++t, dx += b.columns) {
    std::copy_n(upstream, b.columns, dx);
    upstream += b.columns;
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

constexpr std::array token_maps{
    TokenMapRow{"sinusoidal",
                "sines and cosines of the position added (Vaswani et al.; layout = halves: "
                "Tensor2Tensor)",
                sinusoidal_parameters,
                true,
                true,
                true,
                true,
                &nothing,
                nullptr,
                nullptr,
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
                nullptr,
                nullptr,
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
                nullptr,
                nullptr,
                {&bilinear<float>, &bilinear_back<float>},
                {&bilinear<double>, &bilinear_back<double>}},
    TokenMapRow{"hype-columns",
                "two columns for each axis, whose product is the bias hype (HyPE)",
                {},  // Those of the bias, and the similarity's scale.
                false,
                false,
                true,
                true,
                &nothing,
                &appended_columns,
                &check_columns,
                {&hype_columns<float>, &hype_columns_back<float>},
                {&hype_columns<double>, &hype_columns_back<double>}}};

}  // namespace

std::span<const TokenMapRow> token_map_table() { return token_maps; }

const TokenMapRow* find_token_map(const std::string& name) {
  const auto found = std::find_if(token_maps.begin(), token_maps.end(),
                                  [&](const TokenMapRow& row) { return name == row.name; });
  return found == token_maps.end() ? nullptr : &*found;
}

}  // namespace conelab
