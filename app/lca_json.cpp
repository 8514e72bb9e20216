#include "app/lca_json.h"

#include <vector>

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;
using geometry::Vector;

Json coordinates(const Vector& x) { return std::vector<double>(x.data(), x.data() + x.size()); }

}  // namespace

Json lca_json(const geometry::LcaResult& result) {
  Json json{{"cone", result.cone}, {"parameters", Json::object()}};
  for (const auto& [key, value] : result.parameters) json["parameters"][key] = value;
  json["model"] = result.model;
  json["u"] = coordinates(result.u);
  json["v"] = coordinates(result.v);
  json["base"] = result.base;
  json["potential"] = {{"u", result.potential.u},
                       {"v", result.potential.v},
                       {"lca", result.potential.lca ? Json(*result.potential.lca) : Json()}};
  json["relation"] = result.relation;
  json["has_common_ancestor"] = result.has_common_ancestor;
  json["lca"] = result.lca ? coordinates(*result.lca) : Json();
  json["depth"] = result.depth;
  json["logit"] = result.logit;
  return json;
}

}  // namespace conelab
