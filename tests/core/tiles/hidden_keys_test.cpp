// What a row's result depends on: the keys that it sees, to the last bit, however odd the others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/call/call.h"
#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t tokens = 96, feature = 5;

/// The variants that map large numbers into their model.
std::vector<Variant> variants_with_maps() {
  std::vector<Variant> mapped;
  for (const Variant& v : variants()) {
    // The map exp takes sinh of the norm.
    if (takes_any_tokens(v) && v.call.map != "exp") mapped.push_back(v);
  }
  return mapped;
}

struct Result {
  Forward<float> forward;
  Backward<float> backward;
};

void expect_same_rows(const Tensor4<float>& found, const Tensor4<float>& before,
                      std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    ASSERT_TRUE(std::equal(before.row(0, 0, i), before.row(0, 0, i) + before.shape.feature,
                           found.row(0, 0, i)))
        << "row " << i;
  }
}

class HiddenKeys : public testing::TestWithParam<Variant> {
 protected:
  Extents extents{1, 1, tokens, tokens, feature, 3};
  Call call;
  AttentionInput<float> input;

  void SetUp() override { prepare("none"); }
  void prepare(const std::string& bias) {
    call = make_call(GetParam(), {bias, {"causal"}, "softmax", "mean", false}, extents);
    input = convert<float>(random_input(call, extents, 3, 2));
  }
  [[nodiscard]] Result result(const std::string& target) const {
    const Execution execution = one_thread(target);
    const auto plan = resolve(call, extents);
    Result r{forward(*plan, input, execution), {}};
    r.backward = backward(*plan, input, r.forward, execution);
    return r;
  }
  void expect_no_bit_changed(const std::string& target) {
    SCOPED_TRACE(target);
    const Result before = result(target);
    const AttentionInput<float> kept = input;
    // As the key of a query that it lies beside, far off, and no number.
    for (const float x : {input.query.at(0, 0, 3, 0), 1e8F, 1e21F, no_number}) {
      std::copy_n(input.query.row(0, 0, 3), extents.feature, input.key.owned().row(0, 0, 60));
      input.key.owned().at(0, 0, 60, 0) = x;
      const Result after = result(target);
      expect_same_rows(after.forward.output, before.forward.output, 60);
      expect_same_rows(after.forward.lse, before.forward.lse, 60);
      expect_same_rows(after.backward.query, before.backward.query, 60);
    }
    input = kept;
  }
};

TEST_P(HiddenKeys, ChangeNoBitOfARow) {
  for (const std::string& target : simd_targets()) expect_no_bit_changed(target);
}

/// Whose addition may round with one formula of a similarity and not with another; of enough
/// features that most rows lie outside all cones.
TEST_P(HiddenKeys, ChangeNoBitOfABiasedRow) {
  extents.feature = 32;
  prepare("hype");
  for (const std::string& target : simd_targets()) expect_no_bit_changed(target);
}

TEST_P(HiddenKeys, MakeNoRowNanBesideAFarOne) {
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    input.key.owned().at(0, 0, 0, 0) = 1e8F;
    std::fill_n(input.key.owned().row(0, 0, 16), feature, no_number);
    const Result r = result(target);
    for (std::int64_t i = 0; i < tokens; ++i) {
      ASSERT_EQ(std::isnan(r.forward.output.at(0, 0, i, 0)), i >= 16) << "row " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, HiddenKeys, testing::ValuesIn(variants_with_maps()),
                         variant_name);

/// Nor may it matter how many rows there are: few have no short formulas. A weight of 0 hides what
/// an infinite value makes of its slope.
TEST(FarRows, OfWeightZeroHaveNoSlopes) {
  for (const char* word : {"penumbral:gamma=100", "penumbral:gamma=100:weights=sigmoid"}) {
    Call call = call_from_text(word);
    AttentionInput<float> many = convert<float>(random_input(call, {1, 1, 64, 64, 16, 3}, 5, 1));
    many.value.owned().at(0, 0, 7, 1) = std::numeric_limits<float>::infinity();
    for (std::int64_t i = 5; i < 64; ++i)
      std::fill_n(many.output_grad.owned().row(0, 0, i), 3, 0.0F);
    many.allowed.clear();
    AttentionInput<float> few = many;
    few.query = Tensor4<float>({1, 1, 5, 16});
    few.output_grad = Tensor4<float>({1, 1, 5, 3});
    std::copy_n(many.query.owned().data.begin(), few.query.owned().data.size(),
                few.query.owned().data.begin());
    std::copy_n(many.output_grad.owned().data.begin(), few.output_grad.owned().data.size(),
                few.output_grad.owned().data.begin());
    for (const std::string& target : simd_targets()) {
      SCOPED_TRACE(target + " " + word);
      const Execution execution = one_thread(target);
      const auto slopes = [&](const AttentionInput<float>& input) {
        const auto plan = resolve(call, check_extents(input));
        return backward(*plan, input, forward(*plan, input, execution), execution);
      };
      const Backward<float> of_few = slopes(few), of_many = slopes(many);
      for (std::int64_t i = 0; i < 5; ++i) {
        for (std::int64_t c = 0; c < 16; ++c) {
          EXPECT_EQ(std::isfinite(of_few.query.at(0, 0, i, c)),
                    std::isfinite(of_many.query.at(0, 0, i, c)));
        }
      }
    }
  }
}

/// Groups of queries see parts of tiles: where those begin and end must not show either.
TEST(WindowedKeys, OutsideItChangeNoBitOfARow) {
  const Extents wide{1, 1, 200, 1300, feature, 3};
  const Call call = call_from_text("penumbral:masks=window:window=150");
  AttentionInput<float> given = convert<float>(random_input(call, wide, 3, 2));
  const auto plan = resolve(call, wide);
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    const Execution execution = one_thread(target);
    AttentionInput<float> input = given;
    const Forward<float> before = forward(*plan, input, execution);
    // Seen by queries from 50 on: query i lies beside key 1100 + i.
    std::copy_n(input.query.row(0, 0, 3), feature, input.key.owned().row(0, 0, 1299));
    input.key.owned().at(0, 0, 1299, 0) = no_number;
    const Forward<float> after = forward(*plan, input, execution);
    expect_same_rows(after.output, before.output, 50);
    EXPECT_TRUE(std::isnan(after.output.at(0, 0, 50, 0)));
  }
}

/// Beside the guard against subnormal results: small values and upstream gradients keep theirs.
TEST(SmallNumbers, KeepTheirDigits) {
  const Call call = call_from_text("penumbral");
  auto input = convert<double>(convert<float>(random_input(call, {1, 1, 40, 300, 8, 3}, 2, 1)));
  auto small = convert<float>(input);
  for (float& v : small.value.owned().data) v *= 0x1p-80F;
  for (float& g : small.output_grad.owned().data) g *= 0x1p-10F;
  const auto plan = resolve(call, check_extents(input));
  const auto expected = forward(*plan, input);
  const auto found = forward(*plan, small, one_thread());
  const auto slopes = backward(*plan, input, expected);
  const auto small_slopes = backward(*plan, small, found, one_thread());
  for (std::size_t i = 0; i < expected.output.data.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(found.output.data[i]) * 0x1p80, expected.output.data[i], 1e-6);
  }
  for (std::size_t i = 0; i < slopes.query.data.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(small_slopes.query.data[i]) * 0x1p90, slopes.query.data[i],
                1e-5);
  }
}

/// Where all weights are near e^-16 of what they stand for.
TEST(SmallNumbers, KeepTheirDigitsUnderSmallWeights) {
  const Call call = call_from_text("laplacian");
  auto small = convert<float>(random_input(call, {1, 1, 5, 1100, 2, 3}, 2, 1));
  std::fill(small.query.owned().data.begin(), small.query.owned().data.end(), 0.0F);
  for (std::size_t j = 0; j < small.key.owned().data.size(); j += 2) {
    small.key.owned().data[j] = 15.5F + 0.01F * small.key.owned().data[j];
    small.key.owned().data[j + 1] = 0;
  }
  AttentionInput<double> input = convert<double>(small);
  for (float& v : small.value.owned().data) v *= 0x1p-80F;
  const auto plan = resolve(call, check_extents(input));
  const auto expected = forward(*plan, input);
  for (const std::string& target : simd_targets()) {
    const Execution execution = one_thread(target);
    const auto found = forward(*plan, small, execution);
    for (std::size_t i = 0; i < expected.output.data.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(found.output.data[i]) * 0x1p80, expected.output.data[i], 2e-8)
          << target;
    }
  }
}

/// A row's first tile takes natural logits, as the way back does, and later ones take logits to
/// base 2 by a factor that is rounded: at this gamma by almost as much as there is.
TEST(SmallNumbers, TilesAndPassesAgreeWhereTheFactorOfLogitsIsRounded) {
  Call call = call_from_text("laplacian");
  double gamma = 1, most = 0;
  for (float g = 0.9F; g < 1.1F; g = std::nextafter(g, 2.0F)) {
    const double exact = static_cast<double>(g) * std::numbers::log2e;
    const double error =
        std::abs(static_cast<double>(g * std::numbers::log2e_v<float>) / exact - 1);
    if (error > most) most = error, gamma = g;
  }
  EXPECT_GT(most, 5e-8);
  call.parameters["gamma"] = fmt::format("{}", static_cast<float>(gamma));
  constexpr std::int64_t n = 1536;
  auto input = convert<float>(random_input(call, {1, 1, 64, n, 2, 3}, 2, 1));
  std::fill(input.query.owned().data.begin(), input.query.owned().data.end(), 0.0F);
  for (std::int64_t j = 0; j < n; ++j) {  // All tiles alike.
    input.key.owned().at(0, 0, j, 0) =
        15.8F / static_cast<float>(gamma) + 0.01F * static_cast<float>(j % 7);
    input.key.owned().at(0, 0, j, 1) = 0;
  }
  std::fill(input.output_grad.owned().data.begin(), input.output_grad.owned().data.end(), 1.0F);
  const auto plan = resolve(call, check_extents(input));
  const auto expected = forward(*plan, convert<double>(input));
  for (const std::string& target : simd_targets()) {
    const Execution execution = one_thread(target);
    const auto found = forward(*plan, input, execution);
    EXPECT_LE(difference(found.output, expected.output), 2e-8) << target;
    EXPECT_LE(difference(found.lse, expected.lse), 5e-7) << target;
    const auto slopes = backward(*plan, input, found, execution);
    double all = 0;
    for (std::int64_t j = 0; j < n; ++j) all += slopes.value.at(0, 0, j, 0);
    EXPECT_NEAR(all / 64, 1, 1.1e-6) << target << ": weights of a row are to add up to 1";
  }
}

/// A group of queries reads only the part of a tile of keys that it sees, if the mask is a range of
/// keys; the same mask as an array hides pair by pair.
TEST(MaskOfRanges, HasTheGradientsOfTheSameMaskAsAnArray) {
  const Extents extents{2, 2, 600, 600, 6, 3, {}, {}, 1, 1};
  for (const char* text :
       {"dot:masks=causal", "dot:masks=window:window=90:weights=softmax:axis=query",
        "dot:masks=causal:bias=shaw:shaw_v=random:shaw_k=random:clip=9",
        "dot:masks=window+causal:window=300:bias=hype:grid=20x30", "umbral:masks=padding+causal",
        "penumbral:masks=window:window=300:aggregate=einstein", "laplacian:masks=causal:bias=alibi",
        "additive:masks=window:window=140", "hyperbolic:masks=causal:weights=sigmoid",
        "multiplicative:masks=window+padding:window=77:bias=t5"}) {
    SCOPED_TRACE(text);
    Call ranges = call_from_text(text);
    AttentionInput<double> input = random_input(ranges, extents, 31);
    const auto masks = resolve(ranges, check_extents(input));
    const Mask seen = masks->mask(input);
    Call array = ranges;
    array.masks = {"explicit"};
    array.parameters.erase("window");
    AttentionInput<double> masked = input;
    masked.key_lengths.clear();
    masked.allowed.clear();
    masked.allowed_sizes = {extents.batch, 1, extents.query, extents.key};
    for (std::int64_t b = 0; b < extents.batch; ++b) {
      for (std::int64_t i = 0; i < extents.query; ++i) {
        for (std::int64_t j = 0; j < extents.key; ++j) {
          masked.allowed.push_back(seen.admits(b * extents.head, i, j) ? 1 : 0);
        }
      }
    }
    for (const std::string& target : simd_targets<double>()) {
      SCOPED_TRACE(target);
      const Execution execution = one_thread(target);
      const auto gradients = [&](const Call& call, const AttentionInput<double>& given) {
        const auto plan = resolve(call, check_extents(given));
        return backward(*plan, given, forward(*plan, given, execution), execution);
      };
      const Backward<double> found = gradients(ranges, input), expected = gradients(array, masked);
      EXPECT_LE(difference(found.query, expected.query), 1e-11);
      EXPECT_LE(difference(found.key, expected.key), 1e-11);
      EXPECT_LE(difference(found.value, expected.value), 1e-11);
      for (const auto& [key, values] : expected.parameters) {
        EXPECT_NEAR(found.parameters.at(key)[0], values[0], 1e-9 * (1 + std::abs(values[0])))
            << key;
      }
    }
  }
}

}  // namespace
}  // namespace conelab::tests
