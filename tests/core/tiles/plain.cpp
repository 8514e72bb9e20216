#include "tests/core/tiles/plain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/half.h"
#include "core/similarity/all.h"

namespace conelab::tests {
namespace {

template <class S>
float rounded(double x) {
  return static_cast<float>(S(static_cast<float>(x)));
}

/// The sum of f(i) over [0, count) in float, rounded to S.
template <class S, class F>
float sum_of(std::int64_t count, const F& f) {
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += f(i);
  return rounded<S>(sum);
}

/// A placed token in S.
struct PlacedToken {
  std::vector<float> base;
  float value[max_values] = {};
};

/// The formula of a similarity in float, by scalar code.
struct Formula {
  float (*score)(float x, const float* q, const float* k, const float* c);
  /// dlogit/dx, and with respect to both potentials.
  std::array<float, 3> (*slope)(float x, const float* q, const float* k, const float* c);
};

template <class... S>
Formula formula_of(const SimilarityRow& row, TypeList<S...>) {
  static constexpr Formula formulas[] = {
      {[](float x, const float* q, const float* k, const float* c) { return S::score(x, q, k, c); },
       [](float x, const float* q, const float* k, const float* c) {
         const auto s = S::slope(x, q, k, c);
         return std::array{s.x, s.query, s.key};
       }}...};
  return formulas[&row - similarity_table().data()];
}

/// One head of a call.
template <class S>
class PlainHead {
 public:
  PlainHead(const Plan& plan, const AttentionInput<S>& input, std::int64_t batch, std::int64_t head)
      : plan_(plan),
        in_(input),
        b_(batch),
        h_(head),
        similarity_values_(
            token_parameters(*plan.similarity, plan.values(plan.similarity_parameters, head))),
        map_values_(plan.values(plan.map_parameters, head)),
        context_(plan.map_context(map_values_, head)),
        base_size_(plan.map->base_size(static_cast<int>(plan.extents.feature))),
        bias_values_(plan.values(plan.bias_parameters, head, input.tensors)),
        mask_(plan.mask(input)),
        formula_(formula_of(*plan.similarity, Similarities{})) {
    context_.p = map_values_.data();
    double constants[max_constants] = {};
    plan.similarity->constant(similarity_values_.data(), constants);
    std::transform(constants, constants + max_constants, constants_, rounded<S>);
    for (std::int64_t i = 0; i < plan.extents.query; ++i) {
      query_.push_back(placed(input.query.row(b_, h_, i)));
    }
    for (std::int64_t j = 0; j < plan.extents.key; ++j) {
      key_.push_back(placed(input.key.row(b_, h_, j)));
      value_.push_back(extended(input.value.row(b_, h_, j)));
    }
  }

  void run(Plain& out) {
    const Extents& e = plan_.extents;
    std::vector<std::vector<float>> key_base(key_.size(), std::vector<float>(base_size(), 0.0F));
    std::vector<std::vector<float>> value(key_.size(), std::vector<float>(width(), 0.0F));
    std::vector<float> key_slope(key_.size(), 0.0F);
    for (std::int64_t i = 0; i < e.query; ++i) {
      const Row row = row_of(i);
      std::copy(row.output.begin(), row.output.end(), out.output.row(b_, h_, i));
      std::vector<float> query_base(base_size(), 0.0F);
      float query_slope = 0;
      for (std::size_t j = 0; j < key_.size(); ++j) {
        if (row.weight[j] == 0 || !sees(i, j)) continue;
        const auto [slope_x, slope_query, slope_key] = formula_.slope(
            measure(i, j), query_[static_cast<std::size_t>(i)].value, key_[j].value, constants_);
        const float by_logit = row.by_logit[j];
        const float by_x = rounded<S>(by_logit * slope_x);
        add_pair(query_[static_cast<std::size_t>(i)].base, key_[j].base, by_x, query_base,
                 key_base[j]);
        query_slope += rounded<S>(by_logit * slope_query);
        key_slope[j] += rounded<S>(by_logit * slope_key);
        for (std::size_t c = 0; c < width(); ++c) value[j][c] += row.weight[j] * row.upstream[c];
      }
      finish_token(in_.query.row(b_, h_, i), query_base, query_slope, out.query.row(b_, h_, i));
    }
    for (std::int64_t j = 0; j < e.key; ++j) {
      const auto at = static_cast<std::size_t>(j);
      finish_token(in_.key.row(b_, h_, j), key_base[at], key_slope[at], out.key.row(b_, h_, j));
      finish_value(in_.value.row(b_, h_, j), value[at], out.value.row(b_, h_, j));
    }
  }

 private:
  /// What a row has of its pairs.
  struct Row {
    std::vector<float> weight, by_logit;  ///< [n_k]
    std::vector<float> output;            ///< [d_v]
    std::vector<float> upstream;          ///< [width] dL/d(weighted sum)
  };

  const Plan& plan_;
  const AttentionInput<S>& in_;
  std::int64_t b_, h_;
  std::vector<double> similarity_values_, map_values_;
  ModelMapContext context_;
  int base_size_;
  PartValues bias_values_;
  Mask mask_;
  Formula formula_;
  float constants_[max_constants];
  std::vector<PlacedToken> query_, key_;
  std::vector<std::vector<float>> value_;  ///< [n_k × width]

  [[nodiscard]] std::size_t base_size() const { return static_cast<std::size_t>(base_size_); }
  /// Numbers of a value; the midpoint has the Lorentz factor as well.
  [[nodiscard]] std::size_t width() const {
    return static_cast<std::size_t>(plan_.extents.value) + (is_midpoint(plan_.aggregate) ? 1 : 0);
  }
  [[nodiscard]] Measure kind() const { return plan_.similarity->info.measure; }
  /// Terms of a pair's measure.
  [[nodiscard]] std::size_t terms() const {
    return kind() == Measure::tanh_sum ? base_size() / 2 : base_size();
  }
  [[nodiscard]] bool sees(std::int64_t i, std::size_t j) const {
    return mask_.admits(b_, i, static_cast<std::int64_t>(j));
  }

  [[nodiscard]] std::vector<double> wide(const S* x, std::int64_t size) const {
    std::vector<double> out(static_cast<std::size_t>(size));
    std::transform(x, x + size, out.begin(), [](S v) { return static_cast<double>(float(v)); });
    return out;
  }

  PlacedToken placed(const S* token) const {
    const std::vector<double> x = wide(token, plan_.extents.feature);
    std::vector<double> base(base_size());
    Place place;
    (void)place_token(*plan_.map, context_, x.data(), base.data(), place);
    PlacedToken out;
    for (const double v : base) out.base.push_back(rounded<S>(v));
    double value[max_values] = {};
    plan_.similarity->token(place, similarity_values_.data(), value);
    std::transform(value, value + max_values, out.value, rounded<S>);
    return out;
  }

  static float lorentz_factor(const std::vector<double>& v) {
    const float norm2 = sum_of<S>(static_cast<std::int64_t>(v.size()), [&](std::int64_t c) {
      const auto x = static_cast<float>(v[static_cast<std::size_t>(c)]);
      return rounded<S>(x * x);
    });
    return rounded<S>(1 / std::sqrt(rounded<S>(1 - norm2)));
  }

  std::vector<float> extended(const S* token) const {
    const std::vector<double> v = wide(token, plan_.extents.value);
    std::vector<float> out(v.begin(), v.end());
    if (!is_midpoint(plan_.aggregate)) return out;
    const float gamma = lorentz_factor(v);
    for (float& x : out) x = rounded<S>(gamma * x);
    out.push_back(gamma);
    return out;
  }

  [[nodiscard]] float measure(std::int64_t i, std::size_t j) const {
    const std::vector<float>&q = query_[static_cast<std::size_t>(i)].base, &k = key_[j].base;
    return sum_of<S>(static_cast<std::int64_t>(terms()), [&](std::int64_t at) {
      const auto c = static_cast<std::size_t>(at);
      if (kind() == Measure::tanh_sum) return k[terms() + c] * tangent(q[c], k[c]);
      const float apart = rounded<S>(q[c] - k[c]);
      return kind() == Measure::squared_distance ? apart * apart : q[c] * k[c];
    });
  }

  static float tangent(float q, float k) { return rounded<S>(std::tanh(rounded<S>(q + k))); }

  /// Adds what a pair gives to dL/dbase of its tokens.
  void add_pair(const std::vector<float>& q, const std::vector<float>& k, float by_x,
                std::vector<float>& by_q, std::vector<float>& by_k) const {
    for (std::size_t c = 0; c < terms(); ++c) {
      if (kind() == Measure::tanh_sum) {
        const float t = tangent(q[c], k[c]);
        const float by_sum = rounded<S>(rounded<S>(by_x * k[terms() + c]) * rounded<S>(1 - t * t));
        by_q[c] += by_sum;
        by_k[c] += by_sum;
        by_k[terms() + c] += by_x * t;
        continue;
      }
      const float apart = rounded<S>(2 * rounded<S>(q[c] - k[c]));
      by_q[c] += by_x * (kind() == Measure::squared_distance ? apart : k[c]);
      by_k[c] += by_x * (kind() == Measure::squared_distance ? -apart : q[c]);
    }
  }

  [[nodiscard]] float logit(std::int64_t i, std::size_t j) const {
    if (!sees(i, j)) return -std::numeric_limits<float>::infinity();
    const float score = rounded<S>(formula_.score(
        measure(i, j), query_[static_cast<std::size_t>(i)].value, key_[j].value, constants_));
    if (bias_values_.p.empty()) return score;
    const auto offset = static_cast<double>(static_cast<std::int64_t>(j) - i + plan_.extents.query -
                                            plan_.extents.key);
    return rounded<S>(score + rounded<S>(plan_.bias->value(bias_values_, offset)));
  }

  void set_weights(std::int64_t i, std::vector<float>& weight) const {
    for (std::size_t j = 0; j < key_.size(); ++j) weight.push_back(logit(i, j));
    if (plan_.weights == WeightLaw::sigmoid) {
      for (float& w : weight) w = rounded<S>(1 / (1 + std::exp(-w)));
      return;
    }
    if (plan_.weights == WeightLaw::exponential) {
      for (float& w : weight) w = rounded<S>(std::exp(w));
      return;
    }
    const float most = *std::max_element(weight.begin(), weight.end());
    for (float& w : weight) w = rounded<S>(std::exp(rounded<S>(w - most)));
    const float sum = sum_of<S>(
        plan_.extents.key, [&](std::int64_t j) { return weight[static_cast<std::size_t>(j)]; });
    for (float& w : weight) w = rounded<S>(w / sum);
  }

  Row row_of(std::int64_t i) const {
    Row row;
    set_weights(i, row.weight);
    std::vector<float> sums;
    for (std::size_t c = 0; c < width(); ++c) {
      sums.push_back(sum_of<S>(plan_.extents.key, [&](std::int64_t j) {
        return row.weight[static_cast<std::size_t>(j)] * value_[static_cast<std::size_t>(j)][c];
      }));
    }
    row.output.assign(sums.begin(), sums.begin() + plan_.extents.value);
    const S* given = in_.output_grad.row(b_, h_, i);
    for (std::int64_t c = 0; c < plan_.extents.value; ++c) row.upstream.push_back(float(given[c]));
    if (is_midpoint(plan_.aggregate)) set_midpoint(sums.back(), row);
    set_slopes(row);
    return row;
  }

  static void set_midpoint(float divisor, Row& row) {
    float along = 0;
    for (std::size_t c = 0; c < row.output.size(); ++c) {
      row.output[c] = rounded<S>(row.output[c] / divisor);
      row.upstream[c] = rounded<S>(row.upstream[c] / divisor);
      along += row.upstream[c] * row.output[c];
    }
    row.upstream.push_back(-rounded<S>(along));
  }

  void set_slopes(Row& row) const {
    for (std::size_t j = 0; j < key_.size(); ++j) {
      row.by_logit.push_back(sum_of<S>(static_cast<std::int64_t>(width()), [&](std::int64_t c) {
        return row.upstream[static_cast<std::size_t>(c)] * value_[j][static_cast<std::size_t>(c)];
      }));
    }
    // The Einstein midpoint's sums are free of scale: their mean is 0.
    const bool has_mean = plan_.weights == WeightLaw::softmax && !is_midpoint(plan_.aggregate);
    const float mean = !has_mean ? 0 : sum_of<S>(plan_.extents.value, [&](std::int64_t c) {
      return row.upstream[static_cast<std::size_t>(c)] * row.output[static_cast<std::size_t>(c)];
    });
    for (std::size_t j = 0; j < key_.size(); ++j) {
      const float rate = plan_.weights == WeightLaw::sigmoid
                             ? rounded<S>(row.weight[j] * (1 - row.weight[j]))
                             : row.weight[j];
      row.by_logit[j] = rounded<S>(rate * rounded<S>(row.by_logit[j] - mean));
    }
  }

  void finish_token(const S* token, const std::vector<float>& by_base, float by_potential,
                    double* out) const {
    const std::vector<double> x = wide(token, plan_.extents.feature);
    double along = 0, unused[64] = {};
    for (std::size_t i = 0; i < by_base.size(); ++i) along += x[i] * rounded<S>(by_base[i]);
    const TokenNumbers numbers = token_numbers(*plan_.map, context_, x.data());
    Place place, by_place;
    Scaling scaling;
    (void)plan_.map->place(context_, numbers, scaling, place);
    plan_.similarity->token_gradient(place, similarity_values_.data(), rounded<S>(by_potential),
                                     by_place, unused);
    const TokenGradient by = plan_.map->gradient(context_, numbers, {along, by_place}, unused);
    if (by_base.size() < x.size()) out[by_base.size()] = rounded<S>(by.last);
    for (std::size_t i = 0; i < by_base.size(); ++i) {
      out[i] = rounded<S>(by.by_base * rounded<S>(by_base[i]) + by.by_token * x[i]);
    }
  }

  void finish_value(const S* token, const std::vector<float>& by_extended, double* out) const {
    const std::vector<double> v = wide(token, plan_.extents.value);
    double gamma = 1, radial = 0;
    if (is_midpoint(plan_.aggregate)) {
      gamma = lorentz_factor(v);
      double by_gamma = rounded<S>(by_extended.back());
      for (std::size_t c = 0; c < v.size(); ++c) by_gamma += rounded<S>(by_extended[c]) * v[c];
      radial = rounded<S>(rounded<S>(by_gamma) * gamma * gamma * gamma);
    }
    for (std::size_t c = 0; c < v.size(); ++c) {
      out[c] = rounded<S>(gamma * rounded<S>(by_extended[c]) + radial * v[c]);
    }
  }
};

}  // namespace

template <class S>
Plain evaluate_plainly(const Plan& plan, const AttentionInput<S>& input) {
  Plain out{Tensor4<double>(
                {plan.extents.batch, plan.extents.head, plan.extents.query, plan.extents.value}),
            Tensor4<double>(input.query.shape), Tensor4<double>(input.key.shape),
            Tensor4<double>(input.value.shape)};
  for (std::int64_t b = 0; b < plan.extents.batch; ++b) {
    for (std::int64_t h = 0; h < plan.extents.head; ++h) {
      PlainHead<S>(plan, input, b, h).run(out);
    }
  }
  return out;
}

template Plain evaluate_plainly(const Plan&, const AttentionInput<float>&);
template Plain evaluate_plainly(const Plan&, const AttentionInput<Float16>&);
template Plain evaluate_plainly(const Plan&, const AttentionInput<Bfloat16>&);

}  // namespace conelab::tests
