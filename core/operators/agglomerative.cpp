// Agglomerative attention. Every token is softly assigned to a few classes, and attends to the
// averages of the classes instead of to tokens.
//
//   c = softmax over classes of (x W + b), once for references (r) and once for queries (q)
//   Mean_ik = sum_t c^r_tk (x P)_tk / sum_t c^r_tk,  t over all tokens, or t <= i under mask causal
//   output_i = [c^q_i0 Mean_i0, ..., c^q_i,m-1 Mean_i,m-1] Q
//
// Class k has the columns [k d/m, (k+1) d/m) of x P. Agglomerative Attention, section Methods.
// convention=paper divides by the sum of c, computed with logarithms, so that a class with almost
// no tokens still has an accurate mean. convention=reference divides by max(sum of c, 1e-3), as the
// published code does.
//
// Cost: the forward pass takes 8 n d m + 4 d^2 operations without a mask and 4 n d^2 + 4 n d m with
// mask causal. Memory is O(n m + d m); the causal backward pass needs O(n d) for the averages
// before each block of tokens.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/operators/structured.h"
#include "core/token/eigen_products.h"

namespace conelab {
namespace {

template <class T>
using Row = Eigen::Matrix<T, 1, Eigen::Dynamic>;
/// The number of tokens in a block.
constexpr std::int64_t block_rows = 256;
/// Positions of the parameters in the operator's list.
enum { p_P, p_Q, p_W_reference, p_W_query, p_b_reference, p_b_query, p_classes, p_convention };

template <class T>
struct Weights {
  RowMatrix<T> P, Q, W_reference, W_query;
  Row<T> b_reference, b_query;
  std::int64_t classes, width;  ///< m and d/m
  bool published;               ///< convention=reference

  Weights(const PartValues& v, std::int64_t d)
      : classes(static_cast<std::int64_t>(v.p[p_classes])),
        width(d / classes),
        published(v.p[p_convention] != 0) {
    const auto matrix = [&](int at, std::int64_t columns) {
      return RowMatrixView<double>(v.tensor[static_cast<std::size_t>(at)].data(), d, columns)
          .template cast<T>();
    };
    P = matrix(p_P, d);
    Q = matrix(p_Q, d);
    W_reference = matrix(p_W_reference, classes);
    W_query = matrix(p_W_query, classes);
    const auto offsets = [&](int at) -> Row<T> {
      const std::vector<double>& given = v.tensor[static_cast<std::size_t>(at)];
      if (given.empty()) return Row<T>::Zero(classes);
      return Eigen::Map<const Row<double>>(given.data(), classes).template cast<T>();
    };
    b_reference = offsets(p_b_reference);
    b_query = offsets(p_b_query);
  }
};

/// Returns log softmax over classes of x W + b, row by row.
template <class T>
RowMatrix<T> log_classes(const Eigen::Ref<const RowMatrix<T>>& x, const RowMatrix<T>& W,
                         const Row<T>& b) {
  RowMatrix<T> a = product_of(x, W);
  a.rowwise() += b;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const T most = a.row(i).maxCoeff();
    a.row(i).array() -= most + std::log((a.row(i).array() - most).exp().sum());
  }
  return a;
}

/// Running averages of the classes over tokens: sums of c (x P)_k and sums of c, both times
/// e^-level. Class k has the entries [k width, (k + 1) width) of a row.
struct Averages {
  Row<double> sum;  ///< [columns]
  /// [classes] `level` is the largest log c so far, or 0 if published.
  std::vector<double> total, level;
  bool published;

  Averages(std::int64_t classes, std::int64_t columns, bool is_published)
      : sum(Row<double>::Zero(columns)),
        total(static_cast<std::size_t>(classes), 0.0),
        level(static_cast<std::size_t>(classes),
              is_published ? 0.0 : -std::numeric_limits<double>::infinity()),
        published(is_published) {}

  [[nodiscard]] std::int64_t width() const {
    return sum.size() / static_cast<std::int64_t>(total.size());
  }

  /// Adds a token with log c and the numbers y [width] to class k.
  template <class Y>
  void add(std::size_t k, double log_c, const Y& y) {
    const std::int64_t w = width(), first = static_cast<std::int64_t>(k) * w;
    if (!published && log_c > level[k]) {
      const double scale = std::exp(level[k] - log_c);
      total[k] *= scale;
      sum.segment(first, w) *= scale;
      level[k] = log_c;
    }
    const double c = std::exp(log_c - level[k]);
    total[k] += c;
    sum.segment(first, w) += c * y.template cast<double>();
  }
  [[nodiscard]] double log_divisor(std::size_t k) const {
    return published ? std::log(std::max(total[k], 1e-3)) : level[k] + std::log(total[k]);
  }
  /// Returns whether the divisor depends on the sum of c.
  [[nodiscard]] bool is_active(std::size_t k) const { return !published || total[k] >= 1e-3; }
  [[nodiscard]] Row<double> mean(std::size_t k) const {
    const std::int64_t w = width();
    const double divisor = published ? std::max(total[k], 1e-3) : total[k];
    return sum.segment(static_cast<std::int64_t>(k) * w, w) / divisor;
  }
};

/// One head, computed in T.
template <class T>
class AgglomerativeHead {
 public:
  /// `weights` and x [n x d] must outlive this object.
  AgglomerativeHead(const Weights<T>& weights, const TokenRows<const T>& x, bool causal)
      : w_(weights), x_(matrix_of_tokens(x)), causal_(causal) {}

  void forward(T* output) const {
    Eigen::Map<RowMatrix<T>> out(output, x_.rows(), x_.cols());
    if (causal_) {
      Averages averages(w_.classes, x_.cols(), w_.published);
      for_blocks([&](std::int64_t first, std::int64_t count) {
        const RowMatrix<T> means = causal_block(first, count, averages).means;
        set_product(out.middleRows(first, count), mixed(query_classes(first, count), means), w_.Q);
      });
      return;
    }
    const RowMatrix<T> mixture = class_outputs(full_averages().means);
    for_blocks([&](std::int64_t first, std::int64_t count) {
      set_product(out.middleRows(first, count), query_classes(first, count), mixture);
    });
  }

  void backward(const TokenRows<const T>& output_grad, T* dx, PartValues& gradient) const {
    const TokenMatrix<T> g = matrix_of_tokens(output_grad);
    Eigen::Map<RowMatrix<T>> dx_map(dx, x_.rows(), x_.cols());
    dx_map.setZero();
    causal_ ? backward_causal(g, dx_map, gradient) : backward_full(g, dx_map, gradient);
  }

 private:
  const Weights<T>& w_;
  TokenMatrix<T> x_;
  bool causal_;

  template <class Work>
  void for_blocks(const Work& work) const {
    for (std::int64_t first = 0; first < x_.rows(); first += block_rows) {
      work(first, std::min<std::int64_t>(block_rows, x_.rows() - first));
    }
  }

  [[nodiscard]] RowMatrix<T> query_classes(std::int64_t first, std::int64_t count) const {
    return log_classes<T>(x_.middleRows(first, count), w_.W_query, w_.b_query)
        .array()
        .exp()
        .matrix();
  }
  [[nodiscard]] RowMatrix<T> log_reference(std::int64_t first, std::int64_t count) const {
    return log_classes<T>(x_.middleRows(first, count), w_.W_reference, w_.b_reference);
  }

  /// Returns [c_i0 Mean_i0, ..., c_i,m-1 Mean_i,m-1] of each row, given means [rows x d].
  [[nodiscard]] RowMatrix<T> mixed(const RowMatrix<T>& c, const RowMatrix<T>& means) const {
    RowMatrix<T> u = means;
    for (std::int64_t k = 0; k < w_.classes; ++k) {
      u.middleCols(k * w_.width, w_.width).array().colwise() *= c.col(k).array();
    }
    return u;
  }

  // Without a mask: averages of tokens first, then the projection of these m averages.

  struct FullAverages {
    RowMatrix<double> tokens;  ///< [m x d] Averages of x.
    RowMatrix<T> means;        ///< [m x width] Averages of x P, the columns of each class.
    std::vector<double> log_divisor;
    std::vector<bool> active;
  };
  [[nodiscard]] FullAverages full_averages() const {
    const std::int64_t d = x_.cols(), m = w_.classes;
    Averages averages(m, m * d, w_.published);
    for_blocks([&](std::int64_t first, std::int64_t count) { add_block(first, count, averages); });
    FullAverages full{RowMatrix<double>(m, d), RowMatrix<T>(m, w_.width), {}, {}};
    for (std::int64_t k = 0; k < m; ++k) {
      const auto at = static_cast<std::size_t>(k);
      full.tokens.row(k) = averages.mean(at);
      const RowMatrix<T> mean = full.tokens.row(k).template cast<T>();
      set_product(full.means.row(k), mean, own_columns(k));
      full.log_divisor.push_back(averages.log_divisor(at));
      full.active.push_back(averages.is_active(at));
    }
    return full;
  }
  /// Adds the tokens of a block to averages of whole tokens [m x d], as one matrix product.
  void add_block(std::int64_t first, std::int64_t count, Averages& averages) const {
    const RowMatrix<T> log_c = log_reference(first, count);
    RowMatrix<T> c(count, w_.classes);
    for (std::int64_t k = 0; k < w_.classes; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double most = log_c.col(k).maxCoeff();
      if (!averages.published && most > averages.level[at]) {
        const double scale = std::exp(averages.level[at] - most);
        averages.total[at] *= scale;
        averages.sum.segment(k * x_.cols(), x_.cols()) *= scale;
        averages.level[at] = most;
      }
      c.col(k) = (log_c.col(k).array() - static_cast<T>(averages.level[at])).exp();
      averages.total[at] += c.col(k).template cast<double>().sum();
    }
    const RowMatrix<T> sums = product_of(c.transpose(), x_.middleRows(first, count));
    averages.sum += Eigen::Map<const Row<T>>(sums.data(), sums.size()).template cast<double>();
  }
  [[nodiscard]] auto own_columns(std::int64_t k) const {
    return w_.P.middleCols(k * w_.width, w_.width);
  }
  /// Returns Mean_k times the rows of Q that belong to class k [m x d].
  [[nodiscard]] RowMatrix<T> class_outputs(const RowMatrix<T>& means) const {
    RowMatrix<T> outputs(w_.classes, x_.cols());
    for (std::int64_t k = 0; k < w_.classes; ++k) {
      set_product(outputs.row(k), means.row(k), w_.Q.middleRows(k * w_.width, w_.width));
    }
    return outputs;
  }

  // With mask causal: running averages, one block of tokens at a time.

  struct CausalBlock {
    RowMatrix<T> y, log_c;          ///< [rows x d] x P, and [rows x m].
    RowMatrix<T> means;             ///< [rows x d]
    RowMatrix<double> log_divisor;  ///< [rows x m]
    RowMatrix<double> active;       ///< [rows x m] 1 or 0
  };
  CausalBlock causal_block(std::int64_t first, std::int64_t count, Averages& averages) const {
    const std::int64_t w = w_.width;
    CausalBlock b{product_of(x_.middleRows(first, count), w_.P), log_reference(first, count),
                  RowMatrix<T>(count, x_.cols()), RowMatrix<double>(count, w_.classes),
                  RowMatrix<double>(count, w_.classes)};
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < w_.classes; ++k) {
        const auto at = static_cast<std::size_t>(k);
        averages.add(at, static_cast<double>(b.log_c(i, k)), b.y.row(i).segment(k * w, w));
        b.means.row(i).segment(k * w, w) = averages.mean(at).template cast<T>();
        b.log_divisor(i, k) = averages.log_divisor(at);
        b.active(i, k) = averages.is_active(at) ? 1 : 0;
      }
    }
    return b;
  }

  template <class Part>
  static void add_to(std::vector<double>& sum, const Part& part) {
    const RowMatrix<T> whole = part;
    Eigen::Map<Row<double>>(sum.data(), whole.size()) +=
        Eigen::Map<const Row<T>>(whole.data(), whole.size()).template cast<double>();
  }
  /// Takes dL/d(log c) of a block back through the softmax to W, b and x.
  void through_classes(std::int64_t first, const RowMatrix<T>& c, const RowMatrix<T>& dlog_c, int W,
                       PartValues& gradient, Eigen::Map<RowMatrix<T>>& dx) const {
    const RowMatrix<T> da =
        dlog_c - (c.array().colwise() * dlog_c.rowwise().sum().array()).matrix();
    const auto x = x_.middleRows(first, c.rows());
    add_to(gradient.tensor[static_cast<std::size_t>(W)], product_of(x.transpose(), da));
    std::vector<double>& db =
        gradient.tensor[static_cast<std::size_t>(W == p_W_query ? p_b_query : p_b_reference)];
    if (!db.empty()) add_to(db, da.colwise().sum());
    const RowMatrix<T>& weights = W == p_W_query ? w_.W_query : w_.W_reference;
    add_product(dx.middleRows(first, c.rows()), da, weights.transpose());
  }
  /// Returns dL/d(means) [rows x d] of a block, and adds the gradients by the queries' classes and
  /// Q.
  RowMatrix<T> through_queries(std::int64_t first, const RowMatrix<T>& means,
                               const TokenMatrix<T>& g, Eigen::Map<RowMatrix<T>>& dx,
                               PartValues& gradient) const {
    const std::int64_t count = means.rows(), w = w_.width;
    const RowMatrix<T> c = query_classes(first, count);
    const RowMatrix<T> u = mixed(c, means);
    add_to(gradient.tensor[p_Q], product_of(u.transpose(), g.middleRows(first, count)));
    const RowMatrix<T> du = product_of(g.middleRows(first, count), w_.Q.transpose());
    RowMatrix<T> dlog_c(count, w_.classes);
    for (std::int64_t k = 0; k < w_.classes; ++k) {
      dlog_c.col(k) =
          (du.middleCols(k * w, w).array() * means.middleCols(k * w, w).array()).rowwise().sum() *
          c.col(k).array();
    }
    through_classes(first, c, dlog_c, p_W_query, gradient, dx);
    return mixed(c, du);
  }

  void backward_full(const TokenMatrix<T>& g, Eigen::Map<RowMatrix<T>>& dx,
                     PartValues& gradient) const {
    const FullAverages full = full_averages();
    const std::int64_t d = x_.cols(), w = w_.width, m = w_.classes;
    Row<T> flat(d);
    for (std::int64_t k = 0; k < m; ++k) flat.segment(k * w, w) = full.means.row(k);
    Row<double> dmeans = Row<double>::Zero(d);
    for_blocks([&](std::int64_t first, std::int64_t count) {
      const RowMatrix<T> means = flat.replicate(count, 1);
      dmeans +=
          through_queries(first, means, g, dx, gradient).template cast<double>().colwise().sum();
    });
    Eigen::Map<RowMatrix<double>> dP(gradient.tensor[p_P].data(), d, d);
    RowMatrix<T> by_token(m, d);  // dL/d(average of x) of each class
    Row<T> at_mean(m);
    for (std::int64_t k = 0; k < m; ++k) {
      const Row<double> own = dmeans.segment(k * w, w);
      add_product(dP.middleCols(k * w, w), full.tokens.row(k).transpose(), own);
      const Row<T> narrow = own.template cast<T>();
      set_product(by_token.row(k), narrow, own_columns(k).transpose());
      const bool active = full.active[static_cast<std::size_t>(k)];
      at_mean(k) = active ? static_cast<T>(own.dot(full.means.row(k).template cast<double>())) : 0;
    }
    for_blocks([&](std::int64_t first, std::int64_t count) {
      const RowMatrix<T> log_c = log_reference(first, count);
      RowMatrix<T> p(count, m);
      for (std::int64_t k = 0; k < m; ++k) {
        const auto divisor = static_cast<T>(full.log_divisor[static_cast<std::size_t>(k)]);
        p.col(k) = (log_c.col(k).array() - divisor).exp();
      }
      const auto x = x_.middleRows(first, count);
      RowMatrix<T> dlog_c = product_of(x, by_token.transpose());
      dlog_c.rowwise() -= at_mean;
      dlog_c.array() *= p.array();
      add_product(dx.middleRows(first, count), p, by_token);
      through_classes(first, log_c.array().exp().matrix(), dlog_c, p_W_reference, gradient, dx);
    });
  }

  void backward_causal(const TokenMatrix<T>& g, Eigen::Map<RowMatrix<T>>& dx,
                       PartValues& gradient) const {
    // The averages before each block, from which the means of the block are recomputed.
    std::vector<Averages> before;
    Averages averages(w_.classes, x_.cols(), w_.published);
    for_blocks([&](std::int64_t first, std::int64_t count) {
      before.push_back(averages);
      (void)causal_block(first, count, averages);
    });
    Later later(w_.classes, x_.cols());
    for (auto block = static_cast<std::int64_t>(before.size()) - 1; block >= 0; --block) {
      const std::int64_t first = block * block_rows;
      const std::int64_t count = std::min<std::int64_t>(block_rows, x_.rows() - first);
      const CausalBlock b = causal_block(first, count, before[static_cast<std::size_t>(block)]);
      const RowMatrix<T> dmeans = through_queries(first, b.means, g, dx, gradient);
      RowMatrix<T> dy(count, x_.cols()), dlog_c(count, w_.classes);
      for (std::int64_t i = count - 1; i >= 0; --i) later.step(b, dmeans, i, w_.width, dy, dlog_c);
      const auto x = x_.middleRows(first, count);
      add_to(gradient.tensor[p_P], product_of(x.transpose(), dy));
      add_product(dx.middleRows(first, count), dy, w_.P.transpose());
      through_classes(first, b.log_c.array().exp().matrix(), dlog_c, p_W_reference, gradient, dx);
    }
  }

  /// Sums over the rows from the present one to the last: of dL/d(mean) / divisor, and of its
  /// products with the mean, both multiplied by the present divisor. Divisors do not decrease from
  /// row to row.
  struct Later {
    Row<double> by_mean;          ///< [d]
    std::vector<double> at_mean;  ///< [m]
    /// [m] Logarithm of the divisor by which the sums are multiplied.
    std::vector<double> log_scale;

    Later(std::int64_t classes, std::int64_t d)
        : by_mean(Row<double>::Zero(d)),
          at_mean(static_cast<std::size_t>(classes), 0.0),
          log_scale(static_cast<std::size_t>(classes), 0.0) {}

    void step(const CausalBlock& b, const RowMatrix<T>& dmeans, std::int64_t i, std::int64_t w,
              RowMatrix<T>& dy, RowMatrix<T>& dlog_c) {
      for (std::size_t k = 0; k < at_mean.size(); ++k) {
        const auto column = static_cast<std::int64_t>(k);
        const auto sum = by_mean.segment(column * w, w);
        const Row<double> own = dmeans.row(i).segment(column * w, w).template cast<double>();
        const Row<double> mean = b.means.row(i).segment(column * w, w).template cast<double>();
        const double divisor = b.log_divisor(i, column);
        const double fall = std::exp(divisor - log_scale[k]);
        log_scale[k] = divisor;
        by_mean.segment(column * w, w) = sum * fall + own;
        at_mean[k] = at_mean[k] * fall + b.active(i, column) * own.dot(mean);
        const double p = std::exp(static_cast<double>(b.log_c(i, column)) - divisor);
        dy.row(i).segment(column * w, w) = (p * by_mean.segment(column * w, w)).template cast<T>();
        const Row<double> y = b.y.row(i).segment(column * w, w).template cast<double>();
        dlog_c(i, column) =
            static_cast<T>(p * (by_mean.segment(column * w, w).dot(y) - at_mean[k]));
      }
    }
  };
};

bool is_causal(const Plan& plan) {
  const auto& masks = plan.call.masks;
  return contains(masks, "causal");
}

template <class T>
std::vector<Weights<T>> weights_of_heads(const Plan& plan, const AttentionInput<T>& input) {
  std::vector<Weights<T>> all;
  for (std::int64_t h = 0; h < plan.extents.head; ++h) {
    all.emplace_back(plan.values(plan.operator_parameters, h, input.tensors), plan.extents.feature);
  }
  return all;
}

template <class T>
AgglomerativeHead<T> agglomerative_head(const Plan& plan, const std::vector<Weights<T>>& weights,
                                        const AttentionInput<T>& input, std::int64_t b,
                                        std::int64_t h) {
  return {weights[static_cast<std::size_t>(h)], input.query.tokens(b, h), is_causal(plan)};
}

struct Agglomerative {
  static constexpr double needed = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::array parameters{
      ParameterInfo{"P", needed, Domain::tensor, true, "projection of the tokens", "", "d,d"},
      ParameterInfo{"Q", needed, Domain::tensor, true, "projection of the classes' averages", "",
                    "d,d"},
      ParameterInfo{"W_reference", needed, Domain::tensor, true, "classes of references", "",
                    "d,classes"},
      ParameterInfo{"W_query", needed, Domain::tensor, true, "classes of queries", "", "d,classes"},
      ParameterInfo{"b_reference", 0, Domain::tensor, true, "offsets of W_reference; absent: 0", "",
                    "classes"},
      ParameterInfo{"b_query", 0, Domain::tensor, true, "offsets of W_query; absent: 0", "",
                    "classes"},
      ParameterInfo{"classes", needed, Domain::whole, false, "m, which must divide d", "", "",
                    "the columns of W_reference"},
      convention};
  static constexpr const char* masks[] = {"full", "causal"};
  static constexpr OperatorInfo info{"agglomerative",
                                     "[c^q_ik Mean_ik]_k Q, Mean_ik the average of class k of x P "
                                     "weighted by c^r; c = softmax over "
                                     "classes of (x W + b)",
                                     "Agglomerative Attention, Methods",
                                     "n",
                                     parameters,
                                     masks};

  static void check(const Plan& plan) {
    const auto classes =
        static_cast<std::int64_t>(plan.values(plan.operator_parameters, 0)[p_classes]);
    if (plan.extents.feature % classes != 0) {
      misuse("agglomerative: the number of classes must divide d (found {} classes, d = {})",
             classes, plan.extents.feature);
    }
  }

  static double flops(const Plan& plan, Pass pass) {
    const Extents& e = plan.extents;
    const auto n = static_cast<double>(e.query), d = static_cast<double>(e.feature);
    const double m = plan.values(plan.operator_parameters, 0)[p_classes];
    const double forward =
        is_causal(plan) ? 4 * n * d * d + 4 * n * d * m : 8 * n * d * m + 4 * d * d;
    return static_cast<double>(e.batch * e.head) * forward * (pass == Pass::forward ? 1 : 3);
  }

  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    const std::vector<Weights<T>> weights = weights_of_heads(plan, input);
    const auto head = [&](auto b, auto h, auto& output, const Execution&) {
      agglomerative_head(plan, weights, input, b, h).forward(output.row(b, h, 0));
    };
    return forward_by_head<T>(plan, run, head, false);
  }

  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input, const Forward<T>&,
                              const Execution& run) {
    const std::vector<Weights<T>> weights = weights_of_heads(plan, input);
    const auto head = [&](auto b, auto h, const auto& upstream, auto& result, auto& own,
                          const Execution&) {
      agglomerative_head(plan, weights, input, b, h)
          .backward(upstream.tokens(b, h), result.query.row(b, h, 0), own);
    };
    return backward_by_head<T>(plan, input, run, head, false);
  }
};

}  // namespace

OperatorRow agglomerative_row() { return structured_row<Agglomerative>(); }

}  // namespace conelab
