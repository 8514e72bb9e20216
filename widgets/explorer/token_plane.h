// The tokens of a head in the plane of one pair of them, a query u and a key v.
//
// The pair itself is exact: for infinite families at distance D of their base coordinates with
// their own heights, for finite families at their angle at the source with their own distances from
// it. Every other key keeps two numbers: its radial coordinate and its base distance from u. It
// lies on the side of v if it is in the direction of v, and on the other side otherwise. Whether it
// lies in the cone of u, its LCA with u and K(u, ·) are therefore exact too; distances between two
// keys are not.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/trace/trace.h"
#include "core/tree/head_tree.h"
#include "widgets/explorer/cone_scene.h"

namespace conelab::desktop {

/// The queries and keys of a head as elements of a cone family.
struct HeadTokens {
  tree::HeadElements queries, keys;
  std::string depth;  ///< What the operator reads of an LCA, a word of `cone_depths`.
};
/// Returns the operator that places the tokens under a family: the first of `calls` with this
/// similarity, otherwise the family's defaults with these parameters.
[[nodiscard]] Call call_of_tokens(const std::vector<Call>& calls, const ConeChoice& choice);
/// Returns the tokens, or nothing if the similarity of the call is no cone family. Throws if a
/// token lies outside the domain of the family.
[[nodiscard]] std::optional<HeadTokens> head_tokens(const HeadInput& input,
                                                    const Call& call_of_head);

struct TokenPlane {
  ConeChoice choice;             ///< u and v, the family and its parameters.
  std::vector<PlanePoint> keys;  ///< [n_k] Half-plane coordinates, including v.
};

/// Returns the plane of a pair. `choice` supplies the other settings of the scene.
[[nodiscard]] TokenPlane plane_of_pair(const ConeChoice& choice, const HeadTokens& tokens,
                                       const Focus& pair);

/// Tokens as points of the explorer's plane.
struct TokenMarks : TokenNames {
  std::string query;                   ///< The name of the query at u.
  std::optional<std::size_t> key;      ///< The token at v.
  std::optional<std::size_t> focused;  ///< The token that is highlighted.
  /// (child, parent) of the hierarchy whose nodes the tokens are; empty: they are no nodes.
  std::vector<std::array<std::int64_t, 2>> edges;
};

/// Returns the focused token and its ancestors by the edges; nothing if no token is focused.
[[nodiscard]] std::set<std::int64_t> focused_and_ancestors(const TokenMarks& tokens);

/// Returns whether a token is a word or a part of one: neither punctuation nor a special token such
/// as [CLS] and </s>.
[[nodiscard]] bool is_word(const std::string& token);

/// The texts of the queries and keys of a head.
struct TokenTexts {
  std::function<std::string(std::int64_t)> query, key;
};
/// Returns a pair for the first sight of a head: the query of middle radial coordinate, and the key
/// with the largest K among those at another position. Words come before other tokens, and keys
/// that are neither ancestor nor descendant before others. Absent if no query and key have a place.
[[nodiscard]] std::optional<Focus> first_pair(const HeadTokens& tokens, const TokenTexts& texts);

}  // namespace conelab::desktop
