// The fast path's layouts against CuTe's, where CUTLASS is found; runs on the host.
//
// CuTe is the well-kept library of this field: its canonical layouts, descriptors and fragments are
// tested on many machines, so they are the oracle of gpu/hopper/layout.h.
#include <cstdint>
#include <cstdio>
#include <cute/arch/mma_sm90_gmma.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/tensor.hpp>

#include "gpu/hopper/layout.h"

namespace {

namespace own = conelab::gpu::hopper;
using cute::Int;
using cute::Shape;
using cute::Step;
using Element = cute::bfloat16_t;
using Line = cute::GMMA::Layout_K_SW128_Atom<Element>;
using Column = cute::GMMA::Layout_MN_SW128_Atom<Element>;

int differences = 0;

void expect(long found, long expected, const char* what, int a, int b) {
  if (found == expected) return;
  if (differences++ < 10) std::printf("%s (%d, %d): %ld, CuTe %ld\n", what, a, b, found, expected);
}

/// Bytes of all elements; `transposed` where CuTe's layout is (column, row).
template <int rows, int columns, bool transposed, class Layout>
void compare_bytes(const char* what, const Layout& layout) {
  const auto plain = cute::as_position_independent_swizzle_layout(layout);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const long bytes = 2L * (transposed ? plain(c, r) : plain(r, c));
      expect(own::swizzled(rows, r, c), bytes, what, r, c);
    }
  }
}

/// Offsets and start of each step of 16 along the depth, the last axis of CuTe's layout. The
/// leading offset counts only where the operand has more than one panel.
template <cute::GMMA::Major major, class Layout, class Own>
void compare_descriptors(const char* what, const Layout& layout, Own descriptor, bool leading) {
  alignas(1024) static Element data[128 * 128];
  const auto whole = cute::make_tensor(cute::make_smem_ptr(data), layout);
  for (int s = 0; s < int(cute::size<1>(layout)) / 16; ++s) {
    const auto step = cute::local_tile(whole, cute::make_shape(cute::size<0>(layout), Int<16>{}),
                                       cute::make_coord(Int<0>{}, s));
    const auto theirs = cute::GMMA::make_gmma_desc<major>(step).bitfield;
    const std::uint64_t mine = descriptor(s);
    const auto offset = reinterpret_cast<char*>(&*step.data()) - reinterpret_cast<char*>(data);
    expect(long(mine & 0x3fff) << 4, offset, what, s, 0);
    if (leading) expect(mine >> 16 & 0x3fff, theirs.leading_byte_offset_, what, s, 1);
    expect(mine >> 32 & 0x3fff, theirs.stride_byte_offset_, what, s, 2);
    expect(mine >> 62, long(theirs.layout_type_), what, s, 3);
  }
}

void compare_fragments() {
  const auto mma = cute::make_tiled_mma(
      cute::SM90_64x128x16_F32BF16BF16_RS<cute::GMMA::Major::K, cute::GMMA::Major::MN>{});
  const auto product = cute::make_identity_tensor(Shape<Int<64>, Int<128>>{});
  const auto left = cute::make_identity_tensor(Shape<Int<64>, Int<16>>{});
  for (int t = 0; t < own::group_threads; ++t) {
    const auto c = mma.get_slice(t).partition_C(product);
    for (int i = 0; i < int(cute::size(c)); ++i) {
      expect(own::accumulator_row(t, i), cute::get<0>(c(i)), "accumulator row", t, i);
      expect(own::accumulator_column(t, i), cute::get<1>(c(i)), "accumulator column", t, i);
    }
    const auto a = mma.get_slice(t).partition_A(left);
    for (int i = 0; i < int(cute::size(a)); ++i) {
      expect(own::left_row(t, i / 2), cute::get<0>(a(i)), "left row", t, i);
      expect(own::left_column(t, i / 2, i % 2), cute::get<1>(a(i)), "left column", t, i);
    }
  }
}

}  // namespace

int main() {
  using Query = Shape<Int<64>, Int<64>>;
  using Keys = Shape<Int<128>, Int<64>>;
  using WideKeys = Shape<Int<128>, Int<128>>;
  const auto query = cute::tile_to_shape(Line{}, Query{});
  const auto keys = cute::tile_to_shape(Line{}, Keys{});
  const auto wide = cute::tile_to_shape(Line{}, WideKeys{});
  const auto values =
      cute::tile_to_shape(Column{}, Shape<Int<64>, Int<128>>{}, Step<Int<2>, Int<1>>{});
  const auto wide_values = cute::tile_to_shape(Column{}, WideKeys{}, Step<Int<2>, Int<1>>{});
  compare_bytes<64, 64, false>("query bytes", query);
  compare_bytes<128, 64, false>("key bytes", keys);
  compare_bytes<128, 128, false>("wide key bytes", wide);
  compare_bytes<128, 64, true>("value bytes", values);
  compare_bytes<128, 128, true>("wide value bytes", wide_values);
  const auto depth = [](int rows) {
    return [rows](int s) { return own::depth_descriptor(0, rows, s); };
  };
  const auto outer = [](int s) { return own::outer_descriptor(0, own::key_tile, s); };
  compare_descriptors<cute::GMMA::Major::K>("query", query, depth(64), false);
  compare_descriptors<cute::GMMA::Major::K>("key", keys, depth(128), false);
  compare_descriptors<cute::GMMA::Major::K>("wide key", wide, depth(128), false);
  compare_descriptors<cute::GMMA::Major::MN>("value", values, outer, false);
  compare_descriptors<cute::GMMA::Major::MN>("wide value", wide_values, outer, true);
  compare_fragments();
  std::printf("%d differences\n", differences);
  return differences == 0 ? 0 : 1;
}
