// The tile unit as an engine of tile_products.h. This file is compiled with AMX's flags in addition
// to those of avx512. If the compiler lacks them, the file and the target are left out.
#include <immintrin.h>

#include "core/simd/amx.h"
#include "core/simd/tile_products.h"

namespace conelab {
namespace {

/// The unit's configuration, 64 bytes: eight tiles of 16 rows × 64 bytes.
struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(Configuration) == 64);
constexpr Configuration eight_whole_tiles;
constexpr int line = 64;  ///< Bytes of a row of a packed tile.

/// Tiles 0 to 3 are the accumulator, 4 and 5 the left operand, 6 and 7 the right operand. The unit
/// is configured for each product and released after it, so that a thread that is suspended
/// elsewhere has no tiles to save.
class AmxTiles {
 public:
  AmxTiles() { _tile_loadconfig(&eight_whole_tiles); }
  ~AmxTiles() { _tile_release(); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  void zero() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }

  // GCC's intrinsics do not say that they read memory. Without the barriers, packed numbers might
  // not have been written yet.
  void load_left(const void* upper, const void* lower) {
    asm volatile("" ::: "memory");
    _tile_loadd(4, upper, line);
    _tile_loadd(5, lower, line);
  }
  void load_right(const void* left, const void* right) {
    asm volatile("" ::: "memory");
    _tile_loadd(6, left, line);
    _tile_loadd(7, right, line);
  }
  void multiply() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }

  void store(float* out, std::ptrdiff_t stride) {
    const std::ptrdiff_t row_bytes = stride * static_cast<std::ptrdiff_t>(sizeof(float));
    float* lower = out + 16 * stride;
    _tile_stored(0, out, row_bytes);
    _tile_stored(1, out + 16, row_bytes);
    _tile_stored(2, lower, row_bytes);
    _tile_stored(3, lower + 16, row_bytes);
    asm volatile("" ::: "memory");
  }
};

}  // namespace

template <class S>
Kernels<float> make_amx_kernels(const Kernels<float>& avx512) {
  return TileProducts < AmxTiles, sizeof(S) == 2 ? 2 : 3 > ::make("amx", avx512);
}
template Kernels<float> make_amx_kernels<float>(const Kernels<float>&);
template Kernels<float> make_amx_kernels<Bfloat16>(const Kernels<float>&);

}  // namespace conelab
