// Every kernel once on small random operands, for compute-sanitizer; results are not judged here.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

#include "gpu/hopper/fast.h"
#include "gpu/hopper/layout.h"
#include "gpu/portable.h"
#include "gpu/tile/visit_similarity.h"

namespace {

using namespace conelab::gpu;

// Two heads of queries, which share one head of keys and values.
constexpr int groups = 2, share = 2, size = 40, width = 70;
int tokens = 0;  // Of each side.
int blocks() { return ceil_div(tokens, 64); }

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "sanitize: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
T* upload(const std::vector<T>& array) {
  T* data = nullptr;
  check(cudaMalloc(&data, array.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(data, array.data(), array.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return data;
}

/// Positive: inside every model's domain.
float random_number() {
  static std::mt19937 engine(1);
  return std::uniform_real_distribution<float>(0.1f, 0.9f)(engine);
}

float* random_numbers(std::size_t count) {
  std::vector<float> numbers(count);
  for (float& x : numbers) x = random_number();
  return upload(numbers);
}

Side<float> side(int values, int of) {
  const int all = groups / of * tokens;
  return {random_numbers(all * size), random_numbers(all * (values + 1)), random_numbers(all),
          tokens, of};
}

const unsigned char* random_tiles(int tile_rows, int numbers, int of) {
  const int tiles = groups / of * ceil_div(tokens, tile_rows);
  const auto bytes = static_cast<std::size_t>(tiles * hopper::tile_bytes(tile_rows, numbers));
  std::vector<std::uint16_t> halves(bytes / 2);
  for (std::uint16_t& x : halves) x = conelab::to_bf16(random_number());
  return reinterpret_cast<const unsigned char*>(upload(halves));
}

void run_fast(int index, Problem<float> p, hopper::Law law, int values,
              const ForwardResult<float>& result, const GradientResult<float>& gradient) {
  p.storage = Storage::bf16;
  p.sigmoid = law == hopper::Law::sigmoid;
  p.normalised = !p.sigmoid;
  p.axes = law == hopper::Law::softmax ? 0 : 1;
  const int numbers = hopper::fast_width(index, p);
  if (numbers == 0) return;
  const int key_tiles = groups / share * ceil_div(tokens, hopper::key_tile);
  const std::size_t entries = hopper::offset_entries(tokens, tokens);
  const float* bias = random_numbers(groups * entries);
  const hopper::FastProblem fast{p,
                                 random_tiles(64, numbers, 1),
                                 random_tiles(128, numbers, share),
                                 random_tiles(128, numbers, share),
                                 random_numbers(key_tiles * (1 + values) * hopper::key_tile),
                                 bias};
  for (int v = 0; v < static_cast<int>(std::size(hopper::variants)); ++v) {
    (void)hopper::launch_forward(index, v, fast, result, nullptr);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "fast forward");
  }
  const std::size_t facts = blocks() * groups * (values + 3) * 64;
  const hopper::FastGradient g{p,
                               random_tiles(64, numbers, 1),
                               random_tiles(64, numbers, share),
                               random_tiles(64, numbers, share),
                               random_tiles(64, numbers, 1),
                               random_numbers(facts),
                               random_numbers(facts / share),
                               bias,
                               upload(std::vector<long long>(groups * entries)),
                               upload(std::vector<double>(groups, 1e6))};
  (void)hopper::launch_gradient(index, g, gradient, nullptr);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "fast gradient");
}

std::vector<int> numbers_below(int count, int limit) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i % limit);
  return numbers;
}

/// Every third token for each block of 64, with some of the block's own.
PairLists lists() {
  std::vector<int> first{0}, token;
  std::vector<std::uint64_t> rows;
  for (int block = 0; block * 64 < tokens; ++block) {
    for (int i = 0; i < tokens; i += 3) {
      token.push_back(i);
      rows.push_back(0x9249249249249249u << (i % 3));
    }
    first.push_back(static_cast<int>(token.size()));
  }
  return {upload(first), upload(token), upload(rows)};
}

void run_portable(int index, const Problem<float>& p, const ForwardResult<float>& result,
                  const Upstream<float>& upstream, const GradientResult<float>& gradient) {
  portable_kernels(index).forward(p, result, nullptr);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "portable forward");
  portable_kernels(index).gradient(p, upstream, gradient, nullptr);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "portable gradient");
}

/// A mask with holes, the softmax over queries, a bias on a grid of two axes, and one of classes of
/// relative positions, all at once.
void run_parts(int index, Problem<float> p, ForwardResult<float> result, Upstream<float> upstream,
               GradientResult<float> gradient) {
  constexpr int classes = 7;
  const int rows = groups * tokens, table = 4 * tokens;
  p.lists = 1;
  p.query_lists = lists();
  p.key_lists = lists();
  p.over_queries = true;
  p.normalised = false;
  p.axes = 2;
  p.bias_size = table;
  p.bias_slopes = 4;
  p.bias = random_numbers(groups * table);
  p.bias_slope = random_numbers(groups * 4 * table);
  p.query_place = upload(numbers_below(2 * tokens, tokens));
  std::vector<int> key_place = numbers_below(2 * tokens, tokens);
  for (int& place : key_place) place += 2 * tokens;
  p.key_place = upload(key_place);
  p.classes = classes;
  p.class_of = upload(numbers_below(groups * (2 * tokens - 1), classes));
  p.class_bias = random_numbers(rows * classes);
  p.sums_slopes = p.sums_weights = true;
  result.column_lse = random_numbers(rows);
  result.class_weight = random_numbers(rows * classes);
  upstream.column_lse = result.column_lse;
  upstream.unit = random_numbers(rows);
  upstream.class_slope = random_numbers(rows * classes);
  gradient.sums = upload(std::vector<double>(blocks() * groups * (conelab::max_constants + 4)));
  gradient.column_delta = random_numbers(rows);
  gradient.class_slope = random_numbers(rows * classes);
  gradient.class_weight = random_numbers(rows * classes);
  run_portable(index, p, result, upstream, gradient);
}

struct Operands {
  Problem<float> p;
  ForwardResult<float> result;
  Upstream<float> upstream;
  GradientResult<float> gradient;
};

template <class S>
Operands operands(int count) {
  tokens = count;
  Problem<float> p;
  p.groups = p.heads = groups;
  p.base_size = p.base_stride = size;
  p.width = width;
  p.query = side(S::values, 1);
  p.key = side(S::values, share);
  p.value = random_numbers(groups / share * tokens * width);
  p.value_mark = upload(std::vector<float>(groups / share * tokens, 0.0f));
  p.constants = random_numbers(groups * S::constants);
  std::vector<KeySpan> spans;
  for (int i = 0; i < tokens; ++i) spans.push_back({0, i + 1});
  p.span = upload(spans);
  p.block_span = upload(std::vector<BlockSpan>(blocks(), BlockSpan{{0, tokens}, {0, 1}}));
  const std::size_t rows = groups * tokens;
  const ForwardResult<float> result{random_numbers(rows * width), random_numbers(rows),
                                    random_numbers(rows)};
  const Upstream<float> upstream{random_numbers(rows * width), result.maximum, result.sum,
                                 random_numbers(rows)};
  const GradientResult<float> gradient{
      random_numbers(rows * size),
      random_numbers(rows),
      random_numbers(rows * size),
      random_numbers(rows),
      random_numbers(rows * width),
      upload(std::vector<double>(blocks() * groups * (S::constants + 1)))};
  return {p, result, upstream, gradient};
}

template <class S>
void run(int index) {
  std::printf("sanitize: %s %s\n", S::info.name, S::info.about);
  std::fflush(stdout);  // Where a kernel never ends, this says which.
  const Operands all = operands<S>(130);
  run_portable(index, all.p, all.result, all.upstream, all.gradient);
  Problem<float> narrow =
      all.p;  // Any bits are numbers of 16 bits, and 64 of them are read at once.
  narrow.storage = Storage::bf16;
  narrow.width = 64;
  run_portable(index, narrow, all.result, all.upstream, all.gradient);
  run_parts(index, all.p, all.result, all.upstream, all.gradient);
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "attribute");
  if (major != 9) return;
  // Three tiles of 128 keys, so that the forward kernels, too, fill a stage twice.
  Operands fast = operands<S>(300);
  for (const int numbers : {width, 64}) {
    fast.p.width = numbers;
    for (const auto law : {hopper::Law::softmax, hopper::Law::biased, hopper::Law::sigmoid}) {
      run_fast(index, fast.p, law, S::values, fast.result, fast.gradient);
    }
  }
}

}  // namespace

int main() {
  for (int i = 0; i < conelab::Similarities::size; ++i) {
    visit_similarity(i, [&](auto tag) { run<typename decltype(tag)::type>(i); });
  }
  std::puts("sanitize: every kernel ran");
}
