#include "core/similarity/table.h"

#include <algorithm>
#include <array>

#include "core/similarity/all.h"

namespace conelab {
namespace {

/// Returns whether every similarity fulfils the contract. An optional member with a misspelt name
/// would otherwise be ignored silently.
template <class... S>
constexpr bool complete(TypeList<S...>) {
  return ((Similarity<S> && HasLight<S> == (S::info.space == Space::ball) &&
           HasFar<S> == HasPartOfFar<S> && HasExponential<S> == HasPartOfExponential<S>)&&...);
}
static_assert(complete(Similarities()), "a similarity lacks a part of its contract, similarity.h");

template <class S>
constexpr double (*light_of())(const double*) {
  if constexpr (HasLight<S>) {
    return &S::light;
  } else {
    return nullptr;
  }
}

template <class S>
constexpr void (*share_of())(const double*, double*) {
  if constexpr (HasShared<S>) {
    return &S::share;
  } else {
    return nullptr;
  }
}

template <class S>
constexpr int shared_of() {
  if constexpr (HasShared<S>) {
    return S::shared;
  } else {
    return 0;
  }
}

template <class S>
double score_of(double x, const double* q, const double* k, const double* c) {
  return S::template score<double>(x, q, k, c);
}

template <class S>
PairSlope slope_of(double x, const double* q, const double* k, const double* c) {
  const auto s = S::template slope<double>(x, q, k, c);
  PairSlope all{s.logit, s.x, s.query, s.key, {}};
  std::copy_n(s.constant, S::constants, all.constant);
  return all;
}

template <class S>
SimilarityRow row() {
  return {.info = S::info,
          .parameters = S::parameters,
          .values = S::values,
          .constants = S::constants,
          .token_slope = S::token_slope,
          .score = &score_of<S>,
          .slope = &slope_of<S>,
          .light = light_of<S>(),
          .constant = &S::constant,
          .constant_gradient = &S::constant_gradient,
          .share = share_of<S>(),
          .shared = shared_of<S>(),
          .token = &S::token,
          .token_gradient = &S::token_gradient};
}

template <class... S>
std::array<SimilarityRow, sizeof...(S)> rows(TypeList<S...>) {
  return {row<S>()...};
}

}  // namespace

std::span<const SimilarityRow> similarity_table() {
  static const auto table = rows(Similarities{});
  return table;
}

std::vector<double> token_parameters(const SimilarityRow& row, std::vector<double> parameters) {
  if (row.share == nullptr) return parameters;
  const std::size_t own = parameters.size();
  parameters.resize(own + static_cast<std::size_t>(row.shared));
  row.share(parameters.data(), parameters.data() + own);
  return parameters;
}

const SimilarityRow* find_similarity(const std::string& name,
                                     const std::vector<std::string>& words) {
  for (const SimilarityRow& r : similarity_table()) {
    const auto serves = [&](const std::string& word) { return r.info.has_word(word); };
    if (name == r.info.name && std::all_of(words.begin(), words.end(), serves)) return &r;
  }
  return nullptr;
}

}  // namespace conelab
