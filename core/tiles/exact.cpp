#include "core/tiles/exact.h"

#include <numeric>

namespace conelab {
namespace {

/// The sum of term(i) over [0, size), in several chains: one would wait for each of its additions.
template <class Term>
double sum_of(int size, const Term& term) {
  constexpr int chains = 8;
  double sums[chains] = {};
  const int whole = size / chains * chains;
  for (int i = 0; i < whole; i += chains) {
    for (int c = 0; c < chains; ++c) sums[c] += term(i + c);
  }
  for (int i = whole; i < size; ++i) sums[0] += term(i);
  return std::accumulate(sums, sums + chains, 0.0);
}

}  // namespace

template <class T>
typename ExactTokens<T>::Row ExactTokens<T>::row(std::int64_t token) {
  const std::size_t stride = room_ + max_values;
  if (held_.empty()) {
    held_.assign(kept, -1);
    x_.resize(room_);
    rows_.resize(kept * stride);
  }
  const auto at = static_cast<std::size_t>(token % kept);
  double* row = rows_.data() + at * stride;
  if (held_[at] != token) {
    given_.copy(token, x_.data());
    head_->exact_token(x_.data(), row, row + room_);
    held_[at] = token;
  }
  return {row, row + room_};
}

template <class T>
typename ExactPairs<T>::Pair ExactPairs<T>::pair(std::int64_t query, std::int64_t key) {
  const bool product = plan_->similarity->info.measure == Measure::product;
  const int size = head_->base_size();
  if (const T* own = queries_.placed(query); own != nullptr) {
    const auto measure = product ? kernels_->exact_product : kernels_->exact_distance2;
    return {measure(own, keys_.placed(key), size), nullptr, nullptr};
  }
  const Row q = queries_.row(query), k = keys_.row(key);
  const double *own = q.base, *other = k.base;
  const double measure =
      product ? sum_of(size, [=](int i) { return own[i] * other[i]; })
              : sum_of(size, [=](int i) { return (own[i] - other[i]) * (own[i] - other[i]); });
  return {measure, q.values, k.values};
}

template <class T>
double ExactPairs<T>::distance2(std::int64_t query, std::int64_t key) {
  return pair(query, key).measure;
}

template <class T>
void ExactPairs<T>::add_difference(std::int64_t query, std::int64_t key, T factor, T* out) {
  const double* q = queries_.row(query).base;
  const double* k = keys_.row(key).base;
  for (int i = 0; i < head_->base_size(); ++i) out[i] += factor * static_cast<T>(q[i] - k[i]);
}

template <class T>
double ExactPairs<T>::logit(std::int64_t query, std::int64_t key) {
  const Pair p = pair(query, key);
  return plan_->similarity->score(p.measure, p.query, p.key, constants_) +
         head_->bias().exact(query, key);
}

template <class T>
PairSlope ExactPairs<T>::slope(std::int64_t query, std::int64_t key) {
  const Pair p = pair(query, key);
  PairSlope s = plan_->similarity->slope(p.measure, p.query, p.key, constants_);
  s.logit += head_->bias().exact(query, key);
  return s;
}

template class ExactPairs<float>;
template class ExactPairs<double>;

}  // namespace conelab
