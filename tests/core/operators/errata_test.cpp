// The numbers of core/call/errata.h, computed by the engine and by hand.
#include "core/call/errata.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/base/random.h"
#include "core/geometry/cone_law.h"
#include "core/operators/jacobian.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

const Erratum& erratum(const std::string& part) {
  for (const Erratum& e : errata()) {
    if (e.part == part) return e;
  }
  ADD_FAILURE() << part;
  return errata().front();
}

/// "(0.333, 0.667)"
std::string rounded(double a, double b) { return fmt::format("({:.3f}, {:.3f})", a, b); }

TEST(Errata, BelongToRowsThatAreListed) {
  std::vector<std::string> names = operator_names();
  for (const CallField& field : call_fields()) {
    for (const PartInfo& part : field.parts()) names.push_back(part.name);
  }
  for (const Erratum& e : errata()) {
    EXPECT_NE(std::find(names.begin(), names.end(), e.part), names.end()) << e.part;
    for (const char* text : {e.where, e.printed, e.correct, e.check}) {
      EXPECT_NE(std::string(text), "") << e.part;
    }
  }
}

/// Coneheads eq. 7 as printed, for the height h = 1.
bool printed(double distance, double u, double v) {
  const double a = std::sqrt(1 - u * u);
  return (distance - a) * (distance - a) + v * v < 1;
}

// A pair has a common ancestor iff some point is an ancestor of both; geometry::lca finds it.
TEST(Errata, EquationSevenLosesExactlyTheAncestorsOfU) {
  const geometry::ConeSystem system = geometry::cone_system("penumbral");
  const auto element = [&](double x, double height) {
    return geometry::element(
        system, geometry::point(geometry::Model::halfspace, Eigen::Vector2d(x, height)));
  };
  Random random(7);
  int lost = 0, kept = 0;
  for (int i = 0; i < 2000; ++i) {
    const double u = 0.01 + 0.98 * random.uniform(), v = 0.01 + 0.98 * random.uniform();
    const double distance = 2.5 * random.uniform();
    const geometry::Lca lca = geometry::lca(system, element(0, u), element(distance, v));
    const bool above = lca.relation == geometry::Relation::v_is_ancestor;
    EXPECT_EQ(lca.place.has_value(), printed(distance, u, v) || above)
        << u << " " << v << " " << distance;
    EXPECT_FALSE(above && printed(distance, u, v)) << u << " " << v << " " << distance;
    lost += above ? 1 : 0, kept += lca.place && !above ? 1 : 0;
  }
  EXPECT_GT(lost, 50);
  EXPECT_GT(kept, 50);
}

/// The logits of one pair of penumbral points of the half-space under h = 1.
double penumbral_logit(double distance, double u, double v) {
  const Call call = call_from_text("penumbral:map=none");
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, 1, 2});
  input.key = input.value = Tensor4<double>({1, 1, 1, 2});
  input.query.owned().data = {0, u};
  input.key.owned().data = {distance, v};
  const auto plan = resolve(call, check_extents(input));
  return attention_map(*plan, input, Map2d::logits).data[0];
}

TEST(Errata, AnAncestorIsItsOwnLowestCommonAncestor) {
  EXPECT_FALSE(printed(0.1, 0.2, 0.9));
  EXPECT_NEAR(penumbral_logit(0.1, 0.2, 0.9), -0.9, 1e-15);
  const double a = std::sqrt(1 - 0.2 * 0.2), s_v = std::sqrt(1 - 0.9 * 0.9);
  const std::string check = erratum("penumbral").check;
  EXPECT_NE(check.find(fmt::format("{:.6f} >= D", a - s_v)), std::string::npos) << a - s_v;
  EXPECT_NE(check.find(fmt::format("{:.5f} >= 1", (0.1 - a) * (0.1 - a) + 0.81)), std::string::npos)
      << (0.1 - a) * (0.1 - a) + 0.81;
}

/// The weights of row 1 of two tokens with zero scores under the mask causal.
std::string second_row(const std::string& bias, const std::string& key, const std::string& value,
                       const std::string& more = "") {
  Call call = call_from_text("dot");
  call.bias = bias;
  call.masks = {"causal"};
  call.parameters[key] = value;
  if (!more.empty()) call.parameters["hype_tau"] = more;
  AttentionInput<double> input;
  input.query = input.key = input.value = Tensor4<double>({1, 1, 2, 1});
  const auto plan = resolve(call, check_extents(input));
  const Tensor4<double> weights = attention_map(*plan, input, Map2d::weights);
  return rounded(weights.data[2], weights.data[3]);
}

TEST(Errata, HypeWithTauOneFavoursDistantTokens) {
  const std::string ln_2 = fmt::format("{:.17g}", std::log(2.0));
  const std::string alibi = second_row("alibi", "alibi_slope", ln_2);
  const std::string far = second_row("hype", "hype_mu", ln_2, "1");
  const std::string near = second_row("hype", "hype_mu", ln_2, "-1");
  EXPECT_EQ(alibi, "(0.333, 0.667)");
  EXPECT_EQ(far, "(0.679, 0.321)");
  EXPECT_EQ(near, "(0.321, 0.679)");
  EXPECT_EQ(second_row("hype", "hype_mu", ln_2), near);  // The default.
  const std::string check = erratum("hype").check;
  for (const std::string& row :
       {"alibi with slope ln 2 " + alibi, "tau = 1 " + far, "tau = -1 " + near}) {
    EXPECT_NE(check.find(row), std::string::npos) << row;
  }
}

TEST(Errata, TheArbitraryWeightingDoesNotPreserveVolume) {
  Call call = call_from_text("volume-preserving:weighting=arbitrary");
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, 2, 1});
  input.query.owned().data = {1, 0};
  input.key = input.value = input.query;
  input.tensors["A"] = {{1, 1}, {1}};
  const auto plan = resolve(call, check_extents(input));
  const double found = jacobian_determinants(*plan, input).front().value();
  EXPECT_NEAR(found, 3, 1e-14);
  const std::string check = erratum("volume-preserving").check;
  EXPECT_NE(check.find(fmt::format("determinant is {:.0f}", found)), std::string::npos);
}

}  // namespace
}  // namespace conelab
