// The data sets that `conelab dataset NAME` makes: hierarchies, graphs, series and tokens.
//
// Equal keys give equal numbers on every machine and for every number of threads: generators use
// core/base/random.h and sums in a fixed order. A new data set is a file with its maker, its row in
// dataset_table.cpp, and its test.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/key_values.h"
#include "core/base/tensor.h"
#include "core/dataset/hierarchy.h"
#include "core/files/bench_file.h"

namespace conelab {

struct MadeData {
  std::optional<Hierarchy> hierarchy = {};
  /// Further groups: "graph" (edge [m × 2]; radius, angle or cluster [n]), "series" (value
  /// [sequence × time × feature], time [time]), "sentence" (text [sentence], and of `listops` value
  /// and depth).
  std::vector<std::pair<std::string, LabelledArray>> groups = {};
  std::vector<RootTensor> tensors = {};   ///< q, k and v [head × n × d], if it holds tokens.
  std::optional<Node> source_nodes = {};  ///< Of a hierarchy from a file: its nodes there.
  std::vector<std::string> remarks = {};  ///< What the user should know, one line each.
};

struct DatasetInfo {
  const char* name;
  const char* about;
  std::vector<KeyInfo> keys;  ///< Without `seed`, which every data set takes.
  MadeData (*make)(const KeyValues& values);
  /// The endings of the files that it reads (`path`), ".csv"; "/" is a folder. Empty: it reads none
  /// that a user brings.
  std::vector<std::string> endings = {};
  bool tokens = false;  ///< Whether it holds q, k and v.
};

/// Returns all data sets in the order in which lists show them.
[[nodiscard]] const std::vector<DatasetInfo>& dataset_table();
/// Returns the keys of a data set, with `seed`.
[[nodiscard]] std::vector<KeyInfo> keys_of(const DatasetInfo& info);
/// Checks the keys and returns all values. Throws misuse for an unknown name or key.
[[nodiscard]] KeyValues dataset_values(const std::string& name, const KeyTexts& given);
/// Makes a data set. Throws misuse as dataset_values does, and a failure if files that it reads are
/// missing.
[[nodiscard]] MadeData make_dataset(const std::string& name, const KeyTexts& given);

/// Returns the name of the data set that reads a file of this kind, or a folder. Throws misuse,
/// which names the path, if there is none.
[[nodiscard]] std::string importer_of(const std::string& path);

/// Returns the names of the models whose shapes `model_shapes` knows: "a|b|c".
[[nodiscard]] const char* shape_models();

}  // namespace conelab
