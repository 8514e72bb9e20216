#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>

#include "core/bench/parts.h"
#include "core/files/bench_file.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

using Files = std::span<const fs::path>;
using Cancelled = std::function<bool()>;

// ------------------------------------------------------------------------------ in the child

/// Reads the whole file. Throws a failure if the system cannot read its bytes, which does not mean
/// that its content is damaged.
void read_bytes(const std::string& file) {
  const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) fail("{}: {}", file, std::strerror(errno));
  std::array<char, 65536> bytes{};
  ssize_t got = 0;
  do {
    got = ::read(opened, bytes.data(), bytes.size());
  } while (got > 0 || (got < 0 && errno == EINTR));
  const int why = errno;
  ::close(opened);
  if (got < 0) fail("{}: {}", file, std::strerror(why));
}

/// Throws bad_alloc if there is no memory left. HDF5 reports the same error for a lack of memory as
/// for damage.
void expect_memory() { (void)std::vector<char>(std::size_t{16} << 20); }

/// Returns why a file holds no record of a sample. It is empty if the file holds one.
std::string problem_of(const std::string& file) {
  read_bytes(file);
  try {
    (void)read_part(file);
    if (read_labelled_file(file).changed)
      return file + ": its bytes are not those that were written";
  } catch (const Error& error) {
    expect_memory();
    return error.what();
  }
  return "";
}

std::string problem_within_memory(const std::string& file) {
  try {
    return problem_of(file);
  } catch (const std::bad_alloc&) {
    fail("{}: there is no memory to read it", file);
  }
}

// ----------------------------------------------------------------------------- in the parent

SandboxLimits limits_for(Files files, const Cancelled& cancelled) {
  double bytes = 0, largest = 0;
  for (const fs::path& file : files) {
    std::error_code error;
    const auto size = static_cast<double>(fs::file_size(file, error));
    if (error) continue;  // The child process reports the error.
    bytes += size;
    largest = std::max(largest, size);
  }
  SandboxLimits limits;
  const double extra = static_cast<double>(files.size()) / 20 + 1e-7 * bytes;
  limits.seconds += extra;
  limits.processor_seconds += static_cast<int>(extra);
  limits.memory_bytes += static_cast<std::uint64_t>(largest);
  limits.cancelled = cancelled;
  return limits;
}

/// Adds the problem of each file to `told` as soon as it is known. Throws ReaderCrash if the child
/// process crashes at the next file. `name` is used in messages.
void look_into(const std::string& name, Files files, const Cancelled& cancelled,
               std::vector<std::string>& told) {
  run_sandboxed(
      name, limits_for(files, cancelled),
      [&](ArchiveWriter& writer) {
        for (const fs::path& file : files) {
          std::string problem = problem_within_memory(file.string());
          visit(writer, problem);
        }
      },
      [&](ArchiveReader& reader) {
        for (std::size_t i = 0; i < files.size(); ++i) {
          std::string problem;
          visit(reader, problem);
          told.push_back(std::move(problem));
        }
      });
}

/// Returns the problem of a file at which a child process crashed, from a new child process that
/// has read nothing before.
std::string problem_alone(const fs::path& file, const Cancelled& cancelled) {
  std::vector<std::string> told;
  try {
    look_into(file.string(), {&file, 1}, cancelled, told);
  } catch (const ReaderCrash& crash) {
    return crash.what();
  }
  return told.front();
}

/// Returns the problems of the first files, of one file or more.
std::vector<std::string> first_problems(const std::string& folder, Files files,
                                        const Cancelled& cancelled) {
  std::vector<std::string> told;
  try {
    look_into(folder, files, cancelled, told);
  } catch (const ReaderCrash&) {
    if (told.size() < files.size()) told.push_back(problem_alone(files[told.size()], cancelled));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted || told.size() == files.size()) throw;
    fail("{} (while sealed samples were checked, at {}; none was touched)", error.what(),
         files[told.size()].filename().string());
  }
  return told;
}

}  // namespace

std::map<fs::path, std::string> find_damaged(const std::string& folder,
                                             const std::vector<fs::path>& files,
                                             const Cancelled& cancelled) {
  std::map<fs::path, std::string> damaged;
  for (Files rest(files); !rest.empty();) {
    const std::vector<std::string> problems = first_problems(folder, rest, cancelled);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      if (!problems[i].empty()) damaged[rest[i]] = problems[i];
    }
    rest = rest.subspan(problems.size());
  }
  return damaged;
}

}  // namespace conelab
