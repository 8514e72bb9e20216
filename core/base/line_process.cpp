#include "core/base/line_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/base/error.h"

namespace conelab {
namespace {

using Clock = std::chrono::steady_clock;

/// Interval at which a wait checks whether it was cancelled.
constexpr int poll_milliseconds = 50;
/// An answer longer than this is an error.
constexpr std::size_t longest_line = std::size_t{1} << 20;

/// Both ends of a pipe. They are closed on exec, so that a worker inherits only its own streams.
struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot create a pipe: {}", std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
};

/// Turns the forked child into a worker. It makes async-signal-safe calls only, because other
/// threads of the parent may have held any lock.
[[noreturn]] void become(char* const* argv, const Pipe& in, const Pipe& out, const Pipe& failure,
                         pid_t parent) {
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  signal(SIGTTOU, SIG_IGN);  // Its messages may go to the terminal of the runner's process group.
  if (getppid() != parent) _exit(1);
  if (dup2(in.read, STDIN_FILENO) >= 0 && dup2(out.write, STDOUT_FILENO) >= 0) {
    execvp(argv[0], argv);
  }
  const int why = errno;
  (void)!write(failure.write, &why, sizeof why);
  _exit(127);
}

int spawn(const std::vector<std::string>& command, const Pipe& in, const Pipe& out, pid_t* pid) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const Pipe failure;  // It ends without data when the program has been loaded.
  const pid_t parent = getpid();
  *pid = fork();
  const int not_forked = errno;
  if (*pid == 0) become(argv.data(), in, out, failure, parent);
  close(failure.write);
  int why = 0;
  while (*pid > 0 && read(failure.read, &why, sizeof why) < 0 && errno == EINTR) {
  }
  close(failure.read);
  return *pid < 0 ? not_forked : why;
}

/// Returns how the worker ended. si_pid is 0 while it runs. The process is not reaped: until `end`
/// its number refers to its process group and to no other.
siginfo_t state_of(pid_t pid) {
  siginfo_t state{};
  waitid(P_PID, static_cast<id_t>(pid), &state, WEXITED | WNOHANG | WNOWAIT);
  return state;
}

/// Returns whether there is something to read, or the end of the stream, within this time.
bool readable(int pipe, int milliseconds) {
  pollfd waiting{pipe, POLLIN, 0};
  return poll(&waiting, 1, milliseconds) > 0;
}

}  // namespace

LineProcess::LineProcess(const std::vector<std::string>& command) {
  // Writing to a worker that has ended must fail instead of ending the program by a signal.
  signal(SIGPIPE, SIG_IGN);
  const Pipe in, out;
  pid_t pid = -1;
  const int status = spawn(command, in, out, &pid);
  close(in.read);
  close(out.write);
  to_child_ = in.write;
  from_child_ = out.read;
  pid_ = pid;
  if (status != 0) {
    end();
    fail("{}: cannot start a worker: {}", command.front(), std::strerror(status));
  }
}

bool LineProcess::send(const std::string& line) {
  if (pid_ < 0) {
    reason_ = "worker is gone";
    return false;
  }
  const std::string text = line + "\n";
  const ssize_t count = write(to_child_, text.data(), text.size());
  if (count == static_cast<ssize_t>(text.size())) return true;
  (void)died();
  return false;
}

void LineProcess::stop(double grace) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(grace);
  if (grace > 0 && pid_ > 0) kill(pid_, SIGTERM);
  while (grace > 0 && state_of(pid_).si_pid == 0 && Clock::now() < deadline) usleep(20000);
  end();
}

void LineProcess::end() {
  if (to_child_ >= 0) close(to_child_);
  if (from_child_ >= 0) close(from_child_);
  to_child_ = from_child_ = -1;
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
}

/// Finds out how the worker ended, given that its output has ended. The process may take a moment
/// to end as well.
LineProcess::Answer LineProcess::died() {
  siginfo_t state{};
  for (int i = 0; i < 40 && state.si_pid == 0; ++i) {
    if (i > 0) usleep(50000);
    state = state_of(pid_);
  }
  const int number = state.si_status;
  if (state.si_pid == 0) {
    reason_ = "worker closed its output";
  } else if (state.si_code == CLD_EXITED) {
    reason_ = fmt::format("worker ended with status {}", number);
  } else {
    reason_ = fmt::format("worker ended by signal {} ({}){}", number, strsignal(number),
                          number == SIGKILL ? ", perhaps for want of memory" : "");
  }
  end();
  return Answer::ended;
}

LineProcess::Answer LineProcess::read_line(const WaitLimit& limit, std::string& line,
                                           double grace) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit.seconds);
  while (true) {
    if (const auto end_of_line = buffered_.find('\n'); end_of_line != std::string::npos) {
      line = buffered_.substr(0, end_of_line);
      buffered_.erase(0, end_of_line + 1);
      return Answer::line;
    }
    if (buffered_.size() > longest_line) {
      end();
      reason_ = fmt::format("worker answered a line of more than {} bytes", longest_line);
      return Answer::too_long;
    }
    if (limit.cancelled && limit.cancelled()) {
      stop(grace);
      throw Error(ErrorKind::interrupted, "interrupted");
    }
    if (Clock::now() > deadline) {
      end();
      reason_ = fmt::format("took longer than {:.3g} s", limit.seconds);
      return Answer::timed_out;
    }
    // Processes that the worker has started may keep its output open after its end.
    const bool ended = state_of(pid_).si_pid != 0;
    if (!readable(from_child_, ended ? 0 : poll_milliseconds)) {
      if (ended) return died();
      continue;
    }
    char chunk[4096];
    const ssize_t count = read(from_child_, chunk, sizeof chunk);
    if (count > 0) {
      buffered_.append(chunk, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return died();
    }
  }
}

}  // namespace conelab
