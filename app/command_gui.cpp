// `conelab gui [FILE...]`: the desktop program.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/desktop.h"

namespace conelab {

Action declare_gui(CLI::App& options) {
  const auto files = std::make_shared<std::vector<std::string>>();
  options.add_option("FILE", *files, "files to open");
  return [files] { return run_desktop(*files); };
}

}  // namespace conelab
