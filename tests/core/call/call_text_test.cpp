#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

TEST(CallText, IsReadAsItIsWritten) {
  Call call;
  call.similarity = "umbral";
  call.map = "exponential";
  call.bias = "alibi";
  call.masks = {"causal", "window"};
  call.weights = "sigmoid";
  call.aggregate = "einstein";
  call.parameters = {{"gamma", "2"}, {"radius", "0.5"}};
  EXPECT_EQ(call_text(call),
            "umbral:map=exponential:bias=alibi:masks=causal+window:weights=sigmoid:"
            "aggregate=einstein:gamma=2:radius=0.5");
  EXPECT_EQ(call_from_text(call_text(call)), call);
  Call plain;
  plain.similarity = "dot";
  EXPECT_EQ(call_text(plain), "dot");
  EXPECT_EQ(call_from_text("dot"), plain);
}

TEST(CallText, WhatIsNoKeyWithAValueIsMisuse) {
  for (const char* text : {"dot:gamma", "dot:=2", "dot::gamma=2", "dot:scale=1:scale=2"}) {
    EXPECT_THROW((void)call_from_text(text), Error) << text;
  }
}

TEST(CallText, AnotherSimilarityThanThatOfTheOperatorIsMisuse) {
  EXPECT_THROW((void)call_from_text("penumbral:similarity=dot"), Error);
  EXPECT_EQ(call_from_text("penumbral:similarity=penumbral"), call_from_text("penumbral"));
  EXPECT_EQ(call_from_text("multi-head:similarity=umbral").similarity, "umbral");
}

TEST(CallText, MasksAreAlsoNamedAsTheOptionIs) {
  EXPECT_EQ(call_from_text("transformer-xl:memory=2"),
            call_from_text("dot:masks=segment:memory=2"));
  EXPECT_EQ(call_from_text("dot:mask=causal"), call_from_text("dot:masks=causal"));
}

TEST(CallText, TitlesTellWhatDiffers) {
  EXPECT_EQ(call_title(call_from_text("dot")), "dot");
  EXPECT_EQ(call_title(call_from_text("penumbral:gamma=0.37125846912")),
            "penumbral, gamma = 0.3713");
  EXPECT_EQ(call_title(call_from_text("penumbral:gamma=1e-3,2")), "penumbral, gamma = 1e-3,2");
  EXPECT_EQ(call_title(call_from_text("multi-head:heads=4")), "multi-head, heads = 4");
  EXPECT_EQ(call_title(call_from_text("multi-head:similarity=umbral:heads=4")),
            "multi-head, umbral, heads = 4");
  EXPECT_EQ(call_title(call_from_text("penumbral:gamma=2:masks=causal:bias=alibi")),
            "penumbral, gamma = 2, alibi, causal");
  EXPECT_EQ(call_title(call_from_text("penumbral:map=exp:aggregate=einstein")),
            "penumbral, exp, einstein");
}

TEST(CallText, OfOneHeadListsAreItsNumber) {
  const Extents extents{1, 3, 4, 4, 2, 2};
  const Call one = call_of_head(call_from_text("penumbral:gamma=1,2,4"), extents, 2);
  EXPECT_EQ(one.parameters.at("gamma"), "4");
  EXPECT_NE(one.parameters.find("height"), one.parameters.end());  // Defaults are written out.
}

}  // namespace
}  // namespace conelab
