// A child process that is asked and that answers in lines of text over its standard streams.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace conelab {

/// How long an answer is waited for: at most `seconds`. If `cancelled` returns true, waiting ends
/// and Error(interrupted) is thrown.
struct WaitLimit {
  double seconds = 600;
  std::function<bool()> cancelled;
};

/// The process leads its own process group, so that only its parent receives Ctrl-C of a terminal,
/// and ending it also ends the processes that it started. If the parent is killed, the kernel ends
/// it (Linux).
class LineProcess {
 public:
  enum class Answer { line, ended, timed_out, too_long };

  /// `command` is the argument vector; its first word is a path or a name in PATH. Throws a failure
  /// if the process cannot be started.
  explicit LineProcess(const std::vector<std::string>& command);
  ~LineProcess() { end(); }
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  [[nodiscard]] bool running() const { return pid_ >= 0; }
  /// Sends a line. Returns false if the process has ended.
  [[nodiscard]] bool send(const std::string& line);
  /// Waits for a line. After any other answer the process has ended, and `reason` says why. If the
  /// wait is cancelled, the process is asked to stop by SIGTERM and gets `grace` seconds for it.
  [[nodiscard]] Answer read_line(const WaitLimit& limit, std::string& line, double grace = 0);
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  int pid_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::string buffered_;
  std::string reason_;

  Answer died();
  void stop(double grace);
  void end();
};

}  // namespace conelab
