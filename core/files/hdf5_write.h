// Writing HDF5 so that every reader opens it: the rules of the house in one place.
//
// Variable-length UTF-8 strings; no enums, no compounds; links in creation order; object times off;
// format bounds fixed at 1.10, so that equal content gives equal bytes under any library; chunks
// with shuffle, deflate and Fletcher32. All functions need a Lock held, and fail with
// `FILE: /path: cannot ...`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/hdf5.h"
#include "core/files/labelled_array.h"

namespace conelab::hdf5 {

/// Higher levels gain under a percent on shuffled floats and cost a multiple of the time.
constexpr unsigned deflate_level = 1;

/// Creates (truncates) the file at `path`; messages call it `where.file`.
[[nodiscard]] File create_file(const std::string& path, const Where& where);

/// Creates a group under `parent`; `where` is the new group.
[[nodiscard]] Group create_group(hid_t parent, const std::string& name, const Where& where);

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value,
                     const Where& where);
void write_attributes(hid_t object, const Attributes& attributes, const Where& where);

/// Creates a chunked (rank > 0, not empty) or contiguous data set of numbers. Empty `chunk`: chosen
/// so that one holds about 64 k numbers of the last axes.
[[nodiscard]] Dataset create_dataset(hid_t parent, const std::string& name, hid_t type,
                                     const std::vector<hsize_t>& extents,
                                     const std::vector<hsize_t>& chunk, const Where& where);

/// Writes all numbers; `type` is their type in memory.
void write_numbers(const Dataset& dataset, hid_t type, const void* numbers, const Where& where);

/// Creates and fills a data set of strings.
[[nodiscard]] Dataset write_strings(hid_t parent, const std::string& name,
                                    const std::vector<hsize_t>& extents,
                                    const std::vector<std::string>& strings, const Where& where);

/// Creates a one-dimensional dimension scale named `name`.
[[nodiscard]] Dataset write_scale(hid_t parent, const std::string& name,
                                  const std::vector<std::int64_t>& values, const Where& where);
[[nodiscard]] Dataset write_scale(hid_t parent, const std::string& name,
                                  const std::vector<double>& values, const Where& where);

/// Makes `scale` the scale of the data set's axis number `axis`.
void attach_scale(const Dataset& dataset, const Dataset& scale, unsigned axis, const Where& where);

/// Writes scales, variables and attributes of a labelled array into a new, empty group. Fails with
/// `where`: what is wrong, for names, axes and sizes that do not fit together.
void write_labelled_group(hid_t group, const LabelledArray& array, const Where& where);

}  // namespace conelab::hdf5
