// Writes and reads one labelled hyper-rectangle as a group of an HDF5 file.

#include <hdf5_hl.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/files/hdf5_read.h"
#include "core/files/hdf5_write.h"

namespace conelab::hdf5 {
namespace {

using Scales = std::map<std::string, Dataset>;

void check_name(const std::string& name, std::set<std::string>& seen, const Where& where) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  };
  if (name.empty() || !std::ranges::all_of(name, allowed)) {
    fail("{}: '{}' is no name (expected letters, digits and _ - .)", where.text(), name);
  }
  if (!seen.insert(name).second) fail("{}: '{}' appears twice", where.text(), name);
}

std::vector<hsize_t> variable_extents(const LabelledArray& array, const LabelledVariable& variable,
                                      const Where& where) {
  std::vector<hsize_t> extents;
  for (const std::string& name : variable.axes) {
    const LabelledAxis* axis = array.axis(name);
    if (axis == nullptr) fail("{}/{}: unknown axis '{}'", where.text(), variable.name, name);
    extents.push_back(axis->size());
  }
  return extents;
}

void check_variable(const LabelledArray& array, const LabelledVariable& variable,
                    const Where& where) {
  const std::vector<hsize_t> extents = variable_extents(array, variable, where);
  const hsize_t expected =
      std::accumulate(extents.begin(), extents.end(), hsize_t{1}, std::multiplies<>());
  const std::size_t found = std::visit([](const auto& list) { return list.size(); }, variable.data);
  if (found != expected) {
    fail("{}/{}: wrong size (expected {} for [{}], found {})", where.text(), variable.name,
         expected, fmt::join(variable.axes, ", "), found);
  }
}

Dataset write_axis_scale(hid_t group, const LabelledAxis& axis, const Where& where) {
  const bool is_text = std::holds_alternative<std::vector<std::string>>(axis.labels);
  const auto& labels = is_text ? counted_axis(axis.name, axis.size()).labels : axis.labels;
  const auto write = [&](const auto& list) {
    using Label = typename std::decay_t<decltype(list)>::value_type;
    return write_scale(group, axis.name, number_type<Label>(), list.size(), list.data(), where);
  };
  const auto* reals = std::get_if<std::vector<double>>(&labels);
  return reals ? write(*reals) : write(std::get<std::vector<std::int64_t>>(labels));
}

void write_units(const Dataset& dataset, const std::string& units, const Where& where) {
  if (!units.empty()) write_attribute(dataset.id(), "units", units, where);
}

void write_variable(hid_t group, const LabelledArray& array, const LabelledVariable& variable,
                    const Scales& scales, const Where& parent) {
  const Where where = parent.child(variable.name);
  const std::vector<hsize_t> extents = variable_extents(array, variable, parent);
  const auto write = [&](const auto& list) {
    return write_list(group, variable.name, extents, list, where);
  };
  Dataset dataset = std::visit(write, variable.data);
  write_units(dataset, variable.units, where);
  write_attributes(dataset.id(), variable.attributes, where);
  for (std::size_t i = 0; i < variable.axes.size(); ++i) {
    attach_scale(dataset, scales.at(variable.axes[i]), static_cast<unsigned>(i), where);
  }
  dataset.close(where);
}

/// Returns the text labels of the axes, each as a variable on its axis.
std::vector<LabelledVariable> label_variables(const LabelledArray& array) {
  std::vector<LabelledVariable> variables;
  for (const LabelledAxis& axis : array.axes) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&axis.labels)) {
      variables.push_back({axis.name + "_name", {axis.name}, *texts, "", {}});
    }
  }
  return variables;
}

void write_group_attributes(hid_t group, const LabelledArray& array, const Where& where) {
  const LabelledVariable* signal = array.variable(array.signal);
  write_attribute(group, "NX_class", signal ? "NXdata" : "NXcollection", where);
  if (signal) {
    write_attribute(group, "signal", array.signal, where);
    if (!signal->axes.empty()) write_attribute(group, "axes", signal->axes, where);
  }
  write_attributes(group, array.attributes, where);
}

// ---------------------------------------------------------------------------------- reading

herr_t keep_scale_name(hid_t /*dataset*/, unsigned /*axis*/, hid_t scale, void* name) {
  char path[1024] = "";
  if (H5Iget_name(scale, path, sizeof path) <= 0) return 0;
  const std::string text = path;
  *static_cast<std::string*>(name) = text.substr(text.rfind('/') + 1);
  return 1;
}

std::vector<std::string> axis_names(const Dataset& dataset, const Stored& stored,
                                    const Where& where) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < stored.extents.size(); ++i) {
    std::string name;
    CONELAB_HDF5(where, "give its dimension scales",
                 H5DSiterate_scales(dataset.id(), i, nullptr, keep_scale_name, &name));
    names.push_back(name.empty() ? fmt::format("axis_{}", i) : name);
  }
  return names;
}

template <class Number>
std::vector<Number> read_list(const Dataset& dataset, std::size_t count, const Where& where) {
  std::vector<Number> list(count);
  CONELAB_HDF5(
      where, "be read",
      H5Dread(dataset.id(), number_type<Number>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data()));
  return list;
}

LabelledData read_data(const Dataset& dataset, const Stored& stored, const Where& where) {
  if (!stored.refused.empty()) fail("{}: {}", where.text(), stored.refused);
  const auto count = static_cast<std::size_t>(checked_product(stored.extents).value_or(0));
  const auto element = stored.element;
  if (element == Element::text) return read_strings(dataset, stored, where, {});
  if (element == Element::u8) return read_list<std::uint8_t>(dataset, count, where);
  if (element == Element::f32) return read_list<float>(dataset, count, where);
  if (element == Element::f64 || element == Element::f16)
    return read_list<double>(dataset, count, where);
  if (element == Element::bf16) {
    std::vector<std::uint16_t> bits(count);
    read_numbers(dataset, stored, bits.data(), where, {});
    std::vector<float> numbers(count);
    std::transform(bits.begin(), bits.end(), numbers.begin(), from_bf16);
    return numbers;
  }
  return read_list<std::int64_t>(dataset, count, where);
}

Attributes read_attributes(hid_t object, const std::set<std::string>& except, const Where& where) {
  Attributes attributes;
  for (const std::string& name : attribute_names(object, where)) {
    if (except.count(name)) continue;
    if (auto value = read_attribute(object, name, where)) attributes.emplace_back(name, *value);
  }
  return attributes;
}

std::string take_text(Attributes& attributes, const std::string& name) {
  for (auto it = attributes.begin(); it != attributes.end(); ++it) {
    const auto* text = std::get_if<std::string>(&it->second);
    if (it->first != name || text == nullptr) continue;
    std::string taken = *text;
    attributes.erase(it);
    return taken;
  }
  return "";
}

void add_axis(LabelledArray& array, const std::string& name, LabelledData data,
              const std::string& units) {
  if (auto* integers = std::get_if<std::vector<std::int64_t>>(&data)) {
    array.axes.push_back({name, std::move(*integers), units});
  } else if (auto* reals = std::get_if<std::vector<double>>(&data)) {
    array.axes.push_back({name, std::move(*reals), units});
  }
}

void read_member(const Dataset& dataset, const std::string& name, const Stored& stored,
                 LabelledArray& array, const Where& where) {
  const bool scale = H5DSis_scale(dataset.id()) > 0;
  Attributes attributes = read_attributes(
      dataset.id(), {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid"}, where);
  const std::string units = take_text(attributes, "units");
  LabelledData data = read_data(dataset, stored, where);
  if (scale) return add_axis(array, name, std::move(data), units);
  array.variables.push_back(
      {name, axis_names(dataset, stored, where), std::move(data), units, std::move(attributes)});
}

/// Turns `NAME_name` variables back into the text labels of their axes.
void restore_text_labels(LabelledArray& array) {
  for (LabelledAxis& axis : array.axes) {
    const auto is_labels = [&](const LabelledVariable& v) {
      return v.name == axis.name + "_name" && v.axes == std::vector<std::string>{axis.name} &&
             std::holds_alternative<std::vector<std::string>>(v.data);
    };
    const auto found = std::ranges::find_if(array.variables, is_labels);
    if (found == array.variables.end()) continue;
    axis.labels = std::get<std::vector<std::string>>(found->data);
    array.variables.erase(found);
  }
}

void check_labelled(const LabelledArray& array, const Where& where) {
  std::set<std::string> seen;
  for (const LabelledAxis& axis : array.axes) check_name(axis.name, seen, where);
  for (const LabelledVariable& label : label_variables(array)) check_name(label.name, seen, where);
  for (const LabelledVariable& variable : array.variables) {
    check_name(variable.name, seen, where);
    check_variable(array, variable, where);
  }
  if (!array.signal.empty() && array.variable(array.signal) == nullptr) {
    fail("{}: the signal '{}' is no variable", where.text(), array.signal);
  }
}

}  // namespace

void write_labelled_group(hid_t group, const LabelledArray& array, const Where& where) {
  check_labelled(array, where);
  write_group_attributes(group, array, where);
  Scales scales;
  for (const LabelledAxis& axis : array.axes) {
    const Where here = where.child(axis.name);
    Dataset scale = write_axis_scale(group, axis, here);
    write_units(scale, axis.units, here);
    scales.emplace(axis.name, std::move(scale));
  }
  for (const LabelledVariable& label : label_variables(array)) {
    write_variable(group, array, label, scales, where);
  }
  for (const LabelledVariable& variable : array.variables) {
    write_variable(group, array, variable, scales, where);
  }
  for (auto& [name, scale] : scales) scale.close(where.child(name));
}

LabelledArray read_labelled_group(const File& file, const Where& where) {
  LabelledArray array;
  for (const std::string& name : children(file, where)) {
    const Where here = where.child(name);
    if (link_kind(file, here.path) != LinkKind::hard) continue;
    if (object_kind(file, here) != ObjectKind::dataset) continue;
    const Dataset dataset = open_dataset(file, here);
    const Stored stored = describe(dataset, here, {});
    const bool known = stored.element != Element::other && stored.element != Element::raw16;
    if (known) read_member(dataset, name, stored, array, here);
  }
  restore_text_labels(array);
  const Object object = open_object(file, where);
  array.attributes = read_attributes(object.id(), {"NX_class", "axes"}, where);
  array.signal = take_text(array.attributes, "signal");
  // The axes of arrays that other programs wrote are unknown and not compared.
  for (const LabelledVariable& variable : array.variables) {
    const auto known = [&](const std::string& name) { return array.axis(name) != nullptr; };
    if (std::ranges::all_of(variable.axes, known)) {
      check_variable(array, variable, where);
    }
  }
  return array;
}

}  // namespace conelab::hdf5
