// Tests that cards offer what the engine takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/call/call.h"
#include "tests/helpers/errors.h"
#include "widgets/operators/operator_card.h"

namespace conelab::desktop {
namespace {

/// Returns whether the engine takes a call on six tokens with eight columns and all it needs.
/// Another failure than misuse is one of sizes.
bool is_taken_as_it_is(Call call) {
  for (const ParameterInfo& info : call_parameters(call)) {
    if (is_needed(info)) call.parameters[info.key] = "2";
  }
  const Extents extents{1, 1, 6, 6, 8, 8};
  const auto error = fixtures::caught([&] { return resolve(with_random_tensors(call), extents); });
  return !error || error->kind() != ErrorKind::usage;
}

/// Returns whether the engine takes a call, with one of the words that it may name: some lead to
/// maps into another model.
bool is_taken(const Call& call) {
  if (is_taken_as_it_is(call)) return true;
  for (const ParameterInfo& info : call_parameters(call)) {
    if (info.domain != Domain::choice) continue;
    for (const std::string& word : choice_words(info)) {
      Call other = call;
      other.parameters[info.key] = word;
      if (is_taken_as_it_is(other)) return true;
    }
  }
  return false;
}

std::set<std::string> offered(const CallField& field, const Call& call) {
  std::set<std::string> names;
  for (const PartInfo& part : fitting_parts(field, call)) names.insert(part.name);
  return names;
}

const CallField& field_named(std::string_view name) {
  for (const CallField& field : call_fields()) {
    if (field.name == name) return field;
  }
  throw std::logic_error("no field has this name");
}

TEST(OperatorParts, AreThoseThatTheEngineTakes) {
  for (const std::string& name : operator_names()) {
    const Call plain = call_from_text(name);
    for (const CallField& field : call_fields()) {
      if (field.word == &Call::similarity && is_attention(plain)) continue;  // The operator itself.
      const std::set<std::string> names = offered(field, plain);
      for (const PartInfo& part : field.parts()) {
        Call call = plain;
        set_field(field, call, part.name, ',');
        // A file brings along the first two; the others are what any operator has anyway.
        const bool skipped = part.name == "explicit" || part.name == "padding" ||
                             field_text(field, Call(), ',') == part.name || part.name == "none" ||
                             part.name == operator_similarity;
        if (skipped) continue;
        EXPECT_EQ(names.contains(part.name), is_taken(call)) << call_text(call);
      }
    }
  }
}

TEST(OperatorParts, NumbersThatAreNeededAreThoseWithoutWhichTheEngineRefuses) {
  for (const PartInfo& mask : list_masks()) {
    Call call = call_from_text("dot:masks=" + mask.name);
    const std::vector<ParameterInfo> all = call_parameters(call);
    const bool needs = std::any_of(all.begin(), all.end(),
                                   [&](const ParameterInfo& info) { return is_needed(info); });
    call = with_random_tensors(call);
    const auto resolved = [&] { (void)resolve(call, {1, 1, 6, 6, 8, 8}); };
    if (needs) {
      EXPECT_THROW(resolved(), Error) << mask.name;
    } else {
      EXPECT_NO_THROW(resolved()) << mask.name;
    }
  }
}

TEST(OperatorParts, OfHeadsFollowTheirSimilarity) {
  Call call = call_from_text("multi-head");
  EXPECT_EQ(offered(field_named("map"), call), (std::set<std::string>{"none"}));
  EXPECT_TRUE(offered(field_named("bias"), call).contains("shaw"));
  call.similarity = "penumbral";
  EXPECT_TRUE(offered(field_named("map"), call).contains("xi"));
  call.similarity = "gat";
  EXPECT_TRUE(offered(field_named("bias"), call).contains("shaw"));
  EXPECT_FALSE(offered(field_named("map"), call).contains("xi"));
  for (const PartInfo& part : fitting_parts(field_named("map"), call_from_text("ganea"))) {
    if (part.name != "none") continue;
    EXPECT_NE(part.about.find("Poincare ball"), std::string::npos);
  }
}

TEST(OperatorParts, ThatFitStayWithAnotherOperator) {
  Call call = call_from_text("penumbral:gamma=2:map=exp:bias=alibi:masks=window:window=4");
  call = with_operator(call, "umbral");
  EXPECT_EQ(call_text(call), "umbral:map=exp:bias=alibi:masks=window:window=4");
  call = with_operator(call, "dot");
  EXPECT_EQ(call_text(call), "dot:bias=alibi:masks=window:window=4");
  call = with_operator(call, "star");
  EXPECT_EQ(call_text(call), "star");
  Call heads = call_from_text("multi-head:similarity=umbral:radius=0.5:weights=sigmoid");
  heads = with_operator(heads, "recursive");
  EXPECT_EQ(call_text(heads), "recursive:similarity=umbral:weights=sigmoid:radius=0.5");
  EXPECT_EQ(call_text(with_operator(call_from_text("umbral:masks=causal"), "transformer-xl")),
            "dot:masks=segment");
}

TEST(OperatorParts, HelpTellsFormulaPaperAndCost) {
  for (const OperatorListing& listing : list_operators()) {
    const std::string help = operator_help(listing);
    EXPECT_NE(help.find(listing.part.about), std::string::npos);
    EXPECT_NE(help.find("Cost: " + listing.cost), std::string::npos);
    const bool on_cpu = help.find("on the CPU only") != std::string::npos;
    EXPECT_EQ(on_cpu, !is_attention(call_from_text(listing.part.name))) << listing.part.name;
  }
}

}  // namespace
}  // namespace conelab::desktop
