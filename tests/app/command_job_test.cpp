#include "app/command_job.h"

#include <gtest/gtest.h>

#include "core/jobs/bench_job.h"

namespace conelab {
namespace {

TEST(CommandContext, TellsWhatTheDevicesOfABenchmarkAre) {
  Sweep sweep;
  EXPECT_TRUE(with_context(sweep, {}, command_context()).devices.empty());
  sweep["device"] = {"cpu", "cuda"};
  BenchOptions asked;
  asked.output = "out.h5";
  const BenchOptions options = with_context(sweep, asked, command_context());
  EXPECT_EQ(options.output, "out.h5");
  ASSERT_EQ(options.devices.size(), 1U);
  EXPECT_EQ(options.devices[0].rfind("cuda: ", 0), 0U) << options.devices[0];
  EXPECT_EQ(options.worker.back(), "bench-worker");
}

}  // namespace
}  // namespace conelab
