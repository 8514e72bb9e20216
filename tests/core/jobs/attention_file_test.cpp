#include "core/jobs/attention_file.h"

#include <cmath>
#include <numeric>

#include "core/base/random.h"
#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using fixtures::FilesTest;
using fixtures::message_of;
using fixtures::slurp;
using fixtures::spill;
using ::testing::HasSubstr;

class AttentionFileTest : public FilesTest {};

/// Number of a place in a map, small enough to be exact in f16.
double place(std::int64_t head, std::int64_t query, std::int64_t key) {
  return static_cast<double>((head * 31 + query * 7 + key) % 200) / 8;
}

template <class T>
RowBlocks<T> places(std::int64_t keys) {
  return
      [keys](std::int64_t batch, std::int64_t head, std::int64_t begin, std::int64_t end, T* out) {
        for (std::int64_t i = begin; i < end; ++i) {
          for (std::int64_t j = 0; j < keys; ++j)
            *out++ = static_cast<T>(place(3 * batch + head, i, j));
        }
      };
}

template <class T>
struct Example {
  Tensor4<T> output{{2, 3, 130, 4}, T(0.25)};
  Tensor4<T> lse{{2, 3, 130, 1}, T(-1.5)};
  Backward<T> gradients{Tensor4<T>({2, 3, 130, 5}, T(1)),
                        Tensor4<T>({2, 3, 70, 5}, T(2)),
                        Tensor4<T>({2, 3, 70, 4}, T(3)),
                        {{"gamma", {1, 2, 3}}, {"scale", {0.5}}}};
  AttentionFile<T> file;

  explicit Example(Dtype dtype) {
    file.extents = {2, 3, 130, 70, 5, 4};
    file.pairs = {2, 3, 130, 70};
    file.dtype = dtype;
    file.output = &output;
    file.lse = &lse;
    file.weights = places<T>(70);
    file.gradients = &gradients;
    file.query_token.assign(130, "token");
    file.key_token.assign(70, "größer");
    file.spec = R"({"similarity": "dot"})";
    file.parameters.axes = {counted_axis("head", 3)};
    file.parameters.add("gamma", {"head"}, std::vector<double>{1, 2, 3});
    file.parameters.add("convention", {}, std::vector<std::string>{"paper"});
    file.parameters.add_tensor("W", {2, 2}, std::vector<double>{1, 2, 3, 4});
    file.environment.add("threads", {}, std::vector<std::int64_t>{2});
    file.creator = "conelab";
  }
};

template <class T>
void expect_weights(const std::string& path, Dtype dtype) {
  write_attention(path, Example<T>(dtype).file);
  InputOptions options;
  options.query = "weight";
  options.query_only = true;
  const Input input = read_input(path + ":/attention/weights", options);
  ASSERT_EQ(input.query.dtype, dtype);
  ASSERT_EQ(input.query.shape(), (Shape4{2, 3, 130, 70}));
  const Tensor4<double> weight = to_tensor<double>(input.query);
  for (std::int64_t pair = 0; pair < 6; ++pair) {
    for (std::int64_t i = 0; i < 130; ++i) {
      for (std::int64_t j = 0; j < 70; ++j) {
        ASSERT_EQ(weight.at(pair / 3, pair % 3, i, j), place(pair, i, j));
      }
    }
  }
  EXPECT_EQ(input.query_token.size(), 130u);
  // And as figures read them.
  const LabelledFile file = read_labelled_file(path);
  std::vector<double> labelled;
  std::visit(
      [&](const auto& numbers) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(numbers[0])>>) {
          labelled.assign(numbers.begin(), numbers.end());
        }
      },
      file.group("attention/weights")->variable("weight")->data);
  EXPECT_EQ(labelled, weight.data);
}

/// The chunk as it lies in the file.
std::string stored_chunk(const hdf5::Dataset& dataset, const std::vector<hsize_t>& offset) {
  hsize_t size = 0;
  H5Dget_chunk_storage_size(dataset.id(), offset.data(), &size);
  std::string bytes(size, '\0');
  std::uint32_t skipped = 0;
  H5Dread_chunk(dataset.id(), H5P_DEFAULT, offset.data(), &skipped, bytes.data());
  EXPECT_EQ(skipped, 0u);
  return bytes;
}

/// Writes all numbers in the type of the data set by the library's own filters.
void write_by_library(const hdf5::Dataset& dataset, Dtype dtype,
                      const std::vector<float>& numbers) {
  const hdf5::Type type(H5Dget_type(dataset.id()));
  const hdf5::Where where{"", "/plain"};
  if (dtype == Dtype::f32) return write_numbers(dataset, type.id(), numbers.data(), where);
  const std::vector<double> wide(numbers.begin(), numbers.end());
  std::vector<std::uint16_t> bits;
  for (const float x : numbers) bits.push_back(dtype == Dtype::f16 ? to_f16(x) : to_bf16(x));
  const bool half = dtype != Dtype::f64;
  const void* stored = half ? static_cast<const void*>(bits.data()) : wide.data();
  write_numbers(dataset, type.id(), stored, where);
}

TEST_F(AttentionFileTest, PacksChunksAsTheLibraryDoes) {
  const hdf5::Lock lock;
  Random random(3);
  const std::vector<hsize_t> extents = {1, 1, 100, 130}, chunk = {1, 1, 32, 64};
  std::vector<float> numbers(100 * 130);
  for (const bool smooth : {true, false}) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = smooth ? static_cast<float>(i / 7) : static_cast<float>(random.normal());
    }
    for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16}) {
      const hdf5::Where where{path("p.h5"), "/"};
      const hdf5::File file = hdf5::create_file(where.file, where);
      const hdf5::Dataset packed =
          hdf5::create_tensor(file.id(), "packed", dtype, extents, chunk, where.child("packed"));
      const hdf5::Dataset whole =
          hdf5::create_tensor(file.id(), "whole", dtype, extents, chunk, where.child("whole"));
      const hdf5::Dataset plain =
          hdf5::create_tensor(file.id(), "plain", dtype, extents, chunk, where.child("plain"));
      hdf5::write_rows(packed, dtype, {0, 0, 0, 64, 130}, numbers.data(), {}, where);
      hdf5::write_rows(packed, dtype, {0, 0, 64, 36, 130}, numbers.data() + 64 * 130, {}, where);
      hdf5::write_tensor(whole, dtype, numbers.data(), numbers.size(), {}, where);
      write_by_library(plain, dtype, numbers);
      H5Fflush(file.id(), H5F_SCOPE_LOCAL);
      for (hsize_t row = 0; row < 100; row += 32) {
        for (hsize_t column = 0; column < 130; column += 64) {
          const std::vector<hsize_t> at = {0, 0, row, column};
          EXPECT_EQ(stored_chunk(packed, at), stored_chunk(plain, at)) << row << ", " << column;
          EXPECT_EQ(stored_chunk(whole, at), stored_chunk(plain, at)) << row << ", " << column;
        }
      }
    }
  }
}

TEST_F(AttentionFileTest, TensorsOfAnyShapeAreReadBack) {
  const hdf5::Lock lock;
  using Sizes = std::vector<hsize_t>;
  const std::vector<std::pair<Sizes, Sizes>> shapes = {{{7}, {3}},
                                                       {{5, 4}, {5, 4}},
                                                       {{2, 3, 5, 7}, {1, 2, 3, 7}},
                                                       {{2, 2, 3, 2, 5}, {1, 2, 2, 1, 4}},
                                                       {{3, 3000000}, {2, 65536}}};  // 36 MB.
  for (const auto& [extents, chunk] : shapes) {
    std::vector<float> numbers(
        std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>()));
    std::iota(numbers.begin(), numbers.end(), 1.0F);
    const hdf5::Where where{path("s.h5"), "/x"};
    hdf5::File file = hdf5::create_file(where.file, where);
    hdf5::Dataset dataset = hdf5::create_tensor(file.id(), "x", Dtype::f32, extents, chunk, where);
    hdf5::write_tensor(dataset, Dtype::f32, numbers.data(), numbers.size(), {}, where);
    dataset.close(where), file.close(where);
    // HDF5 1.10 reads a data set of one chunk wrongly before it is closed.
    const hdf5::File again(H5Fopen(where.file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const hdf5::Dataset written(H5Dopen2(again.id(), "x", H5P_DEFAULT));
    std::vector<float> found(numbers.size());
    H5Dread(written.id(), hdf5::number_type<float>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data());
    EXPECT_TRUE(found == numbers) << fmt::format("{}", fmt::join(extents, " x "));
  }
}

TEST_F(AttentionFileTest, PackingStopsWhenCancelled) {
  Example<float> example(Dtype::f32);
  example.file.execution.cancelled = [] { return true; };
  EXPECT_EQ(fixtures::error_of([&] { write_attention(path("a.h5"), example.file); }).kind(),
            ErrorKind::interrupted);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(AttentionFileTest, KeepsEveryNumberOfAMapInEveryDtype) {
  expect_weights<float>(path("a.h5"), Dtype::f32);
  expect_weights<double>(path("a.h5"), Dtype::f64);
  expect_weights<float>(path("a.h5"), Dtype::f64);
  expect_weights<double>(path("a.h5"), Dtype::f32);
  expect_weights<float>(path("a.h5"), Dtype::f16);
  expect_weights<float>(path("a.h5"), Dtype::bf16);
}

TEST_F(AttentionFileTest, KeepsOutputGradientsAndParameters) {
  write_attention(path("a.h5"), Example<double>(Dtype::f64).file);
  const LabelledFile read = read_labelled_file(path("a.h5"));
  const LabelledArray& output = *read.group("attention/output");
  EXPECT_EQ(output.signal, "output");
  EXPECT_EQ(output.variable("output")->axes,
            (std::vector<std::string>{"batch", "head", "query", "feature"}));
  EXPECT_EQ(output.variable("lse")->axes, (std::vector<std::string>{"batch", "head", "query"}));
  EXPECT_EQ(output.variable("lse")->data, LabelledData(std::vector<double>(780, -1.5)));
  const LabelledArray& gradients = *read.group("attention/gradients");
  EXPECT_EQ(gradients.variable("k")->data, LabelledData(std::vector<double>(2100, 2)));
  EXPECT_EQ(gradients.variable("v")->axes.back(), "value_feature");
  EXPECT_EQ(gradients.variable("gamma")->axes, std::vector<std::string>{"head"});
  EXPECT_TRUE(gradients.variable("scale")->axes.empty());
  const LabelledArray& parameters = *read.group("attention/parameters");
  EXPECT_EQ(parameters.variable("W")->data, LabelledData(std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(parameters.variable("convention")->data,
            LabelledData(std::vector<std::string>{"paper"}));
}

TEST_F(AttentionFileTest, EqualContentGivesEqualBytes) {
  write_attention(path("a.h5"), Example<float>(Dtype::bf16).file);
  write_attention(path("b.h5"), Example<float>(Dtype::bf16).file);
  EXPECT_TRUE(slurp(path("a.h5")) == slurp(path("b.h5")));
}

TEST_F(AttentionFileTest, AsksForBlocksInOrderAndNeverForTheWholeMap) {
  Example<float> example(Dtype::f32);
  example.file.extents = {1, 1, 5000, 1500, 5, 4};
  example.file.pairs = {1, 1, 5000, 1500};
  example.file.output = nullptr, example.file.lse = nullptr, example.file.gradients = nullptr;
  example.file.query_token.clear(), example.file.key_token.clear();
  example.file.parameters = {};
  std::int64_t next = 0, longest = 0;
  example.file.weights = [&](std::int64_t, std::int64_t, std::int64_t begin, std::int64_t end,
                             float* out) {
    EXPECT_EQ(begin, next);
    next = end;
    longest = std::max(longest, end - begin);
    std::fill(out, out + (end - begin) * 1500, 1.f);
  };
  write_attention(path("a.h5"), example.file);
  EXPECT_EQ(next, 5000);
  EXPECT_LE(longest * 1500, 2 << 20);
}

TEST_F(AttentionFileTest, NamesWhatDoesNotFit) {
  Example<float> example(Dtype::f32);
  example.output = Tensor4<float>({2, 3, 129, 4});
  EXPECT_EQ(message_of([&] { write_attention(path("a.h5"), example.file); }),
            path("a.h5") +
                ": /attention/output/output: wrong shape (expected [2, 3, 130, 4], found "
                "[2, 3, 129, 4])");
  Example<float> tokens(Dtype::f32);
  tokens.file.key_token.pop_back();
  EXPECT_THAT(message_of([&] { write_attention(path("a.h5"), tokens.file); }),
              HasSubstr("key_token: wrong length (expected 70, found 69)"));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(AttentionFileTest, AFailingProducerLeavesTheOldFile) {
  spill(path("a.h5"), "old");
  Example<float> example(Dtype::f32);
  example.file.weights = [](std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*) {
    throw Error(ErrorKind::interrupted, "interrupted");
  };
  EXPECT_EQ(message_of([&] { write_attention(path("a.h5"), example.file); }), "interrupted");
  EXPECT_EQ(slurp(path("a.h5")), "old");
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace conelab
