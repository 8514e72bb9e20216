// What a sweep will cost: seconds of a run, before it starts, from rates measured in the same
// sweep.
//
// A *line* is all lengths of otherwise equal labels. The rate (FLOP/s) of a line is that of the
// longest length measured so far: short runs are slower per FLOP, so the forecast of a longer one
// errs to the long side.
#pragma once

#include <map>
#include <string>

#include "core/bench/sweep.h"

namespace conelab {

class Forecast {
 public:
  struct Rate {
    double flops = 0;          ///< FLOP/s; 0 where nothing of the line was measured.
    std::int64_t seq_len = 0;  ///< At which length.
  };

  /// A run of `c` took `seconds` for `flops`.
  void learn(const Case& c, double flops, double seconds);
  [[nodiscard]] Rate rate(const Case& c) const;

  /// One sample of `c` took `wall` seconds with everything that belongs to it.
  void learn_sample(const Case& c, double wall);
  /// Seconds that one sample of `c` will take: as its last one did, or as its run will at the rate
  /// of its line (of all lines so far where it has none); NaN before anything was measured.
  [[nodiscard]] double sample_seconds(const Case& c, double flops) const;

 private:
  std::map<std::string, Rate> rates_;   ///< By line.
  std::map<std::string, double> wall_;  ///< By case.
  double flops_ = 0, seconds_ = 0;      ///< Of all samples.
};

}  // namespace conelab
