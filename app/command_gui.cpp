// `conelab gui [FILE...]`: the desktop program.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/base/error.h"

namespace conelab {

Action declare_gui(CLI::App& options) {
  const auto files = std::make_shared<std::vector<std::string>>();
  options.add_option("FILE", *files, "files to open");
  return [files]() -> int {
    fail("the desktop program is not part of this version; every command works without it");
  };
}

}  // namespace conelab
