#include "core/ring/ring_attention.h"

#include <algorithm>
#include <functional>
#include <list>
#include <optional>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/operators/structured.h"
#include "core/tiles/merge_rows.h"
#include "core/tiles/parameter_sums.h"
#include "core/tiles/upstream.h"

namespace conelab {
namespace {

/// The kinds of messages; the tag is a kind times `most_slabs` plus the slab or block.
enum class Message { tokens, sums, parameters };
constexpr std::int64_t most_slabs = 1024;
static_assert(Blocks::most_blocks <= most_slabs);
int tag_of(Message kind, std::int64_t index) {
  return static_cast<int>(static_cast<std::int64_t>(kind) * most_slabs + index);
}

/// Returns the plan for slices of the queries and keys.
Plan plan_of_slices(const Plan& whole, Rows queries, Rows keys) {
  Plan plan = whole;
  Extents& e = plan.extents;
  e.positions = {queries.begin, keys.begin, whole.extents.query, whole.extents.key};
  e.query = plan.output.token = plan.pairs.token = queries.count();
  e.key = plan.pairs.feature = keys.count();
  plan.evaluation = Evaluation::pairs;
  if (whole.inner) {
    plan.inner = std::make_shared<Plan>(plan_of_slices(*whole.inner, queries, keys));
  }
  return plan;
}

template <class To, class From>
Forward<To> narrowed(const Forward<From>& from) {
  return {convert<To>(from.output), convert<To>(from.lse), convert<To>(from.row_reference),
          convert<To>(from.row_sum), convert<To>(from.midpoint_sum)};
}

template <class From>
void add_numbers(Tensor4<double>& sum, const Tensor4<From>& more) {
  std::ranges::transform(sum.data, more.data, sum.data.begin(), std::plus<>());
}

/// Gradients of parameters and tensors by name.
struct GradientSums {
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, Array<double>> tensors;

  template <class T>
  void add(const Backward<T>& more) {
    add_each(more.parameters, more.tensors, std::plus<>());
  }
  template <class Add>
  void add_each(const std::map<std::string, std::vector<double>>& more,
                const std::map<std::string, Array<double>>& more_tensors, const Add& add) {
    const auto onto = [&](std::vector<double>& sum, const std::vector<double>& list) {
      if (sum.empty()) sum.resize(list.size(), 0.0);
      std::ranges::transform(sum, list, sum.begin(), add);
    };
    for (const auto& [name, list] : more) onto(numbers[name], list);
    for (const auto& [name, tensor] : more_tensors) {
      tensors[name].extents = tensor.extents;
      onto(tensors[name].data, tensor.data);
    }
  }
  /// Calls each(list) for all lists of numbers, in the order of their names.
  template <class Each>
  void for_each(const Each& each) {
    for (auto& [name, list] : numbers) each(list);
    for (auto& [name, tensor] : tensors) each(tensor.data);
  }
};

/// Two tensors [batch × head × tokens × columns] for each block of a slab, as one message: k and v,
/// or the sums of their gradients.
template <class T>
class SlabTensors {
 public:
  SlabTensors() = default;
  /// `key` and `value` are the sizes of the tensors of any block.
  SlabTensors(const Blocks& blocks, std::int64_t slab, Shape4 key, Shape4 value) {
    std::size_t size = 0;
    for (const std::int64_t block : blocks.of_slab(slab)) {
      for (Shape4 shape : {key, value}) {
        shape.token = blocks.keys(block).count();
        parts_.push_back({shape, size});
        size += static_cast<std::size_t>(shape.size());
      }
    }
    numbers_.resize(size);
  }

  [[nodiscard]] T* data() { return numbers_.data(); }
  [[nodiscard]] std::size_t bytes() const { return numbers_.size() * sizeof(T); }
  /// Return the tensors of the slab's block number `at`.
  [[nodiscard]] StridedTensor4<T> key(std::size_t at) const { return view(2 * at); }
  [[nodiscard]] StridedTensor4<T> value(std::size_t at) const { return view(2 * at + 1); }
  void set(std::size_t at, const StridedTensor4<T>& key, const StridedTensor4<T>& value) {
    std::ranges::copy(key.template dense<T>().data, numbers_.begin() + first(2 * at));
    std::ranges::copy(value.template dense<T>().data, numbers_.begin() + first(2 * at + 1));
  }
  template <class From>
  void add(std::size_t at, const Tensor4<From>& key, const Tensor4<From>& value) {
    const auto onto = [&](const Tensor4<From>& more, std::ptrdiff_t begin) {
      std::ranges::transform(more.data, std::span(numbers_).subspan(begin),
                             numbers_.begin() + begin, std::plus<T>());
    };
    onto(key, first(2 * at)), onto(value, first(2 * at + 1));
  }

 private:
  struct Part {
    Shape4 shape;
    std::size_t first;
  };
  std::vector<Part> parts_;
  std::vector<T> numbers_;

  [[nodiscard]] std::ptrdiff_t first(std::size_t part) const {
    return static_cast<std::ptrdiff_t>(parts_[part].first);
  }
  [[nodiscard]] StridedTensor4<T> view(std::size_t part) const {
    const auto& [s, begin] = parts_[part];
    const std::int64_t head = s.token * s.feature;
    return {numbers_.data() + begin, s, {s.head * head, head, s.feature}};
  }
};

}  // namespace

void check_ring(const Plan& plan) {
  const Plan& pairs = plan.inner ? *plan.inner : plan;
  const auto refuse = [&](const std::string& what) {
    misuse(
        "{} is computed in one process (ranks share attention with the masks full, causal, "
        "window, segment and padding; found {})",
        operator_name(plan.call), what);
  };
  if (pairs.similarity == nullptr) refuse("a structured operator");
  if (plan.joins_heads) refuse("P_output or joined heads");
  if (pairs.weights == WeightLaw::softmax_over_queries) refuse("axis=query");
  if (pairs.bias != nullptr && pairs.bias->of_pairs) refuse("a bias of pairs");
  if (pairs.evaluation == Evaluation::intervals) refuse("evaluation=intervals");
  for (const PlannedMask& mask : pairs.masks) {
    const bool of_pairs = mask.row->operand == MaskOperand::allowed ||
                          mask.row->operand == MaskOperand::edges || mask.row->list != nullptr;
    if (of_pairs) refuse(std::string("mask ") + mask.row->name);
  }
  if (!plan.token_maps.empty() && flowing_plan(plan)) refuse("maps of tokens under mask segment");
}

/// The computation of one rank, in the type T of sums within a call.
template <class S>
struct RingAttention<S>::Work {
  using T = Compute<S>;

  const Plan& plan;
  const Plan& pairs;  ///< That of the mapped tokens.
  const Blocks& blocks;
  Ranks& ranks;
  const Execution& run;
  std::int64_t& steps;
  Rows own;                                      ///< The slabs of this rank.
  std::vector<std::int64_t> own_blocks;          ///< In ascending order.
  std::vector<AttentionInput<T>> inputs;         ///< [own block] Before the maps of tokens.
  std::vector<AttentionInput<T>> mapped;         ///< [own block]
  std::vector<SlabTensors<T>> slabs;             ///< [own slab] Mapped k and v.
  std::vector<bool> sees;                        ///< [block of queries × block of keys]
  Shape4 key_sizes, value_sizes;                 ///< Of mapped k and v of a block.
  std::vector<Forward<double>> sums;             ///< [own block]
  std::vector<Forward<T>> saved;                 ///< [own block]
  std::vector<Tensor4<double>> query_grads;      ///< [own block]
  std::vector<GradientSums> parameter_sums;      ///< [own block]
  std::vector<SlabTensors<double>> token_grads;  ///< [own slab] dk and dv.
  double done_pairs = 0, all_pairs = 0;

  Work(const Plan& whole, const AttentionInput<S>& input, const Blocks& of, Ranks& r,
       const Execution& execution, std::int64_t& count)
      : plan(whole),
        pairs(whole.inner ? *whole.inner : whole),
        blocks(of),
        ranks(r),
        run(execution),
        steps(count),
        own(of.slabs_of(r.rank())),
        own_blocks(of.of_rank(r.rank())) {
    std::int64_t query = 0, key = 0;
    for (const std::int64_t block : own_blocks) {
      inputs.push_back(convert<T>(block_input(input, block, query, key)));
      const Plan part = plan_of_slices(plan, blocks.queries(block), blocks.keys(block));
      mapped.push_back(map_tokens(part, inputs.back()));
    }
    set_output_grad(input.output_grad);
    find_visible(input);
    if (own_blocks.empty()) return;
    key_sizes = mapped.front().key.shape, value_sizes = mapped.front().value.shape;
    for (std::int64_t slab = own.begin; slab < own.end; ++slab) {
      SlabTensors<T>& tensors = slabs.emplace_back(blocks, slab, key_sizes, value_sizes);
      std::size_t at = 0;
      for (const std::int64_t block : blocks.of_slab(slab)) {
        const AttentionInput<T>& from = mapped[index(block)];
        tensors.set(at++, from.key, from.value);
      }
    }
  }

  static StridedTensor4<S> rows_of(const StridedTensor4<S>& from, std::int64_t first, Rows rows) {
    Shape4 shape = from.shape;
    shape.token = rows.count();
    return from.empty() ? StridedTensor4<S>()
                        : StridedTensor4<S>(from.row(0, 0, first), shape, from.strides());
  }
  /// Returns the tokens of a block, which begin at `query` and `key` of the rank's rows; moves
  /// these to the next block.
  AttentionInput<S> block_input(const AttentionInput<S>& all, std::int64_t block,
                                std::int64_t& query, std::int64_t& key) const {
    const Rows q = blocks.queries(block), k = blocks.keys(block);
    AttentionInput<S> input;
    input.query = rows_of(all.query, query, q);
    input.key = rows_of(all.key, key, k);
    input.value = rows_of(all.value, key, k);
    input.key_lengths = all.key_lengths;
    input.tensors = all.tensors;
    input.positions = {q.begin, k.begin, plan.extents.query, plan.extents.key};
    query += q.count(), key += k.count();
    return input;
  }
  void set_output_grad(const StridedTensor4<S>& all) {
    std::int64_t query = 0;
    for (std::size_t at = 0; at < own_blocks.size(); ++at) {
      const Rows q = blocks.queries(own_blocks[at]);
      inputs[at].output_grad = mapped[at].output_grad = convert<T>(rows_of(all, query, q));
      query += q.count();
    }
  }

  [[nodiscard]] std::size_t index(std::int64_t block) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(own_blocks, block) -
                                    own_blocks.begin());
  }
  [[nodiscard]] SlabTensors<T>& slab_at(std::int64_t slab) {
    return slabs[static_cast<std::size_t>(slab - own.begin)];
  }

  /// Finds which blocks of queries see any key of which blocks. The first keys count as seen where
  /// a sink takes part in the sum of every row.
  void find_visible(const AttentionInput<S>& input) {
    AttentionInput<S> bare;
    bare.key_lengths = input.key_lengths;
    bare.tensors = input.tensors;
    for (std::int64_t q = 0; q < blocks.count(); ++q) {
      for (std::int64_t k = 0; k < blocks.count(); ++k) sees.push_back(sees_any(q, k, bare));
    }
  }
  bool sees_any(std::int64_t query, std::int64_t key, const AttentionInput<S>& bare) const {
    const Rows q = blocks.queries(query), k = blocks.keys(key);
    if (q.count() == 0 || k.count() == 0) return false;
    if (pairs.masks.empty() || (!pairs.sinks.empty() && k.begin == 0)) return true;
    const Plan part = plan_of_slices(pairs, q, k);
    const Mask mask = part.mask(bare);
    for (std::int64_t e = 0; e < part.extents.batch * part.extents.head; ++e) {
      if (mask.cover({e, 0, q.count(), 0, k.count()}) != Cover::none) return true;
    }
    return false;
  }
  [[nodiscard]] bool visible(std::int64_t query, std::int64_t key) const {
    return sees[static_cast<std::size_t>(query * blocks.count() + key)];
  }
  /// Returns whether the queries of a rank see any key of a slab.
  [[nodiscard]] bool needs(int rank, std::int64_t slab) const {
    for (const std::int64_t query : blocks.of_rank(rank)) {
      for (const std::int64_t key : blocks.of_slab(slab)) {
        if (visible(query, key)) return true;
      }
    }
    return false;
  }

  /// A slab of keys and the own slabs of queries that meet it at this time.
  struct Step {
    std::int64_t keys;
    Rows queries;
    [[nodiscard]] bool is_own(Rows own) const { return keys >= own.begin && keys < own.end; }
  };
  /// Returns the steps of this rank: its own slabs, those of others in cyclic order, and its own
  /// again for the slabs of queries after them.
  [[nodiscard]] std::vector<Step> all_steps() const {
    std::vector<Step> list;
    for (std::int64_t j = own.begin; j < own.end; ++j) list.push_back({j, {own.begin, j + 1}});
    for (std::int64_t s = 0; s < blocks.slabs() - own.count(); ++s) {
      const std::int64_t j = (own.end + s) % blocks.slabs();
      if (needs(ranks.rank(), j)) list.push_back({j, own});
    }
    for (std::int64_t j = own.begin; j < own.end; ++j) list.push_back({j, {j + 1, own.end}});
    return list;
  }

  /// Messages to others, with the memory of those whose tensors are not kept elsewhere.
  struct Outgoing {
    Ranks::Transfer transfer;
    std::optional<SlabTensors<double>> sums;
  };
  std::list<Outgoing> outgoing;

  void wait(Ranks::Transfer& transfer) { ranks.wait(transfer, run.cancelled); }
  void finish_sending() {
    for (Outgoing& message : outgoing) wait(message.transfer);
    outgoing.clear();
  }
  void send_tokens() {
    for (std::int64_t slab = own.begin; slab < own.end; ++slab) {
      for (int r = 0; r < ranks.size(); ++r) {
        if (r == ranks.rank() || !needs(r, slab)) continue;
        SlabTensors<T>& tensors = slab_at(slab);
        outgoing.push_back(
            {ranks.send(r, tag_of(Message::tokens, slab), tensors.data(), tensors.bytes()), {}});
      }
    }
  }

  /// Calls visit(step, keys and values) for all steps. The next slab is received meanwhile.
  template <class Visit>
  void walk(const Visit& visit) {
    const std::vector<Step> list = all_steps();
    struct Received {
      std::size_t step;
      SlabTensors<T> tensors;
      Ranks::Transfer transfer;
    };
    send_tokens();
    const auto receive_from = [&](std::size_t at) {
      while (at < list.size() && list[at].is_own(own)) ++at;
      Received next{at, {}, {}};
      if (at == list.size()) return next;
      const std::int64_t slab = list[at].keys;
      next.tensors = SlabTensors<T>(blocks, slab, key_sizes, value_sizes);
      next.transfer = ranks.receive(blocks.owner(slab), tag_of(Message::tokens, slab),
                                    next.tensors.data(), next.tensors.bytes());
      ++steps;
      return next;
    };
    Received next = receive_from(0);
    for (std::size_t s = 0; s < list.size(); ++s) {
      const auto poll = [&] { (void)ranks.done(next.transfer); };
      if (list[s].is_own(own)) {
        visit(list[s], slab_at(list[s].keys), poll);
        continue;
      }
      Received now = std::move(next);
      wait(now.transfer);
      next = receive_from(s + 1);
      visit(list[s], now.tensors, poll);
    }
    finish_sending();
  }

  /// Calls visit(own block of queries, its slice plan, its input, number of the block of keys in
  /// the slab) for the pairs of blocks of a step that see anything, slabs of queries in descending
  /// order.
  template <class Visit, class Poll>
  void each_pair(const Step& step, const SlabTensors<T>& tensors, const Poll& poll,
                 const Visit& visit) {
    const std::vector<std::int64_t> of_keys = blocks.of_slab(step.keys);
    for (std::int64_t i = step.queries.end; i-- > step.queries.begin;) {
      for (const std::int64_t query : blocks.of_slab(i)) {
        for (std::size_t k = 0; k < of_keys.size(); ++k) {
          if (!visible(query, of_keys[k])) continue;
          const Plan part = plan_of_slices(pairs, blocks.queries(query), blocks.keys(of_keys[k]));
          const AttentionInput<T>& from = mapped[index(query)];
          AttentionInput<T> input;
          input.query = from.query.view();
          input.key = tensors.key(k);
          input.value = tensors.value(k);
          if (!from.output_grad.empty()) input.output_grad = from.output_grad.view();
          input.key_lengths = from.key_lengths;
          input.tensors = from.tensors;
          input.positions = part.extents.positions;
          visit(index(query), part, input, k);
          poll();
          report();
        }
      }
    }
  }
  void report() {
    done_pairs += 1;
    if (run.progress && all_pairs > 0) run.progress(std::min(1.0, done_pairs / all_pairs));
  }
  void start_counting() {
    done_pairs = all_pairs = 0;
    for (const std::int64_t query : own_blocks) {
      for (std::int64_t key = 0; key < blocks.count(); ++key) all_pairs += visible(query, key);
    }
  }

  void forward() {
    start_counting();
    for (const std::int64_t block : own_blocks) {
      const Plan part = plan_of_slices(pairs, blocks.queries(block), blocks.keys(block));
      sums.push_back(empty_forward<double>(part));
      std::ranges::fill(sums.back().lse.data, -std::numeric_limits<double>::infinity());
    }
    const Execution each = quiet(run);
    walk([&](const Step& step, const SlabTensors<T>& tensors, const auto& poll) {
      each_pair(step, tensors, poll,
                [&](std::size_t at, const Plan& part, const AttentionInput<T>& input, std::size_t) {
                  merge_rows(part, sums[at], attention_forward(part, input, each));
                });
    });
    for (const Forward<double>& sum : sums) saved.push_back(narrowed<T>(sum));
    sums.clear();
  }

  /// Returns the next rank that adds to the sums of a slab after `rank`: towards lower ranks,
  /// cyclic; in the end the owner.
  [[nodiscard]] int next_in_chain(int rank, std::int64_t slab) const {
    const int owner = blocks.owner(slab);
    do rank = rank == 0 ? ranks.size() - 1 : rank - 1;
    while (rank != owner && !needs(rank, slab));
    return rank;
  }
  [[nodiscard]] int previous_in_chain(int rank, std::int64_t slab) const {
    const int owner = blocks.owner(slab);
    do rank = rank + 1 == ranks.size() ? 0 : rank + 1;
    while (rank != owner && !needs(rank, slab));
    return rank;
  }

  /// Returns zeros for every parameter, also for queries that see no key.
  GradientSums no_gradients() const {
    const std::vector<ParameterSums> none(
        static_cast<std::size_t>(pairs.extents.batch * pairs.extents.head), ParameterSums(pairs));
    Backward<T> zeros;
    add_parameter_gradients<T>(pairs, none, zeros);
    GradientSums sums;
    sums.add(zeros);
    return sums;
  }

  void backward() {
    start_counting();
    query_grads.clear(), parameter_sums.clear();
    for (const AttentionInput<T>& input : mapped) {
      query_grads.emplace_back(input.query.shape);
      parameter_sums.push_back(no_gradients());
    }
    token_grads.resize(slabs.size());
    const Execution each = quiet(run);
    const int rank = ranks.rank();
    walk([&](const Step& step, const SlabTensors<T>& tensors, const auto& poll) {
      SlabTensors<double> grads(blocks, step.keys, key_sizes, value_sizes);
      const bool mine = step.is_own(own), first = mine && step.queries.begin == own.begin;
      const int before = previous_in_chain(rank, step.keys);
      if (mine && !first && before == rank) {
        grads = std::move(token_grads[static_cast<std::size_t>(step.keys - own.begin)]);
      } else if (!first) {
        Ranks::Transfer transfer =
            ranks.receive(before, tag_of(Message::sums, step.keys), grads.data(), grads.bytes());
        wait(transfer);
      }
      each_pair(
          step, tensors, poll,
          [&](std::size_t at, const Plan& part, const AttentionInput<T>& input, std::size_t k) {
            const Backward<T> more = gradients_by(part, [&](const Plan& p, double, double) {
              return attention_backward(p, input, saved[at], each);
            });
            add_numbers(query_grads[at], more.query);
            grads.add(k, more.key, more.value);
            parameter_sums[at].add(more);
          });
      const int after = next_in_chain(rank, step.keys);
      if ((mine && !first) || after == rank) {
        token_grads[static_cast<std::size_t>(step.keys - own.begin)] = std::move(grads);
      } else {
        Outgoing& message = outgoing.emplace_back(Outgoing{{}, std::move(grads)});
        message.transfer = ranks.send(after, tag_of(Message::sums, step.keys), message.sums->data(),
                                      message.sums->bytes());
      }
      std::erase_if(outgoing, [&](Outgoing& m) { return m.sums && ranks.done(m.transfer); });
    });
  }

  /// Returns the gradients of an own block, through the maps of tokens, and of the parameters.
  Backward<T> gradients_of(std::size_t at) {
    const std::int64_t block = own_blocks[at], slab = std::min(block, blocks.count() - 1 - block);
    const SlabTensors<double>& grads = token_grads[static_cast<std::size_t>(slab - own.begin)];
    const std::size_t in_slab = block == slab ? 0 : 1;
    Backward<T> whole{convert<T>(query_grads[at]), convert<T>(grads.key(in_slab)),
                      convert<T>(grads.value(in_slab)), parameter_sums[at].numbers,
                      parameter_sums[at].tensors};
    if (!plan.inner) return whole;
    const Plan part = plan_of_slices(plan, blocks.queries(block), blocks.keys(block));
    return pull_back(part, inputs[at], saved[at], std::move(whole));
  }

  /// Sums the gradients of parameters over all blocks, on rank 0.
  GradientSums sum_parameters(const std::vector<GradientSums>& of_blocks) {
    GradientSums sum;
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      const int from = blocks.owner_of_block(block);
      if (from != ranks.rank() && ranks.rank() != 0) continue;
      GradientSums part = of_blocks.empty() ? GradientSums() : of_blocks.front();
      if (from == ranks.rank()) part = of_blocks[index(block)];
      std::vector<double> numbers;
      part.for_each([&](auto& list) { numbers.insert(numbers.end(), list.begin(), list.end()); });
      const int tag = tag_of(Message::parameters, block);
      const std::size_t bytes = numbers.size() * sizeof(double);
      Ranks::Transfer transfer;
      if (ranks.rank() != 0) transfer = ranks.send(0, tag, numbers.data(), bytes);
      if (from != ranks.rank()) transfer = ranks.receive(from, tag, numbers.data(), bytes);
      if (transfer) wait(transfer);
      if (ranks.rank() != 0) continue;
      const double* next = numbers.data();
      part.for_each([&](auto& list) {
        std::copy(next, next + list.size(), list.begin());
        next += list.size();
      });
      sum.add_each(part.numbers, part.tensors, std::plus<>());
    }
    return sum;
  }
};

template <class T>
RingAttention<T>::RingAttention(const Plan& plan, const AttentionInput<T>& own, Ranks& ranks)
    : plan_(plan),
      own_(own),
      ranks_(ranks),
      blocks_(plan.extents.query, plan.extents.key, ranks.size()) {
  check_ring(plan);
  work_ = std::make_unique<Work>(plan_, own_, blocks_, ranks_, run_, steps_);
}

template <class T>
RingAttention<T>::~RingAttention() = default;

template <class T>
void RingAttention<T>::forward(const Execution& run) {
  run_ = run;
  work_->forward();
  for (std::size_t at = 0; at < work_->saved.size(); ++at) {
    results_.push_back({work_->own_blocks[at], converted<T>(work_->saved[at]), {}});
  }
}

template <class T>
void RingAttention<T>::set_output_grad(const StridedTensor4<T>& rows) {
  work_->set_output_grad(rows);
}

template <class T>
void RingAttention<T>::backward(const Execution& run) {
  run_ = run;
  work_->backward();
  std::vector<GradientSums> of_blocks;
  for (std::size_t at = 0; at < results_.size(); ++at) {
    Backward<Compute<T>> gradients = work_->gradients_of(at);
    of_blocks.emplace_back().add(gradients);
    gradients.parameters.clear(), gradients.tensors.clear();
    results_[at].backward = converted<T>(std::move(gradients));
  }
  GradientSums sum = work_->sum_parameters(of_blocks);
  parameters_.parameters = std::move(sum.numbers);
  parameters_.tensors = std::move(sum.tensors);
}

#define CONELAB_RING(T) template class RingAttention<T>;
CONELAB_EACH_TYPE(CONELAB_RING)

}  // namespace conelab
