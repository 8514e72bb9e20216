// Relation network: a query sums its relations to all keys that it sees.
//
//   output_i = W_out sum_j relu(W_query q_i + W_key k_j + b)
//
// Hyperbolic Attention Networks, section 3.2 (alpha = 1, Z = 1); Santoro et al. It reads q and k
// and accepts any mask; v is ignored. relu'(0) = 0.
//
// With u_i = W_query q_i + b and w_j = W_key k_j a relation is positive if w_j > -u_i. For each
// feature the sum is thus c u_i + S, with the number c and the sum S of the w_j above -u_i. If the
// masks give each query a range of keys whose ends do not decrease, keys are added to and removed
// from a tree over the sorted w_j, which takes O(a n log n). Otherwise the pairs that are seen are
// summed, with 3 a operations each. Memory is O((a + d) n). Sums of many relations cancel in W_out,
// so everything is computed in double.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/buffer.h"
#include "core/operators/structured.h"
#include "core/tiles/shared_rows.h"
#include "core/token/eigen_products.h"

namespace conelab {
namespace relation_network {
namespace {

using Matrix = RowMatrix<double>;
using Index = std::int64_t;

/// Positions of the operator's parameters.
enum Place { p_W_query, p_W_key, p_b, p_W_out };

/// The number of features of a task, and of a group of features in sums over pairs.
constexpr Index group = 16;
using Group = Eigen::Array<double, group, 1>;

// ---- sorted -------------------------------------------------------------------------------------

struct Above {
  double count = 0, sum = 0;  ///< How many there are, and the sum of their values.
};

class RankSums {
 public:
  explicit RankSums(std::size_t size) : node_(size + 1) {}
  void add(std::size_t rank, double count, double value) {
    for (std::size_t i = rank + 1; i < node_.size(); i += i & (~i + 1)) {
      node_[i].count += count;
      node_[i].sum += count * value;
    }
  }
  [[nodiscard]] Above below(std::size_t end) const {
    Above total;
    for (std::size_t i = end; i > 0; i -= i & (~i + 1)) {
      total.count += node_[i].count;
      total.sum += node_[i].sum;
    }
    return total;
  }

 private:
  std::vector<Above> node_;
};

using Line = std::vector<double>;

/// Returns, for every threshold t_i, count and sum of values over the numbers x_j > t_i with j in
/// range i. Neither end of a range may be smaller than that of the range before.
std::vector<Above> sums_above(const Line& x, const Line& value, const Line& threshold,
                              const std::vector<KeyRange>& range) {
  std::vector<std::size_t> order(x.size()), rank(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t c) { return x[a] > x[c]; });
  Line falling(x.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    rank[order[r]] = r;
    falling[r] = x[order[r]];
  }
  RankSums sums(x.size());
  std::size_t begin = 0, end = 0;
  std::vector<Above> found;
  found.reserve(threshold.size());
  for (std::size_t i = 0; i < threshold.size(); ++i) {
    for (; end < static_cast<std::size_t>(range[i].end); ++end) sums.add(rank[end], 1, value[end]);
    for (; begin < static_cast<std::size_t>(range[i].begin); ++begin) {
      sums.add(rank[begin], -1, value[begin]);
    }
    const auto first_below = std::partition_point(falling.begin(), falling.end(),
                                                  [&](double each) { return each > threshold[i]; });
    found.push_back(sums.below(static_cast<std::size_t>(first_below - falling.begin())));
  }
  return found;
}

/// Returns the keys that each query sees, for masks without holes. Ends do not decrease: a query
/// that sees no key has the empty range at the end of the one before.
std::vector<KeyRange> ranges_of_queries(const Mask& mask, Index element, Index queries) {
  std::vector<KeyRange> ranges;
  for (Index i = 0; i < queries; ++i) {
    const Index before = ranges.empty() ? 0 : ranges.back().end;
    const KeyRange seen = mask.range(element, i);
    ranges.push_back(seen.begin < seen.end ? seen : KeyRange{before, before});
  }
  return ranges;
}
/// Returns the queries that see each key.
std::vector<KeyRange> ranges_of_keys(const std::vector<KeyRange>& of_queries, Index keys) {
  const auto queries = static_cast<Index>(of_queries.size());
  std::vector<KeyRange> ranges;
  KeyRange at{0, 0};
  for (Index j = 0; j < keys; ++j) {
    const auto range = [&](Index i) { return of_queries[static_cast<std::size_t>(i)]; };
    while (at.begin < queries && range(at.begin).end <= j) ++at.begin;
    while (at.end < queries && range(at.end).begin <= j) ++at.end;
    ranges.push_back(at);
  }
  return ranges;
}

// ---- one head -----------------------------------------------------------------------------------

class Head {
 public:
  Head(const Plan& plan, const PartValues& values, Matrix q, Matrix k, const Mask& mask,
       Index element, const Execution& run)
      : q_(std::move(q)), k_(std::move(k)), mask_(mask), element_(element), run_(run) {
    W_query_ = matrix(plan, values, p_W_query);
    W_key_ = matrix(plan, values, p_W_key);
    W_out_ = matrix(plan, values, p_W_out);
    const Index a = W_query_.rows(), columns = round_up<Index>(a, group);
    u_ = Matrix::Zero(q_.rows(), columns);
    w_ = Matrix::Zero(k_.rows(), columns);
    sum_ = Matrix::Zero(q_.rows(), columns);
    set_product(u_.leftCols(a), q_, W_query_.transpose());
    set_product(w_.leftCols(a), k_, W_key_.transpose());
    const std::vector<double>& b = values.tensor[p_b];
    if (!b.empty()) {
      u_.leftCols(a).rowwise() += Eigen::Map<const Eigen::RowVectorXd>(b.data(), a);
    }
    if (!mask.has_holes()) {
      of_query_ = ranges_of_queries(mask, element, q_.rows());
      of_key_ = ranges_of_keys(of_query_, k_.rows());
    }
  }

  Matrix forward() {
    add_relations();
    return product_of(sum_.leftCols(features()), W_out_.transpose());
  }

  struct Slopes {
    Matrix q, k;
  };
  Slopes backward(const Matrix& upstream, PartValues& gradient) {
    add_relations();
    const Index a = features();
    sum_slope_ = Matrix::Zero(u_.rows(), u_.cols());
    set_product(sum_slope_.leftCols(a), upstream, W_out_);
    u_slope_ = Matrix::Zero(u_.rows(), u_.cols());
    w_slope_ = Matrix::Zero(w_.rows(), w_.cols());
    for_groups(
        [&](Index first, bool sorted) { sorted ? sorted_slopes(first) : pair_slopes(first); });
    const auto add = [&](Place place, const auto& sum) {
      Eigen::Map<Matrix>(gradient.tensor[static_cast<std::size_t>(place)].data(), sum.rows(),
                         sum.cols()) += sum;
    };
    add(p_W_query, product_of(u_slope_.leftCols(a).transpose(), q_));
    add(p_W_key, product_of(w_slope_.leftCols(a).transpose(), k_));
    add(p_W_out, product_of(upstream.transpose(), sum_.leftCols(a)));
    if (!gradient.tensor[p_b].empty()) add(p_b, u_slope_.leftCols(a).colwise().sum());
    return {product_of(u_slope_.leftCols(a), W_query_), product_of(w_slope_.leftCols(a), W_key_)};
  }

 private:
  Matrix q_, k_;  ///< [n_q x d], [n_k x d]
  const Mask& mask_;
  Index element_;  ///< batch * heads + head
  const Execution& run_;
  Matrix W_query_, W_key_, W_out_;  ///< [a x d], [a x d], [d_o x a]
  Matrix u_, w_, sum_;              ///< [n x features, rounded up to groups]
  /// [n x features, rounded up to groups] Of the backward pass.
  Matrix u_slope_, w_slope_, sum_slope_;
  std::vector<KeyRange> of_query_, of_key_;  ///< Empty if the masks have holes.

  [[nodiscard]] Index features() const { return W_query_.rows(); }

  static Matrix matrix(const Plan& plan, const PartValues& values, Place place) {
    const auto at = static_cast<std::size_t>(place);
    const std::vector<std::int64_t>& extents =
        plan.parameters[plan.operator_parameters[at]].extents;
    return Eigen::Map<const Matrix>(values.tensor[at].data(), extents[extents.size() - 2],
                                    extents.back());
  }
  /// Calls work(first feature, whether to sort) for groups of features, on all threads. Features
  /// that are not finite cannot be sorted.
  template <class Work>
  void for_groups(const Work& work) const {
    run_tasks(u_.cols() / group, run_, [&](Index task, const auto&) {
      const Index first = task * group;
      const bool sorted = !mask_.has_holes() && u_.middleCols(first, group).allFinite() &&
                          w_.middleCols(first, group).allFinite();
      work(first, sorted);
    });
  }
  void add_relations() {
    for_groups([&](Index first, bool sorted) {
      sorted ? sorted_relations(first) : pair_relations(first);
    });
  }

  static Line column(const Matrix& all, Index feature, double sign = 1) {
    Line line(static_cast<std::size_t>(all.rows()));
    Eigen::Map<Eigen::VectorXd>(line.data(), all.rows()) = sign * all.col(feature);
    return line;
  }
  void sorted_relations(Index first) {
    for (Index f = first; f < std::min(first + group, features()); ++f) {
      const Line w = column(w_, f);
      const std::vector<Above> found = sums_above(w, w, column(u_, f, -1), of_query_);
      for (Index i = 0; i < q_.rows(); ++i) {
        const Above& above = found[static_cast<std::size_t>(i)];
        sum_(i, f) = above.count * u_(i, f) + above.sum;
      }
    }
  }
  void sorted_slopes(Index first) {
    for (Index f = first; f < std::min(first + group, features()); ++f) {
      const Line u = column(u_, f), w = column(w_, f), slope = column(sum_slope_, f);
      const std::vector<Above> of_query = sums_above(w, w, column(u_, f, -1), of_query_);
      for (Index i = 0; i < q_.rows(); ++i) {
        u_slope_(i, f) = of_query[static_cast<std::size_t>(i)].count * sum_slope_(i, f);
      }
      const std::vector<Above> of_key = sums_above(u, slope, column(w_, f, -1), of_key_);
      for (Index j = 0; j < k_.rows(); ++j) {
        w_slope_(j, f) = of_key[static_cast<std::size_t>(j)].sum;
      }
    }
  }

  /// Calls work(j) for the keys that query i sees, in ascending order.
  template <class Work>
  void for_keys(Index i, std::vector<std::uint8_t>& sees, const Work& work) const {
    if (mask_.is_sparse()) {
      for (const Index j : mask_.keys(element_, i)) work(j);
      return;
    }
    const KeyRange range = mask_.range(element_, i);
    sees.resize(static_cast<std::size_t>(range.end - range.begin));
    mask_.row(element_, i, range.begin, range.end - range.begin, sees.data());
    for (Index j = range.begin; j < range.end; ++j) {
      if (sees[static_cast<std::size_t>(j - range.begin)] != 0) work(j);
    }
  }
  static Eigen::Map<const Group> part(const Matrix& all, Index row, Index first) {
    return Eigen::Map<const Group>(all.data() + row * all.cols() + first);
  }
  void pair_relations(Index first) {
    std::vector<std::uint8_t> sees;
    for (Index i = 0; i < q_.rows(); ++i) {
      const Group u = part(u_, i, first);
      Group sum = Group::Zero();
      for_keys(i, sees, [&](Index j) {
        sum += (u + part(w_, j, first)).max(0);  // max(0) keeps NaN.
      });
      sum_.row(i).segment(first, group) = sum.matrix().transpose();
    }
  }
  void pair_slopes(Index first) {
    std::vector<std::uint8_t> sees;
    Matrix of_keys = Matrix::Zero(k_.rows(), group);
    for (Index i = 0; i < q_.rows(); ++i) {
      const Group u = part(u_, i, first), slope = part(sum_slope_, i, first);
      Group sum = Group::Zero();
      for_keys(i, sees, [&](Index j) {
        const Group one = (u + part(w_, j, first) > 0).cast<double>() * slope;
        sum += one;
        Eigen::Map<Group>(of_keys.data() + j * group) += one;
      });
      u_slope_.row(i).segment(first, group) = sum.matrix().transpose();
    }
    w_slope_.middleCols(first, group) = of_keys;
  }
};

// ---- the row ------------------------------------------------------------------------------------

struct RelationNetwork {
  static constexpr double needed = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::array parameters{
      ParameterInfo{"W_query", needed, Domain::tensor, true, "features of queries", "", "a,d"},
      ParameterInfo{"W_key", needed, Domain::tensor, true, "features of keys", "", "a,d"},
      ParameterInfo{"b", 0, Domain::tensor, true, "offset of the features; absent: 0", "", "a"},
      ParameterInfo{"W_out", needed, Domain::tensor, true, "features of the output", "", "d_o,a"}};
  static constexpr OperatorInfo info{
      .name = "relation-network",
      .about = "W_out sum_j relu(W_query q_i + W_key k_j + b), of q and k",
      .paper = "Gulcehre et al., section 3.2",
      .cost = "n log n",
      .parameters = parameters,
      .masks = every_mask,
      .reads_keys = true,
      .ignores_values = true};

  static void set_sizes(Plan& plan) {
    const auto& extents = plan.parameters[plan.operator_parameters[p_W_out]].extents;
    plan.output.feature = extents[extents.size() - 2];
  }
  /// Counts the products, and two sums at each node of the tree that a token or a threshold visits.
  /// If the masks have holes, counts three operations for each pair.
  static double flops(const Plan& plan, Pass pass) {
    const Extents& e = plan.extents;
    const auto n_q = static_cast<double>(e.query), n_k = static_cast<double>(e.key);
    const auto a =
        static_cast<double>(plan.parameters[plan.operator_parameters[p_W_out]].extents.back());
    const bool sorted = std::ranges::all_of(
        plan.masks, [](const PlannedMask& mask) { return mask.row->whole_range; });
    const double relations =
        sorted ? 2 * a * (n_q + n_k) * std::log2(std::max(2.0, n_k)) : 3 * a * n_q * n_k;
    const double products = 2 * a * (n_q + n_k) * static_cast<double>(e.feature) +
                            2 * a * n_q * static_cast<double>(plan.output.feature);
    return static_cast<double>(e.batch * e.head) * (relations + products) *
           (pass == Pass::forward ? 1 : 3);
  }

  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    const Mask mask = plan.mask(input);
    return forward_by_head<T>(plan, run, [&](auto b, auto h, auto& output, const Execution& inner) {
      set_tokens(output, b, h, head(plan, input, mask, b, h, inner).forward());
    });
  }

  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input, const Forward<T>&,
                              const Execution& run) {
    const Mask mask = plan.mask(input);
    SharedRows<T> keys(input.key.shape, plan.extents.head);
    const auto of_head = [&](auto b, auto h, const auto& upstream, auto& result, auto& own,
                             const Execution& inner) {
      const Head::Slopes slopes =
          head(plan, input, mask, b, h, inner).backward(tokens(upstream, plan, b, h), own);
      set_tokens(result.query, b, h, slopes.q);
      Buffer<T> rows(static_cast<std::size_t>(slopes.k.size()));
      std::copy_n(slopes.k.data(), slopes.k.size(), rows.begin());
      keys.add(b, h, 0, std::move(rows));
    };
    Backward<T> result = backward_by_head<T>(plan, input, run, of_head);
    result.key = keys.take();
    return result;
  }

  template <class T>
  static Matrix tokens(const StridedTensor4<T>& all, const Plan& plan, Index b, Index h) {
    return matrix_of_tokens(all.tokens(b, h, plan.extents.head)).template cast<double>();
  }
  template <class T>
  static void set_tokens(Tensor4<T>& all, Index b, Index h, const Matrix& of_head) {
    Eigen::Map<RowMatrix<T>>(all.row(b, h, 0), of_head.rows(), of_head.cols()) = of_head.cast<T>();
  }
  template <class T>
  static Head head(const Plan& plan, const AttentionInput<T>& input, const Mask& mask, Index b,
                   Index h, const Execution& run) {
    return {plan,
            plan.values(plan.operator_parameters, h, input.tensors),
            tokens(input.query, plan, b, h),
            tokens(input.key, plan, b, h),
            mask,
            b * plan.extents.head + h,
            run};
  }
};

}  // namespace
}  // namespace relation_network

OperatorRow relation_network_row() { return structured_row<relation_network::RelationNetwork>(); }

}  // namespace conelab
