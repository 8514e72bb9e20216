// Token maps that depend on the position of a token.
//
//   sinusoidal   adds sin and cos of p base^(-2i/d) in turn, or as halves (Vaswani et al.)
//   rope         rotates the column pair i of the token at position p by the angle p base^(-2i/d)
//                (RoFormer, section 3.2.2). interleaved: columns 2i, 2i + 1; halves: i, i + d/2
//   hype-columns appends columns whose product is the bias hype (HyPE)
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/token/token_map.h"

namespace conelab {
namespace {

constexpr std::array rope_parameters{
    ParameterInfo{"position_base", 10000, Domain::positive, false, "base of the angles"},
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
    ParameterInfo{"position_base", 10000, Domain::positive, false, "base of the angles"},
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

/// The columns of hype-columns. For each axis, with x the coordinate less that of the centre of the
/// keys and c = -tau / (2 scale):
///   query   c/s e^(-mu x),  -c/s e^(mu x)
///   key       s e^(mu x),      s e^(-mu x)
/// The products depend neither on the centre nor on s. They are chosen so that the numbers are
/// small: the largest is the square root of the largest product, if s = sqrt |c| for |c| > 1.
///
/// The parameters are those of the bias (mu, tau, grid, form), followed by the scale.
struct HypeColumns {
  const PartValues& v;

  [[nodiscard]] std::size_t axes() const { return std::max<std::size_t>(1, v.tensor[0].size()); }
  [[nodiscard]] double mu(std::size_t a) const { return number(0, a); }
  [[nodiscard]] double scale() const { return v.p[4]; }
  [[nodiscard]] double factor(std::size_t a) const { return -number(1, a) / (2 * scale()); }
  [[nodiscard]] double balance(std::size_t a) const {
    return std::sqrt(std::max(1.0, std::abs(factor(a))));
  }
  /// Returns x of the token at position p of n_k.
  [[nodiscard]] double centred(std::int64_t p, std::int64_t n_k, std::size_t a) const {
    if (axes() == 1) return static_cast<double>(p) - static_cast<double>(n_k - 1) / 2;
    for (std::size_t last = axes() - 1; last > a; --last) p /= side(last);
    return static_cast<double>(p % side(a)) - static_cast<double>(side(a) - 1) / 2;
  }
  /// Returns twice the largest |x| of tokens at positions [begin, end), where begin <= 0 and end is
  /// n_k. For n_q <= n_k it is L - 1.
  [[nodiscard]] double width(std::size_t a, std::int64_t begin, std::int64_t end) const {
    return static_cast<double>(axes() == 1 ? end - 1 - 2 * begin : side(a) - 1);
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
    const double limit = std::log(largest) - 2 * std::log(h.balance(a));
    const double found = std::abs(h.mu(a)) * h.width(a, begin, end);
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
      const double s = h.balance(a), sign = b.is_query ? -1 : 1;
      const double c = b.is_query ? h.factor(a) / s : s;
      const double exponent = sign * h.mu(a) * h.centred(b.position + t, b.all_keys, a);
      *out++ = static_cast<T>(c * std::exp(exponent));
      *out++ = static_cast<T>(sign * c * std::exp(-exponent));
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
      // The columns are c first and sign c second; the derivatives by s of queries and keys cancel.
      const double s = h.balance(a), sign = b.is_query ? -1 : 1;
      const double c = b.is_query ? h.factor(a) / s : s;
      const double x = h.centred(b.position + t, b.all_keys, a);
      const double first = std::exp(sign * h.mu(a) * x), second = std::exp(-sign * h.mu(a) * x);
      const auto up = static_cast<double>(*upstream++), down = static_cast<double>(*upstream++);
      double& mu = several ? gradient.tensor[0][a] : gradient.p[0];
      mu += c * x * (sign * up * first - down * second);
      if (!b.is_query) continue;
      const double by_factor = (up * first - down * second) / s;
      double& tau = several ? gradient.tensor[1][a] : gradient.p[1];
      tau -= by_factor / (2 * h.scale());
      gradient.p[4] -= by_factor * h.factor(a) / h.scale();
    }
  }
}

constexpr std::array positions{
    TokenMapRow{.name = "sinusoidal",
                .about = "x + w, w_2i = sin(p base^(-2i/d)), w_(2i+1) = cos(p base^(-2i/d)), p the "
                         "position; layout = halves: w_i = sin(p base^(-i/(d/2 - 1))), w_(i+d/2) = "
                         "cos(p base^(-i/(d/2 - 1)))",
                .paper = "Vaswani et al., section 3.5; layout = halves: Tensor2Tensor",
                .parameters = sinusoidal_parameters,
                .is_position = true,
                .is_added = true,
                .maps_query = true,
                .maps_key = true,
                .f32 = {&sinusoidal<float>, &sinusoidal_back<float>},
                .f64 = {&sinusoidal<double>, &sinusoidal_back<double>}},
    TokenMapRow{.name = "rope",
                .about = "pair i of columns (a, b) to (a cos t - b sin t, a sin t + b cos t), t = "
                         "p base^(-2i/d), p the position",
                .paper = "RoFormer, section 3.2.2",
                .parameters = rope_parameters,
                .is_position = true,
                .maps_query = true,
                .maps_key = true,
                .refuses = &refuses_odd,
                .f32 = {&rope<float>, &rope_back<float>},
                .f64 = {&rope<double>, &rope_back<double>}},
    TokenMapRow{.name = "hype-columns",
                .about = "two columns for each axis, whose product is the bias hype",
                .paper = "HyPE",
                .maps_query = true,
                .maps_key = true,
                .replaces_bias = true,
                .columns = &with_hype_columns,
                .check = &check_columns,
                .f32 = {&hype_columns<float>, &hype_columns_back<float>},
                .f64 = {&hype_columns<double>, &hype_columns_back<double>}}};

}  // namespace

std::span<const TokenMapRow> position_rows() { return positions; }

}  // namespace conelab
