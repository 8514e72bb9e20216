#include "core/pair/mask.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace conelab {
namespace {

using Index = std::int64_t;

Cover full_cover(const MaskInput&, const double*, const MaskTile&) { return Cover::all; }
KeyRange full_range(const MaskInput& in, const double*, Index, Index) { return {0, in.key}; }

/// The key that a query sits at.
Index position(const MaskInput& in, Index query) { return query + in.key - in.query; }

Cover causal_cover(const MaskInput& in, const double*, const MaskTile& t) {
  if (t.key_end - 1 <= position(in, t.query_begin)) return Cover::all;
  return t.key_begin > position(in, t.query_end - 1) ? Cover::none : Cover::partial;
}
KeyRange causal_range(const MaskInput& in, const double*, Index, Index query) {
  return {0, position(in, query) + 1};
}

Cover padding_cover(const MaskInput& in, const double*, const MaskTile& t) {
  if (t.key_end <= in.lengths[t.batch]) return Cover::all;
  return t.key_begin >= in.lengths[t.batch] ? Cover::none : Cover::partial;
}
KeyRange padding_range(const MaskInput& in, const double*, Index batch, Index) {
  return {0, in.lengths[batch]};
}

constexpr std::array window_parameters{
    ParameterInfo{"window", std::numeric_limits<double>::quiet_NaN(), Domain::positive, false,
                  "keys at a distance below this many positions are seen; no default"}};
/// |j - position| < p[0] over whole positions, at most as wide as there are positions.
Index window(const MaskInput& in, const double* p) {
  return static_cast<Index>(std::min(std::ceil(p[0]), static_cast<double>(in.query + in.key)));
}
Cover window_cover(const MaskInput& in, const double* p, const MaskTile& t) {
  const Index width = window(in, p);
  const Index lowest = t.key_begin - position(in, t.query_end - 1);
  const Index highest = t.key_end - 1 - position(in, t.query_begin);
  if (lowest >= width || highest <= -width) return Cover::none;
  return lowest > -width && highest < width ? Cover::all : Cover::partial;
}
KeyRange window_range(const MaskInput& in, const double* p, Index, Index query) {
  const Index width = window(in, p);
  return {position(in, query) - width + 1, position(in, query) + width};
}

Cover explicit_cover(const MaskInput& in, const double*, const MaskTile& t) {
  Index admitted = 0;
  for (Index i = t.query_begin; i < t.query_end; ++i) {
    const std::uint8_t* row = in.allowed + i * in.key;
    admitted += std::count_if(row + t.key_begin, row + t.key_end, [](auto a) { return a != 0; });
  }
  const Index pairs = (t.query_end - t.query_begin) * (t.key_end - t.key_begin);
  return admitted == 0 ? Cover::none : admitted == pairs ? Cover::all : Cover::partial;
}
const std::uint8_t* explicit_row(const MaskInput& in, const double*, Index query) {
  return in.allowed + query * in.key;
}

constexpr std::array table{MaskRow{"full",
                                   "every query sees every key",
                                   {},
                                   MaskOperand::none,
                                   &full_cover,
                                   &full_range,
                                   nullptr},
                           MaskRow{"causal",
                                   "j <= i + n_k - n_q",
                                   {},
                                   MaskOperand::none,
                                   &causal_cover,
                                   &causal_range,
                                   nullptr},
                           MaskRow{"padding",
                                   "j < length of the batch element",
                                   {},
                                   MaskOperand::lengths,
                                   &padding_cover,
                                   &padding_range,
                                   nullptr},
                           MaskRow{"window", "|j - (i + n_k - n_q)| < window", window_parameters,
                                   MaskOperand::none, &window_cover, &window_range, nullptr},
                           MaskRow{"explicit",
                                   "the n_q x n_k dataset `mask` of the input",
                                   {},
                                   MaskOperand::allowed,
                                   &explicit_cover,
                                   &full_range,
                                   &explicit_row}};

}  // namespace

std::span<const MaskRow> mask_table() { return table; }

const MaskRow* find_mask(const std::string& name) {
  for (const MaskRow& row : table) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

void require_operands(std::span<const MaskPart> parts, const MaskInput& input) {
  const bool has_pairs = input.query * input.key > 0;
  for (const MaskPart& part : parts) {
    const MaskRow* row = part.row;
    if (row->operand == MaskOperand::lengths && input.lengths == nullptr) {
      misuse(
          "mask {} needs the number of keys of each batch element (--lengths of attend and tree)",
          row->name);
    }
    if (row->operand == MaskOperand::allowed && input.allowed == nullptr && has_pairs) {
      misuse("mask {} needs the array 'mask' [n_q x n_k] beside q", row->name);
    }
  }
}

Cover Mask::cover(const MaskTile& tile) const {
  Cover result = Cover::all;
  for (const MaskPart& mask : parts_) {
    const Cover c = mask.row->cover(input_, mask.p.data(), tile);
    if (c == Cover::none) return Cover::none;
    if (c == Cover::partial) result = Cover::partial;
  }
  return result;
}

KeyRange Mask::range(std::int64_t batch, std::int64_t query) const {
  KeyRange seen{0, input_.key};
  for (const MaskPart& mask : parts_) {
    const KeyRange own = mask.row->range(input_, mask.p.data(), batch, query);
    seen = {std::max(seen.begin, own.begin), std::min(seen.end, own.end)};
  }
  return seen.begin < seen.end ? seen : KeyRange{0, 0};
}

double Mask::share() const {
  constexpr std::int64_t most_asked = 1 << 16;
  const std::int64_t step = (input_.query + most_asked - 1) / most_asked;
  double seen = 0, asked = 0;
  for (std::int64_t query = step / 2; query < input_.query; query += step) {
    const KeyRange keys = range(0, query);
    seen += static_cast<double>(keys.end - keys.begin);
    ++asked;
  }
  const double pairs = asked * static_cast<double>(input_.key);
  return pairs > 0 ? seen / pairs : 0;
}

bool Mask::has_holes() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const MaskPart& mask) { return mask.row->keys != nullptr; });
}

bool Mask::is_hole(std::int64_t query, std::int64_t key) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const MaskPart& mask) {
    return mask.row->keys != nullptr && mask.keys(input_, query)[key] == 0;
  });
}

void Mask::holes(std::int64_t query, std::uint8_t* sees) const {
  std::fill_n(sees, input_.key, std::uint8_t{1});
  for (const MaskPart& mask : parts_) {
    const std::uint8_t* row = mask.row->keys == nullptr ? nullptr : mask.keys(input_, query);
    for (Index key = 0; row != nullptr && key < input_.key; ++key) sees[key] &= row[key] != 0;
  }
}

void Mask::visible(const MaskTile& tile, std::uint8_t* sees) const {
  const Index columns = tile.key_end - tile.key_begin;
  std::vector<float> row(static_cast<std::size_t>(columns));
  for (Index query = tile.query_begin; query < tile.query_end; ++query, sees += columns) {
    std::fill(row.begin(), row.end(), 0.0F);
    apply(tile.batch, query, tile.key_begin, static_cast<int>(columns), row.data());
    std::transform(row.begin(), row.end(), sees, [](float entry) { return entry == 0 ? 1 : 0; });
  }
}

template <class T>
void Mask::apply(std::int64_t batch, std::int64_t query, std::int64_t key_begin, int count,
                 T* row) const {
  constexpr T masked = -std::numeric_limits<T>::infinity();
  for (const MaskPart& mask : parts_) {
    const KeyRange seen = mask.row->range(input_, mask.p.data(), batch, query);
    const auto begin = static_cast<int>(std::clamp<Index>(seen.begin - key_begin, 0, count));
    const auto end = static_cast<int>(std::clamp<Index>(seen.end - key_begin, begin, count));
    std::fill(row, row + begin, masked);
    std::fill(row + end, row + count, masked);
    if (mask.row->keys == nullptr) continue;
    const std::uint8_t* sees = mask.keys(input_, query) + key_begin;
    for (int c = begin; c < end; ++c) row[c] = sees[c] != 0 ? row[c] : masked;
  }
}
template void Mask::apply(std::int64_t, std::int64_t, std::int64_t, int, float*) const;
template void Mask::apply(std::int64_t, std::int64_t, std::int64_t, int, double*) const;

}  // namespace conelab
