#include "core/study/job_worker.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/current_exception.h"
#include "core/base/error.h"
#include "core/base/line_process.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"

namespace conelab {
namespace {

/// Seconds within which a worker that is asked to stop must end.
constexpr double stopping_seconds = 10;

Json report_to_json(const JobReport& report) {
  return {{"files", report.files}, {"measures", report.measures}, {"remarks", report.remarks}};
}

JobReport report_from_json(const Json& json) {
  JobReport report;
  json.at("files").get_to(report.files);
  json.at("remarks").get_to(report.remarks);
  for (const auto& [name, value] : json.at("measures").items()) {
    if (value.is_number()) report.measures[name] = value.get<double>();
  }
  return report;
}

/// Returns every field that was given, those that do not change the result included.
Json given_to_json(const JobSpec& spec) {
  Json json{{"command", spec.kind->name}};
  for (const auto& [name, value] : spec.values) json[name] = value_to_json(value);
  return json;
}

/// Writes lines of JSON from any thread; of progress not more than ten in a second.
class Answers {
 public:
  void write(const Json& json) {
    const std::lock_guard lock(mutex_);
    std::fputs((json_line(json) + "\n").c_str(), stdout);
    std::fflush(stdout);
  }
  void progress(const char* stage, double fraction) {
    {
      const std::lock_guard lock(mutex_);
      const auto now = std::chrono::steady_clock::now();
      if (now - last_ < std::chrono::milliseconds(100)) return;
      last_ = now;
    }
    write({{"stage", stage}, {"fraction", fraction}});
  }

 private:
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_;
};

/// What the parent sends: a job, and later how many snapshots it may make (JobContext::allowed).
class Requests {
 public:
  /// Returns the next line. Without `waits` it returns nothing if there is none yet.
  std::optional<std::string> line(bool waits) {
    while (true) {
      if (const auto end = text_.find('\n'); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (!waits && poll(&input, 1, 0) <= 0) return std::nullopt;
      char chunk[4096];
      const ssize_t count = read(STDIN_FILENO, chunk, sizeof chunk);
      if (count > 0) text_.append(chunk, static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) return std::nullopt;
    }
  }
  /// Returns the last number that was sent; -1: none.
  std::int64_t allowed() {
    const std::lock_guard lock(mutex_);
    while (const auto text = line(false)) {
      allowed_ = Json::parse(*text, nullptr, false).value("allowed", std::int64_t{-1});
    }
    return allowed_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::int64_t allowed_ = -1;
};

Json answer_to(const std::string& request, const JobContext& context) {
  try {
    const Json json = Json::parse(request);
    const auto folder = json.at("folder").get<std::string>();
    if (chdir(folder.c_str()) != 0) fail("{}: {}", folder, std::strerror(errno));
    JobContext own = context;
    json.at("also").get_to(own.also);
    if (!json.at("live").get<bool>()) own.live = nullptr;  // Nobody watches.
    return {{"report", report_to_json(run_job(spec_from_json(json.at("job")), own))}};
  } catch (...) {
    const auto [status, text] = describe_current_exception();
    return {{"error", text}, {"status", status}};
  }
}

}  // namespace

int run_job_worker(const JobContext& context) {
  Requests requests;
  const std::string request = requests.line(true).value_or("");
  Answers answers;
  JobContext own = context;
  own.remark = [&](const std::string& text) { answers.write({{"remark", text}}); };
  own.progress = [&](const char* stage, double fraction) { answers.progress(stage, fraction); };
  own.live = [&](const Json& now) { answers.write({{"live", now}}); };
  own.allowed = [&] { return requests.allowed(); };
  answers.write(answer_to(request, own));
  return 0;
}

JobReport run_in_worker(const std::vector<std::string>& command, const std::string& folder,
                        const JobSpec& spec, const JobContext& context) {
  LineProcess worker(command);
  const Json request{{"folder", folder},
                     {"also", context.also},
                     {"live", static_cast<bool>(context.live)},
                     {"job", given_to_json(spec)}};
  std::int64_t allowed = -1;
  const auto stopped = [&] {  // Asked often while an answer is waited for.
    const std::int64_t now = context.allowed ? context.allowed() : -1;
    if (std::exchange(allowed, now) != now) (void)worker.send(json_line({{"allowed", now}}));
    return context.cancelled && context.cancelled();
  };
  const WaitLimit limit{std::numeric_limits<double>::infinity(), stopped};
  std::string line;
  bool heard = worker.send(json_line(request));
  while (heard && worker.read_line(limit, line, stopping_seconds) == LineProcess::Answer::line) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.contains("report")) return report_from_json(json["report"]);
    if (json.contains("error")) {
      throw Error(ErrorKind{json["status"].get<int>()}, json["error"].get<std::string>());
    }
    if (json.contains("remark") && context.remark) {
      context.remark(json["remark"].get<std::string>());
    }
    if (json.contains("live") && context.live) context.live(json["live"]);
    if (json.contains("stage") && context.progress) {
      context.progress(json["stage"].get<std::string>().c_str(), json["fraction"].get<double>());
    }
  }
  fail("the process of the job failed: {}", worker.reason());
}

}  // namespace conelab
