#include "core/drawing/pdf.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/drawing/fonts.h"
#include "core/drawing/raster.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

// The objects of a PDF file (ISO 32000-1, section 7.5) and its cross-reference table.

/// Returns a reference to an object: "7 0 R".
std::string pdf_reference(std::size_t object) { return fmt::format("{} 0 R", object); }

std::string utf16_hex(std::u32string_view text) {
  std::string hex;
  for (const char32_t c : text) {
    if (c < 0x10000) {
      hex += fmt::format("{:04X}", static_cast<unsigned>(c));
    } else {
      const auto rest = static_cast<unsigned>(c) - 0x10000;
      hex += fmt::format("{:04X}{:04X}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  return hex;
}

/// Returns a text string in UTF-16 with a byte order mark, as hexadecimal digits: "<FEFF0041>".
std::string pdf_text(std::string_view utf8) { return "<FEFF" + utf16_hex(decode_utf8(utf8)) + ">"; }

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()),
                               static_cast<uLong>(bytes.size()), Z_BEST_COMPRESSION);
  if (status != Z_OK) fail("pdf: zlib could not compress {} bytes", bytes.size());
  out.resize(size);
  return out;
}

class PdfDocument {
 public:
  std::size_t reserve() { return add({}); }
  void set(std::size_t object, std::string body) { bodies_[object - 1] = std::move(body); }
  std::size_t add(std::string body) {
    bodies_.push_back(std::move(body));
    return bodies_.size();
  }
  /// Adds a stream. `entries` are those of its dictionary besides the length.
  std::size_t add_stream(const std::string& entries, std::string_view bytes, bool deflate = true) {
    const std::string stored = deflate ? deflated(bytes) : std::string(bytes);
    return add(fmt::format("<<{}{}/Length {}>>\nstream\n{}\nendstream", entries,
                           deflate ? "/Filter/FlateDecode" : "", stored.size(), stored));
  }
  /// Returns the file, with these objects as its catalogue and its information. Its identifier is a
  /// digest of the content.
  [[nodiscard]] std::string file(std::size_t catalogue, std::size_t information) const {
    // The comment of bytes above 127 says that the file is not text (section 7.5.2).
    std::string out = "%PDF-1.5\n%\xE2\xE3\xCF\xD3\n";
    std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", bodies_.size() + 1);
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      table += fmt::format("{:010} 00000 n \n", out.size());
      out += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, bodies_[i]);
    }
    const std::string id = sha256(out).substr(0, 32);
    const std::size_t start = out.size();
    return out + table +
           fmt::format("trailer\n<</Size {}/Root {}/Info {}/ID[<{}><{}>]>>\nstartxref\n{}\n%%EOF\n",
                       bodies_.size() + 1, pdf_reference(catalogue), pdf_reference(information), id,
                       id, start);
  }

 private:
  std::vector<std::string> bodies_;
};

// The content of the page.

std::string colour(Colour c, const char* operation) {
  return fmt::format("{} {} {} {}\n", decimal(c.r / 255.0), decimal(c.g / 255.0),
                     decimal(c.b / 255.0), operation);
}

struct PdfSegment {
  std::string operator()(const MoveTo& s) const { return point_text(s.to) + " m\n"; }
  std::string operator()(const LineTo& s) const { return point_text(s.to) + " l\n"; }
  std::string operator()(const ArcTo& s) const {
    std::string text;
    for (const CubicTo& curve : arc_curves(s)) text += (*this)(curve);
    return text;
  }
  std::string operator()(const CubicTo& s) const {
    return point_text(s.control1) + " " + point_text(s.control2) + " " + point_text(s.to) + " c\n";
  }
  std::string operator()(const Close&) const { return "h\n"; }
};

std::string stroke_commands(const Stroke& stroke) {
  std::string dash;
  for (const double length : stroke.dash) dash += (dash.empty() ? "" : " ") + decimal(length);
  return colour(stroke.colour, "RG") + fmt::format("{} w {} J [{}] 0 d\n", decimal(stroke.width),
                                                   static_cast<int>(stroke.cap), dash);
}

/// The glyphs that a figure uses of a font, and the characters that they show.
using UsedGlyphs = std::map<std::uint32_t, std::u32string>;

class Content {
 public:
  explicit Content(PdfDocument& document) : document_(document) {}

  void operator()(const PathItem& i) {
    const bool fills = i.paint.fill.a != 0;
    const bool strokes = i.paint.stroke.width > 0 && i.paint.stroke.colour.a != 0;
    if (!fills && !strokes) return;
    set_opacity(i.paint.fill.a, i.paint.stroke.colour.a);
    if (fills) out_ += colour(i.paint.fill, "rg");
    if (strokes) out_ += stroke_commands(i.paint.stroke);
    out_ += path_text<PdfSegment>(i.path) + (fills && strokes ? "B\n" : fills ? "f\n" : "S\n");
  }
  void operator()(const TextItem& i) {
    const double turn = i.rotation * std::numbers::pi / 180, c = std::cos(turn), s = std::sin(turn);
    out_ += fmt::format("q {} {} {} {} {} cm\n", decimal6(c), decimal6(s), decimal6(-s),
                        decimal6(c), point_text(i.at));
    const std::vector<GlyphRun> runs = glyph_runs(i);
    if (i.halo > 0) {
      set_opacity(255, 255);
      // The outline is no text of its own: its replacement for readers is empty.
      out_ += "/Span<</ActualText<FEFF>>>BDC\n" +
              stroke_commands({white, 2 * i.halo, {}, Cap::round}) + "1 Tr\n";
      show(runs);
      out_ += "0 Tr EMC\n";
    }
    set_opacity(i.colour.a, 255);
    out_ += colour(i.colour, "rg");
    show(runs);
    out_ += "Q\n";
  }
  void operator()(const ImageItem& i) {
    set_opacity(255, 255);
    images_.push_back(add_image(enlarged(i)));
    out_ +=
        fmt::format("q {} 0 0 {} {} cm /I{} Do Q\n", decimal(i.box.width), decimal(-i.box.height),
                    point_text({i.box.x, i.box.bottom()}), images_.size());
  }
  void operator()(const ClipBegin& i) { out_ += "q\n" + path_text<PdfSegment>(i.path) + "W n\n"; }
  void operator()(const ClipEnd&) { out_ += "Q\n"; }
  void operator()(const GroupBegin&) {}
  void operator()(const GroupEnd&) {}

  [[nodiscard]] const std::string& text() const { return out_; }
  [[nodiscard]] std::string resources();

 private:
  PdfDocument& document_;
  std::string out_;
  std::map<FontFile, UsedGlyphs> fonts_;
  std::set<std::pair<int, int>> opacities_;  ///< Of fills and strokes, from 0 to 255.
  std::vector<std::size_t> images_;

  void set_opacity(int fill, int stroke) {
    opacities_.insert({fill, stroke});
    out_ += fmt::format("/G{}_{} gs\n", fill, stroke);
  }
  void show(const std::vector<GlyphRun>& runs) {
    out_ += "BT\n";
    for (const GlyphRun& run : runs) {
      if (run.glyphs.empty()) continue;
      out_ += fmt::format("/F{} {} Tf\n", static_cast<int>(run.file), decimal(run.size));
      std::string shown;
      for (const PlacedGlyph& g : run.glyphs) {
        fonts_[run.file].emplace(g.glyph, g.text);
        if (shown.empty()) out_ += fmt::format("1 0 0 -1 {} Tm ", point_text({g.x, g.y}));
        shown += fmt::format("{:04X}", g.glyph);
        if (run.is_plain) continue;
        out_ += "<" + std::exchange(shown, {}) + "> Tj\n";
      }
      if (!shown.empty()) out_ += "<" + shown + "> Tj\n";
    }
    out_ += "ET\n";
  }
  static std::string decimal6(double value) { return fmt::format("{:.6f}", value); }
  std::size_t add_image(const ImageItem& image);
  std::size_t add_font(FontFile file, const UsedGlyphs& used);
};

/// Adds an image, with a palette if it has at most 256 colours, and a mask if it is not opaque.
std::size_t Content::add_image(const ImageItem& image) {
  std::map<std::array<std::uint8_t, 3>, std::size_t> colours;
  std::string rgb, alpha, indices, palette;
  bool opaque = true;
  for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
    const std::uint8_t* p = image.rgba.data() + i;
    rgb.append(reinterpret_cast<const char*>(p), 3);
    alpha += static_cast<char>(p[3]);
    opaque = opaque && p[3] == 255;
    const auto [at, is_new] = colours.try_emplace({p[0], p[1], p[2]}, colours.size());
    if (is_new) palette += fmt::format("{:02X}{:02X}{:02X}", p[0], p[1], p[2]);
    if (colours.size() > 256) continue;
    indices += static_cast<char>(at->second);
  }
  const auto entries = [&](const std::string& space) {
    return fmt::format(
        "/Type/XObject/Subtype/Image/Width {}/Height {}/BitsPerComponent 8/ColorSpace{}",
        image.columns, image.rows, space);
  };
  const std::string mask =
      opaque ? "" : "/SMask " + pdf_reference(document_.add_stream(entries("/DeviceGray"), alpha));
  if (colours.size() > 256) return document_.add_stream(entries("/DeviceRGB") + mask, rgb);
  return document_.add_stream(
      entries(fmt::format("[/Indexed/DeviceRGB {}<{}>]", colours.size() - 1, palette)) + mask,
      indices);
}

std::string to_unicode(const UsedGlyphs& used) {
  std::string text =
      "/CIDInit/ProcSet findresource begin 12 dict begin begincmap\n"
      "/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def\n"
      "/CMapName/Adobe-Identity-UCS def/CMapType 2 def\n"
      "1 begincodespacerange<0000><FFFF>endcodespacerange\n";
  std::vector<std::string> entries;
  for (const auto& [glyph, characters] : used) {
    if (characters.empty()) continue;
    entries.push_back(fmt::format("<{:04X}><{}>\n", glyph, utf16_hex(characters)));
  }
  for (std::size_t begin = 0; begin < entries.size(); begin += 100) {
    const std::size_t end = std::min(entries.size(), begin + 100);
    text += fmt::format("{} beginbfchar\n", end - begin);
    for (std::size_t i = begin; i < end; ++i) text += entries[i];
    text += "endbfchar\n";
  }
  return text + "endcmap CMapName currentdict/CMap defineresource pop end end\n";
}

/// Returns the name of a font, which begins with six letters for its subset (section 9.6.4).
std::string font_name(FontFile file, const std::string& content) {
  static constexpr const char* names[] = {"ConelabSans", "ConelabSansBold", "ConelabSansItalic",
                                          "ConelabFallback", "ConelabSigns"};
  std::string tag;
  for (int i = 0; i < 6; ++i) {
    tag += static_cast<char>('A' +
                             static_cast<unsigned char>(content[static_cast<std::size_t>(i)]) % 26);
  }
  return tag + "+" + names[static_cast<std::size_t>(file)];
}

std::size_t Content::add_font(FontFile file, const UsedGlyphs& used) {
  std::set<std::uint32_t> glyphs;
  std::string widths;
  for (const auto& [glyph, characters] : used) {
    glyphs.insert(glyph);
    widths += fmt::format("{}[{}]", glyph, decimal(glyph_advance(file, glyph)));
  }
  const std::vector<std::uint8_t> bytes = font_of_glyphs(file, glyphs);
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Sha256 digest;
  digest.update(content.data(), content.size());
  const std::string name = font_name(file, digest.bytes());
  const FontMeasures m = font_measures(file);
  const std::size_t stream =
      document_.add_stream(fmt::format("/Length1 {}", content.size()), content);
  const std::size_t descriptor = document_.add(fmt::format(
      "<</Type/FontDescriptor/FontName/{}/Flags 4/FontBBox[{} {} {} {}]/ItalicAngle {}/Ascent {}"
      "/Descent {}/CapHeight {}/StemV {}/FontFile2 {}>>",
      name, decimal(m.left), decimal(m.bottom), decimal(m.right), decimal(m.top),
      file == FontFile::italic ? -12 : 0, decimal(m.ascent), decimal(m.descent),
      decimal(m.cap_height), file == FontFile::bold ? 140 : 80, pdf_reference(stream)));
  const std::size_t descendant = document_.add(fmt::format(
      "<</Type/Font/Subtype/CIDFontType2/BaseFont/{}/CIDSystemInfo<</Registry(Adobe)"
      "/Ordering(Identity)/Supplement 0>>/FontDescriptor {}/CIDToGIDMap/Identity/W[{}]>>",
      name, pdf_reference(descriptor), widths));
  const std::size_t unicode = document_.add_stream("", to_unicode(used));
  return document_.add(fmt::format(
      "<</Type/Font/Subtype/Type0/BaseFont/{}/Encoding/Identity-H/DescendantFonts[{}]/ToUnicode "
      "{}>>",
      name, pdf_reference(descendant), pdf_reference(unicode)));
}

std::string Content::resources() {
  std::string fonts, states, images;
  for (const auto& [file, used] : fonts_) {
    fonts += fmt::format("/F{} {}", static_cast<int>(file), pdf_reference(add_font(file, used)));
  }
  for (const auto& [fill, stroke] : opacities_) {
    states += fmt::format("/G{}_{}<</ca {}/CA {}>>", fill, stroke, decimal(fill / 255.0),
                          decimal(stroke / 255.0));
  }
  for (std::size_t i = 0; i < images_.size(); ++i) {
    images += fmt::format("/I{} {}", i + 1, pdf_reference(images_[i]));
  }
  return fmt::format("<</Font<<{}>>/ExtGState<<{}>>/XObject<<{}>>>>", fonts, states, images);
}

std::string program(const Metadata& m) {
  return clean_text(m.version.empty() ? m.creator : m.creator + " " + m.version);
}

/// Returns an XMP packet (ISO 16684-1) with what the information dictionary cannot hold.
std::string xmp(const Metadata& m) {
  std::string text =
      "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
      "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description rdf:about=\"\" "
      "xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:conelab=\"urn:conelab:figure\">\n";
  for (const auto& [tag, value] :
       {std::pair{"dc:title", &m.title}, {"dc:description", &m.description}}) {
    if (value->empty()) continue;
    text +=
        fmt::format("<{0}><rdf:Alt><rdf:li xml:lang=\"x-default\">{1}</rdf:li></rdf:Alt></{0}>\n",
                    tag, xml_escaped(clean_text(*value)));
  }
  for (const auto& [tag, value] : {std::pair{"version", &m.version},
                                   {"spec", &m.spec},
                                   {"data", &m.data_hash},
                                   {"seed", &m.seed}}) {
    if (!value->empty()) {
      text += fmt::format("<conelab:{0}>{1}</conelab:{0}>\n", tag, xml_escaped(clean_text(*value)));
    }
  }
  return text + "</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end=\"r\"?>\n";
}

}  // namespace

std::string to_pdf(const DisplayList& list) {
  validate(list);
  const double width = std::round(list.width), height = std::round(list.height);
  PdfDocument document;
  const std::size_t catalogue = document.reserve(), pages = document.reserve(),
                    page = document.reserve();
  Content content(document);
  for (const Item& item : list.items) std::visit(content, item);
  // Display lists have y downwards; joins are round.
  const std::size_t stream = document.add_stream(
      "", fmt::format("1 0 0 -1 0 {} cm 1 j\n", decimal(height)) + content.text());
  document.set(page,
               fmt::format("<</Type/Page/Parent {}/MediaBox[0 0 {} {}]/Contents {}/Resources {}>>",
                           pdf_reference(pages), decimal(width), decimal(height),
                           pdf_reference(stream), content.resources()));
  document.set(pages, fmt::format("<</Type/Pages/Kids[{}]/Count 1>>", pdf_reference(page)));
  const std::size_t metadata =
      document.add_stream("/Type/Metadata/Subtype/XML", xmp(list.metadata), false);
  document.set(catalogue, fmt::format("<</Type/Catalog/Pages {}/Metadata {}>>",
                                      pdf_reference(pages), pdf_reference(metadata)));
  const std::size_t information = document.add(
      fmt::format("<</Title {}/Creator {}/Producer {}>>", pdf_text(clean_text(list.metadata.title)),
                  pdf_text(program(list.metadata)), pdf_text("conelab")));
  return document.file(catalogue, information);
}

}  // namespace conelab::figure
