// The order of the axes of arrays in a file: Fortran, MATLAB and Julia write the last axis first,
// and `--axes` names any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace conelab {

/// order[i] says which axis of the file is axis i of an array. Empty: the order of the file.
using AxisOrder = std::vector<std::size_t>;

/// Returns the order of `rank` axes that are stored last axis first.
[[nodiscard]] AxisOrder reversed_axes(std::size_t rank);

/// Returns the order that brings the axes named in `axes` ("token,head,feature") to the last `rank`
/// of [batch × head × token × feature]. Of more names than `rank`, batch and then head are left
/// out. Throws misuse unless the names are different ones of these, token and feature among them,
/// and a failure `PLACE: ...` if the array has other axes.
[[nodiscard]] AxisOrder named_axes(const std::string& axes, std::size_t rank,
                                   const std::string& place);

/// Returns the extents in this order.
[[nodiscard]] std::vector<std::int64_t> in_order(const std::vector<std::int64_t>& extents,
                                                 const AxisOrder& order);

/// Moves numbers of `item` bytes from the file's order, in which the last axis is contiguous, to
/// that of `extents` [rank], whose axis i is axis order[i] of the file.
void reorder(void* numbers, const std::vector<std::int64_t>& extents, const AxisOrder& order,
             std::size_t item);

}  // namespace conelab
