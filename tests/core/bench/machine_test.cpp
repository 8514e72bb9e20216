#include "core/bench/machine.h"

#include <algorithm>
#include <cmath>

#include "core/bench/summary.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::BenchTest;
using fixtures::fake_sweep;

TEST(Bandwidth, IsMeasuredBeyondTheCaches) {
  EXPECT_GE(bandwidth_bytes(), std::size_t{64} << 20);
  EXPECT_GE(bandwidth_bytes(), 4 * last_cache_bytes());
  for (const int threads : {1, 2}) {  // From a busy shared machine to the fastest memory there is.
    EXPECT_GT(measure_bandwidth(threads, 0.01), 1e8) << threads;
    EXPECT_LT(measure_bandwidth(threads, 0.01), 1e13) << threads;
  }
}

int measurements = 0;
double counted(int threads) { return 1000 * ++measurements + threads; }

Case with_threads(std::int64_t threads, const std::string& device = "cpu") {
  Case c;
  c.set("threads", threads);
  c.set("device", device);
  return c;
}

TEST(Bandwidth, IsMeasuredOncePerNumberOfThreadsInThreeRounds) {
  measurements = 0;
  BandwidthSchedule watch(counted, 9);
  const double long_ago = 1e6;
  std::vector<int> rounds;
  for (int round = 0; round < 9; ++round) {
    const double one = watch.beside(with_threads(1), round, long_ago);
    EXPECT_TRUE(std::isnan(watch.beside(with_threads(1, "cuda"), round, long_ago)));
    if (std::isnan(one)) continue;
    rounds.push_back(round);
    EXPECT_EQ(watch.beside(with_threads(1), round, long_ago), one);
    EXPECT_EQ(watch.beside(with_threads(2), round, long_ago), one + 1001);
  }
  EXPECT_EQ(rounds, (std::vector<int>{0, 4, 8}));
  EXPECT_EQ(measurements, 6);
}

TEST(Bandwidth, IsNotMeasuredAgainWhereThatWouldCostMuchOfTheRun) {
  BandwidthSchedule watch(counted, 9);
  EXPECT_GT(watch.beside(with_threads(1), 0, 0), 0);
  EXPECT_TRUE(std::isnan(watch.beside(with_threads(1), 4, 0)));
  BandwidthSchedule none(nullptr, 9);
  EXPECT_TRUE(std::isnan(none.beside(with_threads(1), 0, 0)));
}

class BandwidthOfARun : public BenchTest {
 protected:
  void run_measured(const Sweep& sweep, const BenchOptions& o) const {
    Workload workload = fixtures::fake_workload();
    workload.bandwidth = counted;
    run_bench(sweep, workload, o);
  }
};

TEST_F(BandwidthOfARun, IsOfEachNumberOfThreads) {
  Sweep sweep = fake_sweep({"steady", "broken"}, {64, 128}, 3);
  sweep["threads"] = {"1", "2"};
  measurements = 0;
  run_measured(sweep, options());
  for (const MeasuredCase& c : measured()) {
    if (c.status != CaseStatus::ok) {
      EXPECT_TRUE(std::isnan(c.bandwidth));
    } else {
      EXPECT_EQ(std::fmod(c.bandwidth, 1000), static_cast<double>(c.labels.number("threads")));
      EXPECT_EQ(intensity(c), c.flops / c.bytes);
    }
  }
  const std::vector<std::string> notes = summary_notes(read_labelled_file(output()));
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.starts_with("memory: ") && note.find("by 2 threads") != std::string::npos;
  }));
}

TEST_F(BandwidthOfARun, IsSealedWithItsSamples) {
  const Sweep sweep = fake_sweep({"steady"}, {64, 128}, 3);
  measurements = 6;
  BenchOptions o = options();
  int samples = 0;
  o.progress = [&](const BenchProgress& p) { samples = p.done; };
  o.cancelled = [&] { return samples >= 4; };  // The first round is over.
  EXPECT_THROW(run_measured(sweep, o), Error);
  run(sweep, resuming());  // Measures no bandwidth.
  for (const MeasuredCase& c : measured()) EXPECT_GE(c.bandwidth, 7001);
}

TEST_F(BandwidthOfARun, IsUnknownToOlderFiles) {
  run(fake_sweep({"steady"}, {64}, 2));
  LabelledFile file = read_labelled_file(output());
  for (auto& [path, group] : file.groups) {
    std::erase_if(group.variables,
                  [](const LabelledVariable& v) { return v.name.starts_with("bandwidth"); });
  }
  const auto cases = measured_cases(file, "old");
  EXPECT_TRUE(std::isnan(cases.front().bandwidth));
  for (const std::string& note : summary_notes(file)) {
    EXPECT_FALSE(note.starts_with("memory: ")) << note;
  }
}

}  // namespace
}  // namespace conelab
