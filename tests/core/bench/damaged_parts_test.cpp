// What an earlier run sealed is kept unless it is known to be damaged.
#include <fstream>
#include <map>
#include <sstream>

#include "core/bench/parts.h"
#include "tests/core/bench/fixtures.h"

namespace conelab {
namespace {

using fixtures::BenchTest;
using fixtures::failure_of;
using fixtures::fake_sweep;

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class DamagedParts : public BenchTest {
 protected:
  const Sweep sweep = fake_sweep({"steady"}, {64, 128}, 4);
  std::vector<std::string> warnings;

  [[nodiscard]] fs::path parts() const { return output() + ".parts"; }
  /// Of an unfinished run of six samples.
  std::vector<fs::path> sealed() {
    interrupt(sweep, 6);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(parts())) {
      if (entry.path().extension() == ".txt" && entry.path().filename() != "run.txt")
        files.push_back(entry.path());
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
    BenchOptions o = resuming();
    o.cancelled = cancelled;
    o.warned = [&](const std::string& what) { warnings.push_back(what); };
    return failure_of([&] { run(sweep, o); });
  }
};

/// Changes the last digit of a sample's time.
void change_a_number(const fs::path& file) {
  std::string text = content(file);
  const std::size_t end = text.find('\n', text.find("\nwarm=") + 1);
  text[end - 1] = text[end - 1] == '1' ? '2' : '1';
  std::ofstream(file, std::ios::binary) << text;
}

TEST_F(DamagedParts, ANumberThatChangedIsDamage) {
  change_a_number(sealed().front());
  EXPECT_EQ(resume(), "no error");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings.front().ends_with("; it is measured again")) << warnings.front();
}

TEST_F(DamagedParts, AFileThatCannotBeOpenedIsNot) {
  const fs::path file = sealed().front(), away = path("away.txt");
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
  std::ofstream(file) << "no sample";
  int polls = 0;
  EXPECT_TRUE(resume([&] { return ++polls > 8; }).starts_with("130: "));
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_EQ(content(aside), "no sample");
  EXPECT_EQ(resume(), "no error");
  EXPECT_EQ(warnings.size(), 1u) << "it is told once";
  EXPECT_FALSE(parts_exist());
}

TEST_F(DamagedParts, AllOfThemAsideAreStillAnUnfinishedRun) {
  for (const fs::path& file : sealed()) std::ofstream(file) << "no sample";
  const std::string error = resume([&] { return warnings.size() == 6; });
  EXPECT_TRUE(error.starts_with("130: ")) << error;
  EXPECT_NE(error.find("continue with --resume"), std::string::npos) << error;
  EXPECT_EQ(contents().size(), 8u) << "six aside, the run and its lock";
}

TEST_F(DamagedParts, CtrlCEndsTheLook) {
  sealed();
  const auto before = contents();
  EXPECT_EQ(resume([] { return true; }),
            "130: " + parts().string() + ": interrupted; continue with --resume");
  EXPECT_EQ(contents(), before);
}

}  // namespace
}  // namespace conelab
