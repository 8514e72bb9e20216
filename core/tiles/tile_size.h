// The number of keys in a tile.
#pragma once

namespace conelab {

/// Keys of a tile in the forward pass. A row's sum and its largest logit are reduced once for each
/// tile, so that fewer keys would take longer.
template <class T>
constexpr int forward_keys = 2048 / sizeof(T);
/// Keys of a tile in the backward pass, where a tile needs two arrays of pairs and is one task.
template <class T>
constexpr int backward_keys = 1024 / sizeof(T);

}  // namespace conelab
