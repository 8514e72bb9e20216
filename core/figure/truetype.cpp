#include "core/figure/truetype.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace conelab::figure {
namespace {

std::string_view tag_at(Bytes bytes, std::size_t offset) {
  if (offset + 4 > bytes.size()) fail("font: a table's name lies outside the file");
  return {reinterpret_cast<const char*>(bytes.data() + offset), 4};
}

Bytes part(Bytes bytes, std::size_t offset, std::size_t length) {
  if (offset > bytes.size() || length > bytes.size() - offset) {
    fail("font: a table of {} bytes at {} lies outside the file of {}", length, offset,
         bytes.size());
  }
  return bytes.subspan(offset, length);
}

/// The Unicode subtable of a format; empty where there is none.
Bytes unicode_subtable(Bytes cmap, std::uint16_t format) {
  if (cmap.empty()) return {};
  for (std::size_t i = 0; i < read_u16(cmap, 2); ++i) {
    const std::uint16_t platform = read_u16(cmap, 4 + 8 * i);
    const Bytes sub = cmap.subspan(std::min<std::size_t>(read_u32(cmap, 8 + 8 * i), cmap.size()));
    if ((platform == 0 || platform == 3) && sub.size() >= 2 && read_u16(sub, 0) == format) {
      return sub;
    }
  }
  return {};
}

}  // namespace

std::uint16_t read_u16(Bytes bytes, std::size_t offset) {
  if (offset + 2 > bytes.size()) fail("font: a number lies outside its table");
  return static_cast<std::uint16_t>(bytes[offset] << 8 | bytes[offset + 1]);
}

std::uint32_t read_u32(Bytes bytes, std::size_t offset) {
  return std::uint32_t{read_u16(bytes, offset)} << 16 | read_u16(bytes, offset + 2);
}

TrueType::TrueType(Bytes bytes) : bytes_(bytes) {
  const Bytes head = table("head"), hhea = table("hhea"), maxp = table("maxp");
  hmtx_ = table("hmtx"), loca_ = table("loca"), glyf_ = table("glyf");
  if (head.empty() || hhea.empty() || maxp.empty() || loca_.empty()) {
    fail("font: a required table is missing (head, hhea, maxp or loca)");
  }
  cmap4_ = unicode_subtable(table("cmap"), 4);
  cmap12_ = unicode_subtable(table("cmap"), 12);
  units_per_em_ = read_u16(head, 18);
  long_loca_ = read_u16(head, 50) != 0;
  metric_count_ = read_u16(hhea, 34);
  glyph_count_ = read_u16(maxp, 4);
  if (metric_count_ == 0 || units_per_em_ == 0) fail("font: it has no metrics");
}

Bytes TrueType::table(std::string_view tag) const {
  for (std::size_t i = 0; i < read_u16(bytes_, 4); ++i) {
    const std::size_t record = 12 + 16 * i;
    if (tag_at(bytes_, record) != tag) continue;
    return part(bytes_, read_u32(bytes_, record + 8), read_u32(bytes_, record + 12));
  }
  return {};
}

std::uint16_t TrueType::glyph(char32_t code) const {
  return cmap12_.empty() ? glyph_in_format4(code) : glyph_in_format12(code);
}

std::uint16_t TrueType::glyph_in_format4(char32_t code) const {
  if (cmap4_.empty() || code > 0xFFFF) return 0;
  const std::size_t twice = read_u16(cmap4_, 6);  // Segment count times two.
  for (std::size_t i = 0; i < twice; i += 2) {
    if (read_u16(cmap4_, 14 + i) < code) continue;
    const std::uint16_t first = read_u16(cmap4_, 16 + twice + i);
    if (code < first) return 0;
    const std::uint16_t delta = read_u16(cmap4_, 16 + 2 * twice + i);
    const std::size_t where = 16 + 3 * twice + i;
    const std::uint16_t range = read_u16(cmap4_, where);
    if (range == 0) return static_cast<std::uint16_t>(code + delta);
    const std::uint16_t glyph = read_u16(cmap4_, where + range + 2 * (code - first));
    return glyph == 0 ? glyph : static_cast<std::uint16_t>(glyph + delta);
  }
  return 0;
}

std::uint16_t TrueType::glyph_in_format12(char32_t code) const {
  for (std::size_t i = 0, n = read_u32(cmap12_, 12); i < n; ++i) {
    const std::size_t group = 16 + 12 * i;
    const std::uint32_t first = read_u32(cmap12_, group), last = read_u32(cmap12_, group + 4);
    if (code >= first && code <= last) {
      return static_cast<std::uint16_t>(read_u32(cmap12_, group + 8) + code - first);
    }
  }
  return 0;
}

std::uint16_t TrueType::advance_units(std::uint16_t glyph) const {
  return read_u16(hmtx_, std::size_t{4} * std::min<std::uint16_t>(glyph, metric_count_ - 1));
}

double TrueType::advance(std::uint16_t glyph) const { return advance_units(glyph) / units_per_em_; }

std::int16_t TrueType::left_bearing(std::uint16_t glyph) const {
  const std::size_t metrics = std::size_t{4} * metric_count_;
  const std::size_t offset = glyph < metric_count_
                                 ? std::size_t{4} * glyph + 2
                                 : metrics + std::size_t{2} * (glyph - metric_count_);
  return static_cast<std::int16_t>(read_u16(hmtx_, offset));
}

Bytes TrueType::outline(std::uint16_t glyph) const {
  if (glyph >= glyph_count_) return {};
  const auto at = [&](std::size_t i) -> std::size_t {
    return long_loca_ ? read_u32(loca_, 4 * i) : std::size_t{2} * read_u16(loca_, 2 * i);
  };
  const std::size_t begin = at(glyph), end = at(std::size_t{glyph} + 1);
  return end <= begin ? Bytes{} : part(glyf_, begin, end - begin);
}

}  // namespace conelab::figure
