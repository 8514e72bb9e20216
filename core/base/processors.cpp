#include "core/base/processors.h"

#include <tbb/info.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <fstream>

namespace conelab {
namespace {

/// Returns the quota of a group in processors; INT_MAX if it has none.
int quota_of_group(const std::string& folder) {
  double quota = 0, period = 0;  // Microseconds. No quota is "max" in version 2, -1 in version 1.
  if (!(std::ifstream(folder + "/cpu.max") >> quota >> period)) {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  if (!(quota > 0) || !(period > 0)) return INT_MAX;
  return static_cast<int>(std::min(std::ceil(quota / period), double{INT_MAX}));
}

}  // namespace

int quota_of_processors(const std::string& groups, const std::string& mount) {
  int least = INT_MAX;
  std::ifstream file(groups);
  for (std::string line; std::getline(file, line);) {
    // A line is NUMBER:CONTROLLERS:/GROUP; version 2 names no controllers.
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos)
      continue;
    std::string group = line.substr(second + 1);
    while (true) {
      for (const char* own : {"", "/cpu", "/unified"}) {
        least = std::min(least, quota_of_group(mount + own + group));
      }
      if (group.empty()) break;
      group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
  }
  return least;
}

int usable_processors() {
  static const int usable = std::min(tbb::info::default_concurrency(), quota_of_processors());
  return usable;
}

}  // namespace conelab
