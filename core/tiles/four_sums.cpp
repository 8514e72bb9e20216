#include "core/tiles/four_sums.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/tiles/interval_order.h"

namespace conelab {
namespace {

/// The largest exponent of a factor. References move only when it is exceeded, so that few factors
/// are rounded more than once.
constexpr double slack = 16;
/// Exponents below which a factor is 0 beside the number that it is relative to.
template <class T>
constexpr double negligible = std::is_same_v<T, float> ? -87 : -708;
/// Up to this number of tokens, pairs are summed one by one.
constexpr std::ptrdiff_t few_tokens = 32;
/// Items of a sweep whose steps are made and run at a time, so that the steps stay in the cache.
constexpr std::size_t items_of_run = 1024;

/// Returns up to which number of items one thread processes a node and everything below it, given
/// the number of all: so few that there are enough tasks, and that their rows stay in the cache.
std::ptrdiff_t items_of_task(std::ptrdiff_t all) {
  return std::clamp<std::ptrdiff_t>(all / 16, 192, 16384);
}

/// The steps of the sweeps of a node, with exponents in place of factors.
template <class T>
class Steps {
 public:
  /// Makes room for this many more steps.
  void reserve(std::size_t count) {
    if (steps_.size() < count_ + count) steps_.resize(2 * (count_ + count));
  }
  void add(StepKind kind, std::int32_t row, double exponent, std::uint8_t dots = no_dots) {
    steps_[count_++] = {row, kind, dots, static_cast<T>(exponent)};
  }
  /// Adds a step unless its exponent is negligible or NaN.
  void add_unless_negligible(StepKind kind, std::int32_t row, double exponent, std::uint8_t dots) {
    steps_[count_] = {row, kind, dots, static_cast<T>(exponent)};
    count_ += static_cast<std::size_t>(exponent > negligible<T>);
  }
  /// Runs the steps, and forgets them. With a state, a sweep goes on.
  void run(const SweepKernels<T>& kernels, Sweep<T> sweep, SweepState<T>* state = nullptr) {
    const auto count = static_cast<std::ptrdiff_t>(count_);
    if (count == 0) return;
    sweep.state = state;
    kernels.exponentials(steps_.data(), count);
    sweep.steps = steps_.data();
    sweep.count = count;
    kernels.run(sweep);
    count_ = 0;
  }

 private:
  Buffer<SweepStep<T>> steps_;
  std::size_t count_ = 0;
};

/// Return x, or 0 if the condition is false, without a branch.
double if_set(double x, bool condition) {
  const std::uint64_t mask = std::uint64_t{0} - static_cast<std::uint64_t>(condition);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & mask);
}
Twofold if_set(Twofold x, bool condition) {
  x.high = if_set(x.high, condition);
  x.low = if_set(x.low, condition);
  return x;
}

template <class T>
class Summation {
  using Place = Coordinate<T>;

 public:
  Summation(const Intervals<T>& summands, const Intervals<T>& outputs, const SeenPairs& seen,
            std::ptrdiff_t columns, bool wants_sums, bool wants_dots, const Execution& run)
      : run_(run),
        kernels_(sweep_kernels<T>(run.simd)),
        seen_(seen),
        columns_(columns),
        wants_dots_(wants_dots),
        items_(ordered_items(summands, outputs, wants_dots, run)),
        summands_(rows_in_order(summands, items_.summand, columns, run)),
        own_rows_(wants_dots ? rows_in_order(outputs, items_.own, columns, run) : Buffer<T>()) {
    const std::size_t rows = items_.output.size();
    if (wants_sums) {
      result_.sum = Buffer<T>(rows * static_cast<std::size_t>(columns));
      run_blocks(static_cast<std::int64_t>(rows), tokens_of_block, run,
                 [&](std::int64_t begin, std::int64_t end) {
                   std::fill_n(result_.sum.data() + begin * columns, (end - begin) * columns, T(0));
                 });
    }
    if (wants_dots) result_.dots.assign(2 * rows, 0.0);
    result_.reference.assign(rows, wants_dots ? Place(0.0) : none);
  }

  QuadrantSums<T> run() {
    Stages<T> stages(items_, seen_);
    Stage<T> next;
    for (double begin = 0; stages.next(next, run_); begin = stages.done()) {
      run_stage(next, stage(run_, begin, stages.done()));
    }
    result_.token = items_.output;
    return std::move(result_);
  }

 private:
  /// Some of the items, [begin, end) of the orders of a stage.
  struct Node {
    std::ptrdiff_t begin, end;

    [[nodiscard]] std::ptrdiff_t count() const { return end - begin; }
    [[nodiscard]] std::ptrdiff_t middle() const { return begin + count() / 2; }
  };
  /// A summand of a pair and the exponent of the pair's weight.
  struct Partner {
    std::int32_t item;
    Place exponent;
  };

  /// What a thread works on.
  struct Room {
    Steps<T> steps;
    SweepState<T> state;
    std::vector<std::int32_t> channel, summands;
    std::vector<Partner> partners;
  };

  static inline const Place none{-std::numeric_limits<double>::infinity()};

  Execution run_;
  SweepKernels<T> kernels_;
  SeenPairs seen_;
  std::ptrdiff_t columns_;
  bool wants_dots_;
  IntervalItems<T> items_;
  Buffer<T> summands_, own_rows_;
  QuadrantSums<T> result_;
  const Stage<T>* stage_ = nullptr;
  /// The items of the stage in the order of W within the nodes of a depth, and of the next one.
  Buffer<IntervalItem<T>> by_lower_, next_;

  [[nodiscard]] Sweep<T> sweep() {
    return {nullptr,
            0,
            columns_,
            summands_.data(),
            result_.sum.empty() ? nullptr : result_.sum.data(),
            wants_dots_ ? own_rows_.data() : nullptr,
            items_.partner.data(),
            wants_dots_ ? result_.dots.data() : nullptr,
            nullptr};
  }

  void run_stage(Stage<T>& stage, const Execution& run) {
    stage_ = &stage;
    by_lower_ = std::move(stage.by_lower);
    next_.resize(by_lower_.size());
    const std::ptrdiff_t few = items_of_task(stage.first.back());
    std::vector<Node> nodes, small;
    // The small nodes of all depths are run from the same order.
    const auto keep_small = [&](const Node& node) {
      small.push_back(node);
      std::copy(by_lower_.begin() + node.begin, by_lower_.begin() + node.end,
                next_.begin() + node.begin);
    };
    for (std::size_t n = 0; n + 1 < stage.first.size(); ++n) {
      const Node node{stage.first[n], stage.first[n + 1]};
      if (stage.by_pairs || node.count() <= few) {
        keep_small(node);
      } else {
        nodes.push_back(node);
      }
    }
    while (!nodes.empty()) {
      const auto count = static_cast<std::int64_t>(nodes.size());
      run_tasks(2 * count, quiet(run), [&](std::int64_t task, const auto&) {
        Room room;
        run_channel(nodes[static_cast<std::size_t>(task / 2)], task % 2 == 0, room);
      });
      run_tasks(count, quiet(run), [&](std::int64_t task, const auto&) {
        divide(nodes[static_cast<std::size_t>(task)]);
      });
      by_lower_.swap(next_);
      std::vector<Node> halves;
      for (const Node& node : nodes) {
        for (const Node half : {Node{node.begin, node.middle()}, Node{node.middle(), node.end}}) {
          if (half.count() <= few) {
            keep_small(half);
          } else {
            halves.push_back(half);
          }
        }
      }
      nodes = std::move(halves);
    }
    run_tasks(static_cast<std::int64_t>(small.size()), run, [&](std::int64_t task, const auto&) {
      Room room;
      run_below(small[static_cast<std::size_t>(task)], by_lower_, next_, room);
    });
  }

  /// Processes a node and all below it. `order` has its items in the order of W.
  void run_below(const Node& node, Buffer<IntervalItem<T>>& order, Buffer<IntervalItem<T>>& next,
                 Room& room) {
    if (stage_->by_pairs || node.count() <= few_tokens) return run_pairs(node, room);
    for (const bool to_right : {true, false}) run_channel(node, to_right, room, order);
    divide(node, order, next);
    run_below({node.begin, node.middle()}, next, order, room);
    run_below({node.middle(), node.end}, next, order, room);
  }

  void divide(const Node& node) { divide(node, by_lower_, next_); }
  /// Moves the items of the left half before those of the right half, each in the order of W.
  void divide(const Node& node, const Buffer<IntervalItem<T>>& order,
              Buffer<IntervalItem<T>>& next) const {
    const std::int32_t border = stage_->by_upper[static_cast<std::size_t>(node.middle())];
    IntervalItem<T>* left = next.data() + node.begin;
    IntervalItem<T>* right = next.data() + node.middle();
    for (std::ptrdiff_t k = node.begin; k < node.end; ++k) {
      const IntervalItem<T>& item = order[static_cast<std::size_t>(k)];
      const bool is_left = item.place < border;
      *(is_left ? left : right) = item;
      left += is_left;
      right += !is_left;
    }
  }

  void run_channel(const Node& node, bool to_right, Room& room) {
    run_channel(node, to_right, room, by_lower_);
  }
  /// Takes sums from the left half to the right half, or back.
  void run_channel(const Node& node, bool to_right, Room& room,
                   const Buffer<IntervalItem<T>>& order) {
    const std::int32_t border = stage_->by_upper[static_cast<std::size_t>(node.middle())];
    room.channel.resize(static_cast<std::size_t>(node.count()) + 1);
    std::int32_t* end = room.channel.data();
    std::ptrdiff_t outputs = 0;
    for (std::ptrdiff_t k = node.begin; k < node.end; ++k) {
      const IntervalItem<T>& item = order[static_cast<std::size_t>(k)];
      const bool is_output = item.is_output();
      const bool is_part = ((item.place < border) == to_right) != is_output;
      *end = static_cast<std::int32_t>(k);
      end += is_part;
      outputs += is_part && is_output;
    }
    const std::span<std::int32_t> channel(room.channel.data(), end);
    if (outputs == 0 || outputs == end - channel.data()) return;
    if (to_right) {
      run_sweep<true, false>(order, channel, first_dot, room);
    } else {
      run_sweep<true, true>(order, channel, no_dots, room);
    }
    std::ranges::reverse(channel);
    if (to_right) {
      run_sweep<false, false>(order, channel, first_dot | second_dot, room);
    } else {
      run_sweep<false, true>(order, channel, second_dot, room);
    }
  }

  /// Runs one sweep over the items of a channel, some of them at a time.
  template <bool by_lower, bool by_upper>
  void run_sweep(const Buffer<IntervalItem<T>>& order, std::span<const std::int32_t> channel,
                 std::uint8_t dots, Room& room) {
    Place reference = none;
    const bool in_parts = channel.size() > items_of_run;
    if (in_parts) {
      room.state.parts.assign(static_cast<std::size_t>(2 * columns_), T(0));
      room.state.recent = 0;
    }
    while (!channel.empty()) {
      const std::size_t count = std::min(channel.size(), items_of_run);
      plan_sweep<by_lower, by_upper>(order, channel.first(count), dots, reference, room.steps);
      room.steps.run(kernels_, sweep(), in_parts ? &room.state : nullptr);
      channel = channel.subspan(count);
    }
  }

  /// Appends steps of one sweep. `reference` is that of its running sum. The weight of a pair is
  /// e^{by_lower W_j - by_upper U_j} of the summand times e^{(1 - by_lower) W_i - (1 - by_upper)
  /// U_i} of the output. Whether an item is an output cannot be predicted, so that nothing branches
  /// on it.
  template <bool by_lower, bool by_upper>
  void plan_sweep(const Buffer<IntervalItem<T>>& order, std::span<const std::int32_t> channel,
                  std::uint8_t dots, Place& reference, Steps<T>& steps) {
    Place* const references[] = {&reference, result_.reference.data()};
    constexpr StepKind kinds[] = {StepKind::add, StepKind::give};
    steps.reserve(2 * channel.size());
    for (const std::int32_t k : channel) {
      const IntervalItem<T>& item = order[static_cast<std::size_t>(k)];
      const int is_output = item.is_output() ? 1 : 0;
      const std::int32_t row = item.code ^ -is_output;
      Place& own = references[is_output][row & -is_output];
      const Place exponent = (if_set(item.lower, by_lower != (is_output != 0)) -
                              if_set(item.upper, by_upper != (is_output != 0))) +
                             (item.weight + if_set(reference, is_output != 0));
      auto relative = static_cast<double>(exponent - own);
      if (relative > slack) {
        raise(own, exponent, is_output != 0 ? StepKind::scale_output : StepKind::scale_sum, row,
              steps);
        relative = 0;
      }
      steps.add_unless_negligible(kinds[is_output], row, relative, dots);
    }
  }

  [[nodiscard]] Place& reference_of(std::int32_t row) {
    return result_.reference[static_cast<std::size_t>(row)];
  }
  /// Moves a reference, and appends the step that rescales what is relative to it.
  static void raise(Place& reference, const Place& to, StepKind scale, std::int32_t row,
                    Steps<T>& steps) {
    if (reference != none) steps.add(scale, row, static_cast<double>(reference - to));
    reference = to;
  }

  /// Sums the pairs of a node one by one.
  void run_pairs(const Node& node, Room& room) {
    const std::span<const std::int32_t> all(stage_->by_upper.data() + node.begin,
                                            stage_->by_upper.data() + node.end);
    room.summands.clear();
    for (const std::int32_t item : all) {
      if (!items_[item].is_output()) room.summands.push_back(item);
    }
    for (const std::int32_t output : all) {
      if (items_[output].is_output()) sum_pairs(output, room);
    }
    room.steps.run(kernels_, sweep());
  }

  /// Appends the steps that sum the pairs of one output, quadrant by quadrant where that matters.
  void sum_pairs(std::int32_t output, Room& room) {
    const IntervalItem<T>& i = items_[output];
    room.partners.clear();
    Place largest = none;
    for (const std::int32_t summand : room.summands) {
      if (stage_->by_pairs && !sees(output, summand)) continue;
      const IntervalItem<T>& j = items_[summand];
      const Place exponent =
          (std::min(i.lower, j.lower) - std::max(i.upper, j.upper)) + (i.weight + j.weight);
      largest = std::max(largest, exponent);
      room.partners.push_back({summand, exponent});
    }
    if (room.partners.empty()) return;
    Steps<T>& steps = room.steps;
    steps.reserve(room.partners.size() + 12);
    Place& own = reference_of(i.row());
    if (static_cast<double>(largest - own) > slack) {
      raise(own, largest, StepKind::scale_output, i.row(), steps);
    }
    const int quadrants = wants_dots_ ? (first_dot | second_dot) + 1 : 1;
    for (int quadrant = 0; quadrant < quadrants; ++quadrant) {
      steps.add(StepKind::clear, 0, 0);
      for (const Partner& p : room.partners) {
        if (wants_dots_ && quadrant_of(output, p.item) != quadrant) continue;
        steps.add_unless_negligible(StepKind::add, items_[p.item].row(),
                                    static_cast<double>(p.exponent - largest), no_dots);
      }
      steps.add_unless_negligible(StepKind::give, i.row(), static_cast<double>(largest - own),
                                  static_cast<std::uint8_t>(quadrant));
    }
  }

  /// Returns the dots to which a pair belongs.
  [[nodiscard]] int quadrant_of(std::int32_t output, std::int32_t summand) const {
    return (summand < output ? first_dot : 0) |
           (rank_of(summand) > rank_of(output) ? second_dot : 0);
  }
  [[nodiscard]] std::int32_t rank_of(std::int32_t item) const {
    return items_.rank[static_cast<std::size_t>(item)];
  }
  [[nodiscard]] bool sees(std::int32_t output, std::int32_t summand) const {
    std::int64_t query = items_.token[static_cast<std::size_t>(output)];
    std::int64_t key = items_.token[static_cast<std::size_t>(summand)];
    if (!seen_.sums_keys) std::swap(query, key);
    const KeyRange range = seen_.keys[static_cast<std::size_t>(query)];
    return key >= range.begin && key < range.end;
  }
};

}  // namespace

template <class T>
QuadrantSums<T> referred_sums(const Intervals<T>& summands, const Intervals<T>& outputs,
                              const SeenPairs& seen, std::ptrdiff_t columns, const Execution& run) {
  return Summation<T>(summands, outputs, seen, columns, true, false, run).run();
}
template <class T>
QuadrantSums<T> sums_by_quadrant(const Intervals<T>& summands, const Intervals<T>& outputs,
                                 const SeenPairs& seen, std::ptrdiff_t columns, bool wants_sums,
                                 const Execution& run) {
  return Summation<T>(summands, outputs, seen, columns, wants_sums, true, run).run();
}

#define CONELAB_FOUR_SUMS(T)                                                                  \
  template QuadrantSums<T> referred_sums(const Intervals<T>&, const Intervals<T>&,            \
                                         const SeenPairs&, std::ptrdiff_t, const Execution&); \
  template QuadrantSums<T> sums_by_quadrant(const Intervals<T>&, const Intervals<T>&,         \
                                            const SeenPairs&, std::ptrdiff_t, bool,           \
                                            const Execution&);
CONELAB_FOUR_SUMS(float)
CONELAB_FOUR_SUMS(double)

}  // namespace conelab
