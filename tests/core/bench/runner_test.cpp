#include "core/bench/runner.h"

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include "core/base/random.h"
#include "core/bench/parts.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::BenchTest;
using fixtures::failure_of;
using fixtures::fake_sweep;

class Runner : public BenchTest {};

TEST_F(Runner, MeasuresEveryCaseInEveryRound) {
  run(fake_sweep({"steady"}, {256, 512, 1024}, 6));
  const auto cases = measured();
  ASSERT_EQ(cases.size(), 3u);
  for (const MeasuredCase& c : cases) {
    const double n2 = 1e-9 * std::pow(static_cast<double>(c.labels.number("seq_len")), 2);
    EXPECT_EQ(c.status, CaseStatus::ok);
    EXPECT_NEAR(c.time / n2, 1.005, 0.006);
    EXPECT_LE(c.time_low, c.time);
    EXPECT_GE(c.time_high, c.time);
    EXPECT_NEAR(c.time_cold / n2, 2.01, 0.012);
    EXPECT_EQ(c.peak_bytes, 5e6);
    EXPECT_EQ(c.error, 1e-7);
    ASSERT_EQ(c.samples.size(), 6u);
    for (const double t : c.samples) EXPECT_NEAR(t / n2, 1.005, 0.006);
  }
  EXPECT_FALSE(parts_exist());
}

TEST_F(Runner, ParametersAreForOperatorsThatTakeThem) {
  EXPECT_EQ(failure_of([&] { run(fake_sweep({"steady:gamma=2"}, {64}, 4)); }),
            "2: operator 'steady:gamma=2': steady takes no parameters here");
}

TEST_F(Runner, RecordsWhatBecameOfAWorkerAndGoesOn) {
  Sweep sweep = fake_sweep({"killed", "killed_later", "exits", "hangs", "throws", "hungry",
                            "chatty", "refuses", "broken", "huge", "endless", "steady"},
                           {64}, 4);
  sweep.time_limit = 2;
  run(sweep);
  std::map<std::string, MeasuredCase> by_name;
  for (const MeasuredCase& c : measured()) by_name[c.labels["operator"]] = c;
  const auto expect = [&](const char* name, CaseStatus status, const std::string& reason) {
    EXPECT_EQ(by_name[name].status, status) << name;
    EXPECT_TRUE(by_name[name].reason.starts_with(reason)) << name << ": " << by_name[name].reason;
    EXPECT_EQ(std::isnan(by_name[name].time), status != CaseStatus::ok) << name;
  };
  expect("steady", CaseStatus::ok, "");
  expect("killed", CaseStatus::crashed, "worker ended by signal 9");
  expect("killed_later", CaseStatus::crashed, "worker ended by signal 9");
  expect("exits", CaseStatus::crashed, "worker ended with status 3");
  expect("hangs", CaseStatus::timed_out, "took longer than 2 s");
  expect("throws", CaseStatus::failed, "no such luck in two lines");
  expect("hungry", CaseStatus::out_of_memory, "out of memory");
  expect("chatty", CaseStatus::failed, "worker answered 'hello'");
  expect("refuses", CaseStatus::skipped, "not on a Sunday");
  expect("broken", CaseStatus::failed, "cannot be prepared");
  expect("huge", CaseStatus::skipped, "would need 1000000000.0 GB of memory");
  expect("endless", CaseStatus::skipped, "would take 3.9");
  // What was measured before the crash is kept as raw samples.
  int kept = 0;
  for (const double t : by_name["killed_later"].samples) kept += !std::isnan(t);
  EXPECT_EQ(kept, 2);
}

TEST_F(Runner, AWorkerThatCannotBeStartedEndsTheRun) {
  BenchOptions o = options();
  o.worker = {path("missing")};
  EXPECT_TRUE(failure_of([&] { run(fake_sweep({"steady"}, {64}), o); }).starts_with("1: "));
}

TEST_F(Runner, MeasuresAsManyCasesTwiceAsAsked) {
  Sweep sweep = fake_sweep({"steady", "slow"}, {64, 128}, 2);
  for (const auto& [asked, twice] : {std::pair{0, 0}, {1, 1}, {9, 2}}) {  // of the shorter length
    sweep.controls = asked;
    run(sweep);
    EXPECT_EQ(measured_control(read_labelled_file(output())).comparisons, twice) << asked;
  }
}

TEST_F(Runner, ReportsProgressToTheEnd) {
  BenchOptions o = options();
  std::vector<BenchProgress> seen;
  o.progress = [&](const BenchProgress& p) { seen.push_back(p); };
  run(fake_sweep({"steady"}, {64, 128}, 2), o);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front().done, 0);
  EXPECT_TRUE(std::isnan(seen.front().eta));
  EXPECT_EQ(seen.back().total, 6);  // two cases and one control, two rounds
  EXPECT_EQ(seen.back().done, 6);
  EXPECT_NEAR(seen.back().eta, 0, 1e-6);
  EXPECT_TRUE(seen.back().current.starts_with("steady forward"));
}

TEST_F(Runner, ProgressNeverStepsBack) {
  Sweep sweep =
      fake_sweep({"steady", "slow", "killed_later", "refuses", "huge"}, {64, 1024, 16384}, 5);
  Workload uneven = fixtures::fake_workload();
  uneven.predict = [](const Case& c, std::int64_t) -> Prediction {
    const auto n = static_cast<double>(c.number("seq_len"));
    if (c["operator"] == "huge")
      return {1e18, 1e5, 1e15};  // Skipped: no work, whatever it would cost.
    return {1e6, 1e5, 256 * n * n};
  };
  constexpr int enough = 40;  // Of the third round.
  std::vector<double> shares, at_enough;
  bool stops = true;
  BenchOptions o = options();
  o.progress = [&](const BenchProgress& p) {
    shares.push_back(p.share);
    if (p.done == enough) at_enough.push_back(p.share);
  };
  o.cancelled = [&] { return stops && !at_enough.empty(); };
  EXPECT_THROW(run_bench(sweep, uneven, o), Error);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.front(), 0);
  const double reached = at_enough.front();
  EXPECT_GT(reached, 0.3);
  EXPECT_LT(reached, 0.9);
  shares.clear(), at_enough.clear();
  stops = false;
  o.resume = true;
  run_bench(sweep, uneven, o);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(at_enough.front(), reached);
  EXPECT_EQ(shares.back(), 1);
  // Long samples count for more than short ones.
  std::vector<double> steps;
  for (std::size_t i = 1; i < shares.size(); ++i) {
    if (shares[i] > shares[i - 1]) steps.push_back(shares[i] - shares[i - 1]);
  }
  const auto [least, largest] = std::minmax_element(steps.begin(), steps.end());
  EXPECT_LT(10 * *least, *largest);
}

TEST_F(Runner, CancelledItKeepsWhatIsFinishedAndResumes) {
  const Sweep sweep = fake_sweep({"slow"}, {64, 128, 256}, 4);
  const std::string error = interrupt(sweep, 5);
  EXPECT_NE(error.find("5 of 20 samples are kept, continue with --resume"), std::string::npos)
      << error;
  EXPECT_FALSE(std::filesystem::exists(output()));
  EXPECT_TRUE(parts_exist());
  const std::string without = failure_of([&] { run(sweep); });
  EXPECT_TRUE(without.starts_with("2: ")) << without;
  EXPECT_NE(without.find("--resume"), std::string::npos) << without;
  run(sweep, resuming());
  EXPECT_EQ(measured().size(), 3u);
  EXPECT_FALSE(parts_exist());
}

TEST_F(Runner, ResumedWithALongerLimitItStartsWhatWasSkipped) {
  Sweep sweep = fake_sweep({"endless", "steady"}, {64}, 4);
  sweep.time_limit = 0.3;
  interrupt(sweep, 5);
  EXPECT_EQ(stored_run(output())->sweep.time_limit, 0.3);
  sweep.time_limit = 1e30;
  run(sweep, resuming());
  for (const MeasuredCase& c : measured()) EXPECT_EQ(c.status, CaseStatus::ok) << c.reason;
  EXPECT_EQ(stored_run(output())->sweep.time_limit, 1e30);
}

TEST_F(Runner, ResumedWithTooLittleMemoryItKeepsWhatWasMeasured) {
  const Sweep sweep = fake_sweep({"steady"}, {64}, 4);
  interrupt(sweep, 4);
  Workload hungry = fixtures::fake_workload();
  hungry.predict = [](const Case&, std::int64_t) { return Prediction{1e18, 0, 1}; };
  const BenchOptions again = resuming();
  const std::string error = failure_of([&] { run_bench(sweep, hungry, again); });
  EXPECT_TRUE(error.starts_with("1: " + output() + ": steady")) << error;
  EXPECT_NE(error.find("samples so far are kept"), std::string::npos) << error;
  EXPECT_TRUE(parts_exist());
  run(sweep, again);
  EXPECT_EQ(measured().front().status, CaseStatus::ok);
}

TEST_F(Runner, CancelledAmidASampleItDoesNotWaitForIt) {
  const auto start = std::chrono::steady_clock::now();
  BenchOptions o = options();
  o.cancelled = [&] {
    return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300);
  };
  EXPECT_TRUE(failure_of([&] { run(fake_sweep({"hangs"}, {64}), o); }).starts_with("130: "));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(Runner, ResumesOnlyTheSameSweep) {
  Sweep sweep = fake_sweep({"steady"}, {64, 128}, 4);
  interrupt(sweep, 2);
  const BenchOptions again = resuming();
  Sweep other = sweep;
  other["seq_len"] = {"64", "128", "256"};
  other.rounds = 5;
  const std::string error = failure_of([&] { run(other, again); });
  EXPECT_EQ(error,
            "2: " + output() +
                ".parts: the unfinished run is another sweep: lengths (expected 64,128, found "
                "64,128,256), rounds (expected 4, found 5)");
  run(sweep, again);
  // Finished: the same sweep has nothing to do, another one is refused.
  const auto written = std::filesystem::last_write_time(output());
  run(sweep, again);
  EXPECT_EQ(std::filesystem::last_write_time(output()), written);
  EXPECT_NE(failure_of([&] { run(other, again); }).find("is finished, and another sweep"),
            std::string::npos);
}

/// All bytes of a file.
std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Runner, AResultIsReplacedByACompleteOneOnly) {
  run(fake_sweep({"steady"}, {64, 128}, 2));
  const std::string earlier = bytes_of(output());
  // Nothing measured, and interrupted at any time: the earlier result stays, byte for byte.
  EXPECT_EQ(failure_of([&] {
              run(fake_sweep({"broken", "refuses"}, {64}, 2));
            }),
            "1: " + output() +
                ": is left as it was: no case was measured (broken forward cpu f32 threads=1 "
                "d=64 heads=8 n=64: failed: cannot be prepared)");
  EXPECT_EQ(bytes_of(output()), earlier);
  EXPECT_FALSE(parts_exist());
  const Sweep slow = fake_sweep({"slow"}, {64}, 4);
  EXPECT_EQ(interrupt(slow, 0), "130: " + output() + ": interrupted before anything was measured");
  EXPECT_FALSE(parts_exist());
  interrupt(slow, 3);
  EXPECT_EQ(bytes_of(output()), earlier);
  EXPECT_TRUE(parts_exist());
  std::filesystem::remove_all(output() + ".parts");
  // A new result takes its place, also where some of its cases have none.
  run(fake_sweep({"steady", "broken"}, {64}, 2));
  EXPECT_NE(bytes_of(output()), earlier);
  EXPECT_EQ(measured().size(), 2u);
}

TEST_F(Runner, WhatAKilledRunLeftWithoutASampleIsNoUnfinishedRun) {
  // Killed before the first sample was sealed, or while the samples were being discarded.
  std::filesystem::create_directories(output() + ".parts");
  std::ofstream(output() + ".parts/run.txt") << "rounds=9\n";
  run(fake_sweep({"steady"}, {64}, 2));
  std::filesystem::create_directories(output() + ".parts");
  std::ofstream(output() + ".parts/case-00000-round-000.txt") << "of another sweep";
  BenchOptions o = options();
  o.warned = [](const std::string& what) { ADD_FAILURE() << what; };
  run(fake_sweep({"steady"}, {64}, 2), o);
  EXPECT_FALSE(parts_exist());
}

TEST_F(Runner, DamagedSamplesAreMeasuredAgain) {
  const Sweep sweep = fake_sweep({"steady"}, {64, 128}, 4);
  interrupt(sweep, 6);
  std::vector<std::filesystem::path> sealed;
  for (const auto& entry : std::filesystem::directory_iterator(output() + ".parts")) {
    if (entry.path().filename() != "run.txt" && entry.path().extension() == ".txt") {
      sealed.push_back(entry.path());
    }
  }
  ASSERT_EQ(sealed.size(), 6u);
  const std::string unsealed = output() + ".parts/.case-00000-round-003.txt.0123abcd-1-0.tmp";
  std::ofstream(unsealed) << "cut off";
  std::filesystem::resize_file(sealed[0], std::filesystem::file_size(sealed[0]) / 2);
  std::ofstream(sealed[1]) << "no sample";
  std::ofstream(sealed[2]) << "";
  std::vector<std::string> warnings;
  BenchOptions again = resuming();
  again.warned = [&](const std::string& what) {
    warnings.push_back(what);
    EXPECT_FALSE(std::filesystem::exists(unsealed));
  };
  run(sweep, again);
  ASSERT_EQ(warnings.size(), 3u);
  for (const std::string& warning : warnings) {
    EXPECT_NE(warning.find(".parts/case-"), std::string::npos) << warning;
    EXPECT_TRUE(warning.ends_with("; it is measured again")) << warning;
    EXPECT_EQ(warning.find('\n'), std::string::npos) << warning;
  }
  for (const MeasuredCase& c : measured()) {
    for (const double t : c.samples) EXPECT_GT(t, 0);
  }
}

TEST_F(Runner, AnotherBuildOrMachineDoesNotResume) {
  const RunIdentity before = {{"rounds", "8"}, {"cpu", "A"}};
  EXPECT_EQ(identity_difference(before, before), "");
  EXPECT_EQ(identity_difference(before, {{"rounds", "8"}, {"cpu", "B"}, {"simd", "avx2"}}),
            "cpu (expected A, found B), simd (expected nothing, found avx2)");
  const RunIdentity two = {{"peer 1", "A"}, {"peer 2", "B"}}, one = {{"peer 1", "A"}};
  EXPECT_EQ(identity_difference(two, two), "");
  EXPECT_EQ(identity_difference(two, one), "peer 2 (expected B, found nothing)");
}

TEST_F(Runner, AnEditedAndRebuiltProgramDoesNotResume) {
  const Sweep sweep = fake_sweep({"steady"}, {64}, 4);
  interrupt(sweep, 1);
  const std::string path = output() + ".parts/run.txt";
  std::string facts;
  std::ifstream before(path);
  for (std::string line; std::getline(before, line);) {
    facts += (line.starts_with("program=") ? "program=0123456789abcdef" : line) + "\n";
  }
  std::ofstream(path) << facts;
  const std::string error = failure_of([&] { run(sweep, resuming()); });
  EXPECT_NE(error.find("program (expected 0123456789abcdef, found "), std::string::npos) << error;
}

TEST_F(Runner, ASecondWriterIsRefused) {
  const Sweep sweep = fake_sweep({"steady"}, {64}, 2);
  BenchOptions o = options();
  std::string second;
  o.progress = [&](const BenchProgress& p) {
    if (p.done == 1 && second.empty()) {
      second = failure_of([&] { run(sweep, resuming()); });
    }
  };
  run(sweep, o);
  EXPECT_EQ(second, "1: " + output() + ".parts: another process is running this benchmark");
  EXPECT_EQ(measured().size(), 1u);
}

TEST_F(Runner, AnOutputThatCannotBeWrittenIsFoundBeforeAnythingRuns) {
  BenchOptions o = options();
  o.output = path("missing/out.h5");
  bool started = false;
  o.progress = [&](const BenchProgress&) { started = true; };
  EXPECT_TRUE(
      failure_of([&] { run(fake_sweep({"steady"}, {64}), o); }).starts_with("1: " + o.output));
  EXPECT_FALSE(started);
}

/// Starts the fake run as a process and sends `number` when `moment` says so, which is asked every
/// millisecond; no moment lets it end by itself. Returns the status of the process.
int run_and_signal(const std::string& output, bool resume, int number = SIGKILL,
                   const std::function<bool()>& moment = {}) {
  const std::string program = fixtures::fake_bench();
  const pid_t pid = fork();
  if (pid == 0) {
    (void)!freopen("/dev/null", "w", stderr);
    execl(program.c_str(), program.c_str(), "run", output.c_str(), resume ? "--resume" : nullptr,
          nullptr);
    _exit(127);
  }
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) != pid) {
    if (moment && moment()) {
      kill(pid, number);
      waitpid(pid, &status, 0);
      break;
    }
    usleep(1000);
  }
  return status;
}

/// The sealed samples of a run, finished or not.
std::vector<std::filesystem::path> sealed_files(const std::string& output) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(output + ".parts")) return files;
  for (const auto& entry : std::filesystem::directory_iterator(output + ".parts")) {
    const std::filesystem::path& path = entry.path();
    if (path.filename().string().starts_with("case-")) files.push_back(path);
  }
  return files;
}

/// The moment at which so many samples are sealed: what a busy and a fast machine both reach.
std::function<bool()> sealed(const std::string& output, std::size_t samples) {
  return [=] { return sealed_files(output).size() >= samples; };
}

/// Warm times of the sealed samples by file name.
std::map<std::string, double> sealed_times(const std::string& output) {
  std::map<std::string, double> times;
  for (const auto& path : sealed_files(output)) {
    times[path.filename()] = read_part(path.string()).value().sample.warm;
  }
  return times;
}

TEST_F(Runner, KilledAtAnyMomentItLosesNothingSealed) {
  Random random(2);
  std::map<std::string, double> sealed_before;
  bool finished = false;
  int kills = 0;
  for (; kills < 10 && !finished; ++kills) {
    // The first before anything is sealed, the others one to three samples later; somewhere
    // between two samples.
    const std::size_t samples = kills == 0 ? 0 : sealed_before.size() + 1 + random.below(3);
    const int status = run_and_signal(output(), kills > 0, SIGKILL, [&] {
      if (!sealed(output(), samples)()) return false;
      usleep(static_cast<unsigned>(random.below(12000)));
      return true;
    });
    finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const auto now = sealed_times(output());
    if (finished) break;
    for (const auto& [name, time] : sealed_before) {
      ASSERT_TRUE(now.contains(name)) << name << " was lost";
      const double after = now.at(name);
      ASSERT_TRUE(after == time || (std::isnan(after) && std::isnan(time))) << name;
    }
    sealed_before = now;
  }
  EXPECT_GE(kills, 3);
  if (!finished) {
    ASSERT_EQ(run_and_signal(output(), true), 0);
  }
  // The same shape and labels as an uninterrupted run, and every sealed sample is in it.
  const auto interrupted = read_labelled_file(output());
  const std::string reference = path("whole.h5");
  ASSERT_EQ(run_and_signal(reference, false), 0);
  const auto whole = read_labelled_file(reference);
  ASSERT_EQ(interrupted.groups.size(), whole.groups.size());
  for (std::size_t g = 0; g < whole.groups.size(); ++g) {
    const LabelledArray& a = interrupted.groups[g].second;
    const LabelledArray& b = whole.groups[g].second;
    EXPECT_EQ(interrupted.groups[g].first, whole.groups[g].first);
    ASSERT_EQ(a.axes.size(), b.axes.size());
    for (std::size_t i = 0; i < a.axes.size(); ++i) EXPECT_EQ(a.axes[i].labels, b.axes[i].labels);
    ASSERT_EQ(a.variables.size(), b.variables.size());
    for (std::size_t i = 0; i < a.variables.size(); ++i) {
      EXPECT_EQ(a.variables[i].name, b.variables[i].name);
      EXPECT_EQ(a.variables[i].axes, b.variables[i].axes);
    }
  }
  std::vector<double> merged;
  for (const MeasuredCase& c : measured()) {
    merged.insert(merged.end(), c.samples.begin(), c.samples.end());
  }
  int found = 0;
  for (const auto& [name, time] : sealed_before) {
    found += std::find(merged.begin(), merged.end(), time) != merged.end();
  }
  EXPECT_GT(found, 0);
}

TEST_F(Runner, TerminatedItExitsWith130AndResumes) {
  const int status = run_and_signal(output(), false, SIGTERM, sealed(output(), 1));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(run_and_signal(output(), true), 0);
  EXPECT_EQ(measured().size(), 8u);
}

TEST_F(Runner, WorkersEndWithTheirRunner) {
  run_and_signal(output(), false, SIGKILL, sealed(output(), 1));
  // Workers are children of the killed process; the kernel ends them with it. Any that lived on
  // would hold the lock's folder busy as a process of that name.
  usleep(300000);
  int alive = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string command;
    std::getline(file, command, '\0');
    std::string argument;
    std::getline(file, argument, '\0');
    std::string parent_line;
    if (command != fixtures::fake_bench() || argument != "worker") continue;
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line == "PPid:\t1") ++alive;
    }
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace conelab
