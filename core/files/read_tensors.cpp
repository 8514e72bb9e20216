#include "core/files/read_tensors.h"

#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/names.h"
#include "core/base/utf8.h"
#include "core/files/named_source.h"
#include "core/files/weights_array.h"

namespace conelab {
namespace {

template <class T>
std::vector<T> widened(const std::vector<std::uint16_t>& bits, Dtype dtype) {
  std::vector<T> numbers(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    numbers[i] = static_cast<T>(dtype == Dtype::f16 ? from_f16(bits[i]) : from_bf16(bits[i]));
  }
  return numbers;
}

template <class T>
std::vector<T> converted(const InputTensor& tensor) {
  if (const auto* bits = std::get_if<std::vector<std::uint16_t>>(&tensor.numbers)) {
    return widened<T>(*bits, tensor.dtype);
  }
  const auto* floats = std::get_if<std::vector<float>>(&tensor.numbers);
  if (floats != nullptr) return std::vector<T>(floats->begin(), floats->end());
  const auto& doubles = std::get<std::vector<double>>(tensor.numbers);
  return std::vector<T>(doubles.begin(), doubles.end());
}

/// Throws a failure if an array is larger than the memory of the machine.
void check_memory(const std::string& place, const DeclaredArray& array) {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  if (array.bytes() > memory) {
    fail("{}: {} needs {} bytes, this machine has {}", place, extents_text(array.extents),
         array.bytes(), memory);
  }
}

template <class Number>
std::vector<Number> read_as(TensorSource& source, const DeclaredArray& array) {
  std::vector<Number> numbers(static_cast<std::size_t>(array.count()));
  source.read(array, numbers.data());
  if (!array.order.empty() && array.rows.empty())
    reorder(numbers.data(), array.extents, array.order, sizeof(Number));
  return numbers;
}

std::vector<double> read_integers(TensorSource& source, const DeclaredArray& array) {
  return with_number(array.element, [&](auto type) {
    const auto integers = read_as<decltype(type)>(source, array);
    return std::vector<double>(integers.begin(), integers.end());
  });
}

void check_attention_tensor(TensorSource& source, const DeclaredArray& array) {
  const std::string place = source.place(array.name);
  if (!element_dtype(array.element)) {
    const bool may_be_bf16 = array.element == Element::u16 || array.element == Element::raw16;
    const char* hint =
        may_be_bf16 ? "; bf16 has the attribute dtype=\"bfloat16\", or is named by --bf16" : "";
    fail("{}: wrong dtype (expected f16, f32, f64 or bf16, found {}{})", place, array.type, hint);
  }
  if (array.extents.size() < 2 || array.extents.size() > 4) {
    fail("{}: wrong rank (expected [n, d], [head, n, d] or [batch, head, n, d], found {})", place,
         extents_text(array.extents));
  }
  if (array.count() == 0) {
    fail("{}: is empty (expected at least one token and one feature, found {})", place,
         extents_text(array.extents));
  }
}

/// Takes the element type of an array from `--bf16`, which may name q, k and v by these names.
void read_as_bf16(TensorSource& source, const Reading& reading, const std::string& role,
                  DeclaredArray& array) {
  const auto& names = reading.bf16;
  const auto is_named = [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  if (!is_named(array.name) && !is_named(role)) return;
  const bool two_bytes = element_size(array.element) == 2;
  if (!two_bytes || array.element == Element::f16) {
    fail("{}: --bf16 names it (expected elements of 2 bytes, found {})", source.place(array.name),
         array.type);
  }
  array.element = Element::bf16;
}

/// Takes the order of the axes from `--axes`, also of an array that names another order itself.
void read_in_order(TensorSource& source, const Reading& reading, DeclaredArray& array) {
  if (reading.axes.empty()) return;
  if (!array.order.empty()) std::ranges::reverse(array.extents);
  array.order = named_axes(reading.axes, array.extents.size(), source.place(array.name));
  array.extents = in_order(array.extents, array.order);
}

std::optional<DeclaredArray> find_tensor(TensorSource& source, const Reading& reading,
                                         const std::string& given, const char* standard) {
  const std::string name = given.empty() ? standard : given;
  std::optional<DeclaredArray> array = source.find(name);
  if (array) {
    read_as_bf16(source, reading, standard, *array);
    read_in_order(source, reading, *array);
    check_attention_tensor(source, *array);
  }
  if (!array && !given.empty()) fail_not_found(source, name);
  return array;
}

[[noreturn]] void fail_without_query(TensorSource& source, const std::string& where) {
  const std::string weights = weights_hint(source);
  if (!weights.empty()) fail("{}: no array q{}", where, weights);
  const std::string hint = source.hint("q"), result = source.result_kind();
  if (hint.empty() && !result.empty()) fail("{}: is {}", where, result);
  std::vector<std::string> known = source.names();
  if (known.size() > 12) known.resize(12), known.emplace_back("...");
  if (known.empty() && !hint.empty()) fail("{}: no array q{}", where, hint);
  fail("{}: no array q{} (found: {})", where, hint,
       known.empty() ? "nothing" : printable(join(known), 400));
}

struct Declared {
  DeclaredArray query;
  std::optional<DeclaredArray> key, value, output_grad;
  bool with_values = true;

  [[nodiscard]] const DeclaredArray& k() const { return key ? *key : query; }
  /// Returns v, or what stands for it: q, or k if v is not read.
  [[nodiscard]] const DeclaredArray& v() const {
    return value ? *value : with_values ? query : k();
  }
};

void require_equal(TensorSource& source, const char* what, const DeclaredArray& a,
                   std::int64_t a_size, const DeclaredArray& b, std::int64_t b_size) {
  if (a_size == b_size) return;
  const std::string note = a.name == b.name ? "" : fmt::format(" of {}", printable(b.name));
  fail("{}: wrong {} (expected {} as {} has, found {}{}: {} against {})", source.place(b.name),
       what, a_size, printable(a.name), b_size, note, extents_text(b.extents),
       extents_text(a.extents));
}

void check_shapes(TensorSource& source, const Declared& declared) {
  const DeclaredArray &q = declared.query, &k = declared.k(), &v = declared.v();
  const Shape4 sq = shape_of(q.extents), sk = shape_of(k.extents), sv = shape_of(v.extents);
  require_equal(source, "batch size", q, sq.batch, k, sk.batch);
  require_equal(source, "batch size", q, sq.batch, v, sv.batch);
  if (sk.head == 0 || sq.head % sk.head != 0) {
    fail(
        "{}: wrong number of heads (expected {} as {} has, or a divisor of it, found {}: {} "
        "against {})",
        source.place(k.name), sq.head, printable(q.name), sk.head, extents_text(k.extents),
        extents_text(q.extents));
  }
  require_equal(source, "number of heads", k, sk.head, v, sv.head);
  require_equal(source, "number of features d", q, sq.feature, k, sk.feature);
  if (declared.with_values && !declared.value && sk.token != sq.token) {
    fail("{}: v is absent and q stands for it, but has {} tokens where k has {}",
         source.place(q.name), sq.token, sk.token);
  }
  require_equal(source, "number of tokens n_k", k, sk.token, v, sv.token);
  if (!declared.output_grad) return;
  // The other sizes are those of the operator's output.
  const Shape4 grad = shape_of(declared.output_grad->extents);
  require_equal(source, "batch size", q, sq.batch, *declared.output_grad, grad.batch);
  require_equal(source, "number of tokens n_q", q, sq.token, *declared.output_grad, grad.token);
}

Declared find_tensors(TensorSource& source, const InputOptions& options, const std::string& where,
                      bool npy) {
  Declared declared;
  const std::optional<DeclaredArray> query = find_tensor(source, options, options.query, "q");
  if (!query) fail_without_query(source, where);
  declared.query = *query;
  const auto is_read = [&](const std::string& name) {
    return !options.query_only && (!npy || !name.empty());
  };
  if (is_read(options.key)) declared.key = find_tensor(source, options, options.key, "k");
  declared.with_values = options.with_values;
  if (options.with_values && is_read(options.value))
    declared.value = find_tensor(source, options, options.value, "v");
  if (!npy) declared.output_grad = find_tensor(source, options, "", "output_grad");
  check_shapes(source, declared);
  return declared;
}

/// Reads tokens [expected] or [batch × expected]. Those of another length are an error if
/// `required_length` is set, otherwise none are returned.
std::vector<std::string> read_tokens(TensorSource& source, const std::string& name,
                                     std::int64_t batch, std::int64_t expected,
                                     bool required_length) {
  const std::optional<DeclaredArray> array = source.find(name);
  if (!array) return {};
  if (array->element != Element::text) {
    fail("{}: wrong dtype (expected strings, found {})", source.place(name), array->type);
  }
  const std::vector<std::int64_t>& found = array->extents;
  const bool rows = found.size() == 2 && found[0] == batch;
  if ((found.size() != 1 && !rows) || found.back() != expected) {
    if (!required_length && (found.size() == 1 || rows)) return {};
    fail("{}: wrong length (expected [{}] or [{}, {}], found {})", source.place(name), expected,
         batch, expected, extents_text(found));
  }
  return source.read_strings(*array);
}

/// Reads `query_token` and `key_token`. The default of each is `token` if the lengths agree.
void read_all_tokens(TensorSource& source, Input& input, const InputOptions& options) {
  const std::int64_t batch = input.batch(), queries = input.queries(), keys = input.keys();
  const bool alike = queries == keys;
  input.query_token = read_tokens(source, "query_token", batch, queries, true);
  if (!options.query_only) input.key_token = read_tokens(source, "key_token", batch, keys, true);
  if (input.query_token.empty())
    input.query_token = read_tokens(source, "token", batch, queries, alike);
  if (input.key_token.empty()) {
    input.key_token = alike ? input.query_token : read_tokens(source, "token", batch, keys, false);
  }
}

/// The end of a message that explains why a mask that the user did not name prevents a file from
/// being read.
constexpr const char* applied_unasked =
    "; a mask beside q is always applied: give it another name to leave it out";

/// Returns the sizes of a mask as [batch × head × n_q × n_k], 1 for an axis that it does not have,
/// or nothing if it does not fit the input. A matrix that fits both ways is [n_q × n_k].
std::optional<Shape4> sizes_of_mask(const std::vector<std::int64_t>& extents, const Input& input) {
  const Shape4 q = input.query.shape();
  const std::int64_t keys = input.key_or_query().shape().token;
  const auto fits = [](std::int64_t own, std::int64_t all) { return own == 1 || own == all; };
  const auto fitting = [&](const Shape4& s) {
    return fits(s.batch, q.batch) && fits(s.head, q.head) && fits(s.token, q.token) &&
           fits(s.feature, keys);
  };
  if (extents.empty() || extents.size() > 4) return {};
  if (const Shape4 sizes = shape_of(extents); fitting(sizes)) return sizes;
  if (extents.size() != 2 || !fitting({extents[0], 1, 1, extents[1]})) return {};
  return Shape4{extents[0], 1, 1, extents[1]};
}

void read_mask(TensorSource& source, Input& input) {
  const std::optional<DeclaredArray> array = source.find("mask");
  if (!array) return;
  if (!is_integer(array->element) && array->element != Element::boolean) {
    fail("{}: wrong dtype (expected integers or bool, 1 = seen, found {}{})", source.place("mask"),
         array->type, applied_unasked);
  }
  const std::optional<Shape4> sizes = sizes_of_mask(array->extents, input);
  if (!sizes) {
    const Shape4 q = input.query.shape();
    fail(
        "{}: wrong shape (expected [n_q, n_k] = [{}, {}], [batch, n_k], [head, n_q, n_k] or "
        "[batch, head, n_q, n_k], 1 for any of them, found {}{})",
        source.place("mask"), q.token, input.key_or_query().shape().token,
        extents_text(array->extents), applied_unasked);
  }
  input.mask_sizes = *sizes;
  const auto check = [&](double seen) {
    if (seen == 0 || seen == 1) return;
    fail("{}: holds {} (expected 0 and 1 = seen{})", source.place("mask"), seen, applied_unasked);
  };
  const bool boolean = array->element == Element::boolean;
  const bool bytes = boolean || array->element == Element::u8;
  if (bytes) input.mask = read_as<std::uint8_t>(source, *array);
  for (std::uint8_t& allowed : input.mask) {
    if (boolean) allowed = allowed != 0 ? 1 : 0;
    check(allowed);
  }
  for (const double seen : bytes ? std::vector<double>() : read_integers(source, *array)) {
    check(seen);
    input.mask.push_back(seen != 0 ? 1 : 0);
  }
}

void read_parameters(TensorSource& source, Input& input, const InputOptions& options) {
  for (const std::string& name : options.parameters) {
    std::optional<DeclaredArray> array = source.find(name);
    if (!array) continue;
    read_as_bf16(source, options, name, *array);
    if (!element_dtype(array->element) && !is_integer(array->element)) {
      fail("{}: wrong dtype (expected numbers, found {})", source.place(name), array->type);
    }
    input.parameters.emplace(name, read_array(source, *array, options));
  }
}

template <class T, class To>
void read_attribute(TensorSource& source, const char* name, To& to) {
  const std::optional<AttributeValue> value = source.attribute(name);
  if (const T* found = value ? std::get_if<T>(&*value) : nullptr) to = *found;
}

void read_attributes(TensorSource& source, const InputOptions& options, Input& input) {
  for (const std::string& name : options.attributes) {
    if (const auto value = source.attribute(name)) input.attributes.emplace(name, *value);
  }
  read_attribute<std::string>(source, "model", input.model);
  read_attribute<std::string>(source, "text", input.text);
  read_attribute<std::int64_t>(source, "layer", input.layer);
  std::int64_t exact = 1;
  read_attribute<std::int64_t>(source, "exact", exact);
  if (exact != 0) return;
  input.remark = fmt::format("{}{}: attention differs from what the model computed (exact = 0)",
                             input.path, input.group.empty() ? "" : ":" + input.group);
}

/// Returns a remark on a q that has fewer tokens than heads, which may lie in another order. It is
/// empty if the user or the file says the order, as texts of tokens and a mask do, which fit one
/// alone.
std::string axes_remark(const InputOptions& options, const DeclaredArray& query, const Input& read,
                        const std::string& place) {
  const Shape4 shape = shape_of(query.extents);
  if (!read.query_token.empty() || !read.mask.empty()) return "";
  if (!options.axes.empty() || !query.order.empty() || shape.token >= shape.head) return "";
  const bool batches = query.extents.size() == 4;
  return fmt::format(
      "{}: is read as {}{} heads x {} tokens x {} features; --axes {}token,head,feature if it has "
      "{} tokens",
      place, batches ? fmt::format("{} batch elements x ", shape.batch) : "", shape.head,
      shape.token, shape.feature, batches ? "batch," : "", shape.head);
}

/// Throws a failure if `--bf16` names an array that the file does not have.
void check_bf16_names(TensorSource& source, const InputOptions& options, const std::string& where) {
  for (const std::string& name : options.bf16) {
    const bool role = name == "q" || name == "k" || name == "v" || name == "output_grad";
    if (!role && !source.find(name)) fail("{}: --bf16 {}: there is no such array", where, name);
  }
}

/// Reads weights of another program, if the options ask for them. Returns false if the input is
/// still to be read.
bool read_weights_instead(TensorSource& source, std::int64_t layer, const InputOptions& options,
                          Input& input) {
  const bool named = !options.weights.empty();
  if (!named && (!options.or_weights || !options.query.empty() || source.find("q"))) return false;
  const std::optional<DeclaredArray> array = find_weights(source, options);
  if (!array) return false;
  input.weights = read_weights(source, *array, layer, options);
  if (array->extents.size() == 5) input.group = weights_layer(input.group, array->name, layer);
  if (input.format == FileFormat::npy) return true;
  read_all_tokens(source, input, options);
  read_attributes(source, options, input);
  return true;
}

/// Leaves the tokens of each tensor that are to be read.
void keep_rows(Declared& declared, const InputOptions& options, Input& input) {
  const auto tokens = [](const DeclaredArray& array) { return shape_of(array.extents).token; };
  input.all_queries = tokens(declared.query), input.all_keys = tokens(declared.k());
  const std::int64_t longest = std::max(input.all_queries, input.all_keys);
  const auto keep = [&](DeclaredArray& array) {
    array = rows_of(std::move(array), options.rows(tokens(array), longest));
  };
  for (auto* array : {&declared.key, &declared.value, &declared.output_grad}) {
    if (*array) keep(**array);
  }
  keep(declared.query);
}

void read_everything(TensorSource& source, const Declared& declared, const InputOptions& options,
                     Input& input) {
  input.query = read_array(source, declared.query, options);
  if (declared.key) input.key = read_array(source, *declared.key, options);
  if (declared.value) input.value = read_array(source, *declared.value, options);
  if (declared.output_grad) input.output_grad = read_array(source, *declared.output_grad, options);
  if (input.format == FileFormat::npy) return;
  if (options.with_tokens) read_all_tokens(source, input, options);
  if (options.with_mask) read_mask(source, input);
  input.mask_left_out = !options.with_mask && source.find("mask").has_value();
  input.bias_left_out = !contains(options.parameters, "bias") && source.find("bias").has_value();
  read_parameters(source, input, options);
  read_attributes(source, options, input);
}

/// Returns the input with what is known without reading numbers.
Input read_declared(TensorSource& source, const Declared& declared, const InputOptions& options,
                    Input input) {
  if (declared.key) input.key.emplace().extents = declared.key->extents;
  if (declared.value) input.value.emplace().extents = declared.value->extents;
  if (input.format == FileFormat::npy) return input;
  for (const std::string& name : options.parameters) {
    if (const auto array = source.find(name)) input.parameters[name].extents = array->extents;
  }
  read_attributes(source, options, input);
  return input;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

template <class T>
Tensor4<T> to_tensor(const InputTensor& tensor) {
  Tensor4<T> result;
  result.shape = tensor.shape();
  result.data = converted<T>(tensor);
  return result;
}

template <class T>
Tensor4<T> to_tensor(InputTensor&& tensor) {
  InputTensor taken = std::exchange(tensor, {});
  Tensor4<T> result;
  result.shape = taken.shape();
  if constexpr (sizeof(T) > 2) {
    if (auto* same = std::get_if<std::vector<T>>(&taken.numbers)) {
      result.data = std::move(*same);
      return result;
    }
  }
  result.data = converted<T>(taken);
  return result;
}

std::vector<double> to_doubles(const InputTensor& tensor) { return converted<double>(tensor); }

template Tensor4<float> to_tensor<float>(const InputTensor&);
template Tensor4<double> to_tensor<double>(const InputTensor&);
template Tensor4<Float16> to_tensor<Float16>(const InputTensor&);
template Tensor4<Bfloat16> to_tensor<Bfloat16>(const InputTensor&);
template Tensor4<float> to_tensor<float>(InputTensor&&);
template Tensor4<double> to_tensor<double>(InputTensor&&);
template Tensor4<Float16> to_tensor<Float16>(InputTensor&&);
template Tensor4<Bfloat16> to_tensor<Bfloat16>(InputTensor&&);

InputTensor read_array(TensorSource& source, const DeclaredArray& array,
                       const InputOptions& options) {
  check_memory(source.place(array.name), array);
  // An array in another order of axes is read whole before rows are taken.
  const std::uint64_t copies = array.order.empty() ? 1 : 2;
  if (options.before_allocation) options.before_allocation(copies * array.bytes());
  InputTensor tensor;
  tensor.name = array.name;
  tensor.extents = array.extents;
  tensor.dtype = element_dtype(array.element).value_or(Dtype::f64);
  switch (array.element) {
    case Element::f64:
      tensor.numbers = read_as<double>(source, array);
      break;
    case Element::f32:
      tensor.numbers = read_as<float>(source, array);
      break;
    case Element::f16:
    case Element::bf16:
      tensor.numbers = read_as<std::uint16_t>(source, array);
      break;
    default:
      tensor.numbers = read_integers(source, array);
  }
  const auto count = [&](const auto& numbers) {
    return count_special(array.element, numbers.data(), array.bytes());
  };
  const SpecialCount special = std::visit(count, tensor.numbers);
  tensor.nan_count = special.nan, tensor.infinite_count = special.infinite;
  if (options.tensor_read) options.tensor_read(tensor);
  return tensor;
}

InputSpec parse_input_spec(const std::string& spec) {
  if (exists(spec)) return {spec, ""};
  for (std::size_t colon = spec.find(':'); colon != std::string::npos;
       colon = spec.find(':', colon + 1)) {
    if (exists(spec.substr(0, colon))) return {spec.substr(0, colon), spec.substr(colon + 1)};
  }
  const std::size_t colon = spec.find(":/");
  return colon == std::string::npos ? InputSpec{spec, ""}
                                    : InputSpec{spec.substr(0, colon), spec.substr(colon + 1)};
}

Input read_input(const std::string& spec, const InputOptions& given) {
  InputOptions options = given;
  InputSpec parsed = parse_input_spec(spec.empty() ? options.query : spec);
  std::int64_t layer = 0;
  std::tie(parsed.group, layer) = split_weights_layer(parsed.group, options);
  if (parsed.path.empty()) misuse("no input file");
  Input input;
  input.path = parsed.path;
  input.group = parsed.group;
  input.format = detect_format(parsed.path);
  const bool npy = input.format == FileFormat::npy;
  if (npy && !options.weights.empty()) options.weights = parsed.path;
  if (npy && options.query.empty()) options.query = parsed.path;
  const std::unique_ptr<NamedSource> source =
      open_source(parsed, input.format, {options, options.before_allocation, options.cancelled});
  const std::string where = parsed.group.empty() ? parsed.path : spec;
  check_bf16_names(*source, options, where);
  if (!read_weights_instead(*source, layer, options, input)) {
    Declared declared = find_tensors(*source, options, where, npy);
    input.query.extents = declared.query.extents;
    if (!options.numbers) return read_declared(*source, declared, options, std::move(input));
    const DeclaredArray query = declared.query;
    if (options.rows) keep_rows(declared, options, input);
    read_everything(*source, declared, options, input);
    const std::string axes = axes_remark(options, query, input, source->place(query.name));
    if (input.remark.empty()) input.remark = axes;
  }
  input.sha256 = source->digest();
  return input;
}

InputTensor read_npy_tensor(const std::string& path) {
  const std::unique_ptr<TensorSource> source = open_npy_source({});
  const std::optional<DeclaredArray> array = source->find(path);
  if (!element_dtype(array->element) && !is_integer(array->element)) {
    fail("{}: wrong dtype (expected numbers, found {})", path, array->type);
  }
  return read_array(*source, *array, {});
}

}  // namespace conelab
