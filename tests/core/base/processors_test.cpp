#include "core/base/processors.h"

#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace conelab {
namespace {

namespace fs = std::filesystem;

struct Groups {
  const char* name;
  std::string own;                           ///< /proc/self/cgroup
  std::map<std::string, std::string> files;  ///< Below /sys/fs/cgroup.
  int processors;
};

// Folders as systemd, Docker and Kubernetes make them, of version 2 and of version 1.
const Groups all[] = {
    {"none", "0::/\n", {}, INT_MAX},
    {"max", "0::/\n", {{"cpu.max", "max 100000\n"}}, INT_MAX},
    {"root of a container", "0::/\n", {{"cpu.max", "200000 100000\n"}}, 2},
    {"rounded up", "0::/\n", {{"cpu.max", "150000 100000\n"}}, 2},
    {"less than one", "0::/\n", {{"cpu.max", "10000 100000\n"}}, 1},
    {"own group", "0::/job/step\n", {{"job/step/cpu.max", "300000 100000\n"}}, 3},
    {"a group above",
     "0::/job/step\n",
     {{"job/step/cpu.max", "max 100000\n"}, {"job/cpu.max", "400000 100000\n"}},
     4},
    {"the least",
     "0::/job/step\n",
     {{"job/step/cpu.max", "800000 100000\n"}, {"job/cpu.max", "500000 100000\n"}},
     5},
    {"another group", "0::/job\n", {{"other/cpu.max", "100000 100000\n"}}, INT_MAX},
    {"version 1",
     "4:memory:/a\n2:cpu,cpuacct:/a/b\n",
     {{"cpu/a/b/cpu.cfs_quota_us", "600000\n"}, {"cpu/a/b/cpu.cfs_period_us", "100000\n"}},
     6},
    {"version 1, the root of a container",
     "2:cpuacct,cpu:/docker/0123\n",
     {{"cpu/cpu.cfs_quota_us", "50000\n"}, {"cpu/cpu.cfs_period_us", "25000\n"}},
     2},
    {"version 1, none",
     "2:cpu:/\n",
     {{"cpu/cpu.cfs_quota_us", "-1\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     INT_MAX},
    {"other controllers of version 1",
     "3:cpuset:/a\n",
     {{"cpu/a/cpu.cfs_quota_us", "100000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     INT_MAX},
    {"no number", "0::/\n", {{"cpu.max", "many\n"}}, INT_MAX},
};

TEST(Processors, AreThoseOfTheLeastQuota) {
  const fs::path folder = fs::path(testing::TempDir()) / "conelab-processors";
  for (const Groups& groups : all) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder / "own") << groups.own;
    for (const auto& [name, text] : groups.files) {
      const fs::path file = folder / "mount" / name;
      fs::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
    EXPECT_EQ(quota_of_processors(folder / "own", folder / "mount"), groups.processors)
        << groups.name;
  }
  fs::remove_all(folder);
  EXPECT_EQ(quota_of_processors(folder / "own", folder / "mount"), INT_MAX) << "no such files";
  EXPECT_GE(usable_processors(), 1);
}

}  // namespace
}  // namespace conelab
