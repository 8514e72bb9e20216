// What the public interface says to callers who got something wrong.
#include "tests/helpers/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "core/base/error.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

using fixtures::error_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Extents small{1, 2, 3, 4, 5, 2};

Error resolve_error(const Call& call) {
  return error_of([&] { return resolve(call, small) != nullptr; });
}

TEST(Interface, NamesTheShapesOfProjections) {
  const auto says = [](std::map<std::string, std::vector<std::int64_t>> tensors) {
    Extents extents = small;
    extents.tensors = std::move(tensors);
    const Error error = error_of([&] { (void)resolve(call_from_text("dot"), extents); });
    EXPECT_EQ(error.exit_status(), 1);
    return std::string(error.what());
  };
  EXPECT_THAT(says({{"P_query", {3, 5}}}), HasSubstr("P_query does not have its shape"));
  EXPECT_THAT(says({{"P_query", {3, 5}}, {"P_key", {4, 5}}}), HasSubstr("[3 x 5]"));
  EXPECT_THAT(says({{"P_value", {4, 3}}}), HasSubstr("P_value"));
  EXPECT_THAT(says({{"P_output", {4, 3}}}), HasSubstr("[d_o x head*d_v] = [d_o x 4]"));
  EXPECT_THAT(says({{"P_output", {2, 4, 2}}}), HasSubstr("shared by all heads"));
  const auto plan = resolve(call_from_text("dot:P_query=random:P_key=random"), small);
  EXPECT_EQ(plan->inner->extents.feature, 5);
}

TEST(Interface, NamesTheNearestPart) {
  const Error error = resolve_error(call_from_text("penumbra"));
  EXPECT_EQ(error.exit_status(), 2);
  EXPECT_THAT(error.what(), HasSubstr("penumbral"));
  EXPECT_THAT(error.what(), HasSubstr("laplacian"));
  for (const auto& [field, near] :
       std::vector<std::pair<std::string Call::*, const char*>>{{&Call::map, "xi"},
                                                                {&Call::bias, "alibi"},
                                                                {&Call::weights, "softmax"},
                                                                {&Call::aggregate, "einstein"}}) {
    Call wrong;
    wrong.*field = "nonsense";
    const Error e = resolve_error(wrong);
    EXPECT_EQ(e.exit_status(), 2);
    EXPECT_THAT(e.what(), HasSubstr(near));
  }
  EXPECT_THAT(resolve_error(call_from_text("penumbral:masks=casual")).what(), HasSubstr("causal"));
}

TEST(Interface, NamesTheKeysThatAreTaken) {
  Call call = call_from_text("penumbral:gama=1");
  const Error error = resolve_error(call);
  EXPECT_EQ(error.exit_status(), 2);
  EXPECT_THAT(error.what(), HasSubstr("gamma"));
  EXPECT_THAT(error.what(), HasSubstr("height"));
  call.parameters = {{"radius", "1"}};  // Known elsewhere, unused here.
  EXPECT_EQ(resolve_error(call).exit_status(), 2);
}

TEST(Interface, RefusesValuesOutsideTheirDomain) {
  for (const char* text : {"0", "-1", "nan", "inf", "one", "", "1,2,3", "1,,2", "1 2"}) {
    Call call;
    call.parameters = {{"gamma", text}};
    EXPECT_EQ(resolve_error(call).exit_status(), 2) << text;
  }
  Call call = call_from_text("penumbral:gamma=1,2");
  EXPECT_NE(resolve(call, small), nullptr);
  call.parameters = {{"convention", "papers"}};
  EXPECT_THAT(resolve_error(call).what(), HasSubstr("reference"));
}

TEST(Interface, RefusesWordsThatHaveNoFormulaTogether) {
  for (const char* similarity : {"penumbral", "umbral"}) {
    Call call = call_from_text(similarity);
    call.parameters = {{"convention", "reference"}, {"depth", "distance"}};
    const Error error = resolve_error(call);
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_EQ(error.what(),
              std::string(similarity) +
                  " has no formula for convention=reference with depth=distance: the published "
                  "code has no such form");
  }
  EXPECT_EQ(resolve_error(call_from_text("ganea:depth=distance")).exit_status(), 2);
}

TEST(Interface, NamesTheTensorsOfASimilarity) {
  const auto error_with = [](const char* similarity, decltype(Extents::tensors) tensors) {
    Call call = call_from_text(similarity);
    Extents extents = small;
    extents.tensors = std::move(tensors);
    const Error error = error_of([&] { return resolve(call, extents) != nullptr; });
    EXPECT_EQ(error.exit_status(), 1);
    return std::string(error.what());
  };
  EXPECT_THAT(error_with("gat", {}), HasSubstr("gat needs tensor a [2f]"));
  EXPECT_THAT(error_with("gat", {{"a", {6}}}), HasSubstr("expected [2f] = [10]"));
  EXPECT_THAT(error_with("gat", {{"W", {4, 5}}, {"a", {10}}}), HasSubstr("expected [2f] = [8]"));
  EXPECT_THAT(error_with("gat", {{"W", {4, 6}}, {"a", {8}}}), HasSubstr("[f x d] = [f x 5]"));
  EXPECT_THAT(error_with("additive", {{"W", {4, 5}}, {"v_a", {4}}}),
              AllOf(HasSubstr("additive needs tensor U [a x d]"), Not(HasSubstr("also"))));
  EXPECT_THAT(error_with("additive", {{"U", {4, 5}}}),
              AllOf(HasSubstr("needs tensor W [a x d]"), HasSubstr("(it also needs v_a)")));
  EXPECT_THAT(error_with("additive", {{"W", {4, 5}}, {"U", {3, 5}}, {"v_a", {4}}}),
              HasSubstr("tensor U does not have its shape (expected [a x d] = [4 x 5]"));
  const Call call = call_from_text("gat");
  for (const std::int64_t f : {5, 4}) {  // Without W f is d.
    Extents extents = small;
    extents.tensors["a"] = {2, 2 * f};
    if (f != 5) extents.tensors["W"] = {f, 5};
    EXPECT_NE(resolve(call, extents), nullptr);
  }
}

TEST(Interface, NamesBothOperandsAndSizes) {
  const AttentionInput<double> good = random_input(Call{}, small, 1);
  const auto plan = resolve(Call{}, check_extents(good));
  const auto expect_error = [&](auto change, const std::vector<const char*>& words) {
    AttentionInput<double> bad = good;
    change(bad);
    const Error error = error_of([&] {
      check_input(*plan, bad);
      return check_extents(bad);
    });
    EXPECT_EQ(error.exit_status(), 1);
    for (const char* word : words) EXPECT_THAT(error.what(), HasSubstr(word));
  };
  expect_error([](auto& in) { in.key = Tensor4<double>({1, 2, 4, 6}); }, {"q", "k", "5", "6"});
  expect_error([](auto& in) { in.value = Tensor4<double>({1, 2, 9, 2}); }, {"k", "v", "4", "9"});
  expect_error([](auto& in) { in.key = Tensor4<double>({1, 3, 4, 5}); }, {"q", "k", "2", "3"});
  expect_error([](auto& in) { in.output_grad = Tensor4<double>({1, 2, 3, 3}); }, {"output_grad"});
  expect_error([](auto& in) { in.allowed.assign(11, 1); }, {"mask", "3", "4", "11"});
  expect_error([](auto& in) { in.key_lengths = {1, 2}; }, {"1", "2"});
}

TEST(Interface, NamesTheTokenOutsideTheModel) {
  const Call call = call_from_text("penumbral:map=none");
  AttentionInput<double> input = random_input(call, small, 2);
  const auto plan = resolve(call, small);
  const auto expect_error = [&](const char* tensor, const char* token) {
    const Error error = error_of([&] { return forward(*plan, input); });
    EXPECT_EQ(error.exit_status(), 1);
    EXPECT_THAT(error.what(), HasSubstr(tensor));
    EXPECT_THAT(error.what(), HasSubstr(token));
  };
  for (const double height : {1.5, 1.0, 0.0}) {  // The light is at 1.
    input.key.owned().at(0, 1, 2, 4) = height;
    expect_error(" k", "2");
  }
  input.key.owned().at(0, 1, 2, 4) = 0.5;
  input.query.owned().at(0, 0, 1, 4) = -0.5;
  expect_error(" q", "1");
}

TEST(Interface, NamesTheTokenInsideTheSourceOrOutsideTheBall) {
  for (const char* name : {"penumbral-finite", "umbral-finite", "ganea"}) {
    Call call = call_from_text(name);
    call.map = "none";
    const auto plan = resolve(call, small);
    for (const double norm : {0.0, 0.04, 1.0, 2.0}) {  // umbral: tanh(0.1 / 2) = 0.04996
      AttentionInput<double> input = random_input(call, small, 2);
      std::fill_n(input.key.owned().row(0, 1, 2), small.feature, 0.0);
      input.key.owned().at(0, 1, 2, 0) = norm;
      const Error error = error_of([&] { return forward(*plan, input); });
      EXPECT_EQ(error.exit_status(), 1);
      EXPECT_THAT(error.what(), HasSubstr("token 2 of k"));
      EXPECT_THAT(error.what(), HasSubstr(norm < 1 ? "above the source's radius" : "unit ball"));
    }
  }
}

TEST(Interface, NamesTheValueOutsideTheBall) {
  const Call call = call_from_text("penumbral:aggregate=einstein");
  AttentionInput<double> input = random_input(call, small, 3);
  input.value.owned().at(0, 0, 3, 1) = 1.25;
  const auto plan = resolve(call, small);
  const Error error = error_of([&] { return forward(*plan, input); });
  EXPECT_EQ(error.exit_status(), 1);
  EXPECT_THAT(error.what(), HasSubstr("3"));
  EXPECT_THAT(error.what(), HasSubstr("v"));
}

TEST(Interface, RefusesHypeThatOverflows) {
  Call call = call_from_text("penumbral:bias=hype:hype_mu=300");
  // mu (L - 1) = 900 > 709.8; in float32 the limit is 88.7.
  const auto run_it = [&](auto type) {
    using T = decltype(type);
    const AttentionInput<T> input = convert<T>(random_input(call, small, 4));
    return error_of([&] { return forward(*resolve(call, small), input); });
  };
  EXPECT_NE(run_it(0.0).exit_status(), 0);
  call.parameters = {{"hype_mu", "40"}};
  EXPECT_NE(run_it(0.0f).exit_status(), 0);
  // 1e8 sinh(75) = 1.9e40, where sinh(75) alone would fit.
  call.parameters = {{"hype_mu", "25"}, {"hype_tau", "1"}};
  const AttentionInput<float> input = convert<float>(random_input(call, small, 4));
  EXPECT_NO_THROW((void)forward(*resolve(call, small), input));
  call.parameters = {{"hype_mu", "25"}, {"hype_tau", "1e8"}};
  EXPECT_NE(run_it(0.0f).exit_status(), 0);
}

TEST(Interface, MapsCheckWhatTheyAreGiven) {
  const Call call;
  const auto plan = resolve(call, small);
  const AttentionInput<double> input = random_input(call, small, 4);
  Extents other = small;
  ++other.key;
  const AttentionInput<double> wrong = random_input(call, other, 4);
  const Error sizes =
      error_of([&] { return attention_map(*plan, wrong, Map2d::logits).data.size(); });
  EXPECT_EQ(sizes.exit_status(), 1);
  double out[1] = {};
  const Error unsaved = error_of([&] {
    PairMap<double>(*plan, input).tile(Map2d::weights, nullptr, {0, 0, 0, 1, 0, 1}, out);
    return 0;
  });
  EXPECT_THAT(unsaved.what(), HasSubstr("saved"));
  const MapTile beyond[] = {
      {1, 0, 0, 1, 0, 1}, {0, 0, 0, small.query + 1, 0, 1}, {0, 0, 0, 1, -1, 1}};
  for (const MapTile& tile : beyond) {
    const Error outside = error_of([&] {
      PairMap<double>(*plan, input).tile(Map2d::logits, nullptr, tile, out);
      return 0;
    });
    EXPECT_THAT(outside.what(), HasSubstr("a tile of a map"));
    EXPECT_EQ(outside.exit_status(), 1);
  }
}

TEST(Interface, StopsWhenAsked) {
  Call call;
  const Extents e{1, 1, 300, 300, 8, 4};
  const AttentionInput<double> input = random_input(call, e, 5);
  const auto plan = resolve(call, e);
  Execution execution;
  execution.cancelled = [] { return true; };
  EXPECT_EQ(error_of([&] { return forward(*plan, input, execution); }).exit_status(), 130);
  const Forward<double> saved = forward(*plan, input);
  EXPECT_EQ(error_of([&] { return backward(*plan, input, saved, execution); }).exit_status(), 130);
}

TEST(Interface, ReportsProgressUpToOne) {
  const Extents e{1, 2, 200, 200, 8, 4};
  const AttentionInput<double> input = random_input(Call{}, e, 6);
  std::atomic<double> last{0};
  std::atomic<bool> inside{true};
  Execution execution;
  execution.progress = [&](double fraction) {
    if (!(fraction >= 0 && fraction <= 1)) inside = false;
    double seen = last;
    while (fraction > seen && !last.compare_exchange_weak(seen, fraction)) continue;
  };
  (void)forward(*resolve(Call{}, e), input, execution);
  EXPECT_TRUE(inside);
  EXPECT_EQ(last, 1.0);
}

TEST(Interface, RefusesHypesColumnsThatOverflow) {
  const Extents e{1, 1, 41, 41, 64, 1};
  const auto of_reach = [&](double reach, auto type) {
    using T = decltype(type);
    Call call = call_from_text("dot:bias=hype:hype_form=columns:hype_tau=1");
    call.parameters["hype_mu"] = fmt::format("{}", reach / 40);
    const AttentionInput<T> input = convert<T>(random_input(call, e, 4));
    (void)forward(*resolve(call, e), input);
  };
  const auto expect_limit = [&](double limit, const char* text, auto type) {
    EXPECT_NO_THROW(of_reach(limit - 0.01, type));
    const Error error = error_of([&] { of_reach(limit + 0.01, type); });
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_THAT(error.what(), HasSubstr(text));
  };
  // mu (L - 1) at d = 64 and tau = 1.
  expect_limit(9.7036, "9.704", Float16{});
  expect_limit(87.332, "87.33", Bfloat16{});
  expect_limit(87.336, "87.34", 0.0f);
  expect_limit(708.397, "708.4", 0.0);
}

/// At the limit the columns are still within the range of the product.
TEST(Interface, ComputesHypesColumnsUpToTheirLimit) {
  for (const Extents& e : {Extents{1, 1, 2, 2, 64, 1}, Extents{1, 1, 41, 41, 64, 1},
                           Extents{1, 1, 9, 41, 64, 1}, Extents{1, 1, 41, 9, 64, 1}}) {
    const auto width =
        static_cast<double>(e.key - 1 + 2 * std::max<std::int64_t>(0, e.query - e.key));
    const auto expect_numbers = [&](double limit, auto type, double tolerance) {
      using T = decltype(type);
      Call call = call_from_text("dot:bias=hype:hype_tau=1");
      call.parameters["hype_mu"] = fmt::format("{}", limit / width);
      const AttentionInput<T> input = convert<T>(random_input(call, e, 4));
      const auto bias = run(call, convert<double>(input));
      call.parameters["hype_form"] = "columns";
      const auto columns = run(call, input);
      EXPECT_LE(difference(columns.logits, bias.logits), tolerance);
      EXPECT_LE(difference(columns.weights, bias.weights), tolerance);
      EXPECT_LE(difference(columns.forward.output, bias.forward.output), tolerance);
    };
    expect_numbers(87.33, 0.0f, 1e-5);
    expect_numbers(708.39, 0.0, 1e-12);
  }
}

TEST(Interface, RefusesWhatHypesColumnsAndGridsDoNotTake) {
  const auto refusal = [&](const char* text) {
    const Error error = error_of([&] {
      return resolve(call_from_text(text), {1, 2, 12, 12, 4, 1});
    });
    EXPECT_EQ(error.exit_status(), 2) << text;
    return std::string(error.what());
  };
  EXPECT_THAT(refusal("laplacian:bias=hype:hype_form=columns"), HasSubstr("dot product"));
  EXPECT_THAT(refusal("dot:bias=hype:grid=3x5"), HasSubstr("15"));
  EXPECT_THAT(refusal("dot:bias=hype:grid=3xx4"), HasSubstr("grid"));
  EXPECT_THAT(refusal("dot:bias=hype:grid=-3x-4"), HasSubstr("grid"));
  EXPECT_THAT(refusal("dot:bias=hype:grid=3x4:hype_mu=1,2,3"), HasSubstr("per axis"));
  EXPECT_THAT(refusal("dot:bias=hype:grid=3x4:hype_mu=1;2;3"), HasSubstr("per head"));
  EXPECT_THAT(refusal("dot:bias=hype:hype_mu=1,2,3"), HasSubstr("per head"));
}

TEST(Interface, RefusesRelativePositionsThatHaveNoMeaning) {
  const auto refusal = [&](const char* text, int status = 2) {
    Call call = call_from_text(text);
    call.bias = "shaw";
    const Error error = error_of([&] { return resolve(call, {1, 2, 12, 12, 4, 1}); });
    EXPECT_EQ(error.exit_status(), status) << text;
    return std::string(error.what());
  };
  EXPECT_THAT(refusal("dot", 1), HasSubstr("shaw_k [2clip+1 x d]"));
  EXPECT_THAT(refusal("additive:shaw_k=random:W=random:U=random:v_a=random"),
              HasSubstr("formula of other numbers"));
  EXPECT_THAT(refusal("multiplicative:W=random", 1), HasSubstr("shaw_v [2clip+1 x d_v]"));
  EXPECT_THAT(refusal("dot:shaw_v=random:aggregate=einstein"), HasSubstr("aggregate einstein"));
  EXPECT_THAT(refusal("dot:shaw_v=random:value_map=lift"), HasSubstr("value map lift"));
  EXPECT_THAT(refusal("dot:shaw_v=random:axis=query"), HasSubstr("axis=query"));
  EXPECT_THAT(refusal("dot:shaw_k=random:clip=-1"), HasSubstr("clip"));
  Extents extents{1, 2, 12, 12, 4, 1};
  extents.tensors["shaw_k"] = {6, 4};
  Call call = call_from_text("dot:bias=shaw");
  EXPECT_THAT(error_of([&] { return resolve(call, extents); }).what(),
              HasSubstr("tensor shaw_k does not have its shape"));
  extents.tensors["shaw_k"] = {7, 4};
  call.parameters["clip"] = "2";
  EXPECT_THAT(error_of([&] { return resolve(call, extents); }).what(), HasSubstr("[5 x 4]"));
}

TEST(Interface, RefusesAnUnknownSimdTarget) {
  const AttentionInput<double> input = random_input(Call{}, small, 7);
  Execution execution;
  execution.simd = "abacus";
  EXPECT_EQ(
      error_of([&] { return forward(*resolve(Call{}, small), input, execution); }).exit_status(),
      2);
}

TEST(Interface, ListsEveryPartWithWords) {
  for (const auto& list : {list_similarities(), list_maps(), list_biases(), list_masks()}) {
    ASSERT_FALSE(list.empty());
    for (const PartInfo& part : list) {
      EXPECT_FALSE(part.name.empty());
      EXPECT_FALSE(part.about.empty()) << part.name;
      for (const ParameterInfo& p : part.parameters) EXPECT_STRNE(p.about, "") << p.key;
    }
  }
  EXPECT_GE(variants().size(), 10u);
}

}  // namespace
}  // namespace conelab::tests
