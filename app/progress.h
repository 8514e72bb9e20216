// How far long work is: a bar with the remaining time on a terminal, plain lines otherwise.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

namespace conelab {

/// Reports on standard error; silent for work that ends within its first second. Thread-safe.
class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `fraction` done in [0, 1]; `detail` says what is being worked on. The time left is that of a
  /// constant pace, or `seconds_left` (NaN: unknown) where the caller knows better.
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

/// Seconds as "7 s", "3:05" or "2:03:05".
[[nodiscard]] std::string clock_text(double seconds);
/// Seconds as "1.24 ms", "3.2 s", "4:05".
[[nodiscard]] std::string duration_text(double seconds);
/// The remaining seconds at this fraction, assuming a constant pace; negative where unknown.
[[nodiscard]] double remaining_seconds(double elapsed, double fraction);

}  // namespace conelab
