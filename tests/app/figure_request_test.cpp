#include "app/figure_request.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace conelab {
namespace {

TEST(FigureRequest, OfAFigureWithoutInputTakesNone) {
  for (const figure::FigureInfo& info : figure::figure_table()) {
    if (info.source != figure::FigureSource::none) continue;
    FigureRequest request;
    request.name = info.name;
    EXPECT_FALSE(draw_figure(request).items.empty()) << info.name;
    request.inputs = {"x.h5"};
    EXPECT_THROW(static_cast<void>(draw_figure(request)), Error) << info.name;
  }
}

TEST(FigureRequest, OfAFigureWithAnInputNeedsIt) {
  for (const figure::FigureInfo& info : figure::figure_table()) {
    if (info.source == figure::FigureSource::none) continue;
    FigureRequest request;
    request.name = info.name;
    EXPECT_THROW(static_cast<void>(draw_figure(request)), Error) << info.name;
    request.inputs = {"there is no such file.h5"};
    EXPECT_THROW(static_cast<void>(draw_figure(request)), Error) << info.name;
  }
}

TEST(FigureRequest, OfNoFigureIsMisuse) {
  FigureRequest request;
  request.name = "no such figure";
  EXPECT_THROW(static_cast<void>(draw_figure(request)), Error);
}

}  // namespace
}  // namespace conelab
