#include "core/trace/stored_map.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/call/call_text.h"
#include "core/files/inspect.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

struct StoredPlace {
  const char *group, *variable, *name;  ///< `group` is the path without the first slash.
};
constexpr StoredPlace places[] = {
    {"attention/weights", "weight", "weights"}, {"attention/logits", "logit", "logits"},
    {"attention/output", "output", "output"},   {"attention/gradients", "q", "dL/dq"},
    {"attention/gradients", "k", "dL/dk"},      {"attention/gradients", "v", "dL/dv"}};

bool is_gradients(const StoredPlace& place) {
  return std::string(place.group).ends_with("gradients");
}

/// A gradient has a path of its own; other maps have that of their group.
std::string path_of(const StoredPlace& place) {
  const std::string group = std::string("/") + place.group;
  return is_gradients(place) ? group + "/" + place.variable : group;
}

const StoredPlace* place_at(const std::string& path) {
  const auto found = std::find_if(std::begin(places), std::end(places),
                                  [&](const StoredPlace& place) { return path_of(place) == path; });
  return found == std::end(places) ? nullptr : found;
}

std::vector<std::string> tokens_of(const LabelledArray& array, const std::string& axis) {
  const LabelledVariable* found = array.variable(axis + "_token");
  const auto* texts = found ? std::get_if<std::vector<std::string>>(&found->data) : nullptr;
  return texts ? *texts : std::vector<std::string>();
}

/// Returns the call of a result as a title; empty if the file does not say.
std::string call_of_result(const std::string& file, const SandboxLimits& limits) {
  const auto entry = find_labelled_sandboxed(file, "attention", limits);
  for (const auto& [name, value] : entry ? entry->attributes : Attributes()) {
    const auto* text = std::get_if<std::string>(&value);
    if (name != "call" || text == nullptr || text->empty()) continue;
    try {
      return call_title(call_from_text(*text));
    } catch (const Error&) {
      return *text;  // Of a version that knows other operators.
    }
  }
  return "";
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
  if (axes.size() != 4 || !std::all_of(axes.begin(), axes.end(), known)) {
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
    const bool there = std::any_of(
        inspection.items.begin(), inspection.items.end(), [&](const InspectedItem& item) {
          return item.path == array && item.kind == ItemKind::array && item.extents.size() == 4;
        });
    if (there) paths.push_back(path_of(place));
  }
  return paths;
}

std::shared_ptr<const StoredMap> load_stored_map(const std::string& file, const std::string& group,
                                                 const std::function<bool()>& cancelled) {
  const StoredPlace* place = place_at(group);
  const SandboxLimits limits{.cancelled = cancelled};
  auto array = place ? find_labelled_sandboxed(file, place->group, limits) : std::nullopt;
  const auto is_it = [&](const LabelledVariable& v) { return v.name == place->variable; };
  const auto variable = array
                            ? std::find_if(array->variables.begin(), array->variables.end(), is_it)
                            : std::vector<LabelledVariable>::iterator();
  if (!array || variable == array->variables.end()) fail("{}: holds no {}", file, group);
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
