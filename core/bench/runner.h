// The benchmark runner: interleaved rounds, sealed samples, one result file.
//
// In each round every case runs once, in an order in which over the rounds each case stands in each
// position equally often. Some cases are in the sweep twice (the A/A control). Every sample is
// sealed at once as a small file of its own beside the result, in OUT.h5.parts/: a kill at any
// moment loses at most the sample under way, and a resumed run goes on from there. The result is
// merged from the sealed samples at the end, after which they are removed. A sealed sample that has
// been damaged since is set aside and measured again; where it cannot be told which are, the run
// fails.
//
// A case whose worker crashed, hung, ran out of memory or refused is recorded with its status and
// reason and not started again; one that is predicted not to fit or to end is recorded as skipped.
// The sweep goes on in either case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/bench/executor.h"
#include "core/bench/peer.h"
#include "core/bench/result.h"
#include "core/bench/sweep.h"

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
  std::vector<std::string> devices;  ///< What the sweep's devices are, the CPU aside, in words.
  std::function<bool()> cancelled;   ///< True: throw away the sample under way and stop.
  std::function<void(const BenchProgress&)> progress;
  /// Told after each sample what is known by then; for pictures of a sweep that still runs. Called
  /// between samples, and to be quick: nothing is measured meanwhile.
  std::function<void(const BenchResult&)> sampled;
  /// Told, in one line, what is amiss but no reason to stop.
  std::function<void(const std::string&)> warned;
};

/// How a run ended that did not fail.
enum class BenchEnding {
  written,
  replaced,      ///< Written in the place of an earlier result.
  was_finished,  ///< With `resume`: nothing was left to do.
};

/// Runs or resumes the sweep and writes the result file; what may lie at its place is said in
/// result_place.h.
///
/// Throws misuse where the sweep is wrong, where a peer has an operator of another's name, where
/// something else than a benchmark's result lies at the output, where an unfinished run lies beside
/// it and `resume` is false, or where with `resume` the unfinished run (or the finished result) is
/// another one: the message names what differs, the program's build and the machine included.
/// Throws interrupted where cancelled: what is sealed stays.
BenchEnding run_bench(const Sweep& sweep, const Workload& workload, const BenchOptions& options);

}  // namespace conelab
