#include "widgets/painter/painter.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainterPath>
#include <QRawFont>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <thread>

#include "core/base/error.h"
#include "core/figure/cones.h"
#include "core/figure/fonts.h"
#include "core/figure/heatmap.h"
#include "core/figure/text.h"

namespace conelab::figure {
namespace {

DisplayList sample() {
  DisplayList list;
  list.width = 243, list.height = 100;
  list.metadata.title = "Sample";
  list.metadata.version = "0.1.0";
  list.text({10, 20}, "Hamburg ℵ 中", {});
  list.text({10, 40}, rich("<i>n</i><sup>2</sup> <b>bold</b>"), {.size = 12});
  list.path(Path().arc({150, 50}, 40, 0, 5), Paint::stroked(black, 1, {3, 2, 1}));
  list.clip_begin(Box{200, 0, 20, 100});
  list.rectangle({190, 10, 40, 40}, Paint::filled(Colour{0, 114, 178}.opacity(0.5)));
  list.clip_end();
  list.image({10, 50, 60, 40}, 3, 2, {255, 0, 0, 255, 0,   255, 0, 255, 0, 0,   255, 255,
                                      0,   0, 0, 255, 255, 255, 0, 255, 0, 255, 255, 255});
  return list;
}

/// Output of a program fed with a file; empty when the program is not installed.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  pclose(pipe);
  return text;
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string file(const std::string& name) const { return (folder / name).string(); }
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      ("conelab-figures-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
};

TEST(Painter, SameBytesEveryTime) {
  EXPECT_EQ(to_pdf(sample()), to_pdf(sample()));
  EXPECT_EQ(to_png(sample(), 150), to_png(sample(), 150));
}

TEST(Painter, PdfHasTheExactPageAndNoClock) {
  const auto bytes = to_pdf(sample());
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_NE(text.find("/MediaBox [0 0 243"), std::string::npos);
  EXPECT_NE(text.find("/CreationDate (D:20000101000000Z"), std::string::npos);
  EXPECT_EQ(text.find("/DCTDecode"), std::string::npos);  // No lossy image.
}

TEST(Painter, PdfEmbedsItsFonts) {
  const auto bytes = to_pdf(sample());
  const std::string text(bytes.begin(), bytes.end());
  for (const char* name :
       {"+ConelabSans\n", "+ConelabSansBold", "+ConelabSansItalic", "+ConelabFallback"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
  EXPECT_NE(text.find("/FontFile2"), std::string::npos);
}

TEST(Painter, PdfSaysWhatItWasMadeFrom) {
  DisplayList list = sample();
  list.metadata.spec = "conelab figure cones -p \"u=1,<2\"";
  list.metadata.data_hash = "9f86d081";
  const auto bytes = to_pdf(list);
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_NE(text.find("<conelab:data>9f86d081<"), std::string::npos);
  EXPECT_NE(text.find("u=1,&lt;2"), std::string::npos);
}

TEST_F(Files, PopplerAgreesOnFontsPageAndText) {
  write_figure(sample(), file("f.pdf"));
  const std::string fonts = output_of("pdffonts " + file("f.pdf"));
  if (fonts.empty()) GTEST_SKIP() << "poppler-utils is not installed";
  EXPECT_NE(fonts.find("yes"), std::string::npos);
  EXPECT_EQ(fonts.find("Type 3"), std::string::npos);
  EXPECT_NE(output_of("pdfinfo " + file("f.pdf")).find("243 x 100 pts"), std::string::npos);
  EXPECT_NE(output_of("pdftotext " + file("f.pdf") + " -").find("Hamburg ℵ"), std::string::npos);
}

TEST(Painter, PngShowsCrispCellsAtTheirPlace) {
  const auto png = to_png(sample(), 144);
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
       {std::pair{"f.svg", "<?xml"}, {"f.pdf", "%PDF-1.4"}, {"F.PNG", "\x89PNG"}}) {
    write_figure(draw_cones({}), file(name));
    std::ifstream in(file(name), std::ios::binary);
    std::string head(std::string(start).size(), ' ');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    EXPECT_EQ(head, start) << name;
  }
  EXPECT_THROW(write_figure(sample(), file("f.jpg")), Error);
}

TEST_F(Files, NothingIsLeftWhereWritingFails) {
  EXPECT_THROW(write_figure(sample(), file("no/such/folder/f.png")), Error);
  EXPECT_THROW(write_figure(sample(), file("f.png"), 1), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(Files, LinksPermissionsAndNeighboursSurvive) {
  namespace fs = std::filesystem;
  for (const char* ending : {".pdf", ".png", ".svg"}) {
    const std::string target = file(std::string("target") + ending);
    const std::string link = file(std::string("link") + ending);
    std::ofstream(target) << "old";
    std::ofstream(link + ".part") << "mine";
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink(target, link);
    write_figure(sample(), link);
    EXPECT_TRUE(fs::is_symlink(link)) << ending;
    EXPECT_GT(fs::file_size(target), 100U) << ending;
    EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    ASSERT_TRUE(fs::exists(link + ".part")) << ending;
    EXPECT_EQ(fs::file_size(link + ".part"), 4U) << ending;
  }
}

TEST(Painter, SameBytesWhileOtherThreadsWriteToo) {
  const auto expected = to_pdf(sample());
  DisplayList small;
  small.width = small.height = 10;
  std::atomic<bool> done{false};
  std::vector<std::thread> others(2);
  for (std::thread& other : others) {
    other = std::thread([&] {
      while (!done) static_cast<void>(to_pdf(small));
    });
  }
  int different = 0;
  for (int i = 0; i < 50; ++i) different += to_pdf(sample()) != expected ? 1 : 0;
  done = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(different, 0);
}

TEST(Painter, AnyScriptIsDrawn) {
  HeatmapFigure f;
  HeatmapPanel p;
  p.title = "any script", p.rows = p.cols = 4;
  p.values.assign(16, 0.5);
  p.row_tokens = p.column_tokens = {"שלום", "سلام", "中文", "😀नमस्ते"};
  f.panels = {p};
  f.width = single_column;
  EXPECT_FALSE(to_pdf(draw_heatmap(f)).empty());
  EXPECT_EQ(to_png(draw_heatmap(f)), to_png(draw_heatmap(f)));
}

}  // namespace
}  // namespace conelab::figure
