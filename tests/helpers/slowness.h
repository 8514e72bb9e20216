// Limits of time are meant for an optimised build. Under a sanitizer everything takes longer, and
// a limit that is multiplied by this still tells waiting in vain from waiting.
#pragma once

namespace conelab::fixtures {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Under AddressSanitizer a window closed in a benchmark after 4.8 s instead of less than 2 s.
inline constexpr int slowness = 6;
#else
inline constexpr int slowness = 1;
#endif

}  // namespace conelab::fixtures
