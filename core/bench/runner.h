// The benchmark runner: interleaved rounds, sealed samples, one result file.
//
// The path of one sample:
//   1. A sweep (sweep.h) lists labels on every axis (axes.h). Its cases are their product, in
//      row-major order; some shorter ones are in the run twice (the A/A control). Each is a series
//      of samples, one a round (schedule.h).
//   2. In each round every series is visited once, in an order in which over the rounds each
//      stands in each position equally often (core/statistics/order.h). Before its first visit
//      `Admission` decides whether the case fits into memory and will end in time; otherwise it is
//      recorded as skipped. The runner itself measures the machine's memory bandwidth.
//   3. The series' worker, a process of its own, is asked for one sample (worker.h). There a
//      `CaseExecutor` (executor.h), which `Workload::make` prepared from the case's labels, runs
//      the operator (operator_case.h): time, caches, memory, and once the FLOP and the error.
//   4. The answer, with the state of the machine beside it, is written at once as a small file in
//      OUT.h5.parts/ (parts.h). A kill at any moment loses at most the sample under way; a resumed
//      run reads these files first and measures only what is missing. A damaged one is measured
//      again.
//   5. After the last round all samples, [case][round] in `BenchResult`, are merged into the
//      result file (bench_file.h): medians with their intervals, fits, the A/A control, the
//      environment (result.h). The files of samples are removed.
//   6. Whoever reads the file gets `MeasuredCase`s (measured.h). `summary.h` makes tables of them,
//      `compare.h` verdicts, and core/figure/bench_figures.h figures.
//
// A case whose worker crashed, hung, ran out of memory or refused is recorded with its status and
// reason and not started again. The sweep goes on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/bench/executor.h"
#include "core/bench/result.h"
#include "core/bench/sweep.h"
#include "core/bench/worker.h"

namespace conelab {

struct BenchProgress {
  int done = 0, total = 0;  ///< Samples, the controls' included.
  double share = 0;         ///< Of the work, by what samples cost; never less than before.
  double eta = 0;           ///< Seconds left at the pace so far; NaN where unknown.
  std::string current;      ///< What runs now: see `describe`.
};

struct BenchOptions {
  std::string output;  ///< OUT.h5
  bool resume = false;
  /// Argument vector that starts a worker, its first word a path.
  std::vector<std::string> worker;
  std::vector<Peer> peers;           ///< Whose operators the sweep may name too.
  std::vector<std::string> devices;  ///< Describes each device of the sweep except the CPU.
  std::function<bool()> cancelled;   ///< True: throw away the sample under way and stop.
  std::function<void(const BenchProgress&)> progress;
  /// Called after each sample with what is known by then, for pictures of a sweep that still runs.
  /// It must be quick: nothing is measured meanwhile.
  std::function<void(const BenchResult&)> sampled;
  /// Called with one line about what is wrong but no reason to stop.
  std::function<void(const std::string&)> warned;
};

/// How a run ended that did not fail.
enum class BenchEnding {
  written,
  replaced,      ///< Written over an earlier result.
  was_finished,  ///< With `resume`: nothing was left to do.
};

/// Runs or resumes the sweep and writes the result file. What exists at the output decides:
///
///   nothing, an empty file   the result is written if something was measured
///   a result of `bench`      is replaced at the very end; with `resume` it is finished, if it is
///                            of the same sweep
///   any other file           stays: the run does not begin
///
/// Throws misuse where the sweep is wrong, where two operators have the same name, where the output
/// is another kind of file, where an unfinished run is stored beside it and `resume` is false, or
/// where with `resume` that run (or the finished result) is another one: the message names what
/// differs, the program's build and the machine included. Throws interrupted where cancelled: what
/// is sealed stays.
BenchEnding run_bench(const Sweep& sweep, const Workload& workload, const BenchOptions& options);

}  // namespace conelab
