#include "core/base/tensor.h"

#include "core/base/error.h"

namespace conelab {

const char* dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return "f64";
    case Dtype::f32: return "f32";
    case Dtype::f16: return "f16";
    case Dtype::bf16: return "bf16";
  }
  return "?";
}

Dtype dtype_from_name(const std::string& name) {
  for (const Dtype d : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16}) {
    if (name == dtype_name(d)) return d;
  }
  misuse("unknown dtype '{}' (known: f64, f32, f16, bf16)", name);
}

std::size_t dtype_size(Dtype dtype) {
  return dtype == Dtype::f64 ? 8 : dtype == Dtype::f32 ? 4 : 2;
}

}  // namespace conelab
