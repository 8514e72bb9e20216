#include "core/files/hdf5_write.h"

#include <hdf5_hl.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace conelab::hdf5 {
namespace {

constexpr unsigned tracked_and_indexed = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
constexpr hsize_t numbers_a_chunk = 65536;

Properties creation(hid_t kind, const Where& where) {
  Properties properties(CONELAB_HDF5(where, "be created", H5Pcreate(kind)));
  CONELAB_HDF5(where, "be created", H5Pset_obj_track_times(properties.id(), false));
  return properties;
}

Properties group_creation(hid_t kind, const Where& where) {
  Properties properties = creation(kind, where);
  CONELAB_HDF5(where, "be created",
               H5Pset_link_creation_order(properties.id(), tracked_and_indexed));
  CONELAB_HDF5(where, "be created",
               H5Pset_attr_creation_order(properties.id(), tracked_and_indexed));
  return properties;
}

hsize_t product(const std::vector<hsize_t>& extents) {
  hsize_t count = 1;
  for (const hsize_t extent : extents) count *= extent;
  return count;
}

std::vector<hsize_t> default_chunk(const std::vector<hsize_t>& extents) {
  std::vector<hsize_t> chunk(extents.size(), 1);
  hsize_t left = numbers_a_chunk;
  for (std::size_t i = extents.size(); i-- > 0 && left > 1;) {
    chunk[i] = std::clamp<hsize_t>(extents[i], 1, left);
    left /= chunk[i];
  }
  return chunk;
}

void add_filters(const Properties& properties, const std::vector<hsize_t>& chunk,
                 const Where& where) {
  const hid_t id = properties.id();
  CONELAB_HDF5(where, "be created", H5Pset_chunk(id, static_cast<int>(chunk.size()), chunk.data()));
  CONELAB_HDF5(where, "be created", H5Pset_shuffle(id));
  CONELAB_HDF5(where, "be created", H5Pset_deflate(id, deflate_level));
  CONELAB_HDF5(where, "be created", H5Pset_fletcher32(id));
}

std::vector<const char*> pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> list;
  for (const std::string& text : strings) list.push_back(text.c_str());
  return list;
}

std::vector<std::string> all_valid_utf8(const std::vector<std::string>& strings) {
  std::vector<std::string> list;
  for (const std::string& text : strings) list.push_back(valid_utf8(text));
  return list;
}

void write_raw_attribute(hid_t object, const std::string& name, hid_t type,
                         const std::vector<hsize_t>& extents, const void* data,
                         const Where& where) {
  const Space space = simple_space(extents, where);
  Attribute attribute(
      CONELAB_HDF5(where, "take an attribute",
                   H5Acreate2(object, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT)));
  CONELAB_HDF5(where, "write an attribute", H5Awrite(attribute.id(), type, data));
  attribute.close(where);
}

}  // namespace

File create_file(const std::string& path, const Where& where) {
  const Properties creating = group_creation(H5P_FILE_CREATE, where);
  const Properties access(CONELAB_HDF5(where, "be created", H5Pcreate(H5P_FILE_ACCESS)));
  CONELAB_HDF5(where, "be created",
               H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110));
  CONELAB_HDF5(where, "be created", H5Pset_fclose_degree(access.id(), H5F_CLOSE_SEMI));
  return File(CONELAB_HDF5(where, "be created",
                           H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creating.id(), access.id())));
}

Group create_group(hid_t parent, const std::string& name, const Where& where) {
  const Properties creating = group_creation(H5P_GROUP_CREATE, where);
  return Group(
      CONELAB_HDF5(where, "be created",
                   H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, creating.id(), H5P_DEFAULT)));
}

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value,
                     const Where& where) {
  std::visit(
      [&](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, std::string>) {
          const std::string valid = valid_utf8(v);
          const char* pointer = valid.c_str();
          write_raw_attribute(object, name, string_type().id(), {}, &pointer, where);
        } else if constexpr (std::is_same_v<V, std::vector<std::string>>) {
          const std::vector<std::string> valid = all_valid_utf8(v);
          write_raw_attribute(object, name, string_type().id(), {v.size()}, pointers(valid).data(),
                              where);
        } else if constexpr (std::is_arithmetic_v<V>) {
          write_raw_attribute(object, name, number_type<V>(), {}, &v, where);
        } else {
          write_raw_attribute(object, name, number_type<typename V::value_type>(), {v.size()},
                              v.data(), where);
        }
      },
      value);
}

void write_attributes(hid_t object, const Attributes& attributes, const Where& where) {
  for (const auto& [name, value] : attributes) write_attribute(object, name, value, where);
}

Dataset create_dataset(hid_t parent, const std::string& name, hid_t type,
                       const std::vector<hsize_t>& extents, const std::vector<hsize_t>& chunk,
                       const Where& where) {
  const Properties properties = creation(H5P_DATASET_CREATE, where);
  CONELAB_HDF5(where, "be created",
               H5Pset_attr_creation_order(properties.id(), tracked_and_indexed));
  if (!extents.empty() && product(extents) > 0) {
    add_filters(properties, chunk.empty() ? default_chunk(extents) : chunk, where);
  }
  const Space space = simple_space(extents, where);
  return Dataset(CONELAB_HDF5(where, "be created",
                              H5Dcreate2(parent, name.c_str(), type, space.id(), H5P_DEFAULT,
                                         properties.id(), H5P_DEFAULT)));
}

void write_numbers(const Dataset& dataset, hid_t type, const void* numbers, const Where& where) {
  CONELAB_HDF5(where, "be written",
               H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
}

void write_rows_of_all(const Dataset& dataset, hid_t type, Rows rows, const void* numbers,
                       const Where& where) {
  const Space space(CONELAB_HDF5(where, "give its extents", H5Dget_space(dataset.id())));
  std::vector<hsize_t> sizes = extents_of(space, where);
  constexpr std::size_t axis = 2;
  sizes[axis] = static_cast<hsize_t>(rows.count());
  select_rows(space, axis, rows, where);
  CONELAB_HDF5(where, "be written",
               H5Dwrite(dataset.id(), type, simple_space(sizes, where).id(), space.id(),
                        H5P_DEFAULT, numbers));
}

Dataset write_strings(hid_t parent, const std::string& name, const std::vector<hsize_t>& extents,
                      const std::vector<std::string>& strings, const Where& where) {
  const Type type = string_type();
  const Properties properties = creation(H5P_DATASET_CREATE, where);
  const Space space = simple_space(extents, where);
  Dataset dataset(CONELAB_HDF5(where, "be created",
                               H5Dcreate2(parent, name.c_str(), type.id(), space.id(), H5P_DEFAULT,
                                          properties.id(), H5P_DEFAULT)));
  const std::vector<std::string> valid = all_valid_utf8(strings);
  write_numbers(dataset, type.id(), pointers(valid).data(), where);
  return dataset;
}

Dataset write_scale(hid_t parent, const std::string& name, hid_t type, std::size_t count,
                    const void* numbers, const Where& where) {
  // The attributes of a scale are rewritten at each attachment. Libraries before 1.12.3 fail to do
  // this if the attributes are many and tracked in creation order; therefore they are not tracked
  // here.
  const Properties properties = creation(H5P_DATASET_CREATE, where);
  const Space space = simple_space({count}, where);
  Dataset scale(CONELAB_HDF5(where, "be created",
                             H5Dcreate2(parent, name.c_str(), type, space.id(), H5P_DEFAULT,
                                        properties.id(), H5P_DEFAULT)));
  write_numbers(scale, type, numbers, where);
  CONELAB_HDF5(where, "become a dimension scale", H5DSset_scale(scale.id(), name.c_str()));
  return scale;
}

void attach_scale(const Dataset& dataset, const Dataset& scale, unsigned axis, const Where& where) {
  CONELAB_HDF5(where, "take its dimension scale", H5DSattach_scale(dataset.id(), scale.id(), axis));
}

}  // namespace conelab::hdf5
