// Sends inputs and labelled arrays through the pipe of the sandbox.
#include <algorithm>

#include "core/base/error.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

template <class Archive>
void visit(Archive& archive, InputTensor& tensor) {
  conelab::visit(archive, tensor.name);
  conelab::visit(archive, tensor.dtype);
  conelab::visit(archive, tensor.extents);
  conelab::visit(archive, tensor.nan_count);
  conelab::visit(archive, tensor.infinite_count);
}

/// Visits all of an input except the numbers of its tensors, which are sent one by one before it.
template <class Archive>
void visit(Archive& archive, Input& input) {
  const auto optional = [&](std::optional<InputTensor>& tensor) {
    bool present = tensor.has_value();
    conelab::visit(archive, present);
    if (present && !tensor) tensor.emplace();
    if (present) visit(archive, *tensor);
  };
  conelab::visit(archive, input.path);
  conelab::visit(archive, input.group);
  visit(archive, input.query);
  optional(input.key);
  optional(input.value);
  optional(input.output_grad);
  for (std::vector<std::string>* list : {&input.query_token, &input.key_token}) {
    conelab::visit(archive, *list);
  }
  conelab::visit(archive, input.mask);
  for (std::string* text : {&input.model, &input.text, &input.sha256}) {
    conelab::visit(archive, *text);
  }
  conelab::visit(archive, input.layer);
  std::uint64_t count = input.parameters.size();
  conelab::visit(archive, count);
  if constexpr (Archive::reads) {
    for (std::uint64_t i = 0; i < count; ++i) {
      InputTensor tensor;
      visit(archive, tensor);
      input.parameters[tensor.name] = tensor;
    }
  } else {
    for (auto& [name, tensor] : input.parameters) visit(archive, tensor);
  }
}

/// Returns the tensors in a fixed order, which is the same in the child and in the parent.
std::vector<InputTensor*> tensors_of(Input& input) {
  std::vector<InputTensor*> list = {&input.query};
  for (std::optional<InputTensor>* tensor : {&input.key, &input.value, &input.output_grad}) {
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
    conelab::visit(writer, more);
    conelab::visit(writer, tensor.name);
    conelab::visit(writer, tensor.numbers);
    tensor.numbers = Numbers();
  };
  Input input = read_input(spec, options);
  more = false;
  conelab::visit(writer, more);
  visit(writer, input);
}

void consume_input(ArchiveReader& reader, Input& input) {
  std::multimap<std::string, Numbers> numbers;
  for (bool more = true; conelab::visit(reader, more), more;) {
    std::string name;
    conelab::visit(reader, name);
    conelab::visit(reader, numbers.emplace(name, Numbers())->second);
  }
  visit(reader, input);
  for (InputTensor* tensor : tensors_of(input)) {
    const auto found = numbers.find(tensor->name);
    if (found == numbers.end()) fail("{}: damaged: its reader lost a tensor", input.path);
    tensor->numbers = std::move(found->second);
    numbers.erase(found);
  }
}

template <class Archive>
void visit(Archive& archive, LabelledAxis& axis) {
  conelab::visit(archive, axis.name);
  conelab::visit(archive, axis.labels);
  conelab::visit(archive, axis.units);
}

template <class Archive>
void visit(Archive& archive, LabelledVariable& variable) {
  conelab::visit(archive, variable.name);
  conelab::visit(archive, variable.axes);
  conelab::visit(archive, variable.data);
  conelab::visit(archive, variable.units);
  conelab::visit(archive, variable.attributes);
}

template <class Archive, class Item>
void visit_each(Archive& archive, std::vector<Item>& list) {
  std::uint64_t count = list.size();
  conelab::visit(archive, count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if constexpr (Archive::reads) list.emplace_back();
    visit(archive, list[i]);
  }
}

template <class Archive>
void visit(Archive& archive, LabelledArray& array) {
  visit_each(archive, array.axes);
  visit_each(archive, array.variables);
  conelab::visit(archive, array.signal);
  conelab::visit(archive, array.attributes);
}

template <class Archive>
void visit(Archive& archive, LabelledFile& file) {
  conelab::visit(archive, file.creator);
  std::uint64_t count = file.groups.size();
  conelab::visit(archive, count);
  if constexpr (Archive::reads) file.groups.resize(count);
  for (auto& [path, array] : file.groups) {
    conelab::visit(archive, path);
    visit(archive, array);
  }
  conelab::visit(archive, file.attributes);
  conelab::visit(archive, file.changed);
}

}  // namespace

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
      [&](ArchiveReader& reader) { consume_input(reader, input); });
  return input;
}

LabelledArray read_labelled_sandboxed(const std::string& path, const std::string& group,
                                      const SandboxLimits& limits) {
  LabelledArray array;
  run_sandboxed(
      path, limits,
      [&](ArchiveWriter& writer) {
        array = read_labelled(path, group);
        visit(writer, array);
      },
      [&](ArchiveReader& reader) { visit(reader, array); });
  return array;
}

std::optional<LabelledArray> find_labelled_sandboxed(const std::string& path,
                                                     const std::string& group,
                                                     const SandboxLimits& limits) {
  std::optional<LabelledArray> array;
  run_sandboxed(
      path, limits,
      [&](ArchiveWriter& writer) {
        array = find_labelled(path, group);
        bool found = array.has_value();
        conelab::visit(writer, found);
        if (found) visit(writer, *array);
      },
      [&](ArchiveReader& reader) {
        bool found = false;
        conelab::visit(reader, found);
        if (found) visit(reader, array.emplace());
      });
  return array;
}

LabelledFile read_labelled_file_sandboxed(const std::string& path, const SandboxLimits& limits) {
  LabelledFile file;
  run_sandboxed(
      path, limits,
      [&](ArchiveWriter& writer) {
        file = read_labelled_file(path);
        visit(writer, file);
      },
      [&](ArchiveReader& reader) { visit(reader, file); });
  return file;
}

}  // namespace conelab
