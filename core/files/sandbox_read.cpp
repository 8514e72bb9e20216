// Sends inputs and labelled arrays through the pipe of the sandbox.
#include <algorithm>

#include "core/base/error.h"
#include "core/files/sandbox.h"

namespace conelab {

template <class Archive>
void visit(Archive& archive, Shape4& s) {
  visit_all(archive, s.batch, s.head, s.token, s.feature);
}

template <class Archive>
void visit(Archive& archive, InputTensor& tensor) {
  visit_all(archive, tensor.name, tensor.dtype, tensor.extents, tensor.nan_count,
            tensor.infinite_count);
}

/// Visits all of an input except the numbers of its tensors, which are sent one by one before it.
template <class Archive>
void visit(Archive& archive, Input& input) {
  visit_all(archive, input.path, input.group, input.query, input.key, input.value,
            input.output_grad, input.weights, input.query_token, input.key_token, input.mask,
            input.mask_sizes, input.mask_left_out, input.model, input.text, input.remark,
            input.sha256, input.layer, input.parameters, input.attributes);
}

template <class Archive>
void visit(Archive& archive, LabelledAxis& axis) {
  visit_all(archive, axis.name, axis.labels, axis.units);
}

template <class Archive>
void visit(Archive& archive, LabelledVariable& variable) {
  visit_all(archive, variable.name, variable.axes, variable.data, variable.units,
            variable.attributes);
}

template <class Archive>
void visit(Archive& archive, LabelledArray& array) {
  visit_all(archive, array.axes, array.variables, array.signal, array.attributes);
}

template <class Archive>
void visit(Archive& archive, LabelledFile& file) {
  visit_all(archive, file.creator, file.groups, file.attributes, file.changed);
}

namespace {

/// Returns the tensors in a fixed order, which is the same in the child and in the parent.
std::vector<InputTensor*> tensors_of(Input& input) {
  std::vector<InputTensor*> list;
  if (!input.weights) list.push_back(&input.query);
  for (std::optional<InputTensor>* tensor :
       {&input.key, &input.value, &input.output_grad, &input.weights}) {
    if (*tensor) list.push_back(&**tensor);
  }
  for (auto& [name, tensor] : input.parameters) list.push_back(&tensor);
  return list;
}

using Numbers = decltype(InputTensor::numbers);

void produce_input(ArchiveWriter& writer, const std::string& spec, InputOptions options) {
  bool more = true;
  options.before_allocation = allow_more_memory;
  options.tensor_read = [&](InputTensor& tensor) {
    visit(writer, more);
    visit(writer, tensor.name);
    visit(writer, tensor.numbers);
    tensor.numbers = Numbers();
  };
  Input input = read_input(spec, options);
  more = false;
  visit(writer, more);
  visit(writer, input);
}

/// Returns what `read` returns in a child process.
template <class Value, class Read>
Value run_reader(const std::string& path, const SandboxLimits& limits, const Read& read) {
  Value value;
  run_sandboxed(
      path, limits,
      [&](ArchiveWriter& writer) {
        value = read();
        visit(writer, value);
      },
      [&](ArchiveReader& reader) { visit(reader, value); });
  return value;
}

}  // namespace

void receive_input(ArchiveReader& reader, Input& input) {
  std::multimap<std::string, Numbers> numbers;
  for (bool more = true; visit(reader, more), more;) {
    std::string name;
    visit(reader, name);
    visit(reader, numbers.emplace(name, Numbers())->second);
  }
  visit(reader, input);
  for (InputTensor* tensor : tensors_of(input)) {
    if (tensor->name.empty()) continue;  // Only its sizes were wanted (InputOptions::numbers).
    const auto found = numbers.find(tensor->name);
    if (found == numbers.end()) fail("{}: damaged: its reader lost a tensor", input.path);
    tensor->numbers = std::move(found->second);
    numbers.erase(found);
  }
}

Input read_input_sandboxed(const std::string& spec, const InputOptions& options,
                           const SandboxLimits& limits) {
  const InputSpec parsed = parse_input_spec(spec.empty() ? options.query : spec);
  if (parsed.path.empty() || detect_format(parsed.path) != FileFormat::hdf5) {
    InputOptions here = options;
    here.cancelled = limits.cancelled;
    return read_input(spec, here);
  }
  Input input;
  run_sandboxed(
      parsed.path, limits, [&](ArchiveWriter& writer) { produce_input(writer, spec, options); },
      [&](ArchiveReader& reader) { receive_input(reader, input); });
  return input;
}

LabelledArray read_labelled_sandboxed(const std::string& path, const std::string& group,
                                      const SandboxLimits& limits) {
  return run_reader<LabelledArray>(path, limits, [&] { return read_labelled(path, group); });
}

std::optional<LabelledArray> find_labelled_sandboxed(const std::string& path,
                                                     const std::string& group,
                                                     const SandboxLimits& limits) {
  return run_reader<std::optional<LabelledArray>>(path, limits,
                                                  [&] { return find_labelled(path, group); });
}

LabelledFile read_labelled_file_sandboxed(const std::string& path, const SandboxLimits& limits) {
  return run_reader<LabelledFile>(path, limits, [&] { return read_labelled_file(path); });
}

}  // namespace conelab
