// Damaged files: every cut and thousands of flipped bytes give a result or one line, in time.
#include <algorithm>
#include <chrono>

#include "core/files/bench_file.h"
#include "core/files/byte_file.h"
#include "core/files/read_tensors.h"
#include "core/files/sandbox.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using fixtures::FilesTest;
using fixtures::floats;
using fixtures::make_h5;
using fixtures::message_of;
using fixtures::npy;
using fixtures::safetensors;
using fixtures::slurp;
using fixtures::spill;
using fixtures::zip;
using ::testing::HasSubstr;

class Damage : public FilesTest {
 protected:
  std::string tiny_h5() const {
    make_h5(path("tiny.h5"), [](hid_t root) {
      const hdf5::Group layer(H5Gcreate2(root, "layer", 0, 0, 0));
      fixtures::add_tensor(layer.id(), "q", {2, 6, 4});
      fixtures::add_tensor(layer.id(), "k", {2, 6, 4}, Dtype::f16);
      (void)hdf5::write_strings(layer.id(), "token", {6}, {"a", "b", "c", "d", "e", "größer"},
                                {"", ""});
      hdf5::write_attributes(layer.id(), {{"model", std::string("m")}}, {"", ""});
    });
    return slurp(path("tiny.h5"));
  }
  std::string tiny_npz() const {
    return zip({{"q.npy", npy("<f4", "(2, 6, 4)", floats(48)), true},
                {"k.npy", npy("<f4", "(2, 6, 4)", floats(48))}});
  }
  std::string tiny_safetensors() const {
    return safetensors(R"({"q":{"dtype":"F32","shape":[2,6,4],"data_offsets":[0,192]}})",
                       floats(48));
  }
  /// Reads bytes under a name; an error must be one line about the file.
  std::string outcome(const std::string& name, const std::string& group, std::string_view bytes,
                      Input* input = nullptr) const {
    spill(path(name), bytes);
    InputOptions options;
    const std::string error = message_of([&] {
      Input read = read_input_sandboxed(path(name) + group, options, {1u << 29, 3, 1});
      if (input != nullptr) *input = std::move(read);
    });
    EXPECT_EQ(error.find('\n'), std::string::npos);
    EXPECT_TRUE(error.empty() || error.rfind(path(name), 0) == 0) << error;
    return error;
  }
};

TEST_F(Damage, EveryCutIsNoticed) {
  const auto cut_everywhere = [&](const std::string& name, const std::string& group,
                                  const std::string& whole, std::size_t step) {
    ASSERT_EQ(outcome(name, group, whole), "");
    for (std::size_t size = 1; size < whole.size(); size += step) {
      ASSERT_NE(outcome(name, group, whole.substr(0, size)), "") << name << " " << size;
    }
  };
  cut_everywhere("t.h5", ":/layer", tiny_h5(), 64);
  cut_everywhere("t.npz", "", tiny_npz(), 7);
  cut_everywhere("t.npy", "", npy("<f4", "(2, 6, 4)", floats(48)), 3);
  cut_everywhere("t.safetensors", "", tiny_safetensors(), 3);
}

TEST_F(Damage, CutsNameBothSizes) {
  const std::string h5 = tiny_h5();
  EXPECT_EQ(outcome("t.h5", ":/layer", std::string_view(h5).substr(0, 1000)),
            path("t.h5") + fmt::format(": truncated: expected {} bytes, have 1000", h5.size()));
  EXPECT_EQ(outcome("t.h5", "", std::string_view(h5).substr(0, 20)),
            path("t.h5") + ": truncated: expected 36 bytes, have 20");
  EXPECT_EQ(outcome("t.h5", "", std::string_view(h5).substr(0, 5)),
            path("t.h5") + ": truncated: expected 96 bytes, have 5");
  const std::string array = npy("<f4", "(2, 6, 4)", floats(48));
  EXPECT_EQ(outcome("t.npy", "", std::string_view(array).substr(0, 100)),
            path("t.npy") + fmt::format(": truncated: expected {} bytes, have 100", array.size()));
  EXPECT_THAT(outcome("t.npz", "", std::string_view(tiny_npz()).substr(0, 100)),
              HasSubstr("truncated: expected"));
  const std::string tensors = tiny_safetensors();
  EXPECT_EQ(outcome("t.safetensors", "", std::string_view(tensors).substr(0, 100)),
            path("t.safetensors") +
                fmt::format(": truncated: expected {} bytes, have 100", tensors.size()));
}

/// A pseudo-random sequence that is the same everywhere.
std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

struct FlipCounts {
  int errors = 0, same = 0, changed = 0, crashes = 0;
};

TEST_F(Damage, FlippedBytesNeverCrashOrHang) {
  const auto flip = [&](const std::string& name, const std::string& group, const std::string& whole,
                        int times) {
    Input truth;
    EXPECT_EQ(outcome(name, group, whole, &truth), "");
    FlipCounts counts;
    std::uint64_t state = 1;
    for (int i = 0; i < times; ++i) {
      std::string bytes = whole;
      const std::size_t at = next_random(state) % bytes.size();
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << next_random(state) % 8));
      Input input;
      const std::string error = outcome(name, group, bytes, &input);
      counts.errors += error.empty() ? 0 : 1;
      counts.crashes += error.find("library crash") != std::string::npos ? 1 : 0;
      const bool same = input.query.numbers == truth.query.numbers;
      counts.same += error.empty() && same ? 1 : 0;
      counts.changed += error.empty() && !same ? 1 : 0;
    }
    return counts;
  };
  const FlipCounts h5 = flip("t.h5", ":/layer", tiny_h5(), 800);
  RecordProperty("h5_errors", h5.errors);
  RecordProperty("h5_crashes_of_the_library", h5.crashes);
  EXPECT_GT(h5.errors, 0);
  EXPECT_EQ(h5.changed, 0);  // checksums: metadata by HDF5 1.10, numbers by Fletcher32
  const FlipCounts npz = flip("t.npz", "", tiny_npz(), 2000);
  EXPECT_EQ(npz.changed, 0);
  EXPECT_GT(npz.errors, 1000);
  EXPECT_GT(flip("t.safetensors", "", tiny_safetensors(), 2000).errors, 100);
  EXPECT_GT(flip("t.npy", "", npy("<f4", "(2, 6, 4)", floats(48)), 2000).errors, 100);
}

/// Where the heap of strings says how long its unused rest is (HDF5 File Format Specification,
/// III.E): after a header of 16 bytes, objects of 16 bytes and their content, the last one number
/// 0.
std::size_t free_space_size(const std::string& bytes) {
  std::size_t at = bytes.find("GCOL") + 16;
  while (little_endian(&bytes[at], 2) != 0) {
    at += 16 + (little_endian(&bytes[at + 8], 8) + 7) / 8 * 8;
  }
  return at + 8;
}

TEST_F(Damage, AFileThatMakesTheLibrarySpinIsAnsweredInTenSeconds) {
  std::string bytes = tiny_h5();
  bytes = fixtures::patched(bytes, free_space_size(bytes), std::string("\x03\0\0", 3));
  spill(path("t.h5"), bytes);
  const auto start = std::chrono::steady_clock::now();
  const std::string error =
      message_of([&] { (void)read_input_sandboxed(path("t.h5") + ":/layer"); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(error,
              HasSubstr("t.h5: reading "));  // "took too much processor time" or "did not end"
  EXPECT_LT(took.count(), 11);
}

TEST_F(Damage, FlippedBytesOfOldFormatHdf5AreSurvived) {
  // Without checksums in its metadata (superblock 0, as h5py writes by default).
  const std::string trace = slurp(std::string(CONELAB_SOURCE_DIR) + "/datasets/minilm_trace.h5");
  ASSERT_GT(trace.size(), 100000u);
  {
    const hdf5::Lock lock;
    const hdf5::File file(H5Fcreate(path("old.h5").c_str(), H5F_ACC_TRUNC, 0, 0));
    fixtures::add_tensor(file.id(), "q", {2, 6, 4});
    (void)hdf5::write_strings(file.id(), "token", {6}, {"a", "b", "c", "d", "e", "f"}, {"", ""});
    H5Fflush(file.id(), H5F_SCOPE_GLOBAL);
  }
  const std::string whole = slurp(path("old.h5"));
  ASSERT_EQ(outcome("t.h5", "", whole), "");
  std::uint64_t state = 7;
  int errors = 0;
  for (int i = 0; i < 600; ++i) {
    std::string bytes = whole;
    bytes[next_random(state) % bytes.size()] = static_cast<char>(next_random(state));
    errors += outcome("t.h5", "", bytes).empty() ? 0 : 1;
  }
  EXPECT_GT(errors, 0);
}

}  // namespace
}  // namespace conelab
