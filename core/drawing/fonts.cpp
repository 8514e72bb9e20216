#include "core/drawing/fonts.h"

#include <hb-ot.h>
#include <hb-subset.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/drawing/font_metrics.h"

// fonts_data.cpp.in puts the fonts into the object file.
extern "C" {
extern const unsigned char conelab_font_regular[], conelab_font_regular_end[];
extern const unsigned char conelab_font_bold[], conelab_font_bold_end[];
extern const unsigned char conelab_font_italic[], conelab_font_italic_end[];
extern const unsigned char conelab_font_fallback[], conelab_font_fallback_end[];
extern const unsigned char conelab_font_signs[], conelab_font_signs_end[];
}

namespace conelab::figure {
namespace {

template <auto destroy>
struct Destroy {
  template <class Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};
using FaceHandle = std::unique_ptr<hb_face_t, Destroy<hb_face_destroy>>;
using FontHandle = std::unique_ptr<hb_font_t, Destroy<hb_font_destroy>>;
using BufferHandle = std::unique_ptr<hb_buffer_t, Destroy<hb_buffer_destroy>>;
using BlobHandle = std::unique_ptr<hb_blob_t, Destroy<hb_blob_destroy>>;
using SubsetInput = std::unique_ptr<hb_subset_input_t, Destroy<hb_subset_input_destroy>>;

BlobHandle blob_of(Bytes bytes, hb_memory_mode_t mode) {
  return BlobHandle(hb_blob_create(reinterpret_cast<const char*>(bytes.data()),
                                   static_cast<unsigned>(bytes.size()), mode, nullptr, nullptr));
}

FontHandle open(FontFile file) {
  const BlobHandle blob = blob_of(font_bytes(file), HB_MEMORY_MODE_READONLY);
  const FaceHandle face(hb_face_create(blob.get(), 0));
  FontHandle font(hb_font_create(face.get()));
  hb_font_make_immutable(font.get());
  return font;
}

hb_font_t* font(FontFile file) {
  static const std::array<FontHandle, 5> fonts = {open(FontFile::regular), open(FontFile::bold),
                                                  open(FontFile::italic), open(FontFile::fallback),
                                                  open(FontFile::signs)};
  return fonts[static_cast<std::size_t>(file)].get();
}

hb_face_t* face(FontFile file) { return hb_font_get_face(font(file)); }

double em(FontFile file, hb_position_t units) {
  return static_cast<double>(units) / hb_face_get_upem(face(file));
}

hb_font_extents_t line_extents() {
  hb_font_extents_t extents{};
  hb_font_get_h_extents(font(FontFile::regular), &extents);
  return extents;
}

/// Returns the table `name` with the entries that a font must have, for platform 3 (Windows),
/// encoding 1 (UTF-16) and language 0x409 (English). `family` is ASCII.
std::vector<std::uint8_t> name_table(const std::string& family) {
  std::string post_script = family;
  std::erase(post_script, ' ');
  const std::pair<unsigned, std::string> names[] = {
      {1, family}, {2, "Regular"}, {3, family}, {4, family}, {5, "Version 1.0"}, {6, post_script}};
  std::vector<std::uint8_t> table, strings;
  const auto put = [](std::vector<std::uint8_t>& out, std::size_t number) {
    out.push_back(static_cast<std::uint8_t>(number >> 8));
    out.push_back(static_cast<std::uint8_t>(number));
  };
  for (const std::size_t v : {std::size_t{0}, std::size(names), 6 + 12 * std::size(names)}) {
    put(table, v);
  }
  for (const auto& [id, text] : names) {
    for (const std::size_t v : {std::size_t{3}, std::size_t{1}, std::size_t{0x409}, std::size_t{id},
                                2 * text.size(), strings.size()}) {
      put(table, v);
    }
    for (const char c : text) put(strings, static_cast<unsigned char>(c));
  }
  table.insert(table.end(), strings.begin(), strings.end());
  return table;
}

/// Returns a font file with these tables of `from` and a new name; without one if it is empty.
std::vector<std::uint8_t> named_font(hb_face_t* from, std::initializer_list<const char*> tables,
                                     const std::string& family) {
  const FaceHandle builder(hb_face_builder_create());
  for (const char* name : tables) {
    const hb_tag_t tag = hb_tag_from_string(name, -1);
    const BlobHandle table(hb_face_reference_table(from, tag));
    if (hb_blob_get_length(table.get()) == 0) continue;
    hb_face_builder_add_table(builder.get(), tag, table.get());
  }
  if (!family.empty()) {
    const BlobHandle name = blob_of(name_table(family), HB_MEMORY_MODE_DUPLICATE);
    hb_face_builder_add_table(builder.get(), HB_TAG('n', 'a', 'm', 'e'), name.get());
  }
  const BlobHandle whole(hb_face_reference_blob(builder.get()));
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(hb_blob_get_data(whole.get(), &size));
  if (size == 0) fail("font: '{}' could not be written", family);
  return {bytes, bytes + size};
}

/// Returns the wish for a part of a font, of which the caller names characters or glyphs.
SubsetInput subset_input() {
  SubsetInput input(hb_subset_input_create_or_fail());
  if (!input) fail("font: out of memory");
  hb_set_t* dropped = hb_subset_input_set(input.get(), HB_SUBSET_SETS_DROP_TABLE_TAG);
  for (const char* tag : {"GDEF", "GPOS", "GSUB", "kern", "name"}) {
    hb_set_add(dropped, hb_tag_from_string(tag, -1));
  }
  return input;
}

std::vector<std::uint8_t> reduced(FontFile file, hb_subset_input_t* wanted, unsigned flags,
                                  std::initializer_list<const char*> tables,
                                  const std::string& family) {
  hb_subset_input_set_flags(wanted,
                            HB_SUBSET_FLAGS_NO_HINTING | HB_SUBSET_FLAGS_NOTDEF_OUTLINE | flags);
  const FaceHandle subset(hb_subset_or_fail(face(file), wanted));
  if (!subset) fail("font: '{}' could not be reduced to its characters", family);
  return named_font(subset.get(), tables, family);
}

}  // namespace

Bytes font_bytes(FontFile file) {
  const Bytes files[] = {{conelab_font_regular, conelab_font_regular_end},
                         {conelab_font_bold, conelab_font_bold_end},
                         {conelab_font_italic, conelab_font_italic_end},
                         {conelab_font_fallback, conelab_font_fallback_end},
                         {conelab_font_signs, conelab_font_signs_end}};
  return files[static_cast<std::size_t>(file)];
}

std::uint32_t glyph_of(FontFile file, char32_t code) {
  hb_codepoint_t glyph = 0;
  return hb_font_get_nominal_glyph(font(file), code, &glyph) ? glyph : 0;
}

double advance(FontFile file, char32_t code) {
  return em(file, hb_font_get_glyph_h_advance(font(file), glyph_of(file, code)));
}

double ascent() {
  static const double value = em(FontFile::regular, line_extents().ascender);
  return value;
}

double descent() {
  static const double value = -em(FontFile::regular, line_extents().descender);
  return value;
}

double cap_height() {
  static const double value = [] {
    hb_glyph_extents_t extents{};
    hb_font_get_glyph_extents(font(FontFile::regular), glyph_of(FontFile::regular, U'H'), &extents);
    return em(FontFile::regular, extents.y_bearing);
  }();
  return value;
}

FontFile font_for(Face face, char32_t code) {
  const auto own = static_cast<FontFile>(face);
  for (const FontFile file : {own, FontFile::fallback, FontFile::signs}) {
    if (glyph_of(file, code) != 0) return file;
  }
  return own;
}

bool has_glyph(Face face, char32_t code) { return glyph_of(font_for(face, code), code) != 0; }

FontMeasures font_measures(FontFile file) {
  const auto measure = [&](hb_ot_metrics_tag_t tag) {
    hb_position_t value = 0;
    hb_ot_metrics_get_position_with_fallback(font(file), tag, &value);
    return 1000 * em(file, value);
  };
  const BlobHandle table(hb_face_reference_table(face(file), HB_TAG('h', 'e', 'a', 'd')));
  unsigned size = 0;
  const auto* head = reinterpret_cast<const std::uint8_t*>(hb_blob_get_data(table.get(), &size));
  if (size < 44) fail("font: its table 'head' is too short (expected 44 bytes, found {})", size);
  const auto corner = [&](std::size_t at) {
    return 1000 * em(file, static_cast<std::int16_t>(head[at] << 8 | head[at + 1]));
  };
  return {measure(HB_OT_METRICS_TAG_HORIZONTAL_ASCENDER),
          measure(HB_OT_METRICS_TAG_HORIZONTAL_DESCENDER),
          measure(HB_OT_METRICS_TAG_CAP_HEIGHT),
          corner(36),
          corner(38),
          corner(40),
          corner(42)};
}

double glyph_advance(FontFile file, std::uint32_t glyph) {
  return 1000 * em(file, hb_font_get_glyph_h_advance(font(file), glyph));
}

std::vector<std::uint8_t> font_of_glyphs(FontFile file, const std::set<std::uint32_t>& glyphs) {
  const SubsetInput input = subset_input();
  for (const std::uint32_t g : glyphs) hb_set_add(hb_subset_input_glyph_set(input.get()), g);
  return reduced(file, input.get(), HB_SUBSET_FLAGS_RETAIN_GIDS,
                 {"glyf", "head", "hhea", "hmtx", "loca", "maxp"}, "");
}

std::vector<std::uint8_t> subset_font(FontFile file, const std::set<char32_t>& characters,
                                      const std::string& family) {
  const SubsetInput input = subset_input();
  for (const char32_t c : characters) hb_set_add(hb_subset_input_unicode_set(input.get()), c);
  return reduced(file, input.get(), HB_SUBSET_FLAGS_DEFAULT,
                 {"OS/2", "cmap", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "post"}, family);
}

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
  const auto first = std::ranges::find_if_not(text, is_neutral);
  if (first != text.end() && is_right_to_left(*first)) std::ranges::reverse(parts);
  return parts;
}

class Setter {
 public:
  explicit Setter(std::vector<GlyphRun>& runs) : runs_(runs) {}

  void place(std::u32string_view text, FontFile file, double size, double y) {
    for (const Part& part : parts_of(text)) {
      const bool shaped = std::ranges::any_of(part.text, is_shaped);
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
  /// Adds the glyphs of letters that their script joins or reorders, as HarfBuzz places them.
  void shape(const Part& part, double y) {
    GlyphRun& run = runs_.back();
    const auto size = static_cast<int>(part.text.size());
    const BufferHandle buffer(hb_buffer_create());
    hb_buffer_add_utf32(buffer.get(), reinterpret_cast<const std::uint32_t*>(part.text.data()),
                        size, 0, size);
    hb_buffer_set_direction(buffer.get(), part.right_to_left ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
    hb_buffer_guess_segment_properties(buffer.get());
    hb_shape(font(run.file), buffer.get(), nullptr, 0);
    unsigned count = 0;
    const hb_glyph_info_t* infos = hb_buffer_get_glyph_infos(buffer.get(), &count);
    const hb_glyph_position_t* places = hb_buffer_get_glyph_positions(buffer.get(), &count);
    std::set<std::size_t> begins = {part.text.size()};
    for (unsigned i = 0; i < count; ++i) begins.insert(infos[i].cluster);
    for (unsigned i = 0; i < count; ++i) {
      const std::size_t first = infos[i].cluster;
      // The first of several glyphs of the same letters shows them.
      const bool again = i > 0 && infos[i - 1].cluster == first;
      const std::size_t shown = again ? 0 : *begins.upper_bound(first) - first;
      run.glyphs.push_back({infos[i].codepoint, x_ + em(run.file, places[i].x_offset) * run.size,
                            y - em(run.file, places[i].y_offset) * run.size,
                            std::u32string(part.text.substr(first, shown))});
      x_ += em(run.file, places[i].x_advance) * run.size;
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
