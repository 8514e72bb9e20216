// Reads attributes of objects of unknown origin.
#include <algorithm>
#include <limits>

#include "core/files/hdf5_read.h"

namespace conelab::hdf5 {
namespace {

/// Longer lists are not labels and are skipped.
constexpr hssize_t most_values = 4096;
/// Fixed-length strings beyond this size are a sign of damage and are read as empty.
constexpr std::size_t most_attribute_bytes = std::size_t{1} << 26;

std::vector<std::string> attribute_strings(const Attribute& attribute, const Type& type,
                                           std::size_t count, const Where& where) {
  std::vector<std::string> strings;
  if (H5Tis_variable_str(type.id()) > 0) {
    const Space space(CONELAB_HDF5(where, "give an attribute", H5Aget_space(attribute.id())));
    std::vector<char*> pointers(count, nullptr);
    CONELAB_HDF5(where, "give an attribute",
                 H5Aread(attribute.id(), type.id(), static_cast<void*>(pointers.data())));
    for (const char* text : pointers) strings.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, static_cast<void*>(pointers.data()));
    return strings;
  }
  const std::size_t size = H5Tget_size(type.id());
  const H5T_str_t padding = H5Tget_strpad(type.id());
  if (size > most_attribute_bytes / count) return std::vector<std::string>(count);
  std::string bytes(count * size, '\0');
  CONELAB_HDF5(where, "give an attribute", H5Aread(attribute.id(), type.id(), bytes.data()));
  for (std::size_t i = 0; i < count; ++i) {
    strings.push_back(fixed_string(bytes.substr(i * size, size), padding));
  }
  return strings;
}

template <class Number>
std::vector<Number> attribute_numbers(const Attribute& attribute, hid_t type, std::size_t count,
                                      const Where& where) {
  std::vector<Number> numbers(count);
  CONELAB_HDF5(where, "give an attribute", H5Aread(attribute.id(), type, numbers.data()));
  return numbers;
}

AttributeValue string_value(std::vector<std::string> strings, bool scalar) {
  if (scalar) return strings.front();
  return strings;
}

AttributeValue number_value(const Attribute& attribute, const Type& type, std::size_t count,
                            bool scalar, const Where& where) {
  const auto value = [&](auto numbers) -> AttributeValue {
    if (scalar) return numbers.front();
    return numbers;
  };
  if (H5Tget_class(type.id()) != H5T_INTEGER) {
    return value(attribute_numbers<double>(attribute, H5T_NATIVE_DOUBLE, count, where));
  }
  // The library would replace a number above 2^63 - 1 by this bound.
  auto whole = attribute_numbers<std::uint64_t>(attribute, H5T_NATIVE_UINT64, count, where);
  const bool large = H5Tget_sign(type.id()) == H5T_SGN_NONE &&
                     std::any_of(whole.begin(), whole.end(), [](std::uint64_t x) {
                       return x > std::numeric_limits<std::int64_t>::max();
                     });
  if (large) return value(std::move(whole));
  return value(attribute_numbers<std::int64_t>(attribute, H5T_NATIVE_INT64, count, where));
}

herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* list) {
  static_cast<std::vector<std::string>*>(list)->emplace_back(name);
  return 0;
}

}  // namespace

std::optional<AttributeValue> read_attribute(hid_t object, const std::string& name,
                                             const Where& where) {
  if (CONELAB_HDF5(where, "give an attribute", H5Aexists(object, name.c_str())) == 0) return {};
  const Attribute attribute(
      CONELAB_HDF5(where, "give an attribute", H5Aopen(object, name.c_str(), H5P_DEFAULT)));
  const Type type(CONELAB_HDF5(where, "give an attribute", H5Aget_type(attribute.id())));
  const Space space(CONELAB_HDF5(where, "give an attribute", H5Aget_space(attribute.id())));
  const hssize_t count =
      CONELAB_HDF5(where, "give an attribute", H5Sget_simple_extent_npoints(space.id()));
  if (count < 1 || count > most_values) return {};
  const bool scalar = H5Sget_simple_extent_type(space.id()) == H5S_SCALAR;
  const auto length = static_cast<std::size_t>(count);
  switch (H5Tget_class(type.id())) {
    case H5T_STRING:
      return string_value(attribute_strings(attribute, type, length, where), scalar);
    case H5T_INTEGER:
    case H5T_FLOAT:
      return number_value(attribute, type, length, scalar, where);
    default:
      return {};
  }
}

std::vector<std::string> attribute_names(hid_t object, const Where& where) {
  std::vector<std::string> names;
  CONELAB_HDF5(where, "list its attributes",
               H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names));
  return names;
}

}  // namespace conelab::hdf5
