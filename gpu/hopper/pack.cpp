// This file writes operands in the order in which the fast kernels copy them: tiles in shared
// memory's swizzled order, and the numbers of tokens by tile.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/hopper/fast.h"
#include "gpu/hopper/fast_formula.h"
#include "gpu/hopper/layout.h"
#include "gpu/tile/visit_similarity.h"

namespace conelab::gpu::hopper {
namespace {

/// Rows × columns of 16 bits -> tiles of `tile_rows` rows, swizzled, zero beyond the ends.
std::vector<unsigned char> pack_tiles(const void* data, int groups, int count, int columns,
                                      int tile_rows, int width) {
  const int tiles = ceil_div(count, tile_rows);
  const int bytes = tile_bytes(tile_rows, width);
  std::vector<unsigned char> packed(static_cast<std::size_t>(groups) *
                                    static_cast<std::size_t>(tiles) *
                                    static_cast<std::size_t>(bytes));
  const auto* from = static_cast<const unsigned char*>(data);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (int row = 0; row < count; ++row) {
      unsigned char* tile = packed.data() + (g * tiles + row / tile_rows) * bytes;
      for (int c = 0; c < columns; ++c) {
        std::memcpy(tile + swizzled(tile_rows, row % tile_rows, c),
                    from + ((g * count + row) * columns + c) * 2, 2);
      }
    }
  }
  return packed;
}

/// Writes NaN into the first number of every token of `tiles` whose mark is NaN. The kernels then
/// need not add marks to products. Both 16-bit types read these bits as NaN.
void mark_tiles(std::vector<unsigned char>& tiles, const float* mark, int groups, int count,
                int tile_rows, int width) {
  constexpr std::uint16_t nan = 0x7fff;
  const std::int64_t of_group = ceil_div(count, tile_rows);
  for (std::int64_t g = 0; g < groups; ++g) {
    for (int row = 0; row < count; ++row) {
      if (!std::isnan(mark[g * count + row])) continue;
      std::memcpy(tiles.data() + (g * of_group + row / tile_rows) * tile_bytes(tile_rows, width) +
                      swizzled(tile_rows, row % tile_rows, 0),
                  &nan, 2);
    }
  }
}

class Facts {
 public:
  Facts(int groups, int count, int numbers)
      : count_(count), tiles_(ceil_div(count, group_rows)), numbers_(numbers) {
    array_.resize(static_cast<std::size_t>(groups) * static_cast<std::size_t>(tiles_) *
                  static_cast<std::size_t>(numbers * group_rows));
  }
  /// Sets fact f of every token to number(group, token, present); `present` is false for places
  /// beyond the last token.
  template <class Number>
  void fill(int groups, int f, Number number) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (int i = 0; i < tiles_ * group_rows; ++i) {
        array_[static_cast<std::size_t>(
            ((g * tiles_ + i / group_rows) * numbers_ + f) * group_rows + i % group_rows)] =
            number(g, i, i < count_);
      }
    }
  }
  [[nodiscard]] std::vector<float> take() { return std::move(array_); }

 private:
  int count_, tiles_, numbers_;
  std::vector<float> array_;
};

template <class First, class Second>
std::vector<float> pack_facts(const Problem<float>& call, const Side<float>& side, int values,
                              First first, Second second) {
  const int groups = call.groups / side.share;
  Facts facts(groups, side.count, values + 3);
  facts.fill(groups, 0, [&](std::int64_t g, int i, bool present) {
    return present ? side.offset[g * side.count + i] : 0.0f;
  });
  for (int v = 0; v < values; ++v) {
    facts.fill(groups, 1 + v, [&](std::int64_t g, int i, bool present) {
      return present ? side.values[(g * values + v) * side.count + i] : 0.0f;
    });
  }
  facts.fill(groups, values + 1, first);
  facts.fill(groups, values + 2, second);
  return facts.take();
}

/// Calls visit(table, at, entry) for every offset of each of `tables`: `at` is its place in an
/// array [table × offset_entries], `entry` that in an array [table × bias_size].
template <class Visit>
void for_offsets(const Problem<float>& call, int tables, const Visit& visit) {
  const int queries = call.query.count, keys = call.key.count;
  const int zero = call.key_place[0] - call.query_place[0];  // The entry of the offset 0.
  for (int t = 0; t < tables; ++t) {
    for (int offset = 1 - queries; offset < keys; ++offset) {
      visit(t, t * std::int64_t{offset_entries(queries, keys)} + offset_origin(queries) + offset,
            t * std::int64_t{call.bias_size} + zero + offset);
    }
  }
}

/// Returns the power of two that dL/dlogit of a group is multiplied by before it is rounded to an
/// integer: no sum of an offset reaches 2^62.
double offset_scale(const Problem<float>& call, const Upstream<float>& upstream, std::int64_t g) {
  const auto largest = [](std::int64_t first, std::int64_t count, const auto& number) {
    double found = 0;
    for (std::int64_t i = first; i < first + count; ++i) {
      const double size = std::abs(static_cast<double>(number(i)));
      if (std::isfinite(size)) found = std::max(found, size);
    }
    return found;
  };
  const std::int64_t of_queries = std::int64_t{call.query.count} * call.width;
  const std::int64_t of_keys = std::int64_t{call.key.count} * call.width;
  const double grad =
      largest(g * of_queries, of_queries, [&](std::int64_t i) { return upstream.output_grad[i]; });
  const double value = largest(g / call.key.share * of_keys, of_keys, [&](std::int64_t i) {
    return load<float>(call.value, call.storage, i);
  });
  // Both dL/d(weight) and what a softmax subtracts from it are at most width grad value.
  const double most = 4.0 * grad * value * static_cast<double>(of_queries);
  return most > 0 ? std::exp2(std::floor(61 - std::log2(most))) : 1.0;
}

std::vector<std::uint16_t> narrow(const float* from, std::size_t count, Storage storage) {
  std::vector<std::uint16_t> to(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(from[i]);
    to[i] = storage == Storage::bf16 ? to_bf16(x) : to_f16(x);
  }
  return to;
}

}  // namespace

FastGradientOperands pack_gradient_operands(const Problem<float>& call,
                                            const Upstream<float>& upstream, int width,
                                            int values) {
  const auto tiles = [&](const void* data, const auto& side, int columns) {
    return pack_tiles(data, call.groups / side.share, side.count, columns, group_rows, width);
  };
  const auto rows =
      static_cast<std::size_t>(call.groups) * static_cast<std::size_t>(call.query.count);
  const auto grad =
      narrow(upstream.output_grad, rows * static_cast<std::size_t>(call.width), call.storage);
  FastGradientOperands packed;
  packed.query = tiles(call.query.base, call.query, call.base_stride);
  packed.key = tiles(call.key.base, call.key, call.base_stride);
  packed.value = tiles(call.value, call.key, call.width);
  mark_tiles(packed.value, call.value_mark, call.groups / call.key.share, call.key.count,
             group_rows, width);
  packed.output_grad = tiles(grad.data(), call.query, call.width);
  packed.query_facts = pack_facts(
      call, call.query, values,
      [&](std::int64_t g, int i, bool present) {
        const std::int64_t at = g * call.query.count + i;
        if (present && call.sigmoid) {
          return 0.0f * (upstream.reference[at] + call.query.offset[at]);
        }
        const bool empty = !present || upstream.inverse_sum[at] == 0.0f;
        return empty ? std::numeric_limits<float>::infinity()
                     : static_cast<float>(upstream.reference[at] * 1.4426950408889634 -
                                          std::log2(upstream.inverse_sum[at]));
      },
      [&](std::int64_t g, int i, bool present) {
        return present ? upstream.delta[g * call.query.count + i] : 0.0f;
      });
  const auto zero = [](std::int64_t, int, bool) { return 0.0f; };
  packed.key_facts = pack_facts(call, call.key, values, zero, zero);
  for (int g = 0; g < call.groups && call.axes > 0; ++g) {
    packed.offset_scale.push_back(offset_scale(call, upstream, g));
  }
  return packed;
}

Law fast_law(const Problem<float>& call) {
  return call.sigmoid ? Law::sigmoid : call.axes > 0 ? Law::biased : Law::softmax;
}

int fast_width(int index, const Problem<float>& call) {
  bool known = false;
  visit_similarity(index, [&](auto tag) { known = is_fast<typename decltype(tag)::type>; });
  const bool narrow = call.storage == Storage::f16 || call.storage == Storage::bf16;
  const int widest = call.base_size < call.width ? call.width : call.base_size;
  const bool softmax_or_sigmoid = call.normalised != call.sigmoid && !call.over_queries;
  const bool by_offset = call.axes <= 1 && call.class_bias == nullptr && !call.sums_weights;
  if (!known || !narrow || !softmax_or_sigmoid || !by_offset || call.lists > 0 || widest > 128) {
    return 0;
  }
  if (call.groups == 0 || call.query.count == 0 || call.key.count == 0 || widest == 0) return 0;
  return widest <= 64 ? 64 : 128;
}

bool fast_constants(int index, const Problem<float>& call) {
  int constants = 0;
  visit_similarity(index, [&](auto tag) { constants = decltype(tag)::type::constants; });
  bool positive = true;
  for (int h = 0; h < call.heads; ++h) positive &= call.constants[h * constants] > 0;
  const auto finite = [](float bias) { return std::isfinite(bias); };
  return positive && std::ranges::all_of(pack_bias(index, call), finite);
}

std::vector<float> pack_bias(int index, const Problem<float>& call) {
  if (fast_law(call) == Law::softmax) return {};
  const auto entries = static_cast<std::size_t>(offset_entries(call.query.count, call.key.count));
  std::vector<float> packed(entries * static_cast<std::size_t>(call.heads));
  if (call.axes == 0) return packed;
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (is_fast<S>) {
      for_offsets(call, call.heads, [&](int h, std::int64_t at, std::int64_t entry) {
        packed[static_cast<std::size_t>(at)] =
            call.bias[entry] / (FastPair<S, Lanes<4>>::rate * call.constants[h * S::constants]);
      });
    }
  });
  return packed;
}

std::vector<double> sums_by_offset(const Problem<float>& call, const std::vector<long long>& sums,
                                   const std::vector<double>& scale) {
  std::vector<double> found(static_cast<std::size_t>(call.groups) *
                            static_cast<std::size_t>(call.bias_size));
  for_offsets(call, call.groups, [&](int g, std::int64_t at, std::int64_t entry) {
    found[static_cast<std::size_t>(entry)] =
        static_cast<double>(sums[static_cast<std::size_t>(at)]) /
        scale[static_cast<std::size_t>(g)];
  });
  return found;
}

FastOperands pack_operands(const Problem<float>& call, int width, int values) {
  FastOperands packed;
  packed.query = pack_tiles(call.query.base, call.groups, call.query.count, call.base_stride,
                            group_rows, width);
  const int groups = call.groups / call.key.share;
  packed.key = pack_tiles(call.key.base, groups, call.key.count, call.base_stride, key_tile, width);
  mark_tiles(packed.key, call.key.offset, groups, call.key.count, key_tile, width);
  packed.value = pack_tiles(call.value, groups, call.key.count, call.width, key_tile, width);
  const int tiles = ceil_div(call.key.count, key_tile);
  const int numbers = (1 + values) * key_tile;
  packed.facts.resize(static_cast<std::size_t>(groups) * static_cast<std::size_t>(tiles) *
                      static_cast<std::size_t>(numbers));
  for (std::int64_t g = 0; g < groups; ++g) {
    for (int k = 0; k < call.key.count; ++k) {
      float* tile = packed.facts.data() + (g * tiles + k / key_tile) * numbers + k % key_tile;
      tile[0] = call.key.offset[g * call.key.count + k];
      for (int v = 0; v < values; ++v) {
        tile[(1 + v) * key_tile] = call.key.values[(g * values + v) * call.key.count + k];
      }
    }
  }
  return packed;
}

}  // namespace conelab::gpu::hopper
