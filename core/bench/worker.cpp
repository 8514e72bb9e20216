#include "core/bench/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

#include "core/base/error.h"

extern char** environ;

namespace conelab {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void answer(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

Case parse_case(const std::vector<std::string>& w) {
  return {w.at(1),
          w.at(2),
          w.at(3),
          w.at(4),
          std::stoll(w.at(5)),
          std::stoll(w.at(6)),
          std::stoll(w.at(7)),
          std::stoll(w.at(8))};
}

/// One line of the protocol: what went wrong, without line breaks.
std::string failure(const char* what) {
  const std::string text = what;
  const bool skipped = text.starts_with("skipped: ");
  return (skipped ? "skipped " : "failed ") + (skipped ? text.substr(9) : text);
}

/// Answers one request.
std::string serve(ExecutorFactory factory, std::unique_ptr<CaseExecutor>& executor,
                  const std::vector<std::string>& w) {
  if (w.front() == "case") {
    executor = factory(parse_case(w), std::stoll(w.at(9)), std::stoull(w.at(10)));
    return "ready";
  }
  if (w.front() == "facts") {
    const CaseFacts f = executor->facts();
    return fmt::format("facts {} {} {}", f.flops, f.bytes, f.error);
  }
  const Sample s = executor->sample(w.at(1) == "1");
  return fmt::format("time {} {} {} {} {}", s.warm, s.cold, s.peak_flops, s.peak_bytes,
                     s.extra_bytes);
}

/// A pipe whose ends are not inherited unless a file action says so.
void make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) fail("cannot create a pipe: {}", std::strerror(errno));
}

}  // namespace

int run_worker(ExecutorFactory factory) {
  // Ctrl-C goes to the whole group: the parent decides what happens to the sample under way.
  signal(SIGINT, SIG_IGN);
  std::unique_ptr<CaseExecutor> executor;
  for (std::string line; std::getline(std::cin, line);) {
    const auto words = split(line);
    if (words.empty()) continue;
    try {
      answer(serve(factory, executor, words));
    } catch (const std::bad_alloc&) {
      answer("failed out of memory");
    } catch (const std::exception& e) {
      answer(failure(e.what()));
    }
  }
  return 0;
}

WorkerProcess::WorkerProcess(const std::vector<std::string>& command) {
  signal(SIGPIPE, SIG_IGN);
  int in[2], out[2];
  make_pipe(in);
  make_pipe(out);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int status = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_worker_ = in[1];
  from_worker_ = out[0];
  if (status != 0) {
    pid_ = -1;
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
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

std::string WorkerProcess::describe_exit() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  end();
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* hint = number == SIGKILL ? " (out of memory?)" : "";
    return fmt::format("worker ended by signal {} {}{}", number, strsignal(number), hint);
  }
  return fmt::format("worker ended with status {}", WEXITSTATUS(status));
}

WorkerStatus WorkerProcess::read_line(double seconds, const std::function<bool()>& cancelled,
                                      std::string& line) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    if (const auto end_of_line = buffered_.find('\n'); end_of_line != std::string::npos) {
      line = buffered_.substr(0, end_of_line);
      buffered_.erase(0, end_of_line + 1);
      return WorkerStatus::ok;
    }
    if (cancelled && cancelled()) {
      end();
      reason_ = "cancelled";
      return WorkerStatus::cancelled;
    }
    if (Clock::now() > deadline) {
      end();
      reason_ = fmt::format("took longer than {:.3g} s", seconds);
      return WorkerStatus::timed_out;
    }
    pollfd waiting{from_worker_, POLLIN, 0};
    if (poll(&waiting, 1, 100) <= 0) continue;
    char chunk[4096];
    const ssize_t count = read(from_worker_, chunk, sizeof chunk);
    if (count > 0) {
      buffered_.append(chunk, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      reason_ = describe_exit();
      return WorkerStatus::crashed;
    }
  }
}

WorkerStatus WorkerProcess::ask(const std::string& line, double seconds,
                                const std::function<bool()>& cancelled,
                                std::vector<std::string>& words) {
  if (pid_ < 0) {
    reason_ = "worker is gone";
    return WorkerStatus::crashed;
  }
  const std::string text = line + "\n";
  if (write(to_worker_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    reason_ = describe_exit();
    return WorkerStatus::crashed;
  }
  std::string reply;
  const WorkerStatus status = read_line(seconds, cancelled, reply);
  if (status != WorkerStatus::ok) return status;
  words = split(reply);
  const std::string kind = words.empty() ? "" : words.front();
  if (kind != "skipped" && kind != "failed") return WorkerStatus::ok;
  reason_ = reply.substr(kind.size() + 1);
  return kind == "skipped" ? WorkerStatus::skipped : WorkerStatus::failed;
}

WorkerStatus WorkerProcess::prepare(const Case& c, std::int64_t batch, std::uint64_t seed,
                                    double seconds, const std::function<bool()>& cancelled) {
  std::vector<std::string> words;
  const std::string line =
      fmt::format("case {} {} {} {} {} {} {} {} {} {}", c.operation, c.pass, c.device, c.dtype,
                  c.threads, c.dim, c.head, c.seq_len, batch, seed);
  return ask(line, seconds, cancelled, words);
}

WorkerStatus WorkerProcess::facts(double seconds, const std::function<bool()>& cancelled,
                                  CaseFacts& facts) {
  std::vector<std::string> words;
  const WorkerStatus status = ask("facts", seconds, cancelled, words);
  if (status != WorkerStatus::ok) return status;
  facts = {std::stod(words.at(1)), std::stod(words.at(2)), std::stod(words.at(3))};
  return status;
}

WorkerStatus WorkerProcess::sample(bool cold, double seconds,
                                   const std::function<bool()>& cancelled, Sample& sample) {
  std::vector<std::string> words;
  const WorkerStatus status = ask(cold ? "sample 1" : "sample 0", seconds, cancelled, words);
  if (status != WorkerStatus::ok) return status;
  sample = {std::stod(words.at(1)), std::stod(words.at(2)), std::stod(words.at(3)),
            std::stod(words.at(4)), std::stod(words.at(5))};
  return status;
}

}  // namespace conelab
