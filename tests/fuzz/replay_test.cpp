// Runs every target of the fuzzers over its corpus.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/targets.h"

namespace conelab::fuzz {
namespace {

TEST(Fuzz, EveryTargetAnswersEveryFileOfItsCorpus) {
  for (const Target& target : targets()) {
    const auto folder =
        std::filesystem::path(CONELAB_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      SCOPED_TRACE(entry.path());
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      EXPECT_NO_THROW(target.run(bytes));
      // Every beginning of a file is a file that was cut.
      for (std::size_t size = 0; size < bytes.size(); size += 7) {
        EXPECT_NO_THROW(target.run(std::string_view(bytes).substr(0, size)));
      }
      ++files;
    }
    EXPECT_GT(files, 0) << folder;
  }
}

}  // namespace
}  // namespace conelab::fuzz
