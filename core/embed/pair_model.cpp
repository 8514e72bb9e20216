#include "core/embed/pair_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab {
namespace {

std::size_t at(Node node, int size) {
  return static_cast<std::size_t>(node) * static_cast<std::size_t>(size);
}

/// Returns the names of the similarities whose first parameter is a positive factor of the logit,
/// which leaves out those that need tensors.
std::vector<std::string> usable_names() {
  std::vector<std::string> names;
  for (const SimilarityRow& row : similarity_table()) {
    const std::string_view first = row.parameters.empty() ? "" : row.parameters.front().key;
    const bool usable = first == "gamma" || first == "beta" || first == "scale";
    const bool seen = std::find(names.begin(), names.end(), row.info.name) != names.end();
    if (usable && !seen) names.emplace_back(row.info.name);
  }
  return names;
}

/// Returns the index of the parameter that is the height of the light, or -1.
int height_index(const SimilarityRow& row) {
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    if (std::string_view(row.parameters[i].key) == "height") return static_cast<int>(i);
  }
  return -1;
}

double initial_value(const ParameterInfo& info, int dim,
                     const std::map<std::string, double>& given) {
  const auto found = given.find(info.key);
  if (found == given.end()) return std::isnan(info.initial) ? 1 / std::sqrt(dim) : info.initial;
  check_domain(info, found->second);
  return found->second;
}

}  // namespace

PairModel::PairModel(const std::string& similarity, int dim,
                     const std::map<std::string, double>& given)
    : dim_(dim) {
  (void)index_of_name("similarity", similarity, usable_names());
  row_ = find_similarity(similarity);
  map_ = find_model_map(row_->info.default_map, row_->info.space);
  if (map_->base_size(dim) < 1) misuse("similarity {} needs dim of at least 2", similarity);
  const std::vector<std::string> keys = all_keys(row_->parameters);
  for (const auto& [key, value] : given) (void)index_of_name("parameter", key, keys);
  std::vector<double> values;
  for (const ParameterInfo& info : row_->parameters) {
    values.push_back(initial_value(info, dim, given));
    fixed_.push_back(given.contains(info.key));
  }
  context_.feature = dim;
  context_.published_code = row_->info.has_word("reference");
  set_values(values);
}

std::map<std::string, double> PairModel::parameters() const {
  std::map<std::string, double> named;
  for (std::size_t i = 0; i < row_->parameters.size(); ++i) {
    named[row_->parameters[i].key] = values_[i];
  }
  return named;
}

std::vector<double> PairModel::values() const {
  return {values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(row_->parameters.size())};
}

// A map has no parameter but the height of the light, which it shares with its similarity.
void PairModel::set_values(const std::vector<double>& values) {
  values_ = token_parameters(*row_, values);
  constants_.assign(max_constants, 0);
  row_->constant(values_.data(), constants_.data());
  context_.light = std::numeric_limits<double>::infinity();
  if (const int i = height_index(*row_); i >= 0) {
    context_.light = values_[static_cast<std::size_t>(i)];
  }
  if (row_->light != nullptr) context_.light = row_->light(values_.data());
  map_values_.assign(map_->parameters.size(), context_.light);
}

void PairModel::place(PlacedTokens& tokens) const {
  const int m = base_size();
  ModelMapContext context = context_;
  context.p = map_values_.data();
  tokens.base.resize(at(tokens.count, m));
  tokens.value.resize(at(tokens.count, row_->values));
  tokens.place.resize(static_cast<std::size_t>(tokens.count));
  for (Node i = 0; i < tokens.count; ++i) {
    EmbeddedPoint& place = tokens.place[static_cast<std::size_t>(i)];
    (void)place_token(*map_, context, &tokens.point[at(i, dim_)], &tokens.base[at(i, m)], place);
    row_->token(place, values_.data(), tokens.value.data() + at(i, row_->values));
  }
}

double PairModel::measure(const double* a, const double* b) const {
  double sum = 0;
  const bool product = row_->info.measure == Measure::product;
  for (int c = 0, m = base_size(); c < m; ++c) {
    sum += product ? a[c] * b[c] : (a[c] - b[c]) * (a[c] - b[c]);
  }
  return sum;
}

double PairModel::score(const PlacedTokens& q, Node i, const PlacedTokens& k, Node j) const {
  const int m = base_size(), v = row_->values;
  return row_->score(measure(&q.base[at(i, m)], &k.base[at(j, m)]), q.value.data() + at(i, v),
                     k.value.data() + at(j, v), constants_.data());
}

PairSlope PairModel::slope(const PlacedTokens& q, Node i, const PlacedTokens& k, Node j) const {
  const int m = base_size(), v = row_->values;
  return row_->slope(measure(&q.base[at(i, m)], &k.base[at(j, m)]), q.value.data() + at(i, v),
                     k.value.data() + at(j, v), constants_.data());
}

void PairModel::add(const PairSlope& slope, double rate, const PlacedTokens& q, Node i,
                    TokenSums& dq, const PlacedTokens& k, Node j, TokenSums& dk,
                    ParameterSlopes& dp) const {
  for (std::size_t c = 0; c < dp.constant.size(); ++c) dp.constant[c] += rate * slope.constant[c];
  dq.potential[static_cast<std::size_t>(i)] += rate * slope.query;
  dk.potential[static_cast<std::size_t>(j)] += rate * slope.key;
  add_measure(rate * slope.x, q, i, dq, k, j, dk);
}

void PairModel::add_measure(double rate, const PlacedTokens& q, Node i, TokenSums& dq,
                            const PlacedTokens& k, Node j, TokenSums& dk) const {
  const int m = base_size();
  const double *a = &q.base[at(i, m)], *b = &k.base[at(j, m)];
  double *da = &dq.base[at(i, m)], *db = &dk.base[at(j, m)];
  const bool product = row_->info.measure == Measure::product;
  for (int c = 0; c < m; ++c) {
    const double by_a = product ? b[c] : 2 * (a[c] - b[c]);
    const double by_b = product ? a[c] : -by_a;
    da[c] += rate * by_a;
    db[c] += rate * by_b;
  }
}

TokenSums PairModel::sums(const PlacedTokens& tokens) const {
  const auto n = static_cast<std::size_t>(tokens.count);
  return {std::vector<double>(tokens.base.size()), std::vector<double>(n),
          std::vector<EmbeddedPoint>(n), std::vector<double>(tokens.point.size())};
}

ParameterSlopes PairModel::parameter_slopes() const {
  return {std::vector<double>(static_cast<std::size_t>(row_->constants)),
          std::vector<double>(row_->parameters.size() + 1)};
}

void PairModel::finish(const PlacedTokens& tokens, TokenSums& sums, ParameterSlopes& dp) const {
  const int m = base_size();
  ModelMapContext context = context_;
  context.p = map_values_.data();
  double* parameter = dp.parameter.data();
  double light[2] = {};  // A map's own parameter is that of the light.
  for (Node i = 0; i < tokens.count; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const double *x = &tokens.point[at(i, dim_)], *base = &sums.base[at(i, m)];
    PlaceGradient up{0, sums.place[n]};
    for (int c = 0; c < m; ++c) up.along += x[c] * base[c];
    row_->token_gradient(tokens.place[n], values_.data(), sums.potential[n], up.place, parameter);
    const TokenGradient by = map_->gradient(context, token_numbers(*map_, context, x), up, light);
    double* out = &sums.point[at(i, dim_)];
    for (int c = 0; c < m; ++c) out[c] = by.by_base * base[c] + by.by_token * x[c];
    if (m < dim_) out[m] = by.last;
  }
  dp.parameter.back() += light[0];
}

std::vector<double> PairModel::parameter_gradient(ParameterSlopes slopes) const {
  std::vector<double>& dp = slopes.parameter;
  row_->constant_gradient(values_.data(), slopes.constant.data(), dp.data());
  if (const int i = height_index(*row_); i >= 0) dp[static_cast<std::size_t>(i)] += dp.back();
  dp.pop_back();
  return dp;
}

namespace {

constexpr double least_trained = 1e-9, most_trained = 1e9;
/// A smaller gradient is the rounding of one that is 0, as that of an offset under softmax. Adam
/// would turn it into steps.
constexpr double least_gradient = 1e-12;

/// The share of the rate with which parameters move that change the shape of the logit rather than
/// its scale, as a radius does. The places of all tokens must follow them.
constexpr double shape_share = 0.1;

bool by_logarithm(const PairModel& model, std::size_t parameter) {
  const Domain domain = model.row().parameters[parameter].domain;
  return parameter == 0 || domain == Domain::positive || domain == Domain::moderate;
}

}  // namespace

void ParameterDescent::step(PairModel& model, const std::vector<double>& gradient, double rate) {
  std::vector<double> values = model.values(), x, dx;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool moves = !model.is_fixed(i) && std::abs(gradient[i]) > least_gradient;
    const bool log = !model.is_fixed(i) && by_logarithm(model, i);
    x.push_back(log ? std::log(values[i]) : values[i]);
    dx.push_back(!moves ? 0 : log ? values[i] * gradient[i] : gradient[i]);
  }
  const std::vector<double> before = x;
  steps_.step(x, dx, rate);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (model.is_fixed(i)) continue;
    if (i > 0) x[i] = before[i] + shape_share * (x[i] - before[i]);
    values[i] =
        by_logarithm(model, i) ? std::clamp(std::exp(x[i]), least_trained, most_trained) : x[i];
  }
  model.set_values(values);
}

void round_parameters(PairModel& model) {
  std::vector<double> values = model.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!model.is_fixed(i)) values[i] = std::stod(fmt::format("{:.4g}", values[i]));
  }
  model.set_values(values);
}

std::vector<double> PairModel::placed(const PlacedTokens& tokens) const {
  const int m = base_size();
  std::vector<double> out;
  for (Node i = 0; i < tokens.count; ++i) {
    const double height = tokens.place[static_cast<std::size_t>(i)].height;
    const Space space = row_->info.space;
    const double scale = space == Space::ball          ? std::tanh(height / 2)
                         : space == Space::hyperboloid ? std::sinh(height)
                                                       : 1;
    for (int c = 0; c < m; ++c)
      out.push_back(scale * tokens.base[at(i, m) + static_cast<std::size_t>(c)]);
    if (space == Space::half_space) out.push_back(height);
    if (space == Space::hyperboloid) out.push_back(std::cosh(height));
  }
  return out;
}

const char* PairModel::placed_model() const {
  switch (row_->info.space) {
    case Space::half_space:
      return "halfspace";
    case Space::hyperboloid:
      return "hyperboloid";
    case Space::ball:
      return "ball";
    case Space::euclidean:
      break;
  }
  return "euclidean";
}

}  // namespace conelab
