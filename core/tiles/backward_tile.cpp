#include "core/tiles/backward_tile.h"

#include <algorithm>
#include <cmath>

namespace conelab {
namespace {

/// A pair, and where it lies in the tile.
struct PairAt {
  std::int64_t query, key;
  int row, column;
};

template <class T>
bool is_apart(const KeyWork<T>& w, const PairAt& pair) {
  const auto before = [](const ClosePair<T>& close, const PairAt& p) {
    return close.row != p.row ? close.row < p.row : close.column < p.column;
  };
  const auto found = std::lower_bound(w.close_pairs.begin(), w.close_pairs.end(), pair, before);
  return found != w.close_pairs.end() && found->row == pair.row && found->column == pair.column;
}

/// What a pair adds to the gradients of its tokens' potentials and of the parameters.
template <class T>
void add_slopes(const BackwardHead<T>& shared, KeyWork<T>& w, const PairAt& pair,
                const PairSlope& part, double by_logit) {
  w.row_slope[static_cast<std::size_t>(pair.row)] += static_cast<T>(by_logit * part.query);
  w.key_slope[static_cast<std::size_t>(pair.column)] += static_cast<T>(by_logit * part.key);
  for (std::size_t k = 0; k < w.sums.constant.size(); ++k) {
    w.sums.constant[k] += by_logit * part.constant[k];
  }
  double by_bias[max_bias_slopes] = {};
  shared.head.bias().exact_slope(pair.query, pair.key, by_bias);
  for (std::size_t k = 0; k < w.sums.bias.size(); ++k) w.sums.bias[k] += by_logit * by_bias[k];
}

/// What the pair's weight lacks, added to it and to all that has been made of it.
template <class T>
void sharpen_weight(const BackwardHead<T>& shared, KeyWork<T>& w, Tiles<T>& tiles,
                    const PairAt& pair, const T* upstream) {
  const auto i = static_cast<std::size_t>(pair.query);
  const auto at = static_cast<std::size_t>(pair.row * w.keys().columns + pair.column);
  const PairSlope part = tiles.exact().slope(pair.query, pair.key);
  const auto weight = static_cast<double>(w.tile[at]);
  const double exact =
      sharpened(weight, std::exp(part.logit - static_cast<double>(shared.reference[i])) *
                            static_cast<double>(shared.inverse_sum[i]));
  w.tile[at] = static_cast<T>(exact);
  if (is_apart(w, pair)) return;  // It is yet to be added.
  const double by_weight =
      w.operands.value_product(pair.column, upstream) - static_cast<double>(shared.delta[i]);
  const double by_logit = (exact - weight) * by_weight;
  w.slope[at] += static_cast<T>(by_logit * part.x);
  add_slopes(shared, w, pair, part, by_logit);
}

}  // namespace

template <class T>
void sharpen_weights(const BackwardHead<T>& shared, KeyWork<T>& w, Tiles<T>& tiles,
                     const QueryGroup<T>& group, const T* upstream) {
  const int part = w.operands.panel();  // Most have no such pair.
  for (int r = 0; r < group.rows; ++r) {
    const auto reference = shared.reference[static_cast<std::size_t>(group.first + r)];
    if (!is_decisive(w.largest_weight[static_cast<std::size_t>(r)], reference)) continue;
    const T* weights = w.tile.data() + static_cast<std::ptrdiff_t>(r) * w.keys().columns;
    for (int first = 0; first < w.keys().columns; first += part) {
      int any = 0;
      for (int c = 0; c < part; ++c) any |= static_cast<int>(weights[first + c] >= T(least_share));
      for (int c = first; any != 0 && c < first + part; ++c) {
        if (!is_decisive(weights[c], reference)) continue;
        sharpen_weight(shared, w, tiles, {group.first + r, w.keys().first + c, r, c},
                       upstream + r * w.operands.value_stride());
      }
    }
  }
}

template <class T>
void add_close_pairs(bool sigmoid, const BackwardHead<T>& shared, KeyWork<T>& w, Tiles<T>& tiles,
                     const QueryGroup<T>& group) {
  for (ClosePair<T>& close : w.close_pairs) {
    const PairAt pair{group.first + close.row, w.keys().first + close.column, close.row,
                      close.column};
    const auto weight = static_cast<double>(
        w.tile[static_cast<std::size_t>(close.row * w.keys().columns + close.column)]);
    if (weight == 0) continue;  // Nobody sees a masked pair's value, which may be NaN.
    const double by_logit = weight * (sigmoid ? 1 - weight : 1) * close.by_weight;
    const PairSlope part = tiles.exact().slope(pair.query, pair.key);
    add_slopes(shared, w, pair, part, by_logit);
    close.slope = static_cast<T>(by_logit * part.x);
    tiles.exact().add_difference(pair.query, pair.key, close.slope,
                                 w.key_grad.data() + pair.column * w.operands.base_stride());
  }
}

#define CONELAB_BACKWARD_TILE(T)                                                      \
  template void sharpen_weights(const BackwardHead<T>&, KeyWork<T>&, Tiles<T>&,       \
                                const QueryGroup<T>&, const T*);                      \
  template void add_close_pairs(bool, const BackwardHead<T>&, KeyWork<T>&, Tiles<T>&, \
                                const QueryGroup<T>&);
CONELAB_BACKWARD_TILE(float)
CONELAB_BACKWARD_TILE(double)

}  // namespace conelab
