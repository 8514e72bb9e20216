#include "core/geometry/cone_family.h"

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab::geometry {
namespace {

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const ConeFamily* family : cone_families()) names.emplace_back(family->name);
  return names;
}

}  // namespace

const std::vector<const ConeFamily*>& cone_families() {
  static const std::vector<const ConeFamily*> rows = {
      &penumbral_family,     &umbral_family, &penumbral_finite_family,
      &umbral_finite_family, &ganea_family,
  };
  return rows;
}

std::string cone_family_names(const char* separator) { return join(family_names(), separator); }

const ConeFamily* find_cone_family(std::string_view name) {
  for (const ConeFamily* family : cone_families()) {
    if (name == family->name) return family;
  }
  return nullptr;
}

const ConeFamily& cone_family(const std::string& name) {
  if (const ConeFamily* family = find_cone_family(name)) return *family;
  unknown_name("cone family", name, family_names());
}

Values family_values(const ConeFamily& family, const std::map<std::string, double>& given) {
  Values values;
  for (const ParameterInfo& p : family.parameters) {
    const auto found = given.find(p.key);
    const double value = found == given.end() ? p.initial : found->second;
    check_domain(p, value);
    values.push_back(value);
  }
  for (const auto& [key, value] : given) {
    if (!contains_key(family.parameters, key)) {
      misuse("{} cones take no parameter '{}' (known: {})", family.name, key,
             join(all_keys(family.parameters)));
    }
  }
  return values;
}

}  // namespace conelab::geometry
