// Every kernel once on small random operands, for compute-sanitizer; results are not judged here.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <vector>

#include "gpu/fold.h"
#include "gpu/hopper/fast.h"
#include "gpu/hopper/layout.h"
#include "gpu/portable.h"

namespace {

using namespace conelab::gpu;

constexpr int groups = 2, tokens = 130, size = 40, width = 70;

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

Side<float> side(int values) {
  return {random_numbers(groups * tokens * size), random_numbers(groups * tokens * (values + 1)),
          random_numbers(groups * tokens), tokens};
}

const unsigned char* random_tiles(int tile_rows, int numbers) {
  const int tiles = groups * ceil_div(tokens, tile_rows);
  const auto bytes = static_cast<std::size_t>(tiles * hopper::tile_bytes(tile_rows, numbers));
  std::vector<std::uint16_t> halves(bytes / 2);
  for (std::uint16_t& x : halves) x = conelab::to_bf16(random_number());
  return reinterpret_cast<const unsigned char*>(upload(halves));
}

void run_fast(int index, Problem<float> p, int values, const ForwardResult<float>& result,
              const GradientResult<float>& gradient) {
  p.storage = Storage::bf16;
  const int numbers = hopper::fast_width(index, p);
  if (numbers == 0) return;
  const int key_tiles = groups * ceil_div(tokens, hopper::key_tile);
  const hopper::FastProblem fast{p, random_tiles(64, numbers), random_tiles(128, numbers),
                                 random_tiles(128, numbers),
                                 random_numbers(key_tiles * (1 + values) * hopper::key_tile)};
  for (int v = 0; v < static_cast<int>(std::size(hopper::variants)); ++v) {
    (void)hopper::launch_forward(index, v, fast, result, nullptr);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "fast forward");
  }
  const std::size_t facts = 3 * groups * (values + 3) * 64;
  const hopper::FastGradient g{p,
                               random_tiles(64, numbers),
                               random_tiles(64, numbers),
                               random_tiles(64, numbers),
                               random_tiles(64, numbers),
                               random_numbers(facts),
                               random_numbers(facts)};
  (void)hopper::launch_gradient(index, g, gradient, nullptr);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "fast gradient");
}

template <class S>
void run(int index) {
  if (portable_kernels(index).forward == nullptr) return;  // It runs on the CPU only.
  std::printf("sanitize: %s %s\n", S::info.name, S::info.about);
  std::fflush(stdout);  // Where a kernel never ends, this says which.
  Problem<float> p;
  p.groups = groups;
  p.base_size = size;
  p.width = width;
  p.query = side(S::values);
  p.key = side(S::values);
  p.value = random_numbers(groups * tokens * width);
  p.value_mark = upload(std::vector<float>(groups * tokens, 0.0f));
  p.constants = random_numbers(S::constants);
  std::vector<KeySpan> spans;
  for (int i = 0; i < groups * tokens; ++i) spans.push_back({0, i % tokens + 1});
  p.span = upload(spans);
  p.block_span = upload(std::vector<BlockSpan>(3 * groups, BlockSpan{{0, tokens}, {0, 1}}));
  const std::size_t rows = groups * tokens;
  const ForwardResult<float> result{random_numbers(rows * width), random_numbers(rows),
                                    random_numbers(rows)};
  const Upstream<float> upstream{random_numbers(rows * width), result.maximum, result.sum,
                                 random_numbers(rows)};
  const GradientResult<float> gradient{
      random_numbers(rows * size),  random_numbers(rows),
      random_numbers(rows * size),  random_numbers(rows),
      random_numbers(rows * width), upload(std::vector<double>(3 * groups * (S::constants + 1)))};
  portable_kernels(index).forward(p, result, nullptr);
  check(cudaDeviceSynchronize(), S::info.name);
  portable_kernels(index).gradient(p, upstream, gradient, nullptr);
  check(cudaDeviceSynchronize(), S::info.name);
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "attribute");
  if (major != 9) return;
  run_fast(index, p, S::values, result, gradient);
  p.width = 64;
  run_fast(index, p, S::values, result, gradient);
}

}  // namespace

int main() {
  for (int i = 0; i < conelab::Similarities::size; ++i) {
    visit_similarity(i, [&](auto tag) { run<typename decltype(tag)::type>(i); });
  }
  std::puts("sanitize: every kernel ran");
}
