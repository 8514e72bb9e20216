// Traces, read and written.
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "app/python/module.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call.h"
#include "core/dataset/import.h"
#include "core/files/read_tensors.h"
#include "core/files/sandbox.h"
#include "core/files/tensor_write.h"
#include "core/operators/operator.h"
#include "core/operators/prepared_call.h"
#include "core/trace/trace.h"

namespace conelab::python {
namespace {

namespace nb = nanobind;

nb::list texts(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& text : all) {
    list.append(nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
  }
  return list;
}

/// Returns (number type, sizes, bytes).
nb::tuple array_of(const InputTensor& tensor) {
  const nb::bytes bytes = std::visit(
      [](const auto& numbers) {
        return nb::bytes(numbers.data(), numbers.size() * sizeof(numbers.front()));
      },
      tensor.numbers);
  return nb::make_tuple(static_cast<int>(tensor.dtype), nb::cast(tensor.extents), bytes);
}

nb::object value_of(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return texts({*text})[0];
  return std::visit([](const auto& v) { return nb::cast(v); }, value);
}

/// Reads a layer: a dictionary of arrays as `array_of` returns them, texts and attributes.
nb::dict read(const std::string& spec) {
  Input input;
  run_unlocked([&](const std::function<bool()>& cancelled) {
    InputOptions options;
    options.attributes = trace_attributes();
    options.parameters = all_keys(tensor_parameters());
    input = read_input_sandboxed(spec, options, {.cancelled = cancelled});
  });
  nb::dict layer;
  layer["q"] = array_of(input.query);
  if (input.key) layer["k"] = array_of(*input.key);
  if (input.value) layer["v"] = array_of(*input.value);
  if (input.output_grad) layer["output_grad"] = array_of(*input.output_grad);
  for (const auto& [name, tensor] : input.parameters) layer[name.c_str()] = array_of(tensor);
  if (!input.mask.empty()) {
    const Shape4& s = input.mask_sizes;
    std::vector<std::int64_t> sizes = {s.token, s.feature};
    if (s.batch > 1 || s.head > 1) sizes = {s.batch, s.head, s.token, s.feature};
    layer["mask"] = nb::make_tuple(static_cast<int>(NumberType::u8), nb::cast(sizes),
                                   nb::bytes(input.mask.data(), input.mask.size()));
  }
  if (!input.query_token.empty()) layer["tokens"] = texts(input.query_token);
  if (input.key_token != input.query_token) layer["key_tokens"] = texts(input.key_token);
  if (!input.model.empty()) layer["model"] = texts({input.model})[0];
  if (!input.text.empty()) layer["text"] = texts({input.text})[0];
  if (input.layer) layer["layer"] = *input.layer;
  for (const auto& [name, value] : input.attributes) {
    if (!layer.contains(name.c_str())) layer[name.c_str()] = value_of(value);
  }
  return layer;
}

/// A number or text of a layer, which is an attribute of its group.
using Named = std::tuple<std::string, std::variant<std::int64_t, double, std::string>>;
/// (group, arrays, texts of tokens, those of keys if they are others, attributes, alias)
using Layer = std::tuple<std::string, std::vector<Tensor>, std::vector<std::string>,
                         std::vector<std::string>, std::vector<Named>, std::string>;

void add(const std::vector<Named>& from, Attributes& to) {
  for (const auto& [name, value] : from) {
    std::visit([&, &key = name](const auto& v) { to.emplace_back(key, v); }, value);
  }
}

void check_sizes_of(const TraceLayer& layer) {
  std::vector<TensorView> tokens;
  for (const TensorView& array : layer.arrays) {
    if (array.name != "q" && array.name != "k" && array.name != "v") continue;
    // Only the sizes matter: files hold numbers of any type and in any order of memory.
    TensorView& dense = tokens.emplace_back(array);
    dense.type = NumberType::f64;
    std::int64_t step = 1;
    for (std::size_t axis = dense.sizes.size(); axis-- > 0; step *= dense.sizes[axis]) {
      dense.strides[axis] = step;
    }
  }
  const Extents sizes = prepare(call_from_text("dot"), tokens)->plan().extents;
  for (const TensorView& array : layer.arrays) {
    const std::size_t rank = array.sizes.size();
    if (array.name != "mask" ||
        (rank > 1 && array.sizes[rank - 2] == sizes.query && array.sizes[rank - 1] == sizes.key)) {
      continue;
    }
    misuse("mask does not have the sizes of the pairs (expected [.. x {} x {}], found [{}])",
           sizes.query, sizes.key, fmt::join(array.sizes, " x "));
  }
}

void write(const std::string& path, const std::vector<Layer>& layers,
           const std::vector<Named>& attributes) {
  std::vector<TraceLayer> all;
  for (const auto& [group, arrays, tokens, key_tokens, of_group, alias] : layers) {
    TraceLayer& layer = all.emplace_back(TraceLayer{group, {}, tokens, key_tokens, {}, alias});
    for (const Tensor& array : arrays) layer.arrays.push_back(view_of(array));
    add(of_group, layer.attributes);
    run_unlocked([&](const auto&) { check_sizes_of(layer); });
  }
  Attributes of_file;
  of_file.emplace_back("creator", program_version());
  add(attributes, of_file);
  run_unlocked([&](const auto&) { write_trace(path, all, of_file); });
}

/// Makes a hierarchy from pairs of a child and its parent, which is empty for a root, and writes it
/// as a data set unless `path` is empty. Returns (names, edges, depths), both arrays as bytes of
/// i64.
nb::tuple hierarchy(const std::vector<std::tuple<std::string, std::string>>& pairs,
                    const std::string& path) {
  MadeData made;
  run_unlocked([&](const auto&) {
    ImportedNodes nodes;
    for (const auto& [child, parent] : pairs) {
      const Node node = nodes.named(child);
      if (!parent.empty()) nodes.link(node, nodes.named(parent));
    }
    made = nodes.finish({"hierarchy", import_keys(), {{"path", "edges"}}});
    if (path.empty()) return;
    write_labelled(path, {program_version(),
                          {{"hierarchy", hierarchy_group(*made.hierarchy)}},
                          {{"result", "dataset"}, {"kind", "edges"}}});
  });
  const Hierarchy& h = *made.hierarchy;
  return nb::make_tuple(texts(h.names),
                        nb::bytes(h.edges.data(), h.edges.size() * sizeof h.edges[0]),
                        nb::bytes(h.depths.data(), h.depths.size() * sizeof h.depths[0]));
}

}  // namespace

void add_files(nb::module_& module) {
  module.def("read", &read);
  module.def("write", &write);
  module.def("hierarchy", &hierarchy);
}

}  // namespace conelab::python
