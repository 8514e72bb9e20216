// The call of one head: as it was given, and with every value written out.
#include <gtest/gtest.h>

#include <numeric>

#include "core/call/call.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

TEST(OneHead, HasItsOwnNumbersOfEveryList) {
  const Extents all{1, 2, 12, 12, 4, 2}, one{1, 1, 12, 12, 4, 2};
  for (const char* text :
       {"penumbral:gamma=1,2", "dot:bias=alibi:alibi_slope=0.5,0.25:scale=3",
        "dot:bias=hype:hype_mu=0.2,0.1:hype_tau=2;3", "dot:bias=hype:grid=12:hype_mu=0.2,0.1",
        "dot:bias=hype:grid=3x4:hype_mu=0.2,0.1", "dot:bias=hype:grid=4x3:hype_mu=0.2",
        "umbral:bias=hype:grid=3x4:hype_mu=0.2,0.1;0.3,0.4:hype_tau=1,2:radius=2,1"}) {
    SCOPED_TRACE(text);
    const Call call = call_from_text(text);
    const auto whole = resolve(call, all);
    for (std::int64_t head = 0; head < all.head; ++head) {
      const auto given = resolve(with_numbers_of_head(call, head), one);
      const auto written = resolve(call_of_head(call, all, head), one);
      for (std::size_t i = 0; i < whole->parameters.size(); ++i) {
        const Parameter& p = whole->parameters[i];
        SCOPED_TRACE(p.info.key);
        EXPECT_EQ(given->parameters[i].values, written->parameters[i].values);
        if (p.extents.empty() && p.is_number() && call.parameters.contains(p.info.key)) {
          EXPECT_EQ(given->parameters[i].values.front(), p.at(head));
        }
      }
    }
  }
}

TEST(OneHead, LeavesFilesAndShortListsAlone) {
  Call call = call_from_text("multiplicative:gamma=1,2");
  call.parameters["W"] = "@a,b.npy";
  call.parameters["scale"] = "1,2";
  const Call third = with_numbers_of_head(call, 2);
  EXPECT_EQ(third.parameters.at("W"), "@a,b.npy");
  EXPECT_EQ(third.parameters.at("scale"), "1,2");
}

TEST(OneHead, HasItsOwnTensor) {
  Array<double> both{{2, 4, 4}, std::vector<double>(32)};
  std::iota(both.data.begin(), both.data.end(), 0);
  const auto own =
      tensors_of_head<double>({{"W", both}}, 1, call_parameters(call_from_text("multiplicative")));
  EXPECT_EQ(own.at("W").extents, (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(own.at("W").data, std::vector<double>(both.data.begin() + 16, both.data.end()));
}

std::string title(const std::string& call, std::int64_t head) {
  return call_title(with_numbers_of_head(call_from_text(call), head));
}

TEST(TitleOfHead, HasTheHeadsOwnNumber) {
  EXPECT_EQ(title("penumbral:gamma=1,2,4", 2), "penumbral, gamma = 4");
  EXPECT_EQ(title("penumbral:gamma=3", 2), "penumbral, gamma = 3");
  EXPECT_EQ(title("dot:bias=hype:hype_mu=.2,.1", 1), "dot, hype_mu = .1, hype");
  EXPECT_EQ(title("dot:bias=hype:grid=30:hype_mu=.2;.1", 1), "dot, grid = 30, hype_mu = .1, hype");
}

TEST(TitleOfHead, KeepsTheNumbersOfAllAxesOfAGrid) {
  for (const std::int64_t head : {0, 1, 5}) {
    EXPECT_EQ(title("dot:bias=hype:grid=5x6:hype_mu=.2,.1:hype_tau=-1,1", head),
              "dot, grid = 5x6, hype_mu = .2,.1, hype_tau = -1,1, hype");
  }
  EXPECT_EQ(title("dot:bias=hype:grid=5x6:hype_mu=.2,.1;.3,.4;.5", 0),
            "dot, grid = 5x6, hype_mu = .2,.1, hype");
  EXPECT_EQ(title("dot:bias=hype:grid=5x6:hype_mu=.2,.1;.3,.4;.5", 1),
            "dot, grid = 5x6, hype_mu = .3,.4, hype");
  EXPECT_EQ(title("dot:bias=hype:grid=5x6:hype_mu=.2,.1;.3,.4;.5", 2),
            "dot, grid = 5x6, hype_mu = .5, hype");
}

TEST(TitleOfHead, KeepsTheNameOfAFile) {
  EXPECT_EQ(title("bilinear:W=@a,b.npy", 0), "bilinear, W = @a,b.npy");
}

}  // namespace
}  // namespace conelab
