#include <fstream>

#include "core/bench/runner.h"
#include "core/files/atomic_file.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::failure_of;
using fixtures::fake_sweep;

class ResultPlaceTest : public fixtures::BenchTest {
 protected:
  BenchEnding ending_of(const Sweep& sweep, const BenchOptions& o) const {
    return run_bench(sweep, fixtures::fake_workload(), o);
  }
};

TEST_F(ResultPlaceTest, TellsWhatBecameOfTheFile) {
  const Sweep sweep = fake_sweep({"steady"}, {64}, 2);
  EXPECT_EQ(ending_of(sweep, options()), BenchEnding::written);
  EXPECT_EQ(ending_of(sweep, options()), BenchEnding::replaced);
  EXPECT_EQ(ending_of(sweep, resuming()), BenchEnding::was_finished);
  std::ofstream(output()).flush();  // empty, as `mktemp` makes it
  EXPECT_EQ(ending_of(sweep, resuming()), BenchEnding::written);
}

TEST_F(ResultPlaceTest, AnythingElseThanAResultStays) {
  write_text_atomically(output(), "Dear reader");
  for (const BenchOptions& o : {options(), resuming()}) {
    EXPECT_EQ(failure_of([&] { run(fake_sweep({"steady"}, {64}, 2), o); }),
              "2: " + output() +
                  ": is not a result of `bench`, and would be lost; remove it, or give another "
                  "name");
  }
  std::string text;
  std::getline(std::ifstream(output()), text);
  EXPECT_EQ(text, "Dear reader");
  EXPECT_FALSE(parts_exist());
}

TEST_F(ResultPlaceTest, ReasonsAloneAreNotWritten) {
  EXPECT_EQ(failure_of([&] { run(fake_sweep({"broken"}, {64}, 2)); }),
            "1: " + output() +
                ": is not written: no case was measured (broken forward cpu f32 threads=1 d=64 "
                "heads=8 n=64: failed: cannot be prepared)");
  EXPECT_FALSE(std::filesystem::exists(output()));
  EXPECT_FALSE(parts_exist());
  // One case that was measured brings the others' reasons along.
  run(fake_sweep({"broken", "steady"}, {64}, 2));
  EXPECT_EQ(measured().at(0).reason, "cannot be prepared");
}

TEST_F(ResultPlaceTest, WhatAFinishedRunLeftOfItsSamplesIsRemoved) {
  const Sweep sweep = fake_sweep({"steady"}, {64}, 2);
  run(sweep);
  std::filesystem::create_directory(output() + ".parts");
  std::ofstream(output() + ".parts/case-00000-round-000.txt") << "left";
  EXPECT_EQ(ending_of(sweep, resuming()), BenchEnding::was_finished);
  EXPECT_FALSE(parts_exist());
}

}  // namespace
}  // namespace conelab
