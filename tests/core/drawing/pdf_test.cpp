#include "core/drawing/pdf.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "core/base/error.h"
#include "core/drawing/fonts.h"
#include "core/drawing/text.h"
#include "core/source/figure_table.h"
#include "tests/core/drawing/sample_page.h"
#include "tests/core/files/fixture.h"

namespace conelab::figure {
namespace {

/// Output of a program; empty when it is not installed.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  pclose(pipe);
  return text;
}

class PdfFiles : public fixtures::FilesTest {
 protected:
  std::string written(const DisplayList& list) const {
    fixtures::spill(path("f.pdf"), to_pdf(list));
    return path("f.pdf");
  }
};

TEST(Pdf, HasTheSameBytesEveryTimeAndInEveryThread) {
  const std::string expected = to_pdf(sample_page());
  EXPECT_EQ(to_pdf(sample_page()), expected);
  std::atomic<int> different{0};
  std::vector<std::thread> threads(3);
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (int i = 0; i < 20; ++i) different += to_pdf(sample_page()) != expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

TEST(Pdf, TableOfObjectsPointsAtThem) {
  const std::string text = to_pdf(sample_page());
  ASSERT_TRUE(text.ends_with("%%EOF\n"));
  const std::size_t start = std::stoul(text.substr(text.rfind("startxref\n") + 10));
  ASSERT_EQ(text.substr(start, 7), "xref\n0 ");
  const std::size_t count = std::stoul(text.substr(start + 7));
  const std::size_t rows = text.find('\n', start + 5) + 1;
  ASSERT_GT(count, 15u);
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t at = std::stoul(text.substr(rows + 20 * i, 10));
    const std::string head = std::to_string(i) + " 0 obj\n";
    EXPECT_EQ(text.substr(at, head.size()), head);
  }
}

TEST(Pdf, SaysWhatItWasMadeFromAndNotWhen) {
  DisplayList list = sample_page();
  list.metadata.spec = "conelab figure cones -p \"u=1,<2\"";
  list.metadata.data_hash = "9f86d081";
  const std::string text = to_pdf(list);
  EXPECT_NE(text.find("/MediaBox[0 0 243 100]"), std::string::npos);
  EXPECT_NE(text.find("<conelab:data>9f86d081<"), std::string::npos);
  EXPECT_NE(text.find("u=1,&lt;2"), std::string::npos);
  EXPECT_EQ(text.find("Date"), std::string::npos);
  EXPECT_EQ(text.find("/DCTDecode"), std::string::npos);  // No lossy image.
}

TEST(Pdf, RefusesAnInvalidList) {
  DisplayList list = sample_page();
  list.clip_begin(Box{0, 0, 1, 1});
  EXPECT_THROW(static_cast<void>(to_pdf(list)), Error);
}

TEST_F(PdfFiles, PopplerAgreesOnFontsPageAndText) {
  const std::string path = written(sample_page());
  const std::string fonts = output_of("pdffonts " + path);
  if (fonts.empty()) GTEST_SKIP() << "poppler-utils is not installed";
  for (const char* name :
       {"+ConelabSans ", "+ConelabSansBold", "+ConelabSansItalic", "+ConelabFallback"}) {
    EXPECT_NE(fonts.find(name), std::string::npos) << fonts;
  }
  // Embedded, a subset, with characters for its glyphs.
  const std::regex row("CID TrueType +Identity-H +yes yes yes");
  EXPECT_EQ(std::distance(std::sregex_iterator(fonts.begin(), fonts.end(), row), {}), 4) << fonts;
  const std::string info = output_of("pdfinfo " + path);
  EXPECT_NE(info.find("243 x 100 pts"), std::string::npos);
  EXPECT_NE(info.find("Sample é 😀"), std::string::npos) << info;
  const std::string text = output_of("pdftotext " + path + " -");
  EXPECT_NE(text.find("Hamburg ℵ"), std::string::npos) << text;
  EXPECT_NE(text.find("turned"), std::string::npos) << text;
  EXPECT_NE(text.find("bold"), std::string::npos) << text;
  EXPECT_EQ(text.find("bold"), text.rfind("bold")) << text;  // The halo is no second text.
}

TEST_F(PdfFiles, PopplerReadsEveryFigureWithoutInputWithoutAComplaint) {
  if (output_of("(pdfinfo -v 2>&1)").empty()) GTEST_SKIP() << "poppler-utils is not installed";
  for (const FigureInfo& info : figure_table()) {
    if (info.source.read != nullptr) continue;
    FigureInput input;
    input.info = &info;
    const std::string complaints =
        output_of("(pdftoppm -r 30 " + written(info.make(input)) + " " + path("page") + " 2>&1)");
    EXPECT_EQ(complaints, "") << info.name;
    EXPECT_TRUE(std::filesystem::exists(path("page-1.ppm"))) << info.name;
    std::filesystem::remove(path("page-1.ppm"));
  }
}

TEST(Glyphs, OfLettersStandAtTheirAdvances) {
  DisplayList list;
  list.width = list.height = 100;
  list.text({0, 0}, "HH", {.size = 20, .anchor = Anchor::middle});
  const auto runs = glyph_runs(std::get<TextItem>(list.items.front()));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_TRUE(runs[0].is_plain);
  const double width = 20 * advance(FontFile::regular, U'H');
  ASSERT_EQ(runs[0].glyphs.size(), 2u);
  EXPECT_DOUBLE_EQ(runs[0].glyphs[0].x, -width);
  EXPECT_DOUBLE_EQ(runs[0].glyphs[1].x, 0);
}

std::vector<PlacedGlyph> glyphs_from_the_left(const std::string& text) {
  DisplayList list;
  list.width = list.height = 100;
  list.text({0, 0}, text, {});
  std::vector<PlacedGlyph> all;
  for (const GlyphRun& run : glyph_runs(std::get<TextItem>(list.items.front()))) {
    all.insert(all.end(), run.glyphs.begin(), run.glyphs.end());
  }
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i].x, all[i - 1].x) << text;
  return all;
}

TEST(Glyphs, OfScriptsFromTheRightRunBackwardsAndKeepTheirCharacters) {
  std::u32string drawn;
  for (const PlacedGlyph& glyph : glyphs_from_the_left("שלום ab")) drawn += glyph.text;
  EXPECT_EQ(drawn, U"ab םולש");
  drawn.clear();
  for (const PlacedGlyph& glyph : glyphs_from_the_left("ab שלום!")) drawn += glyph.text;
  EXPECT_EQ(drawn, U"ab !םולש");
}

TEST(Glyphs, OfJoinedLettersAreNotThoseOfSingleOnes) {
  const std::vector<PlacedGlyph> glyphs = glyphs_from_the_left("سلام");
  ASSERT_FALSE(glyphs.empty());
  EXPECT_EQ(glyphs.back().text, U"س");
  EXPECT_NE(glyphs.back().glyph, glyph_of(FontFile::fallback, U'س'));
}

}  // namespace
}  // namespace conelab::figure
