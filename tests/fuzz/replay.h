// Runs targets of the fuzzers over their corpora.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fuzz/targets.h"

namespace conelab::fuzz {

/// Expects that every target answers every file of its corpus, and every beginning of it.
inline void expect_answers(std::span<const Target> targets) {
  for (const Target& target : targets) {
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

}  // namespace conelab::fuzz
