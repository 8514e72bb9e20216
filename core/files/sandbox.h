// Reads files of unknown origin in a child process.
//
// Damaged HDF5 can make its library crash, hang or ask for all memory. A child process with limits
// on memory, processor time and wall time reads the file and sends plain arrays through a pipe. If
// it fails, the error is one line: `FILE: damaged: the reader crashed (...)`.
//
// Ctrl-C in a terminal reaches the child as well as the parent. The child ignores it, and the
// parent decides. If the parent ends, the kernel ends the child.
//
// The child is forked without exec and uses only HDF5, zlib and memory. The lock of HDF5 is held
// during the fork, so that programs with other threads may call this as well; it is safest to fork
// before starting threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"

namespace conelab {

// Sends plain structs through a pipe, in frames of tag, length and bytes.
//
// One function `visit(archive, value)` for each struct serves both directions: a writer sends the
// value and a reader fills it. It stands in the namespace of the struct, where the functions below
// find it by the type of its argument. The writing side may move from the value, as the function
// for maps does: what was sent is not to be used again. Both ends are the same program, so that the
// byte order is the machine's.

/// Sends values. `send` receives the bytes of one frame.
class ArchiveWriter {
 public:
  using Send = std::function<void(const void* bytes, std::uint64_t count)>;
  explicit ArchiveWriter(Send send) : send_(std::move(send)) {}
  static constexpr bool reads = false;

  template <class Number>
  void numbers(std::vector<Number>& list) {
    send_(list.data(), list.size() * sizeof(Number));
  }
  void bytes(std::string& text) { send_(text.data(), text.size()); }

 private:
  Send send_;
};

/// Fills values. `length` returns the length of the next frame, and `receive` reads its bytes.
class ArchiveReader {
 public:
  using Length = std::function<std::uint64_t()>;
  using Receive = std::function<void(void* bytes, std::uint64_t count)>;
  ArchiveReader(Length length, Receive receive)
      : length_(std::move(length)), receive_(std::move(receive)) {}
  static constexpr bool reads = true;

  template <class Number>
  void numbers(std::vector<Number>& list) {
    const std::uint64_t count = length_();
    list.resize(count / sizeof(Number));
    receive_(list.data(), list.size() * sizeof(Number));
  }
  void bytes(std::string& text) {
    text.resize(length_());
    receive_(text.data(), text.size());
  }

 private:
  Length length_;
  Receive receive_;
};

template <class Archive>
void visit(Archive& archive, std::string& text) {
  archive.bytes(text);
}

/// Numbers, booleans and enumerations.
template <class Archive, class Number>
requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
void visit(Archive& archive, Number& number) {
  std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
  archive.bytes(bytes);
  if (bytes.size() != sizeof number) return;
  if constexpr (std::is_same_v<Number, bool>) {
    number = bytes.front() != 0;  // Other bytes than 0 and 1 are no value of the type.
  } else {
    std::memcpy(&number, bytes.data(), sizeof number);
  }
}

template <class Archive, class Item>
void visit(Archive& archive, std::vector<Item>& list) {
  if constexpr (std::is_arithmetic_v<Item>) {
    archive.numbers(list);
  } else {
    std::uint64_t count = list.size();
    visit(archive, count);
    if constexpr (Archive::reads) list.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      if constexpr (Archive::reads) list.emplace_back();
      visit(archive, list[i]);
    }
  }
}

template <class Archive, class First, class Second>
void visit(Archive& archive, std::pair<First, Second>& pair) {
  visit(archive, pair.first);
  visit(archive, pair.second);
}

template <class Archive, class Item>
void visit(Archive& archive, std::optional<Item>& item) {
  bool present = item.has_value();
  visit(archive, present);
  if constexpr (Archive::reads) item = present ? std::optional<Item>(Item{}) : std::nullopt;
  if (present) visit(archive, *item);
}

template <class Archive, class Value>
void visit(Archive& archive, std::map<std::string, Value>& map) {
  std::vector<std::pair<std::string, Value>> list(std::make_move_iterator(map.begin()),
                                                  std::make_move_iterator(map.end()));
  visit(archive, list);
  if constexpr (Archive::reads) map = {list.begin(), list.end()};
}

/// The alternatives must be different types.
template <class Archive, class... Alternatives>
void visit(Archive& archive, std::variant<Alternatives...>& variant) {
  std::uint64_t index = variant.index();
  visit(archive, index);
  if constexpr (Archive::reads) {
    std::uint64_t i = 0;
    ((i++ == index ? void(variant.template emplace<Alternatives>()) : void()), ...);
  }
  std::visit([&](auto& value) { visit(archive, value); }, variant);
}

/// Visits several values in their order.
template <class Archive, class... Values>
void visit_all(Archive& archive, Values&... values) {
  (visit(archive, values), ...);
}

/// The only failure of a reading child that is evidence of a damaged file: the child crashed, or
/// took more processor time than any file needs. Other failures of `run_sandboxed` (no process, no
/// memory, a disk that does not answer) concern the machine.
class ReaderCrash : public Error {
 public:
  explicit ReaderCrash(const std::string& message) : Error(ErrorKind::failure, message) {}
};

/// The limits of a reading child. The times are for a small file; `scaled_to` adds to both for
/// larger ones. The processor limit is smaller than the wall limit: a child that loops reaches the
/// former, even on a busy machine, and one that waits for a disk reaches the latter.
struct SandboxLimits {
  /// Memory in addition to that of the process at the fork. Declared arrays are added after they
  /// are checked.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  double seconds = 10;        ///< Wall time.
  int processor_seconds = 5;  ///< Processor time.
  /// Polled while waiting. If it returns true, the child is ended and interrupted is thrown.
  std::function<bool()> cancelled = {};

  /// Returns the same limits with 0.1 s more for each MB of a file of `file_bytes`.
  [[nodiscard]] SandboxLimits scaled_to(std::uint64_t file_bytes) const;
};

/// Raises the memory limit of a child by `bytes`. It serves as `before_allocation`.
void allow_more_memory(std::uint64_t bytes);

/// Runs `produce` in a child and `consume` here on what it sends. An Error that `produce` throws is
/// thrown here; a crash, a limit or a hang throws a failure `PATH: ...`, where `path` is the file
/// that is read. Threads may call this at the same time.
void run_sandboxed(const std::string& path, const SandboxLimits& limits,
                   const std::function<void(ArchiveWriter&)>& produce,
                   const std::function<void(ArchiveReader&)>& consume);

/// Returns what `read` returns in a child process.
template <class Value>
[[nodiscard]] Value read_sandboxed(const std::string& path, const SandboxLimits& limits,
                                   const std::function<Value()>& read) {
  Value value;
  run_sandboxed(
      path, limits,
      [&](ArchiveWriter& writer) {
        value = read();
        visit(writer, value);
      },
      [&](ArchiveReader& reader) { visit(reader, value); });
  return value;
}

/// Receives an input as the child of read_input_sandboxed sends it. Throws a failure if tensors are
/// missing.
void receive_input(ArchiveReader& reader, Input& input);

/// Does read_input in a child for HDF5, and in this process for the other formats, whose readers
/// belong to this program and poll `limits.cancelled` as well.
[[nodiscard]] Input read_input_sandboxed(const std::string& spec, const InputOptions& options = {},
                                         const SandboxLimits& limits = {});

/// Do read_labelled, find_labelled and read_labelled_file in a child.
[[nodiscard]] LabelledArray read_labelled_sandboxed(const std::string& path,
                                                    const std::string& group,
                                                    const SandboxLimits& limits = {});
[[nodiscard]] std::optional<LabelledArray> find_labelled_sandboxed(
    const std::string& path, const std::string& group, const SandboxLimits& limits = {});
[[nodiscard]] LabelledFile read_labelled_file_sandboxed(const std::string& path,
                                                        const SandboxLimits& limits = {});

}  // namespace conelab
