#include "core/figure/caption.h"

#include <cmath>

#include "core/figure/style.h"
#include "core/figure/text.h"

namespace conelab::figure {

void finish_with_caption(DisplayList& list, const std::string& caption, double top) {
  constexpr double margin = 5;
  list.metadata.description = caption;
  for (const std::string& line : wrap(clean_text(caption), text_size, list.width - 2 * margin)) {
    list.text({margin, top}, line, {.size = text_size, .align = Align::top, .colour = ink});
    top += 1.25 * text_size;
  }
  list.height = std::ceil(top + margin);
}

}  // namespace conelab::figure
