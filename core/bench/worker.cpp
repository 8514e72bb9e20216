#include "core/bench/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <new>
#include <sstream>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/bench/machine.h"
#include "core/tiles/backend.h"

namespace conelab {

// ---- the worker's side --------------------------------------------------------------------------

namespace {

/// Reads the labels that every case has. `read_later` reads those of axes that were added later.
Case read_case(std::istringstream& words) {
  Case c;
  for (const Axis& axis : axes()) {
    std::string label = axis.implied_label;
    if (label.empty()) words >> label;
    c.set(axis.name, label);
  }
  return c;
}

void read_later(std::istringstream& words, Case& c) {
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size() - 1);
    c.set(word.substr(0, equals), word.substr(equals + 1));
  }
}

/// Returns a line of the protocol that says what went wrong. It contains no line breaks.
std::string failure(std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  const std::string skipped = "skipped: ";
  return what.starts_with(skipped) ? "skipped " + what.substr(skipped.size()) : "failed " + what;
}

std::string serve(ExecutorFactory factory, std::unique_ptr<CaseExecutor>& executor,
                  const std::string& line) {
  std::istringstream words(line);
  std::string request;
  words >> request;
  if (request == "case") {
    Case c = read_case(words);
    std::int64_t batch = 1;
    std::uint64_t seed = 1;
    if (!(words >> batch >> seed)) return "failed the request is malformed";
    read_later(words, c);
    executor.reset();
    executor = factory(c, batch, seed);
    return "ready";
  }
  if (!executor) return "failed no case was prepared";
  std::string numbers;
  const auto append = [&](const char*, double number) { numbers += fmt::format(" {}", number); };
  if (request == "facts") {
    const CaseFacts facts = executor->facts();
    each_fact(facts, append);
    return "facts" + numbers;
  }
  int cold = 0;
  if (request != "sample" || !(words >> cold)) return "failed the request is malformed";
  const Sample sample = executor->sample(cold == 1);
  each_measurement(sample, append);
  return "sample" + numbers;
}

/// Writes a line. Returns false if there is no reader any more.
bool answer(const std::string& line) {
  return std::fputs((line + "\n").c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

void end_with_the_parent() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  std::ofstream("/proc/self/oom_score_adj") << "1000";
}

}  // namespace

int run_worker(ExecutorFactory factory) {
  end_with_the_parent();
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<CaseExecutor> executor;
  bool heard = true;
  for (std::string line; heard && std::getline(std::cin, line);) {
    try {
      heard = answer(serve(factory, executor, line));
    } catch (const std::bad_alloc&) {
      heard = answer("memory out of memory");
    } catch (const DeviceMemoryError& e) {
      heard = answer(fmt::format("memory {}", e.what()));
    } catch (const std::exception& e) {
      heard = answer(failure(e.what()));
    }
  }
  return heard ? 0 : 1;
}

// ---- the runner's side --------------------------------------------------------------------------

namespace {

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

/// Starts the process. Returns 0, or errno if that failed.
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

/// Returns the words that describe a case in a request. `numbers` are the batch and, in some
/// requests, the seed.
std::string case_words(const Case& c, const std::string& numbers) {
  std::string words, later;
  for (const Axis& axis : axes()) {
    if (*axis.implied_label == '\0')
      words += c[axis] + " ";
    else if (!is_implied(axis, c[axis]))
      later += fmt::format(" {}={}", axis.name, c[axis]);
  }
  return words + numbers + later;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command) {
  // Writing to a worker that has ended must fail instead of ending the program by a signal.
  signal(SIGPIPE, SIG_IGN);
  const Pipe in, out;
  pid_t pid = -1;
  const int status = spawn(command, in, out, &pid);
  close(in.read);
  close(out.write);
  to_worker_ = in.write;
  from_worker_ = out.read;
  pid_ = pid;
  if (status != 0) {
    end();
    fail("{}: cannot start a worker: {}", command.front(), std::strerror(status));
  }
}

WorkerProcess::~WorkerProcess() { end(); }

void WorkerProcess::end() {
  if (to_worker_ >= 0) close(to_worker_);
  if (from_worker_ >= 0) close(from_worker_);
  to_worker_ = from_worker_ = -1;
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
}

/// Finds out how the worker ended, given that its output has ended. The process may take a moment
/// to end as well.
CaseStatus WorkerProcess::died() {
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
  return CaseStatus::crashed;
}

CaseStatus WorkerProcess::read_line(const WaitLimit& limit, std::string& line) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(limit.seconds);
  while (true) {
    if (const auto end_of_line = buffered_.find('\n'); end_of_line != std::string::npos) {
      line = buffered_.substr(0, end_of_line);
      buffered_.erase(0, end_of_line + 1);
      return CaseStatus::ok;
    }
    if (buffered_.size() > longest_line) {
      end();
      reason_ = fmt::format("worker answered a line of more than {} bytes", longest_line);
      return CaseStatus::failed;
    }
    if (limit.cancelled && limit.cancelled()) {
      end();
      throw Error(ErrorKind::interrupted, "interrupted");
    }
    if (Clock::now() > deadline) {
      end();
      reason_ = fmt::format("took longer than {:.3g} s", limit.seconds);
      return CaseStatus::timed_out;
    }
    // Processes that the worker has started may keep its output open after its end.
    const bool ended = state_of(pid_).si_pid != 0;
    if (!readable(from_worker_, ended ? 0 : poll_milliseconds)) {
      if (ended) return died();
      continue;
    }
    char chunk[4096];
    const ssize_t count = read(from_worker_, chunk, sizeof chunk);
    if (count > 0) {
      buffered_.append(chunk, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return died();
    }
  }
}

CaseStatus WorkerProcess::read_answer(const std::string& line, const std::string& expected) {
  std::istringstream words(line);
  std::string kind;
  words >> kind;
  reason_ = line.substr(std::min(line.size(), kind.size() + 1));
  if (kind == "skipped") return CaseStatus::skipped;
  if (kind == "memory") return CaseStatus::out_of_memory;
  if (kind == "failed") return CaseStatus::failed;
  if (kind == expected) return CaseStatus::ok;
  return wrong_answer(line, expected);
}

CaseStatus WorkerProcess::wrong_answer(const std::string& line, const std::string& expected) {
  reason_ = fmt::format("worker answered '{}' (expected {})", line, expected);
  return CaseStatus::failed;
}

CaseStatus WorkerProcess::ask(const std::string& request, const std::string& expected,
                              const WaitLimit& limit) {
  if (pid_ < 0) {
    reason_ = "worker is gone";
    return CaseStatus::crashed;
  }
  const std::string text = request + "\n";
  if (write(to_worker_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return died();
  }
  std::string line;
  const CaseStatus status = read_line(limit, line);
  return status == CaseStatus::ok ? read_answer(line, expected) : status;
}

CaseStatus WorkerProcess::ask_numbers(const std::string& request, const std::string& expected,
                                      const std::vector<std::size_t>& counts,
                                      const WaitLimit& limit, std::vector<double>& numbers) {
  const CaseStatus status = ask(request, expected, limit);
  if (status != CaseStatus::ok) return status;
  const std::string answer = reason_;
  bool all_numbers = true;
  std::istringstream words(answer);
  for (std::string word; words >> word;) {
    const auto number = parse_number(word);
    all_numbers = all_numbers && number.has_value();
    numbers.push_back(number.value_or(0));
  }
  const bool counted = std::find(counts.begin(), counts.end(), numbers.size()) != counts.end();
  if (all_numbers && counted) return status;
  return wrong_answer(expected + " " + answer,
                      fmt::format("{} and {} numbers", expected, counts.front()));
}

CaseStatus WorkerProcess::prepare(const Case& c, std::int64_t batch, std::uint64_t seed,
                                  const WaitLimit& limit) {
  return ask("case " + case_words(c, fmt::format("{} {}", batch, seed)), "ready", limit);
}

CaseStatus WorkerProcess::predict(const Case& c, std::int64_t batch, const WaitLimit& limit,
                                  Prediction& prediction) {
  std::vector<double> n;
  const CaseStatus status =
      ask_numbers("predict " + case_words(c, std::to_string(batch)), "predict", {2}, limit, n);
  if (status != CaseStatus::ok) return status;
  if (!(n[0] >= 0 && n[1] >= 0)) {
    return wrong_answer("predict " + reason_, "bytes and operations from 0");
  }
  prediction = {n[0], 0, n[1]};
  return status;
}

CaseStatus WorkerProcess::question(const std::string& word, const WaitLimit& limit) {
  return ask(word, word, limit);
}

CaseStatus WorkerProcess::facts(const WaitLimit& limit, CaseFacts& facts) {
  std::vector<double> n;
  const CaseStatus status = ask_numbers("facts", "facts", {3}, limit, n);
  if (status != CaseStatus::ok) return status;
  if (!(n[0] >= 0 && n[1] >= 0)) {
    return wrong_answer("facts " + reason_, "operations and bytes from 0");
  }
  std::size_t i = 0;
  each_fact(facts, [&](const char*, double& number) { number = n[i++]; });
  return status;
}

CaseStatus WorkerProcess::sample(bool cold, const WaitLimit& limit, Sample& sample) {
  std::vector<double> n;
  constexpr std::size_t of_the_host = 7;  // Peers answer with these only.
  std::size_t all = 0;
  each_measurement(sample, [&](const char*, double) { ++all; });
  const CaseStatus status =
      ask_numbers(cold ? "sample 1" : "sample 0", "sample", {of_the_host, all}, limit, n);
  if (status != CaseStatus::ok) return status;
  if (!(n[0] > 0 && std::isfinite(n[0]))) {
    return wrong_answer("sample " + reason_, "a time above 0");
  }
  n.resize(all, std::numeric_limits<double>::quiet_NaN());
  sample = {};
  std::size_t i = 0;
  each_measurement(sample, [&](const char*, double& number) { number = n[i++]; });
  return status;
}

// ---- peers --------------------------------------------------------------------------------------

namespace {

[[noreturn]] void no_peer(const Peer& peer, const std::string& why) {
  fail("{}: is no peer: {}", fmt::join(peer.command, " "), why);
}

std::string answer(WorkerProcess& worker, const std::string& request, const Peer& peer,
                   const WaitLimit& limit) {
  if (worker.question(request, limit) != CaseStatus::ok) {
    no_peer(peer, worker.reason());
  }
  return worker.reason();
}

}  // namespace

Peer ask_peer(const std::vector<std::string>& command, const WaitLimit& limit) {
  Peer peer{command, "", {}};
  WorkerProcess worker(command);
  peer.about = answer(worker, "about", peer, limit);
  std::istringstream names(answer(worker, "operators", peer, limit));
  for (std::string name; names >> name;) peer.operations.push_back(name);
  if (peer.operations.empty()) no_peer(peer, "names no operators");
  return peer;
}

bool Peer::has(const std::string& operation) const {
  return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

}  // namespace conelab
