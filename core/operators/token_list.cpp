#include "core/operators/token_list.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

namespace conelab {
namespace {

/// Tokens that are read at a time.
constexpr int piece_rows = 64;

template <class T>
using ListRow = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

template <class T>
T product(const T* a, const T* b, std::int64_t d) {
  return ListRow<T>(a, d).matrix().dot(ListRow<T>(b, d).matrix());
}

template <class T>
void weighted_sum(const T* const* row, const T* weight, int count, std::vector<T>& part) {
  const auto d = static_cast<std::int64_t>(part.size());
  Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> sum(part.data(), d);
  const auto term = [&](int k) { return weight[k] * ListRow<T>(row[k], d); };
  sum.setZero();
  int k = 0;
  for (; k + 4 <= count; k += 4) sum += (term(k) + term(k + 1)) + (term(k + 2) + term(k + 3));
  for (; k < count; ++k) sum += term(k);
}

template <class T>
void add_to(std::vector<double>& sum, const std::vector<T>& part, double factor) {
  for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += factor * static_cast<double>(part[c]);
}

/// Calls `take(run, index)` for the rows of all runs in order, and `work(count)` after every
/// `piece_rows` of them and at the end.
template <class Runs, class Take, class Work>
void for_pieces(const Runs& runs, const Take& take, const Work& work) {
  int count = 0;
  for (const auto& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      take(run, i, count);
      if (++count < piece_rows) continue;
      work(count);
      count = 0;
    }
  }
  if (count > 0) work(count);
}

}  // namespace

template <class T>
double row_product(const T* a, const T* b, std::int64_t d) {
  return static_cast<double>(product(a, b, d));
}

template <class T>
ListAttention<T>::ListAttention(std::int64_t d, double scale)
    : scale_(scale), sum_(static_cast<std::size_t>(d)), part_(static_cast<std::size_t>(d)) {
  start();
}

template <class T>
void ListAttention<T>::start() {
  most_ = -std::numeric_limits<double>::infinity();
  total_ = 0;
  std::fill(sum_.begin(), sum_.end(), 0.0);
}

/// Makes the sums relative to a logit that is at least as large as the current one.
template <class T>
void ListAttention<T>::raise(double most) {
  if (!(most > most_)) return;
  const double factor = std::exp(most_ - most);
  total_ *= factor;
  for (double& x : sum_) x *= factor;
  most_ = most;
}

template <class T>
void ListAttention<T>::add(const T* query, std::span<const TokenRun<T>> tokens) {
  const auto d = static_cast<std::int64_t>(sum_.size());
  const T* row[piece_rows];
  T weight[piece_rows];
  const auto take = [&](const TokenRun<T>& run, std::int64_t i, int k) {
    row[k] = run.first + i * d;
    weight[k] = static_cast<T>(scale_) * product(query, row[k], d);
  };
  for_pieces(tokens, take, [&](int count) {
    raise(static_cast<double>(*std::max_element(weight, weight + count)));
    for (int k = 0; k < count; ++k) {
      weight[k] = std::exp(weight[k] - static_cast<T>(most_));
      total_ += static_cast<double>(weight[k]);
    }
    weighted_sum(row, weight, count, part_);
    add_to(sum_, part_, 1);
  });
}

template <class T>
void ListAttention<T>::add(const ListAttention& other) {
  raise(other.most_);
  const double factor = std::exp(other.most_ - most_);
  total_ += factor * other.total_;
  add_to(sum_, other.sum_, factor);
}

template <class T>
double ListAttention<T>::finish(T* output) const {
  const double share = 1 / total_;
  for (std::size_t c = 0; c < sum_.size(); ++c) output[c] = static_cast<T>(sum_[c] * share);
  return most_ + std::log(total_);
}

template <class T>
ListGradient<T>::ListGradient(std::int64_t d, double scale)
    : scale_(scale), sum_(static_cast<std::size_t>(d)), part_(static_cast<std::size_t>(d)) {}

template <class T>
void ListGradient<T>::start() {
  of_scale_ = 0;
  std::fill(sum_.begin(), sum_.end(), 0.0);
}

template <class T>
void ListGradient<T>::through_query(const QueryRun<T>& query, std::span<const TokenRun<T>> tokens) {
  const auto d = static_cast<std::int64_t>(sum_.size());
  const T* row[piece_rows];
  T slope[piece_rows];
  const auto take = [&](const TokenRun<T>& run, std::int64_t i, int k) {
    row[k] = run.first + i * d;
    const T u_c = product(query.first, row[k], d);
    const T logit = static_cast<T>(scale_) * u_c;
    const T weight = std::exp(static_cast<T>(static_cast<double>(logit) - *query.lse));
    slope[k] = weight * (product(query.gradient, row[k], d) - static_cast<T>(*query.at_output));
    of_scale_ += static_cast<double>(slope[k]) * static_cast<double>(u_c);
  };
  for_pieces(tokens, take, [&](int count) {
    weighted_sum(row, slope, count, part_);
    add_to(sum_, part_, scale_);
  });
}

template <class T>
void ListGradient<T>::through_token(const T* token, std::span<const QueryRun<T>> queries) {
  const auto d = static_cast<std::int64_t>(sum_.size());
  const T *query[piece_rows], *gradient[piece_rows];
  T weight[piece_rows], slope[piece_rows];
  const auto take = [&](const QueryRun<T>& run, std::int64_t i, int k) {
    query[k] = run.first + i * d;
    gradient[k] = run.gradient + i * d;
    const T logit = static_cast<T>(scale_) * product(query[k], token, d);
    weight[k] = std::exp(static_cast<T>(static_cast<double>(logit) - run.lse[i]));
    slope[k] = weight[k] * (product(gradient[k], token, d) - static_cast<T>(run.at_output[i]));
  };
  for_pieces(queries, take, [&](int count) {
    weighted_sum(gradient, weight, count, part_);
    add_to(sum_, part_, 1);
    weighted_sum(query, slope, count, part_);
    add_to(sum_, part_, scale_);
  });
}

template <class T>
void ListGradient<T>::add(const ListGradient& other) {
  of_scale_ += other.of_scale_;
  add_to(sum_, other.sum_, 1);
}

#define CONELAB_LISTS(T)           \
  template class ListAttention<T>; \
  template class ListGradient<T>;  \
  template double row_product(const T*, const T*, std::int64_t);
CONELAB_LISTS(float)
CONELAB_LISTS(double)

}  // namespace conelab
