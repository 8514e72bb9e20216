#include "core/embed/pair_model.h"

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
  std::vector<std::string> keys;
  for (const ParameterInfo& info : row_->parameters) keys.emplace_back(info.key);
  for (const auto& [key, value] : given) (void)index_of_name("parameter", key, keys);
  for (const ParameterInfo& info : row_->parameters) {
    values_.push_back(initial_value(info, dim, given));
  }
  values_ = token_parameters(*row_, values_);
  context_.feature = dim;
  context_.light = std::numeric_limits<double>::infinity();
  for (const ParameterInfo& info : map_->parameters) {
    map_values_.push_back(initial_value(info, dim, given));
    if (std::string_view(info.key) == "height") context_.light = map_values_.back();
  }
  if (row_->light != nullptr) context_.light = row_->light(values_.data());
  context_.published_code = row_->info.has_word("reference");
  set_factor(values_.front());
}

std::map<std::string, double> PairModel::parameters() const {
  std::map<std::string, double> named;
  for (std::size_t i = 0; i < row_->parameters.size(); ++i) {
    named[row_->parameters[i].key] = values_[i];
  }
  return named;
}

void PairModel::set_factor(double factor) {
  values_.front() = factor;
  constants_.assign(max_constants, 0);
  row_->constant(values_.data(), constants_.data());
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
                    double& by_factor) const {
  by_factor += rate * slope.constant[0];
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

void PairModel::finish(const PlacedTokens& tokens, TokenSums& sums) const {
  const int m = base_size();
  ModelMapContext context = context_;
  context.p = map_values_.data();
  std::vector<double> ignored(values_.size() + 1);
  for (Node i = 0; i < tokens.count; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const double *x = &tokens.point[at(i, dim_)], *base = &sums.base[at(i, m)];
    PlaceGradient up{0, sums.place[n]};
    for (int c = 0; c < m; ++c) up.along += x[c] * base[c];
    row_->token_gradient(tokens.place[n], values_.data(), sums.potential[n], up.place,
                         ignored.data());
    double by_light = 0;
    const TokenGradient by =
        map_->gradient(context, token_numbers(*map_, context, x), up, &by_light);
    double* out = &sums.point[at(i, dim_)];
    for (int c = 0; c < m; ++c) out[c] = by.by_base * base[c] + by.by_token * x[c];
    if (m < dim_) out[m] = by.last;
  }
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
