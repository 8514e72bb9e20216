// The benchmark's runner: interleaved rounds, sealed samples, one result file. The steps are:
//
//   1. parse_labels (axes.h) turns the texts of the command's options into the labels of a sweep
//      (sweep.h) on every axis. Its cases are their product, in row-major order. Some shorter ones
//      are measured twice (the A/A control). Each of these is a series of samples, one in each
//      round (schedule.h).
//   2. In each round every series is measured once. The order differs between rounds, so that the
//      mean position of every series is near the middle (core/statistics/order.h). Before the first
//      sample of a series `Admission` decides whether the case fits into memory and will end in
//      time; otherwise it is recorded as skipped.
//   3. The worker of the series, a separate process, is asked for one sample (worker.h). There a
//      `CaseExecutor` (executor.h), which `Workload::make` prepared from the case's labels, runs
//      the operator (operator_case.h). It measures time, caches and memory, and once the FLOP and
//      the error. After some of the samples the runner measures the memory's bandwidth.
//   4. The answer and the state of the machine at the start of the round are written at once to a
//      small file in OUT.h5.parts/ (parts.h). A kill at any moment loses at most the current
//      sample. A resumed run reads these files in place of measuring, unless they are missing or
//      damaged.
//   5. After the last round all samples, [case][round] in `BenchResult`, are merged into the
//      result file (core/files/bench_file.h): medians with their intervals, fits, the A/A control,
//      the environment (result.h names the variables). The files of samples are removed.
//   6. Readers of the file get `MeasuredCase`s (measured.h). `summary.h` makes tables of them,
//      `compare.h` verdicts, and core/figure/bench_figures.h figures.
//
// A case whose worker crashed, hung, ran out of memory or refused is recorded with its status and
// reason and not started again. The sweep continues.
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
  int done = 0, total = 0;  ///< Numbers of samples, including those of the controls.
  /// Share of the work that is done, weighted by what samples cost. It never decreases.
  double share = 0;
  double eta = 0;       ///< Estimated seconds left; NaN if unknown.
  std::string current;  ///< The current case, see `describe`.
};

struct BenchOptions {
  std::string output;  ///< OUT.h5
  bool resume = false;
  /// The argument vector that starts a worker; its first word is a path.
  std::vector<std::string> worker;
  std::vector<Peer> peers;           ///< Other programs whose operators the sweep may name.
  std::vector<std::string> devices;  ///< A description of each device of the sweep except the CPU.
  /// If it returns true, the current sample is discarded and the run stops.
  std::function<bool()> cancelled;
  std::function<void(const BenchProgress&)> progress;
  /// Receives the results so far after each sample, for figures of a running sweep. It must be
  /// quick, because nothing is measured meanwhile.
  std::function<void(const BenchResult&)> sampled;
  /// Receives one line of text about a problem that does not stop the run.
  std::function<void(const std::string&)> warned;
};

/// How a run ended that did not fail.
enum class BenchEnding {
  written,
  replaced,      ///< An earlier result was replaced.
  was_finished,  ///< With `resume`: there was nothing left to do.
};

/// Runs or resumes the sweep and writes the result file. What exists at the output decides:
///
///   nothing, an empty file   the result is written if something was measured
///   a result of `bench`      is replaced at the very end; with `resume` it is finished, if it is
///                            of the same sweep
///   any other file           is kept, and the run does not begin
///
/// Throws misuse if the sweep is wrong, if two operators have the same name, if the output is
/// another kind of file, if an unfinished run is stored next to it and `resume` is false, or if
/// with `resume` that run (or the finished result) is a different one; the message names the
/// differences, including those of the program's build and of the machine. Throws interrupted if
/// cancelled; sealed samples are kept. Throws a failure if no case was measured.
BenchEnding run_bench(const Sweep& sweep, const Workload& workload, const BenchOptions& options);

}  // namespace conelab
