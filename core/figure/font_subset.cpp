#include "core/figure/font_subset.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"

namespace conelab::figure {
namespace {

using Buffer = std::vector<std::uint8_t>;

void put16(Buffer& out, std::uint32_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}

void put32(Buffer& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xFFFF);
}

void set16(Buffer& out, std::size_t at, std::uint32_t value) {
  out.at(at) = static_cast<std::uint8_t>(value >> 8);
  out.at(at + 1) = static_cast<std::uint8_t>(value);
}

void set32(Buffer& out, std::size_t at, std::uint32_t value) {
  set16(out, at, value >> 16);
  set16(out, at + 2, value & 0xFFFF);
}

void pad4(Buffer& out) { out.resize((out.size() + 3) / 4 * 4, 0); }

Buffer copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

std::uint32_t checksum(const Buffer& padded) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 4 <= padded.size(); i += 4) sum += read_u32(padded, i);
  return sum;
}

// ---- glyphs ------------------------------------------------------------------------------------

// Flags of a composite glyph's parts.
constexpr std::uint16_t words = 0x1, scale = 0x8, more = 0x20, two_scales = 0x40, matrix = 0x80,
                        instructions = 0x100;

bool composite(Bytes glyph) { return !glyph.empty() && (read_u16(glyph, 0) & 0x8000) != 0; }

std::size_t part_length(std::uint16_t flags) {
  return 4 + ((flags & words) ? 4u : 2u) +
         ((flags & scale)        ? 2u
          : (flags & two_scales) ? 4u
          : (flags & matrix)     ? 8u
                                 : 0u);
}

/// Offsets of the parts in a composite's description, and where they end.
std::pair<std::vector<std::size_t>, std::size_t> parts(Bytes glyph) {
  std::vector<std::size_t> offsets;
  std::size_t at = 10;
  for (std::uint16_t flags = more; flags & more; at += part_length(flags)) {
    flags = read_u16(glyph, at);
    offsets.push_back(at);
  }
  return {offsets, at};
}

/// A simple outline without its hinting program.
Buffer without_instructions(Bytes glyph) {
  const std::size_t contours = read_u16(glyph, 0), at = 10 + 2 * contours;
  const std::size_t length = read_u16(glyph, at);
  Buffer out = copy(glyph.subspan(0, at));
  put16(out, 0);
  if (at + 2 + length > glyph.size()) fail("font: a glyph's program is longer than the glyph");
  const Bytes rest = glyph.subspan(at + 2 + length);
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

/// New glyph numbers in order of their old ones, closed under composites.
class GlyphSet {
 public:
  explicit GlyphSet(const TrueType& font) : font_(font) { add(0); }

  std::uint16_t add(std::uint16_t old) {
    const auto [it, fresh] = new_number_.try_emplace(old, order_.size());
    if (!fresh) return it->second;
    const std::uint16_t number = it->second;
    order_.push_back(old);
    const Bytes glyph = font_.outline(old);
    if (composite(glyph)) {
      for (const std::size_t at : parts(glyph).first) add(read_u16(glyph, at + 2));
    }
    return number;
  }
  /// A second copy of the replacement box: number 0 means "no glyph" to a reader.
  std::uint16_t add_box() {
    if (box_ == 0) {
      box_ = static_cast<std::uint16_t>(order_.size());
      order_.push_back(0);
    }
    return box_;
  }
  [[nodiscard]] const std::vector<std::uint16_t>& order() const { return order_; }
  [[nodiscard]] Buffer outline(std::uint16_t old) const {
    const Bytes glyph = font_.outline(old);
    if (glyph.empty()) return {};
    if (!composite(glyph)) return without_instructions(glyph);
    const auto [offsets, end] = parts(glyph);
    Buffer out = copy(glyph.subspan(0, end));
    for (const std::size_t at : offsets) {
      set16(out, at, read_u16(glyph, at) & ~instructions);
      set16(out, at + 2, new_number_.at(read_u16(glyph, at + 2)));
    }
    return out;
  }

 private:
  const TrueType& font_;
  std::map<std::uint16_t, std::uint16_t> new_number_;
  std::vector<std::uint16_t> order_;
  std::uint16_t box_ = 0;
};

// ---- tables ------------------------------------------------------------------------------------

/// Consecutive characters with consecutive glyphs.
struct Range {
  char32_t first, last;
  std::uint16_t glyph;
};

std::vector<Range> ranges(const std::map<char32_t, std::uint16_t>& cmap) {
  std::vector<Range> out;
  for (const auto& [code, glyph] : cmap) {
    if (!out.empty() && out.back().last + 1 == code &&
        out.back().glyph + (code - out.back().first) == glyph) {
      out.back().last = code;
    } else {
      out.push_back({code, code, glyph});
    }
  }
  return out;
}

Buffer cmap_format4(std::vector<Range> list) {
  std::erase_if(list, [](const Range& r) { return r.last >= 0xFFFF; });
  list.push_back({0xFFFF, 0xFFFF, 0});  // The format's own end mark, mapped to glyph 0 by delta 1.
  const auto n = static_cast<std::uint32_t>(list.size());
  std::uint32_t power = 1, log = 0;
  while (2 * power <= n) power *= 2, ++log;
  Buffer out;
  for (const std::uint32_t v : {4u, 16 + 8 * n, 0u, 2 * n, 2 * power, log, 2 * (n - power)}) {
    put16(out, v);
  }
  for (const Range& r : list) put16(out, r.last);
  put16(out, 0);
  for (const Range& r : list) put16(out, r.first);
  for (const Range& r : list) put16(out, (r.glyph - r.first) & 0xFFFF);
  for (std::size_t i = 0; i < list.size(); ++i) put16(out, 0);
  return out;
}

Buffer cmap_format12(const std::vector<Range>& list) {
  Buffer out;
  put16(out, 12), put16(out, 0);
  put32(out, static_cast<std::uint32_t>(16 + 12 * list.size()));
  put32(out, 0), put32(out, static_cast<std::uint32_t>(list.size()));
  for (const Range& r : list) put32(out, r.first), put32(out, r.last), put32(out, r.glyph);
  return out;
}

Buffer cmap_table(const std::map<char32_t, std::uint16_t>& cmap) {
  const std::vector<Range> all = ranges(cmap);
  std::vector<Range> plane0;
  for (const Range& r : all) {
    if (r.first <= 0xFFFF) plane0.push_back({r.first, std::min<char32_t>(r.last, 0xFFFE), r.glyph});
  }
  const Buffer four = cmap_format4(plane0), twelve = cmap_format12(all);
  Buffer out;
  put16(out, 0), put16(out, 2);
  put16(out, 3), put16(out, 1), put32(out, 20);
  put16(out, 3), put16(out, 10), put32(out, static_cast<std::uint32_t>(20 + four.size()));
  out.insert(out.end(), four.begin(), four.end());
  out.insert(out.end(), twelve.begin(), twelve.end());
  return out;
}

Buffer name_table(const std::string& family) {
  const std::string post_script = [&] {
    std::string s = family;
    std::erase(s, ' ');
    return s;
  }();
  const std::pair<std::uint16_t, std::string> names[] = {
      {1, family}, {2, "Regular"}, {3, family}, {4, family}, {5, "Version 1.0"}, {6, post_script}};
  Buffer out, strings;
  put16(out, 0), put16(out, std::size(names)), put16(out, 6 + 12 * std::size(names));
  for (const auto& [id, text] : names) {
    for (const std::uint32_t v : {3u, 1u, 0x409u, std::uint32_t{id}}) put16(out, v);
    put16(out, static_cast<std::uint32_t>(2 * text.size()));
    put16(out, static_cast<std::uint32_t>(strings.size()));
    for (const char c : text) put16(strings, static_cast<unsigned char>(c));
  }
  out.insert(out.end(), strings.begin(), strings.end());
  return out;
}

Buffer post_table(Bytes original) {
  Buffer out = copy(original.subspan(0, std::min<std::size_t>(32, original.size())));
  out.resize(32, 0);
  set32(out, 0, 0x00030000);  // Version 3: no glyph names.
  return out;
}

Buffer maxp_table(Bytes original, std::size_t glyphs) {
  Buffer out = copy(original);
  set16(out, 4, static_cast<std::uint32_t>(glyphs));
  if (out.size() >= 32) {
    set16(out, 14, 1);  // One zone, and no storage, functions, stack or instructions.
    for (const std::size_t at : {16u, 18u, 20u, 22u, 24u, 26u}) set16(out, at, 0);
  }
  return out;
}

/// A file of tables in the order of their names, with checksums.
Buffer assemble(std::map<std::string, Buffer> tables) {
  const auto n = static_cast<std::uint32_t>(tables.size());
  std::uint32_t power = 1, log = 0;
  while (2 * power <= n) power *= 2, ++log;
  Buffer directory, body;
  put32(directory, 0x00010000);
  for (const std::uint32_t v : {n, 16 * power, log, 16 * (n - power)}) put16(directory, v);
  std::size_t head = 0;
  for (auto& [tag, table] : tables) {
    const auto length = static_cast<std::uint32_t>(table.size());
    const auto offset = static_cast<std::uint32_t>(12 + 16 * n + body.size());
    if (tag == "head") head = offset;
    pad4(table);
    directory.insert(directory.end(), tag.begin(), tag.end());
    put32(directory, checksum(table)), put32(directory, offset), put32(directory, length);
    body.insert(body.end(), table.begin(), table.end());
  }
  directory.insert(directory.end(), body.begin(), body.end());
  set32(directory, head + 8, 0xB1B0AFBAu - checksum(directory));
  return directory;
}

}  // namespace

std::vector<std::uint8_t> subset_font(const TrueType& font, const std::set<char32_t>& characters,
                                      const std::string& family) {
  GlyphSet glyphs(font);
  std::map<char32_t, std::uint16_t> cmap;
  for (const char32_t c : characters) {
    const std::uint16_t old = font.glyph(c);
    cmap[c] = old == 0 ? glyphs.add_box() : glyphs.add(old);
  }
  if (glyphs.order().size() > 65000) fail("font: a figure uses more glyphs than a font can hold");

  Buffer glyf, loca, hmtx;
  for (const std::uint16_t old : glyphs.order()) {
    put32(loca, static_cast<std::uint32_t>(glyf.size()));
    const Buffer outline = glyphs.outline(old);
    glyf.insert(glyf.end(), outline.begin(), outline.end());
    pad4(glyf);
    put16(hmtx, font.advance_units(old));
    put16(hmtx, static_cast<std::uint16_t>(font.left_bearing(old)));
  }
  put32(loca, static_cast<std::uint32_t>(glyf.size()));

  Buffer head = copy(font.table("head")), hhea = copy(font.table("hhea"));
  set32(head, 8, 0);   // The checksum is filled in last.
  set16(head, 50, 1);  // Long offsets.
  set16(hhea, 34, static_cast<std::uint32_t>(glyphs.order().size()));
  std::map<std::string, Buffer> tables = {
      {"head", head},
      {"hhea", hhea},
      {"hmtx", hmtx},
      {"loca", loca},
      {"glyf", glyf},
      {"maxp", maxp_table(font.table("maxp"), glyphs.order().size())},
      {"cmap", cmap_table(cmap)},
      {"post", post_table(font.table("post"))},
      {"name", name_table(family)}};
  if (const Bytes os2 = font.table("OS/2"); !os2.empty()) tables["OS/2"] = copy(os2);
  return assemble(std::move(tables));
}

std::vector<std::uint8_t> renamed_font(const TrueType& font, const std::string& family) {
  std::map<std::string, Buffer> tables;
  for (const char* tag : {"GDEF", "GPOS", "GSUB", "OS/2", "cmap", "glyf", "head", "hhea", "hmtx",
                          "loca", "maxp", "post"}) {
    if (const Bytes table = font.table(tag); !table.empty()) tables[tag] = copy(table);
  }
  set32(tables["head"], 8, 0);
  tables["name"] = name_table(family);
  return assemble(std::move(tables));
}

}  // namespace conelab::figure
