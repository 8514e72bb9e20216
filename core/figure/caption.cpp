#include "core/figure/caption.h"

#include <cmath>

#include "core/figure/style.h"
#include "core/figure/text.h"

namespace conelab::figure {

namespace {

/// A hyphen before a digit that opens a number, or its exponent, becomes a minus.
std::string with_minus(const std::string& text) {
  const auto digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const bool opens = before == ' ' || before == '(' || before == '[' || before == ',';
    const bool exponent = i > 1 && before == 'e' && digit(i - 2);
    const bool minus = text[i] == '-' && digit(i + 1) && (opens || exponent);
    out += minus ? "−" : std::string(1, text[i]);
  }
  return out;
}

}  // namespace

void finish_with_caption(DisplayList& list, const std::string& typed, double top) {
  constexpr double margin = 5;
  const std::string caption = with_minus(typed);
  list.metadata.description = caption;
  for (const std::string& line : wrap(clean_text(caption), text_size, list.width - 2 * margin)) {
    list.text({margin, top}, line, {.size = text_size, .align = Align::top, .colour = ink});
    top += 1.25 * text_size;
  }
  list.height = std::ceil(top + margin);
}

}  // namespace conelab::figure
