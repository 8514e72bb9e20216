// Which cases of a sweep are not started: those that would not fit into memory, and those that
// would not end.
#pragma once

#include <string>

#include "core/bench/crew.h"
#include "core/bench/forecast.h"
#include "core/bench/slots.h"

namespace conelab {

class Admission {
 public:
  /// Asks what every slot needs, and whether all workers fit into memory at once. `output` stands
  /// in messages.
  Admission(std::string output, const Sweep& sweep, Crew& crew, Slots& slots);

  /// Decides it where it was not decided: Slot::why_skipped holds a text from now on. Doubt whether
  /// a case ends is settled by measuring the rate of a shorter case of the same line. A case that
  /// was measured in earlier rounds goes on; fails where memory lacks for it by now.
  void decide(int slot, Forecast& forecast);

 private:
  std::string output_;
  const Sweep* sweep_;
  Crew* crew_;
  Slots* slots_;
  double peak_;    ///< FLOP/s of one thread.
  double memory_;  ///< That was free before the first worker; 0: unknown.

  std::string why_endless(int slot, Forecast& forecast);
};

}  // namespace conelab
