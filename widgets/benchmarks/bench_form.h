// The form of a sweep: it converts typed texts to a sweep, or reports the errors of each field.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/bench/sweep.h"
#include "core/job/job_field.h"
#include "core/tiles/backend.h"
#include "widgets/session/session.h"

namespace conelab::desktop {

/// Returns the fields of the form: those of the job `bench` that describe a sweep, with the names
/// that can be chosen.
[[nodiscard]] std::vector<JobField> sweep_fields(const std::vector<std::string>& operators);
/// Returns what is typed in a field, or its default.
[[nodiscard]] std::string typed_text(const BenchChoice& typed, const JobField& field);

struct BenchCheck {
  Sweep sweep;  ///< Valid if there are no errors.
  /// Errors by field, one line each.
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

/// Returns the command line that runs the sweep. It writes every option out, so that it does not
/// depend on defaults.
[[nodiscard]] std::string bench_command(const BenchChoice& typed, const std::string& output);

/// Returns the absolute path of the result. A name without a folder is placed in `folder`; ".h5" is
/// added if there is no extension; an empty text gives "bench.h5".
[[nodiscard]] std::string result_path(const std::string& typed, const std::string& folder);

/// Returns the first of "x.h5", "x-2.h5", "x-3.h5", … for which neither a result nor an unfinished
/// run exists. Throws a failure if nothing can be written there, or if a thousand names are taken.
[[nodiscard]] std::string free_path(const std::string& path);

}  // namespace conelab::desktop
