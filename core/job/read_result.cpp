#include "core/job/read_result.h"

#include <filesystem>

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

}  // namespace conelab
