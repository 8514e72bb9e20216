#include "widgets/painter/painter.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainterPath>
#include <QRawFont>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "core/base/error.h"
#include "core/drawing/fonts.h"
#include "core/drawing/text.h"
#include "core/figure/cones.h"
#include "core/figure/heatmap.h"
#include "tests/core/drawing/sample_page.h"
#include "tests/core/files/fixture.h"

namespace conelab::figure {
namespace {

using Files = fixtures::FilesTest;

TEST(Painter, SameBytesEveryTime) {
  EXPECT_EQ(to_png(sample_page(), 150), to_png(sample_page(), 150));
}

TEST(Painter, PngShowsCrispCellsAtTheirPlace) {
  const auto png = to_png(sample_page(255), 144);
  const QImage image = QImage::fromData(png.data(), static_cast<int>(png.size()), "PNG");
  ASSERT_EQ(image.size(), QSize(486, 200));
  EXPECT_EQ(image.pixelColor(2 * 20, 2 * 60), QColor(255, 0, 0));
  EXPECT_EQ(image.pixelColor(2 * 30 - 2, 2 * 69), QColor(255, 0, 0));
  EXPECT_EQ(image.pixelColor(2 * 30 + 1, 2 * 69), QColor(0, 255, 0));
  EXPECT_EQ(image.pixelColor(2 * 60, 2 * 80), QColor(0, 255, 255));
  EXPECT_EQ(image.pixelColor(2 * 195, 2 * 30), QColor(255, 255, 255));  // Clipped away.
  EXPECT_NEAR(image.pixelColor(2 * 210, 2 * 30).red(), 127, 1);
  EXPECT_NEAR(image.dotsPerMeterX() * 0.0254, 144, 0.1);
}

TEST(Painter, TextStandsWhereTheMetricsSay) {
  DisplayList list;
  list.width = 200, list.height = 40;
  list.text({100, 30}, "HH", {.size = 20, .anchor = Anchor::middle});
  const auto png = to_png(list, 72 * 8);
  const QImage image = QImage::fromData(png.data(), static_cast<int>(png.size()), "PNG");
  int left = image.width(), right = 0, top = image.height(), bottom = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if (qGray(image.pixel(x, y)) > 128) continue;
      left = std::min(left, x), right = std::max(right, x);
      top = std::min(top, y), bottom = std::max(bottom, y);
    }
  }
  EXPECT_NEAR((left + right) / 16.0, 100, 0.5);
  EXPECT_NEAR(bottom / 8.0, 30, 0.3);
  EXPECT_NEAR((right - left) / 8.0, 2 * 0.722 * 20 - 0.16 * 20, 0.8);
}

TEST(Painter, SubsetFontsDrawTheSameGlyphs) {
  ensure_application();
  const auto part = subset_font(FontFile::regular, {U'a', U'é', U'g'}, "Subset");
  const auto raw = [](Bytes bytes) {
    return QRawFont(QByteArray(reinterpret_cast<const char*>(bytes.data()),
                               static_cast<qsizetype>(bytes.size())),
                    1000, QFont::PreferNoHinting);
  };
  const QRawFont all = raw(font_bytes(FontFile::regular)), few = raw(part);
  ASSERT_TRUE(few.isValid());
  for (const char32_t c : {U'a', U'é', U'g'}) {
    const auto outline = [text = QString::fromUcs4(&c, 1)](const QRawFont& font) {
      return font.pathForGlyph(font.glyphIndexesForString(text).front());
    };
    EXPECT_FALSE(outline(all).isEmpty());
    EXPECT_EQ(outline(few), outline(all)) << static_cast<unsigned>(c);
  }
}

TEST_F(Files, EndingDecidesTheFormat) {
  for (const auto& [name, start] :
       {std::pair{"f.svg", "<?xml"}, {"f.pdf", "%PDF-1.5"}, {"F.PNG", "\x89PNG"}}) {
    write_figure(draw_cones({}), path(name));
    std::ifstream in(path(name), std::ios::binary);
    std::string head(std::string(start).size(), ' ');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    EXPECT_EQ(head, start) << name;
  }
  EXPECT_THROW(write_figure(sample_page(), path("f.jpg")), Error);
}

TEST_F(Files, NothingIsLeftWhereWritingFails) {
  EXPECT_THROW(write_figure(sample_page(), path("no/such/folder/f.png")), Error);
  EXPECT_THROW(write_figure(sample_page(), path("f.png"), 1), Error);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(Files, LinksPermissionsAndNeighboursSurvive) {
  namespace fs = std::filesystem;
  for (const char* ending : {".pdf", ".png", ".svg"}) {
    const std::string target = path(std::string("target") + ending);
    const std::string link = path(std::string("link") + ending);
    std::ofstream(target) << "old";
    std::ofstream(link + ".part") << "mine";
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink(target, link);
    write_figure(sample_page(), link);
    EXPECT_TRUE(fs::is_symlink(link)) << ending;
    EXPECT_GT(fs::file_size(target), 100U) << ending;
    EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_TRUE(fs::exists(link + ".part")) << ending;
    EXPECT_EQ(fs::file_size(link + ".part"), 4U) << ending;
  }
}

TEST(Painter, AnyScriptIsDrawn) {
  HeatmapFigure f;
  HeatmapPanel p;
  p.title = "any script", p.rows = p.cols = 4;
  p.values.assign(16, 0.5);
  p.row_tokens = p.column_tokens = {"שלום", "سلام", "中文", "😀नमस्ते"};
  f.panels = {p};
  f.width = single_column;
  EXPECT_EQ(to_png(draw_heatmap(f)), to_png(draw_heatmap(f)));
}

}  // namespace
}  // namespace conelab::figure
