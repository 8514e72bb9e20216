#include "core/bench/worker.h"

#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <new>
#include <sstream>

#include "core/base/error.h"
#include "core/base/names.h"
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
  std::ranges::replace(what, '\n', ' ');
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
bool answer(const std::string& line, const Ranks* ranks) {
  if (ranks != nullptr && ranks->rank() > 0) return true;
  return std::fputs((line + "\n").c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

/// Reads the next request, on rank 0, and sends it to the others. Returns false at the end of
/// requests, or if nobody has heard the last answer.
bool next_request(Ranks* ranks, bool heard, std::string& line) {
  constexpr int tag = 32002;
  if (ranks == nullptr || ranks->rank() == 0) {
    heard = heard && static_cast<bool>(std::getline(std::cin, line));
  }
  if (ranks == nullptr) return heard;
  std::int64_t size = heard ? static_cast<std::int64_t>(line.size()) : -1;
  const auto exchange = [&](int other, auto* bytes, std::size_t count) {
    Ranks::Transfer transfer = ranks->rank() == 0 ? ranks->send(other, tag, bytes, count)
                                                  : ranks->receive(0, tag, bytes, count);
    ranks->wait(transfer);
  };
  for (int other = 1; other < (ranks->rank() == 0 ? ranks->size() : 2); ++other) {
    exchange(other, &size, sizeof size);
    if (size < 0) continue;
    line.resize(static_cast<std::size_t>(size));
    exchange(other, line.data(), line.size());
  }
  return size >= 0;
}

void end_with_the_parent() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  std::ofstream("/proc/self/oom_score_adj") << "1000";
}

}  // namespace

int run_worker(ExecutorFactory factory, Ranks* ranks) {
  end_with_the_parent();
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<CaseExecutor> executor;
  bool heard = true;
  for (std::string line; next_request(ranks, heard, line);) {
    try {
      heard = answer(serve(factory, executor, line), ranks);
    } catch (const std::bad_alloc&) {
      heard = answer("memory out of memory", ranks);
    } catch (const DeviceMemoryError& e) {
      heard = answer(fmt::format("memory {}", e.what()), ranks);
    } catch (const std::exception& e) {
      heard = answer(failure(e.what()), ranks);
    }
  }
  return heard ? 0 : 1;
}

// ---- the runner's side --------------------------------------------------------------------------

namespace {

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
  std::string line;
  const auto answer =
      process_.send(request) ? process_.read_line(limit, line) : LineProcess::Answer::ended;
  if (answer == LineProcess::Answer::line) return read_answer(line, expected);
  reason_ = process_.reason();
  return answer == LineProcess::Answer::ended       ? CaseStatus::crashed
         : answer == LineProcess::Answer::timed_out ? CaseStatus::timed_out
                                                    : CaseStatus::failed;
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
  const bool counted = contains(counts, numbers.size());
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
  constexpr std::size_t of_every_program = 3;  // Peers answer with these only.
  std::size_t all = 0;
  each_fact(facts, [&](const char*, double) { ++all; });
  const CaseStatus status = ask_numbers("facts", "facts", {of_every_program, all}, limit, n);
  if (status != CaseStatus::ok) return status;
  if (!(n[0] >= 0 && n[1] >= 0)) {
    return wrong_answer("facts " + reason_, "operations and bytes from 0");
  }
  std::size_t i = 0;
  each_fact(facts, [&](const char*, double& number) {
    if (i < n.size()) number = n[i++];
  });
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

bool Peer::has(const std::string& operation) const { return contains(operations, operation); }

}  // namespace conelab
