#include "core/tiles/pair_bias.h"

#include <algorithm>
#include <thread>
#include <type_traits>

#include "core/base/half.h"

namespace conelab {
namespace {

template <class T>
constexpr NumberType number_type = std::is_same_v<T, double>    ? NumberType::f64
                                   : std::is_same_v<T, float>   ? NumberType::f32
                                   : std::is_same_v<T, Float16> ? NumberType::f16
                                                                : NumberType::bf16;

template <class Read>
auto in_type(NumberType type, const void* data, const Read& read) {
  switch (type) {
    case NumberType::f64:
      return read(static_cast<const double*>(data));
    case NumberType::f16:
      return read(static_cast<const Float16*>(data));
    case NumberType::bf16:
      return read(static_cast<const Bfloat16*>(data));
    default:
      return read(static_cast<const float*>(data));
  }
}

}  // namespace

template <class S>
TensorView pair_bias_view(const Plan& plan, const AttentionInput<S>& input) {
  if (input.bias.data != nullptr) return input.bias;
  const Array<S>& own = input.tensors.at(plan.parameters[plan.bias_parameters.front()].info.key);
  TensorView view{"", number_type<S>, const_cast<S*>(own.data.data()), own.extents, own.extents};
  std::int64_t step = 1;
  for (std::size_t axis = own.extents.size(); axis-- > 0; step *= own.extents[axis]) {
    view.strides[axis] = step;
  }
  return view;
}

template <class S>
PairNumbers::PairNumbers(const Plan& plan, const AttentionInput<S>& input, std::int64_t b,
                         std::int64_t h) {
  if (!plan.bias->of_pairs) return;
  const TensorView view = pair_bias_view(plan, input);
  const auto stride = [&](std::size_t from_end) -> std::ptrdiff_t {
    const std::size_t rank = view.sizes.size();
    if (from_end >= rank || view.sizes[rank - 1 - from_end] == 1) return 0;
    return view.strides[rank - 1 - from_end];
  };
  type_ = view.type;
  row_ = stride(1);
  column_ = stride(0);
  has_gradient_ = input.wants_bias_gradient;
  data_ = in_type(type_, view.data, [&](const auto* first) -> const void* {
    return first + b * stride(3) + h * stride(2);
  });
}

template <class T>
void PairNumbers::read(std::int64_t query, std::int64_t key, std::int64_t count, T* out) const {
  in_type(type_, data_, [&](const auto* first) {
    first += query * row_ + key * column_;
    for (std::int64_t c = 0; c < count; ++c) out[c] = static_cast<T>(first[c * column_]);
  });
}

template <class T>
const T* PairNumbers::in_place(std::int64_t query, std::int64_t key) const {
  if (type_ != number_type<T> || column_ != 1) return nullptr;
  return static_cast<const T*>(data_) + query * row_ + key;
}

PairGradient::PairGradient(const Plan& plan, std::int64_t tiles, std::int64_t blocks,
                           Array<double>& into)
    : into_(into), units_{plan.extents.batch, plan.extents.head, tiles, blocks} {
  const Parameter& bias = plan.parameters[plan.bias_parameters.front()];
  const Shape4 s = pair_sizes(bias.extents);
  sizes_ = {s.batch, s.head, s.token, s.feature};
  const Extents& e = plan.extents;
  shared_ = {s.batch < e.batch, s.head < e.head, s.feature < e.key, s.token < e.query};
  into_ = {bias.extents, std::vector<double>(static_cast<std::size_t>(s.size()), 0.0)};
  std::int64_t slots = 1;
  for (std::size_t axis = 0; axis < 4; ++axis) slots *= shared_[axis] ? 1 : units_[axis];
  turn_ = std::vector<std::atomic<std::int64_t>>(static_cast<std::size_t>(slots));
}

PairGradient::Place PairGradient::place(const Unit& unit) const {
  const std::int64_t at[] = {unit.batch, unit.head, unit.tile, unit.block};
  std::int64_t slot = 0, order = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    std::int64_t& index = shared_[axis] ? order : slot;
    index = index * units_[axis] + at[axis];
  }
  return {static_cast<std::size_t>(slot), order};
}

bool PairGradient::wait(const Unit& unit, const std::function<bool()>& stopped) const {
  const Place own = place(unit);
  while (turn_[own.slot].load(std::memory_order_acquire) != own.order) {
    if (stopped()) return false;
    std::this_thread::yield();
  }
  return true;
}

template <class T>
void PairGradient::add(const Unit& unit, std::int64_t query, std::int64_t key, std::int64_t count,
                       const T* logit_slope) {
  const auto [batches, heads, queries, keys] = sizes_;
  const std::int64_t element = (batches > 1 ? unit.batch : 0) * heads + (heads > 1 ? unit.head : 0);
  const std::int64_t row = element * queries + (queries > 1 ? query : 0);
  double* to = into_.data.data() + row * keys + (keys > 1 ? key : 0);
  for (std::int64_t c = 0; c < count; ++c) {
    to[keys > 1 ? c : 0] += static_cast<double>(logit_slope[c]);
  }
}

void PairGradient::finish(const Unit& unit) {
  const Place own = place(unit);
  turn_[own.slot].store(own.order + 1, std::memory_order_release);
}

#define CONELAB_PAIRS(S)                                                                 \
  template TensorView pair_bias_view(const Plan&, const AttentionInput<S>&);             \
  template PairNumbers::PairNumbers(const Plan&, const AttentionInput<S>&, std::int64_t, \
                                    std::int64_t);
CONELAB_EACH_TYPE(CONELAB_PAIRS)
#define CONELAB_PAIR_NUMBERS(T)                                                        \
  template void PairNumbers::read(std::int64_t, std::int64_t, std::int64_t, T*) const; \
  template const T* PairNumbers::in_place(std::int64_t, std::int64_t) const;           \
  template void PairGradient::add(const Unit&, std::int64_t, std::int64_t, std::int64_t, const T*);
CONELAB_PAIR_NUMBERS(float)
CONELAB_PAIR_NUMBERS(double)

}  // namespace conelab
