// The memory of this process.
#pragma once

#include <unistd.h>

#include <fstream>

namespace conelab::fixtures {

inline double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace conelab::fixtures
