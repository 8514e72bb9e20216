// What views work with: a session, jobs, and the trace that is open in it.
#pragma once

#include "tests/widgets/driving.h"
#include "widgets/trace/workspace.h"

namespace conelab::desktop {

struct Work {
  Document document;
  JobPool jobs{deliver};
  Workspace workspace{document, jobs};

  ~Work() { jobs.cancel_all(); }
  /// Opens a group of a file and waits until its head can be computed with.
  void open(const std::string& file = shipped_trace(), const char* group = "/german/layer3") {
    workspace.open(QString::fromStdString(file), group);
    EXPECT_TRUE(wait_for([&] { return workspace.head() != nullptr; }));
  }
};

}  // namespace conelab::desktop
