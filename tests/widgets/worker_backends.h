// The program's backends with the program's own workers, for windows that run jobs.
#pragma once

#include <QTemporaryDir>

#include "app/desktop.h"
#include "widgets/window/backends.h"

namespace conelab::desktop {

/// The results of studies and jobs lie in `folder`.
inline Backends worker_backends(const QTemporaryDir& folder) {
  Backends made = desktop_backends();
  const std::string program = CONELAB_BINARY_DIR "/bin/conelab";
  made.studies.context.worker = {program, "bench-worker"};
  made.studies.worker = {program, "job-worker"};
  made.studies.results = folder.path().toStdString();
  return made;
}

}  // namespace conelab::desktop
