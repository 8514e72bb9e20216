#include "core/bench/worker.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/bench/schedule.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::failure_of;
using fixtures::fake_sweep;

/// Seconds that only what hangs would take, on the busiest machine.
constexpr double patience = 120;

/// A peer as a shell script: "rival" takes 1 ms, "fragile" ends its process, "greedy" predicts more
/// memory than there is. Every start leaves a line in `starts`.
class PeerTest : public fixtures::BenchTest {
 protected:
  [[nodiscard]] std::vector<std::string> script(const std::string& names) const {
    std::ofstream(path("peer.sh")) << "echo >> " << path("starts") << R"(
while read -r word rest; do
  case "$word $rest" in
    about*) echo about fake 1.0 ;;
    operators*) echo operators )" << names
                                   << R"( ;;
    "predict greedy"*) echo predict 1e18 1e6 ;;
    "predict absent"*) echo skipped not on Sundays ;;
    predict*) echo predict 1e6 1e6 ;;
    "case fragile"*) exit 3 ;;
    case*) echo ready ;;
    facts*) echo facts 1e6 1e3 1e-7 ;;
    sample*) echo sample 0.001 nan 3 nan 5e6 1e3 0 ;;
  esac
done
)";
    return {"sh", path("peer.sh")};
  }
  [[nodiscard]] int starts() const {
    std::ifstream file(path("starts"));
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
};

class PeerOfRunner : public PeerTest {};

Case case_of(const char* operation, std::int64_t length) {
  return {{"operator", operation}, {"seq_len", std::to_string(length)}};
}

TEST_F(PeerOfRunner, JoinsTheRoundsInOneProcess) {
  BenchOptions o = options();
  o.peers = {ask_peer(script("rival fragile greedy"), {})};
  EXPECT_EQ(o.peers[0].about, "fake 1.0");
  EXPECT_EQ(o.peers[0].operations, (std::vector<std::string>{"rival", "fragile", "greedy"}));
  run(fake_sweep({"steady", "rival"}, {64, 128}, 3), o);
  EXPECT_EQ(starts(), 2);  // asked once, then one process for all cases
  for (const MeasuredCase& c : measured()) {
    EXPECT_EQ(c.status, CaseStatus::ok);
    if (c.labels["operator"] != "rival") continue;
    EXPECT_EQ(c.time, 0.001);
    for (const double peak : c.peak_samples) EXPECT_GT(peak, 1e6);  // measured by the runner
  }
  const auto environment = read_labelled(output(), "bench/environment").attributes;
  const auto peers = std::find_if(environment.begin(), environment.end(),
                                  [](const auto& a) { return a.first == "peers"; });
  ASSERT_NE(peers, environment.end());
  EXPECT_EQ(std::get<std::vector<std::string>>(peers->second).at(0), "fake 1.0");
}

TEST_F(PeerOfRunner, ItsCrashIsOneCasesMatter) {
  BenchOptions o = options();
  o.peers = {ask_peer(script("rival fragile greedy"), {})};
  run(fake_sweep({"rival", "fragile", "greedy"}, {64}, 3), o);
  const auto cases = measured();
  EXPECT_EQ(cases[0].status, CaseStatus::ok);
  EXPECT_EQ(cases[1].status, CaseStatus::crashed);
  EXPECT_EQ(cases[1].reason, "worker ended with status 3");
  EXPECT_EQ(cases[2].status, CaseStatus::skipped);
  EXPECT_TRUE(cases[2].reason.starts_with("would need"));
}

TEST_F(PeerOfRunner, WhatItDoesNotComputeIsSkippedAlone) {
  BenchOptions o = options();
  o.peers = {ask_peer(script("rival absent"), {})};
  run(fake_sweep({"rival", "absent"}, {64}, 3), o);
  const auto cases = measured();
  EXPECT_EQ(cases[0].status, CaseStatus::ok);
  EXPECT_EQ(cases[1].status, CaseStatus::skipped);
  EXPECT_EQ(cases[1].reason, "not on Sundays");
}

TEST_F(PeerOfRunner, WhatIsNoPeerIsSaid) {
  EXPECT_TRUE(failure_of([&] {
                (void)ask_peer({"sh", "/nowhere/peer.sh"}, {});
              }).starts_with("1: sh /nowhere/peer.sh: is no peer: "));
  EXPECT_TRUE(failure_of([&] { (void)ask_peer({"no-such-program"}, {}); }).starts_with("1: "));
  BenchOptions o = options();
  o.peers = {ask_peer(script("steady"), {})};
  EXPECT_TRUE(failure_of([&] {
                run(fake_sweep({"steady"}, {64}), o);
              }).starts_with("2: operator 'steady' of "));
  o.peers = {ask_peer(script("rival"), {})};
  EXPECT_TRUE(failure_of([&] { run(fake_sweep({"rivals"}, {64}), o); }).starts_with("2: unknown"));
}

TEST_F(PeerOfRunner, NonsenseIsNoPeer) {
  const auto said = [](const std::vector<std::string>& command, double seconds = patience) {
    return failure_of([&] { (void)ask_peer(command, {seconds, {}}); });
  };
  EXPECT_EQ(said({"cat"}), "1: cat: is no peer: names no operators");
  EXPECT_EQ(said({"true"}), "1: true: is no peer: worker ended with status 0");
  EXPECT_EQ(said({"sleep", "600"}, 0.5), "1: sleep 600: is no peer: took longer than 0.5 s");
  EXPECT_EQ(said({"yes"}), "1: yes: is no peer: worker answered 'y' (expected about)");
  EXPECT_EQ(said({"yes", "about"}),
            "1: yes about: is no peer: worker answered 'about' (expected operators)");
  EXPECT_EQ(said({"cat", "/dev/zero"}),
            "1: cat /dev/zero: is no peer: worker answered a line of more than 1048576 bytes");
}

TEST_F(PeerTest, AnswersThatAreNoMeasurementsAreFailures) {
  const auto answer = [&](const std::string& line, auto question) {
    std::ofstream(path("says.sh")) << "while read -r line; do echo " << line << "; done\n";
    WorkerProcess worker({"sh", path("says.sh")});
    EXPECT_EQ(question(worker), CaseStatus::failed) << line;
    return worker.reason();
  };
  const auto sample = [&](WorkerProcess& w) {
    Sample s;
    return w.sample(false, {patience, {}}, s);
  };
  const auto facts = [&](WorkerProcess& w) {
    CaseFacts f;
    return w.facts({patience, {}}, f);
  };
  const auto predict = [&](WorkerProcess& w) {
    Prediction p;
    return w.predict(case_of("rival", 64), 1, {patience, {}}, p);
  };
  for (const char* time : {"nan", "inf", "0", "-1"}) {
    const std::string said = fmt::format("{} nan 3 nan 5e6 1e3 0", time);
    EXPECT_EQ(answer("sample " + said, sample),
              "worker answered 'sample " + said + "' (expected a time above 0)");
  }
  EXPECT_EQ(
      answer("sample 0.1 soon nan 3 nan 5e6 1e3 0", sample),
      "worker answered 'sample 0.1 soon nan 3 nan 5e6 1e3 0' (expected sample and 7 numbers)");
  EXPECT_EQ(answer("facts 1e6", facts),
            "worker answered 'facts 1e6' (expected facts and 3 numbers)");
  EXPECT_EQ(answer("facts nan 1 nan", facts),
            "worker answered 'facts nan 1 nan' (expected operations and bytes from 0)");
  EXPECT_EQ(answer("predict nan 1", predict),
            "worker answered 'predict nan 1' (expected bytes and operations from 0)");
}

/// Whether a process runs; one that ended and was not yet waited for does not.
bool runs(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string number, name, state;
  return static_cast<bool>(file >> number >> name >> state) && state != "Z";
}

TEST_F(PeerTest, TakesAlongWhatItStarted) {
  const std::string told = path("child");
  const std::string script =
      "sleep 3000 & echo $! >" + told + ".new; mv " + told + ".new " + told + "; read word; exit 3";
  for (const bool by_itself : {false, true}) {
    std::filesystem::remove(told);
    pid_t child = 0;
    {
      WorkerProcess worker({"sh", "-c", script});
      while (!std::filesystem::exists(told)) usleep(1000);
      std::ifstream(told) >> child;
      ASSERT_TRUE(runs(child));
      if (by_itself) {
        EXPECT_EQ(worker.question("end", {}), CaseStatus::crashed);
        EXPECT_EQ(worker.reason(), "worker ended with status 3");
      }
    }
    for (double waited = 0; waited < patience && runs(child); waited += 1e-3) usleep(1000);
    EXPECT_FALSE(runs(child));
  }
}

TEST_F(PeerTest, CtrlCIsTheRunnersToAnswer) {
  // The terminal signals the group of the runner; the worker has one of its own.
  const std::string told = path("group");
  const std::string script =
      "cut -d' ' -f5 /proc/$$/stat >" + told + ".new; mv " + told + ".new " + told + "; read word";
  WorkerProcess worker({"sh", "-c", script});
  while (!std::filesystem::exists(told)) usleep(1000);
  pid_t group = 0;
  std::ifstream(told) >> group;
  EXPECT_GT(group, 0);
  EXPECT_NE(group, getpgrp());
}

TEST_F(PeerTest, WhatCannotBeStartedIsSaid) {
  EXPECT_EQ(failure_of([] { const WorkerProcess worker({"/no/such/program"}); }),
            "1: /no/such/program: cannot start a worker: No such file or directory");
}

TEST(ForecastOfRuns, TakesTheRateOfTheLongestCaseOfTheLine) {
  Forecast f;
  EXPECT_EQ(f.rate(case_of("dot", 256)).flops, 0);
  EXPECT_TRUE(std::isnan(f.sample_seconds(case_of("dot", 256), 1e9)));
  f.learn(case_of("dot", 512), 1e9, 0.1);
  f.learn(case_of("dot", 256), 1e9, 1);
  f.learn(case_of("dot", 128), 1e9, NAN);
  EXPECT_EQ(f.rate(case_of("dot", 4096)).length, 512);
  EXPECT_NEAR(f.rate(case_of("dot", 4096)).flops, 1e10, 1);
  EXPECT_EQ(f.rate(case_of("umbral", 4096)).flops, 0);
  EXPECT_NEAR(f.sample_seconds(case_of("dot", 4096), 1e12), 100, 1);
  EXPECT_NEAR(f.sample_seconds(case_of("umbral", 64), 2e9), 1.1, 0.1);  // the mean of all
  f.learn_sample(case_of("dot", 4096), 7);
  EXPECT_EQ(f.sample_seconds(case_of("dot", 4096), 1e12), 7);
}

}  // namespace
}  // namespace conelab
