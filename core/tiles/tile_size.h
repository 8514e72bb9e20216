// How many keys the drivers take at a time.
#pragma once

namespace conelab {

/// Keys of a tile on the way forward. A row's sum and largest logit are folded once for each tile:
/// 512 floats in place of 256 take .97 of the time, twice as many no less (avx512; avx2 .97 to
/// .99).
template <class T>
constexpr int forward_keys = 2048 / sizeof(T);
/// On the way back a tile is two arrays of pairs, and a ticket that one thread takes.
template <class T>
constexpr int backward_keys = 1024 / sizeof(T);

}  // namespace conelab
