// Bidirectional block self-attention. Every token attends to the earlier tokens of its block, with
// weights for each feature. Each block is averaged into one vector, and these vectors attend to
// each other.
//
//   h_i = mSA over x within the block of i     (W_query, W_key, b)
//   v_l = sum_i softmax_i(W2_source elu(W1_source h_i + b1_source)) h_i      over block l
//   o   = mSA over v_0 ... v_{m-1}     (W_query_block, W_key_block, b_block)
//   e   = g o + (1 - g) v,   g = sigmoid(W_gate_context o + W_gate_source v + b_gate)
//   u_i = g elu(W_fusion c_i + b_fusion) + (1 - g) x_i,
//         g = sigmoid(W_fusion_gate c_i + b_fusion_gate), c_i = [x_i; h_i; e of the block of i]
//
// mSA, masked self-attention, is that of core/simd/bounded_softmax.h with q = W_query x and k =
// W_key x + b. A token without an earlier one gets 0. direction=backward uses later instead of
// earlier tokens. direction=both computes both, each with its own tensors, and concatenates
// [u_forward, u_backward]. Bi-BloSAN, ICLR 2018, section 3.
//
// Cost for each direction: products with 20 n d^2 operations in the forward pass, and n r / 2 + (n
// / r)^2 / 2 pairs with d tanh and d exp each, which is O(n^(4/3) d) for the default r =
// ceil(cbrt(2 n)). Memory is O(n d).
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/names.h"
#include "core/operators/self_attention.h"
#include "core/operators/structured.h"
#include "core/token/eigen_products.h"

namespace conelab {
namespace bi_blosa {
namespace {

using Index = std::int64_t;

constexpr Index chunk_rows = 256;

/// Positions of the operator's parameters.
enum Place {
  W_query,
  W_key,
  b,
  W1_source,
  b1_source,
  W2_source,
  W_query_block,
  W_key_block,
  b_block,
  W_gate_context,
  W_gate_source,
  b_gate,
  W_fusion,
  b_fusion,
  W_fusion_gate,
  b_fusion_gate,
  direction,
  block
};
constexpr int tensors = direction;

struct Size {
  Index rows, columns;
};
Size size_of(int place, Index d) {
  constexpr Place offsets[] = {b, b1_source, b_block, b_gate, b_fusion, b_fusion_gate};
  const bool offset = contains(offsets, place);
  const bool wide = place == W_fusion || place == W_fusion_gate;
  return {offset ? 1 : d, wide ? 3 * d : d};
}

/// Returns the tensors of one direction, indexed by Place; absent ones are 0. `side` is 1 for the
/// second of two directions.
template <class T>
std::vector<RowMatrix<T>> tensors_of(const PartValues& values, Index d, int side) {
  std::vector<RowMatrix<T>> all;
  for (int place = 0; place < tensors; ++place) {
    const auto [rows, columns] = size_of(place, d);
    const std::vector<double>& given = values.tensor[static_cast<std::size_t>(place)];
    all.emplace_back(RowMatrix<T>::Zero(rows, columns));
    if (given.empty()) continue;
    all.back() = RowMatrixView<double>(given.data() + side * rows * columns, rows, columns)
                     .template cast<T>();
  }
  return all;
}

template <class T>
auto sigmoid(const RowMatrix<T>& a) {
  return (1 / (1 + (-a.array()).exp())).matrix();
}
/// Returns elu(a) = max(a, 0) + e^min(a, 0) - 1, without branches. Like std::max, max and min
/// return a NaN that is their first argument.
template <class T>
auto elu(const RowMatrix<T>& a) {
  return (a.array().max(T(0)) + (a.array().min(T(0)).exp() - 1)).matrix();
}
/// Returns the derivative of elu, given its value.
template <class T>
auto elu_slope(const RowMatrix<T>& value) {
  return value.array().min(T(0)) + 1;
}

template <class T>
class Direction {
 public:
  Direction(std::vector<RowMatrix<T>> weights, const TokenMatrix<T>& x, Index block_rows,
            bool later, const Execution& run)
      : w_(std::move(weights)),
        x_(x),
        r_(std::clamp<Index>(block_rows, 1, std::max<Index>(1, x.rows()))),
        blocks_((x.rows() + r_ - 1) / r_),
        later_(later),
        run_(run),
        kernels_(bounded_kernels<T>(run.simd)),
        local_(x.rows(), x.cols()),
        global_(blocks_, x.cols()) {}

  void forward(T* out, Index stride) {
    summarise();
    connect();
    for_chunks([&](Index first, Index count) {
      const Fusion f = fusion(first, count);
      const auto x = x_.middleRows(first, count).array();
      rows_of(out, stride, first, count).array() = f.gate.array() * (f.value.array() - x) + x;
    });
  }

  /// Adds to dL/dx and to the gradients of the tensors of `side`, given dL/du.
  void backward(const T* upstream, Index stride, T* dx, int side, PartValues& gradient) {
    summarise();
    connect();
    local_.prepare_slopes();
    global_.prepare_slopes();
    for (auto* each : {&fusion_slope_, &gate_slope_, &source_slope_, &hidden_slope_, &hidden_}) {
      *each = RowMatrix<T>::Zero(x_.rows(), x_.cols());
    }
    through_fusion(upstream, stride, dx);
    through_blocks();
    through_tokens(dx);
    add_gradients(side, gradient);
  }

 private:
  std::vector<RowMatrix<T>> w_;
  TokenMatrix<T> x_;  ///< [n x d]
  Index r_, blocks_;
  bool later_;
  const Execution& run_;
  BoundedKernels<T> kernels_;
  /// The attention of tokens (its `average` is h) and of blocks (its `average` is o).
  SelfAttention<T> local_, global_;
  RowMatrix<T> gate_, e_;  ///< [m x d]
  /// [m x d] The terms of e in the arguments of elu and sigmoid.
  RowMatrix<T> fusion_of_block_, gate_of_block_;
  // The backward pass stores the derivatives by the arguments of elu, sigmoid and softmax here.
  RowMatrix<T> fusion_slope_, gate_slope_;             ///< [n x d]
  RowMatrix<T> source_slope_, hidden_slope_, hidden_;  ///< [n x d]
  RowMatrix<T> fusion_slope_of_block_, gate_slope_of_block_, block_gate_slope_,
      v_slope_;  ///< [m x d]

  [[nodiscard]] const RowMatrix<T>& w(Place place) const {
    return w_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] auto part(Place place, Index which) const {
    return w(place).middleCols(which * x_.cols(), x_.cols());
  }
  template <class U>
  auto rows_of(U* data, Index stride, Index first, Index count) const {
    using Whole = std::conditional_t<std::is_const_v<U>, const RowMatrix<T>, RowMatrix<T>>;
    return Eigen::Map<Whole, 0, Eigen::OuterStride<>>(data + first * stride, count, x_.cols(),
                                                      Eigen::OuterStride<>(stride));
  }
  [[nodiscard]] auto h(Index first, Index count) const {
    return local_.average.block(first, 0, count, x_.cols());
  }
  [[nodiscard]] auto v() const { return global_.value.leftCols(x_.cols()); }
  [[nodiscard]] auto o() const { return global_.average.leftCols(x_.cols()); }
  [[nodiscard]] Index rows_in_block(Index l) const { return std::min(r_, x_.rows() - l * r_); }

  template <class Work>
  void for_chunks(const Work& work) const {
    const Index rows = std::max<Index>(1, chunk_rows / r_) * r_;
    run_tasks((x_.rows() + rows - 1) / rows, run_, [&](Index chunk, const auto&) {
      work(chunk * rows, std::min(rows, x_.rows() - chunk * rows));
    });
  }
  template <class Work>
  void for_blocks(Index first, Index count, const Work& work) const {
    for (Index at = first; at < first + count; at += r_) work(at / r_, at, rows_in_block(at / r_));
  }
  /// Calls work(column, columns) for the columns of the attention of blocks, on all threads.
  template <class Work>
  void for_columns(const Work& work) const {
    run_tasks(global_.value.cols() / bounded_columns, run_,
              [&](Index at, const auto&) { work(at * bounded_columns, bounded_columns); });
  }
  [[nodiscard]] RowMatrix<T> spread(const RowMatrix<T>& of_block, Index first, Index count) const {
    RowMatrix<T> all(count, x_.cols());
    for_blocks(first, count, [&](Index l, Index at, Index rows) {
      all.middleRows(at - first, rows).rowwise() = of_block.row(l).head(x_.cols());
    });
    return all;
  }

  struct Source {
    RowMatrix<T> hidden, weight;  ///< [rows x d] elu(W1 h + b1); the softmax over a block's tokens.
  };
  [[nodiscard]] Source source(Index first, Index count) const {
    RowMatrix<T> a = w(b1_source).replicate(count, 1);
    add_product(a, h(first, count), w(W1_source).transpose());
    Source s{elu(a), {}};
    s.weight = product_of(s.hidden, w(W2_source).transpose());
    for_blocks(first, count, [&](Index, Index at, Index rows) {
      auto own = s.weight.middleRows(at - first, rows);
      own.rowwise() -= own.colwise().maxCoeff().eval();
      own = own.array().exp().matrix();
      own.array().rowwise() /= own.colwise().sum().array().eval();
    });
    return s;
  }
  void summarise() {
    for_chunks([&](Index first, Index count) {
      local_.set(first, x_.middleRows(first, count), w(W_query), w(W_key), w(b));
      for_blocks(first, count, [&](Index, Index at, Index rows) {
        kernels_.average(local_.block(at, rows, 0, local_.value.cols(), later_));
      });
      const RowMatrix<T> weighed = source(first, count).weight.cwiseProduct(h(first, count));
      for_blocks(first, count, [&](Index l, Index at, Index rows) {
        global_.value.row(l).head(x_.cols()) = weighed.middleRows(at - first, rows).colwise().sum();
      });
    });
  }
  void connect() {
    const RowMatrix<T> own = v();
    global_.set(0, own, w(W_query_block), w(W_key_block), w(b_block));
    for_columns([&](Index column, Index columns) {
      kernels_.average(global_.block(0, blocks_, column, columns, later_));
    });
    RowMatrix<T> a = w(b_gate).replicate(blocks_, 1);
    add_product(a, o(), w(W_gate_context).transpose());
    add_product(a, v(), w(W_gate_source).transpose());
    gate_ = sigmoid(a);
    e_ = gate_.cwiseProduct(o() - v()) + v();
    fusion_of_block_ = w(b_fusion).replicate(blocks_, 1);
    add_product(fusion_of_block_, e_, part(W_fusion, 2).transpose());
    gate_of_block_ = w(b_fusion_gate).replicate(blocks_, 1);
    add_product(gate_of_block_, e_, part(W_fusion_gate, 2).transpose());
  }
  struct Fusion {
    RowMatrix<T> value, gate;  ///< elu(W_fusion c + b_fusion) and g [rows x d]
  };
  [[nodiscard]] Fusion fusion(Index first, Index count) const {
    const auto before = [&](Place place, const RowMatrix<T>& of_block) {
      RowMatrix<T> a = spread(of_block, first, count);
      add_product(a, x_.middleRows(first, count), part(place, 0).transpose());
      add_product(a, h(first, count), part(place, 1).transpose());
      return a;
    };
    return {elu(before(W_fusion, fusion_of_block_)),
            sigmoid(before(W_fusion_gate, gate_of_block_))};
  }

  /// Given dL/du: adds to dL/dx, sets dL/dh (in local_.average_slope), and sums over blocks.
  void through_fusion(const T* upstream, Index stride, T* dx) {
    const Index d = x_.cols();
    fusion_slope_of_block_ = gate_slope_of_block_ = RowMatrix<T>::Zero(blocks_, d);
    for_chunks([&](Index first, Index count) {
      const Fusion f = fusion(first, count);
      const auto g = rows_of(upstream, stride, first, count);
      auto df = fusion_slope_.middleRows(first, count), dg = gate_slope_.middleRows(first, count);
      df = (g.array() * f.gate.array() * elu_slope(f.value)).matrix();
      dg = (g.array() * (f.value - x_.middleRows(first, count)).array() * f.gate.array() *
            (1 - f.gate.array()))
               .matrix();
      auto to_x = rows_of(dx, d, first, count);
      to_x += (g.array() * (1 - f.gate.array())).matrix();
      add_product(to_x, df, part(W_fusion, 0));
      add_product(to_x, dg, part(W_fusion_gate, 0));
      auto to_h = local_.average_slope.block(first, 0, count, d);
      add_product(to_h, df, part(W_fusion, 1));
      add_product(to_h, dg, part(W_fusion_gate, 1));
      for_blocks(first, count, [&](Index l, Index at, Index rows) {
        fusion_slope_of_block_.row(l) = df.middleRows(at - first, rows).colwise().sum();
        gate_slope_of_block_.row(l) = dg.middleRows(at - first, rows).colwise().sum();
      });
    });
  }
  /// Computes dL/dv from those sums.
  void through_blocks() {
    RowMatrix<T> de = product_of(fusion_slope_of_block_, part(W_fusion, 2));
    add_product(de, gate_slope_of_block_, part(W_fusion_gate, 2));
    block_gate_slope_ =
        (de.array() * (o() - v()).array() * gate_.array() * (1 - gate_.array())).matrix();
    auto to_o = global_.average_slope.leftCols(x_.cols());
    to_o = de.cwiseProduct(gate_);
    add_product(to_o, block_gate_slope_, w(W_gate_context));
    for_columns([&](Index column, Index columns) {
      kernels_.slopes(global_.slopes(0, blocks_, column, columns, later_));
    });
    v_slope_ =
        de - de.cwiseProduct(gate_) + global_.slope(0, blocks_, w(W_query_block), w(W_key_block));
    add_product(v_slope_, block_gate_slope_, w(W_gate_source));
  }
  /// Adds to dL/dx, given dL/dv and dL/dh.
  void through_tokens(T* dx) {
    const Index d = x_.cols();
    for_chunks([&](Index first, Index count) {
      const Source s = source(first, count);
      const RowMatrix<T> dv = spread(v_slope_, first, count);
      const RowMatrix<T> mean = spread(global_.value, first, count);
      auto ds = source_slope_.middleRows(first, count);
      ds = s.weight.cwiseProduct(dv).cwiseProduct(h(first, count) - mean);
      hidden_.middleRows(first, count) = s.hidden;
      const RowMatrix<T> dhidden = product_of(ds, w(W2_source));
      hidden_slope_.middleRows(first, count) = (dhidden.array() * elu_slope(s.hidden)).matrix();
      auto to_h = local_.average_slope.block(first, 0, count, d);
      to_h += s.weight.cwiseProduct(dv);
      add_product(to_h, hidden_slope_.middleRows(first, count), w(W1_source));
      for_blocks(first, count, [&](Index, Index at, Index rows) {
        kernels_.slopes(local_.slopes(at, rows, 0, local_.value.cols(), later_));
      });
      rows_of(dx, d, first, count) += local_.slope(first, count, w(W_query), w(W_key));
    });
  }

  /// Adds slope^T input to columns of a tensor's gradient. If `input` is null, adds the column sums
  /// of slope to the gradient of an offset. Sums over chunks of rows are in double.
  void add(PartValues& gradient, int side, Place place, const RowMatrix<T>& slope,
           const RowMatrix<T>* input, Index which = 0) const {
    const Index d = x_.cols();
    std::vector<double>& to = gradient.tensor[static_cast<std::size_t>(place)];
    if (to.empty()) return;
    const auto [rows, columns] = size_of(place, d);
    Eigen::Map<RowMatrix<double>> sum(to.data() + side * rows * columns, rows, columns);
    for (Index first = 0; first < slope.rows(); first += chunk_rows) {
      const Index count = std::min(chunk_rows, slope.rows() - first);
      const auto own = slope.block(first, 0, count, d);
      const RowMatrix<T> part = input == nullptr
                                    ? RowMatrix<T>(own.colwise().sum())
                                    : product_of(own.transpose(), input->block(first, 0, count, d));
      sum.middleCols(which * d, d) += part.template cast<double>();
    }
  }
  void add_gradients(int side, PartValues& gradient) const {
    const RowMatrix<T> x = x_;
    struct Term {
      Place place;
      const RowMatrix<T>& slope;
      const RowMatrix<T>* input = nullptr;
      Index which = 0;
    };
    const std::vector<std::vector<Term>> of_tensor{
        {{W_query, local_.query_slope, &x}},
        {{W_key, local_.key_slope, &x}},
        {{b, local_.key_slope}},
        {{W1_source, hidden_slope_, &local_.average}},
        {{b1_source, hidden_slope_}},
        {{W2_source, source_slope_, &hidden_}},
        {{W_query_block, global_.query_slope, &global_.value}},
        {{W_key_block, global_.key_slope, &global_.value}},
        {{b_block, global_.key_slope}},
        {{W_gate_context, block_gate_slope_, &global_.average}},
        {{W_gate_source, block_gate_slope_, &global_.value}},
        {{b_gate, block_gate_slope_}},
        {{W_fusion, fusion_slope_, &x, 0},
         {W_fusion, fusion_slope_, &local_.average, 1},
         {W_fusion, fusion_slope_of_block_, &e_, 2}},
        {{b_fusion, fusion_slope_of_block_}},
        {{W_fusion_gate, gate_slope_, &x, 0},
         {W_fusion_gate, gate_slope_, &local_.average, 1},
         {W_fusion_gate, gate_slope_of_block_, &e_, 2}},
        {{b_fusion_gate, gate_slope_of_block_}}};
    run_tasks(tensors, run_, [&](Index task, const auto&) {
      for (const Term& t : of_tensor[static_cast<std::size_t>(task)]) {
        add(gradient, side, t.place, t.slope, t.input, t.which);
      }
    });
  }
};

// ---- the row ------------------------------------------------------------------------------------

/// With direction=both each tensor has a leading axis of 2.
constexpr std::array<ParameterInfo, block + 1> parameters_of(bool both) {
  constexpr double needed = std::numeric_limits<double>::quiet_NaN();
  const auto tensor = [&](const char* key, double initial, const char* about, const char* of_two,
                          const char* of_one) {
    return ParameterInfo{key, initial, Domain::tensor, true, about, "", both ? of_two : of_one};
  };
  const auto matrix = [&](const char* key, const char* about) {
    return tensor(key, needed, about, "2,d,d", "d,d");
  };
  const auto wide = [&](const char* key, const char* about) {
    return tensor(key, needed, about, "2,d,3d", "d,3d");
  };
  const auto offset = [&](const char* key, const char* about) {
    return tensor(key, 0, about, "2,d", "d");
  };
  return {matrix("W_query", "queries within a block; of both directions, forward first"),
          matrix("W_key", "keys within a block"),
          offset("b", "offset within a block; absent: 0"),
          matrix("W1_source", "hidden layer of a token's weight in its block"),
          offset("b1_source", "offset of W1_source; absent: 0"),
          matrix("W2_source", "a token's weight in its block"),
          matrix("W_query_block", "queries of blocks"),
          matrix("W_key_block", "keys of blocks"),
          offset("b_block", "offset between blocks; absent: 0"),
          matrix("W_gate_context", "gate of a block, from what it attends to"),
          matrix("W_gate_source", "gate of a block, from itself"),
          offset("b_gate", "offset of a block's gate; absent: 0"),
          wide("W_fusion", "fusion of token, its block's context and global context"),
          offset("b_fusion", "offset of W_fusion; absent: 0"),
          wide("W_fusion_gate", "gate of the fusion"),
          offset("b_fusion_gate", "offset of W_fusion_gate; absent: 0"),
          ParameterInfo{"direction", 0, Domain::choice, false,
                        "which tokens are attended to: earlier, later; both: [forward, backward]",
                        "both|forward|backward"},
          ParameterInfo{"block", needed, Domain::whole, false, "tokens of a block", "", "",
                        "the cube root of 2 n, rounded up"}};
}
constexpr std::array of_both = parameters_of(true), of_one = parameters_of(false);

double default_block(int, const DefaultContext& context) {
  const double twice = 2 * static_cast<double>(context.query);
  double r = std::max(1.0, std::round(std::cbrt(twice)));
  if (r * r * r < twice) ++r;
  return r;
}

struct BiBlosa {
  static constexpr const char* masks[] = {"full"};
  static constexpr OperatorInfo info{
      "bi-blosa",
      "u = g elu(W c) + (1 - g) x, c = [x; h; e], h attention within blocks, e between blocks, "
      "by 5 tanh((W_query x + W_key y + b)/5) of each feature",
      "Shen et al., section 3",
      "n^(4/3)",
      of_both,
      masks};
  static double initial(int index, const DefaultContext& context) {
    return default_block(index, context);
  }

  static std::span<const ParameterInfo> parameters_of(const Call& call) {
    const auto given = call.parameters.find("direction");
    const bool one = given != call.parameters.end() &&
                     (given->second.text() == "forward" || given->second.text() == "backward");
    return one ? of_one : of_both;
  }
  static void set_sizes(Plan& plan) { plan.output.feature *= sides(plan); }
  /// A tanh or an exp counts as one operation. Each pair and feature takes these two, two sums, two
  /// products by constants, and three operations for the sums of the softmax.
  static double flops(const Plan& plan, Pass pass) {
    const Extents& e = plan.extents;
    const auto n = static_cast<double>(e.query), d = static_cast<double>(e.feature);
    const double r = std::min(n, plan.values(plan.operator_parameters, 0)[block]);
    const double blocks = n / std::max(1.0, r);
    constexpr double of_pair = 9;
    const double forward = 20 * n * d * d + of_pair * d * (n * r / 2 + blocks * blocks / 2);
    return static_cast<double>(e.batch * e.head * sides(plan)) * forward *
           (pass == Pass::forward ? 1 : 3);
  }

  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    return forward_by_head<T>(plan, run, [&](auto b, auto h, auto& output, const Execution& inner) {
      for_directions(plan, input, b, h, inner, [&](Direction<T>& one, int side) {
        one.forward(output.row(b, h, 0) + side * plan.extents.feature, plan.output.feature);
      });
    });
  }

  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input, const Forward<T>&,
                              const Execution& run) {
    const auto head = [&](auto b, auto h, const auto& upstream, auto& result, auto& own,
                          const Execution& inner) {
      const TokenRows<const T> g = upstream.tokens(b, h);
      for_directions(plan, input, b, h, inner, [&](Direction<T>& one, int side) {
        one.backward(g.data + side * plan.extents.feature, g.stride, result.query.row(b, h, 0),
                     side, own);
      });
    };
    return backward_by_head<T>(plan, input, run, head);
  }

  /// Returns 0 for both directions, 1 for forward only and 2 for backward only.
  static int chosen_direction(const Plan& plan) {
    return static_cast<int>(plan.values(plan.operator_parameters, 0)[direction]);
  }
  static int sides(const Plan& plan) { return chosen_direction(plan) == 0 ? 2 : 1; }
  /// Calls work(direction, side) for the directions of one head.
  template <class T, class Work>
  static void for_directions(const Plan& plan, const AttentionInput<T>& input, Index batch,
                             Index head, const Execution& run, const Work& work) {
    const Extents& e = plan.extents;
    const PartValues values = plan.values(plan.operator_parameters, head, input.tensors);
    const auto rows = static_cast<Index>(values.p[block]);
    const TokenMatrix<T> x = matrix_of_tokens(input.query.tokens(batch, head));
    for (int side = 0; side < sides(plan); ++side) {
      const bool later = side == 1 || chosen_direction(plan) == 2;
      Direction<T> one(tensors_of<T>(values, e.feature, side), x, rows, later, run);
      work(one, side);
    }
  }
};

}  // namespace
}  // namespace bi_blosa

OperatorRow bi_blosa_row() { return structured_row<bi_blosa::BiBlosa>(); }

}  // namespace conelab
