#include "core/operators/prepared_call.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call.h"
#include "core/pair/mask.h"

namespace conelab {
namespace {

const TensorView* find_view(Views views, std::string_view name) {
  const auto found = std::find_if(views.begin(), views.end(),
                                  [&](const TensorView& view) { return view.name == name; });
  return found == views.end() ? nullptr : &*found;
}

/// Returns whether the numbers lie in memory in the order of the axes, without gaps.
bool is_dense(const TensorView& view) {
  std::int64_t step = 1;
  for (std::size_t axis = view.sizes.size(); axis-- > 0;) {
    if (view.sizes[axis] > 1 && view.strides[axis] != step) return false;
    step *= view.sizes[axis];
  }
  return true;
}

void require_memory(const TensorView& view) {
  if (view.data == nullptr && view.count() > 0)
    misuse("{} has no memory for its numbers", view.name);
}

/// Returns a dense copy of the numbers.
template <class T>
std::vector<T> numbers_of(const TensorView& view) {
  require_memory(view);
  const T* data = static_cast<const T*>(view.data);
  if (is_dense(view)) return {data, data + view.count()};
  std::vector<T> numbers;
  numbers.reserve(static_cast<std::size_t>(view.count()));
  for_each_offset(view, [&](std::int64_t at) { numbers.push_back(data[at]); });
  return numbers;
}

/// Returns the sizes of a mask, whose leading axes may be absent. The axes before the heads become
/// one.
Shape4 mask_shape(const TensorView& mask) {
  const std::size_t rank = mask.sizes.size();
  if (rank < 2) {
    misuse("mask has {} axes (expected [n_q x n_k], with axes of heads and batch elements before)",
           rank);
  }
  Shape4 shape{1, 1, mask.sizes[rank - 2], mask.sizes[rank - 1]};
  if (rank > 2) shape.head = mask.sizes[rank - 3];
  for (std::size_t axis = 3; axis < rank; ++axis) shape.batch *= mask.sizes[rank - 1 - axis];
  return shape;
}

std::vector<std::int64_t> sizes_of(const Shape4& s) {
  return {s.batch, s.head, s.token, s.feature};
}

/// Runs `work`. Sizes and lengths that do not fit are failures where a file has them, and misuse
/// where a caller hands them over.
template <class Work>
auto with_callers_tensors(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::failure) throw Error(ErrorKind::usage, error.what());
    throw;
  }
}

/// The inputs that are no parameters.
constexpr const char* operands[] = {"q",    "k",       "v",    "output_grad",
                                    "mask", "lengths", "edge", "dropout"};

template <class T>
constexpr Dtype dtype_named = std::is_same_v<T, double>    ? Dtype::f64
                              : std::is_same_v<T, float>   ? Dtype::f32
                              : std::is_same_v<T, Float16> ? Dtype::f16
                                                           : Dtype::bf16;

/// The type of the tokens of a call.
template <class T>
constexpr NumberType own_type = static_cast<NumberType>(static_cast<int>(dtype_named<T>));

/// Returns the tensor of a forward pass with this name, except the output; null if there is none.
template <class T>
Tensor4<Compute<T>>* part(Forward<T>& forward, std::string_view name) {
  struct Part {
    const char* name;
    Tensor4<Compute<T>> Forward<T>::*member;
  };
  static constexpr Part parts[] = {{"lse", &Forward<T>::lse},
                                   {"row_reference", &Forward<T>::row_reference},
                                   {"row_sum", &Forward<T>::row_sum},
                                   {"midpoint_sum", &Forward<T>::midpoint_sum},
                                   {"column_lse", &Forward<T>::column_lse},
                                   {"heads_output", &Forward<T>::heads_output}};
  for (const Part& each : parts) {
    if (name == each.name) return &(forward.*each.member);
  }
  return nullptr;
}

template <class T>
AttentionInput<T> views_of(Views inputs) {
  const TensorView* q = find_view(inputs, "q");
  if (q == nullptr) misuse("there is no q among the tensors of the call");
  const TensorView* k = find_view(inputs, "k");
  const TensorView* v = find_view(inputs, "v");
  for (const TensorView* view : {q, k, v}) {
    if (view != nullptr) check_type(*view, own_type<T>);
  }
  AttentionInput<T> input;
  input.query = tokens_of<T>(*q);
  input.key = k == nullptr ? input.query : tokens_of<T>(*k);
  input.value = v == nullptr ? input.key : tokens_of<T>(*v);
  return input;
}

template <class T>
bool is_saved(const std::string& name) {
  Forward<T> none;
  return name == "output" || part(none, name) != nullptr;
}

/// Adds the tensors that are parameters, and the edges; without `with_numbers` their sizes alone.
template <class T>
void add_tensors(Views inputs, AttentionInput<T>& input, bool with_numbers) {
  for (const TensorView& view : inputs) {
    const bool is_operand =
        std::find(std::begin(operands), std::end(operands), view.name) != std::end(operands);
    if (view.name == "edge") {
      check_type(view, NumberType::i64);
      input.indices["edge"] = {view.sizes, {}};
      if (with_numbers) input.indices["edge"].data = numbers_of<std::int64_t>(view);
    } else if (!is_operand && !is_saved<T>(view.name)) {
      check_type(view, own_type<T>);
      input.tensors[view.name] = {view.sizes, {}};
      if (with_numbers && view.name == "bias") {
        require_memory(view);
        input.bias = view;
      } else if (with_numbers) {
        input.tensors[view.name].data = numbers_of<T>(view);
      }
    }
  }
}

template <class T>
class Prepared final : public PreparedCall {
  using N = Compute<T>;
  static constexpr NumberType own = own_type<T>;
  static constexpr NumberType wide = std::is_same_v<N, double> ? NumberType::f64 : NumberType::f32;

 public:
  Prepared(const Call& call, Views inputs) {
    AttentionInput<T> input = tokens(inputs);
    add_tensors(inputs, input, false);
    const bool masked = find_view(inputs, "mask") != nullptr;
    plan_ = with_callers_tensors(
        [&] { return draw_tensors(masked ? call_with_own_mask(call) : call, input); });
    for (const auto& [name, tensor] : input.tensors) {
      if (find_view(inputs, name) == nullptr) drawn_.emplace(name, tensor);
    }
    if (find_view(inputs, "edge") == nullptr) drawn_indices_ = input.indices;
    chooses_evaluation_ = choices(*plan_).contains(evaluation_choice.key);
    declare_forward();
    declare_backward();
    check_names(inputs);
  }

  const char* forward(Views inputs, Views results, const Execution& run) const override {
    check_results(results, Pass::forward);
    const AttentionInput<T> input = read(inputs);
    Forward<T> done = conelab::forward(*plan_, input, run);
    for (const TensorView& view : results) {
      if (view.name == "output") {
        copy_to(view, done.output.data);
      } else {
        copy_to(view, part(done, view.name)->data);
      }
    }
    return chooses_evaluation_ ? evaluation_words[static_cast<int>(done.evaluation)] : "";
  }

  void backward(Views inputs, Views results, const Execution& run) const override {
    check_results(results, Pass::backward);
    AttentionInput<T> input = read(inputs);
    input.wants_bias_gradient =
        !input.tensors.contains("bias") || find_view(results, "bias") != nullptr;
    const bool has_all =
        std::all_of(forward_results_.begin(), forward_results_.end(),
                    [&](const TensorView& r) { return find_view(inputs, r.name) != nullptr; });
    const Forward<T> saved =
        has_all ? saved_of(inputs) : conelab::forward(*plan_, input, stage(run, 0, 0.3));
    const Backward<T> done =
        conelab::backward(*plan_, input, saved, stage(run, has_all ? 0 : 0.3, 1));
    for (const TensorView& view : results) copy_gradient(view, done);
  }

  void tile(Views inputs, Map2d which, const MapTile& tile, const TensorView& out,
            const Execution& run) const override {
    if (!plan_->operation->has_map(*plan_, which)) {
      misuse("{} has no {} of pairs", operator_name(plan_->call),
             which == Map2d::weights ? "weights" : "logits");
    }
    check_type(out, wide);
    check_sizes(out, {tile.query_end - tile.query_begin, tile.key_end - tile.key_begin});
    const AttentionInput<T> input = read(inputs);
    std::optional<Forward<T>> saved;
    if (which == Map2d::weights) saved = rows_of(inputs, input, run);
    std::vector<N> numbers(static_cast<std::size_t>(out.count()));
    const PairMap<T> map(*plan_, input);
    map.tile(which, saved ? &*saved : nullptr, tile, numbers.data(), run);
    copy_to(out, numbers);
  }

 private:
  bool chooses_evaluation_ = false;
  std::map<std::string, Array<T>> drawn_;
  std::map<std::string, Array<std::int64_t>> drawn_indices_;
  /// The lists of the caller's edges, which all passes share.
  std::shared_ptr<GraphLists> graph_ = std::make_shared<GraphLists>();

  /// Returns the plan of the chain of parts that the operator runs on mapped tokens. Null: none,
  /// and the forward pass returns an output alone.
  [[nodiscard]] const Plan* chain() const {
    const bool runs_chain = is_attention(plan_->call) || functions_of<T>(*plan_).pairs != nullptr;
    if (!runs_chain) return nullptr;
    const Plan* top = plan_->chain ? plan_->chain.get() : plan_.get();
    return top->inner ? top->inner.get() : top;
  }

  void declare_forward() {
    forward_results_.push_back({"output", own, nullptr, sizes_of(plan_->output), {}});
    const Plan* pairs = chain();
    if (pairs == nullptr) return;
    const Extents& e = pairs->extents;
    const auto add = [&](const char* name, std::vector<std::int64_t> sizes) {
      forward_results_.push_back({name, wide, nullptr, std::move(sizes), {}});
    };
    for (const char* name : {"lse", "row_reference", "row_sum"}) {
      add(name, {e.batch, e.head, e.query});
    }
    if (is_midpoint(pairs->aggregate)) add("midpoint_sum", {e.batch, e.head, e.query});
    if (pairs->weights == WeightLaw::softmax_over_queries) {
      add("column_lse", {e.batch, e.head, e.key});
    }
    const Plan& top = plan_->chain ? *plan_->chain : *plan_;
    if (top.joins_heads) add("heads_output", {e.batch, e.head, e.query, e.value});
  }

  void declare_backward() {
    const OperatorInfo& info = plan_->operation->info;
    const Extents& e = plan_->extents;
    const auto add = [&](const char* name, const Shape4& shape) {
      backward_results_.push_back({name, own, nullptr, sizes_of(shape), {}});
    };
    add("q", query_shape_);
    if (info.reads_keys) add("k", {e.batch, key_heads_, e.key, e.feature});
    if (info.reads_keys && !info.ignores_values) {
      add("v", {e.batch, value_heads_, e.key, e.value});
    }
    for (const Parameter& p : plan_->parameters) {
      const bool absent = p.info.domain == Domain::tensor && p.extents.empty();
      if (!p.info.differentiable || absent) continue;
      std::vector<std::int64_t> sizes = p.extents;
      if (sizes.empty()) sizes = {static_cast<std::int64_t>(p.values.size())};
      backward_results_.push_back({p.info.key, NumberType::f64, nullptr, std::move(sizes), {}});
    }
  }

  /// Throws misuse for an input that the call does not read.
  void check_names(Views inputs) const {
    for (const TensorView& view : inputs) {
      std::vector<std::string> known(std::begin(operands), std::end(operands));
      for (const Parameter& p : plan_->parameters) {
        if (p.info.domain == Domain::tensor) known.emplace_back(p.info.key);
      }
      for (const TensorView& saved : forward_results_) known.push_back(saved.name);
      if (std::find(known.begin(), known.end(), view.name) == known.end()) {
        unknown_name("tensor of the call", view.name, known);
      }
    }
  }

  void check_results(Views results, Pass pass) const {
    for (const TensorView& view : results) {
      const TensorView* declared = find_view(this->results(pass), view.name);
      if (declared == nullptr) {
        std::vector<std::string> known;
        for (const TensorView& each : this->results(pass)) known.push_back(each.name);
        unknown_name("result of the call", view.name, known);
      }
      check_type(view, declared->type);
      check_sizes(view, declared->sizes);
    }
  }

  [[nodiscard]] AttentionInput<T> tokens(Views inputs) {
    AttentionInput<T> input = views_of<T>(inputs);
    query_shape_ = input.query.shape;
    key_heads_ = input.key.shape.head;
    value_heads_ = input.value.shape.head;
    return input;
  }
  Shape4 query_shape_;
  std::int64_t key_heads_ = 1, value_heads_ = 1;

  /// Returns the input of a pass. The tokens are views of the caller's memory.
  [[nodiscard]] AttentionInput<T> read(Views inputs) const {
    AttentionInput<T> input = input_of<T>(inputs);
    input.tensors.insert(drawn_.begin(), drawn_.end());
    input.indices.insert(drawn_indices_.begin(), drawn_indices_.end());
    input.graph = graph_;
    with_callers_tensors([&] { check_input(*plan_, input); });
    return input;
  }

  /// Returns what those inputs hold that are results of a forward pass.
  [[nodiscard]] Forward<T> saved_of(Views inputs) const {
    Forward<T> saved;
    for (const TensorView& declared : forward_results_) {
      const TensorView* view = find_view(inputs, declared.name);
      if (view == nullptr) continue;
      check_type(*view, declared.type);
      check_sizes(*view, declared.sizes);
      if (declared.name == "output") {
        saved.output.shape = plan_->output;
        saved.output.data = numbers_of<T>(*view);
        continue;
      }
      Tensor4<N>& tensor = *part(saved, declared.name);
      const std::vector<std::int64_t>& s = declared.sizes;
      tensor.shape = {s[0], s[1], s[2], s.size() > 3 ? s[3] : 1};
      tensor.data = numbers_of<N>(*view);
    }
    return saved;
  }

  /// Returns what the weights of a map need of a forward pass: what the inputs hold, or what it
  /// computes.
  [[nodiscard]] Forward<T> rows_of(Views inputs, const AttentionInput<T>& input,
                                   const Execution& run) const {
    const Plan* pairs = chain();
    Forward<T> saved = saved_of(inputs);
    if (pairs == nullptr) return saved;
    if (pairs->weights == WeightLaw::softmax && saved.row_sum.empty() && !saved.lse.empty()) {
      saved.row_reference = saved.lse;
      saved.row_sum = Tensor4<N>(saved.lse.shape, N(1));
      for (std::size_t i = 0; i < saved.lse.data.size(); ++i) {
        if (saved.lse.data[i] > -std::numeric_limits<N>::infinity()) continue;
        saved.row_reference.data[i] = saved.row_sum.data[i] = 0;  // The row sees no key.
      }
    }
    const bool lacks_rows = pairs->weights == WeightLaw::softmax &&
                            (saved.row_sum.empty() || saved.row_reference.empty());
    const bool lacks_columns =
        pairs->weights == WeightLaw::softmax_over_queries && saved.column_lse.empty();
    return lacks_rows || lacks_columns ? conelab::forward(*plan_, input, run) : saved;
  }
};

}  // namespace

template <class T>
StridedTensor4<T> tokens_of(const TensorView& view) {
  const std::size_t rank = view.sizes.size();
  if (rank < 2) {
    misuse("{} has {} axes (expected [n x d], with axes of heads and batch elements before them)",
           view.name, rank);
  }
  const auto size = [&](std::size_t from_end) {
    return from_end < rank ? view.sizes[rank - 1 - from_end] : std::int64_t{1};
  };
  const auto stride = [&](std::size_t from_end) {
    return size(from_end) == 1 ? 0 : view.strides[rank - 1 - from_end];
  };
  if (size(0) > 1 && stride(0) != 1) {
    misuse("the features of {} are not contiguous (expected a stride of 1, found {})", view.name,
           stride(0));
  }
  std::int64_t batch = 1, batch_stride = 0;
  for (std::size_t axis = 3; axis < rank; ++axis) {
    if (size(axis) == 1) continue;
    if (batch > 1 && stride(axis) != batch * batch_stride) {
      misuse(
          "the leading axes of {} do not lie in one sequence (expected a stride of {}, found {})",
          view.name, batch * batch_stride, stride(axis));
    }
    if (batch == 1) batch_stride = stride(axis);
    batch *= size(axis);
  }
  return StridedTensor4<T>(static_cast<const T*>(view.data), {batch, size(2), size(1), size(0)},
                           {batch_stride, stride(2), stride(1)});
}

template StridedTensor4<float> tokens_of(const TensorView&);

template <class T>
AttentionInput<T> input_of(Views inputs) {
  AttentionInput<T> input = views_of<T>(inputs);
  add_tensors(inputs, input, true);
  if (const TensorView* grad = find_view(inputs, "output_grad")) {
    check_type(*grad, own_type<T>);
    input.output_grad = tokens_of<T>(*grad);
  }
  if (const TensorView* mask = find_view(inputs, "mask")) {
    check_type(*mask, NumberType::u8);
    input.allowed_sizes = mask_shape(*mask);
    input.allowed = numbers_of<std::uint8_t>(*mask);
  }
  if (const TensorView* lengths = find_view(inputs, "lengths")) {
    check_type(*lengths, NumberType::i64);
    input.key_lengths = numbers_of<std::int64_t>(*lengths);
  }
  if (const TensorView* dropout = find_view(inputs, "dropout")) {
    check_type(*dropout, NumberType::f64);
    check_sizes(*dropout, {2});
    const std::vector<double> numbers = numbers_of<double>(*dropout);
    if (!(numbers[1] >= 0 && numbers[1] < 0x1p53)) {
      misuse("the seed of dropout is a number from 0 to 2^53 (found {})", numbers[1]);
    }
    input.dropout = {numbers[0], static_cast<std::uint64_t>(numbers[1])};
  }
  return input;
}

template <class T>
void copy_to(const TensorView& view, const std::vector<T>& numbers) {
  require_memory(view);
  if (static_cast<std::int64_t>(numbers.size()) != view.count()) {
    fail("{} was computed with {} numbers (expected {})", view.name, numbers.size(), view.count());
  }
  T* data = static_cast<T*>(view.data);
  const T* from = numbers.data();
  if (is_dense(view)) {
    std::copy(from, from + numbers.size(), data);
  } else {
    for_each_offset(view, [&](std::int64_t at) { data[at] = *from++; });
  }
}

template <class T>
void copy_gradient(const TensorView& view, const Backward<T>& done) {
  if (view.name == "q") return copy_to(view, done.query.data);
  if (view.name == "k") return copy_to(view, done.key.data);
  if (view.name == "v") return copy_to(view, done.value.data);
  const auto number = done.parameters.find(view.name);
  if (number != done.parameters.end()) return copy_to(view, number->second);
  const auto tensor = done.tensors.find(view.name);
  const auto size = static_cast<std::size_t>(view.count());
  copy_to(view, tensor != done.tensors.end() ? tensor->second.data : std::vector<double>(size));
}

#define CONELAB_VIEWS(T)                                           \
  template AttentionInput<T> input_of(Views);                      \
  template void copy_to(const TensorView&, const std::vector<T>&); \
  template void copy_gradient(const TensorView&, const Backward<T>&);
CONELAB_EACH_TYPE(CONELAB_VIEWS)

std::unique_ptr<const PreparedCall> prepare(const Call& call, Views inputs) {
  const TensorView* q = find_view(inputs, "q");
  if (q == nullptr) misuse("there is no q among the tensors of the call");
  return with_type(dtype_of(*q), [&](auto number) -> std::unique_ptr<const PreparedCall> {
    return std::make_unique<Prepared<decltype(number)>>(call, inputs);
  });
}

}  // namespace conelab
