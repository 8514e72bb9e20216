// Attention of one query over a list of tokens that are keys and values at once:
//
//   Att(u; c_1 ... c_m) = sum_j w_j c_j,   w = softmax_j(scale u.c_j)
//
// A token that is listed twice counts twice. The list is given as any number of runs of consecutive
// rows and is never stored as a whole. It is read 64 tokens at a time; sums over these pieces are
// in double, so that a list may be long.
//
// The backward pass, with g = dL/dAtt and r_j = w_j (g.c_j - g.Att) = dL/d(logit_j):
//
//   dL/du     = scale sum_j r_j c_j        for the query, summed over its list
//   dL/dscale = sum_j r_j u.c_j
//   dL/dc     = sum w g + scale r u        for the token, summed over all queries that list it
//
// Weights are recomputed from the saved log-sum-exp. The gradient of a token is gathered from its
// queries, not scattered by them, so that the order of every sum is the same on any thread.
//
// Tokens are rows [d] of type T, float or double. Nothing is checked and nothing is thrown except
// std::bad_alloc. A token that is not finite makes the results of its queries NaN.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace conelab {

/// A run of consecutive tokens.
template <class T>
struct TokenRun {
  const T* first;
  std::int64_t count;
};

/// A run of consecutive queries, with results of the forward pass for each.
template <class T>
struct QueryRun {
  const T* first;           ///< u [count × d]
  const T* gradient;        ///< g [count × d]
  const double* lse;        ///< [count] log sum_j exp(scale u.c_j)
  const double* at_output;  ///< [count] g.Att
  std::int64_t count;

  /// Returns `size` queries from number `at` on.
  [[nodiscard]] QueryRun part(std::int64_t at, std::int64_t size, std::int64_t d) const {
    return {first + at * d, gradient + at * d, lse + at, at_output + at, size};
  }
};

/// The forward pass of one query over its list.
template <class T>
class ListAttention {
 public:
  ListAttention(std::int64_t d, double scale);
  /// Removes all tokens from the list.
  void start();
  /// Adds tokens to the list of the query [d].
  void add(const T* query, std::span<const TokenRun<T>> tokens);
  /// Adds the tokens that `other` has, for the same query.
  void add(const ListAttention& other);
  /// Writes Att to output [d] and returns the log-sum-exp. The list must not be empty.
  double finish(T* output) const;

 private:
  double scale_, most_, total_;  ///< The largest logit, and the sum of exp(logit - most_).
  std::vector<double> sum_;      ///< [d] Sum of exp(logit - most_) c.
  std::vector<T> part_;          ///< [d] The same for one piece of the list.

  void raise(double most);
};

/// The gradient of one row, summed over its uses as a query and as a token.
template <class T>
class ListGradient {
 public:
  ListGradient(std::int64_t d, double scale);
  /// Sets the sums to zero.
  void start();
  /// Adds dL/du and dL/dscale of the first query of a run, for these tokens of its list.
  void through_query(const QueryRun<T>& query, std::span<const TokenRun<T>> tokens);
  /// Adds dL/dc of the token [d], for these queries that list it.
  void through_token(const T* token, std::span<const QueryRun<T>> queries);
  void add(const ListGradient& other);
  void add_scale(double of_scale) { of_scale_ += of_scale; }

  /// Returns the sum [d].
  [[nodiscard]] const std::vector<double>& sum() const { return sum_; }
  [[nodiscard]] double of_scale() const { return of_scale_; }

 private:
  double scale_, of_scale_ = 0;
  std::vector<double> sum_;
  std::vector<T> part_;  ///< [d] The sum over one piece of a list.
};

/// Returns a.b of two rows [d].
template <class T>
[[nodiscard]] double row_product(const T* a, const T* b, std::int64_t d);

}  // namespace conelab
