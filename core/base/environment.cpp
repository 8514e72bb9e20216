#include "core/base/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <thread>

#include "core/base/parse_number.h"
#include "core/base/sha256.h"
#include "git_hash.h"

namespace conelab {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Returns the value of the first line `KEY ... : VALUE` of a /proc file.
std::string proc_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

double leading_number(const std::string& text) {
  return parse_number(text.substr(0, text.find(' '))).value_or(unknown);
}

double number_in_file(const char* path) {
  std::ifstream file(path);
  std::string word;
  return file >> word ? parse_number(word).value_or(unknown) : unknown;
}

std::string system_name() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : "";
}

std::string cpu_name() {
  const std::string model = proc_value("/proc/cpuinfo", "model name");
  if (!model.empty()) return model;
  utsname name{};
  return uname(&name) == 0 ? name.machine : "";
}

}  // namespace

std::string version() { return CONELAB_VERSION; }

std::string program_version() { return "conelab " + version(); }

std::string program_digest() {
  const char* running = "/proc/self/exe";  // Still the running file if a build has replaced it.
  return access(running, R_OK) == 0 ? sha256_of_file(running).substr(0, 16) : "unknown";
}

std::vector<std::pair<std::string, EnvironmentValue>> environment(const std::string& simd) {
  std::vector<std::pair<std::string, EnvironmentValue>> all;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) all.emplace_back(name, value);
  };
  add("version", version());
  add("git_hash", CONELAB_GIT_HASH);
  add("compiler", CONELAB_COMPILER);
  add("compiler_flags", CONELAB_FLAGS);
  add("cpu", cpu_name());
  add("simd", simd);
  all.emplace_back("cores", static_cast<double>(std::thread::hardware_concurrency()));
  all.emplace_back("memory_bytes", static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                                       static_cast<double>(sysconf(_SC_PAGE_SIZE)));
  add("system", system_name());
  return all;
}

MachineState machine_state() {
  MachineState state{unknown, unknown, unknown};
  double load[1];
  if (getloadavg(load, 1) == 1) state.load = load[0];
  state.clock = 1e6 * leading_number(proc_value("/proc/cpuinfo", "cpu MHz"));
  state.temperature = 1e-3 * number_in_file("/sys/class/thermal/thermal_zone0/temp");
  return state;
}

double available_memory() {
  const double kib = leading_number(proc_value("/proc/meminfo", "MemAvailable"));
  return kib > 0 ? kib * 1024 : 0;
}

}  // namespace conelab
