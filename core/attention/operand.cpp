#include "core/attention/operand.h"

namespace conelab {

template <class T>
void pack_panels(const T* rows, std::ptrdiff_t stride, int base_size, int count, int panel,
                 T factor, T* out) {
  for (int first = 0; first < count; first += panel) {
    T* destination = out + static_cast<std::ptrdiff_t>(first) * base_size;
    for (int j = 0; j < panel; ++j) {
      const T* row = rows + (first + j) * stride;
      for (int k = 0; k < base_size; ++k) destination[k * panel + j] = factor * row[k];
    }
  }
}

namespace {

/// In pieces of a fixed size, which are moves and no calls; the panel is a multiple.
template <int piece, class T>
void split_in_pieces(const T* rows, std::ptrdiff_t stride, std::int64_t count, int panel, T* out,
                     std::ptrdiff_t panel_stride) {
  for (std::ptrdiff_t column = 0; column < stride; column += panel) {
    T* to = out + column / panel * panel_stride;
    for (std::int64_t i = 0; i < count; ++i) {
      const T* row = rows + i * stride + column;
      for (int c = 0; c < panel; c += piece) std::copy_n(row + c, piece, to + i * panel + c);
    }
  }
}

}  // namespace

template <class T>
void split_panels(const T* rows, std::ptrdiff_t stride, std::int64_t count, int panel, T* out,
                  std::ptrdiff_t panel_stride) {
  // Without vectors a panel is two columns.
  const auto split = panel % 4 == 0 ? split_in_pieces<4, T> : split_in_pieces<1, T>;
  split(rows, stride, count, panel, out, panel_stride);
}

template void pack_panels(const float*, std::ptrdiff_t, int, int, int, float, float*);
template void pack_panels(const double*, std::ptrdiff_t, int, int, int, double, double*);
template void split_panels(const float*, std::ptrdiff_t, std::int64_t, int, float*, std::ptrdiff_t);
template void split_panels(const double*, std::ptrdiff_t, std::int64_t, int, double*,
                           std::ptrdiff_t);

}  // namespace conelab
