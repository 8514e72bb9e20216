#include "core/reference/problem.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/error.h"
#include "core/reference/header_formula.h"

namespace conelab::reference {
namespace {

bool is_word(const std::string& key) { return key == "model" || key == "convention"; }

std::vector<Real> read_list(const std::string& key, const std::string& text) {
  std::vector<Real> list;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    std::istringstream number(item);
    double value = 0;
    if (!(number >> value)) misuse("parameter {}: '{}' is not a number", key, item);
    list.push_back(value);
  }
  return list;
}

void fill_defaults(Problem& p) {
  const auto d = static_cast<Real>(p.query.shape.feature);
  const std::int64_t longest = std::max(p.query.shape.token, p.key.shape.token);
  const auto mu = 1 / static_cast<Real>(std::max<std::int64_t>(1, longest));
  p.numbers = {{"scale", {1 / std::sqrt(d)}},
               {"gamma", {1}},
               {"height", {1}},
               {"radius", {0.1}},
               {"source_radius", {0.5}},
               {"object_radius", {0.1}},
               {"K", {0.1}},
               {"beta", {1}},
               {"offset", {0}},
               {"base_height", {1}},
               {"alibi_slope", alibi_slopes(p.query.shape.head)},
               {"hype_mu", {mu}},
               {"hype_tau", {-1}},
               {"window", {1}}};
  p.words = {{"model", "hyperboloid"}, {"convention", "paper"}};
}

/// Every other slope of `list`, from the first.
std::vector<Real> alternate(const std::vector<Real>& list) {
  std::vector<Real> kept;
  for (std::size_t i = 0; i < list.size(); i += 2) kept.push_back(list[i]);
  return kept;
}

std::vector<Real> geometric_slopes(std::int64_t power_of_two) {
  std::vector<Real> slopes;
  for (std::int64_t i = 1; i <= power_of_two; ++i) {
    slopes.push_back(std::exp2(-8 * static_cast<Real>(i) / static_cast<Real>(power_of_two)));
  }
  return slopes;
}

}  // namespace

std::vector<Real> alibi_slopes(std::int64_t heads) {
  std::int64_t below = 1;
  while (2 * below <= heads) below *= 2;
  std::vector<Real> slopes = geometric_slopes(below);
  for (const Real extra : alternate(geometric_slopes(2 * below))) slopes.push_back(extra);
  slopes.resize(static_cast<std::size_t>(heads));
  return slopes;
}

Problem make_problem(const Call& call, const AttentionInput<double>& input) {
  Problem p;
  p.call = call;
  p.query = convert<Real>(input.query);
  p.key = convert<Real>(input.key);
  p.value = convert<Real>(input.value);
  p.output_grad = convert<Real>(input.output_grad);
  p.allowed = input.allowed;
  p.key_lengths = input.key_lengths;
  if (input.output_grad.empty()) {
    p.output_grad = Tensor4<Real>({input.query.shape.batch, input.query.shape.head,
                                   input.query.shape.token, input.value.shape.feature},
                                  1);
  }
  fill_defaults(p);
  for (const auto& [key, text] : call.parameters) {
    if (is_word(key)) {
      p.words[key] = text;
    } else {
      p.numbers[key] = read_list(key, text);
    }
  }
  const SimilarityRow& row = row_of(p);
  if (p.call.map.empty()) p.call.map = row.info.default_map;
  for (const ParameterInfo& info : row.parameters) p.numbers.insert({info.key, {info.initial}});
  return p;
}

}  // namespace conelab::reference
