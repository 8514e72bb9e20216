// The combinatorial embedding of a tree in hyperbolic space, without training: Sarkar (2011) in the
// plane, De Sa et al. (2018) in any dimension.
//
// Every edge has the length `scale`. A node's neighbours lie in directions that are far from each
// other: evenly on the circle, or on the sphere where points that repel each other come to rest.
//
// Points are kept as direction and distance from the origin, where float64 tells siblings apart up
// to a distance of about 45, twice as far as in the Poincaré ball. In the plane the mammals of
// WordNet (depth 9) have map_neighbours .9983 there, .8783 at 32 and .9390 at 54; in 5 dimensions
// .9997, because one of them has two parents. Papers reach .989 for all nouns in the plane with
// numbers of high precision.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dataset/hierarchy.h"

namespace conelab {

struct Construction {
  double scale = 0;            ///< The length of an edge.
  std::vector<double> points;  ///< [n × (d + 1)] Unit direction [d], distance from the origin.
};

/// Embeds a hierarchy in H^d, d >= 2. Of several parents only the first is used; several roots are
/// placed around the origin. A scale of 0 is chosen so that the deepest node has a distance of 45,
/// at most 8.
[[nodiscard]] Construction constructed(const Hierarchy& hierarchy, int dim, double scale,
                                       std::uint64_t seed);

}  // namespace conelab
