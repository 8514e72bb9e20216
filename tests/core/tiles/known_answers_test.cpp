// The engine against numbers that no code of this project computed.
#include <gtest/gtest.h>

#include "core/operators/jacobian.h"
#include "tests/core/tiles/cases.h"
#include "tests/core/tiles/vectors.h"

namespace conelab::tests {
namespace {

template <class T>
const Tensor4<T>& pick(const Answer<T>& answer, const std::string& what) {
  if (what == "logits") return answer.logits;
  if (what == "weights_are") return answer.weights;
  return what == "lse" ? answer.forward.lse : answer.forward.output;
}

/// A tensor's gradient as rows.
template <class T>
Tensor4<double> gradient_of(const Backward<T>& all, const std::string& name) {
  if (name == "q") return convert<double>(all.query);
  if (name == "k") return convert<double>(all.key);
  if (name == "v") return convert<double>(all.value);
  const Array<double>& array = all.tensors.at(name);
  Tensor4<double> rows({1, 1, 1, array.extents.back()});
  if (array.extents.size() > 1) rows.shape.token = array.extents.front();
  rows.data = array.data;
  return rows;
}

template <class T>
void expect_known_gradients(const KnownAnswer& known, double tolerance) {
  const AttentionInput<T> input = convert<T>(known.input);
  const auto plan = resolve(known.call, check_extents(input));
  if (known.determinant) {
    const double found = jacobian_determinants(*plan, input).front().value();
    EXPECT_NEAR(found, *known.determinant, tolerance * std::max(1.0, std::abs(*known.determinant)));
  }
  if (known.gradients.empty()) return;
  const Backward<T> gradients = backward(*plan, input, forward(*plan, input));
  for (const auto& [name, expected] : known.gradients) {
    EXPECT_LE(difference(gradient_of(gradients, name), expected), tolerance) << name;
  }
}

template <class T>
void expect_known_answers(double least_tolerance) {
  for (const KnownAnswer& known : known_answers()) {
    SCOPED_TRACE(known.file + ": " + known.name);
    const Answer<T> answer = run(known.call, convert<T>(known.input));
    const double tolerance = std::max(known.tolerance, least_tolerance);
    expect_known_gradients<T>(known, tolerance);
    for (const auto& [what, expected] : known.answers) {
      EXPECT_LE(difference(pick(answer, what), expected), tolerance) << what;
    }
  }
}

TEST(KnownAnswers, HoldInFloat64) { expect_known_answers<double>(1e-12); }
TEST(KnownAnswers, HoldInFloat32) { expect_known_answers<float>(1e-5); }

TEST(KnownAnswers, TheDefaultMapIsThePapers) {
  Call call;
  const auto map_of = [&](const char* similarity) {
    call.similarity = similarity;
    return resolve(call, {1, 1, 2, 2, 3, 1})->call.map;
  };
  EXPECT_EQ(map_of("dot"), "none");
  EXPECT_EQ(map_of("laplacian"), "none");
  EXPECT_EQ(map_of("penumbral"), "xi");
  EXPECT_EQ(map_of("umbral"), "psi");
  for (const char* finite : {"penumbral-finite", "umbral-finite", "ganea"}) {
    EXPECT_EQ(map_of(finite), "polar") << finite;
  }
  EXPECT_EQ(map_of("hyperbolic"), "pi");
  call.parameters["model"] = "halfspace";
  EXPECT_EQ(map_of("hyperbolic"), "psi");
}

TEST(KnownAnswers, DefaultSlopesOfAlibiAreThePapers) {
  const auto slopes_of = [](std::int64_t heads) {
    const Call call = call_from_text("penumbral:bias=alibi");
    const auto plan = resolve(call, {1, heads, 2, 2, 3, 1});
    std::vector<double> slopes;
    for (const Parameter& p : plan->parameters) {
      for (std::int64_t h = 0; h < heads && std::string(p.info.key) == "alibi_slope"; ++h) {
        slopes.push_back(p.at(h));
      }
    }
    return slopes;
  };
  const auto expect_slopes = [&](const std::vector<double>& expected) {
    const auto found = slopes_of(static_cast<std::int64_t>(expected.size()));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t h = 0; h < expected.size(); ++h)
      EXPECT_NEAR(found[h], expected[h], 1e-15) << h;
  };
  expect_slopes({.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625});
  expect_slopes({.25, .0625, .015625, .00390625, .5, .125});
  expect_slopes({.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625, std::exp2(-.5),
                 std::exp2(-1.5), std::exp2(-2.5), std::exp2(-3.5)});
}

TEST(KnownAnswers, DefaultParametersAreThePapers) {
  const auto value_of = [](const char* similarity, const std::string& key) {
    const Call call = call_from_text(similarity);
    const auto plan = resolve(call, {1, 1, 2, 2, 16, 1});
    for (const Parameter& p : plan->parameters) {
      if (p.info.key == key) return p.values.at(0);
    }
    return std::nan("");
  };
  EXPECT_EQ(value_of("dot", "scale"), 0.25);
  EXPECT_EQ(value_of("laplacian", "gamma"), 1);
  EXPECT_EQ(value_of("penumbral", "height"), 1);
  EXPECT_EQ(value_of("umbral", "radius"), 0.1);
  EXPECT_EQ(value_of("umbral", "gamma"), 1);
  EXPECT_EQ(value_of("hyperbolic", "beta"), 1);
  EXPECT_EQ(value_of("hyperbolic", "offset"), 0);
}

}  // namespace
}  // namespace conelab::tests
