#include "core/pair/bias.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/simd/kernels.h"

namespace conelab {
namespace {

constexpr double from_input = std::numeric_limits<double>::quiet_NaN();

double no_bias(const double*, double) { return 0; }
void no_slope(const double*, double, double*) {}
double no_initial(int, int, int, long) { return 0; }
bool always_finite(const double*, double, double) { return true; }

constexpr std::array alibi_parameters{ParameterInfo{
    "alibi_slope", from_input, Domain::any, true,
    "m, one per head; default 2^(-8 (head+1)/p), p the largest power of two <= heads; the "
    "heads from p on 2^(-4 (2 (head-p) + 1)/p)"}};
double alibi(const double* p, double offset) { return -p[0] * std::abs(offset); }
void alibi_gradient(const double*, double offset, double* slope) { slope[0] = -std::abs(offset); }
double alibi_initial(int, int head, int heads, long) { return alibi_slope(head, heads); }

constexpr std::array hype_parameters{
    ParameterInfo{"hype_mu", from_input, Domain::any, true,
                  "mu, curvature of the bias per position; default 1/max(n_q, n_k)"},
    ParameterInfo{"hype_tau", -1.0, Domain::any, true,
                  "tau; -1 prefers the nearer of past tokens, as ALiBi"}};
double hype(const double* p, double offset) { return -p[1] * std::sinh(p[0] * offset); }
void hype_gradient(const double* p, double offset, double* slope) {
  slope[0] = -p[1] * offset * std::cosh(p[0] * offset);
  slope[1] = -std::sinh(p[0] * offset);
}
double hype_initial(int index, int, int, long longest) {
  return index == 0 ? 1.0 / static_cast<double>(std::max(1L, longest)) : -1.0;
}
bool hype_finite(const double* p, double longest, double exponent_limit) {
  const double bend = std::abs(p[0]) * longest;
  const double steepest = std::abs(p[1]) * std::max(1.0, longest) * std::cosh(bend);
  return bend <= exponent_limit && steepest <= std::exp(exponent_limit);
}

constexpr std::array table{
    BiasRow{"none", "0", {}, &no_bias, &no_slope, &no_initial, &always_finite},
    BiasRow{"alibi", "-m |j - i'|, i' = i + n_k - n_q (Press et al.)", alibi_parameters, &alibi,
            &alibi_gradient, &alibi_initial, &always_finite},
    BiasRow{"hype", "-tau sinh(mu (j - i')), i' = i + n_k - n_q (HyPE eq. 5)", hype_parameters,
            &hype, &hype_gradient, &hype_initial, &hype_finite}};
static_assert(std::all_of(table.begin(), table.end(),
                          [](const BiasRow& row) {
                            return row.parameters.size() <= max_bias_slopes;
                          }),
              "raise max_bias_slopes");

}  // namespace

std::span<const BiasRow> bias_table() { return table; }

const BiasRow* find_bias(const std::string& name) {
  for (const BiasRow& row : table) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

double alibi_slope(int head, int heads) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
  if (head < power) return std::exp2(-8.0 * (head + 1) / power);
  return std::exp2(-4.0 * (2 * (head - power) + 1) / power);
}

}  // namespace conelab
