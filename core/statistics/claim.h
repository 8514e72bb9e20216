// Says whether a claim holds for measured numbers.
//
// A relation LEFT < RIGHT (also <=, =, >=, >) compares two products of numbers and {NAME}s, which
// are numbers of the report: "{time-umbral-4096} / {time-dot-4096} <= 1.2". The claim holds if the
// relation does over the whole interval of LEFT - RIGHT, fails if it does nowhere in it, and is
// undecided otherwise. Intervals are combined to first order, as those of independent numbers: the
// relative half widths of factors, and the half widths of both sides, add in squares. A relation
// between numbers without intervals is decided by the numbers. LEFT = RIGHT holds if 0 lies in the
// interval; without one, if the sides agree to 1e-9.
#pragma once

#include <functional>
#include <string>

#include "core/statistics/interval.h"

namespace conelab {

enum class ClaimVerdict { agrees, differs, undecided };
/// Returns "agrees", "does not agree" or "undecided".
[[nodiscard]] const char* claim_verdict_name(ClaimVerdict verdict);

/// Returns the number that is called {NAME}; throws misuse for an unknown name.
using NumberNamed = std::function<Interval(const std::string& name)>;

struct ClaimResult {
  Interval left, right;
  ClaimVerdict verdict = ClaimVerdict::undecided;  ///< Undecided also if a number is missing.
};

/// Evaluates a relation. Throws misuse if it has another form, or divides by the number 0.
[[nodiscard]] ClaimResult judge_claim(const std::string& relation, const NumberNamed& named);

}  // namespace conelab
