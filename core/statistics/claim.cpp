#include "core/statistics/claim.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

/// A number and half the width of its interval, 0 if it has none.
struct Uncertain {
  double value = 0, half = 0;
};

Uncertain uncertain(const Interval& i) {
  const double half = std::max(i.high - i.value, i.value - i.low);
  return {i.value, std::isfinite(half) ? half : 0};
}

Uncertain factor_value(const std::string& relation, std::string_view factor, bool divides,
                       const NumberNamed& named) {
  if (factor.size() > 2 && factor.front() == '{' && factor.back() == '}') {
    return uncertain(named(std::string(factor.substr(1, factor.size() - 2))));
  }
  const auto value = parse_number(factor);
  if (!value) misuse("claim '{}': '{}' is neither a number nor {{NAME}}", relation, factor);
  if (divides && *value == 0) misuse("claim '{}': divides by 0", relation);
  return {*value, 0};
}

/// Returns a side of the relation. Half widths relative to the values add in squares.
Uncertain side_value(const std::string& relation, std::string_view side, const NumberNamed& named) {
  Uncertain product{1, 0};
  bool divides = false;
  while (true) {
    // A name may contain neither * nor /.
    const std::size_t end = side.find_first_of("*/");
    const Uncertain factor =
        factor_value(relation, split_at(side.substr(0, end), '\0')[0], divides, named);
    const double value = divides ? product.value / factor.value : product.value * factor.value;
    product.half =
        std::abs(value) * std::hypot(product.value == 0 ? 0 : product.half / product.value,
                                     factor.value == 0 ? 0 : factor.half / factor.value);
    product.value = value;
    if (end == std::string_view::npos) return product;
    divides = side[end] == '/';
    side.remove_prefix(end + 1);
  }
}

Interval interval_of(const Uncertain& u) {
  if (u.half == 0) return lone(u.value);
  return {u.value, u.value - u.half, u.value + u.half, usual_level};
}

ClaimVerdict verdict_of(std::string_view sign, double difference, double half, double scale) {
  if (!std::isfinite(difference)) return ClaimVerdict::undecided;
  if (sign == "=") {
    const bool equal = std::abs(difference) <= std::max(half, 1e-9 * scale);
    return equal ? ClaimVerdict::agrees : ClaimVerdict::differs;
  }
  if (sign.front() == '>') difference = -difference;
  const bool strict = sign.size() == 1;
  if (strict ? difference + half < 0 : difference + half <= 0) return ClaimVerdict::agrees;
  if (strict ? difference - half >= 0 : difference - half > 0) return ClaimVerdict::differs;
  return ClaimVerdict::undecided;
}

}  // namespace

const char* claim_verdict_name(ClaimVerdict verdict) {
  if (verdict == ClaimVerdict::agrees) return "agrees";
  return verdict == ClaimVerdict::differs ? "does not agree" : "undecided";
}

ClaimResult judge_claim(const std::string& relation, const NumberNamed& named) {
  const std::size_t at = relation.find_first_of("<=>");
  if (at == std::string::npos) {
    misuse("claim '{}': expected LEFT < RIGHT, or one of <= = >= > between them", relation);
  }
  const bool wide = at + 1 < relation.size() && relation[at + 1] == '=' && relation[at] != '=';
  const std::string_view text = relation;
  const Uncertain left = side_value(relation, text.substr(0, at), named);
  const Uncertain right = side_value(relation, text.substr(at + (wide ? 2 : 1)), named);
  return {interval_of(left), interval_of(right),
          verdict_of(text.substr(at, wide ? 2 : 1), left.value - right.value,
                     std::hypot(left.half, right.half),
                     std::max(std::abs(left.value), std::abs(right.value)))};
}

}  // namespace conelab
