// PDF and PNG bytes, and their files.
#include <QBuffer>
#include <QHash>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <cmath>
#include <mutex>

#include "core/base/error.h"
#include "core/figure/file_format.h"
#include "core/figure/raster.h"
#include "core/figure/svg.h"
#include "core/figure/text.h"
#include "core/files/atomic_file.h"
#include "widgets/painter/painter.h"

namespace conelab::figure {
namespace {

/// Overwrites the text between each `key` and `end` with `fill`. The length does not change, so
/// that offsets in the cross-reference table remain valid.
void blank(QByteArray& bytes, const QByteArray& key, char end, const QByteArray& fill) {
  for (qsizetype i = bytes.indexOf(key); i >= 0; i = bytes.indexOf(key, i + 1)) {
    const qsizetype begin = i + key.size(), stop = bytes.indexOf(end, begin);
    for (qsizetype k = begin; k < stop; ++k)
      bytes[k] = k - begin < fill.size() ? fill[k - begin] : ' ';
  }
}

std::string program(const Metadata& m) {
  return clean_text(m.version.empty() ? m.creator : m.creator + " " + m.version);
}

/// Returns an XMP packet (ISO 16684-1) with what the fields of PDF cannot hold.
QByteArray xmp(const Metadata& m) {
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
  text += "</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end=\"r\"?>\n";
  return QByteArray::fromStdString(text);
}

/// Qt writes the fonts of a PDF in the order of a hash table with a random seed per process. The
/// seed is shared by all threads, so that only one PDF is written at a time.
class FixedHashOrder {
 public:
  FixedHashOrder() : alone_(mutex()) { QHashSeed::setDeterministicGlobalSeed(); }
  ~FixedHashOrder() { QHashSeed::resetRandomGlobalSeed(); }
  FixedHashOrder(const FixedHashOrder&) = delete;
  FixedHashOrder& operator=(const FixedHashOrder&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> alone_;
};

std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

std::vector<std::uint8_t> to_pdf(const DisplayList& list) {
  validate(list);
  ensure_application();
  const FixedHashOrder order;
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setResolution(1200);
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setPageSize(QPageSize(QSizeF(std::round(list.width), std::round(list.height)),
                                 QPageSize::Point, QString(), QPageSize::ExactMatch));
    writer.setTitle(QString::fromStdString(clean_text(list.metadata.title)));
    writer.setDocumentXmpMetadata(xmp(list.metadata));
    writer.setCreator(QString::fromStdString(program(list.metadata)));
    QPainter painter(&writer);
    painter.scale(1200.0 / 72, 1200.0 / 72);
    paint(list, painter);
  }
  blank(bytes, "/CreationDate (", ')', "D:20000101000000Z");
  blank(bytes, "/ModDate (", ')', "D:20000101000000Z");
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> to_png(const DisplayList& list, double dots_per_inch) {
  validate(list);
  if (!(dots_per_inch >= 10 && dots_per_inch <= 2400)) {
    misuse("png: {} dots per inch (expected 10 to 2400)", dots_per_inch);
  }
  ensure_application();
  const double scale = dots_per_inch / 72;
  QImage image(static_cast<int>(std::lround(list.width * scale)),
               static_cast<int>(std::lround(list.height * scale)), QImage::Format_RGBX8888);
  if (image.isNull()) fail("png: an image of this size does not fit into memory");
  image.fill(Qt::white);
  {
    QPainter painter(&image);
    painter.scale(scale, scale);
    paint(list, painter);
  }
  const Metadata& m = list.metadata;
  const PngText text = {{"Title", clean_text(m.title)}, {"Description", clean_text(m.description)},
                        {"Software", program(m)},       {"Source", clean_text(m.spec)},
                        {"Data", m.data_hash},          {"Seed", m.seed}};
  const auto width = static_cast<std::size_t>(image.width());
  const auto height = static_cast<std::size_t>(image.height());
  return encode_png(width, height, {image.constBits(), 4 * width * height}, dots_per_inch, text);
}

void write_figure(const DisplayList& list, const std::string& path, double dots_per_inch) {
  const std::string format = file_format(path);
  write_text_atomically(path, format == "pdf"   ? text_of(to_pdf(list))
                              : format == "png" ? text_of(to_png(list, dots_per_inch))
                                                : to_svg(list));
}

}  // namespace conelab::figure
