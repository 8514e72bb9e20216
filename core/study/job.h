// What a job is given besides its own fields by whoever runs it: a command, the desktop, a study.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/tensor.h"
#include "core/tiles/backend.h"

namespace conelab {

namespace figure {
struct DisplayList;
}

struct JobContext {
  /// Polled often; once it returns true, the job throws interrupted. Empty: never.
  std::function<bool()> cancelled = {};
  /// Receives a stage ("forward", "weights", ...) and the fraction of it that is done, in [0, 1].
  /// It is called from any thread. Empty: nobody listens.
  std::function<void(const char* stage, double fraction)> progress = {};
  /// Receives what the user should know of a job that goes on, one line each. Empty: dropped.
  std::function<void(const std::string& text)> remark = {};
  Backend* cuda = nullptr;  ///< Null: the program has no such device.
  /// Receives the seconds that a job has left, before `progress`, if the job knows better than by a
  /// constant pace; NaN: unknown. Empty: nobody listens.
  std::function<void(double seconds)> seconds_left = {};
  /// The command that starts a worker of benchmarks; its first word is a path.
  std::vector<std::string> worker = {};
  /// Writes a figure as PNG. Empty: the program cannot.
  std::function<void(const figure::DisplayList& list, const std::string& path)> write_png = {};
  /// Endings of files beside the output in which a figure is written as well: ".pdf".
  std::vector<std::string> also = {};

  [[nodiscard]] bool stopped() const { return cancelled && cancelled(); }
  /// Formats a remark and hands it on.
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const {
    if (remark) remark(fmt::format(format, std::forward<Args>(args)...));
  }
};

/// Returns the backend for `word`, which is "cpu", "cuda" or "auto", or null for the CPU. If the
/// device cannot be used or cannot compute `dtype`, "cuda" throws a failure that says why, and
/// "auto" returns null. Throws misuse for other words.
[[nodiscard]] Backend* choose_device(const std::string& word, Dtype dtype,
                                     const JobContext& context);

/// Remarks if `word` is "auto" and there seems to be a device that cannot be used, for example with
/// a driver that is too old.
void remark_unusable_device(const std::string& word, const JobContext& context);

}  // namespace conelab
