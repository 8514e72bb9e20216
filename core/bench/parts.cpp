#include "core/bench/parts.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/files/atomic_file.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

LabelledVariable scalar(const char* name, double value) {
  return {name, {}, std::vector<double>{value}, "", {}};
}

double number(const LabelledArray& array, const char* name) {
  const LabelledVariable* v = array.variable(name);
  if (v == nullptr) fail("a sealed sample lacks '{}'", name);
  return std::get<std::vector<double>>(v->data).at(0);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Parts::Parts(const std::string& output, const Sweep& sweep, bool resume)
    : folder_(output + ".parts") {
  std::error_code error;
  const bool existed = fs::exists(folder_, error);
  if (!existed && !fs::create_directory(folder_, error)) {
    fail("{}: cannot create the folder of sealed samples: {}", folder_, error.message());
  }
  take_lock();
  if (existed) {
    check_sweep_text(sweep.text(), resume);
  }
  write_text_atomically(folder_ + "/sweep.txt", sweep.text() + "\n");
}

Parts::~Parts() {
  if (lock_ >= 0) close(lock_);
}

void Parts::take_lock() {
  const std::string path = folder_ + "/lock";
  lock_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock_ < 0) fail("{}: {}", path, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    fail("{}: another process is running this benchmark", folder_);
  }
}

void Parts::check_sweep_text(const std::string& text, bool resume) const {
  const std::string before = read_text(folder_ + "/sweep.txt");
  if (before.empty()) return;  // killed before it wrote anything
  if (!resume) {
    misuse("{}: an unfinished run lies here; continue it with --resume or remove the folder",
           folder_);
  }
  if (before != text + "\n") {
    misuse("{}: the unfinished run is another sweep (expected {}, found {})", folder_, text,
           before.substr(0, before.size() - 1));
  }
}

std::string Parts::path(int index, int round) const {
  return fmt::format("{}/case-{:05}-round-{:03}.h5", folder_, index, round);
}

void Parts::seal(int index, int round, const PartRecord& r) const {
  LabelledArray array;
  array.variables = {scalar("status", static_cast<double>(r.status)),
                     scalar("flops", r.facts.flops),
                     scalar("bytes", r.facts.bytes),
                     scalar("error", r.facts.error),
                     scalar("warm", r.sample.warm),
                     scalar("cold", r.sample.cold),
                     scalar("peak_flops", r.sample.peak_flops),
                     scalar("peak_bytes", r.sample.peak_bytes),
                     scalar("extra_bytes", r.sample.extra_bytes),
                     scalar("load", r.machine.load),
                     scalar("clock", r.machine.clock),
                     scalar("temperature", r.machine.temperature)};
  array.attributes.emplace_back("reason", r.reason);
  write_labelled(path(index, round), {program_version(), {{"sample", array}}, {}});
}

std::optional<PartRecord> Parts::load(int index, int round) const {
  const std::string file = path(index, round);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  const LabelledArray a = read_labelled(file, "sample");
  PartRecord r;
  r.status = static_cast<CaseStatus>(static_cast<int>(number(a, "status")));
  for (const auto& [name, value] : a.attributes) {
    if (name == "reason") r.reason = std::get<std::string>(value);
  }
  r.facts = {number(a, "flops"), number(a, "bytes"), number(a, "error")};
  r.sample = {number(a, "warm"), number(a, "cold"), number(a, "peak_flops"),
              number(a, "peak_bytes"), number(a, "extra_bytes")};
  r.machine = {number(a, "load"), number(a, "clock"), number(a, "temperature")};
  return r;
}

void Parts::discard() {
  std::error_code error;
  fs::remove_all(folder_, error);  // a folder that stays is only untidy
}

}  // namespace conelab
