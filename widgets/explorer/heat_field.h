// The heat layer of the explorer: the colours of a similarity with u
// (core/figure/similarity_field.h) on a grid of pixels.
#pragma once

#include <vector>

#include "core/drawing/colour_map.h"
#include "core/figure/similarity_field.h"
#include "widgets/explorer/cone_scene.h"

namespace conelab::desktop {

/// Returns the part of the half-plane whose values determine the colours: what is visible of the
/// half-plane, and in other models what the same camera would show of it.
[[nodiscard]] figure::PlanePart plane_part(const PlaneFrame& frame);

/// What the initial camera shows of a square.
inline constexpr figure::PlanePart usual_part{-0.75, 0.75, 1.5};

/// Returns the similarity of a choice. The scene must belong to it and have no error.
[[nodiscard]] figure::SimilarityField heat_field(const ConeChoice& choice, const ConeScene& scene);
/// Returns the values at which its colours begin and end.
[[nodiscard]] figure::SimilarityRange heat_range(const ConeChoice& choice, const ConeScene& scene,
                                                 const figure::PlanePart& part);

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
  figure::SimilarityField field_;
  figure::SimilarityRange range_;
  int step_, columns_, rows_, row_ = 0;
  std::vector<std::uint8_t> pixels_;
  std::vector<figure::Colour> near_, beyond_;  ///< Colour tables with and without common ancestor.
  figure::Colour ground_;
};

}  // namespace conelab::desktop
