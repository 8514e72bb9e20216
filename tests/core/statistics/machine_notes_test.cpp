#include <gtest/gtest.h>

#include <cmath>

#include "core/statistics/order.h"

namespace conelab {
namespace {

TEST(MachineNotes, AQuietMachineGetsNone) {
  EXPECT_TRUE(
      machine_notes(MachineRecord{{100, 99, 101, 98}, {0.9, 1.1}, {3e9, 3.1e9}, 1}).empty());
  EXPECT_TRUE(machine_notes(MachineRecord{}).empty());
  EXPECT_TRUE(machine_notes(MachineRecord{{NAN}, {NAN}, {NAN}, 1}).empty());
}

TEST(MachineNotes, SlowedSamplesAreCountedAgainstARepeatedPeak) {
  std::vector<double> peaks(20, 100.0);
  peaks[3] = 60;
  peaks[7] = 300;  // one lucky measurement
  EXPECT_EQ(slowed_samples(peaks), std::vector<std::size_t>{3});
  const auto notes = machine_notes(MachineRecord{peaks, {}, {}, 1});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("1 of 20 samples")) << notes[0];
}

TEST(MachineNotes, LoadAndClockAreNoted) {
  const auto notes = machine_notes(MachineRecord{{}, {1.0, 6.25}, {2e9, 3e9}, 2});
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], "the load average reached 6.2 with 2 threads of our own");
  EXPECT_EQ(notes[1], "the clock moved between 2.00 and 3.00 GHz");
}

}  // namespace
}  // namespace conelab
