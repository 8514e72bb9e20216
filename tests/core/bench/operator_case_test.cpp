#include "core/bench/operator_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/bench/machine.h"
#include "core/operators/operator.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::failure_of;

Case small_case(const std::string& operation, const std::string& pass, const char* dtype = "f32") {
  return {{"operator", operation}, {"pass", pass}, {"dtype", dtype},
          {"dim", "16"},           {"head", "2"},  {"seq_len", "100"}};
}

/// In flop/s; what stands in GFLOP/s is below it on every machine.
constexpr double least_peak = 1e6;

/// Whether a measurement of this machine's speed ever holds: others may slow it down meanwhile.
bool sooner_or_later(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000; ++i) {
    if (holds()) return true;
  }
  return false;
}

TEST(OperatorCase, EveryOperatorRunsBothPassesWithSmallErrors) {
  const Workload workload = operator_workload();
  EXPECT_GE(workload.operations.size(), 5u);
  for (const std::string& name : workload.operations) {
    for (const char* pass : {"forward", "backward", "forward+backward"}) {
      const auto executor = workload.make(small_case(name, pass), 1, 1);
      const CaseFacts facts = executor->facts();
      EXPECT_GT(facts.flops, 0);
      EXPECT_GT(facts.error, 0) << name << " " << pass;
      // Gradients through the exponential map reach thousands, and so do their errors.
      EXPECT_LT(facts.error, pass == std::string("forward") ? 1e-3 : 0.1) << name;
      const Sample sample = executor->sample(name == "dot");
      EXPECT_GT(sample.warm, 0);
      EXPECT_GE(sample.runs * sample.warm, 0.0199);
      EXPECT_GT(sample.peak_flops, least_peak);
      EXPECT_EQ(std::isnan(sample.cold), name != "dot");
      const double rate = facts.flops / sample.warm;
      EXPECT_TRUE(sooner_or_later([&] { return rate < 1.1 * measure_peak(Dtype::f32, 1, 0.001); }))
          << name << " beats the peak";
    }
  }
}

TEST(OperatorCase, DoublePrecisionAgreesWithTheReference) {
  const Workload workload = operator_workload();
  const auto forward = workload.make(small_case("penumbral", "forward", "f64"), 1, 1);
  EXPECT_LT(forward->facts().error, 1e-11);
  const auto backward = workload.make(small_case("penumbral", "backward", "f64"), 1, 1);
  EXPECT_LT(backward->facts().error, 1e-8);
  const auto both = workload.make(small_case("penumbral", "forward+backward", "f64"), 1, 1);
  EXPECT_LT(both->facts().error, 1e-8);
  EXPECT_NEAR(both->facts().flops, forward->facts().flops + backward->facts().flops, 1);
}

TEST(OperatorCase, CallsAsOneWordAreMeasuredAsTheyAreGiven) {
  const Workload workload = operator_workload();
  Case c = small_case("dot", "forward", "f64");
  c.set("seq_len", 300);  // more than are checked whole
  const double all = workload.make(c, 1, 1)->facts().flops;
  for (const auto& [text, share] : {std::pair{"dot:bias=hype", 1.0},
                                    {"penumbral:bias=alibi:gamma=2", 1.0},
                                    {"dot:masks=causal", 301.0 / 600},
                                    {"umbral:masks=causal+window:window=1", 1.0 / 300}}) {
    for (const char* pass : {"forward", "backward"}) {
      c.set("operator", text);
      c.set("pass", pass);
      const CaseFacts facts = workload.make(c, 1, 1)->facts();
      EXPECT_LT(facts.error, pass == std::string("forward") ? 1e-11 : 1e-7) << text << pass;
      if (c["pass"] == "forward") {
        EXPECT_NEAR(facts.flops, all * share, 1) << text;
      }
    }
  }
}

TEST(OperatorCase, CallsThatACaseCannotHaveAreRefusedBeforehand) {
  const Workload workload = operator_workload();
  const auto check = [&](const char* text) { workload.check(small_case(text, "forward"), 1); };
  check("penumbral:gamma=2:bias=alibi:masks=causal");
  const auto error = [&](const char* text) {
    return failure_of([&] { check(text); }).substr(0, 3);
  };
  EXPECT_EQ(error("penumbral:gamm=2"), "2: ");
  EXPECT_EQ(error("penumbral:gamma"), "2: ");
  EXPECT_EQ(error("penumbral:masks=padding"), "2: ");
  EXPECT_EQ(error("penumbral:bias=rope"), "2: ");
}

TEST(OperatorCase, QueriesAndValuesMayHaveSizesOfTheirOwn) {
  const Workload workload = operator_workload();
  Case c = small_case("penumbral", "forward", "f64");
  const double pairs = workload.make(c, 1, 1)->facts().flops / 100 / 32;
  for (const auto& [queries, values] : {std::pair{1, 16}, std::pair{16, 24}, std::pair{300, 5}}) {
    for (const char* pass : {"forward", "backward"}) {
      c.set("pass", pass);
      c.set("query_len", queries);
      c.set("value_dim", values);
      const CaseFacts facts = workload.make(c, 1, 1)->facts();
      if (c["pass"] == "forward") {
        EXPECT_LT(facts.error, 1e-11);
        EXPECT_NEAR(facts.flops, pairs * queries * (16 + values), 1);
        EXPECT_EQ(facts.bytes, 8. * 2 * (queries * (16 + values) + 100 * (16 + values)));
      } else {
        EXPECT_TRUE(facts.error < 1e-7 || (queries == 1 && std::isnan(facts.error))) << facts.error;
      }
    }
  }
  c.set("operator", "agglomerative");
  EXPECT_EQ(failure_of([&] { (void)workload.predict(c, 1); }),
            "1: skipped: agglomerative takes no k and v with sizes of their own");
}

TEST(OperatorCase, ParametersAreJudgedAtTheSizesOfTheCase) {
  const Workload workload = operator_workload();
  const auto error = [&](const char* text) {
    return failure_of([&] { workload.check(small_case(text, "forward"), 1); });
  };
  // 16 columns and 100 tokens.
  EXPECT_EQ(error("agglomerative:classes=16"), "no error");
  EXPECT_EQ(error("multi-head:heads=16"), "no error");
  EXPECT_EQ(error("dot:bias=hype:grid=10x10"), "no error");
  EXPECT_EQ(error("agglomerative:classes=32"),
            "2: agglomerative: the number of classes must divide d (found 32 classes, d = 16)");
  EXPECT_EQ(error("dot:bias=hype:grid=8x8").substr(0, 3), "2: ");
}

TEST(OperatorCase, PredictionsKnowTheParametersOfMasks) {
  const Workload workload = operator_workload();
  const auto flops = [&](const char* text) {
    return workload.predict(small_case(text, "forward"), 1).flops;
  };
  EXPECT_NEAR(flops("dot:masks=window:window=1"), flops("dot") / 100, 1);
  EXPECT_GT(flops("dot:masks=strided:stride=1"), flops("dot:masks=strided:stride=50"));
}

TEST(OperatorCase, SkipsWhatTheEngineDoesNotHave) {
  const Workload workload = operator_workload();
  Case c = small_case("dot", "forward");
  c.set("device", "cuda");
  EXPECT_EQ(failure_of([&] { (void)workload.make(c, 1, 1); }),
            "1: skipped: there is no device cuda here");
}

TEST(OperatorCase, HalfTypesErrByTheirRounding) {
  const Workload workload = operator_workload();
  for (const auto& [dtype, unit] : {std::pair{"f16", 0x1p-11}, std::pair{"bf16", 0x1p-8}}) {
    for (const char* pass : {"forward", "backward"}) {
      const auto executor = workload.make(small_case("dot", pass, dtype), 1, 1);
      const double error = executor->facts().error;
      EXPECT_GT(error, unit / 100) << dtype << pass;
      EXPECT_LT(error, unit * 8) << dtype << pass;
      EXPECT_GT(executor->sample(false).warm, 0);
    }
  }
}

/// Nothing of it has run before: not what its first run loads of the program is its memory.
TEST(OperatorCase, ThatIsResumedCountsItsOwnMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory grows with the program's";
#endif
  Case c = small_case("penumbral", "forward");
  c.set("seq_len", 512);
  c.set("dim", 64);
  const auto executor = operator_workload().make(c, 1, 1);
  EXPECT_LT(executor->sample(false).extra_bytes, 3e5);
}

TEST(OperatorCase, PredictsItsMemoryFromAbove) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps freed memory";
#endif
  const Workload workload = operator_workload();
  for (const char* pass : {"forward", "backward"}) {
    Case c = small_case("penumbral", pass);
    c.set("seq_len", 2048);
    c.set("dim", 64);
    c.set("head", 8);
    release_free_memory();
    reset_peak_resident();
    const double before = resident_bytes();
    const auto executor = workload.make(c, 1, 1);
    (void)executor->facts();
    const double grown = peak_resident_bytes() - before;
    const double predicted =
        workload.predict(c, 1).bytes - workload.predict(small_case("dot", pass), 1).bytes;
    EXPECT_LT(grown, predicted + 20e6) << pass;
    EXPECT_GT(grown, predicted / 6) << pass;
  }
}

TEST(Peak, ScalesWithTimeAndThreads) {
  const auto peak = [](Dtype dtype, int threads) { return measure_peak(dtype, threads, 0.005); };
  EXPECT_GT(peak(Dtype::f32, 1), least_peak);
  EXPECT_TRUE(sooner_or_later([&] { return peak(Dtype::f64, 1) < 1.2 * peak(Dtype::f32, 1); }));
  EXPECT_TRUE(sooner_or_later([&] { return peak(Dtype::f32, 2) > 0.9 * peak(Dtype::f32, 1); }));
}

TEST(Peak, FlushedCachesLeaveNoMemoryBehind) {
  reset_peak_resident();
  const double before = resident_bytes();
  EXPECT_GT(before, 1e6);
  flush_caches();
  const auto size = static_cast<double>(flush_bytes());
  EXPECT_GE(peak_resident_bytes(), before + 0.9 * size);
  EXPECT_LT(resident_bytes(), before + 0.5 * size);
}

}  // namespace
}  // namespace conelab
