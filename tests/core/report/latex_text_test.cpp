#include <gtest/gtest.h>

#include "core/report/report.h"

namespace conelab {
namespace {

TEST(LatexText, EscapesWhatIsSpecialToLatex) {
  EXPECT_EQ(latex_text("50 % of a_b & {c} #1 $x"), "50 \\% of a\\_b \\& \\{c\\} \\#1 \\$x");
  EXPECT_EQ(latex_text("~\\^"), "\\textasciitilde{}\\textbackslash{}\\textasciicircum{}");
}

TEST(LatexText, KeepsAccentsAndNamesWhatItsFontsLack) {
  EXPECT_EQ(latex_text("Größe γ ≤ 1"), "Größe $\\gamma$ $\\leq$ 1");
  EXPECT_EQ(latex_text("中 ð"), "U+4E2D U+00F0");
}

TEST(LatexText, OfCodeCanBeBrokenAnywhere) {
  EXPECT_EQ(latex_code("a/b"), "a/\\allowbreak{}b");
  EXPECT_EQ(latex_code("--x"), "-{}\\allowbreak{}-{}\\allowbreak{}x");
  EXPECT_EQ(latex_code("0123456789abcdef0"), "0123456789abcdef\\allowbreak{}0");
}

}  // namespace
}  // namespace conelab
