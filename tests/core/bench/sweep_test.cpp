#include "core/bench/sweep.h"

#include <gtest/gtest.h>

#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::failure_of;
using List = std::vector<std::int64_t>;

TEST(ParseIntegers, ReadsListsAndRanges) {
  EXPECT_EQ(parse_integers("n", "256,512"), (List{256, 512}));
  EXPECT_EQ(parse_integers("n", "256..2048:x2"), (List{256, 512, 1024, 2048}));
  EXPECT_EQ(parse_integers("n", "256..1000:x2"), (List{256, 512}));
  EXPECT_EQ(parse_integers("n", "256..1024:+256"), (List{256, 512, 768, 1024}));
  EXPECT_EQ(parse_integers("n", "512,1..8:x2,2"), (List{1, 2, 4, 8, 512}));
  EXPECT_EQ(parse_integers("n", "7..7:x2"), (List{7}));
  EXPECT_EQ(parse_integers("n", "9223372036854775807"), (List{INT64_MAX}));
  EXPECT_EQ(parse_integers("n", "4611686018427387904..9223372036854775806:x2"),
            (List{4611686018427387904}));
}

TEST(ParseIntegers, SaysWhatIsWrong) {
  const auto error = [](const char* text) {
    return failure_of([&] { (void)parse_integers("--lengths", text); });
  };
  EXPECT_EQ(error(""), "2: --lengths: '' is not a positive integer");
  EXPECT_EQ(error("256,,512"), "2: --lengths: '' is not a positive integer");
  EXPECT_EQ(error("0"), "2: --lengths: '0' is not a positive integer");
  EXPECT_EQ(error("-4"), "2: --lengths: '-4' is not a positive integer");
  EXPECT_EQ(error("1e3"), "2: --lengths: '1e3' is not a positive integer");
  EXPECT_EQ(error("99999999999999999999"),
            "2: --lengths: '99999999999999999999' is not a positive integer");
  EXPECT_EQ(error("1..8"),
            "2: --lengths: '1..8' needs a step, as in 256..4096:x2 or 256..4096:+256");
  EXPECT_EQ(error("1..8:x1"), "2: --lengths: 'x1' is no step (expected x2, x4, ... or +N)");
  EXPECT_EQ(error("1..8:*2"), "2: --lengths: '*2' is no step (expected x2, x4, ... or +N)");
  EXPECT_EQ(error("8..1:x2"), "2: --lengths: '8..1:x2' runs backwards");
  EXPECT_EQ(error("1..1000000:+1"), "2: --lengths: '1..1000000:+1' has over 10000 values");
}

TEST(Sweep, CasesAreTheProductInRowMajorOrder) {
  Sweep s = fixtures::fake_sweep({"dot", "umbral"}, {64, 128});
  s["pass"] = {"forward", "backward"};
  const std::vector<Case> cases = s.cases();
  ASSERT_EQ(cases.size(), 8u);
  EXPECT_EQ(describe(cases[0]), "dot forward cpu f32 threads=1 d=64 heads=8 n=64");
  EXPECT_EQ(describe(cases[1]), "dot forward cpu f32 threads=1 d=64 heads=8 n=128");
  EXPECT_EQ(describe(cases[6]), "umbral backward cpu f32 threads=1 d=64 heads=8 n=64");
}

TEST(CheckSweep, RefusesWhatCannotBeMeasured) {
  const std::vector<std::string> known = {"dot", "penumbral"};
  const auto error = [&](auto change) {
    Sweep s = fixtures::fake_sweep({"dot"}, {64});
    change(s);
    return failure_of([&] { check_sweep(s, known); });
  };
  EXPECT_EQ(error([](Sweep&) {}), "no error");
  EXPECT_NE(error([](Sweep& s) { s["operator"] = {"penumbra"}; }).find("did you mean 'penumbral'"),
            std::string::npos);
  EXPECT_EQ(error([](Sweep& s) { s["operator"] = {}; }), "2: the sweep has no operator");
  EXPECT_EQ(error([](Sweep& s) {
              s["operator"] = {"dot", "dot"};
            }),
            "2: operator 'dot' is given twice");
  EXPECT_EQ(error([](Sweep& s) { s["operator"] = {"dot", "dot:bias=alibi"}; }), "no error");
  EXPECT_EQ(error([](Sweep& s) { s["operator"] = {"dot:scale= 2"}; }),
            "2: operator 'dot:scale= 2' holds a blank");
  EXPECT_NE(error([](Sweep& s) { s["operator"] = {"penumbra:gamma=2"}; }).find("unknown operator"),
            std::string::npos);
  EXPECT_EQ(error([](Sweep& s) { s["seq_len"] = {}; }), "2: the sweep has no lengths");
  EXPECT_EQ(error([](Sweep& s) {
              s["seq_len"] = {"64", "64"};
            }),
            "2: lengths must ascend (found 64)");
  EXPECT_EQ(error([](Sweep& s) { s["head"] = {"0"}; }), "2: heads must be at least 1 (found 0)");
  EXPECT_EQ(error([](Sweep& s) {
              s["key_head"] = {"3", "5"};
            }),
            "2: key-heads must divide heads (found 3 of 8)");
  EXPECT_EQ(error([](Sweep& s) { s["key_head"] = {"3", "4"}; }), "no error");
  EXPECT_EQ(error([](Sweep& s) { s.rounds = 0; }), "2: rounds must be at least 1 (found 0)");
  EXPECT_NE(error([](Sweep& s) { s["pass"] = {"sideways"}; }).find("unknown pass"),
            std::string::npos);
  EXPECT_NE(error([](Sweep& s) { s["dtype"] = {"f23"}; }).find("unknown dtype"), std::string::npos);
}

TEST(Sweep, IsTheSameFromItsItems) {
  Sweep s = fixtures::fake_sweep({"dot", "dot:masks=causal+window:window=8"}, {64, 128}, 5);
  s["pass"] = {"forward", "forward+backward"};
  s["device"] = {"cpu", "cuda"};
  s["dtype"] = {"f32", "bf16"};
  s["threads"] = {"1", "2"};
  s["dim"] = {"8", "16"};
  s["head"] = {"1", "3"};
  s.batch = 2, s.controls = 0, s.seed = std::numeric_limits<std::uint64_t>::max(), s.cold = false;
  auto items = s.items();
  EXPECT_EQ(sweep_of_items(items).items(), items);
  EXPECT_EQ(sweep_of_items({}).items(), Sweep().items());
  items.emplace_back("cpu", "another name");
  EXPECT_EQ(sweep_of_items(items).items(), s.items());
  for (const char* wrong : {"", "many", "5x", "99999999999999999999"}) {
    EXPECT_THROW((void)sweep_of_items({{"rounds", wrong}}), Error) << wrong;
  }
  EXPECT_THROW((void)sweep_of_items({{"lengths", "64,"}}), Error);
}

}  // namespace
}  // namespace conelab
