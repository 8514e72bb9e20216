#include "widgets/benchmarks/bench_run.h"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>

#include "core/base/error.h"
#include "core/bench/result.h"

namespace conelab::desktop {
namespace {

/// The time between two pictures of a running sweep. Drawing takes time from the machine that is
/// being measured.
constexpr auto picture_pause = std::chrono::milliseconds(500);

}  // namespace

struct BenchRun::Shared {
  mutable std::mutex mutex;
  State state;

  void set(const std::function<void(State&)>& change) {
    const std::lock_guard lock(mutex);
    change(state);
  }
};

namespace {

/// Keeps the latest result and converts it to numbers of a picture from time to time.
class Pictures {
 public:
  Pictures(std::string output, std::function<void(std::shared_ptr<const BenchData>)> show)
      : output_(std::move(output)), show_(std::move(show)) {}

  void sampled(const BenchResult& result) {
    latest_ = result;
    if (std::chrono::steady_clock::now() >= due_) show();
  }
  void show() {
    if (!latest_) return;
    show_(bench_data(bench_file(*latest_), output_));
    latest_.reset();
    due_ = std::chrono::steady_clock::now() + picture_pause;
  }

 private:
  std::string output_;
  std::function<void(std::shared_ptr<const BenchData>)> show_;
  std::optional<BenchResult> latest_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace

void BenchRun::start(const Sweep& sweep, const std::string& output, bool resume) {
  auto shared = std::make_shared<Shared>();
  shared->state.outcome = Outcome::running;
  shared_ = shared;
  output_ = output;
  // A job that is cancelled before it starts never runs. The destruction of this object is the only
  // event that always happens.
  const auto ended = std::shared_ptr<void>(nullptr, [shared](void*) {
    shared->set([](State& s) {
      if (s.outcome == Outcome::running) s.outcome = Outcome::stopped;
    });
  });
  const auto work = [run = run_, sweep, output, resume, shared, ended](const JobContext& context) {
    Pictures pictures(output, [shared](std::shared_ptr<const BenchData> data) {
      shared->set([&](State& s) { s.data = std::move(data); });
    });
    BenchOptions options;
    options.output = output;
    options.resume = resume;
    options.cancelled = context.cancel_check();
    options.progress = [&](const BenchProgress& p) {
      context.progress(p.share);
      shared->set([&](State& s) { s.progress = p; });
    };
    options.warned = [&](const std::string& what) {
      shared->set([&](State& s) { s.warnings.push_back(what); });
    };
    options.sampled = [&](const BenchResult& result) { pictures.sampled(result); };
    Outcome outcome = Outcome::finished;
    std::string message;
    try {
      run(sweep, options);
    } catch (const std::exception& e) {
      const auto* error = dynamic_cast<const Error*>(&e);
      const bool stopped = error != nullptr && error->kind() == ErrorKind::interrupted;
      outcome = stopped ? Outcome::stopped : Outcome::failed;
      message = e.what();
    }
    pictures.show();
    shared->set([&](State& s) { s.outcome = outcome, s.message = message; });
    return true;
  };
  job_ = jobs_.start<bool>(
      "benchmark " + std::filesystem::path(output).filename().string(), work, [](bool) {}, nullptr);
}

BenchRun::State BenchRun::state() const {
  if (!shared_) return {};
  const std::lock_guard lock(shared_->mutex);
  return shared_->state;
}

}  // namespace conelab::desktop
