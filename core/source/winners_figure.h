// Figure `winners`: which operator is best on which hierarchy, in how many dimensions, and by how
// much. Rows are the hierarchies of the results, columns the dimensions of a token. A cell names
// the operator with the highest mean over seeds and says how far it is ahead of the second; it is
// pale where that difference, paired by seed, may be chance: Student's t, Holm's correction over
// all cells.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace conelab {

/// The results of one head each that the figure compares.
struct HeadsByHierarchy {
  using BySeed = std::map<std::string, double>;
  using ByOperator = std::map<std::string, BySeed>;
  using Place = std::pair<std::string, std::string>;  ///< The titles of a row and of a column.

  std::string measure;
  std::vector<std::string> rows, columns, operators;  ///< In the order of the files.
  std::map<Place, ByOperator> cells;                  ///< The values of the measure.
};

}  // namespace conelab
