#include "core/trace/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <cmath>

#include "core/base/error.h"
#include "widgets/session/session.h"

namespace conelab::desktop {
namespace {

/// A .safetensors file of three tokens of two features, and one array of rows of two numbers more.
std::string tokens_and(const QTemporaryDir& folder, const char* name,
                       const std::vector<double>& numbers) {
  const std::string path = folder.filePath("trace.safetensors").toStdString();
  const std::string header =
      fmt::format(R"({{"q":{{"dtype":"F64","shape":[3,2],"data_offsets":[0,48]}},)"
                  R"("{}":{{"dtype":"F64","shape":[{},2],"data_offsets":[48,{}]}}}})",
                  name, numbers.size() / 2, 48 + 8 * numbers.size());
  const auto length = static_cast<std::uint64_t>(header.size());
  std::vector<double> all = {1, 2, 3, 4, 5, 6};
  all.insert(all.end(), numbers.begin(), numbers.end());
  QFile file(QString::fromStdString(path));
  EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file.write(header.data(), static_cast<qint64>(header.size()));
  file.write(reinterpret_cast<const char*>(all.data()), static_cast<qint64>(8 * all.size()));
  return path;
}

TEST(Trace, OfAGraphHasItsEdgesAsWholeNumbers) {
  const QTemporaryDir folder;
  const auto trace = load_trace(tokens_and(folder, "edge", {0, 1, 2, 0}), "");
  const auto head = head_input(*trace, 0, 0);
  EXPECT_EQ(head->exact.indices.at("edge").data, (std::vector<std::int64_t>{0, 1, 2, 0}));
  EXPECT_EQ(head->exact.query.at(0, 0, 2, 1), 6);
  const Call call = call_from_text("penumbral:masks=graph");
  EXPECT_EQ(drawn_tensors(call, *trace), "");
  EXPECT_EQ(call_on_head(call, *trace, 0).masks, call.masks);
  for (const double wrong : {0.5, std::nan("")}) {
    EXPECT_THROW((void)load_trace(tokens_and(folder, "edge", {0, wrong}), ""), Error) << wrong;
  }
}

TEST(Trace, OfAHierarchyHasItsEdges) {
  const auto trained = load_trace(CONELAB_SOURCE_DIR "/datasets/mammals_trace.h5", "/umbral/seed1");
  const std::int64_t n = trained->extents().key;
  EXPECT_GE(trained->edges.size(), static_cast<std::size_t>(n - 1));
  for (const auto& [child, parent] : trained->edges) {
    EXPECT_TRUE(child >= 0 && child < n && parent >= 0 && parent < n && child != parent);
  }
  EXPECT_TRUE(
      load_trace(CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5", "/german/layer3")->edges.empty());
}

TEST(Trace, LacksTheTensorsThatCommandsDraw) {
  const QTemporaryDir folder;
  const Call call = plain_call("multiplicative");
  const auto with_w = load_trace(tokens_and(folder, "W", {1, 0, 0, 1}), "");
  EXPECT_EQ(with_drawn_tensors(call, *with_w), call);
  const auto without = load_trace(tokens_and(folder, "other", {1, 0, 0, 1}), "");
  EXPECT_EQ(with_drawn_tensors(call, *without).parameters.at("W"), "random");
  EXPECT_EQ(drawn_tensors(call, *without), ", random W");
  Call shaw = plain_call("dot");
  shaw.bias = "shaw";
  const auto with_values = load_trace(tokens_and(folder, "shaw_v", {1, 0, 0, 1, 1, 0}), "");
  EXPECT_EQ(with_drawn_tensors(shaw, *with_values), shaw);
  EXPECT_EQ(drawn_tensors(shaw, *without), ", random shaw_k");
  const Call wrong = plain_call("no such operator");
  EXPECT_EQ(with_drawn_tensors(wrong, *without), wrong);
}

}  // namespace
}  // namespace conelab::desktop
