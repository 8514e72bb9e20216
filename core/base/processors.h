// How many processors this process may use.
#pragma once

#include <string>

namespace conelab {

/// Returns how many processors the quota of control groups leaves, rounded up: the least quota of
/// the process's group and of those above it, of `cpu.max` (version 2) and `cpu.cfs_quota_us`
/// (version 1); INT_MAX without a quota. `groups` has the lines of /proc/self/cgroup, and `mount`
/// is where control groups are mounted. A container sees its own group as the root there.
[[nodiscard]] int quota_of_processors(const std::string& groups = "/proc/self/cgroup",
                                      const std::string& mount = "/sys/fs/cgroup");

/// Returns the processors that computations use by default: those that the process may run on
/// (sched_getaffinity), or what the quota leaves if that is less. It is found once.
[[nodiscard]] int usable_processors();

}  // namespace conelab
