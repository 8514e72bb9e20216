#include "core/bench/case_input.h"

#include <algorithm>

#include "core/base/random.h"

namespace conelab {
namespace {

void plant_twins(AttentionInput<float>& in) {
  const Shape4 shape = in.query.shape;
  for (std::int64_t b = 0; b < shape.batch && shape.token >= 4; ++b) {
    for (std::int64_t h = 0; h < shape.head; ++h) {
      std::copy_n(in.query.row(b, h, 0), shape.feature, in.key.row(b, h, 1));
      std::copy_n(in.query.row(b, h, 2), shape.feature, in.key.row(b, h, 3));
      in.key.at(b, h, 3, 0) += 1e-4f;
    }
  }
}

}  // namespace

AttentionInput<float> random_input(const Case& c, std::int64_t batch, std::uint64_t seed) {
  Random random(seed);
  AttentionInput<float> in;
  for (Tensor4<float>* t : {&in.query, &in.key, &in.value, &in.output_grad}) {
    *t = Tensor4<float>({batch, c.head, c.seq_len, c.dim});
    for (float& x : t->data) x = static_cast<float>(random.normal());
  }
  plant_twins(in);
  return in;
}

}  // namespace conelab
