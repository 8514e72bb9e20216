#include "core/job/call_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/helpers/errors.h"

namespace conelab {
namespace {

using fixtures::misuse_of;
using testing::ElementsAre;
using testing::HasSubstr;

Call full_call() {
  Call call;
  call.similarity = "umbral";
  call.map = "psi";
  call.bias = "alibi";
  call.masks = {"causal", "padding"};
  call.weights = "sigmoid";
  call.aggregate = "einstein";
  call.parameters = {{"gamma", "1,2.5,4e3"}, {"radius", "0.1"}, {"convention", "reference"}};
  return call;
}

TEST(CallJson, SurvivesTheRoundTrip) {
  const auto json = call_to_json(full_call());
  EXPECT_EQ(json["parameters"]["gamma"][1], 2.5);
  EXPECT_EQ(json["parameters"]["radius"], 0.1);
  EXPECT_EQ(json["parameters"]["convention"], "reference");
  const auto parsed = nlohmann::ordered_json::parse(json.dump());
  EXPECT_EQ(call_to_json(call_from_json(parsed)), json);
  EXPECT_THAT(call_from_json(parsed).masks, ElementsAre("causal", "padding"));
}

TEST(CallJson, KeepsEveryDigitOfAParameter) {
  Call call;
  call.parameters["gamma"] = "0.1000000000000000055511151231257827,1e-300";
  const Call back = call_from_json(call_to_json(call));
  EXPECT_EQ(back.parameters.at("gamma"), "0.1,1e-300");
}

TEST(CallJson, RefusesWhatIsNoCall) {
  const auto read = [](const char* text) {
    return misuse_of([&] { (void)call_from_json(nlohmann::ordered_json::parse(text)); });
  };
  EXPECT_THAT(read("[]"), HasSubstr("not an object"));
  EXPECT_THAT(read(R"({"simularity": "dot"})"), HasSubstr("did you mean 'similarity'?"));
  EXPECT_THAT(read(R"({"map": 3})"), HasSubstr("'map' is not a word"));
  EXPECT_THAT(read(R"({"masks": "causal"})"), HasSubstr("'masks' is not a list"));
  EXPECT_THAT(read(R"({"parameters": {"gamma": null}})"), HasSubstr("'gamma'"));
}

TEST(CallArguments, LeaveDefaultsOut) {
  Call call;
  call.similarity = "dot";
  EXPECT_THAT(call_arguments(call), ElementsAre("--similarity", "dot"));
  EXPECT_THAT(call_arguments(full_call()),
              ElementsAre("--similarity", "umbral", "--map", "psi", "--bias", "alibi", "--mask",
                          "causal,padding", "--weights", "sigmoid", "--aggregate", "einstein", "-p",
                          "convention=reference", "-p", "gamma=1,2.5,4e3", "-p", "radius=0.1"));
}

TEST(ShellLine, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_line({"a.h5:/german/layer3", "gamma=1,2"}), "a.h5:/german/layer3 gamma=1,2");
  EXPECT_EQ(shell_line({"my file", "it's", "", "$x"}), R"('my file' 'it'\''s' '' '$x')");
}

TEST(Parameters, AreKeysAndValues) {
  EXPECT_EQ(parse_parameters({"gamma=1,2", "model=halfspace"}).at("gamma"), "1,2");
  EXPECT_THAT(misuse_of([] { (void)parse_parameters({"gamma"}); }), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(misuse_of([] { (void)parse_parameters({"=1"}); }), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(misuse_of([] { (void)parse_parameters({"gamma="}); }), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(misuse_of([] { (void)parse_parameters({"a=1", "a=2"}); }), HasSubstr("twice"));
}

TEST(Lists, HaveNoEmptyEntries) {
  EXPECT_THAT(split_list("causal,padding", "--mask"), ElementsAre("causal", "padding"));
  for (const char* text : {"", "a,", ",a", "a,,b"}) {
    EXPECT_THAT(misuse_of([&] { (void)split_list(text, "--mask"); }), HasSubstr("--mask"));
  }
}

}  // namespace
}  // namespace conelab
