#include "core/files/sandbox.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include "core/base/sha256.h"
#include "core/files/hdf5.h"
#include "core/files/inspect.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using fixtures::error_of;
using fixtures::FilesTest;
using fixtures::make_h5;
using fixtures::message_of;
using ::testing::HasSubstr;

/// Seconds that only what hangs would take, on the busiest machine.
constexpr double reader_patience = 300;

std::string sandbox_error(const SandboxLimits& limits,
                          const std::function<void(ArchiveWriter&)>& produce) {
  return message_of([&] {
    run_sandboxed("file.h5", limits, produce, [](ArchiveReader& reader) {
      std::string text;
      visit(reader, text);
    });
  });
}

TEST(Sandbox, HandsValuesOver) {
  std::string text, got;
  std::vector<double> numbers = {1, 2}, received;
  run_sandboxed(
      "file", {},
      [&](ArchiveWriter& writer) {
        text.assign(1, 'a');
        visit(writer, text);
        visit(writer, numbers);
      },
      [&](ArchiveReader& reader) {
        visit(reader, got);
        visit(reader, received);
      });
  EXPECT_EQ(got, "a");
  EXPECT_EQ(text, "") << "the child has a copy of its own";
  EXPECT_EQ(received, numbers);
}

/// Returns whether a reader finishes that computes a digest, if it starts some microseconds after a
/// thread has begun with the first digest of this process.
bool digests_in_a_reader(unsigned int microseconds) {
  std::thread other([] { (void)sha256("one"); });
  usleep(microseconds);
  std::string text, got;
  const std::string error = message_of([&] {
    run_sandboxed(
        "file", {.seconds = 5},
        [&](ArchiveWriter& writer) {
          text = sha256("two");
          visit(writer, text);
        },
        [&](ArchiveReader& reader) { visit(reader, got); });
  });
  other.join();
  return error.empty() && got == sha256("two");
}

TEST(Sandbox, ReadersDoNotWaitForWhatAnotherThreadBegan) {
  for (unsigned int round = 0; round < 40; ++round) {
    const pid_t process = fork();  // One that has computed no digest.
    if (process == 0) _exit(digests_in_a_reader(100 * round) ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    ASSERT_EQ(status, 0) << "round " << round;
  }
}

TEST(Sandbox, PassesErrorsWithTheirKind) {
  EXPECT_EQ(fixtures::failure_of([] {
              run_sandboxed(
                  "file", {}, [](ArchiveWriter&) { misuse("wrong use"); }, [](ArchiveReader&) {});
            }),
            "2: wrong use");
}

TEST(Sandbox, ACrashIsOneLine) {
  EXPECT_THAT(sandbox_error({}, [](ArchiveWriter&) { ::raise(SIGSEGV); }),
              HasSubstr("file.h5: damaged: it makes the HDF5 library crash (Segmentation fault"));
  EXPECT_THAT(sandbox_error({}, [](ArchiveWriter&) { ::_exit(3); }),
              HasSubstr("its reader ended early (exit 3)"));
}

TEST(Sandbox, AHangIsOneLine) {
  EXPECT_THAT(sandbox_error({1u << 30, 0.2, 10}, [](ArchiveWriter&) { ::pause(); }),
              HasSubstr("file.h5: reading did not end within"));
  const auto spin = [](ArchiveWriter&) {
    volatile bool forever = true;
    while (forever) {
    }
  };
  EXPECT_THAT(sandbox_error({1u << 30, reader_patience, 1}, spin),
              HasSubstr("too much processor time"));
}

TEST(Sandbox, LimitsGrowWithTheFile) {
  const SandboxLimits limits;
  EXPECT_LE(limits.scaled_to(1 << 20).seconds, 11);
  EXPECT_LE(limits.scaled_to(1 << 20).processor_seconds, 6);
  // 2 GB at 10 MB/s, as a slow disk has it and deflate.
  EXPECT_GE(limits.scaled_to(std::uint64_t{2} << 30).seconds, 200);
  EXPECT_GE(limits.scaled_to(std::uint64_t{2} << 30).processor_seconds, 200);
}

TEST(Sandbox, OnlyWhatTheChildDoesIsACrash) {
  const auto crashes = [](const SandboxLimits& limits, const std::function<void()>& act) {
    try {
      run_sandboxed(
          "file", limits, [&](ArchiveWriter&) { act(); }, [](ArchiveReader&) {});
    } catch (const ReaderCrash&) {
      return true;
    } catch (const Error&) {
    }
    return false;
  };
  EXPECT_TRUE(crashes({}, [] { ::raise(SIGSEGV); }));
  EXPECT_TRUE(crashes({}, [] { ::raise(SIGXCPU); }));
  EXPECT_TRUE(crashes({}, [] { ::_exit(3); }));
  EXPECT_FALSE(crashes({}, [] { ::raise(SIGKILL); }));
  EXPECT_FALSE(crashes({1u << 30, 0.2, 10}, [] { ::pause(); }));
  EXPECT_FALSE(crashes({}, [] { throw std::bad_alloc(); }));
}

TEST(Sandbox, LeavesCtrlCToTheParent) {
  const auto signalled = [](ArchiveWriter& writer) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::raise(number);
    std::string text = "whole";
    visit(writer, text);
  };
  EXPECT_EQ(sandbox_error({}, signalled), "");
}

TEST(Sandbox, StopsWhenCancelled) {
  int polls = 0;
  SandboxLimits limits;
  limits.cancelled = [&] { return ++polls > 2; };
  const Error error = error_of([&] {
    run_sandboxed(
        "file", limits, [](ArchiveWriter&) { ::pause(); },
        [](ArchiveReader& reader) {
          std::string text;
          visit(reader, text);
        });
  });
  EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "the child is gone";
}

/// Whether a thread of this process sleeps, as one does that waits for a lock.
bool sleeps(pid_t thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/stat", thread));
  std::string text;
  std::getline(file, text);
  return text.find(") S ") != std::string::npos;
}

/// A child that is forked between another's pipe and the end of its making would keep that pipe
/// open: the first one's end would be noticed only when the second ends.
TEST(Sandbox, SeesTheEndOfAChildWhileAnotherLives) {
  std::array<int, 2> leash{};
  ASSERT_EQ(::pipe(leash.data()), 0);
  std::optional<hdf5::Lock> lock(std::in_place);
  std::atomic<pid_t> thread = 0;
  std::future<std::string> crashing = std::async(std::launch::async, [&] {
    thread = ::gettid();
    return sandbox_error({}, [](ArchiveWriter&) { ::_exit(3); });
  });
  while (thread == 0 || !sleeps(thread)) ::usleep(1000);  // until it waits for the lock
  bool seen = false;
  run_sandboxed(
      "file", {1u << 30, reader_patience, 60},
      [&](ArchiveWriter&) {
        char end = 0;
        EXPECT_EQ(::read(leash[0], &end, 1), 1);  // lives until it is told
      },
      [&](ArchiveReader&) {
        lock.reset();
        seen = crashing.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
        EXPECT_EQ(::write(leash[1], "", 1), 1);
      });
  EXPECT_TRUE(seen);
  EXPECT_THAT(crashing.get(), HasSubstr("ended early"));
  ::close(leash[0]);
  ::close(leash[1]);
}

TEST(Sandbox, MemoryHasALimitThatCheckedArraysRaise) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer maps terabytes";
#endif
  const SandboxLimits limits{std::uint64_t{64} << 20, reader_patience, 60};
  EXPECT_EQ(sandbox_error(limits,
                          [](ArchiveWriter&) {
                            std::vector<char> much(std::size_t{200} << 20);
                            ::_exit(much[0]);
                          }),
            "file.h5: needs more memory than its size explains");
  EXPECT_EQ(sandbox_error(limits,
                          [](ArchiveWriter& writer) {
                            allow_more_memory(std::uint64_t{200} << 20);
                            const std::vector<char> much(std::size_t{200} << 20);
                            std::string text(1, much[0]);
                            visit(writer, text);
                          }),
            "");
}

TEST(Sandbox, LeavesNoProcessBehind) {
  (void)sandbox_error({1u << 30, 0.1, 10}, [](ArchiveWriter&) { ::pause(); });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

class SandboxFiles : public FilesTest {};

TEST_F(SandboxFiles, EveryFormatAndTheInspectionStopWhenCancelled) {
  make_h5(path("a.h5"), [](hid_t root) { fixtures::add_tensor(root, "q", {50, 40}); });
  const std::string array = fixtures::npy("<f4", "(50, 40)", fixtures::floats(2000));
  fixtures::spill(path("a.npy"), array);
  fixtures::spill(path("a.npz"), fixtures::zip({{"q.npy", array, true}}));
  fixtures::spill(
      path("a.safetensors"),
      fixtures::safetensors(R"({"q":{"dtype":"F32","shape":[50,40],"data_offsets":[0,8000]}})",
                            fixtures::floats(2000)));
  for (const char* name : {"a.h5", "a.npy", "a.npz", "a.safetensors"}) {
    for (int patience = 0; patience < 3; ++patience) {
      int left = patience;
      SandboxLimits limits;
      limits.cancelled = [&left] { return left-- <= 0; };
      const auto kind_of = [&](const std::function<void()>& action) {
        left = patience;
        return error_of(action).kind();
      };
      EXPECT_EQ(kind_of([&] { (void)read_input_sandboxed(path(name), {}, limits); }),
                ErrorKind::interrupted)
          << name << " after " << patience;
      EXPECT_EQ(kind_of([&] { (void)inspect(path(name), limits); }), ErrorKind::interrupted)
          << name << " after " << patience;
    }
  }
}

TEST_F(SandboxFiles, ReadsWhileOtherThreadsUseHdf5) {
#if defined(__SANITIZE_ADDRESS__)
  // The allocator of GCC 12's AddressSanitizer does not release its locks in the child of a fork.
  // The C library's does, with which the test runs as well.
  GTEST_SKIP() << "the sanitizer's allocator cannot be used after a fork beside other threads";
#endif
  make_h5(path("q.h5"), [](hid_t root) { fixtures::add_tensor(root, "q", {50, 40}); });
  const auto read = [&] {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(read_input(path("q.h5")).query.shape().token, 50);
      EXPECT_EQ(read_input_sandboxed(path("q.h5")).query.shape().token, 50);
    }
  };
  std::thread first(read), second(read);
  first.join();
  second.join();
}

/// The peak of this process's resident memory in bytes.
std::uint64_t peak_bytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

TEST_F(SandboxFiles, HoldsOneCopyOfLargeTensors) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer keeps freed memory";
#endif
  make_h5(path("large.h5"), [](hid_t root) {
    for (const char* name : {"q", "k", "v"}) fixtures::add_tensor(root, name, {65536, 64});
  });
  const pid_t child = ::fork();  // a process of its own, so that the peak is this test's
  if (child == 0) {
    const std::uint64_t before = peak_bytes();
    Input input = read_input_sandboxed(path("large.h5"));
    const Tensor4<float> q = to_tensor<float>(std::move(input.query));
    const std::uint64_t tensors = 3 * 65536 * 64 * 4;
    ::_exit(peak_bytes() - before < tensors + (24 << 20) && q.shape.token == 65536 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace conelab
