#include "core/tiles/head.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/finite.h"
#include "core/tiles/aggregate.h"
#include "core/token/model_map_formulas.h"

namespace conelab {
namespace {

/// The number of keys from which the centre is computed. It affects rounding only.
constexpr std::int64_t centre_samples = 16;
/// The most queries that use keys where they lie. From more, packing the keys takes less time.
constexpr std::int64_t most_lying_queries = 8;

/// Returns the numbers of a token as T.
template <class T, class S>
const T* numbers_of(const S* token, std::int64_t d, T* converted) {
  if constexpr (std::is_same_v<S, T>) return token;
  std::copy_n(token, d, converted);
  return converted;
}

}  // namespace

template <class T>
template <class S>
Head<T>::Head(const Plan& plan, const Kernels<T>& kernels, const AttentionInput<S>& input,
              std::int64_t index)
    : plan_(&plan),
      index_(index),
      kernels_(&kernels),
      rows_(&row_kernels<T>(kernels.name)),
      base_size_(plan.map->base_size(static_cast<int>(plan.extents.feature))),
      similarity_values_(token_parameters(
          *plan.similarity, plan.values(plan.similarity_parameters, index % plan.extents.head))),
      map_values_(plan.values(plan.map_parameters, index % plan.extents.head)),
      context_(plan.map_context(map_values_, index % plan.extents.head)),
      first_axis_(static_cast<std::size_t>(base_size_), T(0)),
      bias_(plan, plan.values(plan.bias_parameters, index % plan.extents.head, input.tensors),
            PairNumbers(plan, input, index / plan.extents.head, index % plan.extents.head)),
      position_values_(plan,
                       plan.values(plan.bias_parameters, index % plan.extents.head, input.tensors)),
      sink_(plan.sink(input.tensors, index % plan.extents.head)) {
  const std::int64_t b = index / plan.extents.head, h = index % plan.extents.head;
  for (const double c : plan.values(plan.soft_cap, h)) soft_cap_ = c;
  double constants[max_constants] = {};
  plan.similarity->constant(similarity_values_.data(), constants);
  std::copy_n(constants, max_constants, constants_);
  if (base_size_ > 0) first_axis_.front() = T(1);
  centre_.assign(static_cast<std::size_t>(base_size_), 0.0);
  const bool distance = plan.similarity->info.measure == Measure::squared_distance;
  if (distance && plan.sees_all()) find_centre(input.key.tokens(b, h, plan.extents.head));
  lying_keys_ =
      std::is_same_v<S, T> && !centred_ && base_size_ > most_narrow && !plan.map->by_norm &&
      plan.similarity->info.measure != Measure::tanh_sum &&
      plan.weights != WeightLaw::softmax_over_queries &&
      plan.extents.query * (plan.extents.head / plan.placed_key_heads()) <= most_lying_queries;
  const double columns = static_cast<double>(std::max<std::int64_t>(1, plan.extents.feature));
  bias_.take_queries(kernels, input.query.tokens(b, h),
                     shares_scale() ? similarity_values_.front() : 1 / std::sqrt(columns));
}

template <class T>
bool Head<T>::shares_scale() const {
  return plan_->call.similarity == "dot";
}

template <class T>
template <class S>
void Head<T>::bias_gradients(const double* by_offset, const TokenRows<const S>& queries,
                             const TokenRows<S>& query_grad, PartValues& bias,
                             double* dparameters) const {
  bias_.collect(by_offset, bias);
  const double by_scale = bias_.collect_queries(by_offset, queries, query_grad, bias);
  if (shares_scale()) dparameters[0] += by_scale;
}

template <class T>
template <class S>
void Head<T>::find_centre(const TokenRows<const S>& keys) {
  const std::int64_t d = keys.columns;
  const std::int64_t samples = std::min(keys.count, centre_samples);
  Buffer<T> x(static_cast<std::size_t>(samples * d));
  std::vector<double> square(centre_.size(), 0.0);
  // All are read before the first is mapped, so that the processor waits for several at a time.
  for (std::int64_t s = 0; s < samples; ++s) {
    std::copy_n(keys.row(s * keys.count / samples), d, x.begin() + s * d);
  }
  for (std::int64_t s = 0; s < samples; ++s) {
    MappedToken token;
    map(x.data() + s * d, token);
    const T* row = token.base.along_first ? first_axis_.data() : x.data() + s * d;
    for (std::size_t i = 0; i < centre_.size(); ++i) {
      const double base = token.base.factor * static_cast<double>(row[i]);
      centre_[i] += base;
      square[i] += base * base;
    }
  }
  const double share = 1 / static_cast<double>(samples);
  for (std::size_t i = 0; i < centre_.size(); ++i) {
    // Centre at the mean if it is more than four times the standard deviation. A single outlier
    // must not move all other keys. The centre is representable in T, so that subtracting it rounds
    // once.
    const double mean = static_cast<double>(static_cast<T>(share * centre_[i]));
    centre_[i] = share * square[i] < mean * mean * (1 + 1. / 16) ? mean : 0;
    centred_ = centred_ || centre_[i] != 0;
  }
}

template <class T>
void Head<T>::make_room(std::int64_t count, std::int64_t capacity, Operand<T>& out) const {
  const int values = plan_->similarity->values;
  out.value_stride = capacity;
  out.values.resize(static_cast<std::size_t>(std::max(1, values) * capacity));
  out.norms.resize(static_cast<std::size_t>(capacity));
  std::fill(out.norms.begin() + count, out.norms.end(), T(0));
  for (int v = 0; v < values; ++v) {
    std::fill_n(out.values.begin() + v * capacity + count, capacity - count, T(0));
  }
  out.non_finite.clear();
}

template <class T>
template <class S>
[[gnu::flatten]] void Head<T>::place(const TokenRows<const S>& tokens, std::int64_t capacity,
                                     const char* tensor, std::int64_t first, int panel,
                                     Operand<T>& out) const {
  const std::int64_t count = tokens.count, d = tokens.columns;
  out.stride = operand_stride(base_size_, panel);
  out.base.resize(static_cast<std::size_t>(capacity * out.stride));
  std::fill(out.base.begin() + count * out.stride, out.base.end(), T(0));
  make_room(count, capacity, out);
  Buffer<T> converted(std::is_same_v<S, T> ? 0 : static_cast<std::size_t>(placed_together * d));
  const T* x[placed_together];
  MappedToken at[placed_together];
  double factor[placed_together];
  for (std::int64_t begin = 0; begin < count; begin += placed_together) {
    const auto now = static_cast<int>(std::min<std::int64_t>(placed_together, count - begin));
    for (int i = 0; i < now; ++i) {
      x[i] = numbers_of(tokens.row(begin + i), d, converted.data() + i * d);
    }
    if (place_together(x, now, begin, factor, out)) {
      for (int i = 0; i < now; ++i) {
        at[i].base = {factor[i], false};
        store_base(x[i], begin + i, at[i], out);
      }
      for (int i = 0; i < now; ++i) store_norm(at[i].norm, begin + i, out);
      continue;
    }
    for (int i = 0; i < now; ++i) map(x[i], at[i]);
    for (int i = 0; i < now; ++i) store_base(x[i], begin + i, at[i], out);
    for (int i = 0; i < now; ++i) {
      check_place(x[i], at[i], tensor, first + begin + i);
      store_token(x[i], out.base.data() + (begin + i) * out.stride, at[i], begin + i, out);
    }
  }
}

template <class T>
[[gnu::flatten]] void Head<T>::place_lying(const TokenRows<const T>& keys, std::int64_t capacity,
                                           std::int64_t first, Operand<T>& out) const {
  const std::int64_t count = keys.count;
  make_room(count, capacity, out);
  out.factors.resize(static_cast<std::size_t>(capacity));
  std::fill(out.factors.begin() + count, out.factors.end(), T(0));
  rows_->squared_norms({keys.data, keys.stride, static_cast<int>(count), base_size_},
                       out.norms.data());
  // Sums of T, not of doubles as for a norm: half of the limit allows for their rounding.
  if (is_product() &&
      std::reduce(out.norms.begin(), out.norms.end()) <= std::numeric_limits<T>::max() / 2) {
    return;
  }
  const T* x[placed_together];
  double factor[placed_together];
  for (std::int64_t begin = 0; begin < count; begin += placed_together) {
    const auto now = static_cast<int>(std::min<std::int64_t>(placed_together, count - begin));
    for (int i = 0; i < now; ++i) x[i] = keys.row(begin + i);
    T* factors = out.factors.data() + begin;
    T* norms = out.norms.data() + begin;
    if (place_together(x, now, begin, factor, out)) {
      for (int i = 0; i < now; ++i) {
        factors[i] = static_cast<T>(factor[i]);
        factor[i] *= factor[i] * static_cast<double>(norms[i]);
      }
      for (int i = 0; i < now; ++i) store_norm(factor[i], begin + i, out);
      continue;
    }
    for (int i = 0; i < now; ++i) {
      MappedToken at;
      map(x[i], at);
      check_place(x[i], at, "k", first + begin + i);
      factors[i] = static_cast<T>(at.base.factor);
      at.norm = at.base.factor * at.base.factor * static_cast<double>(norms[i]);
      store_token(x[i], x[i], at, begin + i, out);
    }
  }
}

template <class T>
bool Head<T>::place_together(const T* const* x, int count, std::int64_t at, double* factor,
                             Operand<T>& out) const {
  if (plan_->map->exponential == ExponentialMap::none) return false;
  double last[placed_together] = {};
  for (int i = 0; i < count; ++i) last[i] = x[i][plan_->extents.feature - 1];
  const ExponentialTokens<T> tokens{plan_->map->exponential,
                                    context_.light,
                                    model_maps::psi_rate(context_),
                                    reach<T>,
                                    similarity_values_.data(),
                                    count,
                                    last,
                                    factor,
                                    out.values.data() + at,
                                    out.value_stride};
  return rows_->place_together[plan_->similarity - similarity_table().data()](tokens);
}

template <class T>
void Head<T>::store_norm(double norm, std::int64_t i, Operand<T>& out) const {
  if (!(norm <= reach<T> * reach<T>)) return skip_token(i, out);
  out.norms[static_cast<std::size_t>(i)] = static_cast<T>(norm);
}

template <class T>
void Head<T>::check_place(const T* x, const MappedToken& token, const char* tensor,
                          std::int64_t index) const {
  if (token.wrong != nullptr && all_finite(x, plan_->extents.feature)) {
    fail("{} lies outside the model under map {}: {}", token_name(*plan_, index_, tensor, index),
         plan_->map->name, token.wrong);
  }
  if (!plan_->map->inside_domain && token.place.light_distance <= 0 &&
      all_finite(x, plan_->extents.feature)) {
    fail_outside(token.place, tensor, index);
  }
}

template <class T>
bool Head<T>::is_product() const {
  const SimilarityInfo& info = plan_->similarity->info;
  return info.space == Space::euclidean && info.measure == Measure::product &&
         plan_->similarity->values == 0;
}

template <class T>
bool Head<T>::places_as_is(const TokenRows<const T>& tokens) const {
  if (!is_product()) return false;
  // Sums of T, not of doubles as for a norm: half of the limit allows for their rounding. Names of
  // their own keep the vectors in registers.
  using Lanes [[gnu::vector_size(16)]] = T;
  constexpr std::int64_t width = 16 / sizeof(T);
  Lanes first{}, second{}, third{}, fourth{};
  T rest = 0;
  const auto square = [](const T* x) {
    Lanes lanes;
    std::memcpy(&lanes, x, sizeof lanes);
    return lanes * lanes;
  };
  for (std::int64_t i = 0; i < tokens.count; ++i) {
    const T* x = tokens.row(i);
    std::int64_t c = 0;
    for (; c + 4 * width <= base_size_; c += 4 * width) {
      first += square(x + c);
      second += square(x + c + width);
      third += square(x + c + 2 * width);
      fourth += square(x + c + 3 * width);
    }
    for (; c < base_size_; ++c) rest += x[c] * x[c];
  }
  const Lanes sums = (first + second) + (third + fourth);
  for (std::int64_t n = 0; n < width; ++n) rest += sums[n];
  return rest <= std::numeric_limits<T>::max() / 2;
}

std::string token_name(const Plan& plan, std::int64_t head, const char* tensor,
                       std::int64_t token) {
  const Extents& e = plan.extents;
  const std::string_view name = tensor;
  const std::int64_t own = name == "k" ? e.key_heads() : name == "v" ? e.value_heads() : e.head;
  return fmt::format("token {} of {} (batch {}, head {})", token, tensor, head / e.head,
                     shared_head(head % e.head, own, e.head));
}

template <class T>
void Head<T>::fail_outside(const EmbeddedPoint& place, const char* tensor,
                           std::int64_t token) const {
  const bool ball = plan_->map->space == Space::ball;
  fail("{} lies outside the model under map {}: its {} must be {} {} (found {})",
       token_name(*plan_, index_, tensor, token), plan_->map->name,
       ball ? "distance from the origin" : "height",
       ball ? "above the source's radius" : "below the light's, parameter height =", context_.light,
       place.height);
}

template <class T>
void Head<T>::skip_token(std::int64_t i, Operand<T>& out) const {
  out.non_finite.push_back(i);
  if (!out.base.empty()) std::fill_n(out.base.begin() + i * out.stride, out.stride, T(0));
  out.norms[static_cast<std::size_t>(i)] = 0;
  for (int v = 0; v < plan_->similarity->values; ++v) out.values[v * out.value_stride + i] = T(0);
}

template <class T>
TokenNumbers Head<T>::token_numbers(const T* x) const {
  const std::int64_t d = plan_->extents.feature;
  if (d == 0) return {};
  return {plan_->map->by_norm ? kernels_->exact_product(x, x, base_size_) : 0, x[0], x[d - 1]};
}

template <class T>
void Head<T>::map(const T* x, MappedToken& token) const {
  if (plan_->map->space == Space::euclidean) return;
  token.base = {};
  token.wrong = plan_->map->place(context(), token_numbers(x), token.base, token.place);
}

template <class T>
void Head<T>::store_base(const T* x, std::int64_t i, MappedToken& token, Operand<T>& out) const {
  T* row = out.base.data() + i * out.stride;
  token.norm =
      kernels_->store_scaled(token.base.along_first ? first_axis_.data() : x, token.base.factor,
                             centred_ ? centre_.data() : nullptr, base_size_, row);
  for (std::ptrdiff_t c = base_size_; c < out.stride; ++c) row[c] = T(0);
}

template <class T>
void Head<T>::store_token(const T* x, const T* base, const MappedToken& mapped, std::int64_t i,
                          Operand<T>& out) const {
  const std::int64_t d = plan_->extents.feature;
  // If the last number is -inf, the mapped token may be finite.
  if (mapped.wrong != nullptr || (d > 0 && !std::isfinite(x[d - 1]))) return skip_token(i, out);
  const double norm = mapped.norm;
  out.norms[static_cast<std::size_t>(i)] = static_cast<T>(norm);
  double value[max_values];
  if (plan_->similarity->values > 0) {
    plan_->similarity->token(mapped.place, similarity_values_.data(), value);
  }
  const SimilarityInfo& info = plan_->similarity->info;
  bool finite = (std::isfinite(norm) || all_finite(base, base_size_)) &&
                is_within_reach<T>(info.space, info.measure, norm, mapped.place.height);
  for (int v = 0; v < plan_->similarity->values; ++v) {
    const auto rounded = static_cast<T>(value[v]);
    finite = finite && std::isfinite(rounded);
    out.values[static_cast<std::size_t>(v * out.value_stride + i)] = rounded;
  }
  if (!finite) skip_token(i, out);
}

template <class T>
template <class S, class Out>
void Head<T>::token_gradients(const TokenRows<const S>& tokens, const OperandGradient<T>& upstream,
                              const TokenRows<Out>& dx, double* dparameters) const {
  const auto d = static_cast<std::size_t>(tokens.columns);
  const ModelMapRow& map = *plan_->map;
  const ModelMapContext c = context();
  Buffer<T> converted(std::is_same_v<S, T> ? 0 : d);
  for (std::int64_t i = 0; i < tokens.count; ++i) {
    Out* out = dx.row(i);
    const T* base = upstream.base + i * upstream.stride;
    const T potential = upstream.potential[i];
    const bool untouched =
        potential == 0 && std::all_of(base, base + base_size_, [](T v) { return v == 0; });
    if (untouched) {  // This includes tokens that are not finite and that no query saw.
      std::fill_n(out, d, Out(0));
      continue;
    }
    const T* x = numbers_of(tokens.row(i), tokens.columns, converted.data());
    const TokenNumbers numbers = token_numbers(x);
    EmbeddedPoint place, by_place;
    Scaling unused;
    (void)map.place(c, numbers, unused, place);
    plan_->similarity->token_gradient(place, similarity_values_.data(), potential, by_place,
                                      dparameters);
    const double along = kernels_->exact_product(x, base, base_size_);
    const TokenGradient by = map.gradient(c, numbers, {along, by_place},
                                          dparameters + plan_->similarity_parameters.size());
    if (by.by_token == 0) {
      for (int k = 0; k < base_size_; ++k) out[k] = static_cast<Out>(by.by_base * base[k]);
    } else {
      for (int k = 0; k < base_size_; ++k) {
        out[k] = static_cast<Out>(by.by_base * base[k] + by.by_token * x[k]);
      }
    }
    if (base_size_ < tokens.columns) out[base_size_] = static_cast<Out>(by.last);
  }
}

#define CONELAB_TOKEN_GRADIENTS(T, S, Out)                                                     \
  template void Head<T>::token_gradients(const TokenRows<const S>&, const OperandGradient<T>&, \
                                         const TokenRows<Out>&, double*) const;
#define CONELAB_HEAD(T, S)                                                                         \
  template Head<T>::Head(const Plan&, const Kernels<T>&, const AttentionInput<S>&, std::int64_t);  \
  template void Head<T>::place(const TokenRows<const S>&, std::int64_t, const char*, std::int64_t, \
                               int, Operand<T>&) const;                                            \
  CONELAB_TOKEN_GRADIENTS(T, S, S)                                                                 \
  template void Head<T>::bias_gradients(const double*, const TokenRows<const S>&,                  \
                                        const TokenRows<S>&, PartValues&, double*) const;
template class Head<float>;
template class Head<double>;
CONELAB_HEAD(float, float)
CONELAB_HEAD(float, Float16)
CONELAB_HEAD(float, Bfloat16)
CONELAB_HEAD(double, double)
CONELAB_TOKEN_GRADIENTS(float, Float16, float)
CONELAB_TOKEN_GRADIENTS(float, Bfloat16, float)

}  // namespace conelab
