#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/jobs/figure_job.h"
#include "core/source/figure_subject.h"
#include "core/trace/trace.h"

namespace conelab {
namespace {

TEST(FigureRequest, OfAFigureWithoutInputTakesNone) {
  for (const figure::FigureInfo& info : figure::figure_table()) {
    if (info.source.read != nullptr) continue;
    FigureRequest request;
    request.name = info.name;
    EXPECT_FALSE(draw_figure(request).items.empty()) << info.name;
    request.inputs = {"x.h5"};
    EXPECT_THROW(static_cast<void>(draw_figure(request)), Error) << info.name;
  }
}

TEST(FigureRequest, OfAFigureWithAnInputNeedsIt) {
  for (const figure::FigureInfo& info : figure::figure_table()) {
    if (info.source.read == nullptr) continue;
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

/// The bytes that this process, and those that it has waited for, have read.
std::uint64_t bytes_read() {
  std::ifstream counters("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  counters >> name >> bytes;
  return bytes;
}

TEST(FigureRequest, CaptionsNameFilesButNoDigests) {
  EXPECT_EQ(file_title("folder/trees.h5"), "trees");
  const std::string digest(64, 'b');
  EXPECT_EQ(file_title("study/jobs/" + digest + ".h5"), "");
  EXPECT_EQ(file_title("study/jobs/" + digest + "0.h5"), digest + "0");
}

TEST(FigureRequest, ReadsAndStatesTheLayerThatItDraws) {
  const std::string trace = CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5";
  const auto digest = [&](const std::string& layer) { return load_trace(trace, layer)->sha256; };
  FigureRequest request;
  request.name = "heatmap";
  request.inputs = {trace + ":/german/layer0"};
  const std::uint64_t size = std::filesystem::file_size(trace), before = bytes_read();
  EXPECT_EQ(draw_figure(request).metadata.data_hash, digest("/german/layer0"));
  const std::uint64_t read = bytes_read() - before;
  EXPECT_LT(read, size / 2) << "children are not counted";
  request.inputs = {trace + ":/german/layer1"};
  request.parameters = {{"join", "rollout"}};
  const std::string both = digest("/german/layer1") + "\n" + digest("/german/layer0") + "\n";
  EXPECT_EQ(draw_figure(request).metadata.data_hash, sha256(both));
  EXPECT_NE(digest("/german/layer0"), digest("/german/layer1"));
}

}  // namespace
}  // namespace conelab
