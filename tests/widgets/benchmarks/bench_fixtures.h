// Sweeps of fake cases for the tests of the benchmarks view: the real runner, real workers.
#pragma once

#include <QDir>
#include <QTemporaryDir>

#include "tests/helpers/fake_workload.h"
#include "tests/widgets/driving.h"
#include "widgets/benchmarks/bench_model.h"

namespace conelab::desktop {

/// In memory where that is to be had: every sample is sealed with an fsync, which disks take long
/// for.
inline QString folder_template() {
  const QString memory = "/dev/shm";
  return (QDir(memory).exists() ? memory : QDir::tempPath()) + "/conelab-bench-XXXXXX";
}

inline BenchBackend fake_bench_backend(const QTemporaryDir& folder) {
  BenchBackend backend;
  backend.operators = fixtures::fake_workload().operations;
  backend.folder = folder.path().toStdString();
  backend.run = [](const Sweep& sweep, const BenchOptions& options) {
    BenchOptions with_worker = options;
    with_worker.worker = {CONELAB_BINARY_DIR "/bin/conelab_fake_bench", "worker"};
    run_bench(sweep, fixtures::fake_workload(), with_worker);
  };
  backend.devices = [] { return std::vector<DeviceState>{{"cuda", false, "no device", "", 0}}; };
  return backend;
}

/// Two operators at two lengths in six rounds: done within a moment.
inline BenchChoice quick_sweep() {
  BenchChoice choice;
  choice.fields["operators"] = "steady,slow";
  choice.fields["lengths"] = "256,512";
  choice.fields["rounds"] = "6";
  choice.fields["warm_only"] = "yes";
  return choice;
}

}  // namespace conelab::desktop
