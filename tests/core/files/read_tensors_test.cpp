#include "core/files/read_tensors.h"

#include <cmath>

#include "core/base/half.h"
#include "core/files/sandbox.h"
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
using fixtures::ramp;
using fixtures::safetensors;
using fixtures::spill;
using fixtures::zip;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReadTensors : public FilesTest {};

TEST_F(ReadTensors, ReadsTheTraceThatShips) {
  const std::string trace = std::string(CONELAB_SOURCE_DIR) + "/datasets/minilm_trace.h5";
  const Input input = read_input(trace + ":/german/layer0");
  EXPECT_EQ(input.query.shape(), (Shape4{1, 12, 30, 32}));
  EXPECT_EQ(input.query.dtype, Dtype::f32);
  EXPECT_EQ(input.key->shape(), input.query.shape());
  EXPECT_EQ(input.query_token.size(), 30u);
  EXPECT_EQ(input.query_token[13], "!");
  EXPECT_EQ(input.key_token, input.query_token);
  EXPECT_EQ(input.layer, 0);
  EXPECT_THAT(input.text, HasSubstr("Zieh sie aus!"));
  const Input halves = read_input(trace + ":/glosses/layer3");
  EXPECT_EQ(halves.query.dtype, Dtype::f16);
  EXPECT_EQ(halves.query.shape(), (Shape4{1, 12, 444, 32}));
}

TEST_F(ReadTensors, TheSandboxReadsTheSame) {
  const std::string spec =
      std::string(CONELAB_SOURCE_DIR) + "/datasets/minilm_trace.h5:/english/layer5";
  const Input here = read_input(spec), there = read_input_sandboxed(spec);
  EXPECT_EQ(there.query.numbers, here.query.numbers);
  EXPECT_EQ(there.value->numbers, here.value->numbers);
  EXPECT_EQ(there.value->extents, here.value->extents);
  EXPECT_EQ(there.query_token, here.query_token);
  EXPECT_EQ(there.text, here.text);
  EXPECT_EQ(there.layer, here.layer);
  EXPECT_EQ(there.sha256, here.sha256);
  EXPECT_EQ(there.group, "/english/layer5");
}

/// A file with everything that the contract names.
void make_everything(const std::string& path) {
  make_h5(path, [&](hid_t root) {
    const hdf5::Where where{path, "/"};
    add_tensor(root, "q", {2, 3, 4}, Dtype::bf16);
    add_tensor(root, "k", {2, 5, 4}, Dtype::f16);
    add_tensor(root, "v", {2, 5, 6}, Dtype::f64);
    add_tensor(root, "output_grad", {1, 2, 3, 6});
    add_tensor(root, "W", {4, 4});
    (void)write_strings(root, "query_token", {3}, {"a", "größer", ""}, where);
    (void)write_strings(root, "key_token", {5}, {"1", "2", "3", "4", "5"}, where);
    std::vector<std::uint8_t> mask(15, 1);
    mask[4] = 0;
    const hdf5::Dataset dataset =
        hdf5::create_dataset(root, "mask", H5T_STD_U8LE, {3, 5}, {}, where);
    hdf5::write_numbers(dataset, H5T_NATIVE_UINT8, mask.data(), where);
    hdf5::write_attributes(root, {{"model", std::string("m")}, {"layer", std::int64_t{3}}}, where);
  });
}

void expect_everything(const Input& input) {
  EXPECT_EQ(input.query.dtype, Dtype::bf16);
  EXPECT_EQ(input.key->dtype, Dtype::f16);
  EXPECT_EQ(input.value->dtype, Dtype::f64);
  EXPECT_EQ(input.query.rank(), 3u);
  EXPECT_EQ(to_tensor<double>(input.query).data, ramp(24));
  EXPECT_EQ(to_tensor<double>(*input.key).data, ramp(40));
  EXPECT_EQ(to_tensor<double>(*input.value).data, ramp(60));
  EXPECT_EQ(input.output_grad->extents, (std::vector<std::int64_t>{1, 2, 3, 6}));
  EXPECT_EQ(to_doubles(input.parameters.at("W")), ramp(16));
  EXPECT_EQ(input.parameters.count("absent"), 0u);
  EXPECT_THAT(input.query_token, ElementsAre("a", "größer", ""));
  EXPECT_EQ(input.key_token.back(), "5");
  EXPECT_THAT(input.mask, ElementsAre(1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(input.model, "m");
  EXPECT_EQ(input.layer, 3);
}

TEST_F(ReadTensors, ReadsEverythingThatTheContractNames) {
  make_everything(path("all.h5"));
  InputOptions options;
  options.parameters = {"W", "absent"};
  expect_everything(read_input(path("all.h5"), options));
  expect_everything(read_input_sandboxed(path("all.h5") + ":/", options));
}

TEST_F(ReadTensors, KeyAndValueDefaultToQuery) {
  make_h5(path("q.h5"), [](hid_t root) { add_tensor(root, "q", {3, 4}); });
  const Input input = read_input(path("q.h5"));
  EXPECT_FALSE(input.key);
  EXPECT_FALSE(input.value);
  EXPECT_EQ(input.query.shape(), (Shape4{1, 1, 3, 4}));
}

TEST_F(ReadTensors, CountsNanAndInfinity) {
  const std::vector<float> numbers = {1, NAN, INFINITY, -INFINITY, NAN, 0};
  spill(path("q.npy"), npy("<f4", "(3, 2)", bytes_of(numbers)));
  const Input input = read_input(path("q.npy"));
  EXPECT_EQ(input.query.nan_count, 2);
  EXPECT_EQ(input.query.infinite_count, 2);
  const std::vector<std::uint16_t> halves = {0x7C00, 0xFC00, 0x7C01, 0, 1, 0xFFFF};
  spill(path("h.npy"), npy("<f2", "(3, 2)", bytes_of(halves)));
  EXPECT_EQ(read_input(path("h.npy")).query.nan_count, 2);
  EXPECT_EQ(read_input(path("h.npy")).query.infinite_count, 2);
}

TEST_F(ReadTensors, ReadsNpyInEveryOrder) {
  const std::vector<float> columns = {0, 1.5f, 0.5f, 2, 1, 2.5f};  // of a 2 × 3 matrix
  std::string swapped = floats(6);
  for (std::size_t i = 0; i < swapped.size(); i += 4) {
    std::reverse(swapped.begin() + static_cast<long>(i),
                 swapped.begin() + static_cast<long>(i) + 4);
  }
  spill(path("q.npy"), npy("<f4", "(2, 3)", floats(6)));
  spill(path("k.npy"), npy("<f4", "(2, 3)", bytes_of(columns), true));
  spill(path("v.npy"), npy(">f4", "(2, 3)", swapped));
  InputOptions options;
  options.query = path("q.npy"), options.key = path("k.npy"), options.value = path("v.npy");
  const Input input = read_input("", options);
  EXPECT_EQ(to_doubles(input.query), ramp(6));
  EXPECT_EQ(to_doubles(*input.key), ramp(6));
  EXPECT_EQ(to_doubles(*input.value), ramp(6));
}

TEST_F(ReadTensors, ReadsFortranOrderOfAnyRank) {
  std::vector<float> columns(24);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        columns[static_cast<std::size_t>(i + 2 * j + 6 * k)] =
            0.5f * static_cast<float>(12 * i + 4 * j + k);
      }
    }
  }
  spill(path("q.npy"), npy("<f4", "(2, 3, 4)", bytes_of(columns), true));
  EXPECT_EQ(to_doubles(read_input(path("q.npy")).query), ramp(24));
}

TEST_F(ReadTensors, ReadsIntegerParameters) {
  spill(path("W.npy"), npy("<i4", "(3,)", bytes_of(std::vector<std::int32_t>{-1, 0, 7})));
  const InputTensor tensor = read_npy_tensor(path("W.npy"));
  EXPECT_THAT(to_doubles(tensor), ElementsAre(-1, 0, 7));
  EXPECT_EQ(tensor.extents, (std::vector<std::int64_t>{3}));
}

TEST_F(ReadTensors, ReadsNpzStoredAndDeflated) {
  std::vector<std::uint32_t> letters = {'a', 0, 0xE4, 0x65E5};
  for (const bool deflated : {false, true}) {
    spill(path("t.npz"), zip({{"q.npy", npy("<f4", "(2, 3)", floats(6)), deflated},
                              {"v.npy", npy("<f8", "(2, 1)", bytes_of(ramp(2))), deflated},
                              {"token.npy", npy("<U2", "(2,)", bytes_of(letters)), deflated},
                              {"mask.npy", npy("|b1", "(2, 2)", std::string("\1\0\1\1", 4))}}));
    const Input input = read_input(path("t.npz"));
    EXPECT_EQ(to_doubles(input.query), ramp(6));
    EXPECT_EQ(to_doubles(*input.value), ramp(2));
    EXPECT_THAT(input.query_token, ElementsAre("a", "ä日"));
    EXPECT_THAT(input.mask, ElementsAre(1, 0, 1, 1));
  }
}

TEST_F(ReadTensors, ArchivesHaveGroupsByTheNamesOfTheirArrays) {
  spill(path("t.npz"), zip({{"layer0/q.npy", npy("<f4", "(2, 3)", floats(6)), false},
                            {"layer1/q.npy", npy("<f4", "(4, 3)", floats(12)), false},
                            {"layer1/v.npy", npy("<f4", "(4, 5)", floats(20)), false}}));
  EXPECT_EQ(read_input(path("t.npz") + ":/layer0").query.shape(), (Shape4{1, 1, 2, 3}));
  const Input input = read_input(path("t.npz") + ":/layer1");
  EXPECT_EQ(input.query.shape(), (Shape4{1, 1, 4, 3}));
  EXPECT_EQ(input.value->shape(), (Shape4{1, 1, 4, 5}));
  EXPECT_EQ(input.group, "/layer1");
  EXPECT_THROW((void)read_input(path("t.npz") + ":/layer"), Error) << "no part of a name";
  EXPECT_THROW((void)read_input(path("t.npz") + ":/layer2"), Error);
  EXPECT_THROW((void)read_input(path("t.npz")), Error);
}

TEST_F(ReadTensors, ArchivesHaveGroupsBeforeDotsWhereThereAreNoSlashes) {
  spill(path("t.npz"), zip({{"m.0.attn.q.npy", npy("<f4", "(2, 3)", floats(6)), false},
                            {"m.1.attn.q.npy", npy("<f4", "(4, 3)", floats(12)), false},
                            {"both/q.npy", npy("<f4", "(5, 1)", floats(5)), false},
                            {"both.q.npy", npy("<f4", "(6, 1)", floats(6)), false}}));
  EXPECT_EQ(read_input(path("t.npz") + ":/m.0.attn").query.shape(), (Shape4{1, 1, 2, 3}));
  EXPECT_EQ(read_input(path("t.npz") + ":/m.1.attn").query.shape(), (Shape4{1, 1, 4, 3}));
  EXPECT_EQ(read_input(path("t.npz") + ":/both").query.shape(), (Shape4{1, 1, 5, 1}));
  EXPECT_THROW((void)read_input(path("t.npz") + ":/m.1"), Error) << "its q is attn.q";
  EXPECT_THROW((void)read_input(path("t.npz") + ":/m.1.att"), Error) << "no part of a name";
}

TEST_F(ReadTensors, ReadsSafetensors) {
  const std::string header =
      R"({"__metadata__":{"model":"m"},"x.k":{"dtype":"BF16","shape":[2,3],"data_offsets":[24,36]},)"
      R"("q":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}   )";
  std::vector<std::uint16_t> halves;
  for (const double x : ramp(6)) halves.push_back(to_bf16(x));
  spill(path("t.safetensors"), safetensors(header, floats(6) + bytes_of(halves)));
  InputOptions options;
  options.key = "x.k";
  const Input input = read_input(path("t.safetensors"), options);
  EXPECT_EQ(input.key->dtype, Dtype::bf16);
  EXPECT_EQ(to_doubles(*input.key), ramp(6));
  EXPECT_EQ(to_doubles(input.query), ramp(6));
  EXPECT_EQ(input.model, "m");
}

TEST_F(ReadTensors, MovesInsteadOfCopyingWhereTypesAgree) {
  spill(path("q.npy"), npy("<f4", "(2, 3)", floats(6)));
  Input input = read_input(path("q.npy"));
  const float* before = std::get<std::vector<float>>(input.query.numbers).data();
  const Tensor4<float> tensor = to_tensor<float>(std::move(input.query));
  EXPECT_EQ(tensor.data.data(), before);
  EXPECT_EQ(tensor.shape, (Shape4{1, 1, 2, 3}));
}

TEST_F(ReadTensors, ANameWithAColonIsAFileFirst) {
  make_h5(path("a:b.h5"), [](hid_t root) { add_tensor(root, "q", {3, 4}); });
  EXPECT_EQ(read_input(path("a:b.h5")).query.shape().token, 3);
  EXPECT_EQ(read_input(path("a:b.h5") + ":/").query.shape().token, 3);
}

TEST_F(ReadTensors, ReadsFixedStringsBooleansAndForeignTypes) {
  make_h5(path("q.h5"), [&](hid_t root) {
    const hsize_t two = 2, four[2] = {2, 2};
    const hdf5::Type text(H5Tcopy(H5T_C_S1)), boolean(H5Tenum_create(H5T_STD_I8LE));
    H5Tset_size(text.id(), 3);
    H5Tset_strpad(text.id(), H5T_STR_NULLPAD);
    const char no = 0, yes = 1;
    H5Tenum_insert(boolean.id(), "FALSE", &no);
    H5Tenum_insert(boolean.id(), "TRUE", &yes);
    const hdf5::Space list(H5Screate_simple(1, &two, nullptr));
    const hdf5::Space square(H5Screate_simple(2, four, nullptr));
    const auto add = [&](const char* name, hid_t type, hid_t memory, hid_t space,
                         const void* data) {
      const hdf5::Dataset dataset(H5Dcreate2(root, name, type, space, 0, 0, 0));
      H5Dwrite(dataset.id(), memory, H5S_ALL, H5S_ALL, 0, data);
    };
    add("token", text.id(), text.id(), list.id(), "ab\0\xff!?");
    add("mask", boolean.id(), boolean.id(), square.id(), "\1\1\0\1");
    add("q", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, square.id(), ramp(4).data());
  });
  const Input input = read_input_sandboxed(path("q.h5"));
  EXPECT_THAT(input.query_token, ElementsAre("ab", "\xff!?"));
  EXPECT_THAT(input.mask, ElementsAre(1, 1, 0, 1));
  EXPECT_EQ(to_doubles(input.query), ramp(4));
}

}  // namespace
}  // namespace conelab
