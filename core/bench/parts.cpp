#include "core/bench/parts.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/sha256.h"
#include "core/files/atomic_file.h"
#include "core/files/bench_file.h"
#include "core/files/sandbox.h"

namespace conelab {

// ---- one part -----------------------------------------------------------------------------------

namespace {

/// Calls f(name, number) for every number of a record except its status, in a fixed order.
template <class Record, class F>
void each_number(Record& r, const F& f) {
  each_fact(r.facts, f);
  each_measurement(r.sample, f);
  f("bandwidth", r.sample.bandwidth);
  f("load", r.machine.load);
  f("clock", r.machine.clock);
  f("temperature", r.machine.temperature);
}

std::string read_text(const std::string& path) {
  std::ostringstream text;
  const std::ifstream file(path, std::ios::binary);
  if (file) text << file.rdbuf();
  if (!file) fail("{}: {}", path, std::strerror(errno));
  return text.str();
}

std::string identity_text(const RunIdentity& identity) {
  std::string text;
  for (const auto& [name, value] : identity) text += name + "=" + value + "\n";
  return text;
}

RunIdentity identity_of_text(const std::string& text) {
  RunIdentity identity;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) {
      identity.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return identity;
}

/// Returns the last line of a part, which seals the text before it.
std::string seal_of(const std::string& text) { return "sha256=" + sha256(text) + "\n"; }

const std::string nothing = "nothing";

std::string value_of(const RunIdentity& identity, const std::string& name) {
  for (const auto& [key, value] : identity) {
    if (key == name) return value;
  }
  return nothing;
}

}  // namespace

void write_part(const std::string& file, const PartRecord& r) {
  std::string reason = r.reason;
  std::ranges::replace(reason, '\n', ' ');
  RunIdentity items = {{"status", std::to_string(static_cast<int>(r.status))}, {"reason", reason}};
  each_number(r, [&](const char* name, double value) {
    items.emplace_back(name, fmt::format("{}", value));
  });
  const std::string text = identity_text(items);
  write_text_atomically(file, text + seal_of(text));
}

std::optional<PartRecord> read_part(const std::string& file) {
  std::string text = read_text(file);
  const std::size_t seal = text.rfind("sha256=");
  if (seal == std::string::npos || text.substr(seal) != seal_of(text.substr(0, seal))) return {};
  const RunIdentity items = identity_of_text(text.substr(0, seal));
  PartRecord r;
  r.status = static_cast<CaseStatus>(parse_integer(value_of(items, "status")).value_or(0));
  r.reason = value_of(items, "reason");
  each_number(r, [&](const char* name, double& value) {
    value = parse_number(value_of(items, name)).value_or(std::nan(""));
  });
  return r;
}

// ---- the folder ---------------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& output) { return output + ".parts"; }

/// Names of the files of samples ("sealed" files), and of those that were renamed because they are
/// damaged.
constexpr const char* sealed = "case-";
constexpr const char* sealed_ending = ".txt";
constexpr const char* damaged_ending = ".damaged";
/// Beginning of the names of temporary files, see AtomicFile.
constexpr const char* temporary = ".";

/// Returns the files of a folder whose names begin like this. Throws a failure if the folder cannot
/// be listed: with an incomplete list, a run would seem to have no samples.
std::vector<fs::path> files_of(const std::string& folder, const char* beginning) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().native().starts_with(beginning)) files.push_back(entry->path());
  }
  if (error) fail("{}: {}", folder, error.message());
  return files;
}

std::vector<fs::path> sealed_files(const std::string& folder) {
  std::vector<fs::path> files = files_of(folder, sealed);
  std::erase_if(files, [](const fs::path& file) { return file.extension() != sealed_ending; });
  std::ranges::sort(files);
  return files;
}

/// Returns whether the file exists. Throws a failure if the system cannot tell.
bool is_there(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::none) fail("{}: {}", file, error.message());
  return fs::exists(status);
}

/// Returns whether a run was begun in the folder and has stored a sample. Throws a failure if the
/// system cannot tell.
bool holds_run(const std::string& folder) {
  return is_there(folder + "/run.txt") && !files_of(folder, sealed).empty();
}

void remove_all_of(const std::string& folder, const char* beginning) {
  std::error_code error;
  for (const fs::path& file : files_of(folder, beginning)) fs::remove(file, error);
}

/// Throws misuse if a folder without a run holds files of somebody else, which would be lost.
void check_own_files(const std::string& folder) {
  for (const fs::path& file : files_of(folder, "")) {
    const std::string name = file.filename();
    const bool own = name.starts_with(sealed) || name.starts_with(temporary) || name == "run.txt" ||
                     name == "lock";
    if (!own) {
      misuse("{}: holds '{}', which is no sample of a benchmark; move it, or give another name",
             folder, name);
    }
  }
}

/// Returns whether the item of an identity describes the program or the machine, and not the sweep.
bool tells_machine(const std::pair<std::string, std::string>& item) {
  const auto is = [&](const char* name) { return item.first == name; };
  return is("version") || is("git_hash") || is("program") || is("cpu") || is("simd") ||
         item.first.starts_with("peer ") || item.first.starts_with("device ");
}

}  // namespace

std::string identity_difference(const RunIdentity& before, const RunIdentity& now) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& earlier,
                       const std::string& value) {
    // The time limit may grow when a run is resumed.
    if (earlier == value || name == "time_limit") return;
    text +=
        fmt::format("{}{} (expected {}, found {})", text.empty() ? "" : ", ", name, earlier, value);
  };
  for (const auto& [name, value] : now) add(name, value_of(before, name), value);
  for (const auto& [name, value] : before) {
    if (value_of(now, name) == nothing) add(name, value, nothing);
  }
  return text;
}

bool Parts::exist(const std::string& output) {
  try {
    return holds_run(folder_of(output));
  } catch (const Error&) {
    return true;
  }
}

bool Parts::begun(const std::string& output) {
  try {
    return is_there(folder_of(output) + "/run.txt");
  } catch (const Error&) {
    return true;
  }
}

void Parts::check_finished(const std::string& result) {
  std::error_code ignored;
  if (fs::exists(result, ignored) || !exist(result)) return;
  fail("{}: its run is unfinished; continue it with: conelab bench --resume {}", result, result);
}

RunIdentity Parts::identity(const std::string& output) {
  return identity_of_text(read_text(folder_of(output) + "/run.txt"));
}

void Parts::clear_finished(const std::string& output) {
  std::error_code error;
  if (!fs::exists(folder_of(output), error) || exist(output)) return;
  try {
    Parts(output, {}, true, {}).discard();
  } catch (const Error&) {  // Files that remain do no harm.
  }
}

namespace {

std::string made_folder(const std::string& output) {
  std::error_code error;
  fs::create_directory(folder_of(output), error);
  if (error) {
    fail("{}: cannot create the folder of sealed samples: {}", folder_of(output), error.message());
  }
  return folder_of(output);
}

}  // namespace

Parts::Parts(const std::string& output, const RunIdentity& identity, bool resume,
             const std::function<bool()>& cancelled)
    : folder_(made_folder(output)), lock_(folder_, "another process is running this benchmark") {
  if (holds_run(folder_)) {
    check_identity(identity, resume);
    rename_damaged(cancelled);
  } else {  // Samples without a run were being removed; a result contains them.
    check_own_files(folder_);
    remove_all_of(folder_, sealed);
  }
  // Temporary files belong to a killed run, as the lock excludes another writer.
  remove_all_of(folder_, temporary);
  write_text_atomically(folder_ + "/run.txt", identity_text(identity));
}

Parts::~Parts() {
  try {
    // A run that measured nothing leaves no folder.
    if (!discarded_ && !holds_run(folder_)) discard();
  } catch (const Error&) {  // Files that remain do no harm.
  }
}

void Parts::check_identity(const RunIdentity& identity, bool resume) {
  if (!resume) {
    misuse("{}: an unfinished run lies here; continue it with --resume, or remove the folder",
           folder_);
  }
  RunIdentity before = identity_of_text(read_text(folder_ + "/run.txt"));
  earlier_limit_ = sweep_of_items(before).time_limit;
  const std::string difference = identity_difference(before, identity);
  if (difference.empty()) return;
  RunIdentity now = identity;
  std::erase_if(before, tells_machine);
  std::erase_if(now, tells_machine);
  if (!identity_difference(before, now).empty()) {
    misuse("{}: the unfinished run is another sweep: {}", folder_, difference);
  }
  misuse(
      "{}: the unfinished run is of another program or machine, its samples cannot stand beside "
      "new ones: {}; begin anew with another -o, or remove the folder",
      folder_, difference);
}

void Parts::rename_damaged(const std::function<bool()>& cancelled) {
  for (const fs::path& file : sealed_files(folder_)) {
    if (cancelled && cancelled()) {
      throw Error(ErrorKind::interrupted, folder_ + ": interrupted; continue with --resume");
    }
    if (read_part(file.string())) continue;
    const std::string why = file.string() + ": its bytes are not those that were written";
    std::error_code error;
    fs::rename(file, file.string() + damaged_ending, error);
    if (error) fail("{}; it cannot be renamed: {}", why, error.message());
    damaged_.push_back(why);
  }
}

std::string Parts::path(int series, int round) const {
  return fmt::format("{}/case-{:05}-round-{:03}.txt", folder_, series, round);
}

void Parts::seal(int series, int round, const PartRecord& record) const {
  write_part(path(series, round), record);
}

std::optional<PartRecord> Parts::load(int series, int round) const {
  const std::string file = path(series, round);
  if (!is_there(file)) return std::nullopt;
  return read_part(file);
}

void Parts::discard() {
  discarded_ = true;
  std::error_code error;
  // This file goes first, so that what a killed program leaves is not an unfinished run. A folder
  // that remains does no harm.
  fs::remove(folder_ + "/run.txt", error);
  fs::remove_all(folder_, error);
}

// ---- what is stored of a run --------------------------------------------------------------------

namespace {

std::vector<std::string> texts_of(const LabelledArray& group, const std::string& name) {
  return attribute_or_empty<std::vector<std::string>>(group.attributes, name);
}

std::vector<std::string> peers_of(const RunIdentity& identity) {
  std::vector<std::string> peers;
  for (const auto& [name, value] : identity) {
    if (name.starts_with("peer ")) peers.push_back(value);
  }
  return peers;
}

Sweep sweep_of(const RunIdentity& items, const std::string& output) {
  try {
    return sweep_of_items(items);
  } catch (const Error& error) {
    misuse("{}: its run is of no sweep: {}", output, error.what());
  }
}

}  // namespace

std::optional<StoredRun> stored_run(const std::string& output, const SandboxLimits& limits) {
  const bool finished = result_exists(output);
  if (Parts::begun(output)) {
    const RunIdentity identity = Parts::identity(output);
    return StoredRun{sweep_of(identity, output), peers_of(identity)};
  }
  if (!finished) return std::nullopt;
  return StoredRun{sweep_of(items_of_result(output, limits), output),
                   texts_of(read_labelled_sandboxed(output, "bench/environment", limits), "peers")};
}

bool result_exists(const std::string& output) {
  check_replaceable_result(output, "bench");
  std::error_code error;
  const auto size = std::filesystem::file_size(output, error);
  return !error && size > 0;
}

RunIdentity items_of_result(const std::string& path, const SandboxLimits& limits) {
  RunIdentity items;
  const LabelledArray runtime = read_labelled_sandboxed(path, "bench/runtime", limits);
  for (const std::string& line : texts_of(runtime, "sweep")) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    items.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  // Older results have no item for the number of controls.
  const auto says = [](const auto& item) { return item.first == "controls"; };
  if (std::ranges::none_of(items, says)) {
    items.emplace_back("controls", std::to_string(Sweep().controls));
  }
  return items;
}

}  // namespace conelab
