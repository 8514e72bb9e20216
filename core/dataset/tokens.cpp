#include <algorithm>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/random.h"
#include "core/dataset/dataset.h"

namespace conelab {
namespace {

/// The attention of a layer in a model that a paper measures.
struct ModelShape {
  const char* name;
  std::int64_t heads, n, d;
};
constexpr ModelShape models[] = {
    {"fairseq-iwslt", 4, 175, 128},    // IWSLT'14: sentences are cut at 175 word pieces.
    {"deit-ti", 3, 197, 64},           // 14 x 14 patches and the class token.
    {"dit-b4", 12, 64, 64},            // 32 x 32 latents in patches of 4 x 4.
    {"adaptive-inputs", 8, 512, 128},  // WikiText-103.
    {"t2t-tiny", 4, 256, 32},          // Tensor2tensor's transformers: at most 256 word pieces.
    {"t2t-base", 8, 256, 64},         {"t2t-big", 16, 256, 64},
};

MadeData drawn_tokens(const ModelShape& shape, Dtype dtype, std::uint64_t seed, bool twins) {
  if (shape.heads * shape.n * shape.d > std::int64_t{1} << 32) {
    misuse("data set gaussian: {} heads of {} tokens of {} features are too large", shape.heads,
           shape.n, shape.d);
  }
  Random random(seed);
  MadeData made;
  for (const char* name : {"q", "k", "v"}) {
    RootTensor tensor{name, dtype, {shape.heads, shape.n, shape.d}, {}};
    tensor.numbers.resize(static_cast<std::size_t>(shape.heads * shape.n * shape.d));
    for (double& x : tensor.numbers) x = random.normal();
    made.tensors.push_back(std::move(tensor));
  }
  for (std::int64_t h = 0; twins && shape.n >= 4 && h < shape.heads; ++h) {
    const auto query = made.tensors[0].numbers.begin() + h * shape.n * shape.d;
    const auto key = made.tensors[1].numbers.begin() + h * shape.n * shape.d;
    std::copy_n(query, shape.d, key + shape.d);
    std::copy_n(query + 2 * shape.d, shape.d, key + 3 * shape.d);
    key[3 * shape.d] += 1e-4;
  }
  return made;
}

}  // namespace

MadeData gaussian_tokens(const KeyValues& values) {
  const ModelShape shape{"", values.whole("heads"), values.whole("n"), values.whole("d")};
  return drawn_tokens(shape, dtype_from_name(values.text("dtype")),
                      static_cast<std::uint64_t>(values.whole("seed")),
                      values.text("twins") == "yes");
}

MadeData model_shapes(const KeyValues& values) {
  return drawn_tokens(*find_named(models, values.text("model")), Dtype::f32,
                      static_cast<std::uint64_t>(values.whole("seed")), false);
}

MadeData position_values(const KeyValues& values) {
  const std::int64_t heads = values.whole("heads"), n = values.whole("n");
  const std::vector<double> zero(static_cast<std::size_t>(heads * n));
  RootTensor position{"v", Dtype::f64, {heads, n, 1}, {}};
  for (std::int64_t i = 0; i < heads * n; ++i) {
    position.numbers.push_back(n == 1 ? 0
                                      : static_cast<double>(i % n) / static_cast<double>(n - 1));
  }
  MadeData made;
  made.tensors = {{"q", Dtype::f64, {heads, n, 1}, zero}, {"k", Dtype::f64, {heads, n, 1}, zero}};
  made.tensors.push_back(std::move(position));
  return made;
}

const char* shape_models() {
  static const std::string names = [] {
    std::string joined;
    for (const ModelShape& model : models)
      joined += (joined.empty() ? "" : "|") + std::string(model.name);
    return joined;
  }();
  return names.c_str();
}

}  // namespace conelab
