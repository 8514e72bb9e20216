#include "core/files/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/hdf5.h"

namespace conelab {
namespace {

using Clock = std::chrono::steady_clock;

enum class Frame : std::uint8_t { data = 'D', error = 'E', end = 'O' };

/// Interval at which a wait checks whether it was cancelled.
constexpr int poll_milliseconds = 50;
/// A wait that took longer than this was not caused by the child. The program was suspended
/// (Ctrl-Z).
constexpr double longest_wait = 1;

/// More than any real process maps. Sanitizers reserve terabytes; the limit is not set then.
constexpr std::uint64_t most_mapped = std::uint64_t{1} << 42;

std::uint64_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

void set_limit(int resource, rlim_t value) {
  struct rlimit limit {};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? value : std::min(value, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

// ------------------------------------------------------------------------------ in the child

/// Writes bytes to the pipe. If nobody reads any more, the child ends, as there is nobody to report
/// an error to.
void write_all(int pipe, const void* bytes, std::uint64_t count) {
  const auto* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(pipe, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    next += written;
    count -= static_cast<std::uint64_t>(written);
  }
}

void send_frame(int pipe, Frame frame, const void* bytes, std::uint64_t count) {
  std::array<char, 9> head{};
  head[0] = static_cast<char>(frame);
  std::memcpy(head.data() + 1, &count, 8);
  write_all(pipe, head.data(), head.size());
  write_all(pipe, bytes, count);
}

void send_error(int pipe, ErrorKind kind, const std::string& message) {
  const std::string bytes = static_cast<char>(kind) + message;
  send_frame(pipe, Frame::error, bytes.data(), bytes.size());
}

/// Ignores the signals that a terminal or a service manager sends to the whole process group. The
/// parent reacts to them.
void leave_stopping_to(pid_t parent) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // The parent ended before the call of prctl.
}

void enter_limits(const SandboxLimits& limits) {
  for (const int signal : {SIGPIPE, SIGSEGV, SIGABRT, SIGBUS, SIGXCPU}) ::signal(signal, SIG_DFL);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(limits.processor_seconds));
  const std::uint64_t mapped = mapped_bytes();
  if (mapped < most_mapped) set_limit(RLIMIT_AS, mapped + limits.memory_bytes);
}

[[noreturn]] void run_child(int pipe, const std::string& path, const SandboxLimits& limits,
                            const std::function<void(ArchiveWriter&)>& produce) {
  hdf5::Lock::renew_after_fork();
  enter_limits(limits);
  try {
    ArchiveWriter writer([pipe](const void* bytes, std::uint64_t count) {
      send_frame(pipe, Frame::data, bytes, count);
    });
    produce(writer);
    send_frame(pipe, Frame::end, nullptr, 0);
  } catch (const Error& error) {
    send_error(pipe, error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    send_error(pipe, ErrorKind::failure, path + ": needs more memory than its size explains");
  } catch (const std::exception& error) {
    send_error(pipe, ErrorKind::failure, path + ": cannot be read: " + error.what());
  }
  ::_exit(0);
}

// ----------------------------------------------------------------------------- in the parent

class Child {
 public:
  Child(pid_t process, int pipe, std::string path, const SandboxLimits& limits)
      : process_(process),
        pipe_(pipe),
        path_(std::move(path)),
        cancelled_(limits.cancelled),
        seconds_(limits.seconds) {}
  ~Child() {
    ::close(pipe_);
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      (void)wait();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns the length of the next frame of data. Throws the error that the child sent.
  std::uint64_t next_length() {
    const Frame frame = next_frame();
    if (frame != Frame::data) fail("{}: damaged: its reader stopped early", path_);
    return length_;
  }

  void expect_end() {
    if (next_frame() != Frame::end) fail("{}: damaged: its reader sent too much", path_);
  }

  void receive(void* bytes, std::uint64_t count) {
    auto* next = static_cast<char*>(bytes);
    while (count > 0) {
      wait_for_bytes();
      const ssize_t got = ::read(pipe_, next, count);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail_because_child_ended();
      next += got;
      count -= static_cast<std::uint64_t>(got);
    }
  }

 private:
  Frame next_frame() {
    std::array<char, 9> head{};
    receive(head.data(), head.size());
    std::memcpy(&length_, head.data() + 1, 8);
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    if (length_ > pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE))) {
      fail("{}: damaged: its reader sent nonsense", path_);
    }
    const auto frame = static_cast<Frame>(head[0]);
    if (frame == Frame::error) throw_sent_error();
    return frame;
  }

  [[noreturn]] void throw_sent_error() {
    std::string bytes(length_, '\0');
    receive(bytes.data(), bytes.size());
    const auto kind = static_cast<unsigned char>(bytes.empty() ? 1 : bytes[0]);
    throw Error(static_cast<ErrorKind>(kind), bytes.substr(std::min<std::size_t>(1, bytes.size())));
  }

  void wait_for_bytes() {
    while (true) {
      stop_if(cancelled_);
      if (waited_ >= seconds_) {
        fail("{}: reading did not end within {:.0f} s (damaged?)", path_, seconds_);
      }
      const Clock::time_point start = Clock::now();
      pollfd entry{pipe_, POLLIN, 0};
      const int ready = ::poll(&entry, 1, poll_milliseconds);
      const std::chrono::duration<double> wait = Clock::now() - start;
      waited_ += std::min(wait.count(), longest_wait);
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) fail("{}: poll: {}", path_, std::strerror(errno));
    }
  }

  [[nodiscard]] int wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

  [[noreturn]] void fail_because_child_ended() {
    const int status = wait();
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGKILL) fail("{}: its reader was killed (is memory short?)", path_);
    throw ReaderCrash(path_ + ": " + why_ended(status, signal));
  }

  static std::string why_ended(int status, int signal) {
    if (signal == SIGXCPU) return "reading took too much processor time (damaged?)";
    if (signal == 0) {
      return fmt::format("damaged: its reader ended early (exit {})", WEXITSTATUS(status));
    }
    return fmt::format("damaged: it makes the HDF5 library crash ({})", ::strsignal(signal));
  }

  pid_t process_;
  int pipe_;
  std::string path_;
  std::function<bool()> cancelled_;
  double seconds_;
  double waited_ = 0;
  std::uint64_t length_ = 0;
};

struct Started {
  pid_t process;
  int pipe;  ///< The end to read from.
};

/// Forks the child. The pipe is created, and its writing end closed here, under the lock. Otherwise
/// a child that another thread starts at the same time would inherit that end and keep the pipe
/// open after the end of this child.
Started start_child(const std::string& path, const SandboxLimits& limits,
                    const std::function<void(ArchiveWriter&)>& produce) {
  Sha256::prepare();
  const hdf5::Lock lock;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("{}: pipe: {}", path, std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    leave_stopping_to(parent);
    ::close(ends[0]);
    run_child(ends[1], path, limits, produce);
  }
  const std::string why = std::strerror(errno);
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    fail("{}: fork: {}", path, why);
  }
  return {process, ends[0]};
}

}  // namespace

SandboxLimits SandboxLimits::scaled_to(std::uint64_t file_bytes) const {
  SandboxLimits limits = *this;
  const double extra = 1e-7 * static_cast<double>(file_bytes);
  limits.seconds += extra;
  limits.processor_seconds += static_cast<int>(std::ceil(extra));
  return limits;
}

void allow_more_memory(std::uint64_t bytes) {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  set_limit(RLIMIT_AS, limit.rlim_cur + bytes);
}

void run_sandboxed(const std::string& path, const SandboxLimits& given,
                   const std::function<void(ArchiveWriter&)>& produce,
                   const std::function<void(ArchiveReader&)>& consume) {
  struct stat status {};
  const bool known = ::stat(path.c_str(), &status) == 0;
  const SandboxLimits limits =
      given.scaled_to(known ? static_cast<std::uint64_t>(status.st_size) : 0);
  const Started started = start_child(path, limits, produce);
  Child child(started.process, started.pipe, path, limits);
  ArchiveReader reader([&] { return child.next_length(); },
                       [&](void* bytes, std::uint64_t count) { child.receive(bytes, count); });
  consume(reader);
  child.expect_end();
}

template <class Archive>
void visit(Archive& archive, Shape4& s) {
  visit_all(archive, s.batch, s.head, s.token, s.feature);
}

template <class Archive>
void visit(Archive& archive, InputTensor& tensor) {
  visit_all(archive, tensor.name, tensor.dtype, tensor.extents, tensor.nan_count,
            tensor.infinite_count);
}

template <class Archive>
void visit(Archive& archive, Input& input) {
  visit_all(archive, input.path, input.group, input.query, input.key, input.value,
            input.output_grad, input.weights, input.query_token, input.key_token, input.mask,
            input.mask_sizes, input.mask_left_out, input.bias_left_out, input.model, input.text,
            input.remark, input.sha256, input.layer, input.all_queries, input.all_keys,
            input.parameters, input.attributes);
}

template <class Archive>
void visit(Archive& archive, LabelledAxis& axis) {
  visit_all(archive, axis.name, axis.labels, axis.units);
}

template <class Archive>
void visit(Archive& archive, LabelledVariable& variable) {
  visit_all(archive, variable.name, variable.axes, variable.data, variable.units,
            variable.attributes);
}

template <class Archive>
void visit(Archive& archive, LabelledArray& array) {
  visit_all(archive, array.axes, array.variables, array.signal, array.attributes);
}

template <class Archive>
void visit(Archive& archive, LabelledFile& file) {
  visit_all(archive, file.creator, file.groups, file.attributes, file.changed);
}

namespace {

std::vector<InputTensor*> tensors_of(Input& input) {
  std::vector<InputTensor*> list;
  if (!input.weights) list.push_back(&input.query);
  for (std::optional<InputTensor>* tensor :
       {&input.key, &input.value, &input.output_grad, &input.weights}) {
    if (*tensor) list.push_back(&**tensor);
  }
  for (auto& [name, tensor] : input.parameters) list.push_back(&tensor);
  return list;
}

using Numbers = decltype(InputTensor::numbers);

void produce_input(ArchiveWriter& writer, const std::string& spec, InputOptions options) {
  bool more = true;
  options.before_allocation = allow_more_memory;
  options.tensor_read = [&](InputTensor& tensor) {
    visit(writer, more);
    visit(writer, tensor.name);
    visit(writer, tensor.numbers);
    tensor.numbers = Numbers();
  };
  Input input = read_input(spec, options);
  more = false;
  visit(writer, more);
  visit(writer, input);
}

}  // namespace

void receive_input(ArchiveReader& reader, Input& input) {
  std::multimap<std::string, Numbers> numbers;
  for (bool more = true; visit(reader, more), more;) {
    std::string name;
    visit(reader, name);
    visit(reader, numbers.emplace(name, Numbers())->second);
  }
  visit(reader, input);
  for (InputTensor* tensor : tensors_of(input)) {
    if (tensor->name.empty()) continue;  // Only its sizes were wanted (InputOptions::numbers).
    const auto found = numbers.find(tensor->name);
    if (found == numbers.end()) fail("{}: damaged: its reader lost a tensor", input.path);
    tensor->numbers = std::move(found->second);
    numbers.erase(found);
  }
}

Input read_input_sandboxed(const std::string& spec, const InputOptions& options,
                           const SandboxLimits& limits) {
  const InputSpec parsed = parse_input_spec(spec.empty() ? options.query : spec);
  if (parsed.path.empty() || detect_format(parsed.path) != FileFormat::hdf5) {
    InputOptions here = options;
    here.cancelled = limits.cancelled;
    return read_input(spec, here);
  }
  Input input;
  run_sandboxed(
      parsed.path, limits, [&](ArchiveWriter& writer) { produce_input(writer, spec, options); },
      [&](ArchiveReader& reader) { receive_input(reader, input); });
  return input;
}

LabelledArray read_labelled_sandboxed(const std::string& path, const std::string& group,
                                      const SandboxLimits& limits) {
  return read_sandboxed<LabelledArray>(path, limits, [&] { return read_labelled(path, group); });
}

std::optional<LabelledArray> find_labelled_sandboxed(const std::string& path,
                                                     const std::string& group,
                                                     const SandboxLimits& limits) {
  return read_sandboxed<std::optional<LabelledArray>>(path, limits,
                                                      [&] { return find_labelled(path, group); });
}

LabelledFile read_labelled_file_sandboxed(const std::string& path, const SandboxLimits& limits) {
  return read_sandboxed<LabelledFile>(path, limits, [&] { return read_labelled_file(path); });
}

}  // namespace conelab
