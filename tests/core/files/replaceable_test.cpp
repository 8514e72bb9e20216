#include <filesystem>
#include <fstream>

#include "core/files/atomic_file.h"
#include "core/files/bench_file.h"
#include "core/files/result_kind.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using fixtures::FilesTest;
using fixtures::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Replaceable : public FilesTest {
 protected:
  /// A result whose first group is of this kind.
  [[nodiscard]] std::string result(const std::string& kind) const {
    const LabelledArray array{{{"n", std::vector<std::int64_t>{1}, ""}},
                              {{"x", {"n"}, std::vector<double>{1}, "", {}}},
                              "",
                              {}};
    write_labelled(path(kind + ".h5"), {"conelab 1", {{kind + "/some", array}}, {}});
    return path(kind + ".h5");
  }
  [[nodiscard]] static std::string said(const std::string& file) {
    return message_of([&] { check_replaceable_result(file, "bench"); });
  }
};

TEST_F(Replaceable, ResultsAreKnownByTheirRoot) {
  for (const char* kind : {"bench", "tree"}) EXPECT_EQ(result_kind(result(kind)), kind);
  EXPECT_EQ(result_kind(result("attention")), "attend") << "the job that writes it";
  EXPECT_THROW((void)result_kind(path("none.h5")), Error);
  EXPECT_EQ(result_kind(CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5"), "");
  Attributes root = {{"default", std::string("tree")}, {"result", std::string("rank")}};
  EXPECT_EQ(result_kind(root), "") << "another program may use these names";
  root.emplace_back("conelab_format", std::int64_t{1});
  EXPECT_EQ(result_kind(root), "rank");
}

TEST_F(Replaceable, TheInputOfASpecIsRead) {
  EXPECT_EQ(input_of_spec(R"({"command": "tree", "input": "t.h5:/a"})"), "t.h5:/a");
  for (const char* other : {"", "no JSON", "{}", R"({"input": 1})", "[]"}) {
    EXPECT_EQ(input_of_spec(other), "") << other;
  }
}

TEST_F(Replaceable, OwnResultsAndEmptyFilesAre) {
  EXPECT_EQ(said(result("bench")), "");
  EXPECT_EQ(said(path("none.h5")), "");
  std::ofstream(path("empty.h5")).flush();
  EXPECT_EQ(said(path("empty.h5")), "");
  EXPECT_EQ(said("/dev/null"), "");
}

TEST_F(Replaceable, NothingElseIs) {
  write_text_atomically(path("letter.h5"), "Dear reader");
  for (const std::string& file : {path("letter.h5"), result("tree")}) {
    EXPECT_EQ(said(file), file +
                              ": is not a result of `bench`, and would be lost; remove it, or give "
                              "another name");
  }
}

TEST_F(Replaceable, OfWhatCannotBeReadNobodyKnowsWhatItWas) {
  const std::string damaged = result("bench");
  std::filesystem::resize_file(damaged, 700);
  EXPECT_THAT(said(damaged),
              AllOf(StartsWith(damaged + ": "), HasSubstr("truncated"),
                    HasSubstr("; it may be something else than a result of `bench`, "
                              "and would be lost; remove it, or give another name")));
}

}  // namespace
}  // namespace conelab
