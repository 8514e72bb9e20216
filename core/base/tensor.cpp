#include "core/base/tensor.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/names.h"

namespace conelab {

const char* dtype_name(Dtype dtype) {
  static constexpr const char* names[] = {"f64", "f32", "f16", "bf16"};
  return names[static_cast<std::size_t>(dtype)];
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

namespace {

constexpr std::array tensor_axis_rows{
    TensorAxis{"..", "batch elements and heads, or 1 of either; both may be left out"},
    TensorAxis{"head", "heads of q"}, TensorAxis{"n_q", "queries"}, TensorAxis{"n_k", "keys"},
    TensorAxis{"d", "columns of q and k, per head"}, TensorAxis{"d_v", "columns of v, per head"},
    TensorAxis{"d'", "columns of q and k after P_query and P_key, per head"},
    TensorAxis{"d_v'", "columns of v after P_value, per head"},
    TensorAxis{"head*d_v", "columns of the outputs of all heads side by side, after P_value"},
    TensorAxis{"d_o", "columns of the output, after P_output or W_out"},
    TensorAxis{"a", "columns of a hidden layer"}, TensorAxis{"f", "columns of q and k after W"},
    // The classes share the features, so that their number divides d.
    TensorAxis{"classes", "classes of tokens",
               [](const DefaultContext& c) { return std::gcd(usual_drawn_size, c.feature); }},
    TensorAxis{"rank", "columns of the factors R_query and R_key"},
    TensorAxis{"buckets", "buckets of relative positions",
               [](const DefaultContext&) -> std::int64_t { return 32; }},
    // Relative positions are clipped at 16, as in Shaw et al.
    TensorAxis{"clip", "relative positions with a row of their own, in each direction",
               [](const DefaultContext&) -> std::int64_t { return 16; }},
    // Four edges for each token give it about eight neighbours.
    TensorAxis{"m", "edges of a graph",
               [](const DefaultContext& c) { return 4 * std::max(c.query, c.key); }}};

/// Returns the name in an axis such as "2f+1".
std::string_view name_in(std::string_view axis) {
  const std::string_view name = axis.substr(0, axis.find('+'));
  return name.substr(std::min(name.find_first_not_of("0123456789"), name.size()));
}

}  // namespace

bool is_of_pairs(const ParameterInfo& info) {
  return info.domain == Domain::tensor && std::string_view(info.shape).starts_with("..");
}

std::span<const TensorAxis> tensor_axis_table() { return tensor_axis_rows; }

bool has_axis(const ParameterInfo& info, const TensorAxis& axis) {
  if (info.domain != Domain::tensor) return false;
  // Axes in front of those that tensor_axes returns.
  const std::string_view name = axis.name;
  if (name == "..") return is_of_pairs(info);
  if (name == "head") return info.shape == name;
  const std::vector<std::string> axes = tensor_axes(info);
  return std::ranges::any_of(axes,
                             [&](const std::string& own) { return name_in(own) == axis.name; });
}

NamedSizes with_drawn_sizes(NamedSizes sizes, const DefaultContext& context) {
  for (const TensorAxis& axis : tensor_axis_rows) {
    if (axis.drawn_size != nullptr) sizes.emplace(axis.name, axis.drawn_size(context));
  }
  return sizes;
}

}  // namespace conelab
