// PNG bytes, and the files of figures.
#include <QImage>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/file_format.h"
#include "core/figure/pdf.h"
#include "core/figure/raster.h"
#include "core/figure/svg.h"
#include "core/figure/text.h"
#include "core/files/atomic_file.h"
#include "widgets/painter/painter.h"

namespace conelab::figure {
namespace {

std::string program(const Metadata& m) {
  return clean_text(m.version.empty() ? m.creator : m.creator + " " + m.version);
}

std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

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
  write_text_atomically(path, format == "pdf"   ? to_pdf(list)
                              : format == "png" ? text_of(to_png(list, dots_per_inch))
                                                : to_svg(list));
}

}  // namespace conelab::figure
