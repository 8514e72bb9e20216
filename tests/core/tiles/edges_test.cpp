// Nothing to attend to, numbers that are none, and numbers at the ends of their range.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
bool all_zero(const Tensor4<T>& t) {
  return std::all_of(t.data.begin(), t.data.end(), [](T x) { return x == 0; });
}
template <class T>
bool all_finite(const Tensor4<T>& t) {
  return std::all_of(t.data.begin(), t.data.end(), [](T x) { return std::isfinite(x); });
}
template <class T>
bool has_nan(const Tensor4<T>& t) {
  return std::any_of(t.data.begin(), t.data.end(), [](T x) { return std::isnan(x); });
}

class Edge : public testing::TestWithParam<Variant> {};

template <class T>
void expect_nothing(const Call& call, const AttentionInput<T>& input) {
  const Answer<T> a = run(call, input);
  EXPECT_TRUE(all_zero(a.forward.output));
  EXPECT_TRUE(all_zero(a.weights));
  const auto sinks = input.tensors.find("sinks");  // They are all that the sums have.
  for (std::int64_t row = 0; row < std::ssize(a.forward.lse.data); ++row) {
    const std::int64_t h = row / input.query.shape.token % input.query.shape.head;
    const T expected = sinks == input.tensors.end() ? -std::numeric_limits<T>::infinity()
                                                    : *sinks->second.of_head(h, 0);
    EXPECT_EQ(a.forward.lse.data[static_cast<std::size_t>(row)], expected);
  }
  for (const T logit : a.logits.data) EXPECT_EQ(logit, -std::numeric_limits<T>::infinity());
  const auto plan = resolve(call, check_extents(input));
  const Backward<T> g = backward(*plan, input, a.forward);
  EXPECT_TRUE(all_zero(g.query) && all_zero(g.key) && all_zero(g.value));
  for (const auto& [key, slopes] : g.parameters) {
    for (const double slope : slopes) EXPECT_EQ(slope, 0) << key;
  }
}

TEST_P(Edge, MaskedRowsAreZeroNeverNan) {
  for (const std::string& weights : weight_words()) {
    for (const char* aggregate : {"mean", "einstein"}) {
      SCOPED_TRACE(weights + " " + aggregate);
      const Extents e{2, 2, 5, 7, 3, 2};
      Call call = make_call(GetParam(), {"none", {"padding"}, weights, aggregate, false}, e);
      AttentionInput<double> input = random_input(call, e, 1);
      input.key_lengths = {0, 0};
      expect_nothing(call, input);
      expect_nothing(call, convert<float>(input));
      call.masks = {"explicit"};
      input.allowed.assign(35, 0);
      expect_nothing(call, input);
    }
  }
}

TEST_P(Edge, OneMaskedRowLeavesTheOthersAlone) {
  const Extents e{1, 1, 6, 8, 3, 2};
  Call call = make_call(GetParam(), {}, e);
  AttentionInput<double> input = random_input(call, e, 2);
  const Answer<double> open = run(call, input);
  call.masks = {"explicit"};
  input.allowed.assign(48, 1);
  std::fill_n(input.allowed.begin() + 2 * 8, 8, std::uint8_t{0});
  const Answer<double> masked = run(call, input);
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t c = 0; c < 2; ++c) {
      const double expected = i == 2 ? 0 : open.forward.output.at(0, 0, i, c);
      EXPECT_NEAR(masked.forward.output.at(0, 0, i, c), expected, 1e-14);
    }
  }
  EXPECT_EQ(masked.forward.lse.at(0, 0, 2, 0), -infinity);
}

TEST_P(Edge, NoKeysNoQueriesNoFeaturesOfValues) {
  for (const Extents& e :
       {Extents{1, 1, 3, 0, 4, 2}, Extents{1, 1, 0, 3, 4, 2}, Extents{1, 1, 0, 0, 4, 2},
        Extents{1, 1, 3, 4, 4, 0}, Extents{0, 1, 3, 4, 4, 2}, Extents{1, 0, 3, 4, 4, 2}}) {
    SCOPED_TRACE(fmt::format("{} {} {} {} {}", e.batch, e.head, e.query, e.key, e.value));
    const Call call = make_call(GetParam(), {}, e);
    const AttentionInput<double> input = random_input(call, e, 3);
    const auto plan = resolve(call, e);
    const Answer<double> a = run(call, input);
    EXPECT_TRUE(all_zero(a.forward.output));
    const Backward<double> g = backward(*plan, input, a.forward);
    EXPECT_EQ(g.query.shape, input.query.shape);
    EXPECT_EQ(g.key.shape, input.key.shape);
    EXPECT_EQ(g.value.shape, input.value.shape);
    EXPECT_TRUE(all_zero(g.query) && all_zero(g.key) && all_zero(g.value));
  }
}

TEST_P(Edge, OneFeature) {
  // With d = 1 a half-space token is its height alone.
  const Extents e{1, 1, 5, 6, 1, 2};
  const Call call = make_call(GetParam(), {}, e);
  const AttentionInput<double> input = random_input(call, e, 4);
  const auto expected = reference::evaluate(reference::make_problem(call, input));
  EXPECT_LE(difference(run(call, input).logits, expected.logits), 1e-12);
  const auto plan = resolve(call, e);
  const Backward<double> g = backward(*plan, input, forward(*plan, input));
  EXPECT_TRUE(all_finite(g.query) && all_finite(g.key));
}

/// Whether row i may differ: `touched` says so.
void expect_other_rows_kept(const Tensor4<double>& found, const Tensor4<double>& clean,
                            const std::vector<bool>& touched) {
  for (std::int64_t i = 0; i < clean.shape.token; ++i) {
    for (std::int64_t c = 0; c < clean.shape.feature; ++c) {
      const double x = found.at(0, 0, i, c);
      if (touched[static_cast<std::size_t>(i)]) {
        EXPECT_TRUE(std::isnan(x)) << i << " " << c << " is " << x;
      } else {
        EXPECT_NEAR(x, clean.at(0, 0, i, c), 1e-12) << i << " " << c;
      }
    }
  }
}

class NanInput : public testing::TestWithParam<Variant> {
 protected:
  Extents extents{1, 1, 70, 70, 4, 3};
  Call call = make_call(GetParam(), {"none", {"causal"}, "softmax", "mean", false}, extents);
  AttentionInput<double> input = random_input(call, extents, 5);
  Tensor4<double> clean = run(call, input).forward.output;
  std::vector<bool> touched = std::vector<bool>(70, false);
};

TEST_P(NanInput, OfAQuerySpoilsItsRow) {
  input.query.owned().at(0, 0, 33, 1) = nan;
  touched[33] = true;
  expect_other_rows_kept(run(call, input).forward.output, clean, touched);
}

TEST_P(NanInput, OfAKeySpoilsTheRowsThatSeeIt) {
  input.key.owned().at(0, 0, 40, 0) = nan;
  std::fill(touched.begin() + 40, touched.end(), true);
  expect_other_rows_kept(run(call, input).forward.output, clean, touched);
}

TEST_P(NanInput, OfAQueryLeavesTheGradientsOfKeysThatItDoesNotSee) {
  const auto plan = resolve(call, extents);
  const auto gradients = [&] { return backward(*plan, input, forward(*plan, input)); };
  const Backward<double> before = gradients();
  input.query.owned().at(0, 0, 33, 1) = nan;
  const Backward<double> after = gradients();
  for (std::int64_t j = 34; j < 70; ++j) {
    for (std::int64_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(after.key.at(0, 0, j, c), before.key.at(0, 0, j, c), 1e-12) << j << " " << c;
    }
    for (std::int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(after.value.at(0, 0, j, c), before.value.at(0, 0, j, c), 1e-12) << j << " " << c;
    }
  }
}

/// Where the last coordinate is read: x_t of the hyperboloid follows from the others.
class NanHeight : public NanInput {};

TEST_P(NanHeight, OfAKeySpoilsTheRowsThatSeeIt) {
  input.key.owned().at(0, 0, 40, 3) = nan;
  std::fill(touched.begin() + 40, touched.end(), true);
  expect_other_rows_kept(run(call, input).forward.output, clean, touched);
}

TEST_P(NanInput, OfAValueSpoilsItsColumn) {
  input.value.owned().at(0, 0, 40, 2) = nan;
  const Tensor4<double> found = run(call, input).forward.output;
  for (std::int64_t i = 0; i < 70; ++i) {
    EXPECT_NEAR(found.at(0, 0, i, 0), clean.at(0, 0, i, 0), 1e-12);
    const double x = found.at(0, 0, i, 2);
    EXPECT_TRUE(i < 40 ? std::abs(x - clean.at(0, 0, i, 2)) < 1e-12 : std::isnan(x)) << i;
  }
}

/// inf - inf = NaN, inf and NaN among the values that a row sees, in many tiles and by each kind of
/// cover: as in the plain sum.
TEST(BadValues, ShowWhereverTheyAreSeen) {
  const Extents e{2, 1, 40, 1300, 4, 4};
  for (const char* mask : {"full", "causal", "padding", "explicit"}) {
    Call call = make_call(variants().front(), {"none", {mask}, "softmax", "mean", false}, e);
    AttentionInput<float> input = convert<float>(random_input(call, e, 12));
    input.key_lengths = {1285, 700};
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(e.query * e.key), 1);
    for (std::size_t at = 0; at < allowed.size(); ++at) allowed[at] = at % 7 == 0 ? 0 : 1;
    if (call.masks.front() == "explicit") input.allowed = allowed;
    for (const std::int64_t key : {3, 600, 610, 1270, 1290}) {
      input.value.owned().at(0, 0, key, 1) = key == 3 ? -INFINITY : INFINITY;
      input.value.owned().at(1, 0, key, 2) = key == 1290 ? NAN : INFINITY;
      std::fill_n(input.value.owned().row(1, 0, key), key == 610 ? 4 : 0, NAN);
    }
    const auto plan = resolve(call, e);
    const Forward<float> found = forward(*plan, input);
    const Mask seen = plan->mask(input);
    for (std::int64_t at = 0; at < found.output.shape.size(); ++at) {
      const std::int64_t b = at / (e.query * e.value), i = at / e.value % e.query, c = at % e.value;
      float sum = 0;
      for (std::int64_t j = 0; j < e.key; ++j) {
        const float v = input.value.at(b, 0, j, c);
        if (!std::isfinite(v) && seen.admits(b, i, j)) sum += v;
      }
      const float x = found.output.at(b, 0, i, c);
      if (std::isinf(sum)) {
        EXPECT_EQ(x, sum) << mask << " " << b << " " << i << " " << c;
      } else {
        EXPECT_EQ(std::isnan(x), std::isnan(sum)) << mask << " " << b << " " << i << " " << c;
        EXPECT_EQ(std::isfinite(x), std::isfinite(sum)) << mask << " " << b << " " << i << " " << c;
      }
    }
  }
}

TEST_P(NanInput, InPaddingIsNeverSeen) {
  call.masks = {"padding"};
  input.key_lengths = {50};
  const auto plan = resolve(call, extents);
  const Forward<double> before = forward(*plan, input);
  const Backward<double> slopes_before = backward(*plan, input, before);
  for (std::int64_t j = 50; j < 70; ++j) {
    std::fill_n(input.key.owned().row(0, 0, j), 4, j % 2 == 0 ? nan : infinity);
    std::fill_n(input.value.owned().row(0, 0, j), 3, j % 2 == 0 ? nan : infinity);
  }
  const Forward<double> after = forward(*plan, input);
  EXPECT_LE(difference(after.output, before.output), 1e-12);
  EXPECT_LE(difference(after.lse, before.lse), 1e-12);
  const Backward<double> slopes = backward(*plan, input, after);
  EXPECT_LE(difference(slopes.query, slopes_before.query), 1e-12);
  EXPECT_LE(difference(slopes.key, slopes_before.key), 1e-12);
  EXPECT_LE(difference(slopes.value, slopes_before.value), 1e-12);
  for (const auto& [key, values] : slopes_before.parameters) {
    EXPECT_NEAR(slopes.parameters.at(key)[0], values[0], 1e-12) << key;
  }
}

/// With this number as coordinate c of query 1 and of key 2, rows that see it are NaN.
template <class S>
void expect_nan_rows(const Call& call, const Extents& e, int c, double number,
                     const std::string& target) {
  const Execution execution = with_threads(0, target);
  const auto plan = resolve(call, e);
  for (const bool of_query : {true, false}) {
    AttentionInput<S> input = convert<S>(random_input(call, e, 9));
    (of_query ? input.query.owned().at(0, 0, 1, c) : input.key.owned().at(0, 0, 2, c)) =
        static_cast<S>(number);
    const Forward<S> found = forward(*plan, input, execution);
    for (std::int64_t i = 0; i < e.query; ++i) {
      const bool expects_nan = of_query ? i == 1 : i >= 2;
      const double x = found.output.at(0, 0, i, 0);
      EXPECT_EQ(std::isnan(x), expects_nan) << target << " d = " << e.feature << ", " << c << " "
                                            << number << " row " << i << " " << x;
    }
  }
}

TEST_P(NanInput, OfAnyCoordinateSpoilsTheRowsThatSeeIt) {
  for (const int d : {1, 2, 3}) {
    const Extents few{1, 1, 4, 4, d, 2};
    const Call plain = make_call(GetParam(), {"none", {"causal"}, "softmax", "mean", false}, few);
    for (int c = 0; c < d; ++c) {
      for (const double x : {nan, infinity, -infinity}) {
        for (const std::string& target : simd_targets<double>()) {
          expect_nan_rows<double>(plain, few, c, x, target);
        }
        for (const std::string& target : simd_targets<float>()) {
          expect_nan_rows<float>(plain, few, c, x, target);
        }
      }
    }
  }
}

/// Tokens of no coordinates have a product, and a distance, of 0.
TEST(NoFeature, LeavesTheMeanOfTheValues) {
  for (const char* similarity : {"dot", "laplacian"}) {
    const Call call = call_from_text(similarity);
    const Extents e{1, 1, 3, 5, 0, 2};
    const auto plan = resolve(call, e);
    AttentionInput<float> input{Tensor4<float>({1, 1, 3, 0}),
                                Tensor4<float>({1, 1, 5, 0}),
                                Tensor4<float>({1, 1, 5, 2}),
                                {},
                                {},
                                {}};
    for (std::int64_t j = 0; j < 5; ++j) input.value.owned().at(0, 0, j, 1) = static_cast<float>(j);
    const Forward<float> found = forward(*plan, input);
    EXPECT_FLOAT_EQ(found.output.at(0, 0, 2, 1), 2) << similarity;
    EXPECT_NO_THROW((void)backward(*plan, input, found)) << similarity;
  }
}

TEST_P(NanInput, InfiniteTokensChangeNoOtherRow) {
  for (const double x : {infinity, -infinity}) {
    AttentionInput<double> infinite = input;
    infinite.query.owned().at(0, 0, 33, 1) = x;
    const Tensor4<double> found = run(call, infinite).forward.output;
    for (std::int64_t i = 0; i < 70; ++i) {
      if (i == 33) continue;
      EXPECT_NEAR(found.at(0, 0, i, 0), clean.at(0, 0, i, 0), 1e-12) << i;
    }
    const auto plan = resolve(call, extents);
    const Backward<double> g = backward(*plan, infinite, forward(*plan, infinite));
    EXPECT_TRUE(std::isfinite(g.query.at(0, 0, 12, 0)));
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, Edge, testing::ValuesIn(variants()), variant_name);
INSTANTIATE_TEST_SUITE_P(Similarity, NanInput, testing::ValuesIn(variants()), variant_name);

template <class Wanted>
std::vector<Variant> chosen(const std::vector<Variant>& from, Wanted wanted) {
  std::vector<Variant> some;
  std::copy_if(from.begin(), from.end(), std::back_inserter(some), wanted);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Similarity, NanHeight,
                         testing::ValuesIn(chosen(variants(),
                                                  [](const Variant& v) {
                                                    return v.name != "hyperbolic_hyperboloid_none";
                                                  })),
                         variant_name);

/// The variants that map any numbers into their model.
std::vector<Variant> mapped_variants() {
  std::vector<Variant> mapped;
  for (const Variant& v : variants()) {
    if (takes_any_tokens(v) && v.name.find("penumbral") + v.name.find("psi") != 0)
      mapped.push_back(v);
  }
  return mapped;
}

class Extreme : public testing::TestWithParam<Variant> {
 protected:
  /// Relative agreement of logits with the reference on the numbers as T.
  template <class T>
  void expect_logits(const AttentionInput<double>& wide, double tolerance) {
    const AttentionInput<T> input = convert<T>(wide);
    const auto expected =
        reference::evaluate(reference::make_problem(call, convert<double>(input)));
    const Answer<T> found = run(call, input);
    EXPECT_LE(difference(found.logits, expected.logits), tolerance);
    EXPECT_FALSE(has_nan(found.forward.output));
  }
  Extents extents{1, 1, 30, 40, 5, 2};
  Call call = make_call(GetParam(), {}, extents);
};

/// The map exp takes sinh of the norm.
class ExtremeNorm : public Extreme {};
/// Where distances decide, of any tokens.
class ExtremeShift : public Extreme {};
/// Only pi has directions.
class ExtremeDirection : public Extreme {};

TEST_P(ExtremeNorm, LargeNorms) {
  // Products of three squared distances leave float's range from 1e6 on.
  for (const double spread : {1e3, 1e4, 1e6, 1e8}) {
    SCOPED_TRACE(spread);
    AttentionInput<double> input = random_input(call, extents, 8, spread);
    for (auto* t : {&input.query, &input.key}) {
      for (std::int64_t i = 0; i < t->shape.token; ++i) t->owned().at(0, 0, i, 4) /= spread;
    }
    expect_logits<double>(input, 1e-12);
    // A product of large tokens may cancel: its error follows their norms, not the logit.
    if (GetParam().name != "dot_none") expect_logits<float>(input, 1e-5);
  }
}

TEST_P(ExtremeNorm, OneFarTokenDoesNotBlurTheOthers) {
  AttentionInput<double> input = random_input(call, extents, 9);
  input.key.owned().at(0, 0, 7, 0) = 1e6;
  input.query.owned().at(0, 0, 3, 1) = -1e6;
  expect_logits<double>(input, 1e-12);
  expect_logits<float>(input, 1e-5);
}

TEST_P(ExtremeShift, OfAllTokensTogether) {
  // Tokens around 1000 instead of around 0: the distances, not the norms, set the accuracy.
  AttentionInput<double> input = random_input(call, extents, 10);
  for (auto* t : {&input.query, &input.key}) {
    for (std::int64_t i = 0; i < t->shape.token; ++i) t->owned().at(0, 0, i, 0) += 1000;
  }
  expect_logits<double>(input, 1e-12);
  // A map spreads the shift over the heights: points near 1000 h, known to 6e-5 h in float32.
  expect_logits<float>(input, GetParam().call.map == "none" ? 1e-5 : 1e-4);
}

TEST_P(ExtremeDirection, OfTokensThatHaveNone) {
  AttentionInput<double> input = random_input(call, extents, 11);
  std::fill_n(input.key.owned().row(0, 0, 3), 4, 0.0);
  std::fill_n(input.query.owned().row(0, 0, 5), 4, 0.0);
  expect_logits<double>(input, 1e-12);
  const auto plan = resolve(call, extents);
  const Backward<double> g = backward(*plan, input, forward(*plan, input));
  EXPECT_TRUE(all_finite(g.query) && all_finite(g.key));
}

bool has_no_sinh(const Variant& v) { return v.call.map != "exp"; }
bool is_of_distances(const Variant& v) { return has_no_sinh(v) && v.name != "dot_none"; }
bool has_directions(const Variant& v) { return v.call.map == "pi"; }

INSTANTIATE_TEST_SUITE_P(Similarity, ExtremeNorm,
                         testing::ValuesIn(chosen(mapped_variants(), has_no_sinh)), variant_name);
INSTANTIATE_TEST_SUITE_P(Similarity, ExtremeShift,
                         testing::ValuesIn(chosen(mapped_variants(), is_of_distances)),
                         variant_name);
INSTANTIATE_TEST_SUITE_P(Similarity, ExtremeDirection,
                         testing::ValuesIn(chosen(mapped_variants(), has_directions)),
                         variant_name);

}  // namespace
}  // namespace conelab::tests
