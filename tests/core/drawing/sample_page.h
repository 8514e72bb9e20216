// A page with an item of every kind: fonts and their fallback, a dashed arc, a clipped rectangle,
// and an image whose last cell may be half transparent.
#pragma once

#include <cstdint>

#include "core/drawing/display_list.h"
#include "core/drawing/text.h"

namespace conelab::figure {

inline DisplayList sample_page(std::uint8_t last_alpha = 128) {
  DisplayList list;
  list.width = 243, list.height = 100;
  list.metadata.title = "Sample é 😀";
  list.metadata.version = "0.1.0";
  list.text({10, 20}, "Hamburg ℵ 中", {});
  list.text({10, 40}, rich("<i>n</i><sup>2</sup> <b>bold</b>"), {.size = 12, .halo = 1});
  list.text({100, 90}, "turned", {.rotation = -90});
  list.path(Path().arc({150, 50}, 40, 0, 5), Paint::stroked(black, 1, {3, 2, 1}));
  list.clip_begin(Box{200, 0, 20, 100});
  list.rectangle({190, 10, 40, 40}, Paint::filled(Colour{0, 114, 178}.opacity(0.5)));
  list.clip_end();
  list.image({10, 50, 60, 40}, 3, 2, {255, 0, 0, 255, 0,   255, 0, 255, 0, 0,   255, 255,
                                      0,   0, 0, 255, 255, 255, 0, 255, 0, 255, 255, last_alpha});
  return list;
}

}  // namespace conelab::figure
