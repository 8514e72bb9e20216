// What comes with the program besides the engine's parts: figures and data sets by name.
#pragma once

#include <string>
#include <vector>

namespace conelab {

struct Shipped {
  std::string name;
  std::string about;
};

[[nodiscard]] std::vector<Shipped> shipped_figures();
[[nodiscard]] std::vector<Shipped> shipped_datasets();

}  // namespace conelab
