// Figure `roofline` from a result of `bench`.
#include "app/figure_request.h"
#include "core/base/error.h"

namespace conelab {

figure::RooflineFigure read_roofline(const FigureRequest&) { misuse("roofline: later"); }
figure::HeatmapFigure read_heatmap(const FigureRequest&) { misuse("heatmap: later"); }

}  // namespace conelab
