// The seal: any byte that is not as it was written is noticed, damage and edits alike.
#include "core/files/seal.h"

#include <gmock/gmock.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <vector>

#include "core/files/bench_file.h"
#include "core/files/hdf5_read.h"
#include "core/files/inspect.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using fixtures::FilesTest;
using fixtures::slurp;
using fixtures::spill;
using ::testing::Contains;
using ::testing::HasSubstr;

class SealTest : public FilesTest {
 protected:
  /// A small table, as bytes.
  std::string table() const {
    LabelledArray array;
    array.axes = {{"n", std::vector<std::int64_t>{512, 777777}, ""},
                  {"operator", std::vector<std::string>{"dot", "umbral"}, ""}};
    array.variables = {{"time", {"n", "operator"}, std::vector<double>{1, 2, 3, 4}, "s", {}},
                       {"why", {"n"}, std::vector<std::string>{"", "too large"}, "", {}}};
    array.attributes.emplace_back("note", std::string("quiet"));
    write_labelled(path("a.h5"), {"program 1", {{"bench/runtime", array}}, {}});
    return slurp(path("a.h5"));
  }
  [[nodiscard]] hdf5::Seal seal_of(const std::string& name) const {
    const hdf5::Lock lock;
    return hdf5::check_seal(hdf5::open_file(path(name)), path(name));
  }
};

TEST_F(SealTest, OfAFileThatIsAsItWasWritten) {
  const std::string bytes = table();
  EXPECT_EQ(seal_of("a.h5"), hdf5::Seal::whole);
  EXPECT_FALSE(read_labelled_file(path("a.h5")).changed);
  EXPECT_EQ(read_labelled_file(path("a.h5")).groups.size(), 1u);
  const Inspection found = inspect(path("a.h5"));
  EXPECT_TRUE(found.sound() && found.sealed);
  EXPECT_EQ(found.unguarded(), 0);
  EXPECT_EQ(table(), bytes);
}

TEST_F(SealTest, NoticesEveryFlippedByte) {
  const std::string bytes = table();
  for (std::size_t at = 0; at < bytes.size(); at += 41) {
    spill(path("b.h5"),
          fixtures::patched(bytes, at, std::string(1, static_cast<char>(bytes[at] ^ 4))));
    EXPECT_FALSE(inspect(path("b.h5")).sound()) << at;
  }
}

TEST_F(SealTest, NoticesALabelThatHasNoChecksum) {
  std::string bytes = table();
  const std::int64_t label = 777777;
  const std::size_t at = bytes.find({reinterpret_cast<const char*>(&label), sizeof label});
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  spill(path("b.h5"), bytes);
  const LabelledFile read = read_labelled_file(path("b.h5"));
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(read.group("bench/runtime")->axis("n")->labels)[1],
            777776);
  EXPECT_TRUE(read.changed);
  EXPECT_THAT(inspect(path("b.h5")).problems, Contains(HasSubstr("not those that were written")));
}

TEST_F(SealTest, NoticesWhatAnotherProgramAdds) {
  (void)table();
  {
    const hdf5::Lock lock;
    const hdf5::File file(H5Fopen(path("a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    hdf5::write_attribute(file.id(), "mine", std::string("note"), {path("a.h5"), "/"});
  }
  EXPECT_EQ(seal_of("a.h5"), hdf5::Seal::broken);
}

TEST_F(SealTest, OfOtherFilesThereIsNone) {
  fixtures::make_h5(path("a.h5"), [](hid_t root) { fixtures::add_tensor(root, "q", {2, 3}); });
  EXPECT_EQ(seal_of("a.h5"), hdf5::Seal::none);
  fixtures::make_h5(path("b.h5"), [](hid_t root) { fixtures::add_tensor(root, "sha256", {2, 3}); });
  EXPECT_EQ(seal_of("b.h5"), hdf5::Seal::none);
  fixtures::make_h5(path("c.h5"), [](hid_t root) {
    (void)hdf5::write_strings(root, "sha256", {}, {"short"}, {"", ""});
  });
  EXPECT_EQ(seal_of("c.h5"), hdf5::Seal::none);
}

TEST_F(SealTest, InAnotherFileIsNone) {
  (void)table();
  for (const char* name : {"soft.h5", "external.h5"}) {
    fixtures::make_h5(path(name), [&](hid_t root) {
      const hsize_t size = 32;  // As a seal's.
      const std::vector<unsigned char> zeros(size);
      ASSERT_GE(H5LTmake_dataset(root, "q", 1, &size, H5T_STD_U8LE, zeros.data()), 0);
      const bool external = std::string(name) == "external.h5";
      const herr_t linked = external
                                ? H5Lcreate_external(path("a.h5").c_str(), "/sha256", root,
                                                     "sha256", H5P_DEFAULT, H5P_DEFAULT)
                                : H5Lcreate_soft("/q", root, "sha256", H5P_DEFAULT, H5P_DEFAULT);
      ASSERT_GE(linked, 0);
    });
    EXPECT_EQ(seal_of(name), hdf5::Seal::none) << name;
  }
}

}  // namespace
}  // namespace conelab
