#include "core/bench/parts.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "core/files/bench_file.h"
#include "core/files/replaceable.h"

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

/// Returns an array of one number. HDF5 stores no checksum of single numbers.
LabelledVariable one_number(const char* name, double value) {
  return {name, {"index"}, std::vector<double>{value}, "", {}};
}

double number(const LabelledArray& array, const char* name, const std::string& file) {
  const LabelledVariable* v = array.variable(name);
  const auto* values = v == nullptr ? nullptr : std::get_if<std::vector<double>>(&v->data);
  if (values == nullptr || values->size() != 1) fail("{}: no number '{}'", file, name);
  return values->front();
}

}  // namespace

void write_part(const std::string& file, const PartRecord& r) {
  LabelledArray array;
  array.axes = {{"index", std::vector<std::int64_t>{0}, ""}};
  array.variables = {one_number("status", static_cast<double>(r.status))};
  each_number(r, [&](const char* name, double value) {
    array.variables.push_back(one_number(name, value));
  });
  array.attributes.emplace_back("reason", r.reason);
  write_labelled(file, {program_version(), {{"sample", array}}, {}, {}});
}

PartRecord read_part(const std::string& file) {
  const LabelledArray a = read_labelled(file, "sample");
  PartRecord r;
  const double status = number(a, "status", file);
  if (!(status >= 0 && status <= static_cast<double>(CaseStatus::out_of_memory))) {
    fail("{}: status {} (expected 0 to 5)", file, status);
  }
  r.status = static_cast<CaseStatus>(static_cast<int>(status));
  for (const auto& [name, value] : a.attributes) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == "reason" && text != nullptr) r.reason = *text;
  }
  each_number(r, [&](const char* name, double& value) { value = number(a, name, file); });
  return r;
}

// ---- the folder ---------------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& output) { return output + ".parts"; }

RunIdentity read_identity(const std::string& path) {
  RunIdentity identity;
  std::ifstream file(path);
  if (!file) fail("{}: {}", path, std::strerror(errno));
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

/// Names of the files of samples ("sealed" files), and of those that were renamed because they are
/// damaged.
constexpr const char* sealed = "case-";
constexpr const char* sealed_ending = ".h5";
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

const std::string nothing = "nothing";

std::string value_of(const RunIdentity& identity, const std::string& name) {
  for (const auto& [key, value] : identity) {
    if (key == name) return value;
  }
  return nothing;
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
  return read_identity(folder_of(output) + "/run.txt");
}

void Parts::clear_finished(const std::string& output) {
  std::error_code error;
  if (!fs::exists(folder_of(output), error) || exist(output)) return;
  try {
    Parts(output, {}, true, {}).discard();
  } catch (const Error&) {  // Files that remain do no harm.
  }
}

Parts::Parts(const std::string& output, const RunIdentity& identity, bool resume,
             const std::function<bool()>& cancelled)
    : folder_(folder_of(output)) {
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) fail("{}: cannot create the folder of sealed samples: {}", folder_, error.message());
  take_lock();
  try {
    if (holds_run(folder_)) {
      check_identity(identity, resume);
      rename_damaged(cancelled);
    } else {  // Samples without a run were being removed; a result contains them.
      remove_all_of(folder_, sealed);
    }
    // Temporary files belong to a killed run, as the lock excludes another writer.
    remove_all_of(folder_, temporary);
    write_text_atomically(folder_ + "/run.txt", identity_text(identity));
  } catch (...) {
    close(lock_);
    throw;
  }
}

Parts::~Parts() {
  try {
    // A run that measured nothing leaves no folder.
    if (!discarded_ && !holds_run(folder_)) discard();
  } catch (const Error&) {  // Files that remain do no harm.
  }
  close(lock_);
}

void Parts::take_lock() {
  const std::string path = folder_ + "/lock";
  lock_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock_ < 0) fail("{}: {}", path, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  close(lock_);
  fail("{}: another process is running this benchmark", folder_);
}

void Parts::check_identity(const RunIdentity& identity, bool resume) {
  if (!resume) {
    misuse("{}: an unfinished run lies here; continue it with --resume, or remove the folder",
           folder_);
  }
  RunIdentity before = read_identity(folder_ + "/run.txt");
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
  std::map<fs::path, std::string> damaged;
  try {
    damaged = find_damaged(folder_, sealed_files(folder_), cancelled);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(error.kind(), folder_ + ": interrupted; continue with --resume");
  }
  for (const auto& [file, why] : damaged) {
    std::error_code error;
    fs::rename(file, file.string() + damaged_ending, error);
    if (error) fail("{}; it cannot be renamed: {}", why, error.message());
    damaged_.push_back(why);
  }
}

std::string Parts::path(int series, int round) const {
  return fmt::format("{}/case-{:05}-round-{:03}.h5", folder_, series, round);
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

/// Returns a list of texts among the attributes of a group. It is empty if the group has none.
std::vector<std::string> texts_of(const LabelledArray& group, const std::string& name) {
  for (const auto& [key, value] : group.attributes) {
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    if (key == name && list != nullptr) return *list;
  }
  return {};
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
  check_replaceable_result(output, "bench", "bench");
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
  if (std::none_of(items.begin(), items.end(), says)) {
    items.emplace_back("controls", std::to_string(Sweep().controls));
  }
  return items;
}

}  // namespace conelab
