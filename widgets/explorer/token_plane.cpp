#include "widgets/explorer/token_plane.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "core/call/plan.h"
#include "core/geometry/cone_law.h"

namespace conelab::desktop {
namespace {

using geometry::Vector;

/// Base coordinates of the plane: the position on the line from u towards v, 0 in the middle.
class Axis {
 public:
  Axis(const geometry::ConeSystem& system, const Vector& u, const Vector& v)
      : base_(system.family->base),
        u_(u),
        towards_(system.infinite() ? Vector(v - u) : Vector(v - v.dot(u) * u)),
        length_(geometry::base_distance(base_, u, v)) {}

  [[nodiscard]] double length() const { return length_; }
  [[nodiscard]] double place(const Vector& t) const {
    const double away = geometry::base_distance(base_, u_, t);
    // On the sphere u is orthogonal to `towards_` and does not contribute.
    const double lean = base_ == geometry::Base::plane ? (t - u_).dot(towards_) : t.dot(towards_);
    return -length_ / 2 + (lean < 0 ? -away : away);
  }

 private:
  geometry::Base base_;
  Vector u_, towards_;
  double length_;
};

/// Returns the point of the plane at a base coordinate, with the radial coordinate of an element.
PlanePoint place_of(const geometry::ConeSystem& flat, double along, double radial) {
  if (flat.infinite() || std::isnan(radial)) return {along, radial};  // NaN: undefined token.
  const Eigen::Vector2d axis(std::sin(along), -std::cos(along));
  const auto element = geometry::element_at(flat, Vector(axis), radial);
  const Vector x = geometry::place(flat, element, geometry::Model::halfspace).x;
  return {x[0], x[1]};
}

}  // namespace

std::optional<HeadTokens> head_tokens(const HeadInput& input, const Call& call_of_head) {
  const PairCall<double> pairs = pair_call(call_of_head, input.exact);
  auto queries = tree::head_elements(pairs, tree::Tokens::query, 0, 0);
  auto keys = tree::head_elements(pairs, tree::Tokens::key, 0, 0);
  if (!queries || !keys) return std::nullopt;
  const auto depth = call_of_head.parameters.find("depth");
  return HeadTokens{std::move(*queries), std::move(*keys),
                    depth == call_of_head.parameters.end() ? cone_depths[0] : depth->second.text()};
}

Call call_of_tokens(const std::vector<Call>& calls, const ConeChoice& choice) {
  for (const Call& call : calls) {
    if (is_attention(call) && call.similarity == choice.family) return call;
  }
  Call call = plain_call(choice.family.c_str());
  for (const auto& [key, value] : own_parameters(choice)) {
    call.parameters[key] = value;
  }
  if (!finite_family(choice) && choice.depth != cone_depths[0]) {
    call.parameters["depth"] = choice.depth;
  }
  return call;
}

bool is_word(const std::string& token) {
  if (token.size() > 2 && ((token.front() == '[' && token.back() == ']') ||
                           (token.front() == '<' && token.back() == '>'))) {
    return false;
  }
  return std::ranges::any_of(token, [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80;  // Letters of other scripts have several bytes.
  });
}

std::optional<Focus> first_pair(const HeadTokens& tokens, const TokenTexts& texts) {
  const auto& queries = tokens.queries.elements;
  const auto& keys = tokens.keys.elements;
  std::vector<std::int64_t> words, others;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto query = static_cast<std::int64_t>(i);
    if (std::isfinite(queries[i].radial)) {
      (is_word(texts.query(query)) ? words : others).push_back(query);
    }
  }
  std::vector<std::int64_t>& placed = words.empty() ? others : words;
  if (placed.empty()) return std::nullopt;
  const auto radial = [&](std::int64_t i) { return queries[static_cast<std::size_t>(i)].radial; };
  const auto middle = placed.begin() + static_cast<std::ptrdiff_t>(placed.size() / 2);
  std::nth_element(placed.begin(), middle, placed.end(),
                   [&](std::int64_t a, std::int64_t b) { return radial(a) < radial(b); });
  const std::int64_t query = *middle;
  std::optional<std::int64_t> best;
  std::pair<int, double> best_value;
  for (std::int64_t key = 0; key < static_cast<std::int64_t>(keys.size()); ++key) {
    const geometry::Element& k = keys[static_cast<std::size_t>(key)];
    if (!std::isfinite(k.radial)) continue;
    const geometry::Lca lca =
        geometry::lca(tokens.queries.system, queries[static_cast<std::size_t>(query)], k);
    const bool unrelated = lca.relation == geometry::Relation::unrelated;
    const int rank = (key != query ? 4 : 0) + (is_word(texts.key(key)) ? 2 : 0) + unrelated;
    const std::pair value(rank, lca.depth);
    if (!best || value > best_value) best = key, best_value = value;
  }
  if (!best) return std::nullopt;
  return Focus{query, *best};
}

TokenPlane plane_of_pair(const ConeChoice& choice, const HeadTokens& tokens, const Focus& pair) {
  const geometry::ConeSystem& system = tokens.queries.system;
  const geometry::Element& u = tokens.queries.elements.at(static_cast<std::size_t>(pair.query));
  const geometry::Element& v = tokens.keys.elements.at(static_cast<std::size_t>(pair.key));
  TokenPlane plane{choice, {}};
  ConeChoice& c = plane.choice;
  c.family = system.family->name;
  c.parameters.clear();
  for (std::size_t i = 0; i < system.family->parameters.size(); ++i) {
    c.parameters[system.family->parameters[i].key] = system.values[i];
  }
  if (!system.infinite()) c.source = {0, 1};
  c.depth = tokens.depth;
  const geometry::ConeSystem flat = geometry::cone_system(c.family, c.parameters);
  const Axis axis(system, u.axis, v.axis);
  for (const geometry::Element& key : tokens.keys.elements) {
    plane.keys.push_back(place_of(flat, axis.place(key.axis), key.radial));
  }
  const PlanePoint at_u = place_of(flat, -axis.length() / 2, u.radial);
  const PlanePoint at_v = place_of(flat, axis.length() / 2, v.radial);
  plane.keys[static_cast<std::size_t>(pair.key)] = at_v;
  c.u = {at_u.x, at_u.y};
  c.v = {at_v.x, at_v.y};
  return plane;
}

}  // namespace conelab::desktop
