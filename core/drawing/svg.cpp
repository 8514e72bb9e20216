#include "core/drawing/svg.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <map>
#include <set>

#include "core/drawing/font_metrics.h"
#include "core/drawing/fonts.h"
#include "core/drawing/raster.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

std::string colour(const char* property, Colour c) {
  if (c.a == 0) return fmt::format(" {}=\"none\"", property);
  std::string text = fmt::format(" {}=\"#{:02x}{:02x}{:02x}\"", property, c.r, c.g, c.b);
  if (c.a != 255) text += fmt::format(" {}-opacity=\"{}\"", property, decimal(c.a / 255.0));
  return text;
}

/// Writes an arc in endpoint form. Each command covers at most half a turn, for which this form is
/// well conditioned.
std::string arc_command(const ArcTo& arc) {
  const int pieces =
      std::max(1, static_cast<int>(std::ceil(std::abs(arc.sweep) / std::numbers::pi - 1e-9)));
  std::string text;
  for (int i = 1; i <= pieces; ++i) {
    text += fmt::format("A{} {} {} 0 {} {}", decimal(arc.rx), decimal(arc.ry),
                        decimal(arc.rotation * 180 / std::numbers::pi), arc.sweep > 0 ? 1 : 0,
                        point_text(arc.at(arc.from + arc.sweep * i / pieces)));
  }
  return text;
}

struct SvgSegment {
  std::string operator()(const MoveTo& s) const { return "M" + point_text(s.to); }
  std::string operator()(const LineTo& s) const { return "L" + point_text(s.to); }
  std::string operator()(const ArcTo& s) const { return arc_command(s); }
  std::string operator()(const CubicTo& s) const {
    return "C" + point_text(s.control1) + " " + point_text(s.control2) + " " + point_text(s.to);
  }
  std::string operator()(const Close&) const { return "Z"; }
};

std::string stroke_attributes(const Stroke& stroke) {
  if (stroke.width <= 0 || stroke.colour.a == 0) return {};
  std::string text = colour("stroke", stroke.colour);
  text += fmt::format(" stroke-width=\"{}\"", decimal(stroke.width));
  for (std::size_t i = 0; i < stroke.dash.size(); ++i) {
    text += (i ? " " : " stroke-dasharray=\"") + decimal(stroke.dash[i]);
  }
  if (!stroke.dash.empty()) text += "\"";
  if (stroke.cap == Cap::round) text += " stroke-linecap=\"round\"";
  if (stroke.cap == Cap::square) text += " stroke-linecap=\"square\"";
  return text;
}

std::string face_attributes(Face face) {
  if (face == Face::bold) return " font-weight=\"bold\"";
  return face == Face::italic ? " font-style=\"italic\"" : "";
}

std::string anchor_attribute(Anchor anchor) {
  if (anchor == Anchor::middle) return " text-anchor=\"middle\"";
  return anchor == Anchor::end ? " text-anchor=\"end\"" : "";
}

/// Writes the runs inside a text element. A single plain run needs no tspan. `dy` is relative, so
/// each run first undoes the shift of the previous one.
std::string runs_content(const TextItem& item) {
  std::string text;
  double risen = 0;
  for (const TextRun& run : item.runs) {
    const double rise = run_rise(run, item.size), dy = risen - rise;
    std::string attributes = face_attributes(run.face);
    if (run.script != Script::normal) {
      attributes += fmt::format(" font-size=\"{}\"", decimal(run_size(run, item.size)));
    }
    if (std::abs(dy) > 1e-9) attributes += fmt::format(" dy=\"{}\"", decimal(dy));
    const std::string drawn = xml_escaped(encode_utf8(drawn_text(run.face, decode_utf8(run.text))));
    text += attributes.empty() ? drawn : "<tspan" + attributes + ">" + drawn + "</tspan>";
    risen = rise;
  }
  return text;
}

using UsedCharacters = std::map<FontFile, std::set<char32_t>>;

UsedCharacters characters(const DisplayList& list) {
  UsedCharacters used;
  for (const Item& item : list.items) {
    const auto* text = std::get_if<TextItem>(&item);
    if (text == nullptr) continue;
    for (const TextRun& run : text->runs) {
      for (const char32_t c : drawn_text(run.face, decode_utf8(run.text))) {
        used[font_for(run.face, c)].insert(c);
      }
    }
  }
  return used;
}

std::string font_face(FontFile file, const std::set<char32_t>& characters,
                      const std::string& suffix) {
  static constexpr const char* styles[] = {
      "font-weight:400;font-style:normal", "font-weight:700;font-style:normal",
      "font-weight:400;font-style:italic", "font-weight:1 1000;font-style:normal",
      "font-weight:1 1000;font-style:normal;unicode-range:U+2400"};
  const bool fallback = file == FontFile::fallback || file == FontFile::signs;
  const std::string family = (fallback ? "Conelab Fallback " : "Conelab Sans ") + suffix;
  return fmt::format(
      "@font-face{{font-family:'{}';{};src:url(data:font/ttf;base64,{}) format('truetype')}}\n",
      family, styles[static_cast<int>(file)], base64(subset_font(file, characters, family)));
}

/// Writes an image with enlarged cells, because not every viewer supports `image-rendering`.
std::string png_of(const ImageItem& item) {
  const ImageItem image = enlarged(item);
  return base64(encode_png(image.columns, image.rows, image.rgba));
}

/// Ids begin with this character until the figure's hash is known. No text contains it, because
/// clean_text removes it.
constexpr char id_mark = '\x01';

class Writer {
 public:
  void operator()(const PathItem& i) {
    out_ += "<path" + colour("fill", i.paint.fill) + stroke_attributes(i.paint.stroke) + " d=\"" +
            path_text<SvgSegment>(i.path) + "\"/>\n";
  }
  void operator()(const TextItem& i) {
    out_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"", decimal(i.at.x),
                        decimal(i.at.y), decimal(i.size));
    out_ += anchor_attribute(i.anchor);
    if (i.rotation != 0) {
      out_ += fmt::format(" transform=\"rotate({} {})\"", decimal(i.rotation), point_text(i.at));
    }
    if (i.halo > 0) {
      out_ += fmt::format(" stroke=\"#ffffff\" stroke-width=\"{}\" paint-order=\"stroke\"",
                          decimal(2 * i.halo));
    }
    if (i.colour != black) out_ += colour("fill", i.colour);
    out_ += ">" + runs_content(i) + "</text>\n";
  }
  void operator()(const ImageItem& i) {
    out_ += fmt::format(
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\" "
        "xlink:href=\"data:image/png;base64,{}\"/>\n",
        decimal(i.box.x), decimal(i.box.y), decimal(i.box.width), decimal(i.box.height), png_of(i));
  }
  void operator()(const ClipBegin& i) {
    const std::string id = fmt::format("{}-clip{}", id_mark, ++clips_);
    out_ += fmt::format(
        "<clipPath id=\"{0}\"><path d=\"{1}\"/></clipPath>\n<g clip-path=\"url(#{0})\">\n", id,
        path_text<SvgSegment>(i.path));
  }
  void operator()(const ClipEnd&) { out_ += "</g>\n"; }
  void operator()(const GroupBegin& i) {
    out_ += fmt::format("<g id=\"{}-{}\">\n", id_mark, xml_escaped(i.id));
    if (!i.title.empty()) out_ += "<title>" + xml_escaped(i.title) + "</title>\n";
  }
  void operator()(const GroupEnd&) { out_ += "</g>\n"; }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string out_;
  int clips_ = 0;
};

std::string head(const DisplayList& list, const std::string& hash) {
  const std::string width = decimal(list.width), height = decimal(list.height);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
      "version=\"1.1\" xml:space=\"preserve\" width=\"{0}pt\" height=\"{1}pt\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\" "
      "font-family=\"'Conelab Sans {2}','Conelab Fallback {2}','Liberation Sans',Arial,Helvetica,"
      "'DejaVu Sans',sans-serif\" stroke-linejoin=\"round\" style=\"font-kerning:none;"
      "font-variant-ligatures:none;font-synthesis:none\">\n",
      width, height, hash);
}

std::string metadata(const Metadata& m) {
  std::string text;
  if (!m.title.empty()) text += "<title>" + xml_escaped(clean_text(m.title)) + "</title>\n";
  if (!m.description.empty())
    text += "<desc>" + xml_escaped(clean_text(m.description)) + "</desc>\n";
  text += "<metadata><figure xmlns=\"urn:conelab:figure\"";
  for (const auto& [key, value] : {std::pair{"creator", &m.creator},
                                   {"version", &m.version},
                                   {"spec", &m.spec},
                                   {"data", &m.data_hash},
                                   {"seed", &m.seed}}) {
    if (!value->empty()) text += fmt::format(" {}=\"{}\"", key, xml_escaped(clean_text(*value)));
  }
  return text + "/></metadata>\n";
}

}  // namespace

std::string to_svg(const DisplayList& list) {
  validate(list);
  Writer writer;
  for (const Item& item : list.items) std::visit(writer, item);
  const std::string& items = writer.text();
  const std::string hash = fmt::format(
      "{:08x}",
      crc32(0, reinterpret_cast<const Bytef*>(items.data()), static_cast<uInt>(items.size())));
  std::string fonts;
  for (const auto& [file, used] : characters(list)) fonts += font_face(file, used, hash);
  std::string named;
  for (const char c : items) c == id_mark ? named += "c" + hash : named += c;
  return head(list, hash) + metadata(list.metadata) + "<style>\n" + fonts + "</style>\n" +
         "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" + named + "</svg>\n";
}

}  // namespace conelab::figure
