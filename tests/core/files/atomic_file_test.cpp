#include "core/files/atomic_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/files/bench_file.h"
#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

using fixtures::FilesTest;
using fixtures::message_of;
using fixtures::slurp;
using fixtures::spill;
using ::testing::HasSubstr;

class AtomicFileTest : public FilesTest {
 protected:
  void TearDown() override {
    std::filesystem::permissions(directory_, std::filesystem::perms::owner_all);
    FilesTest::TearDown();
  }
};

TEST_F(AtomicFileTest, ReplacesTheContentOnCommitOnly) {
  spill(path("a"), "old");
  {
    AtomicFile file(path("a"));
    spill(file.temporary(), "new");
    EXPECT_EQ(slurp(path("a")), "old");
  }
  EXPECT_EQ(slurp(path("a")), "old");
  AtomicFile file(path("a"));
  spill(file.temporary(), "new");
  file.commit();
  EXPECT_EQ(slurp(path("a")), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(AtomicFileTest, WritesText) {
  write_text_atomically(path("t.svg"), "text\n");
  EXPECT_EQ(slurp(path("t.svg")), "text\n");
  write_text_atomically(path("t.svg"), "");
  EXPECT_EQ(slurp(path("t.svg")), "");
  write_text_atomically("/dev/null", "gone");
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(AtomicFileTest, WritesThroughLinksAndKeepsPermissions) {
  spill(path("target"), "old");
  ::chmod(path("target").c_str(), 0640);
  std::filesystem::create_symlink("target", path("link"));
  write_text_atomically(path("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(slurp(path("target")), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path("target").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

mode_t permissions_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST_F(AtomicFileTest, KeepsEveryPermission) {
  const mode_t before = ::umask(022);
  for (const mode_t mode : {0666u, 0600u, 0644u, 0777u, 0440u | 0200u}) {
    spill(path("a"), "old");
    ::chmod(path("a").c_str(), mode);
    write_text_atomically(path("a"), "new");
    EXPECT_EQ(permissions_of(path("a")), mode);
  }
  write_text_atomically(path("b"), "new");
  EXPECT_EQ(permissions_of(path("b")), 0644u) << "a new file follows the umask";
  ::umask(before);
}

TEST_F(AtomicFileTest, WritesThroughLinksToNothing) {
  std::filesystem::create_directory(path("d"));
  std::filesystem::create_symlink("d/second", path("first"));
  std::filesystem::create_symlink("target", path("d/second"));
  write_text_atomically(path("first"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("d/second")));
  EXPECT_EQ(slurp(path("d/target")), "new");
  std::filesystem::create_symlink("loop", path("loop"));
  EXPECT_THAT(message_of([&] { probe_writable(path("loop")); }), HasSubstr("symbolic links"));
}

/// Runs `action` in a child that `prepare` has changed; its error comes back.
std::string error_in_child(const std::function<void()>& prepare,
                           const std::function<void()>& action) {
  int ends[2];
  if (::pipe(ends) != 0) return "pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    prepare();
    const std::string error = message_of(action);
    (void)!::write(ends[1], error.data(), error.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string error(4096, '\0');
  error.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], error.data(), 4096))));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? "killed by a signal" : error;
}

TEST_F(AtomicFileTest, ADirectoryThatCannotBeReadIsNoFailure) {
  std::filesystem::create_directory(path("blind"));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path("blind").c_str(), 65534, 65534), 0);
  }
  ::chmod(path("blind").c_str(), 0333);
  const auto become_nobody = [] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::raise(SIGKILL);
  };
  EXPECT_EQ(error_in_child(become_nobody, [&] { write_text_atomically(path("blind/a"), "new"); }),
            "");
  ::chmod(path("blind").c_str(), 0755);
  EXPECT_EQ(slurp(path("blind/a")), "new");
}

TEST_F(AtomicFileTest, TheNextProbeRemovesWhatAKilledProcessLeft) {
  const auto killed = [&](const std::string& name) {
    const pid_t child = ::fork();
    if (child == 0) {
      const AtomicFile file(path(name));
      spill(file.temporary(), "half");
      ::raise(SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
  };
  killed("a");
  killed("a");
  killed("b");
  ASSERT_EQ(entries(), 3u);
  const AtomicFile living(path("a"));
  spill(path(".a.tmp"), "somebody else's");
  spill(path(".a.0123abcd-1-0.tmp"), "of another machine");
  probe_writable(path("a"));
  EXPECT_EQ(entries(), 4u) << "b's, the living one, and what is not ours";
  EXPECT_TRUE(std::filesystem::exists(living.temporary()));
  remove_temporary_files(directory_.string());
  EXPECT_EQ(entries(), 3u) << "b's has gone, too";
  EXPECT_TRUE(std::filesystem::exists(living.temporary()));
}

TEST_F(AtomicFileTest, NamesTheDestinationAndTheReason) {
  const std::string missing = path("no/such/a");
  EXPECT_EQ(message_of([&] { probe_writable(missing); }),
            missing + ": cannot be written: No such file or directory (directory " +
                path("no/such") + ")");
  EXPECT_EQ(message_of([&] { probe_writable(path("")); }), "'" + path("") + "': not a file name");
  EXPECT_EQ(message_of([&] { probe_writable(directory_.string()); }),
            directory_.string() + ": cannot be written: is a directory");
  EXPECT_EQ(message_of([&] { probe_writable("/dev/null"); }),
            "/dev/null: cannot be written: is not a regular file");
  probe_writable(path("a"));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(AtomicFileTest, ReportsAReadOnlyDirectory) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::filesystem::permissions(directory_, std::filesystem::perms::owner_read);
  EXPECT_THAT(message_of([&] { probe_writable(path("a")); }), HasSubstr("Permission denied"));
}

/// In a child whose files may not grow beyond `bytes`.
std::string error_under_limit(rlim_t bytes, const std::function<void()>& action) {
  const struct rlimit limit { bytes, bytes };
  return error_in_child([&] { setrlimit(RLIMIT_FSIZE, &limit); }, action);
}

LabelledFile incompressible() {
  std::vector<double> numbers(100000);
  std::uint64_t state = 1;
  for (double& x : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<double>(state);
  }
  LabelledArray array;
  array.axes = {{"x", numbers, ""}};
  array.variables = {{"y", {"x"}, numbers, "", {}}};
  return {"t", {{"a", array}}, {}};
}

/// RLIMIT_FSIZE stands for a full disk: the same failing write, wherever it happens.
TEST_F(AtomicFileTest, AFullDiskIsAnErrorAndTheOldFileStays) {
  spill(path("a.h5"), "old");
  const LabelledFile file = incompressible();
  for (rlim_t bytes = 0; bytes < 1500000; bytes += 97001) {
    const std::string error = error_under_limit(bytes, [&] { write_labelled(path("a.h5"), file); });
    EXPECT_THAT(error, HasSubstr(path("a.h5"))) << bytes;
    EXPECT_THAT(error, HasSubstr("File too large")) << bytes;
    ASSERT_TRUE(slurp(path("a.h5")) == "old") << bytes;
    ASSERT_EQ(entries(), 1u) << bytes;
  }
  EXPECT_EQ(
      error_under_limit(100, [&] { write_text_atomically(path("t"), std::string(101, 'x')); }),
      path("t") + ": cannot be written: File too large");
  EXPECT_EQ(error_under_limit(4000000, [&] { write_labelled(path("a.h5"), file); }), "");
}

}  // namespace
}  // namespace conelab
