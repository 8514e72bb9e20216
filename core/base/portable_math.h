// Elementary functions whose bits are the same on every machine, which those of the C library are
// not. They use +, -, *, / and exact functions only, each rounded once as IEEE 754 says, in a fixed
// order; the project is compiled without contraction. Errors are below 2 ulp.
#pragma once

namespace conelab::portable {

/// x > 0 and finite.
[[nodiscard]] double log(double x);
/// Returns 0 below −745 and infinity above 709.79.
[[nodiscard]] double exp(double x);
/// |x| < 1e5; the error is absolute, at most 2^-52.
[[nodiscard]] double sin(double x);
[[nodiscard]] double cos(double x);
/// x >= 1.
[[nodiscard]] double acosh(double x);

}  // namespace conelab::portable
