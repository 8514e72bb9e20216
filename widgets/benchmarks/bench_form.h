// The form of a sweep: it converts typed texts to a sweep, or reports the errors of each field.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bench/sweep.h"
#include "core/tiles/backend.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

/// A field of the form that is no axis: one number, which is typed.
struct BenchField {
  const char* name;  ///< That of the item of a sweep.
  const char* title;
  const char* help;
  std::string BenchChoice::*text;
};
inline constexpr BenchField bench_fields[] = {
    {"batch", "batch", "Batch size: one whole number", &BenchChoice::batch},
    {"rounds", "rounds",
     "In each round every case runs once, in balanced random order. Nine give a 95 % interval of "
     "the median; fewer than six give less.",
     &BenchChoice::rounds},
    {"controls", "controls",
     "At most so many cases are measured twice: how often they come out different is the rate of "
     "false positives",
     &BenchChoice::controls},
    {"seed", "seed", "Of the random inputs and of the orders", &BenchChoice::seed},
    {"time_limit", "time limit (s)", "Seconds that one sample may take before its worker is ended",
     &BenchChoice::time_limit}};

struct BenchCheck {
  Sweep sweep;  ///< Valid if there are no errors.
  /// Errors by field (named as the members of BenchChoice), one line each.
  std::map<std::string, std::string> errors;
  std::string extent;  ///< "8 cases in 9 rounds", or what is missing.

  [[nodiscard]] bool sound() const { return errors.empty(); }
};

/// Checks the form. `devices` are the known devices besides the CPU; a device that is not among
/// them is no error.
[[nodiscard]] BenchCheck check_bench(const BenchChoice& typed,
                                     const std::vector<std::string>& operators,
                                     const std::vector<DeviceState>& devices);

/// Returns the form of the sweep that a result describes ("lengths=256,512", …), with the operators
/// that this program has. Fields that the lines do not contain, or not in a readable form, are
/// those of `typed`.
[[nodiscard]] BenchChoice form_of_sweep(BenchChoice typed, const std::vector<std::string>& lines,
                                        const std::vector<std::string>& operators);

/// Returns the absolute path of the result. A name without a folder is placed in `folder`; ".h5" is
/// added if there is no extension; an empty text gives "bench.h5".
[[nodiscard]] std::string result_path(const std::string& typed, const std::string& folder);

/// Returns the first of "x.h5", "x-2.h5", "x-3.h5", … for which neither a result nor an unfinished
/// run exists. Throws a failure if nothing can be written there, or if a thousand names are taken.
[[nodiscard]] std::string free_path(const std::string& path);

}  // namespace conelab::desktop
