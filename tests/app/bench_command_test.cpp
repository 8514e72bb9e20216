#include "app/bench_command.h"

#include <gtest/gtest.h>

#include "app/call_json.h"

namespace conelab {
namespace {

TEST(BenchCommand, WritesEveryOptionOut) {
  desktop::BenchChoice typed;
  typed.operators = {"dot", "umbral"};
  typed.passes = {"forward", "backward"};
  typed.lengths = "256..1024:x2";
  typed.cold = false;
  EXPECT_EQ(shell_line(bench_command(typed, "my result.h5")),
            "conelab bench -o 'my result.h5' --operators dot,umbral --lengths 256..1024:x2 "
            "--dims 64 --heads 1 --batch 1 --passes forward,backward --dtypes f32 --devices cpu "
            "--threads 1 --rounds 9 --seed 1 --time-limit 600 --warm-only");
}

}  // namespace
}  // namespace conelab
