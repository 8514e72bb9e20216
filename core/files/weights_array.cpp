#include "core/files/weights_array.h"

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/utf8.h"

namespace conelab {
namespace {

/// Returns whether an array is [n_q × n_k], or with axes of heads, batch elements and layers
/// before.
bool holds_weights(const DeclaredArray& array) {
  const std::size_t rank = array.extents.size();
  return element_dtype(array.element) && rank >= 2 && rank <= 5 && array.count() > 0;
}

std::vector<std::string> names_of(const InputOptions& options) {
  if (!options.weights.empty()) return {options.weights};
  return {std::begin(weights_names), std::end(weights_names)};
}

}  // namespace

void fail_not_found(TensorSource& source, const std::string& name) {
  const std::vector<std::string> known = source.names();
  fail("{}: not found (found: {})", source.place(printable(name)),
       known.empty() ? "nothing" : printable(join(known), 400));
}

std::string weights_layer(const std::string& group, const std::string& name, std::int64_t layer) {
  return group + "/" + name + "/" + std::to_string(layer);
}

std::pair<std::string, std::int64_t> split_weights_layer(const std::string& group,
                                                         InputOptions& options) {
  const std::size_t slash = group.rfind('/');
  const auto layer = parse_integer(slash == std::string::npos ? "" : group.substr(slash + 1));
  if (!layer || *layer < 0 || (options.weights.empty() && !options.or_weights)) return {group, 0};
  const std::string array = group.substr(0, slash);
  for (const std::string& name : names_of(options)) {
    if (!array.ends_with("/" + name)) continue;
    options.weights = name;
    return {array.substr(0, array.size() - name.size() - 1), *layer};
  }
  return {group, 0};
}

std::optional<DeclaredArray> find_weights(TensorSource& source, const InputOptions& options) {
  if (!options.weights.empty()) {
    std::optional<DeclaredArray> array = source.find(options.weights);
    if (!array) fail_not_found(source, options.weights);
    if (holds_weights(*array)) return array;
    fail(
        "{}: is no array of weights (expected [.. x n_q x n_k] of f16, f32, f64 or bf16, found {} "
        "{})",
        source.place(array->name), extents_text(array->extents), array->type);
  }
  for (const std::string& name :
       options.or_weights ? names_of(options) : std::vector<std::string>()) {
    std::optional<DeclaredArray> array = source.find(name);
    if (array && holds_weights(*array)) return array;
  }
  return {};
}

std::string weights_hint(TensorSource& source) {
  InputOptions any;
  any.or_weights = true;
  const auto array = find_weights(source, any);
  if (!array) return "";
  return ": its " + array->name +
         " holds attention weights, which figure heatmap, heads and arcs and the desktop draw; "
         "attend and tree need q";
}

InputTensor read_weights(TensorSource& source, const DeclaredArray& array, std::int64_t layer,
                         const InputOptions& options) {
  const bool stacked = array.extents.size() == 5;
  const std::int64_t layers = stacked ? array.extents.front() : 1;
  if (layer >= layers) {
    fail("{}: has no layer {} (found {} of them, counted from 0)", source.place(array.name), layer,
         layers);
  }
  InputOptions whole = options;
  whole.tensor_read = {};
  InputTensor weights = read_array(source, array, whole);
  if (stacked) {
    weights.extents.erase(weights.extents.begin());
    std::visit(
        [&](auto& numbers) {
          const auto size = static_cast<std::ptrdiff_t>(numbers.size()) / layers;
          numbers.erase(numbers.begin(), numbers.begin() + layer * size);
          numbers.resize(static_cast<std::size_t>(size));
        },
        weights.numbers);
  }
  if (options.tensor_read) options.tensor_read(weights);
  return weights;
}

}  // namespace conelab
