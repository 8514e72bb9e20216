// The heat layer: K(u, ·), the similarity that attention uses, at any point of the plane: that of
// the cone family, or another one (core/figure/plane_similarity.h).
//
// For a family it evaluates the law of core/geometry/cone_law.h without its vectors, because a
// picture needs some ten thousand values per frame. If there is no common ancestor, the value is
// the family's extension, as in attention.
#pragma once

#include <vector>

#include "core/figure/colour_map.h"
#include "widgets/explorer/cone_scene.h"

namespace conelab::desktop {

/// Returns the part of the half-plane whose values determine the colours: what is visible of the
/// half-plane, and in other models what the same camera would show of it.
[[nodiscard]] figure::PlanePart plane_part(const PlaneFrame& frame);

/// What the initial camera shows of a square.
inline constexpr figure::PlanePart usual_part{-0.75, 0.75, 1.5};

/// Returns the values of K(u, ·) at which the colours begin and end. For finite families, and for
/// the depth by distance, they end at the depth of u itself, which K(u, ·) cannot exceed.
[[nodiscard]] figure::SimilarityRange heat_range(const ConeChoice& choice, const ConeScene& scene,
                                                 const figure::PlanePart& part);

class HeatField {
 public:
  struct Value {
    LawPoint place;
    double similarity = 0;  ///< K(u, x).
    /// x is outside the domain of the family; the family's similarity is that of its border.
    bool outside = false;
    bool extended = false;  ///< u and x have no common ancestor.
  };

  /// The scene must belong to the choice and have no error.
  HeatField(const ConeChoice& choice, const ConeScene& scene);
  [[nodiscard]] Value at(const PlanePoint& x) const;

 private:
  [[nodiscard]] LawPoint locate(const PlanePoint& x, bool& outside) const;

  [[nodiscard]] double radial_of_lca(const LawPoint& p, bool& extended) const;

  geometry::ConeSystem system_;
  geometry::RadialDomain domain_;
  geometry::DepthMeasure measure_;
  const figure::PlaneSimilarityInfo* other_;  ///< Null: the family's own similarity.
  Eigen::Vector2d u_place_;
  bool infinite_;
  double largest_;
  LawPoint u_;
  PlanePoint source_;
};

/// The colours of the heat layer on a grid of pixels. Rows are computed in slices and in parallel,
/// so that the window stays responsive.
class HeatRaster {
 public:
  /// `step` is the distance of nodes in pixels. The first and last nodes are on the border of the
  /// frame.
  HeatRaster(const PlaneFrame& frame, const ConeChoice& choice, const ConeScene& scene, int step,
             figure::ColourMap map, figure::Colour ground);
  [[nodiscard]] bool done() const { return row_ >= rows_; }
  /// Computes rows until `milliseconds` have passed or all are done.
  void run(double milliseconds = all_of_it);
  static constexpr double all_of_it = 1e9;
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int rows() const { return rows_; }
  /// Returns the colours RGBA [rows × columns × 4], opaque; row 0 is at the top.
  [[nodiscard]] const std::vector<std::uint8_t>& pixels() const { return pixels_; }

 private:
  void compute_row(int row);
  [[nodiscard]] bool hidden(double x, double y) const;
  PlaneFrame frame_;
  HeatField field_;
  figure::SimilarityRange range_;
  int step_, columns_, rows_, row_ = 0;
  std::vector<std::uint8_t> pixels_;
  std::vector<figure::Colour> near_, beyond_;  ///< Colour tables with and without common ancestor.
  figure::Colour ground_;
};

}  // namespace conelab::desktop
