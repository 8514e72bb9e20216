#include "core/base/tensor.h"

#include <map>

#include "core/base/names.h"

namespace conelab {

const char* dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return "f64";
    case Dtype::f32:
      return "f32";
    case Dtype::f16:
      return "f16";
    case Dtype::bf16:
      return "bf16";
  }
  return "?";
}

Dtype dtype_from_name(const std::string& name) {
  static const std::map<std::string, Dtype> others = {
      {"float64", Dtype::f64},  {"double", Dtype::f64}, {"f8", Dtype::f64},
      {"float32", Dtype::f32},  {"float", Dtype::f32},  {"f4", Dtype::f32},
      {"float16", Dtype::f16},  {"half", Dtype::f16},   {"f2", Dtype::f16},
      {"bfloat16", Dtype::bf16}};
  if (const auto found = others.find(name); found != others.end()) return found->second;
  std::vector<std::string> known;
  for (const Dtype d : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16}) {
    if (name == dtype_name(d)) return d;
    known.emplace_back(dtype_name(d));
  }
  unknown_name("dtype", name, known);
}

std::size_t dtype_size(Dtype dtype) {
  return dtype == Dtype::f64 ? 8 : dtype == Dtype::f32 ? 4 : 2;
}

}  // namespace conelab
