#include "app/figure_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace conelab {
namespace {

TEST(FigureRequest, DrawsTheFiguresOfTheTableAndNoOthers) {
  std::vector<std::string> names;
  for (const figure::TemplateInfo& info : figure::figure_templates()) names.emplace_back(info.name);
  EXPECT_THAT(drawn_figures(), testing::UnorderedElementsAreArray(names));
}

TEST(FigureRequest, OfAFigureWithoutInputTakesNone) {
  FigureRequest request;
  request.name = "lub";
  EXPECT_FALSE(draw_figure(request).items.empty());
  request.inputs = {"x.h5"};
  EXPECT_THROW(static_cast<void>(draw_figure(request)), Error);
  request.name = "no such figure";
  EXPECT_THROW(static_cast<void>(draw_figure(request)), Error);
}

}  // namespace
}  // namespace conelab
