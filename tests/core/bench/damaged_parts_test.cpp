// What an earlier run sealed is kept unless it is known to be damaged.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "core/bench/parts.h"
#include "core/files/hdf5.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::BenchTest;
using fixtures::error_of;
using fixtures::fake_sweep;

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Leaves a process two descriptors that it may open.
class TwoDescriptors {
 public:
  TwoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &was_);
    const rlimit few{64, was_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int taken = 0; taken >= 0;) {
      taken = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (taken >= 0) taken_.push_back(taken);
    }
    for (int i = 0; i < 2; ++i) release();
  }
  ~TwoDescriptors() {
    while (!taken_.empty()) release();
    setrlimit(RLIMIT_NOFILE, &was_);
  }
  TwoDescriptors(const TwoDescriptors&) = delete;
  TwoDescriptors& operator=(const TwoDescriptors&) = delete;

 private:
  rlimit was_{};
  std::vector<int> taken_;

  void release() {
    ::close(taken_.back());
    taken_.pop_back();
  }
};

/// The child of this process; 0 where there is none.
pid_t child() {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line == fmt::format("PPid:\t{}", ::getpid())) {
        return std::stoi(entry.path().filename().string());
      }
    }
  }
  return 0;
}

class DamagedParts : public BenchTest {
 protected:
  const Sweep sweep = fake_sweep({"steady"}, {64, 128}, 4);
  std::vector<std::string> warnings;

  [[nodiscard]] fs::path parts() const { return output() + ".parts"; }
  /// Of an unfinished run of six samples.
  std::vector<fs::path> sealed() {
    int samples = 0;
    BenchOptions o = options();
    o.progress = [&](const BenchProgress& p) { samples = p.done; };
    o.cancelled = [&] { return samples >= 6; };
    EXPECT_TRUE(error_of([&] { run(sweep, o); }).starts_with("130: "));
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(parts())) {
      if (entry.path().extension() == ".h5") files.push_back(entry.path());
    }
    EXPECT_EQ(files.size(), 6u);
    return files;
  }
  [[nodiscard]] std::map<fs::path, std::string> contents() const {
    std::map<fs::path, std::string> found;
    for (const auto& entry : fs::directory_iterator(parts())) {
      std::error_code error;  // Of a link to itself.
      if (entry.is_regular_file(error)) found[entry.path()] = content(entry.path());
    }
    return found;
  }
  std::string resume(const std::function<bool()>& cancelled = {}) {
    BenchOptions o = options();
    o.resume = true;
    o.cancelled = cancelled;
    o.warned = [&](const std::string& what) { warnings.push_back(what); };
    return error_of([&] { run(sweep, o); });
  }
  /// Two sound samples; the child waits for a writer of the first.
  [[nodiscard]] std::vector<fs::path> waiting_and_sound() const {
    const std::vector<fs::path> files = {folder / "case-0.h5", folder / "case-1.h5"};
    EXPECT_EQ(::mkfifo(files[0].c_str(), 0600), 0);
    write_part(files[1].string(), {});
    return files;
  }
};

TEST_F(DamagedParts, WithoutAProcessToReadThemNoneIs) {
  sealed();
  const auto before = contents();
  {
    const TwoDescriptors few;
    const std::string error = resume();
    EXPECT_TRUE(error.starts_with("1: " + parts().string() + ": pipe: Too many open files"))
        << error;
  }
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(resume(), "no error");
  EXPECT_TRUE(warnings.empty()) << warnings.front();
}

/// Turns a bit of a sample's time.
void change_a_number(const fs::path& file) {
  haddr_t address = 0;
  hsize_t size = 0;
  {
    const hdf5::Lock lock;
    const hdf5::File h5(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const hdf5::Dataset values(H5Dopen2(h5.id(), "sample/warm", H5P_DEFAULT));
    const hsize_t first = 0;
    unsigned skipped = 0;
    H5Dget_chunk_info_by_coord(values.id(), &first, &skipped, &address, &size);
  }
  ASSERT_GT(size, 8u) << "the number lies in a chunk, which has a checksum";
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(address + size / 2);
  bytes.seekg(middle);
  const char turned = static_cast<char>(bytes.get() ^ 1);
  bytes.seekp(middle);
  bytes.put(turned);
}

TEST_F(DamagedParts, ANumberThatChangedIsDamage) {
  change_a_number(sealed().front());
  EXPECT_EQ(resume(), "no error");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings.front().ends_with("; it is measured again")) << warnings.front();
}

TEST_F(DamagedParts, AFileThatCannotBeOpenedIsNot) {
  const fs::path file = sealed().front(), away = folder / "away.h5";
  fs::rename(file, away);
  fs::create_symlink(file.filename(), file);
  const auto before = contents();
  const std::string error = resume();
  EXPECT_TRUE(error.starts_with("1: " + file.string() + ": Too many levels of symbolic links"))
      << error;
  EXPECT_EQ(contents(), before);
  fs::rename(away, file);
  EXPECT_EQ(resume(), "no error");
  EXPECT_TRUE(warnings.empty()) << warnings.front();
}

TEST_F(DamagedParts, AreKeptAsideUntilTheRunIsFinished) {
  const fs::path file = sealed().front(), aside = file.string() + ".damaged";
  std::ofstream(file) << "no HDF5";
  int polls = 0;
  EXPECT_TRUE(resume([&] { return ++polls > 20; }).starts_with("130: "));
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_EQ(content(aside), "no HDF5");
  EXPECT_EQ(resume(), "no error");
  EXPECT_EQ(warnings.size(), 1u) << "it is told once";
  EXPECT_FALSE(parts_exist());
}

TEST_F(DamagedParts, AllOfThemAsideAreStillAnUnfinishedRun) {
  for (const fs::path& file : sealed()) std::ofstream(file) << "no HDF5";
  const std::string error = resume([&] { return warnings.size() == 6; });
  EXPECT_TRUE(error.starts_with("130: ")) << error;
  EXPECT_NE(error.find("continue with --resume"), std::string::npos) << error;
  EXPECT_EQ(contents().size(), 8u) << "six aside, the run and its lock";
}

TEST_F(DamagedParts, CtrlCEndsTheLook) {
  const fs::path file = sealed().front();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  int polls = 0;
  EXPECT_EQ(resume([&] { return ++polls > 3; }),
            "130: " + parts().string() + ": interrupted; continue with --resume");
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(DamagedParts, ThatCrashTheirReaderTwiceAreFoundAndTheOthersRead) {
  const std::vector<fs::path> files = waiting_and_sound();
  int polls = 0;
  const auto damaged = find_damaged(folder.string(), files, [&] {
    if (++polls % 4 == 0 && child() != 0) ::kill(child(), SIGSEGV);
    return false;
  });
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_TRUE(damaged.at(files[0]).starts_with(files[0].string() +
                                               ": damaged: it makes the HDF5 library crash"));
}

TEST_F(DamagedParts, ACrashThatDoesNotRepeatIsNoDamage) {
  const std::vector<fs::path> files = waiting_and_sound();
  int polls = 0;
  EXPECT_TRUE(find_damaged(folder.string(), files, [&] {
                if (++polls != 4) return false;
                fs::remove(files[0]);
                fs::copy_file(files[1], files[0]);
                ::kill(child(), SIGSEGV);
                return false;
              }).empty());
}

TEST_F(DamagedParts, AReaderThatIsKilledSaysNothingOfTheFile) {
  const std::vector<fs::path> files = waiting_and_sound();
  int polls = 0;
  const std::string error = error_of([&] {
    (void)find_damaged(folder.string(), files, [&] {
      if (++polls == 4) ::kill(child(), SIGKILL);
      return false;
    });
  });
  EXPECT_TRUE(error.starts_with("1: " + folder.string() + ": its reader was killed")) << error;
  EXPECT_NE(error.find("at case-0.h5; none was touched"), std::string::npos) << error;
}

}  // namespace
}  // namespace conelab
