#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/files/inspect.h"
#include "core/files/read_tensors.h"
#include "core/files/sandbox.h"
#include "tests/fuzz/targets.h"

namespace conelab::fuzz {
namespace {

/// A file in memory, of which each input is the content.
const std::string& file_of(std::string_view bytes) {
  static const int descriptor = ::memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const bool written =
      ::ftruncate(descriptor, 0) == 0 &&
      ::pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  if (!written) std::abort();
  return path;
}

/// An Error is an answer; anything else that is thrown ends the fuzzer.
void attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error&) {
  }
}

/// Reads the bytes as a file of the format that the target is about, in every way.
void read_file(FileFormat format, std::string_view bytes) {
  const std::string& path = file_of(bytes);
  attempt([&] {
    if (detect_format(path) != format) return;
    (void)inspect(path);
    InputOptions options;
    attempt([&] { (void)read_input(path, options); });
    options.bf16 = {"q"};
    options.axes = "feature,token,head";
    options.parameters = {"W"};
    (void)read_input(path, options);
  });
}

void read_npy(std::string_view bytes) { read_file(FileFormat::npy, bytes); }
void read_npz(std::string_view bytes) { read_file(FileFormat::npz, bytes); }
void read_safetensors(std::string_view bytes) { read_file(FileFormat::safetensors, bytes); }

/// Receives what a child process sent that a damaged file has taken over. The first byte chooses
/// between an input and an inspection; a frame is its length in two bytes and its content.
void receive(std::string_view bytes) {
  if (bytes.empty()) return;
  const bool inspects = bytes.front() % 2 == 1;
  bytes.remove_prefix(1);
  const auto take = [&](void* to, std::uint64_t count) {
    if (count > bytes.size()) fail("the pipe ends");
    if (count > 0) std::memcpy(to, bytes.data(), count);
    bytes.remove_prefix(count);
  };
  const auto length = [&]() -> std::uint64_t {
    std::uint16_t count = 0;
    take(&count, sizeof count);
    return count;
  };
  ArchiveReader reader(length, take);
  attempt([&] {
    if (inspects) {
      Inspection inspection;
      receive_inspection(reader, inspection);
    } else {
      Input input;
      receive_input(reader, input);
    }
  });
}

constexpr Target table[] = {
    {"npy", read_npy}, {"npz", read_npz}, {"safetensors", read_safetensors}, {"protocol", receive}};

}  // namespace

std::span<const Target> file_targets() { return table; }

}  // namespace conelab::fuzz
