// Properties of volume-preserving attention that its definition promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/operators/jacobian.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Call volume_call(const std::string& weighting, const std::string& form = "") {
  Call call;
  call.operation = "volume-preserving";
  call.parameters = {{"A", "random"}, {"weighting", weighting}};
  if (!form.empty()) call.parameters["form"] = form;
  return call;
}

AttentionInput<double> volume_input(const Call& call, std::int64_t n, std::int64_t d,
                                    std::uint64_t seed, double spread = 1.5) {
  Random random(seed);
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, n, d});
  for (double& x : input.query.owned().data) x = random.uniform(-spread, spread);
  input.key = input.value = input.query;
  draw_tensors(call, input, seed);
  return input;
}

Tensor4<double> volume_output(const Call& call, const AttentionInput<double>& input) {
  return forward(*resolve(call, check_extents(input)), input).output;
}

/// The first head of a Tensor4 or StridedTensor4 that is dense.
template <class Tensor>
Eigen::Map<const Square> matrix_of(const Tensor& t) {
  return {t.row(0, 0, 0), t.shape.token, t.shape.feature};
}
Eigen::Map<const Square> matrix_of(const Array<double>& a) {
  return {a.data.data(), a.extents[0], a.extents[1]};
}

double determinant(const Call& call, const AttentionInput<double>& input) {
  return jacobian_determinants(*resolve(call, check_extents(input)), input).front().value();
}

/// C by its definition.
Square skew_products(const std::string& weighting, const AttentionInput<double>& input) {
  const auto x = matrix_of(input.query), A = matrix_of(input.tensors.at("A"));
  const Square all = x * A * x.transpose();
  if (weighting == "skew") return (all - all.transpose()) / 2;  // Skew in spite of rounding.
  const Square lower =
      Square(all.triangularView<Eigen::StrictlyLower>()) / std::sqrt(static_cast<double>(x.cols()));
  return lower - lower.transpose();
}

TEST(VolumePreserving, SkewJacobianHasDeterminantOne) {
  for (const std::int64_t d : {1, 2, 3, 5, 8}) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 11}) {
      const Call call = volume_call("skew");
      const double found = determinant(call, volume_input(call, n, d, 17));
      EXPECT_NEAR(found, 1, 1e-11) << "n = " << n << ", d = " << d;
    }
  }
}

TEST(VolumePreserving, ArbitraryJacobianHasAnother) {
  const Call call = volume_call("arbitrary");
  int far = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    far += std::abs(std::abs(determinant(call, volume_input(call, 6, 3, seed))) - 1) > 0.1;
  }
  EXPECT_GE(far, 8);
}

TEST(VolumePreserving, KeepsTheNorm) {
  for (const char* weighting : {"skew", "arbitrary"}) {
    for (const char* form : {"linear", "cubic"}) {
      for (const std::int64_t n : {1, 3, 7, 100}) {
        const Call call = volume_call(weighting, form);
        const AttentionInput<double> input = volume_input(call, n, 6, 3);
        const double before = matrix_of(input.query).norm();
        EXPECT_NEAR(matrix_of(volume_output(call, input)).norm(), before, 1e-12 * before)
            << weighting << " " << form << " " << n;
      }
    }
  }
}

/// C of the output is C of the input: the products of tokens do not change.
TEST(VolumePreserving, SkewKeepsTheProductsOfTokens) {
  const Call call = volume_call("skew");
  for (const std::int64_t n : {4, 6, 40}) {
    const AttentionInput<double> input = volume_input(call, n, 6, 5);
    AttentionInput<double> mapped = input;
    mapped.query = volume_output(call, input);
    const Square before = skew_products("skew", input), after = skew_products("skew", mapped);
    EXPECT_LE((before - after).cwiseAbs().maxCoeff(), 1e-11 * before.norm()) << n;
  }
}

TEST(VolumePreserving, FormsAgree) {
  for (const char* weighting : {"skew", "arbitrary"}) {
    for (const auto& [n, d] : {std::pair{300, 16}, {40, 1}, {33, 64}, {4, 9}, {200, 64}}) {
      const Call linear = volume_call(weighting, "linear"), cubic = volume_call(weighting, "cubic");
      const AttentionInput<double> input = volume_input(linear, n, d, 29);
      EXPECT_LE(difference(volume_output(linear, input), volume_output(cubic, input)), 1e-10)
          << weighting << " " << n << " " << d;
      const auto gradient = [&](const Call& call) {
        const auto plan = resolve(call, check_extents(input));
        return backward(*plan, input, forward(*plan, input));
      };
      const Backward<double> a = gradient(linear), b = gradient(cubic);
      EXPECT_LE(difference(a.query, b.query), 1e-9) << weighting << " " << n << " " << d;
    }
  }
}

/// Lambda^T (I - C) = I + C, for the inverses in closed form too, and for products of 1e4.
TEST(VolumePreserving, WeightsAreTheCayleyTransform) {
  for (const char* weighting : {"skew", "arbitrary"}) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 40}) {
      for (const double spread : {1.0, 100.0}) {
        const Call call = volume_call(weighting, "cubic");
        const AttentionInput<double> input = volume_input(call, n, 6, 7, spread);
        const auto plan = resolve(call, check_extents(input));
        const Tensor4<double> map = attention_map(*plan, input, Map2d::weights);
        const auto weights = matrix_of(map);
        const Square C = skew_products(weighting, input), I = Square::Identity(n, n);
        SCOPED_TRACE(testing::Message() << weighting << " " << n << " " << C.norm());
        EXPECT_LE((weights * (I - C) - I - C).cwiseAbs().maxCoeff(), 1e-13 * (1 + C.norm()));
        EXPECT_LE((weights * weights.transpose() - I).cwiseAbs().maxCoeff(),
                  n <= 5 ? 2e-15 : 1e-10);
        EXPECT_LE((weights * matrix_of(input.query) - matrix_of(volume_output(call, input)))
                      .cwiseAbs()
                      .maxCoeff(),
                  1e-10 * spread);
      }
    }
  }
}

/// Output and gradient of q by the array C, evaluated plainly in float.
struct PlainVolume {
  Eigen::MatrixXf output, query;

  PlainVolume(bool skew, const AttentionInput<float>& input) {
    using Given = Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>;
    const Eigen::Index n = input.query.shape.token, d = input.query.shape.feature;
    const Eigen::MatrixXf x = Given(input.query.row(0, 0, 0), n, d);
    const Eigen::MatrixXf g = Given(input.output_grad.row(0, 0, 0), n, d);
    const Eigen::MatrixXf A = Given(input.tensors.at("A").data.data(), d, d);
    const Eigen::MatrixXf B = skew ? A : Eigen::MatrixXf(A / std::sqrt(static_cast<float>(d)));
    const Eigen::MatrixXf all = x * B * x.transpose(), I = Eigen::MatrixXf::Identity(n, n);
    const Eigen::MatrixXf L = all.triangularView<Eigen::StrictlyLower>(), C = L - L.transpose();
    const Eigen::MatrixXf v = (I - C).partialPivLu().solve(x);
    const Eigen::MatrixXf w = (I + C).partialPivLu().solve(2 * g);
    output = 2 * v - x;
    const Eigen::MatrixXf dC = w * v.transpose() - v * w.transpose();
    const Eigen::MatrixXf dL = dC.triangularView<Eigen::StrictlyLower>();
    query = w - g + dL * x * B.transpose() + dL.transpose() * x * B;
  }
};

double root_mean_square(const Tensor4<double>& exact, const Eigen::MatrixXd& found) {
  return (matrix_of(exact) - found).norm() / std::sqrt(static_cast<double>(found.size()));
}

TEST(VolumePreserving, Float32ErrorsAreAtMostTwiceThoseOfThePlainFormula) {
  for (const char* weighting : {"skew", "arbitrary"}) {
    for (const char* form : {"linear", "cubic"}) {
      for (const auto& [n, d] : {std::pair{600, 64}, {200, 8}, {64, 64}}) {
        const Call call = volume_call(weighting, form);
        AttentionInput<float> input = convert<float>(volume_input(call, n, d, 31));
        Random random(5);
        input.output_grad = input.query;
        for (float& g : input.output_grad.owned().data)
          g = static_cast<float>(random.uniform(-1, 1));
        const auto plan = resolve(call, check_extents(input));
        const auto wide = convert<double>(input);
        const Forward<double> exact = forward(*plan, wide);
        const Forward<float> found = forward(*plan, input);
        const PlainVolume plain(weighting == std::string("skew"), input);
        const auto as_double = [](const Tensor4<float>& t) {
          return Eigen::MatrixXd(matrix_of(convert<double>(t)));
        };
        SCOPED_TRACE(testing::Message() << weighting << " " << form << " " << n << " " << d);
        EXPECT_LE(root_mean_square(exact.output, as_double(found.output)),
                  2 * root_mean_square(exact.output, plain.output.cast<double>()));
        const Tensor4<double> slopes = backward(*plan, wide, exact).query;
        EXPECT_LE(root_mean_square(slopes, as_double(backward(*plan, input, found).query)),
                  2 * root_mean_square(slopes, plain.query.cast<double>()));
      }
    }
  }
}

TEST(VolumePreserving, WeightsAreFilledInTiles) {
  const Call call = volume_call("arbitrary", "cubic");
  const AttentionInput<float> input = convert<float>(volume_input(call, 40, 6, 7));
  const auto plan = resolve(call, check_extents(input));
  const Tensor4<float> all = attention_map(*plan, input, Map2d::weights);
  std::vector<float> tile(5 * 9);
  PairMap<float>(*plan, input).tile(Map2d::weights, nullptr, {0, 0, 10, 15, 20, 29}, tile.data());
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 9; ++j) {
      EXPECT_NEAR(tile[static_cast<std::size_t>(9 * i + j)], all.at(0, 0, 10 + i, 20 + j), 1e-6);
    }
  }
}

TEST(VolumePreserving, WeightsAreThoseOfTokensWithTheirPositions) {
  Call call = volume_call("skew", "cubic");
  call.position = "sinusoidal";
  const AttentionInput<double> input = volume_input(call, 12, 6, 7);
  const auto plan = resolve(call, check_extents(input));
  const Tensor4<double> map = attention_map(*plan, input, Map2d::weights);
  const PairCall<double> mapped = pair_call(call, input);
  EXPECT_LE((matrix_of(map) * matrix_of(mapped.input.query) - matrix_of(volume_output(call, input)))
                .cwiseAbs()
                .maxCoeff(),
            1e-10);
}

TEST(VolumePreserving, FormIsLinearWhereTokensOutnumberFeatures) {
  const auto form_of = [](std::int64_t n, std::int64_t d) {
    return choices(*resolve(volume_call("skew"), {1, 1, n, n, d, d})).at("form");
  };
  EXPECT_EQ(form_of(9, 8), "linear");
  EXPECT_EQ(form_of(8, 8), "cubic");
}

TEST(VolumePreserving, NamesTheFirstPairThatIsNotSkew) {
  const Call call = volume_call("skew");
  AttentionInput<double> input = volume_input(call, 4, 3, 1);
  input.tensors["A"].data = {0, 1, 2, -1, 0, 3, 2, -3, 0};
  const Error error = fixtures::error_of([&] { return volume_output(call, input); });
  EXPECT_EQ(error.exit_status(), 1);
  EXPECT_THAT(error.what(), testing::HasSubstr("A[0,2] = -A[2,0], found 2 and 2"));
  input.tensors["A"].data = {0, 1, 2, -1, 0, 3, -2 + 1e-6, -3, 0};
  EXPECT_NO_THROW((void)volume_output(call, input));
}

TEST(Jacobian, OfAttentionIsThatOfFiniteDifferences) {
  Call call = call_from_text("dot");
  Random random(4);
  AttentionInput<double> input;
  input.query = Tensor4<double>({2, 2, 3, 2});
  for (double& x : input.query.owned().data) x = random.uniform(-1, 1);
  input.key = input.value = input.query;
  call.parameters["scale"] = "0.5,2";
  const auto plan = resolve(call, check_extents(input));
  const std::vector<Determinant> found = jacobian_determinants(*plan, input);
  ASSERT_EQ(found.size(), 4u);
  const double step = 1e-5;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 2; ++h) {
      Square jacobian(6, 6);
      const auto output = [&](std::int64_t i, double offset) {
        AttentionInput<double> moved = input;
        moved.query.owned().row(b, h, 0)[i] += offset;
        moved.key = moved.value = moved.query;
        return head_of(forward(*plan, moved).output, b, h);
      };
      for (std::int64_t i = 0; i < 6; ++i) {
        const Tensor4<double> ahead = output(i, step), behind = output(i, -step);
        for (std::int64_t o = 0; o < 6; ++o) {
          const auto at = static_cast<std::size_t>(o);
          jacobian(o, i) = (ahead.data[at] - behind.data[at]) / (2 * step);
        }
      }
      EXPECT_NEAR(found[static_cast<std::size_t>(2 * b + h)].value(), jacobian.determinant(), 1e-8);
    }
  }
}

/// Returns an input of random tokens, of which k and v are q.
AttentionInput<double> random_input_of(const Shape4& shape, Random& random) {
  AttentionInput<double> input;
  input.query = Tensor4<double>(shape);
  for (double& x : input.query.owned().data) x = random.uniform(-1, 1);
  input.key = input.value = input.query;
  return input;
}

TEST(Jacobian, OfABatchElementIsThatOfItAloneWhereAnOperatorMakesHeads) {
  for (const char* operation : {"multi-head", "recursive"}) {
    Call call;
    call.operation = operation;
    call.similarity = "laplacian";
    call.parameters = {{"heads", "2"},
                       {"gamma", "0.5,2"},
                       {"P_query", "random"},
                       {"P_key", "random"},
                       {"P_value", "random"}};
    Random random(3);
    AttentionInput<double> both = random_input_of({2, 1, 3, 4}, random);
    draw_tensors(call, both, 3);
    const auto found = jacobian_determinants(*resolve(call, check_extents(both)), both);
    ASSERT_EQ(found.size(), 2u);
    for (std::int64_t b = 0; b < 2; ++b) {
      const AttentionInput<double> one = input_of_head(both, b, 0);
      const double alone = determinant(call, one);
      EXPECT_NE(alone, 0) << operation;
      EXPECT_NEAR(found[static_cast<std::size_t>(b)].value() / alone, 1, 1e-12) << operation;
    }
  }
}

TEST(Jacobian, OfAHeadReadsTheTensorsOfThatHead) {
  Call call;
  call.operation = "relation-network";
  Random random(5);
  AttentionInput<double> input = random_input_of({1, 2, 3, 4}, random);
  for (const auto& [name, extents] : std::map<std::string, std::vector<std::int64_t>>{
           {"W_query", {2, 5, 4}}, {"W_key", {2, 5, 4}}, {"b", {2, 5}}, {"W_out", {2, 4, 5}}}) {
    Array<double>& tensor = input.tensors[name] = {extents, {}};
    const std::int64_t size = name == "b" ? 10 : 40;
    for (std::int64_t i = 0; i < size; ++i) tensor.data.push_back(random.uniform(-1, 1));
  }
  const auto found = jacobian_determinants(*resolve(call, check_extents(input)), input);
  ASSERT_EQ(found.size(), 2u);
  for (std::int64_t h = 0; h < 2; ++h) {
    const AttentionInput<double> one = input_of_head(input, 0, h, call_parameters(call));
    EXPECT_NEAR(found[static_cast<std::size_t>(h)].value(), determinant(call, one), 1e-10);
  }
}

TEST(Jacobian, IsRefusedWhereItIsTooLargeOrNotSquare) {
  const auto message = [](const Call& call, const Extents& extents) {
    return fixtures::misuse_of([&] { check_determinant(*resolve(call, extents)); });
  };
  const Call call = volume_call("skew");
  EXPECT_EQ(message(call, {1, 1, 64, 64, 64, 64}), "");
  EXPECT_THAT(message(call, {1, 1, 65, 65, 64, 64}), testing::HasSubstr("at most 4096"));
  const Call dot = call_from_text("dot");
  EXPECT_THAT(message(dot, {1, 1, 4, 4, 3, 2}), testing::HasSubstr("not square"));
}

}  // namespace
}  // namespace conelab::tests
