#include "core/geometry/lca_query.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/geometry/sampling.h"
#include "tests/helpers/errors.h"

namespace conelab::geometry {
namespace {

using test::vec;

std::string usage_error(const std::string& family, const std::map<std::string, std::string>& p,
                        const Vector& u, const Vector& v, const std::string& model = "") {
  return fixtures::misuse_of([&] { return lca_query(family, p, u, v, model); });
}

// The LCA of this pair is at height 0.8 (AnswersPenumbral).
TEST(LcaQuery, ReadsTheDistanceFromTheLightIfAsked) {
  const Vector u = vec({0, 0.6}), v = vec({0.4, 0.6});
  const LcaResult r = lca_query("penumbral", {{"depth", "distance"}, {"gamma", "2"}}, u, v);
  EXPECT_NEAR(r.depth, -std::log(0.8), 1e-15);
  EXPECT_NEAR(r.logit, -2 * std::log(0.8), 1e-15);
  EXPECT_EQ(lca_query("penumbral", {{"depth", "height"}}, u, v).depth,
            lca_query("penumbral", {}, u, v).depth);
  const LcaResult umbral = lca_query("umbral", {{"depth", "distance"}}, u, v);
  EXPECT_NEAR(umbral.depth, -std::log(-lca_query("umbral", {}, u, v).depth), 1e-15);
  EXPECT_NE(usage_error("penumbral", {{"depth", "distnace"}}, u, v).find("distance"),
            std::string::npos);
  EXPECT_NE(usage_error("ganea", {{"depth", "distance"}}, vec({0, 0.6}), vec({0.4, 0.6}))
                .find("take no depth"),
            std::string::npos);
}

TEST(LcaQuery, AnswersPenumbral) {
  const LcaResult r = lca_query("penumbral", {}, vec({0, 0.6}), vec({0.4, 0.6}));
  EXPECT_EQ(r.cone, "penumbral");
  ASSERT_EQ(r.parameters.size(), 1u);
  EXPECT_EQ(r.parameters[0].first, "height");
  EXPECT_EQ(r.parameters[0].second, 1);
  EXPECT_NEAR(r.base, 0.4, 1e-15);
  EXPECT_NEAR(r.potential.u, 0.8, 1e-15);
  EXPECT_NEAR(*r.potential.lca, 0.6, 1e-15);  // 0.8 − 0.4/2
  EXPECT_EQ(r.relation, "unrelated");
  EXPECT_TRUE(r.has_common_ancestor);
  EXPECT_LT((*r.lca - vec({0.2, 0.8})).norm(), 1e-15);
  EXPECT_NEAR(r.depth, -0.8, 1e-15);
  EXPECT_EQ(r.logit, r.depth);
}

TEST(LcaQuery, HasNoPointButADepthWithoutCommonAncestor) {
  const LcaResult r = lca_query("penumbral", {}, vec({0, 0.6}), vec({4, 0.6}));
  EXPECT_FALSE(r.has_common_ancestor);
  EXPECT_FALSE(r.lca.has_value());
  EXPECT_FALSE(r.potential.lca.has_value());
  EXPECT_NEAR(r.depth, -std::hypot(2, 0.6), 1e-15);
  const LcaResult finite = lca_query("umbral-finite", {}, vec({0.9, 0}), vec({-0.9, 0.01}));
  EXPECT_FALSE(finite.has_common_ancestor);
  EXPECT_GT(finite.depth, 0);
}

TEST(LcaQuery, ReturnsTheAncestorItselfToTheBit) {
  const LcaResult r = lca_query("umbral", {{"radius", "1"}}, vec({0.1, 2}), vec({0.2, 0.3}));
  EXPECT_EQ(r.relation, "u_is_ancestor");
  EXPECT_EQ(*r.lca, vec({0.1, 2}));
  EXPECT_EQ(r.depth, -2);
  const LcaResult back = lca_query("umbral", {{"radius", "1"}}, vec({0.2, 0.3}), vec({0.1, 2}));
  EXPECT_EQ(back.relation, "v_is_ancestor");
  EXPECT_EQ(*back.lca, vec({0.1, 2}));
  EXPECT_EQ(lca_query("ganea", {}, vec({0.5, 0}), vec({0.5, 0})).relation, "equal");
}

TEST(LcaQuery, GivesTheSameDepthInEveryModel) {
  for (const std::string family :
       {"penumbral", "umbral", "penumbral-finite", "umbral-finite", "ganea"}) {
    const Vector u = vec({0.1, 0.2, 0.15}), v = vec({0.15, 0.22, 0.12});
    const double expected = lca_query(family, {}, u, v, "halfspace").depth;
    for (const Model model : all_models) {
      const LcaResult r = lca_query(family, {}, convert(u, Model::halfspace, model),
                                    convert(v, Model::halfspace, model), model_name(model));
      EXPECT_NEAR(r.depth, expected, 1e-12) << family << " in " << model_name(model);
      EXPECT_EQ(r.lca->size(), model == Model::hyperboloid ? 4 : 3);
    }
  }
}

TEST(LcaQuery, DepthIsHeightOrDistanceOfTheLca) {
  const LcaResult r = lca_query("penumbral-finite", {}, vec({0.8, 0.1}), vec({0.8, -0.1}));
  ASSERT_TRUE(r.has_common_ancestor);
  EXPECT_NEAR(r.depth, 2 * std::atanh(r.lca->norm()), 1e-13);
  EXPECT_NEAR((*r.lca)[1], 0, 1e-15);
  EXPECT_NEAR(*r.potential.lca, std::acos(std::tanh(0.5) / std::tanh(r.depth)), 1e-13);
}

TEST(LcaQuery, RefusesAnAnswerThatOverflows) {
  EXPECT_NE(usage_error("umbral", {}, vec({1e308, 1}), vec({-1e308, 0.5})).find("too far apart"),
            std::string::npos);
  EXPECT_NE(usage_error("umbral", {{"radius", "1000"}}, vec({0, 1}), vec({5, 1})).find("too large"),
            std::string::npos);
  const LcaResult far = lca_query("umbral", {{"radius", "1"}}, vec({1e200, 1}), vec({-1e200, 1}));
  EXPECT_DOUBLE_EQ(far.base, 2e200);
  EXPECT_DOUBLE_EQ(-far.depth, 1e200 / std::sinh(1.0));
}

TEST(LcaQuery, ScalesTheLogitWithGamma) {
  const LcaResult r = lca_query("umbral", {{"gamma", "2.5"}}, vec({0, 1}), vec({1, 1}));
  EXPECT_EQ(r.logit, 2.5 * r.depth);
}

TEST(LcaQuery, RefusesMisuseInOneLineThatNamesTheBound) {
  const Vector low = vec({0, 0.5});
  EXPECT_EQ(usage_error("penumbral", {}, vec({0, 1}), low),
            "u: outside the domain of penumbral cones (expected height < 1, the height of the "
            "source; found 1)");
  EXPECT_EQ(usage_error("penumbral", {{"height", "0.4"}}, vec({0, .1}), low),
            "v: outside the domain of penumbral cones (expected height < 0.4, the height of the "
            "source; found 0.5)");
  EXPECT_EQ(usage_error("umbral", {}, vec({0, 0}), low),
            "u: outside the halfspace model (expected height > 0, found 0)");
  EXPECT_NE(usage_error("penumbral-finite", {}, vec({0, 0}), low)
                .find("expected distance from the source > 0.5"),
            std::string::npos);
  EXPECT_NE(usage_error("umbral-finite", {}, vec({0.01, 0}), low)
                .find("> 0.1, the radius of the objects"),
            std::string::npos);
  EXPECT_NE(usage_error("ganea", {}, vec({0.05, 0}), low).find("asinh(2K)"), std::string::npos);
  EXPECT_EQ(usage_error("ganea", {}, vec({2, 0}), low),
            "u: outside the ball model (expected |x| < 1, found 2)");
  EXPECT_EQ(usage_error("umbral", {}, vec({0, 1, 1}), low),
            "u and v have different numbers of coordinates (u 3, v 2)");
  EXPECT_EQ(usage_error("umbral", {}, vec({1}), vec({1})),
            "u: too few coordinates for the halfspace model (expected at least 2, found 1)");
  EXPECT_NE(usage_error("umbra", {}, low, low).find("umbral"), std::string::npos);
  EXPECT_NE(usage_error("umbral", {{"radios", "1"}}, low, low).find("radius"), std::string::npos);
  EXPECT_NE(usage_error("umbral", {{"radius", "x"}}, low, low).find("'x'"), std::string::npos);
  EXPECT_NE(usage_error("umbral", {{"radius", "inf"}}, low, low).find("number"), std::string::npos);
  EXPECT_NE(usage_error("umbral", {}, low, low, "disk").find("klein"), std::string::npos);
}

TEST(ParsePoint, ReadsNumbersAndNothingElse) {
  EXPECT_EQ(parse_point("-0.3,0.2", "u"), vec({-0.3, 0.2}));
  EXPECT_EQ(parse_point("+1e-2,2", "u"), vec({0.01, 2}));
  EXPECT_EQ(parse_point(" -0.3 , 0.2", "u"), vec({-0.3, 0.2}));
  for (const char* bad : {"", "1,", ",1", "1,,2", "1;2", "a,b", "1 2", "0x1,2", "+-1,2"}) {
    EXPECT_THROW((void)parse_point(bad, "u"), Error) << bad;
  }
}

}  // namespace
}  // namespace conelab::geometry
