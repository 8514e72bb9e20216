#include "core/figure/glyphs.h"

#include <algorithm>

#include "core/figure/font_metrics.h"
#include "core/figure/missing_glyphs.h"
#include "core/figure/text.h"

namespace conelab::figure {
namespace {

bool is_between(char32_t c, char32_t first, char32_t end) { return c >= first && c < end; }

bool is_right_to_left(char32_t c) {
  return is_between(c, 0x0590, 0x0900) || is_between(c, 0xFB1D, 0xFE00) ||
         is_between(c, 0xFE70, 0xFF00);
}

/// Returns whether the letters of a script join or reorder. Other scripts are drawn letter by
/// letter.
bool is_shaped(char32_t c) { return is_right_to_left(c) || is_between(c, 0x0900, 0x0E00); }

/// Returns whether a character takes the direction of those around it: blanks and ASCII signs.
bool is_neutral(char32_t c) {
  return c < 0x80 && !is_between(c, U'0', U':') && !is_between(c, U'A', U'[') &&
         !is_between(c, U'a', U'{');
}

/// A part of a text that runs in one direction.
struct Part {
  std::u32string_view text;
  bool right_to_left = false;
};

/// Returns the parts in the order in which they are drawn, from left to right.
std::vector<Part> parts_of(std::u32string_view text) {
  std::vector<Part> parts;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
    const bool backward = is_right_to_left(text[begin]);
    end = begin + 1;
    while (end < text.size() &&
           (is_neutral(text[end]) || is_right_to_left(text[end]) == backward)) {
      ++end;
    }
    parts.push_back({text.substr(begin, end - begin), backward});
  }
  const auto first = std::find_if_not(text.begin(), text.end(), is_neutral);
  if (first != text.end() && is_right_to_left(*first)) std::reverse(parts.begin(), parts.end());
  return parts;
}

/// Appends runs from left to right.
class Setter {
 public:
  explicit Setter(std::vector<GlyphRun>& runs) : runs_(runs) {}

  void place(std::u32string_view text, FontFile file, double size, double y) {
    for (const Part& part : parts_of(text)) {
      const bool shaped = std::any_of(part.text.begin(), part.text.end(), is_shaped);
      runs_.push_back({file, size, !shaped, {}});
      shaped ? shape(part, y) : letters(part.text, y);
    }
  }
  [[nodiscard]] double width() const { return x_; }

 private:
  std::vector<GlyphRun>& runs_;
  double x_ = 0;

  void letters(std::u32string_view text, double y) {
    GlyphRun& run = runs_.back();
    for (const char32_t c : text) {
      run.glyphs.push_back({glyph_of(run.file, c), x_, y, std::u32string(1, c)});
      x_ += advance(run.file, c) * run.size;
    }
  }
  void shape(const Part& part, double y) {
    GlyphRun& run = runs_.back();
    for (const ShapedGlyph& g : shaped_glyphs(run.file, part.text, part.right_to_left)) {
      run.glyphs.push_back({g.glyph, x_ + g.x * run.size, y - g.y * run.size,
                            std::u32string(part.text.substr(g.first, g.count))});
      x_ += g.advance * run.size;
    }
  }
};

}  // namespace

std::vector<GlyphRun> glyph_runs(const TextItem& item) {
  std::vector<GlyphRun> runs;
  Setter setter(runs);
  for (const TextRun& run : item.runs) {
    const std::u32string text = drawn_text(run.face, decode_utf8(run.text));
    const double size = run_size(run, item.size), y = -run_rise(run, item.size);
    for (std::size_t begin = 0, end; begin < text.size(); begin = end) {
      const FontFile file = font_for(run.face, text[begin]);
      for (end = begin + 1; end < text.size() && font_for(run.face, text[end]) == file;) ++end;
      setter.place(std::u32string_view(text).substr(begin, end - begin), file, size, y);
    }
  }
  const double width = setter.width();
  const double shift = item.anchor == Anchor::start    ? 0
                       : item.anchor == Anchor::middle ? width / 2
                                                       : width;
  for (GlyphRun& run : runs) {
    for (PlacedGlyph& glyph : run.glyphs) glyph.x -= shift;
  }
  return runs;
}

}  // namespace conelab::figure
