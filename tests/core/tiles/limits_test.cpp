// Where one similarity becomes another, and closed formulas of special positions.
#include <gtest/gtest.h>

#include "core/call/plan.h"
#include "core/geometry/cone_law.h"
#include "core/geometry/model.h"
#include "core/simd/kernels.h"
#include "core/tiles/tile_size.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

/// Half-space points of one height.
AttentionInput<double> level_points(double height, std::int64_t n, std::int64_t d,
                                    std::uint64_t seed, double spread) {
  const Call call = call_from_text("laplacian");
  AttentionInput<double> input = random_input(call, {1, 1, n, n + 3, d, 2}, seed, spread);
  for (auto* t : {&input.query, &input.key}) {
    for (std::int64_t i = 0; i < t->shape.token; ++i) t->owned().at(0, 0, i, d - 1) = height;
  }
  return input;
}

Call similarity(const std::string& name, const std::map<std::string, Value>& parameters = {},
                const std::string& map = "none") {
  Call call = call_from_text(name);
  call.map = map;
  call.parameters = parameters;
  return call;
}

/// Dot products of one query with the keys of three tiles that climb by `step` from tile to tile.
template <class T>
void expect_softmax_of_stairs(double step, double tolerance) {
  const std::int64_t n = 2 * forward_keys<T> + 188;
  AttentionInput<T> input;
  input.query = Tensor4<T>({1, 1, 1, 1}, T(1));
  input.key = Tensor4<T>({1, 1, n, 1});
  input.value = Tensor4<T>({1, 1, n, 1});
  std::vector<double> logits;
  for (std::int64_t j = 0; j < n; ++j) {
    logits.push_back(step * static_cast<double>(j / forward_keys<T>) +
                     0.125 * static_cast<double>(j % 7));
    input.key.owned().data[static_cast<std::size_t>(j)] = static_cast<T>(logits.back());
    input.value.owned().data[static_cast<std::size_t>(j)] = static_cast<T>(j % 5);
  }
  const double most = *std::max_element(logits.begin(), logits.end());
  double sum = 0, weighted = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double weight = std::exp(logits[static_cast<std::size_t>(j)] - most);
    sum += weight;
    weighted += weight * static_cast<double>(j % 5);
  }
  const auto found =
      forward(*resolve(similarity("dot", {{"scale", "1"}}, ""), check_extents(input)), input);
  EXPECT_NEAR(found.output.data[0], weighted / sum, tolerance);
  EXPECT_NEAR(found.lse.data[0], most + std::log(sum), tolerance * std::max(1.0, std::abs(most)));
}

TEST(Limit, ARowWhoseLogitsClimbFromTileToTileKeepsItsSoftmax) {
  for (const double step : {-600.0, -90.0, -12.0, -5.0, 0.0, 5.0, 12.0, 90.0, 600.0}) {
    SCOPED_TRACE(step);
    expect_softmax_of_stairs<double>(step, 1e-12);
    expect_softmax_of_stairs<float>(step, 1e-5);
  }
}

/// Tokens of the half-space as points of the ball around (0, ..., 0, height).
Tensor4<double> seen_from(double height, Tensor4<double> tokens) {
  const Eigen::Index d = tokens.shape.feature;
  for (std::int64_t i = 0; i < tokens.shape.token; ++i) {
    Eigen::Map<Eigen::VectorXd> x(tokens.row(0, 0, i), d);
    x = geometry::convert(x / height, geometry::Model::halfspace, geometry::Model::ball);
  }
  return tokens;
}

/// The largest difference of logits between the infinite family with depth = distance and the
/// finite one whose source is at this height, its own distance from the lights subtracted.
double receding_error(const std::string& name, double source_height) {
  const bool penumbral = name == "penumbral";
  const double light = 1.25, gamma = 1.5;
  const double radius = penumbral ? std::log(source_height / light) : 0.5;
  const std::string infinite = penumbral ? "height" : "radius";
  const std::string finite = penumbral ? "source_radius" : "object_radius";
  const auto text = [](double x) { return fmt::format("{:.17g}", x); };
  const Call near = similarity(name, {{"depth", "distance"},
                                      {"gamma", text(gamma)},
                                      {infinite, text(penumbral ? light : radius)}});
  const Call far = similarity(name + "-finite", {{"gamma", text(gamma)}, {finite, text(radius)}});
  AttentionInput<double> input = random_input(near, {1, 1, 12, 15, 4, 1}, 19);
  const Tensor4<double> expected = run(near, input).logits;
  input.query = seen_from(source_height, input.query.dense());
  input.key = seen_from(source_height, input.key.dense());
  const Tensor4<double> found = run(far, input).logits;
  const double between = gamma * (penumbral ? radius : std::log(source_height));
  double worst = 0;
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    worst = std::max(worst, std::abs(found.data[i] - between - expected.data[i]));
  }
  return worst;
}

TEST(Limit, FiniteConesBecomeThoseOfDistancesAsTheirSourceRecedes) {
  for (const char* name : {"penumbral", "umbral"}) {
    SCOPED_TRACE(name);
    const double near = receding_error(name, 1e2), far = receding_error(name, 1e3);
    EXPECT_LT(near, 0.1);
    EXPECT_NEAR(std::log10(near / far), 2, 0.1);
  }
}

TEST(Limit, UmbralConesOfEqualHeightsAreTheLaplacianKernel) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const double r = random.uniform(0.05, 2), height = random.uniform(0.1, 5);
    const auto input = level_points(height, 4, 3, static_cast<std::uint64_t>(i), 2);
    const std::string rate = fmt::format("{:.17g}", 0.7 / (2 * std::sinh(r)));
    const auto umbral =
        run(similarity("umbral", {{"gamma", "0.7"}, {"radius", fmt::format("{:.17g}", r)}}), input);
    const auto laplacian = run(similarity("laplacian", {{"gamma", rate}}), input);
    // The logits differ by gamma times the common height; the weights are the same.
    ASSERT_LE(difference(umbral.weights, laplacian.weights), 1e-12);
    ASSERT_NEAR(umbral.logits.data[0], laplacian.logits.data[0] - 0.7 * height,
                1e-12 * std::abs(umbral.logits.data[0]));
  }
}

TEST(Limit, PenumbralConesOfEqualHeightsFollowTheArc) {
  // height^2 = h^2 - (s - D/2)^2, and beyond the cones D^2/4 + x_d^2.
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const double h = random.uniform(0.5, 2), height = random.uniform(0.05, 0.95) * h;
    const auto input = level_points(height, 3, 2, static_cast<std::uint64_t>(i), 1.5);
    const auto found = run(similarity("penumbral", {{"height", fmt::format("{:.17g}", h)}}), input);
    for (std::int64_t q = 0; q < 3; ++q) {
      for (std::int64_t k = 0; k < 6; ++k) {
        const double distance = std::abs(input.query.at(0, 0, q, 0) - input.key.at(0, 0, k, 0));
        const double s = std::sqrt(h * h - height * height);
        const double m = s - distance / 2;
        const double height2 = m >= 0 ? h * h - m * m : distance * distance / 4 + height * height;
        ASSERT_NEAR(found.logits.at(0, 0, q, k), -std::sqrt(height2), 1e-12);
      }
    }
  }
}

TEST(Limit, PublishedPenumbralCodeTendsToTheSquareOfThePapers) {
  const Call paper = similarity("penumbral", {{"convention", "paper"}}, "xi");
  const Call code = similarity("penumbral", {{"convention", "reference"}}, "xi");
  const AttentionInput<double> input = random_input(paper, {1, 1, 30, 40, 6, 2}, 7, 0.4);
  const auto a = run(paper, input), b = run(code, input);
  for (std::size_t i = 0; i < a.logits.data.size(); ++i) {
    EXPECT_NEAR(b.logits.data[i], -a.logits.data[i] * a.logits.data[i], 3e-6);
  }
}

/// Gradients follow gamma down to where float32 ends, and stay finite up to there.
TEST(Limit, PenumbralSlopesOfAnyGammaAreFinite) {
  for (const std::string& target : simd_targets()) {
    const Execution execution = with_threads(0, target);
    const auto slopes = [&](const char* gamma) {
      const Call call = similarity("penumbral", {{"gamma", gamma}}, "xi");
      const auto input = convert<float>(random_input(call, {1, 1, 64, 64, 16, 3}, 2, 1));
      const auto plan = resolve(call, {1, 1, 64, 64, 16, 3});
      return backward(*plan, input, forward(*plan, input, execution), execution);
    };
    const Backward<float> usual = slopes("1e-10"), small = slopes("1e-25"), large = slopes("1e20");
    for (std::size_t i = 0; i < usual.query.data.size(); ++i) {
      EXPECT_NEAR(small.query.data[i] * 1e15, usual.query.data[i],
                  2e-5 * std::abs(usual.query.data[i]) + 1e-15)
          << target;
      EXPECT_TRUE(std::isfinite(large.query.data[i])) << target;
      EXPECT_TRUE(std::isfinite(large.key.data[i])) << target;
    }
  }
}

TEST(Limit, PenumbralLogitsNeverExceedTheLowerToken) {
  // No ancestor is lower than either token: logit <= -gamma max(height).
  for (const char* name : {"penumbral", "umbral"}) {
    const Call call = similarity(name);
    const AttentionInput<double> input = random_input(call, {1, 1, 60, 70, 5, 2}, 11, 1);
    const auto found = run(call, input);
    for (std::int64_t q = 0; q < 60; ++q) {
      for (std::int64_t k = 0; k < 70; ++k) {
        const double higher = std::max(input.query.at(0, 0, q, 4), input.key.at(0, 0, k, 4));
        EXPECT_LE(found.logits.at(0, 0, q, k), -higher + 1e-15) << name;
      }
    }
  }
}

TEST(Limit, AncestorsAreTheirOwnLowestCommonAncestor) {
  // D <= s(v) - s(u): u lies higher and is the LCA, so the logit is minus its height.
  const Call call = similarity("umbral", {{"radius", "1"}});
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, 1, 2});
  input.key = Tensor4<double>({1, 1, 1, 2});
  input.value = Tensor4<double>({1, 1, 1, 1});
  input.query.owned().data = {0, 3};
  input.key.owned().data = {2.3, 1};  // 2 sinh 1 = 2.3504
  EXPECT_EQ(run(call, input).logits.data[0], -3);
  input.key.owned().data = {2.4, 1};
  EXPECT_LT(run(call, input).logits.data[0], -3);
}

TEST(Limit, HyperbolicDistanceIsTheSameInBothModels) {
  // Half-space points through the map psi against their images on the hyperboloid.
  Random random(13);
  AttentionInput<double> half, lorentz;
  for (auto* in : {&half, &lorentz}) {
    in->query = Tensor4<double>({1, 1, 20, 3});
    in->key = Tensor4<double>({1, 1, 20, 3});
    in->value = Tensor4<double>({1, 1, 20, 1});
  }
  lorentz.query = lorentz.key = Tensor4<double>({1, 1, 20, 4});
  for (auto [from, to] : {std::pair{&half.query, &lorentz.query}, {&half.key, &lorentz.key}}) {
    for (std::int64_t i = 0; i < 20; ++i) {
      double* u = from->owned().row(0, 0, i);
      double* x = to->owned().row(0, 0, i);
      u[0] = random.uniform(-2, 2), u[1] = random.uniform(-2, 2), u[2] = random.uniform(0.2, 3);
      const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
      x[0] = u[0] / u[2], x[1] = u[1] / u[2], x[2] = (square - 1) / (2 * u[2]);
      x[3] = (square + 1) / (2 * u[2]);
    }
  }
  const auto a = run(similarity("hyperbolic", {{"model", "halfspace"}}), half);
  const auto b = run(similarity("hyperbolic", {{"model", "hyperboloid"}}), lorentz);
  EXPECT_LE(difference(a.logits, b.logits), 1e-12);
}

TEST(Limit, FiniteConesHaveTheDepthOfTheirGeometry) {
  // The closed form of the engine against the law of core/geometry, which shares no formula.
  for (const char* name : {"penumbral-finite", "umbral-finite", "ganea"}) {
    const Call call = similarity(name);
    const geometry::ConeSystem system = geometry::cone_system(name);
    for (const std::int64_t d : {2, 3, 8}) {
      const AttentionInput<double> input =
          random_input(call, {1, 1, 40, 50, d, 1}, 23 + static_cast<std::uint64_t>(d));
      const auto element = [&](const StridedTensor4<double>& t, std::int64_t i) {
        const Eigen::Map<const geometry::Vector> x(t.row(0, 0, i), d);
        return geometry::element(system, geometry::point(geometry::Model::ball, x));
      };
      const auto found = run(call, input);
      for (std::int64_t q = 0; q < 40; ++q) {
        for (std::int64_t k = 0; k < 50; ++k) {
          const double depth =
              geometry::lca(system, element(input.query, q), element(input.key, k)).depth;
          ASSERT_NEAR(found.logits.at(0, 0, q, k), depth, 1e-12) << name;
        }
      }
    }
  }
}

/// Tokens under the polar map, all of the same direction but the last, at these height coordinates.
template <class T>
AttentionInput<T> on_rays(std::initializer_list<double> heights) {
  const auto n = static_cast<std::int64_t>(heights.size());
  Tensor4<T> tokens({1, 1, n, 3});
  for (std::int64_t i = 0; i < n; ++i) {
    T* token = tokens.row(0, 0, i);
    token[i + 1 < n ? 0 : 1] = 1;
    token[2] = static_cast<T>(*(heights.begin() + i));
  }
  return {tokens, tokens, Tensor4<T>({1, 1, n, 1}, T(1)), {}};
}

TEST(Limit, FiniteConesOfFarTokensKeepFiniteGradients) {
  const AttentionInput<float> input = on_rays<float>({18, 20, 18});
  for (const char* name : {"penumbral-finite", "umbral-finite", "ganea"}) {
    for (const char* gamma : {"1", "10", "1000"}) {
      const Call call = similarity(name, {{"gamma", gamma}}, "polar");
      const Answer<float> found = run(call, input);
      const auto plan = resolve(call, check_extents(input));
      const Backward<float> g = backward(*plan, input, found.forward);
      for (const auto* tensor : {&found.logits, &g.query, &g.key}) {
        for (const float x : tensor->data) EXPECT_TRUE(std::isfinite(x)) << name << " " << gamma;
      }
    }
  }
}

/// Tokens of one ray meet in the nearer one, however far both are.
template <class T>
void expect_the_nearer(double far, double tolerance) {
  for (const char* name : {"penumbral-finite", "umbral-finite", "ganea"}) {
    const Call call = similarity(name, {}, "polar");
    const AttentionInput<T> input = on_rays<T>({far, far + 2, far});
    const auto plan = resolve(call, check_extents(input));
    const double rho_0 =
        plan->similarity->light(plan->values(plan->similarity_parameters, 0).data());
    const Answer<T> found = run(call, input);
    EXPECT_NEAR(found.logits.at(0, 0, 0, 1), rho_0 + far, tolerance * far) << name << " " << far;
    EXPECT_NEAR(found.logits.at(0, 0, 1, 1), rho_0 + far + 2, tolerance * far)
        << name << " " << far;
  }
}

TEST(Limit, FiniteConesOfFarTokensKeepTheirDepth) {
  for (const double far : {35.0, 40.0, 200.0, 340.0}) expect_the_nearer<double>(far, 1e-13);
  // Four units in the last place: at 12 the far token's sinh has lost as much.
  for (const double far : {12.0, 15.0, 17.0, 19.0}) expect_the_nearer<float>(far, 6e-7);
}

/// A finite token beside the source is no bad one, though its gap angle is as steep as can be.
TEST(Limit, FiniteConesOfTokensBesideTheSourceAreFinite) {
  for (const char* name : {"penumbral-finite", "umbral-finite", "ganea"}) {
    for (const double height : {-100.0, -150.0, -200.0, -300.0, -700.0}) {
      const Answer<float> found =
          run(similarity(name, {}, "polar"), on_rays<float>({height, height, height}));
      for (const float x : found.logits.data)
        EXPECT_TRUE(std::isfinite(x)) << name << " " << height;
    }
  }
}

template <class T>
void expect_the_source(const std::string& radius, std::initializer_list<double> heights) {
  const Call call = similarity("penumbral-finite", {{"source_radius", radius}}, "polar");
  const Answer<T> found = run(call, on_rays<T>(heights));
  for (std::int64_t q = 0; q < 2; ++q) {
    for (std::int64_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(found.logits.at(0, 0, q, k), std::stod(radius), 1e-6) << q << " " << k;
    }
  }
}

TEST(Limit, FiniteConesOfOneRayMeetEvenOnTheSource) {
  for (const char* radius : {"0.05", "0.08", "0.5", "1.3"}) {
    SCOPED_TRACE(radius);
    expect_the_source<float>(radius, {-40, -45, -40});
    expect_the_source<double>(radius, {-800, -790, -800});
  }
}

TEST(Limit, FiniteConesOfOppositeTokensReachTheCentre) {
  // In one dimension of directions there are two: the same, and the opposite with no ancestor.
  for (const char* name : {"penumbral-finite", "umbral-finite", "ganea"}) {
    const Call call = similarity(name, {}, "polar");
    AttentionInput<double> input;
    input.query = Tensor4<double>({1, 1, 1, 2});
    input.key = Tensor4<double>({1, 1, 2, 2});
    input.value = Tensor4<double>({1, 1, 2, 1}, 1.0);
    input.query.owned().data = {3, 1};
    input.key.owned().data = {5, -2, -4, -2};
    const auto plan = resolve(call, check_extents(input));
    const auto found = run(call, input);
    const double rho_0 =
        plan->similarity->light(plan->values(plan->similarity_parameters, 0).data());
    EXPECT_NEAR(found.logits.data[0], rho_0 + std::log1p(std::exp(-2)), 1e-15) << name;
    EXPECT_EQ(found.logits.data[1], 0) << name;
    const Backward<double> slopes = backward(*plan, input, found.forward);
    for (const double x : slopes.query.data) EXPECT_TRUE(std::isfinite(x)) << name;
  }
}

TEST(Limit, GaneasConesArePenumbralWithSinhRadiusTwiceK) {
  const Call ganea = similarity("ganea", {{"K", "0.3"}}, "polar");
  const Call finite = similarity(
      "penumbral-finite", {{"source_radius", fmt::format("{:.17g}", std::asinh(0.6))}}, "polar");
  const AttentionInput<double> input = random_input(ganea, {1, 1, 40, 50, 5, 2}, 29);
  EXPECT_EQ(difference(run(ganea, input).logits, run(finite, input).logits), 0);
}

TEST(Limit, HypeOfSmallCurvatureIsAlibi) {
  // -tau sinh(mu (j - i)) -> m (j - i) for m = |tau| mu: ALiBi on the past.
  Call hype = similarity("dot", {{"hype_mu", "1e-6"}, {"hype_tau", "-5e5"}});
  hype.bias = "hype";
  Call alibi = similarity("dot", {{"alibi_slope", "0.5"}});
  alibi.bias = "alibi";
  hype.masks = alibi.masks = {"causal"};
  const AttentionInput<double> input = random_input(hype, {1, 1, 30, 30, 4, 2}, 17);
  EXPECT_LE(difference(run(hype, input).logits, run(alibi, input).logits), 1e-8);
}

TEST(Limit, TheEinsteinMidpointOfSmallVectorsIsTheirMean) {
  Call einstein = similarity("dot"), mean = similarity("dot");
  einstein.aggregate = "einstein";
  AttentionInput<double> input = random_input(mean, {1, 1, 9, 12, 4, 3}, 19);
  for (double& v : input.value.owned().data) v *= 1e-6;
  const auto a = run(einstein, input).forward.output, b = run(mean, input).forward.output;
  for (std::size_t i = 0; i < a.data.size(); ++i) EXPECT_NEAR(a.data[i], b.data[i], 1e-17);
}

}  // namespace
}  // namespace conelab::tests
