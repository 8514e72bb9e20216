// The place of a benchmark's result: what a run finds there, and what it may put there.
//
//   nothing, an empty file   the result of a run that measured something is written
//   a result of `bench`      replaced by it, at the very end; with `resume` it is finished, if it
//                            is of the same sweep
//   any other file           stays: the run does not begin
//
// The samples of an unfinished run beside it are the matter of `Parts`.
#pragma once

#include <string>

#include "core/bench/result.h"
#include "core/bench/runner.h"

namespace conelab {

class ResultPlace {
 public:
  /// Throws misuse where another file than a result of `bench` lies at the output, or, with
  /// `resume`, a finished result of another sweep. Fails where nothing could be written there.
  ResultPlace(const Sweep& sweep, const BenchOptions& options);

  /// Whether there is nothing left to do.
  [[nodiscard]] bool finished() const { return ending_ == BenchEnding::was_finished; }
  /// Whether this may be written: something was measured.
  [[nodiscard]] static bool accepts(const BenchResult& result);
  BenchEnding write(const BenchResult& result) const;
  /// Fails: why a result is not written that `accepts` does not.
  [[noreturn]] void refuse(const BenchResult& result) const;

 private:
  std::string output_;
  BenchEnding ending_;  ///< Of a run that will have measured something.
};

}  // namespace conelab
