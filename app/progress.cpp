#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/base/duration.h"

namespace conelab {
namespace {

constexpr double quiet_seconds = 1.0;  // Work that takes less time shows nothing.
constexpr double bar_seconds = 0.1;    // Time between two drawings of the bar.
constexpr double line_seconds = 10.0;  // Time between two plain lines.
constexpr int bar_width = 30;

std::string eta_text(double left) { return left >= 0 ? " ETA " + clock_text(left) : ""; }

}  // namespace

Progress::Progress(std::string title) : title_(std::move(title)), terminal_(isatty(2) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (drawn_ && terminal_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Progress::update(double fraction, const std::string& detail,
                      std::optional<double> seconds_left) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double since_last = std::chrono::duration<double>(now - last_).count();
  // A cleared bar is drawn again at once; a plain line stands, and the next one comes later.
  const bool waits =
      terminal_ ? drawn_ && since_last < bar_seconds : last_ != start_ && since_last < line_seconds;
  if (elapsed < quiet_seconds || waits) return;
  last_ = now;
  drawn_ = true;
  const std::string left = eta_text(seconds_left.value_or(remaining_seconds(elapsed, fraction)));
  terminal_ ? draw_bar(fraction, left, detail) : print_line(fraction, left, detail);
}

void Progress::draw_bar(double fraction, const std::string& left, const std::string& detail) {
  const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * bar_width);
  const std::string bar = std::string(full, '#') + std::string(bar_width - full, '.');
  const std::string line =
      fmt::format("\r\033[K{} [{}] {:3.0f} %{} {}", title_, bar, fraction * 100, left, detail);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void Progress::print_line(double fraction, const std::string& left, const std::string& detail) {
  const std::string line = fmt::format("{}: {:.0f} %{}{}{}\n", title_, fraction * 100, left,
                                       detail.empty() ? "" : ", ", detail);
  std::fputs(line.c_str(), stderr);
}

}  // namespace conelab
