// A matrix that is stored in a file: weights, logits, output or a gradient of a result of `attend`,
// or weights that another program computed, of every batch element and head.
//
// Maps show it like a trace, without computing anything. Each array of a result stands where a
// trace has its layers, under the path of its group:
//   /attention/weights      [query × key]
//   /attention/logits       [query × key], −inf for masked pairs
//   /attention/output       [query × feature]
//   /attention/gradients/q  [query × feature], dL/dq; likewise k and v
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace conelab {

struct Inspection;

struct StoredMap {
  std::string name;   ///< "weights", "logits", "output", "dL/dq", …
  std::string title;  ///< The call that computed it: "penumbral, gamma = 2"; or the file's name.
  std::int64_t batch = 0, head = 0, rows = 0, columns = 0;
  std::string row_axis, column_axis;                 ///< "query", "key", "feature", …
  std::vector<std::string> row_token, column_token;  ///< [rows], [columns], or empty.
  /// [batch × head × rows × columns], as in the file.
  std::variant<std::vector<float>, std::vector<double>> numbers;

  [[nodiscard]] bool of_pairs() const { return column_axis == "key"; }
  /// Returns whether its values are of either sign around zero: gradients and outputs.
  [[nodiscard]] bool has_signs() const { return !of_pairs(); }
  /// Returns where a row of a head begins in `numbers`.
  [[nodiscard]] std::size_t index(std::int64_t batch_index, std::int64_t head_index,
                                  std::int64_t row) const {
    return static_cast<std::size_t>(((batch_index * head + head_index) * rows + row) * columns);
  }
};

/// Returns whether a group of an HDF5 file is the path of a stored map.
[[nodiscard]] bool is_stored_map(const std::string& group);
/// Returns the name of the map at a path: "weights", "dL/dq"; of other paths the path itself
/// without its first slash.
[[nodiscard]] std::string group_title(const std::string& group);

/// Returns the paths of the stored maps of a result of `attend`, weights first; none for any other
/// file.
[[nodiscard]] std::vector<std::string> stored_maps(const Inspection& inspection);

/// Reads a stored map in a sandbox. Throws a failure if the file does not hold it, and interrupted
/// once `cancelled` returns true.
[[nodiscard]] std::shared_ptr<const StoredMap> load_stored_map(
    const std::string& file, const std::string& group, const std::function<bool()>& cancelled);

}  // namespace conelab
