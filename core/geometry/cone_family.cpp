#include "core/geometry/cone_family.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"

namespace conelab::geometry {
namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swap = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, swap});
    }
  }
  return row.back();
}

[[noreturn]] void unknown_family(const std::string& name) {
  std::string nearest, list;
  std::size_t best = ~std::size_t{0};
  for (const ConeFamily* family : cone_families()) {
    const std::size_t cost = edit_distance(name, family->name);
    if (cost < best) nearest = family->name;
    best = std::min(best, cost);
    list += (list.empty() ? "" : ", ") + std::string(family->name);
  }
  misuse("unknown cone family '{}' (did you mean '{}'? known: {})", name, nearest, list);
}

std::string key_list(const ConeFamily& family) {
  std::string list;
  for (const ParameterInfo& p : family.parameters) {
    list += (list.empty() ? "" : ", ") + std::string(p.key);
  }
  return list;
}

}  // namespace

const std::vector<const ConeFamily*>& cone_families() {
  static const std::vector<const ConeFamily*> rows = {
      &penumbral_family,     &umbral_family, &penumbral_finite_family,
      &umbral_finite_family, &ganea_family,
  };
  return rows;
}

const ConeFamily& cone_family(const std::string& name) {
  for (const ConeFamily* family : cone_families()) {
    if (name == family->name) return *family;
  }
  unknown_family(name);
}

Values family_values(const ConeFamily& family, const std::map<std::string, double>& given) {
  Values values;
  for (const ParameterInfo& p : family.parameters) {
    const auto found = given.find(p.key);
    const double value = found == given.end() ? p.initial : found->second;
    if (!(value > 0) || std::isinf(value)) {
      misuse("{} of {} cones must be positive and finite (found {})", p.key, family.name, value);
    }
    values.push_back(value);
  }
  for (const auto& [key, value] : given) {
    const bool known = std::any_of(family.parameters.begin(), family.parameters.end(),
                                   [&](const ParameterInfo& p) { return key == p.key; });
    if (!known) {
      misuse("{} cones take no parameter '{}' (known: {})", family.name, key, key_list(family));
    }
  }
  return values;
}

}  // namespace conelab::geometry
