#include "core/trace/trace.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/names.h"
#include "core/base/utf8.h"
#include "core/call/call.h"
#include "core/call/resolver.h"
#include "core/dataset/hierarchy.h"
#include "core/files/byte_file.h"
#include "core/files/inspect.h"
#include "core/files/sandbox.h"
#include "core/pair/bias.h"
#include "core/similarity/table.h"
#include "core/trace/array_choice.h"
#include "core/trace/layers.h"

namespace conelab {
namespace {

/// Returns the text of token i of the n tokens of a batch element, or its number.
std::string label(const std::vector<std::string>& tokens, std::int64_t n, std::int64_t batch,
                  std::int64_t i) {
  const bool rows = tokens.size() > static_cast<std::size_t>(n);
  const auto index = static_cast<std::size_t>((rows ? batch * n : 0) + i);
  return index < tokens.size() ? tokens[index] : std::to_string(i);
}

std::string query_of(const ArrayNames& names) { return names.query.empty() ? "q" : names.query; }

void check_index(const char* axis, std::int64_t index, std::int64_t size) {
  if (index < 0 || index >= size) {
    fail("there is no {} {} (the trace has {}, counted from 0)", axis, index, size);
  }
}

template <class T>
void set_sizes(AttentionInput<T>& input, const StoredMap& map) {
  input.query.shape = {1, 1, map.rows, 0};
  input.key.shape = input.value.shape = {1, 1, map.columns, 0};
}

StridedTensor4<double> view_of(const Tensor4<double>& tensor) {
  const Shape4& s = tensor.shape;
  const std::int64_t head = s.token * s.feature;
  return {tensor.data.data(), s, {s.head * head, head, s.feature}};
}

/// A trace of a stored map. Its tensors have tokens and heads, and no features.
std::shared_ptr<Trace> trace_of(std::shared_ptr<const StoredMap> map, const std::string& file,
                                const std::string& group) {
  auto trace = std::make_shared<Trace>();
  trace->file = file;
  trace->group = group;
  trace->query.shape = {map->batch, map->head, map->rows, 0};
  trace->key.shape = trace->value.shape = {map->batch, map->head, map->columns, 0};
  trace->query_token = map->row_token;
  trace->key_token = map->column_token;
  trace->stored = std::move(map);
  return trace;
}

/// Returns attention weights of another program as a stored map.
std::shared_ptr<const StoredMap> weights_as_map(InputTensor weights, const Input& input,
                                                const std::string& file) {
  auto map = std::make_shared<StoredMap>();
  const Shape4 shape = weights.shape();
  map->name = "weights";
  map->title = std::filesystem::path(file).stem().string();
  map->batch = shape.batch, map->head = shape.head;
  map->rows = shape.token, map->columns = shape.feature;
  map->row_axis = "query", map->column_axis = "key";
  map->row_token = input.query_token, map->column_token = input.key_token;
  if (auto* exact = std::get_if<std::vector<double>>(&weights.numbers)) {
    map->numbers = std::move(*exact);
  } else {
    map->numbers = to_tensor<float>(std::move(weights)).data;
  }
  return map;
}

/// Returns whether a parameter has its default, of tokens with so many features. A scale that a
/// program computed may be rounded otherwise.
bool is_default(const ParameterInfo& info, double value, std::int64_t features) {
  if (std::string_view(info.computed) != "1/sqrt(d)") return value == info.initial;
  return std::abs(value * std::sqrt(static_cast<double>(features)) - 1) < 1e-12;
}

/// Returns the edges of the file's group /hierarchy; none if it has no such group with n nodes.
std::vector<std::array<std::int64_t, 2>> edges_of(const std::string& file, std::int64_t n,
                                                  const Cancelled& cancelled) try {
  const auto group = find_labelled_sandboxed(file, "hierarchy", {.cancelled = cancelled});
  if (!group) return {};
  Hierarchy hierarchy = hierarchy_of_group(*group, file + ": /hierarchy");
  if (hierarchy.size() != n) return {};
  return std::move(hierarchy.edges);
} catch (const Error& error) {
  if (error.kind() == ErrorKind::interrupted) throw;
  return {};  // Another program's group of this name does not keep the trace from being read.
}

}  // namespace

std::vector<std::string> own_call_attributes() {
  std::set<std::string> names = {"similarity", "bias", soft_cap.key};
  for (const SimilarityRow& row : similarity_table()) {
    for (const ParameterInfo& info : row.parameters) names.insert(info.key);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> trace_attributes() {
  std::vector<std::string> names = own_call_attributes();
  names.insert(names.end(), {"kind", "name", "module", "window", "dropout", "exact"});
  return names;
}

std::optional<Call> own_call(const Input& input) {
  const auto find = [&]<class T>(const char* name, T) -> const T* {
    const auto found = input.attributes.find(name);
    return found == input.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  };
  const std::string* name = find("similarity", std::string());
  const SimilarityRow* row = name == nullptr ? nullptr : find_similarity(*name);
  if (row == nullptr) return std::nullopt;
  Call call;
  call.similarity = *name;
  const auto take = [&](const ParameterInfo& info) {
    const double* real = find(info.key, double());
    const std::int64_t* whole = find(info.key, std::int64_t());
    if (real == nullptr && whole == nullptr) return;
    const double value = real != nullptr ? *real : static_cast<double>(*whole);
    if (!is_default(info, value, input.query.shape().feature)) call.parameters[info.key] = value;
  };
  std::ranges::for_each(row->parameters, take);
  take(soft_cap);
  const std::string* bias = find("bias", std::string());
  const auto is_it = [&](const BiasRow& each) { return bias != nullptr && each.name == *bias; };
  if (std::ranges::any_of(bias_table(), is_it)) call.bias = *bias;
  return call;
}

Call with_own(const std::optional<Call>& own, Call call) {
  if (!own || !is_attention(call) || own->similarity != call.similarity) return call;
  for (const auto& [key, value] : own->parameters) call.parameters.emplace(key, value);
  if (call.bias == Call().bias) call.bias = own->bias;
  return call;
}

std::string left_out_remark(const std::optional<Call>& own, const Call& call, bool has_sinks) {
  if (!own || !is_attention(call) || own->similarity == call.similarity) return "";
  std::string missing;
  for (const auto& [key, value] : own->parameters) {
    if (key != soft_cap.key || call.parameters.contains(key)) continue;
    missing = fmt::format("{} = {}", key, value.text());
  }
  if (own->bias != Call().bias && call.bias == Call().bias) {
    missing += (missing.empty() ? "bias " : " and bias ") + own->bias;
  }
  if (missing.empty()) {
    return has_sinks ? call.similarity + " takes the sinks with which the input was made" : "";
  }
  return fmt::format("{} is computed without {}, with which the input was made for {}{}",
                     call.similarity, missing, own->similarity,
                     has_sinks ? ", and takes its sinks" : "");
}

Extents Trace::extents() const {
  Extents e{query.shape.batch, query.shape.head,    query.shape.token,
            key.shape.token,   query.shape.feature, value.shape.feature};
  e.key_head = e.value_head = key.shape.head;
  for (const auto& [name, tensor] : tensors) e.tensors[name] = tensor.extents;
  for (const auto& [name, tensor] : indices) e.tensors[name] = tensor.extents;
  return e;
}

std::vector<std::string> Trace::query_tokens(std::int64_t batch) const {
  return tokens_of_batch(query_token, query.shape.token, batch);
}
std::vector<std::string> Trace::key_tokens(std::int64_t batch) const {
  return tokens_of_batch(key_token, key.shape.token, batch);
}
std::string Trace::query_label(std::int64_t batch, std::int64_t i) const {
  return label(query_token, query.shape.token, batch, i);
}
std::string Trace::key_label(std::int64_t batch, std::int64_t i) const {
  return label(key_token, key.shape.token, batch, i);
}

std::shared_ptr<const Trace> load_trace(const std::string& file, const std::string& group,
                                        const Cancelled& cancelled, const ArrayNames& arrays) {
  if (is_stored_map(group)) return trace_of(load_stored_map(file, group, cancelled), file, group);
  const std::string spec = group.empty() ? file : file + ":" + group;
  InputOptions options;
  static_cast<Reading&>(options) = arrays.reading;
  options.query = arrays.query, options.key = arrays.key, options.value = arrays.value;
  options.weights = arrays.weights;
  options.or_weights = arrays.query.empty();
  options.attributes = trace_attributes();
  options.parameters = all_keys(tensor_parameters());
  std::string stamp = file_stamp(file);
  Input input = read_input_sandboxed(spec, options, {.cancelled = cancelled});
  const auto trace =
      input.weights
          ? trace_of(weights_as_map(std::move(*input.weights), input, file), file, input.group)
          : std::make_shared<Trace>();
  trace->file = file;
  trace->arrays = arrays;
  trace->sha256 = input.sha256;
  trace->stamp = std::move(stamp);
  trace->remark = input.remark;
  trace->own_call = own_call(input);
  const auto exact = input.attributes.find("exact");
  trace->exact =
      exact == input.attributes.end() || exact->second != AttributeValue(std::int64_t{0});
  trace->model = input.model + (trace->exact || input.model.empty() ? "" : ", exact = 0");
  if (!input.weights && !input.key && !trace->own_call && trace->remark.empty()) {
    trace->remark = fmt::format("{}: there is no k; q is read as k too", spec);
  }
  trace->query_token = std::move(input.query_token);
  trace->key_token = std::move(input.key_token);
  if (input.weights) return trace;
  trace->group = group;
  input.output_grad.reset();
  auto tensors = attention_input<double>(std::move(input), Dtype::f64);
  stop_if(cancelled);
  (void)check_extents(tensors);
  trace->query = std::move(tensors.query.owned());
  trace->key = std::move(tensors.key.owned());
  trace->value = std::move(tensors.value.owned());
  if (trace->own_call && detect_format(file) == FileFormat::hdf5) {
    trace->edges = edges_of(file, trace->key.shape.token, cancelled);
  }
  trace->allowed = std::move(tensors.allowed);
  trace->allowed_sizes = tensors.allowed_sizes;
  trace->tensors = std::move(tensors.tensors);
  trace->indices = std::move(tensors.indices);
  return trace;
}

std::shared_ptr<const HeadInput> head_input(const Trace& trace, std::int64_t batch,
                                            std::int64_t head, Backend* device) {
  const Extents e = trace.extents();
  check_index("batch element", batch, e.batch);
  check_index("head", head, e.head);
  auto one = std::make_shared<HeadInput>();
  one->stored = trace.stored;
  one->batch_index = batch, one->head_index = head;
  if (trace.stored) {
    set_sizes(one->exact, *trace.stored);
    set_sizes(one->fast, *trace.stored);
    return one;
  }
  const AttentionInput<double> all{view_of(trace.query),
                                   view_of(trace.key),
                                   view_of(trace.value),
                                   {},
                                   trace.allowed,
                                   {},
                                   trace.tensors,
                                   trace.indices,
                                   {},
                                   trace.allowed_sizes};
  one->exact = input_of_head(all, batch, head);
  one->fast = convert<float>(one->exact);
  one->device = device;
  return one;
}

Call with_drawn_tensors(const Call& call, const Trace& trace) try {
  if (trace.stored) return call;  // It is not computed.
  Call given = call;
  for (const auto& [name, extents] : trace.extents().tensors) given.parameters.emplace(name, "");
  Call drawn = with_random_tensors(given);
  for (const auto& [name, extents] : trace.extents().tensors) {
    if (!call.parameters.contains(name)) drawn.parameters.erase(name);
  }
  return drawn;
} catch (const Error&) {
  return call;
}

std::string drawn_tensors(const Call& call, const Trace& trace) try {
  if (trace.stored) return {};
  constexpr std::size_t most_named = 3;
  std::vector<std::string> names;
  for (const auto& [name, value] : with_drawn_tensors(call, trace).parameters) {
    if (!call.parameters.contains(name)) names.push_back(name);
  }
  if (names.empty()) return {};
  return ", random " + (names.size() > most_named ? "tensors" : join(names));
} catch (const Error&) {
  return {};
}

std::string made_head(const Call& call, const Trace& trace) try {
  if (trace.stored || !makes_heads(call)) return {};
  Extents one = trace.extents();
  one.head = one.key_head = one.value_head = 1;
  const auto plan = resolve(call_on_head(call, trace, 0), one);
  return made_head_text(plan->chain ? plan->chain->extents.head : 1);
} catch (const Error&) {
  return {};
}

std::shared_ptr<const Trace> with_file_tensors(const Trace& trace, const Call& call) {
  Input files;
  for (const auto& [key, value] : call.parameters) {
    if (const auto path = value.file()) files.parameters[key] = read_npy_tensor(*path);
  }
  if (files.parameters.empty()) return {std::shared_ptr<void>(), &trace};
  files.query.extents = {1, 1};
  files.query.numbers = std::vector<double>{0};
  auto read = attention_input<double>(std::move(files), Dtype::f64);
  auto own = std::make_shared<Trace>(trace);
  for (auto& [key, tensor] : read.tensors) own->tensors[key] = std::move(tensor);
  for (auto& [key, tensor] : read.indices) own->indices[key] = std::move(tensor);
  return own;
}

Call given_call_on_head(Call call, const Trace& trace, std::int64_t head) {
  if (trace.stored) return call;  // It is not computed.
  if (!trace.allowed.empty()) call = call_with_own_mask(call);
  return call_of_head(call, trace.extents(), head);
}

Call call_on_head(const Call& call, const Trace& trace, std::int64_t head) {
  return given_call_on_head(with_drawn_tensors(call, trace), trace, head);
}

std::vector<std::string> groups_to_open(const std::string& file, const ArrayNames& names,
                                        const Cancelled& cancelled, bool or_stored) {
  const FileFormat format = detect_format(file);
  if (format == FileFormat::npy) return {""};
  if (format != FileFormat::hdf5) {
    std::vector<std::string> all;
    const std::vector<NamedArray> arrays = arrays_of(file, format, cancelled, 5);
    for (const NamedArray& array : arrays) all.push_back(array.name);
    const auto groups = names.weights.empty() ? groups_of_archive(all, query_of(names))
                                              : std::vector<std::string>();
    return groups.empty() && names.query.empty() ? groups_with_weights(arrays, names.weights)
                                                 : groups;
  }
  const Inspection inspection =
      outline(file, {.cancelled = cancelled}, names.reading.allow_external);
  std::vector<std::string> groups = groups_to_open(inspection, names, or_stored);
  if (groups.empty() && !inspection.sound()) fail("{}", inspection.problems.front());
  return groups;
}

std::vector<std::string> groups_to_open(const Inspection& inspection, const ArrayNames& names,
                                        bool or_stored) {
  std::vector<std::string> groups;
  if (names.weights.empty()) groups = groups_with_queries(inspection, query_of(names));
  if (groups.empty() && names.weights.empty() && or_stored) groups = stored_maps(inspection);
  const bool none = groups.empty() && names.query.empty();
  return none ? groups_with_weights(arrays_of(inspection, 5), names.weights) : groups;
}

namespace {

/// Rounds to the nearest number of `dtype`, in place.
template <class T>
void round_to(Dtype dtype, std::vector<T>& numbers) {
  if constexpr (sizeof(T) == 2) return;  // The type itself is the rounded one.
  for (T& x : numbers) {
    if (dtype == Dtype::f16) x = static_cast<T>(from_f16(to_f16(x)));
    if (dtype == Dtype::bf16) x = static_cast<T>(from_bf16(to_bf16(x)));
  }
}

/// Returns the numbers of an array of indices. Throws a failure for a number that is not whole.
Array<std::int64_t> whole_numbers(const std::string& name, const Array<double>& from) {
  Array<std::int64_t> to{from.extents, {}};
  for (const double x : from.data) {
    if (x != std::floor(x) || std::abs(x) >= 0x1p63)
      fail("{} holds {} (expected whole numbers)", name, x);
    to.data.push_back(static_cast<std::int64_t>(x));
  }
  return to;
}

}  // namespace

template <class T>
AttentionInput<T> attention_input(Input&& file, Dtype dtype) {
  AttentionInput<T> input;
  input.key = file.key ? to_tensor<T>(std::move(*file.key)) : to_tensor<T>(file.query);
  input.value = file.value ? to_tensor<T>(std::move(*file.value)) : to_tensor<T>(file.query);
  input.query = to_tensor<T>(std::move(file.query));
  if (file.output_grad) input.output_grad = to_tensor<T>(std::move(*file.output_grad));
  for (auto* tensor : {&input.query, &input.key, &input.value, &input.output_grad}) {
    round_to(dtype, tensor->owned().data);
  }
  if (!file.mask.empty()) input.allowed_sizes = file.mask_sizes;
  input.allowed = std::move(file.mask);
  for (auto& [name, tensor] : file.parameters) {
    std::vector<std::int64_t> extents = tensor.extents;
    if (name == "edge") {
      input.indices[name] = whole_numbers(name, {extents, to_doubles(tensor)});
      continue;
    }
    Array<T>& to = input.tensors[name];
    to = {std::move(extents), to_tensor<T>(std::move(tensor)).data};
    round_to(dtype, to.data);
  }
  return input;
}
#define CONELAB_INPUT(T) template AttentionInput<T> attention_input(Input&&, Dtype);
CONELAB_EACH_TYPE(CONELAB_INPUT)

namespace {

/// A result has a map here. A gradient has a path of its own; other maps have that of their group.
struct StoredPlace {
  const char *path, *group, *variable, *name;
};
constexpr StoredPlace places[] = {{"/attention/weights", "attention/weights", "weight", "weights"},
                                  {"/attention/logits", "attention/logits", "logit", "logits"},
                                  {"/attention/output", "attention/output", "output", "output"},
                                  {"/attention/gradients/q", "attention/gradients", "q", "dL/dq"},
                                  {"/attention/gradients/k", "attention/gradients", "k", "dL/dk"},
                                  {"/attention/gradients/v", "attention/gradients", "v", "dL/dv"}};

const StoredPlace* place_at(const std::string& path) {
  const auto found =
      std::ranges::find_if(places, [&](const StoredPlace& place) { return place.path == path; });
  return found == std::end(places) ? nullptr : found;
}

std::vector<std::string> tokens_of(const LabelledArray& array, const std::string& axis) {
  const auto* texts = array.data<std::string>(axis + "_token");
  return texts ? *texts : std::vector<std::string>();
}

/// Returns the call of a result as a title; empty if the file does not say.
std::string call_of_result(const std::string& file, const SandboxLimits& limits) {
  const auto entry = find_labelled_sandboxed(file, "attention", limits);
  const std::string text = entry ? attribute_or_empty(entry->attributes, "call") : "";
  if (text.empty()) return "";
  try {
    return call_title(call_from_text(text));
  } catch (const Error&) {
    return text;  // Of a version that knows other operators.
  }
}

/// Takes the numbers out of a variable.
void take_numbers(LabelledVariable& variable, const std::string& where, StoredMap& map) {
  if (auto* floats = std::get_if<std::vector<float>>(&variable.data)) {
    map.numbers = std::move(*floats);
  } else if (auto* doubles = std::get_if<std::vector<double>>(&variable.data)) {
    map.numbers = std::move(*doubles);
  } else {
    fail("{}: wrong dtype (expected floating-point numbers)", where);
  }
}

void set_axes(const LabelledArray& array, const LabelledVariable& variable,
              const std::string& where, StoredMap& map) {
  const std::vector<std::string>& axes = variable.axes;
  const auto known = [&](const std::string& name) { return array.axis(name) != nullptr; };
  // The heads of k and v may be fewer, on an axis of their own.
  if (axes.size() != 4 || !std::ranges::all_of(axes, known) || axes[0] != "batch" ||
      !axes[1].ends_with("head") || axes[3] == "query") {
    fail("{}: wrong axes (expected batch, head, token and key or feature, found [{}])", where,
         fmt::join(axes, ", "));
  }
  const auto size = [&](std::size_t i) {
    return static_cast<std::int64_t>(array.axis(axes[i])->size());
  };
  map.batch = size(0), map.head = size(1), map.rows = size(2), map.columns = size(3);
  map.row_axis = axes[2];
  map.column_axis = axes[3] == "value_feature" ? "feature" : axes[3];
  map.row_token = tokens_of(array, axes[2]);
  map.column_token = tokens_of(array, axes[3]);
}

}  // namespace

bool is_stored_map(const std::string& group) { return place_at(group) != nullptr; }

std::string group_title(const std::string& group) {
  if (const StoredPlace* place = place_at(group)) return place->name;
  return group.starts_with('/') ? group.substr(1) : group;
}

std::vector<std::string> stored_maps(const Inspection& inspection) {
  std::vector<std::string> paths;
  for (const StoredPlace& place : places) {
    const std::string array = std::string("/") + place.group + "/" + place.variable;
    const bool there = std::ranges::any_of(inspection.items, [&](const InspectedItem& item) {
      return item.path == array && item.kind == ItemKind::array && item.extents.size() == 4;
    });
    if (there) paths.emplace_back(place.path);
  }
  return paths;
}

std::shared_ptr<const StoredMap> load_stored_map(const std::string& file, const std::string& group,
                                                 const std::function<bool()>& cancelled) {
  const StoredPlace* place = place_at(group);
  const SandboxLimits limits{.cancelled = cancelled};
  auto array = place ? find_labelled_sandboxed(file, place->group, limits) : std::nullopt;
  const auto is_it = [&](const LabelledVariable& v) { return v.name == place->variable; };
  const auto variable = array ? std::ranges::find_if(array->variables, is_it)
                              : std::vector<LabelledVariable>::iterator();
  if (!array || variable == array->variables.end()) {
    const std::string name = place == nullptr ? group : place->name;
    fail("{}: holds no {} (expected a result of attend --keep {})", file, name,
         name.starts_with("dL") ? "gradients" : name);
  }
  auto map = std::make_shared<StoredMap>();
  const std::string where = file + ":" + group;
  map->name = place->name;
  set_axes(*array, *variable, where, *map);
  take_numbers(*variable, where, *map);
  map->title = call_of_result(file, limits);
  if (map->title.empty()) map->title = std::filesystem::path(file).stem().string();
  return map;
}

}  // namespace conelab
