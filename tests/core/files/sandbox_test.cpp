#include "core/files/sandbox.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using testing::error_of;
using testing::FilesTest;
using ::testing::HasSubstr;
using testing::make_h5;

std::string sandbox_error(const SandboxLimits& limits,
                          const std::function<void(ArchiveWriter&)>& produce) {
  return error_of([&] {
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

TEST(Sandbox, PassesErrorsWithTheirKind) {
  try {
    run_sandboxed(
        "file", {}, [](ArchiveWriter&) { misuse("wrong use"); }, [](ArchiveReader&) {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(), "wrong use");
  }
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
  EXPECT_THAT(sandbox_error({1u << 30, 20, 1}, spin), HasSubstr("too much processor time"));
}

TEST(Sandbox, MemoryHasALimitThatCheckedArraysRaise) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer maps terabytes";
#endif
  const SandboxLimits limits{std::uint64_t{64} << 20, 20, 20};
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

TEST_F(SandboxFiles, ReadsWhileOtherThreadsUseHdf5) {
  make_h5(path("q.h5"), [](hid_t root) { testing::add_tensor(root, "q", {50, 40}); });
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
    for (const char* name : {"q", "k", "v"}) testing::add_tensor(root, name, {65536, 64});
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
