// Attention of one query over a list of tokens that are keys and values at once:
//
//   Att(u; c_1 ... c_m) = sum_j w_j c_j,   w = softmax_j(scale u.c_j)
//
// A token that is listed twice counts twice. The list is never stored as a whole: it is given as
// runs of consecutive rows, any number of them one after another, and is read 64 tokens at a time.
// Sums over these pieces are kept in double, so that a list may be long.
//
// Backward, with g = dL/dAtt and r_j = w_j (g.c_j - g.Att), the slope of L by logit j:
//
//   dL/du     = scale sum_j r_j c_j        by way of the query, over its list
//   dL/dscale = sum_j r_j u.c_j
//   dL/dc     = sum w g + scale r u        by way of the token, over all queries that list it
//
// Weights are computed again from the saved log-sum-exp. The gradient of a token is collected from
// its queries instead of being scattered by them, so that every number is summed in one order, on
// whatever thread.
//
// Tokens are rows [d] of type T, float or double. Nothing is checked and nothing is thrown but for
// want of memory. A token that is not finite makes the results of its queries NaN.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace conelab {

/// Consecutive tokens [count x d].
template <class T>
struct TokenRun {
  const T* first;
  std::int64_t count;
};

/// Consecutive queries with what is known of their attention.
template <class T>
struct QueryRun {
  const T* first;           ///< u [count x d]
  const T* gradient;        ///< g [count x d]
  const double* lse;        ///< [count] log sum_j exp(scale u.c_j)
  const double* at_output;  ///< [count] g.Att
  std::int64_t count;

  /// `size` of the queries from `at` on.
  [[nodiscard]] QueryRun part(std::int64_t at, std::int64_t size, std::int64_t d) const {
    return {first + at * d, gradient + at * d, lse + at, at_output + at, size};
  }
};

/// Sums over a list, forward.
template <class T>
class ListAttention {
 public:
  ListAttention(std::int64_t d, double scale);
  /// Forgets all tokens.
  void start();
  /// Adds tokens to the list of the query [d].
  void add(const T* query, std::span<const TokenRun<T>> tokens);
  /// Adds the tokens that `other` has seen, for the same query.
  void add(const ListAttention& other);
  /// Writes Att [d] and returns the log-sum-exp. There must be a token.
  double finish(T* output) const;

 private:
  double scale_, most_, total_;  ///< The largest logit; the sum of exp(logit - most).
  std::vector<double> sum_;      ///< [d] sum of exp(logit - most) c
  std::vector<T> part_;          ///< [d] the same of a piece.

  void raise(double most);
};

/// The gradient of one token or query, summed over all that it takes part in.
template <class T>
class ListGradient {
 public:
  ListGradient(std::int64_t d, double scale);
  /// Sets the sums to zero.
  void start();
  /// Adds dL/du and dL/dscale of the first query of a run, of these tokens of its list.
  void through_query(const QueryRun<T>& query, std::span<const TokenRun<T>> tokens);
  /// Adds dL/dc of the token [d], by way of queries that list it.
  void through_token(const T* token, std::span<const QueryRun<T>> queries);
  void add(const ListGradient& other);
  void add_scale(double of_scale) { of_scale_ += of_scale; }

  /// [d]
  [[nodiscard]] const std::vector<double>& sum() const { return sum_; }
  [[nodiscard]] double of_scale() const { return of_scale_; }

 private:
  double scale_, of_scale_ = 0;
  std::vector<double> sum_;
  std::vector<T> part_;  ///< [d] the sum of a piece.
};

/// a.b of two rows [d].
template <class T>
[[nodiscard]] double row_product(const T* a, const T* b, std::int64_t d);

}  // namespace conelab
