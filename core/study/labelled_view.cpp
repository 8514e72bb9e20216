#include "core/study/labelled_view.h"

#include <filesystem>
#include <type_traits>
#include <variant>

#include "core/base/error.h"
#include "core/files/read_tensors.h"
#include "core/files/sandbox.h"

namespace conelab {

void check_whole_file(const std::string& path) {
  const InputSpec spec = parse_input_spec(path);
  std::error_code unseen;  // If the file does not exist, opening it reports that.
  if (spec.group.empty() || !std::filesystem::exists(spec.path, unseen)) return;
  misuse("{}: is taken as a whole file, without a group (found ':{}')", spec.path, spec.group);
}

LabelledFile read_result(const std::string& path, const JobContext& context) {
  check_whole_file(path);
  LabelledFile file = read_labelled_file_sandboxed(path, {.cancelled = context.cancelled});
  if (file.changed) context.say("{}", change_remark(path));
  return file;
}

std::string change_remark(const std::string& path) {
  return path + ": its bytes are not those that were written: damaged, or changed since";
}

const LabelledAxis& axis_of(const LabelledArray& array, const std::string& name,
                            const std::string& file) {
  const LabelledAxis* axis = array.axis(name);
  if (!axis) fail("{}: there is no axis '{}' (is it a result of this program?)", file, name);
  return *axis;
}

std::vector<double> numbers_of(const LabelledArray& array, const std::string& variable,
                               const std::string& file) {
  const LabelledVariable* found = array.variable(variable);
  if (!found) {
    fail("{}: there is no variable '{}' (is it a result of this program?)", file, variable);
  }
  return std::visit(
      [&](const auto& data) -> std::vector<double> {
        if constexpr (std::is_same_v<std::decay_t<decltype(data)>, std::vector<std::string>>) {
          fail("{}: variable '{}' holds text, not numbers", file, variable);
        } else {
          return {data.begin(), data.end()};
        }
      },
      found->data);
}

}  // namespace conelab
