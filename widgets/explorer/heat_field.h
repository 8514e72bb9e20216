// K(u, ·), the similarity that attention reads, at any point of the plane: the heat layer.
//
// The law of core/geometry/cone_law.h without its vectors: a picture asks for it some ten thousand
// times a frame. Beyond the common ancestors it is the family's extension, as in attention.
#pragma once

#include <vector>

#include "core/figure/colour_map.h"
#include "widgets/explorer/cone_scene.h"

namespace conelab::desktop {

/// The value of K (the depth) at which the colours begin and end. Of a finite family they end at
/// that of u itself, beyond which no K(u, ·) lies.
struct DepthRange {
  double low = 0, high = 1;
};
[[nodiscard]] DepthRange depth_range(const ConeScene& scene, double lambda);

class HeatField {
 public:
  struct Value {
    LawPoint place;
    double depth = 0;       ///< K(u, x).
    bool outside = false;   ///< x is outside the family's domain; the depth is the border's.
    bool extended = false;  ///< u and x have no common ancestor.
  };

  /// A valid scene (no error) of that choice.
  HeatField(const ConeChoice& choice, const ConeScene& scene);
  [[nodiscard]] Value at(const PlanePoint& x) const;

 private:
  [[nodiscard]] LawPoint locate(const PlanePoint& x, bool& outside) const;

  const geometry::ConeFamily* family_;
  geometry::Values values_;
  geometry::RadialDomain domain_;
  bool infinite_;
  double largest_;
  LawPoint u_;
  PlanePoint source_;
};

/// The heat layer's colours on a grid of a frame's pixels, some rows at a time and each by the
/// thread that is free, so that it can be computed in slices while the window stays responsive.
class HeatRaster {
 public:
  /// `step` pixels between nodes; the first and last nodes are on the rectangle's border.
  HeatRaster(const PlaneFrame& frame, const ConeChoice& choice, const ConeScene& scene, int step,
             figure::ColourMap map, figure::Colour ground);
  [[nodiscard]] bool done() const { return row_ >= rows_; }
  /// Computes rows until `milliseconds` have passed, or all.
  void run(double milliseconds = all_of_it);
  static constexpr double all_of_it = 1e9;
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int rows() const { return rows_; }
  /// RGBA [rows × columns], opaque; row 0 on top.
  [[nodiscard]] const std::vector<std::uint8_t>& pixels() const { return pixels_; }

 private:
  void compute_row(int row);
  [[nodiscard]] bool hidden(double x, double y) const;
  PlaneFrame frame_;
  HeatField field_;
  DepthRange range_;
  int step_, columns_, rows_, row_ = 0;
  std::vector<std::uint8_t> pixels_;
  std::vector<figure::Colour> near_, beyond_;  ///< Colours by place; beyond the common ancestors.
  figure::Colour ground_;
};

}  // namespace conelab::desktop
