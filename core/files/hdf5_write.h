// Writes HDF5 in a form that every reader opens.
//
// Strings are UTF-8 of variable length; there are no enums and no compounds; links are in creation
// order; objects have no times; format bounds are fixed at 1.10, so that equal content gives equal
// bytes with any version of the library; chunks use shuffle, deflate and Fletcher32. The caller of
// each function must hold a Lock. All throw a failure `FILE: /path: cannot ...`.
#pragma once

#include <string>
#include <vector>

#include "core/files/hdf5.h"
#include "core/files/labelled_array.h"

namespace conelab::hdf5 {

/// Higher levels save less than a percent on shuffled floats and take several times as long.
constexpr unsigned deflate_level = 1;

/// Creates (truncates) the file at `path`. Messages call it `where.file`.
[[nodiscard]] File create_file(const std::string& path, const Where& where);

/// Creates a group under `parent`. `where` is the new group.
[[nodiscard]] Group create_group(hid_t parent, const std::string& name, const Where& where);

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value,
                     const Where& where);
void write_attributes(hid_t object, const Attributes& attributes, const Where& where);

/// Creates a data set of numbers, chunked if its rank is above 0 and it is not empty, otherwise
/// contiguous. If `chunk` is empty, a chunk holds about 64 k numbers of the last axes.
[[nodiscard]] Dataset create_dataset(hid_t parent, const std::string& name, hid_t type,
                                     const std::vector<hsize_t>& extents,
                                     const std::vector<hsize_t>& chunk, const Where& where);

/// Writes all numbers. `type` is their type in memory.
void write_numbers(const Dataset& dataset, hid_t type, const void* numbers, const Where& where);

/// Writes some rows of all heads of a data set [batch × head × row] or [.. × row × column].
void write_rows_of_all(const Dataset& dataset, hid_t type, Rows rows, const void* numbers,
                       const Where& where);

/// Creates a data set of strings and writes them.
[[nodiscard]] Dataset write_strings(hid_t parent, const std::string& name,
                                    const std::vector<hsize_t>& extents,
                                    const std::vector<std::string>& strings, const Where& where);

/// Creates a data set of the numbers or strings of a list and writes them.
template <class Item>
[[nodiscard]] Dataset write_list(hid_t parent, const std::string& name,
                                 const std::vector<hsize_t>& extents, const std::vector<Item>& list,
                                 const Where& where) {
  if constexpr (std::is_same_v<Item, std::string>) {
    return write_strings(parent, name, extents, list, where);
  } else {
    Dataset dataset = create_dataset(parent, name, number_type<Item>(), extents, {}, where);
    write_numbers(dataset, number_type<Item>(), list.data(), where);
    return dataset;
  }
}

/// Creates a one-dimensional dimension scale named `name` of `count` numbers.
[[nodiscard]] Dataset write_scale(hid_t parent, const std::string& name, hid_t type,
                                  std::size_t count, const void* numbers, const Where& where);

/// Makes `scale` the scale of axis number `axis` of the data set.
void attach_scale(const Dataset& dataset, const Dataset& scale, unsigned axis, const Where& where);

/// Writes scales, variables and attributes of a labelled array to a new, empty group. Throws a
/// failure `where: what is wrong` if names, axes and sizes do not fit together.
void write_labelled_group(hid_t group, const LabelledArray& array, const Where& where);

}  // namespace conelab::hdf5
