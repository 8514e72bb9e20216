#include "core/job/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/jobs/job_table.h"
#include "tests/helpers/errors.h"

namespace conelab {
namespace {

using fixtures::misuse_of;
using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

JobSpec attend(FieldValues values) {
  values.emplace("similarity", "penumbral");
  values.emplace("input", "trace.h5:/layer3");
  return spec_of_typed(job_named("attend"), std::move(values));
}

/// A value that a field of this kind accepts and that is not its default.
FieldValue some_value(const JobField& field) {
  switch (field.kind) {
    case FieldKind::number:
      return 2.5;
    case FieldKind::integer:
      return std::int64_t{3};
    case FieldKind::flag:
      return true;
    case FieldKind::list:
    case FieldKind::texts:
    case FieldKind::inputs:
      return Texts{"a", "b"};
    case FieldKind::parameters:
      return std::map<std::string, std::string>{{"gamma", "1,2"}, {"model", "ball"}};
    case FieldKind::call: {
      Call call;
      call.similarity = "umbral";
      call.masks = {"causal", "padding"};
      call.parameters["gamma"] = "2";
      return call;
    }
    default:
      return field.choices.empty() ? std::string("word") : field.choices.back();
  }
}

JobSpec full_spec(const JobKind& kind) {
  JobSpec spec{&kind, {}};
  for (const JobField& field : kind.fields) spec.values[field.name] = some_value(field);
  return spec;
}

TEST(JobSpec, OfEveryKindSurvivesJson) {
  for (const JobKind& kind : job_table()) {
    const JobSpec spec = full_spec(kind);
    const Json json = spec_to_json(spec);
    const JobSpec back = spec_from_json(Json::parse(json.dump()));
    EXPECT_EQ(spec_to_json(back), json) << kind.name;
    for (const JobField& field : kind.fields) {
      EXPECT_EQ(back.given(field.name), field.changes_result) << kind.name << " " << field.name;
      if (field.changes_result) {
        EXPECT_EQ(back.values.at(field.name), spec.values.at(field.name)) << field.name;
      }
    }
  }
}

TEST(JobSpec, EveryFieldIsDescribedAndHasItsOwnName) {
  for (const JobKind& kind : job_table()) {
    std::set<std::string> names, options;
    for (const JobField& field : typed_fields(kind)) {
      EXPECT_TRUE(names.insert(field.name).second) << kind.name << " " << field.name;
      EXPECT_TRUE(options.insert(field.option).second) << kind.name << " " << field.option;
      EXPECT_FALSE(field.about.empty()) << kind.name << " " << field.name;
      if (field.initial.empty()) continue;
      EXPECT_EQ(misuse_of([&] { (void)value_of_text(field, field.initial); }), "");
    }
  }
}

TEST(JobSpec, WordsSayWhatWasGivenAndNoMore) {
  EXPECT_THAT(command_words(attend({{"output", "o.h5"}, {"keep", Texts{"lse", "weights"}}})),
              ElementsAre("conelab", "attend", "trace.h5:/layer3", "-o", "o.h5", "--similarity",
                          "penumbral", "--keep", "lse,weights"));
  const JobSpec figure = spec_of_typed(
      job_named("figure"), {{"kind", "heatmap"},
                            {"input", Texts{"a.h5", "b.h5"}},
                            {"parameters", std::map<std::string, std::string>{{"head", "5"}}}});
  EXPECT_THAT(command_words(figure), ElementsAre("conelab", "figure", "heatmap", "--input", "a.h5",
                                                 "--input", "b.h5", "-p", "head=5"));
}

TEST(JobSpec, TypedPartsOfACallBecomeOneCall) {
  const JobSpec spec = attend({{"mask", Texts{"causal+padding"}},
                               {"parameters", std::map<std::string, std::string>{{"gamma", "2"}}}});
  EXPECT_THAT(spec.call().masks, ElementsAre("causal", "padding"));
  EXPECT_EQ(spec.call().parameters.at("gamma").text(), "2");
  EXPECT_FALSE(spec.given("mask"));
  EXPECT_THAT(misuse_of([] { (void)spec_of_typed(job_named("attend"), {}); }),
              HasSubstr("--similarity"));
}

TEST(JobSpec, AnInputThatCannotBeReadIsNamedBeforeTheSimilarityIsMissed) {
  const std::string input = CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5:/missing";
  EXPECT_THAT(fixtures::message_of([&] {
                return spec_of_typed(job_named("attend"), {{"input", input}});
              }),
              HasSubstr("no 'missing' here"));
}

TEST(JobSpec, DefaultsAreWrittenOutAndTheOutputIsNot) {
  const Json json = spec_to_json(attend({{"output", "o.h5"}, {"threads", std::int64_t{2}}}));
  EXPECT_EQ(json["command"], "attend");
  EXPECT_EQ(json["device"], "auto");
  EXPECT_EQ(json["keep"], Json::parse(R"(["output", "lse"])"));
  EXPECT_FALSE(json.contains("output"));
  EXPECT_FALSE(json.contains("threads"));
}

TEST(JobField, WrongValuesSayWhatWasExpected) {
  const JobKind& bench = job_named("bench");
  const auto text_error = [&](const char* name, const char* text) {
    return misuse_of([&] { (void)value_of_text(*find_field(bench, name), text); });
  };
  EXPECT_EQ(text_error("seed", "-1"), "expected a whole number from 0, found '-1'");
  EXPECT_EQ(text_error("time_limit", "soon"), "expected a number, found 'soon'");
  const auto json_error = [&](const char* name, const char* json) {
    return misuse_of([&] { (void)value_of_json(*find_field(bench, name), Json::parse(json)); });
  };
  EXPECT_EQ(json_error("seed", "1.5"), "expected a whole number from 0, found '1.5'");
  EXPECT_EQ(json_error("seed", "\"1\""), "expected a whole number from 0, found '\"1\"'");
  EXPECT_EQ(json_error("warm_only", "3"), "expected true or false, found '3'");
  EXPECT_EQ(json_error("lengths", "[256, 512]"), "");
  EXPECT_EQ(json_error("lengths", "{}"), "expected a list, found '{}'");
  const JobField* threads = find_field(job_named("attend"), "threads");
  EXPECT_EQ(misuse_of([&] { (void)value_of_text(*threads, "0"); }),
            "expected a whole number from 1 to 4096, found '0'");
  EXPECT_EQ(misuse_of([&] { (void)value_of_text(*threads, "4096"); }), "");
  EXPECT_EQ(misuse_of([&] { (void)value_of_text(*threads, "4097"); }),
            "expected a whole number from 1 to 4096, found '4097'");
}

TEST(CheckSpec, FindsWhatIsWrongBeforeAnythingIsRead) {
  const auto error = [](const char* kind, FieldValues values) {
    values.emplace("output", "o.h5");
    return misuse_of([&] { check_spec(spec_of_typed(job_named(kind), std::move(values))); });
  };
  EXPECT_EQ(error("attend", {{"similarity", "dot"}, {"input", "i.h5"}}), "");
  EXPECT_THAT(error("attend", {{"similarity", "dot"}}), HasSubstr("give INPUT"));
  EXPECT_THAT(
      error("attend", {{"similarity", "dot"}, {"input", "i.h5"}, {"keep", Texts{"wights"}}}),
      HasSubstr("did you mean 'weights'?"));
  EXPECT_THAT(error("tree", {{"similarity", "dot"}}), HasSubstr("input is required"));
  EXPECT_THAT(error("bench", {{"operators", Texts{"dott"}}}), HasSubstr("did you mean 'dot'?"));
  EXPECT_THAT(error("figure", {{"kind", "heatmapp"}}), HasSubstr("did you mean 'heatmap'?"));
  EXPECT_THAT(misuse_of([] { (void)job_named("atend"); }), HasSubstr("did you mean 'attend'?"));
}

TEST(JobKey, DependsOnContentAndNotOnNamesOfFilesOrOutputs) {
  const auto digest = [](const std::string& path) { return path.substr(path.find('-')); };
  const auto key = [&](FieldValues values) { return job_key(attend(std::move(values)), digest); };
  const auto base = key({{"input", "a-1.h5:/x"}});
  EXPECT_EQ(base.size(), 64U);
  EXPECT_EQ(key({{"input", "b-1.h5:/x"}, {"output", "o.h5"}, {"threads", std::int64_t{2}}}), base);
  EXPECT_EQ(key({{"input", "a-1.h5:/x"}, {"device", "auto"}}), base) << "a default that is typed";
  EXPECT_NE(key({{"input", "a-2.h5:/x"}}), base);
  EXPECT_NE(key({{"input", "a-1.h5:/y"}}), base);
  EXPECT_NE(key({{"input", "a-1.h5:/x"}, {"keep", Texts{"weights"}}}), base);
  const auto with_tensor = [&](const char* file) {
    return key(
        {{"input", "a-1.h5:/x"}, {"parameters", std::map<std::string, std::string>{{"W", file}}}});
  };
  EXPECT_EQ(with_tensor("@v-1.npy"), with_tensor("@w-1.npy"));
  EXPECT_NE(with_tensor("@v-1.npy"), with_tensor("@v-2.npy"));
}

TEST(JobKey, NamesTheFilesThatAreRead) {
  const JobSpec spec =
      attend({{"parameters", std::map<std::string, std::string>{{"W", "@w.npy"}, {"gamma", "2"}}}});
  EXPECT_THAT(files_read(spec), ElementsAre("trace.h5:/layer3", "w.npy"));
}

}  // namespace
}  // namespace conelab
