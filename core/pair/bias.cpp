// The table of biases.
//
//   none   0
//   alibi  -m |j - i'|, one slope m per head                     Press et al.
//   hype   -tau sinh(mu (j - i'))                                HyPE eq. 5
//          With tau = -1, the default, distant past tokens count less, as with ALiBi. On a grid
//          the sum over its axes.
//   t5     t5_bias[bucket(j - i')]                               Raffel et al., section 2.1
//   shaw   scale q_i . shaw_k[c], c = clip(j - i', -k, k) + k    Shaw et al. eqs. 3 and 4
//          Also adds sum_j w_ij shaw_v[c] to the output. core/tiles/head_bias.h computes both.
//   explicit  bias_ij, an array. core/tiles/pair_bias.h reads it.
#include "core/pair/bias.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/names.h"

namespace conelab {
namespace {

constexpr double from_input = std::numeric_limits<double>::quiet_NaN();
using Values = PartValues;

double no_bias(const Values&, double) { return 0; }
void no_slope(const Values&, double, double, Values&) {}

constexpr std::array alibi_parameters{
    ParameterInfo{"alibi_slope", from_input, Domain::any, true, "m, one per head", "", "",
                  "2^(-8 (head+1)/p), p the largest power of two <= heads; the heads from p on "
                  "2^(-4 (2 (head-p) + 1)/p)"}};
double alibi(const Values& v, double offset) { return -v.p[0] * std::abs(offset); }
void alibi_slope(const Values&, double offset, double upstream, Values& gradient) {
  gradient.p[0] -= upstream * std::abs(offset);
}
double alibi_initial(int, const DefaultContext& c) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(c.heads)));
  const auto p = static_cast<double>(power);
  if (c.head < power) return std::exp2(-8.0 * static_cast<double>(c.head + 1) / p);
  return std::exp2(-4.0 * static_cast<double>(2 * (c.head - power) + 1) / p);
}

constexpr std::array hype_parameters{
    ParameterInfo{
        "hype_mu", from_input, Domain::any, true,
        "mu, curvature of the bias per position; one for each axis, those of each head after ';'",
        "", "axes", "1/max(n_q, n_k), on a grid 1 / the axis"},
    ParameterInfo{
        "hype_tau", -1.0, Domain::any, true,
        "tau; -1 prefers the nearer of past tokens, as ALiBi; one for each axis, those of "
        "each head after ';'",
        "", "axes"},
    ParameterInfo{"grid", from_input, Domain::whole, false,
                  "the sides of a grid of n_k tokens, the last axis fastest: 16x16", "", "axes",
                  "n_k"},
    ParameterInfo{"hype_form", 0, Domain::choice, false,
                  "bias: added to the logit; columns: two more columns of q and k for each axis, "
                  "whose product is the bias",
                  "bias|columns"}};
double hype(const Values& v, double offset) { return -v.p[1] * std::sinh(v.p[0] * offset); }
void hype_slope(const Values& v, double offset, double upstream, Values& gradient) {
  if (upstream == 0) return;
  gradient.p[0] -= upstream * v.p[1] * offset * std::cosh(v.p[0] * offset);
  gradient.p[1] -= upstream * std::sinh(v.p[0] * offset);
}
double hype_initial(int index, const DefaultContext& c) {
  const auto keys = static_cast<double>(std::max<std::int64_t>(1, c.key));
  return index == 2 ? keys : 1 / std::max(keys, static_cast<double>(c.query));
}

constexpr std::array t5_parameters{
    ParameterInfo{"t5_bias", from_input, Domain::tensor, true, "the bias of each bucket", "",
                  "buckets"},
    ParameterInfo{"t5_direction", 0, Domain::choice, false,
                  "both: half of the buckets are for keys ahead; causal: those share bucket 0",
                  "both|causal"},
    ParameterInfo{"t5_distance", 128, Domain::whole, false,
                  "distances from this on share the last bucket"}};
/// Returns the bucket of a distance. Half of the buckets of a direction hold one distance each, the
/// others grow geometrically.
std::size_t t5_bucket(const Values& v, double offset) {
  const bool causal = v.p[1] != 0;
  const std::size_t all = v.tensor[0].size();
  const std::size_t own = std::max<std::size_t>(1, causal ? all : all / 2);
  const std::size_t first = !causal && offset > 0 && all > 1 ? own : 0;
  const double distance = causal ? std::max(0.0, -offset) : std::abs(offset);
  const auto exact = static_cast<double>(std::max<std::size_t>(1, own / 2));
  if (distance < exact) return first + std::min(own - 1, static_cast<std::size_t>(distance));
  if (v.p[2] <= exact) return first + own - 1;
  const double growth = std::log(v.p[2] / exact);
  const double steps = std::log(distance / exact) / growth * (static_cast<double>(own) - exact);
  // Distances that begin a bucket must not be rounded into the one before.
  const double bucket = std::min(exact + std::floor(steps + 1e-9), static_cast<double>(own - 1));
  return first + static_cast<std::size_t>(bucket);
}
double t5(const Values& v, double offset) { return v.tensor[0][t5_bucket(v, offset)]; }
void t5_slope(const Values& v, double offset, double upstream, Values& gradient) {
  gradient.tensor[0][t5_bucket(v, offset)] += upstream;
}

constexpr std::array shaw_parameters{
    ParameterInfo{"shaw_k", from_input, Domain::tensor, true,
                  "by clipped relative position, what a query is multiplied by; not needed where "
                  "shaw_v is given",
                  "", "2clip+1,d"},
    ParameterInfo{"shaw_v", 0, Domain::tensor, true,
                  "by clipped relative position, what is added to values", "", "2clip+1,d_v"},
    ParameterInfo{"clip", from_input, Domain::count, false,
                  "k: relative positions further than this share the last row", "", "",
                  "(rows of the tensor - 1)/2"}};
std::size_t shaw_place(const Values& v, double offset) {
  return static_cast<std::size_t>(std::clamp(offset, -v.p[2], v.p[2]) + v.p[2]);
}

constexpr std::array pair_parameters{ParameterInfo{
    "bias", from_input, Domain::tensor, true,
    "the bias of each pair, shared along axes of size 1; -inf hides a pair", "", "..,n_q,n_k"}};

constexpr std::array biases{
    BiasRow{.name = "none", .about = "0", .value = &no_bias, .slope = &no_slope},
    BiasRow{.name = "alibi",
            .about = "-m |j - i'|, i' = i + n_k - n_q",
            .paper = "Press et al., section 3",
            .parameters = alibi_parameters,
            .initial = &alibi_initial,
            .value = &alibi,
            .slope = &alibi_slope},
    BiasRow{.name = "hype",
            .about = "-tau sinh(mu (j - i')), i' = i + n_k - n_q; on a grid the sum over its axes",
            .paper = "HyPE eq. 5",
            .conditions = "hype_form=columns needs a dot product: dot or multiplicative",
            .parameters = hype_parameters,
            .initial = &hype_initial,
            .value = &hype,
            .slope = &hype_slope,
            .columns = {"hype_form", "columns", "hype-columns"}},
    BiasRow{.name = "t5",
            .about = "t5_bias[bucket(j - i')], i' = i + n_k - n_q",
            .paper = "Raffel et al., section 2.1",
            .parameters = t5_parameters,
            .value = &t5,
            .slope = &t5_slope,
            .place = &t5_bucket},
    BiasRow{.name = "shaw",
            .about = "scale q_i . shaw_k[c], and values + shaw_v[c]; c = clip(j - i', -clip, clip) "
                     "+ clip",
            .paper = "Shaw et al. eqs. 3 and 4",
            .conditions =
                "shaw_k needs a similarity of the queries themselves, not multiplicative, "
                "additive or gat; shaw_v needs plain values (value map none, aggregate "
                "mean) and weights over keys, not axis=query",
            .parameters = shaw_parameters,
            .place = &shaw_place,
            .of_queries = true},
    BiasRow{.name = "explicit",
            .about = "bias_ij, a number for each pair of each head",
            .parameters = pair_parameters,
            .of_pairs = true}};

}  // namespace

std::span<const BiasRow> bias_table() { return biases; }

const BiasRow* find_bias(const std::string& name) { return find_named(biases, name); }

}  // namespace conelab
