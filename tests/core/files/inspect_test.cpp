#include "core/files/inspect.h"

#include <cmath>

#include "core/base/sha256.h"
#include "core/files/npy_header.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using fixtures::add_tensor;
using fixtures::bytes_of;
using fixtures::FilesTest;
using fixtures::floats;
using fixtures::make_h5;
using fixtures::message_of;
using fixtures::npy;
using fixtures::patched;
using fixtures::slurp;
using fixtures::spill;
using fixtures::zip;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Inspect : public FilesTest {
 protected:
  static const InspectedItem& item(const Inspection& inspection, const std::string& path) {
    for (const InspectedItem& item : inspection.items) {
      if (item.path == path) return item;
    }
    static const InspectedItem none;
    ADD_FAILURE() << path << " is missing";
    return none;
  }
};

TEST_F(Inspect, ListsTheTraceThatShips) {
  const std::string path = std::string(CONELAB_SOURCE_DIR) + "/datasets/minilm_trace.h5";
  const Inspection found = inspect(path);
  EXPECT_TRUE(found.sound()) << found.problems.front();
  EXPECT_EQ(found.file_bytes, slurp(path).size());
  EXPECT_EQ(found.sha256, sha256(slurp(path)));
  EXPECT_EQ(found.items.front().path, "/");
  const InspectedItem& q = item(found, "/glosses/layer3/q");
  EXPECT_EQ(q.type, "f16");
  EXPECT_THAT(q.extents, ElementsAre(12, 444, 32));
  EXPECT_EQ(q.depth, 3);
  EXPECT_GT(q.stored_bytes, 1000);
  EXPECT_EQ(item(found, "/german/layer0/token").type, "text");
}

TEST_F(Inspect, CountsAndNamesWhatWroteIt) {
  make_h5(path("t.h5"), [](hid_t root) {
    hdf5::write_attribute(root, "creator", std::string("conelab 1"), {"", ""});
    add_tensor(root, "q", {3, 4});
    const std::vector<double> bad = {NAN, INFINITY, -INFINITY, 1};
    const hdf5::Dataset dataset = hdf5::create_tensor(root, "k", Dtype::bf16, {2, 2}, {}, {"", ""});
    hdf5::write_tensor(dataset, Dtype::bf16, bad.data(), bad.size(), {}, {"", ""});
    H5Lcreate_soft("/q", root, "alias", 0, 0);
    H5Lcreate_external("other.h5", "/q", root, "elsewhere", 0, 0);
    H5Lcreate_hard(root, "/", root, "again", 0, 0);
  });
  const Inspection found = inspect(path("t.h5"));
  EXPECT_TRUE(found.sound()) << found.problems.front();
  EXPECT_EQ(found.creator, "conelab 1");
  EXPECT_TRUE(item(found, "/q").checksummed);
  EXPECT_THAT(item(found, "/q").filters, ElementsAre("shuffle", "deflate", "fletcher32"));
  EXPECT_EQ(item(found, "/k").type, "bf16");
  EXPECT_EQ(item(found, "/k").nan_count, 1);
  EXPECT_EQ(item(found, "/k").infinite_count, 2);
  EXPECT_EQ(item(found, "/alias").type, "soft link");
  EXPECT_EQ(item(found, "/elsewhere").type, "link to another file");
  EXPECT_EQ(item(found, "/again").type, "seen before");
}

TEST_F(Inspect, AnOutlineDeclaresTheSameAndReadsNoNumbers) {
  make_h5(path("t.h5"), [](hid_t root) {
    add_tensor(root, "q", {30, 40});
    add_tensor(root, "k", {3, 4});
  });
  const Inspection whole = inspect(path("t.h5"));
  const Inspection found = outline(path("t.h5"));
  EXPECT_EQ(found.sha256, "");
  ASSERT_EQ(found.items.size(), whole.items.size());
  for (std::size_t i = 0; i < whole.items.size(); ++i) {
    EXPECT_EQ(found.items[i].path, whole.items[i].path);
    EXPECT_EQ(found.items[i].extents, whole.items[i].extents);
    EXPECT_EQ(found.items[i].type, whole.items[i].type);
  }
  std::string bytes = slurp(path("t.h5"));
  int unnoticed = 0;
  for (std::size_t at = 600; at < bytes.size(); at += 97) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    spill(path("t.h5"), bytes);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    unnoticed += !inspect(path("t.h5")).sound() && outline(path("t.h5")).sound() ? 1 : 0;
  }
  EXPECT_GT(unnoticed, 5) << "damage of numbers";
}

TEST_F(Inspect, FindsBitRotByItsChecksum) {
  make_h5(path("t.h5"), [](hid_t root) {
    add_tensor(root, "q", {30, 40});
    add_tensor(root, "k", {30, 40});
  });
  const std::string whole = slurp(path("t.h5"));
  int told = 0;
  for (std::size_t at = 600; at < whole.size(); at += 97) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    spill(path("t.h5"), bytes);
    told += inspect(path("t.h5")).sound() ? 0 : 1;
  }
  EXPECT_GT(told, 10);
  spill(path("t.h5"), whole.substr(0, 700));
  EXPECT_THAT(inspect(path("t.h5")).problems.front(), HasSubstr("truncated: expected"));
}

TEST_F(Inspect, OneDamagedArrayDoesNotHideTheOthers) {
  make_h5(path("t.h5"), [](hid_t root) {
    const hsize_t chunk[2] = {3, 4};
    const hdf5::Properties trap(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(trap.id(), 2, chunk);
    H5Pset_filter(trap.id(), 32015, H5Z_FLAG_OPTIONAL, 0, nullptr);
    const hdf5::Space space(H5Screate_simple(2, chunk, nullptr));
    const hdf5::Dataset dataset(H5Dcreate2(root, "a", H5T_IEEE_F32LE, space.id(), 0, trap.id(), 0));
    add_tensor(root, "q", {3, 4});
  });
  const Inspection found = inspect(path("t.h5"));
  EXPECT_TRUE(found.sound());
  EXPECT_THAT(item(found, "/a").unread, HasSubstr("filter 32015 (zstd)"));
  EXPECT_EQ(item(found, "/q").problem, "");
}

/// A data set of fixed strings in chunks of 1000 with one chunk written.
void add_strings(hid_t root, const char* name, hsize_t count, bool deflate) {
  const hsize_t chunk = 1000, start = 0;
  const hdf5::Properties made(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(made.id(), 1, &chunk);
  if (deflate) H5Pset_deflate(made.id(), 4);
  const hdf5::Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), 8);
  const hdf5::Space space(H5Screate_simple(1, &count, nullptr));
  const hdf5::Dataset dataset(H5Dcreate2(root, name, type.id(), space.id(), 0, made.id(), 0));
  const hdf5::Space memory(H5Screate_simple(1, &chunk, nullptr));
  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &start, nullptr, &chunk, nullptr);
  const std::string text(8 * chunk, 'a');
  H5Dwrite(dataset.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, text.data());
}

TEST_F(Inspect, SparseTextIsOneProblem) {
  make_h5(path("t.h5"), [](hid_t root) {
    add_strings(root, "token", 1000000000, false);
    add_strings(root, "whole", 1000, true);
    add_tensor(root, "q", {3, 4});
  });
  const Inspection found = inspect(path("t.h5"));
  ASSERT_EQ(found.problems.size(), 1u);
  EXPECT_THAT(found.problems[0],
              HasSubstr("/token: declares [1000000000] = 8000000000 bytes, but only 8000 are"));
  EXPECT_EQ(item(found, "/whole").problem, "");
  EXPECT_EQ(item(found, "/q").problem, "");
}

TEST_F(Inspect, TextThatFitsNoMemoryIsOneProblem) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer maps terabytes";
#endif
  make_h5(path("t.h5"), [](hid_t root) {
    const hsize_t count = 8000000;
    const hdf5::Properties made(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(made.id(), 1, &count);
    H5Pset_deflate(made.id(), 1);
    const hdf5::Type type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), 8);
    const hdf5::Space space(H5Screate_simple(1, &count, nullptr));
    const hdf5::Dataset dataset(H5Dcreate2(root, "a", type.id(), space.id(), 0, made.id(), 0));
    const std::string text(8 * count, 'a');
    H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data());
    add_tensor(root, "q", {3, 4});
  });
  const Inspection found = inspect(path("t.h5"), {.memory_bytes = std::uint64_t{32} << 20});
  ASSERT_EQ(found.problems.size(), 1u);
  // Ours or the library's own allocation is refused, as what lies free before has it.
  EXPECT_THAT(found.problems[0],
              AnyOf(HasSubstr("/a: needs more memory than may be taken"),
                    HasSubstr("/a: cannot be read (H5Dread: memory allocation failed")));
  EXPECT_EQ(item(found, "/q").problem, "");
}

TEST_F(Inspect, ReadsTheOtherFormats) {
  const std::vector<float> bad = {NAN, 1, 2, 3};
  const std::string array = npy("<f4", "(2, 2)", bytes_of(bad));
  spill(path("a.npy"), array);
  EXPECT_EQ(inspect(path("a.npy")).items.front().nan_count, 1);
  const std::string archive = zip({{"q.npy", array, true}, {"x.txt", "text"}, {"k.npy", array}});
  spill(path("a.npz"), archive);
  const Inspection found = inspect(path("a.npz"));
  ASSERT_EQ(found.items.size(), 3u);
  EXPECT_TRUE(found.sound());
  EXPECT_NE(found.items[1].unread, "");
  EXPECT_EQ(found.items[2].type, "f32");
  spill(path("a.npz"), patched(archive, archive.find("PK\x01\x02") - 1, "?"));
  EXPECT_THAT(inspect(path("a.npz")).problems.back(), HasSubstr("wrong checksum"));
  EXPECT_THAT(message_of([&] { (void)inspect(path("none")); }), HasSubstr("No such file"));
}

TEST_F(Inspect, StringsCannotAskForMoreThanTheFileHolds) {
  spill(path("a.npy"), npy("|S0", "(4611686018427387904,)", ""));
  const auto said = [&](const char* name) {
    const Inspection found = inspect(path(name));
    return found.items.at(0).problem + found.items.at(0).unread;
  };
  EXPECT_THAT(said("a.npy"), HasSubstr("dtype"));
  spill(path("a.npz"), zip({{"token.npy", npy("<U0", "(4611686018427387904,)", ""), true}}));
  EXPECT_THAT(said("a.npz"), HasSubstr("dtype"));
  // 16 M strings of one byte deflate to 16 KB and would take 512 MB.
  const std::string many(most_npy_strings + 1, '\0');
  spill(path("a.npz"), zip({{"token.npy", npy("|S1", "(16777217,)", many), true}}));
  EXPECT_THAT(said("a.npz"),
              HasSubstr("token: holds 16777217 strings (expected at most 16777216)"));
  spill(path("a.npy"), npy("|S2", "(2,)", std::string("abc\0", 4)));
  EXPECT_TRUE(inspect(path("a.npy")).sound());
}

}  // namespace
}  // namespace conelab
