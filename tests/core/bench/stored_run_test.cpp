#include <fstream>

#include "core/bench/parts.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::BenchTest;
using fixtures::failure_of;
using fixtures::fake_sweep;

class StoredRunOf : public BenchTest {
 protected:
  /// Leaves so many sealed samples.
  void interrupt(const Sweep& sweep, int samples) const {
    BenchOptions o = options();
    int done = 0;
    o.progress = [&](const BenchProgress& p) { done = p.done; };
    o.cancelled = [&] { return done >= samples; };
    EXPECT_THROW(run(sweep, o), Error);
  }
  void resume(const Sweep& sweep) const { run(sweep, resuming()); }
};

TEST_F(StoredRunOf, NothingWhereNoRunIs) {
  EXPECT_FALSE(stored_run(output()));
  std::ofstream(output()) << "notes";
  EXPECT_NE(failure_of([&] { (void)stored_run(output()); }).find("is not a result of `bench`"),
            std::string::npos);
}

TEST_F(StoredRunOf, AnUnfinishedRunAndItsResultHaveTheSweep) {
  Sweep sweep = fake_sweep({"steady", "slow"}, {64, 128}, 4);
  sweep.seed = 7;
  sweep.cold = false;
  interrupt(sweep, 3);
  const auto unfinished = stored_run(output());
  ASSERT_TRUE(unfinished);
  EXPECT_EQ(unfinished->sweep.items(), sweep.items());
  EXPECT_TRUE(unfinished->peers.empty());
  resume(unfinished->sweep);
  const auto finished = stored_run(output());
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->sweep.items(), sweep.items());
  resume(finished->sweep);  // Nothing is left to do.
}

TEST_F(StoredRunOf, TheUnfinishedRunGoesBeforeAnEarlierResult) {
  run(fake_sweep({"steady"}, {64}, 2));
  interrupt(fake_sweep({"steady"}, {64, 128}, 3), 2);
  const auto stored = stored_run(output());
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->sweep.rounds, 3);
}

TEST_F(StoredRunOf, PeersAreNamedAndWhatIsNoSweepIsMisuse) {
  interrupt(fake_sweep({"steady"}, {64, 128}, 3), 2);
  const std::string path = output() + ".parts/run.txt";
  std::ofstream(path, std::ios::app) << "peer 1=torch 2.5\npeer 2=numpy\n";
  EXPECT_EQ(stored_run(output())->peers, (std::vector<std::string>{"torch 2.5", "numpy"}));
  std::ofstream(path, std::ios::app) << "rounds=many\n";
  EXPECT_EQ(failure_of([&] { (void)stored_run(output()); }),
            "2: " + output() + ": its run is of no sweep: rounds: 'many' is not a whole number");
}

}  // namespace
}  // namespace conelab
