// The form of a sweep: from what is typed to a sweep, or to what is wrong, field by field.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bench/sweep.h"
#include "core/tiles/backend.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

struct BenchCheck {
  Sweep sweep;  ///< To be run where there are no errors.
  /// By field (named as the members of BenchChoice): what is wrong, one line.
  std::map<std::string, std::string> errors;
  std::string extent;  ///< "8 cases in 9 rounds"; or what is missing.

  [[nodiscard]] bool sound() const { return errors.empty(); }
};

/// `devices`: those besides the CPU, as far as known; an unknown one is not held against the sweep.
[[nodiscard]] BenchCheck check_bench(const BenchChoice& typed,
                                     const std::vector<std::string>& operators,
                                     const std::vector<DeviceState>& devices);

/// The form of the sweep that a result is of ("lengths=256,512", …), as far as this program has its
/// operators; what those lines do not say, or in no form that can be read, stays as in `typed`.
[[nodiscard]] BenchChoice form_of_sweep(BenchChoice typed, const std::vector<std::string>& lines,
                                        const std::vector<std::string>& operators);

/// The result file of the sweep, absolute: what is typed, in `folder` unless a path is, with ".h5"
/// where there is no ending; "bench.h5" where nothing is typed.
[[nodiscard]] std::string result_path(const std::string& typed, const std::string& folder);

/// The first of "x.h5", "x-2.h5", "x-3.h5", … where neither a result nor an unfinished run lies.
/// Fails where nothing can be written there, or where none of a thousand is free.
[[nodiscard]] std::string free_path(const std::string& path);

}  // namespace conelab::desktop
