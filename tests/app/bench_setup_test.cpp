#include "app/bench_setup.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/study/call_json.h"

namespace conelab {
namespace {

TEST(BenchCommand, WritesEveryOptionOut) {
  desktop::BenchChoice typed;
  typed.names("operator") = {"dot", "umbral"};
  typed.names("pass") = {"forward", "backward"};
  typed.numbers("seq_len") = "256..1024:x2";
  typed.cold = false;
  const std::string line = shell_line(bench_command(typed, "my result.h5"));
  EXPECT_TRUE(line.starts_with("conelab bench -o 'my result.h5' --operators dot,umbral ")) << line;
  EXPECT_TRUE(
      line.ends_with(" --lengths 256..1024:x2 --batch 1 --rounds 9 --controls 4 --seed 1 "
                     "--time-limit 600 --warm-only"))
      << line;
  for (const Axis& axis : axes()) {
    EXPECT_NE(line.find(fmt::format(" --{} ", axis.option)), std::string::npos) << axis.option;
  }
}

TEST(BenchCommand, TellsWhatItsDevicesAre) {
  Sweep sweep;
  EXPECT_TRUE(with_program(sweep, {}).devices.empty());
  sweep["device"] = {"cpu", "cuda"};
  BenchOptions asked;
  asked.output = "out.h5";
  const BenchOptions options = with_program(sweep, asked);
  EXPECT_EQ(options.output, "out.h5");
  ASSERT_EQ(options.devices.size(), 1U);
  EXPECT_EQ(options.devices[0].rfind("cuda: ", 0), 0U) << options.devices[0];
  EXPECT_EQ(options.worker.back(), "bench-worker");
}

}  // namespace
}  // namespace conelab
