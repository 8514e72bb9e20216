// Reading of TrueType fonts (OpenType 1.9, tables head, hhea, hmtx, maxp, loca, glyf, cmap).
//
// Only fonts with `glyf` outlines, as the embedded ones are. The bytes are not copied: they must
// outlive the font. A font that is not sound throws a failure when opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace conelab::figure {

using Bytes = std::span<const std::uint8_t>;

/// Big-endian numbers at an offset; a failure when it lies outside the bytes.
[[nodiscard]] std::uint16_t read_u16(Bytes bytes, std::size_t offset);
[[nodiscard]] std::uint32_t read_u32(Bytes bytes, std::size_t offset);

class TrueType {
 public:
  explicit TrueType(Bytes bytes);

  /// The table's bytes; empty where the font has none.
  [[nodiscard]] Bytes table(std::string_view tag) const;
  /// The glyph of a code point; 0 (the replacement box) where the font has none.
  [[nodiscard]] std::uint16_t glyph(char32_t code) const;
  /// Width in em; of the last metric for glyphs beyond the table, as the format says.
  [[nodiscard]] double advance(std::uint16_t glyph) const;
  [[nodiscard]] std::uint16_t advance_units(std::uint16_t glyph) const;
  [[nodiscard]] std::int16_t left_bearing(std::uint16_t glyph) const;
  /// The outline's description in `glyf`; empty for glyphs without one (spaces).
  [[nodiscard]] Bytes outline(std::uint16_t glyph) const;
  [[nodiscard]] double units_per_em() const { return units_per_em_; }

 private:
  [[nodiscard]] std::uint16_t glyph_in_format4(char32_t code) const;
  [[nodiscard]] std::uint16_t glyph_in_format12(char32_t code) const;

  Bytes bytes_, cmap4_, cmap12_, hmtx_, loca_, glyf_;
  std::uint16_t glyph_count_ = 0, metric_count_ = 0;
  double units_per_em_ = 1000;
  bool long_loca_ = false;
};

}  // namespace conelab::figure
