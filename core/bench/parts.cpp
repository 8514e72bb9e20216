#include "core/bench/parts.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& output) { return output + ".parts"; }

LabelledVariable scalar(const char* name, double value) {
  return {name, {}, std::vector<double>{value}, "", {}};
}

double number(const LabelledArray& array, const char* name, const std::string& file) {
  const LabelledVariable* v = array.variable(name);
  const auto* values = v == nullptr ? nullptr : std::get_if<std::vector<double>>(&v->data);
  if (values == nullptr || values->size() != 1) fail("{}: no number '{}'", file, name);
  return values->front();
}

RunIdentity read_identity(const std::string& path) {
  RunIdentity identity;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) {
      identity.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return identity;
}

std::string identity_text(const RunIdentity& identity) {
  std::string text;
  for (const auto& [name, value] : identity) text += name + "=" + value + "\n";
  return text;
}

/// The files of a folder whose names begin so.
std::vector<fs::path> files_of(const std::string& folder, const char* beginning) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().native().starts_with(beginning)) files.push_back(entry->path());
  }
  return files;
}

constexpr const char* sealed = "case-";
/// Of the temporary files that become sealed ones, see AtomicFile.
constexpr const char* temporary = ".";

void remove_all_of(const std::string& folder, const char* beginning) {
  std::error_code error;
  for (const fs::path& file : files_of(folder, beginning)) fs::remove(file, error);
}

/// Why each of the files cannot be read, empty where it can: found out in a child, as damaged HDF5
/// can make its library crash. Fails where one does.
std::vector<std::string> problems_of(const std::vector<fs::path>& files) {
  const int seconds = 60 + static_cast<int>(files.size() / 20);
  std::vector<std::string> problems(files.size());
  const auto look = [&](ArchiveWriter& writer) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      try {
        (void)read_labelled(files[i].string(), "sample");
      } catch (const Error& e) {
        problems[i] = e.what();
      }
    }
    visit(writer, problems);
  };
  run_sandboxed(files.front().string(),
                {.seconds = static_cast<double>(seconds), .processor_seconds = seconds}, look,
                [&](ArchiveReader& reader) { visit(reader, problems); });
  return problems;
}

/// Adds the files that cannot be read, and why. Where a child fails, each half has one of its own.
void find_damaged(const std::vector<fs::path>& files, std::map<std::string, std::string>& damaged) {
  try {
    const std::vector<std::string> problems = problems_of(files);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (!problems[i].empty()) damaged[files[i].string()] = problems[i];
    }
  } catch (const Error& e) {
    if (files.size() == 1) {
      damaged[files.front().string()] = e.what();
      return;
    }
    const auto middle = files.begin() + static_cast<std::ptrdiff_t>(files.size() / 2);
    find_damaged({files.begin(), middle}, damaged);
    find_damaged({middle, files.end()}, damaged);
  }
}

std::string value_of(const RunIdentity& identity, const std::string& name) {
  for (const auto& [key, value] : identity) {
    if (key == name) return value;
  }
  return "nothing";
}

}  // namespace

std::string identity_difference(const RunIdentity& before, const RunIdentity& now) {
  std::string text;
  for (const auto& [name, value] : now) {
    const std::string earlier = value_of(before, name);
    if (earlier == value) continue;
    text +=
        fmt::format("{}{} (expected {}, found {})", text.empty() ? "" : ", ", name, earlier, value);
  }
  return text;
}

bool Parts::exist(const std::string& output) {
  std::error_code error;
  const std::string folder = folder_of(output);
  return fs::exists(folder + "/run.txt", error) && !files_of(folder, sealed).empty();
}

Parts::Parts(const std::string& output, const RunIdentity& identity, bool resume)
    : folder_(folder_of(output)) {
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) fail("{}: cannot create the folder of sealed samples: {}", folder_, error.message());
  take_lock();
  try {
    if (exist(output)) {
      check_identity(identity, resume);
      find_damaged(files_of(folder_, sealed), damaged_);
    } else {  // Samples without their run were being discarded: they are in its result.
      remove_all_of(folder_, sealed);
    }
    remove_all_of(folder_, temporary);  // Of a killed run: whoever writes here has the lock.
    write_text_atomically(folder_ + "/run.txt", identity_text(identity));
  } catch (...) {
    close(lock_);
    throw;
  }
}

Parts::~Parts() { close(lock_); }

void Parts::take_lock() {
  const std::string path = folder_ + "/lock";
  lock_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock_ < 0) fail("{}: {}", path, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  close(lock_);
  fail("{}: another process is running this benchmark", folder_);
}

void Parts::check_identity(const RunIdentity& identity, bool resume) const {
  if (!resume) {
    misuse("{}: an unfinished run lies here; continue it with --resume, or remove the folder",
           folder_);
  }
  const std::string difference = identity_difference(read_identity(folder_ + "/run.txt"), identity);
  if (!difference.empty())
    misuse("{}: the unfinished run is another sweep: {}", folder_, difference);
}

std::string Parts::path(int slot, int round) const {
  return fmt::format("{}/case-{:05}-round-{:03}.h5", folder_, slot, round);
}

void Parts::seal(int slot, int round, const PartRecord& r) const {
  LabelledArray array;
  array.variables = {scalar("status", static_cast<double>(r.status)),
                     scalar("flops", r.facts.flops),
                     scalar("bytes", r.facts.bytes),
                     scalar("error", r.facts.error),
                     scalar("warm", r.sample.warm),
                     scalar("cold", r.sample.cold),
                     scalar("runs", r.sample.runs),
                     scalar("peak_flops", r.sample.peak_flops),
                     scalar("peak_bytes", r.sample.peak_bytes),
                     scalar("extra_bytes", r.sample.extra_bytes),
                     scalar("device_bytes", r.sample.device_bytes),
                     scalar("device_clock", r.sample.device_clock),
                     scalar("device_memory_clock", r.sample.device_memory_clock),
                     scalar("device_temperature", r.sample.device_temperature),
                     scalar("device_power", r.sample.device_power),
                     scalar("device_throttle", r.sample.device_throttle),
                     scalar("load", r.machine.load),
                     scalar("clock", r.machine.clock),
                     scalar("temperature", r.machine.temperature)};
  array.attributes.emplace_back("reason", r.reason);
  write_labelled(path(slot, round), {program_version(), {{"sample", array}}, {}});
}

std::optional<PartRecord> Parts::load(int slot, int round) const {
  const std::string file = path(slot, round);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  const auto damaged = damaged_.find(file);
  if (damaged != damaged_.end()) fail("{}", damaged->second);
  const LabelledArray a = read_labelled(file, "sample");
  const auto at = [&](const char* name) { return number(a, name, file); };
  PartRecord r;
  const double status = at("status");
  if (!(status >= 0 && status <= static_cast<double>(CaseStatus::out_of_memory))) {
    fail("{}: status {} (expected 0 to 5)", file, status);
  }
  r.status = static_cast<CaseStatus>(static_cast<int>(status));
  for (const auto& [name, value] : a.attributes) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == "reason" && text != nullptr) r.reason = *text;
  }
  r.facts = {at("flops"), at("bytes"), at("error")};
  r.sample = {at("warm"),
              at("cold"),
              at("runs"),
              at("peak_flops"),
              at("peak_bytes"),
              at("extra_bytes"),
              at("device_bytes"),
              at("device_clock"),
              at("device_memory_clock"),
              at("device_temperature"),
              at("device_power"),
              at("device_throttle")};
  r.machine = {at("load"), at("clock"), at("temperature")};
  return r;
}

void Parts::discard() {
  std::error_code error;
  fs::remove(folder_ + "/run.txt", error);  // first: what a kill leaves is no unfinished run
  fs::remove_all(folder_, error);           // a folder that stays is untidy, but no harm
}

}  // namespace conelab
