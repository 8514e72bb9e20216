// Shows the progress of long work on standard error: on a terminal as a bar with the remaining
// time, otherwise as plain lines.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

namespace conelab {

/// One piece of work. It prints nothing in its first second. Its functions may be called from any
/// thread.
class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that `fraction` in [0, 1] is done; `detail` names what is being worked on. The
  /// remaining time assumes a constant pace, unless the caller gives `seconds_left` (NaN: unknown).
  void update(double fraction, const std::string& detail = {},
              std::optional<double> seconds_left = {});
  /// Removes the bar from the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  void draw_bar(double fraction, const std::string& left, const std::string& detail);
  void print_line(double fraction, const std::string& left, const std::string& detail);

  std::string title_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  std::mutex mutex_;
};

}  // namespace conelab
