#include "core/trace/layers.h"

#include <gtest/gtest.h>

namespace conelab {
namespace {

using Groups = std::vector<std::string>;

TEST(LayersBeside, AreThoseOfOneStackAndKind) {
  const Groups groups = {"/a/decoder.layer0.cross", "/a/decoder.layer0.self", "/a/encoder.layer10",
                         "/a/encoder.layer9",       "/a/decoder.layer1.self", "/b/encoder.layer0"};
  EXPECT_EQ(layers_beside(groups, "/a/encoder.layer9"),
            (Groups{"/a/encoder.layer9", "/a/encoder.layer10"}));
  EXPECT_EQ(layers_beside(groups, "/a/decoder.layer1.self"),
            (Groups{"/a/decoder.layer0.self", "/a/decoder.layer1.self"}));
  EXPECT_EQ(layers_beside(groups, "/b/encoder.layer0"), Groups{"/b/encoder.layer0"});
}

TEST(LayersBeside, OfOtherNamesAreThoseOfOneParent) {
  const Groups groups = {"/a/layer10", "/a/layer9", "/a/other", "/a/model.layers.0.attn"};
  EXPECT_EQ(layers_beside(groups, "/a/layer9"),
            (Groups{"/a/layer9", "/a/layer10", "/a/model.layers.0.attn", "/a/other"}));
}

}  // namespace
}  // namespace conelab
