// Lines that do not come closer to each other than the eye can tell apart.
//
// A mask of cells remembers the pixels that lines have taken; of a further line only the parts
// outside it, and outside the cells around it, are kept.
#pragma once

#include <vector>

#include "widgets/explorer/curve_line.h"

namespace conelab::desktop {

class LinesApart {
 public:
  /// Lines inside `box`; what lies outside of it is not looked at and kept.
  explicit LinesApart(const figure::Box& box);

  /// The parts of a line at least a cell (3 pixels) away from all that is remembered; without
  /// those that are mere specks.
  [[nodiscard]] std::vector<Line> kept(const Line& line) const;
  void remember(const std::vector<Line>& lines);

 private:
  [[nodiscard]] bool taken(const figure::Point& p) const;

  figure::Box box_;
  int columns_, rows_;
  std::vector<char> cells_;
};

}  // namespace conelab::desktop
