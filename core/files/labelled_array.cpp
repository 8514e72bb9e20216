#include "core/files/labelled_array.h"

namespace conelab {
namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& list, const std::string& name) {
  for (const Named& item : list) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

}  // namespace

const LabelledAxis* LabelledArray::axis(const std::string& name) const {
  return find_named(axes, name);
}

const LabelledVariable* LabelledArray::variable(const std::string& name) const {
  return find_named(variables, name);
}

}  // namespace conelab
