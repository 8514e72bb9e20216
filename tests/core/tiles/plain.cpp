#include "tests/core/tiles/plain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/half.h"
#include "tests/core/tiles/plain_formulas.h"

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
  float height, light_distance;
};

/// dL/d(height) and dL/d(light_distance) of a token.
struct PlaceSums {
  float height = 0, light_distance = 0;
};

/// One head of a call.
template <class S>
class PlainHead {
 public:
  PlainHead(const Plan& plan, const AttentionInput<S>& input, std::int64_t batch, std::int64_t head)
      : plan_(plan),
        in_(input),
        b_(batch),
        h_(head),
        map_values_(plan.values(plan.map_parameters, head)),
        context_(plan.map_context(map_values_, head)),
        base_size_(plan.map->base_size(static_cast<int>(plan.extents.feature))),
        bias_values_(plan.values(plan.bias_parameters, head, input.tensors)),
        mask_(plan.mask(input)),
        formula_(plain_formula(*plan.similarity)) {
    context_.p = map_values_.data();
    for (const double p : plan.values(plan.similarity_parameters, head)) {
      similarity_values_.push_back(static_cast<float>(p));
    }
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
    std::vector<PlaceSums> key_place(key_.size());
    for (std::int64_t i = 0; i < e.query; ++i) {
      const Row row = row_of(i);
      std::copy(row.output.begin(), row.output.end(), out.output.row(b_, h_, i));
      std::vector<float> query_base(base_size(), 0.0F);
      PlaceSums query_place;
      for (std::size_t j = 0; j < key_.size(); ++j) {
        if (row.weight[j] == 0 || !sees(i, j)) continue;
        const std::array<float, variables> slope = similarity(i, j).by;
        const float by_logit = row.by_logit[j];
        const float by_x = rounded<S>(by_logit * slope[measure_x]);
        add_pair(query_[static_cast<std::size_t>(i)].base, key_[j].base, by_x, query_base,
                 key_base[j]);
        query_place.height += rounded<S>(by_logit * slope[query_height]);
        query_place.light_distance += rounded<S>(by_logit * slope[query_light]);
        key_place[j].height += rounded<S>(by_logit * slope[key_height]);
        key_place[j].light_distance += rounded<S>(by_logit * slope[key_light]);
        for (std::size_t c = 0; c < width(); ++c) value[j][c] += row.weight[j] * row.upstream[c];
      }
      finish_token(in_.query.row(b_, h_, i), query_base, query_place, out.query.row(b_, h_, i));
    }
    for (std::int64_t j = 0; j < e.key; ++j) {
      const auto at = static_cast<std::size_t>(j);
      finish_token(in_.key.row(b_, h_, j), key_base[at], key_place[at], out.key.row(b_, h_, j));
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
  std::vector<float> similarity_values_;
  std::vector<double> map_values_;
  ModelMapContext context_;
  int base_size_;
  PartValues bias_values_;
  Mask mask_;
  PlainFormula formula_;
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
    EmbeddedPoint place;
    (void)place_token(*plan_.map, context_, x.data(), base.data(), place);
    PlacedToken out{{}, rounded<S>(place.height), rounded<S>(place.light_distance)};
    for (const double v : base) out.base.push_back(rounded<S>(v));
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

  [[nodiscard]] Dual similarity(std::int64_t i, std::size_t j) const {
    const PlacedToken &q = query_[static_cast<std::size_t>(i)], &k = key_[j];
    return evaluate(formula_, *plan_.similarity, similarity_values_,
                    {measure(i, j), q.height, q.light_distance, k.height, k.light_distance});
  }

  [[nodiscard]] double bias(std::int64_t i, std::int64_t j) const {
    if (plan_.bias->of_pairs) {
      const auto at = static_cast<std::size_t>(i * plan_.extents.key + j);
      return static_cast<double>(in_.tensors.at("bias").data[at]);
    }
    const auto offset = static_cast<double>(j - i + plan_.extents.query - plan_.extents.key);
    return plan_.bias->value(bias_values_, offset);
  }

  /// The logit before the soft cap.
  [[nodiscard]] float uncapped(std::int64_t i, std::size_t j) const {
    const float score = rounded<S>(similarity(i, j).value);
    if (bias_values_.p.empty()) return score;
    return rounded<S>(score + rounded<S>(bias(i, static_cast<std::int64_t>(j))));
  }
  /// tanh(logit / c) of the soft cap.
  [[nodiscard]] float share_of_cap(std::int64_t i, std::size_t j) const {
    const auto c = static_cast<float>(plan_.values(plan_.soft_cap, h_).front());
    return rounded<S>(std::tanh(rounded<S>(uncapped(i, j) / c)));
  }

  [[nodiscard]] float logit(std::int64_t i, std::size_t j) const {
    if (!sees(i, j)) return -std::numeric_limits<float>::infinity();
    if (plan_.soft_cap.empty()) return uncapped(i, j);
    return rounded<S>(plan_.values(plan_.soft_cap, h_).front() * share_of_cap(i, j));
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
    weight.push_back(static_cast<float>(plan_.sink(in_.tensors, h_)));
    const float most = *std::max_element(weight.begin(), weight.end());
    for (float& w : weight) w = rounded<S>(std::exp(rounded<S>(w - most)));
    const float sum = sum_of<S>(
        plan_.extents.key + 1, [&](std::int64_t j) { return weight[static_cast<std::size_t>(j)]; });
    for (float& w : weight) w = rounded<S>(w / sum);
    weight.pop_back();
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
    set_slopes(i, row);
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

  void set_slopes(std::int64_t i, Row& row) const {
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
      if (plan_.soft_cap.empty()) continue;
      const float t = share_of_cap(i, j);
      row.by_logit[j] = rounded<S>(row.by_logit[j] * rounded<S>(1 - t * t));
    }
  }

  void finish_token(const S* token, const std::vector<float>& by_base, const PlaceSums& by,
                    double* out) const {
    const std::vector<double> x = wide(token, plan_.extents.feature);
    double along = 0, unused[64] = {};
    for (std::size_t i = 0; i < by_base.size(); ++i) along += x[i] * rounded<S>(by_base[i]);
    const TokenNumbers numbers = token_numbers(*plan_.map, context_, x.data());
    const EmbeddedPoint by_place{rounded<S>(by.height), rounded<S>(by.light_distance)};
    const TokenGradient token_by =
        plan_.map->gradient(context_, numbers, {along, by_place}, unused);
    if (by_base.size() < x.size()) out[by_base.size()] = rounded<S>(token_by.last);
    for (std::size_t i = 0; i < by_base.size(); ++i) {
      out[i] = rounded<S>(token_by.by_base * rounded<S>(by_base[i]) + token_by.by_token * x[i]);
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
