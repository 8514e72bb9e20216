#include "widgets/explorer/lines_apart.h"

#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

constexpr double cell = 3, stride = 2;  ///< Pixels.
constexpr double shortest = 15;         ///< Pixels of a part that is worth drawing.

double length(const Line& line) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    sum += std::hypot(line[i + 1].x - line[i].x, line[i + 1].y - line[i].y);
  }
  return sum;
}

/// The line's points, and further ones between them wherever they are more than a stride apart.
template <class Visit>
void walk(const Line& line, Visit visit) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    visit(line[i], true);
    if (i + 1 == line.size()) break;
    const figure::Point &a = line[i], &b = line[i + 1];
    const int parts = static_cast<int>(std::hypot(b.x - a.x, b.y - a.y) / stride);
    for (int k = 1; k < parts; ++k) {
      const double t = static_cast<double>(k) / parts;
      visit(figure::Point{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}, false);
    }
  }
}

}  // namespace

LinesApart::LinesApart(const figure::Box& box)
    : box_(box),
      columns_(std::max(1, static_cast<int>(std::ceil(box.width / cell)))),
      rows_(std::max(1, static_cast<int>(std::ceil(box.height / cell)))),
      cells_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), 0) {}

bool LinesApart::taken(const figure::Point& p) const {
  const int column = static_cast<int>(std::floor((p.x - box_.x) / cell));
  const int row = static_cast<int>(std::floor((p.y - box_.y) / cell));
  for (int r = std::max(0, row - 1); r <= std::min(rows_ - 1, row + 1); ++r) {
    for (int c = std::max(0, column - 1); c <= std::min(columns_ - 1, column + 1); ++c) {
      if (cells_[static_cast<std::size_t>(r * columns_ + c)] != 0) return true;
    }
  }
  return false;
}

std::vector<Line> LinesApart::kept(const Line& line) const {
  std::vector<Line> out;
  bool on = false;
  figure::Point last;
  const auto end = [&] {
    if (on && !(out.back().back() == last)) out.back().push_back(last);
    if (on && length(out.back()) < shortest) out.pop_back();
    on = false;
  };
  walk(line, [&](const figure::Point& p, bool corner) {
    if (taken(p)) return end();
    if (!on) out.emplace_back(Line{p});
    if (on && corner) out.back().push_back(p);
    on = true;
    last = p;
  });
  end();
  return out;
}

void LinesApart::remember(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    walk(line, [&](const figure::Point& p, bool) {
      const int column = static_cast<int>(std::floor((p.x - box_.x) / cell));
      const int row = static_cast<int>(std::floor((p.y - box_.y) / cell));
      if (column < 0 || row < 0 || column >= columns_ || row >= rows_) return;
      cells_[static_cast<std::size_t>(row * columns_ + column)] = 1;
    });
  }
}

}  // namespace conelab::desktop
