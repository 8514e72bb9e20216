// The tokens of a head in the plane of one pair of them, a query u and a key v.
//
// The pair itself is exact: for infinite families at distance D of their base coordinates with
// their own heights, for finite ones at their angle at the source with their own distances to it.
// Every other key keeps two numbers: its radial coordinate and its base distance to u, on v's side
// of u where it leans towards v and on the other side where it does not. So whether it lies in u's
// cone, its LCA with u and K(u, ·) under it are exact too; distances between two keys are not.
#pragma once

#include <optional>
#include <vector>

#include "core/tree/head_tree.h"
#include "widgets/explorer/plane_frame.h"
#include "widgets/session/session.h"
#include "widgets/trace/trace.h"

namespace conelab::desktop {

/// Queries and keys of a head as elements of a cone family.
struct HeadTokens {
  tree::HeadElements queries, keys;
};
/// None where the call's similarity is no cone family. Throws where a token lies outside its
/// domain.
[[nodiscard]] std::optional<HeadTokens> head_tokens(const HeadInput& input,
                                                    const Call& call_of_head);

struct TokenPlane {
  ConeChoice choice;             ///< u and v, the family and its parameters.
  std::vector<PlanePoint> keys;  ///< [n_k] Half-plane coordinates; v's among them.
};

/// `choice` says how the scene is shown besides.
[[nodiscard]] TokenPlane plane_of_pair(const ConeChoice& choice, const HeadTokens& tokens,
                                       const Focus& pair);

}  // namespace conelab::desktop
