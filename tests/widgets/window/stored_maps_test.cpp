// Results of attend open as maps of what they store.
#include <gtest/gtest.h>

#include <QClipboard>
#include <QComboBox>
#include <QToolButton>
#include <algorithm>

#include "core/files/hdf5.h"
#include "core/files/sandbox.h"
#include "tests/widgets/maps/whole_maps.h"
#include "tests/widgets/window/result_window.h"
#include "tests/widgets/window/written_files.h"

namespace conelab::desktop {
namespace {

/// What the file itself holds at [0, head, row, column].
double stored_number(const QString& file, const std::string& group, const std::string& name,
                     std::size_t head, std::size_t row, std::size_t column) {
  const auto array = read_labelled_sandboxed(file.toStdString(), group);
  const LabelledVariable& variable = *array.variable(name);
  const auto size = [&](std::size_t axis) { return array.axis(variable.axes[axis])->size(); };
  const std::size_t at = (head * size(2) + row) * size(3) + column;
  return std::get<std::vector<float>>(variable.data).at(at);
}

void overwrite_weight(const QString& file, hsize_t head, hsize_t row, hsize_t column, float by) {
  const hdf5::Lock lock;
  const hdf5::File opened(H5Fopen(file.toUtf8().constData(), H5F_ACC_RDWR, H5P_DEFAULT));
  const hdf5::Dataset weights(H5Dopen2(opened.id(), "/attention/weights/weight", H5P_DEFAULT));
  const hdf5::Space space(H5Dget_space(weights.id()));
  const hsize_t begin[] = {0, head, row, column}, one[] = {1, 1, 1, 1};
  H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin, nullptr, one, nullptr);
  const hdf5::Space single(H5Screate_simple(4, one, nullptr));
  ASSERT_GE(H5Dwrite(weights.id(), H5T_NATIVE_FLOAT, single.id(), space.id(), H5P_DEFAULT, &by), 0);
}

/// The window with a result of `attend` that has every array.
struct StoredWindow : ResultWindow {
  QString file = Written::files()["all.h5"];
  StoredWindow() {
    window.open({file});
    EXPECT_TRUE(shows("/attention/weights"));
  }
};

TEST(StoredMaps, AResultOpensAsItIsStored) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("mine.h5");
  ASSERT_TRUE(QFile::copy(Written::files()["all.h5"], file));
  overwrite_weight(file, 2, 3, 8, 0.875F);  // No operator computes this.
  opened.window.open({file});
  ASSERT_TRUE(opened.shows("/attention/weights"));
  EXPECT_EQ(opened.panel().title, "penumbral, gamma = 4, stored weights");
  opened.choose("maps-head", "head 2");
  ASSERT_TRUE(opened.shows("/attention/weights"));
  const QString told = opened.point_at_cell({3, 8});
  EXPECT_TRUE(told.contains("query 3 “mein”, key 8 “##ie”")) << told.toStdString();
  EXPECT_TRUE(told.contains(": 0.875")) << told.toStdString();
  opened.choose("maps-head", "head 5");
  ASSERT_TRUE(opened.shows("/attention/weights"));
  EXPECT_DOUBLE_EQ(opened.panel().pyramid->source().exact(26, 13),
                   stored_number(file, "attention/weights", "weight", 5, 26, 13));
  EXPECT_TRUE(opened.window.error_shown().contains("not those that were written"));
}

TEST(StoredMaps, AMergedWordIsNamedAsAWhole) {
  REQUIRE_DISPLAY();
  StoredWindow opened;
  opened.window.document().edit("merge", [](Session& s) { s.maps.merge_words = true; });
  ASSERT_TRUE(opened.shows("/attention/weights"));
  const QString told = opened.point_at_cell({2, 3});
  EXPECT_TRUE(told.contains("query 2 “ich”, key 3–4 “meine”")) << told.toStdString();
}

// What is said of a stored result is not said of the trace that undo brings back.
TEST(StoredMaps, TheNoticeGoesWithTheResult) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  opened.window.open({QString::fromStdString(shipped_trace()) + ":/german/layer3"});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().head() != nullptr; }));
  opened.window.open({Written::files()["all.h5"]});
  ASSERT_TRUE(opened.shows("/attention/weights"));
  EXPECT_TRUE(opened.window.notice_shown().contains("as it is stored"));
  while (opened.window.document().session().trace.group != "/german/layer3") {
    ASSERT_TRUE(opened.window.document().history().can_undo());
    opened.window.document().undo();
  }
  EXPECT_TRUE(wait_for([&] {
    const auto& trace = opened.window.workspace().trace();
    return trace && !trace->stored;
  }));
  EXPECT_EQ(opened.window.notice_shown(), "");
}

TEST(StoredMaps, EachArrayIsChosenLikeALayer) {
  REQUIRE_DISPLAY();
  StoredWindow opened;
  EXPECT_TRUE(opened.window.notice_shown().contains("as it is stored"));
  EXPECT_FALSE(opened.named<QWidget>("operator-0-scale")->isEnabled()) << "it would do nothing";
  const auto* arrays = opened.named<QComboBox>("maps-layer");
  QStringList names;
  for (int i = 0; i < arrays->count(); ++i) names << arrays->itemText(i);
  EXPECT_EQ(names, (QStringList{"weights", "logits", "output", "dL/dq", "dL/dk", "dL/dv"}));
  opened.choose("maps-layer", "logits");
  ASSERT_TRUE(opened.shows("/attention/logits"));
  EXPECT_DOUBLE_EQ(opened.panel().pyramid->source().exact(26, 13),
                   stored_number(opened.file, "attention/logits", "logit", 0, 26, 13));
  opened.choose("maps-layer", "dL/dk");
  ASSERT_TRUE(opened.shows("/attention/gradients/k"));
  const MapPanel& panel = opened.panel();
  EXPECT_DOUBLE_EQ(panel.pyramid->source().exact(3, 31),
                   stored_number(opened.file, "attention/gradients", "k", 0, 3, 31));
  const QString told = opened.point_at_cell({3, 31});
  EXPECT_TRUE(told.contains("key 3 “mein”, feature 31")) << told.toStdString();
  const figure::Limits limits = opened.model().limits(panel);
  EXPECT_DOUBLE_EQ(limits.low, -limits.high) << "colours diverge from zero";
  EXPECT_TRUE(opened.model().colour_choice(panel).diverging);
  EXPECT_EQ(opened.window.error_shown(), "");
}

TEST(StoredMaps, AllArraysStandSideBySide) {
  REQUIRE_DISPLAY();
  StoredWindow opened;
  opened.choose("maps-beside", "with all arrays");
  MapsModel& model = opened.model();
  ASSERT_TRUE(wait_for([&] { return are_whole(model, 6); }));
  opened.choose("maps-head", "head 5");
  struct Array {
    const char *group, *variable, *name;
  };
  const Array arrays[] = {
      {"attention/weights", "weight", "weights"}, {"attention/logits", "logit", "logits"},
      {"attention/output", "output", "output"},   {"attention/gradients", "q", "dL/dq"},
      {"attention/gradients", "k", "dL/dk"},      {"attention/gradients", "v", "dL/dv"}};
  ASSERT_TRUE(wait_for([&] { return are_whole(model, 6); }));
  for (std::size_t i = 0; i < 6; ++i) {
    const MapPanel& panel = *model.panels()[i];
    EXPECT_EQ(panel.title, fmt::format("penumbral, gamma = 4, stored {} · 5", arrays[i].name));
    EXPECT_EQ(model.value_name(panel), arrays[i].name);
    EXPECT_DOUBLE_EQ(panel.pyramid->source().exact(3, 8),
                     stored_number(opened.file, arrays[i].group, arrays[i].variable, 5, 3, 8));
    EXPECT_EQ(model.colour_choice(panel).diverging, i > 1) << "outputs and gradients have signs";
  }
  // Each has limits of its own: those of logits would hide the weights.
  EXPECT_LT(model.limits(*model.panels()[0]).high, 1);
  EXPECT_LT(model.limits(*model.panels()[1]).low, -1);
  const QString told = opened.point_at_cell({3, 8});
  for (const Array& array : arrays) EXPECT_TRUE(told.contains(array.name)) << told.toStdString();
}

/// A window with a trace, whose maps under dot are compared with a result.
struct BesideResult : ResultWindow {
  explicit BesideResult(const char* result) {
    window.open({QString::fromStdString(shipped_trace()) + ":/german/layer3"});
    EXPECT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
    window.document().edit("dot", [](Session& s) { s.maps.calls = {plain_call("dot")}; });
    model().second().choose_file(Written::files()[result]);
  }
  [[nodiscard]] bool complete(std::size_t count) {
    const bool all = wait_for([&] {
      const auto& panels = model().panels();
      return are_whole(model(), count) &&
             std::all_of(panels.begin(), panels.end(), [](const auto& p) {
               return p->summary.revision == p->pyramid->revision();
             });
    });
    pump(60);
    return all;
  }
};

// Weights are weights, whether they are computed or stored.
TEST(StoredMaps, BesideATraceTheyShareItsLimits) {
  REQUIRE_DISPLAY();
  BesideResult opened("all.h5");
  ASSERT_TRUE(opened.complete(3));
  const auto& panels = opened.model().panels();
  const auto* shared = opened.named<QToolButton>("maps-shared");
  EXPECT_TRUE(shared->isEnabled());
  EXPECT_TRUE(shared->isChecked());
  EXPECT_EQ(opened.model().limits(*panels[0]), opened.model().limits(*panels[1]));
  opened.window.document().edit("own", [](Session& s) { s.maps.shared_limits = false; });
  EXPECT_FALSE(shared->isChecked());
  EXPECT_NE(opened.model().limits(*panels[0]), opened.model().limits(*panels[1]));
  // The difference is one of two operators, and says so.
  EXPECT_EQ(panels[2]->title, "dot − penumbral, gamma = 4, stored weights");
  EXPECT_DOUBLE_EQ(
      panels[2]->pyramid->source().exact(3, 8),
      panels[0]->pyramid->source().exact(3, 8) - panels[1]->pyramid->source().exact(3, 8));
}

TEST(StoredMaps, LogitsBesideWeightsShareNothing) {
  REQUIRE_DISPLAY();
  BesideResult opened("logits.h5");
  ASSERT_TRUE(opened.complete(2)) << "weights minus logits mean nothing";
  const auto* shared = opened.named<QToolButton>("maps-shared");
  EXPECT_FALSE(shared->isEnabled());
  EXPECT_FALSE(shared->isChecked());
  EXPECT_TRUE(shared->toolTip().startsWith("No two of these maps"))
      << shared->toolTip().toStdString();
  opened.window.document().edit("logits", [](Session& s) { s.maps.quantity = "logits"; });
  ASSERT_TRUE(opened.complete(3));
  EXPECT_TRUE(shared->isEnabled());
  EXPECT_TRUE(shared->isChecked());
}

// Nothing is subtracted from a stored map, which would be zero minus itself.
TEST(StoredMaps, BesideADifferenceTheyStayWhole) {
  REQUIRE_DISPLAY();
  BesideResult opened("all.h5");
  ASSERT_TRUE(opened.complete(3));
  opened.window.document().edit("difference", [](Session& s) {
    s.maps.calls = {plain_call("dot"), plain_call("umbral")};
    s.maps.reference = 0;
  });
  ASSERT_TRUE(opened.complete(6));
  const MapPanel& stored = *opened.model().panels()[4];
  EXPECT_FALSE(stored.difference);
  EXPECT_DOUBLE_EQ(
      stored.pyramid->source().exact(3, 8),
      stored_number(Written::files()["all.h5"], "attention/weights", "weight", 0, 3, 8));
}

TEST(StoredMaps, AllArraysEndWithTheirFile) {
  REQUIRE_DISPLAY();
  StoredWindow opened;
  opened.choose("maps-beside", "with all arrays");
  ASSERT_TRUE(wait_for([&] { return opened.model().panels().size() == 6; }));
  opened.window.open({QString::fromStdString(shipped_trace()) + ":/german/layer3"});
  ASSERT_TRUE(
      wait_for([&] { return opened.window.document().session().trace.group == "/german/layer3"; }));
  EXPECT_EQ(opened.named<QComboBox>("maps-beside")->currentText(), "no comparison");
  EXPECT_EQ(opened.window.error_shown(),
            "All arrays of all.h5 stand side by side only while it is open itself: nothing is "
            "compared now.");
  opened.window.document().undo();
  EXPECT_TRUE(wait_for([&] { return opened.model().panels().size() == 6; }));
}

TEST(StoredMaps, OtherLayoutsShowThemToo) {
  REQUIRE_DISPLAY();
  StoredWindow opened;
  for (const char* layout : {"arcs", "heads", "tree", "hasse", "table", "maps"}) {
    opened.choose("maps-layout", layout);
    EXPECT_TRUE(opened.shows("/attention/weights")) << layout;
    opened.window.grab();
  }
  opened.choose("maps-layout", "arcs");
  ASSERT_TRUE(opened.shows("/attention/weights"));
  const auto& arcs = opened.window.view<MapsView>().relations().panels().front()->arcs;
  ASSERT_FALSE(arcs.empty());
  EXPECT_DOUBLE_EQ(arcs.front().weight, stored_number(opened.file, "attention/weights", "weight", 0,
                                                      arcs.front().query, arcs.front().key));
}

TEST(StoredMaps, TheirCommandDrawsThem) {
  REQUIRE_DISPLAY();
  StoredWindow opened;
  opened.copy_as_command();
  const QString command = QGuiApplication::clipboard()->text();
  EXPECT_TRUE(command.startsWith("conelab figure heatmap -o heatmap.pdf --input"))
      << command.toStdString();
  EXPECT_TRUE(command.contains("all.h5")) << command.toStdString();
  EXPECT_FALSE(command.contains("similarities")) << command.toStdString();
}

TEST(StoredMaps, AreRestoredWithTheSession) {
  REQUIRE_DISPLAY();
  QTemporaryDir state;
  {
    MainWindow window(desktop_backends(), state.path());
    show_active(window);
    window.open({Written::files()["all.h5"]});
    ASSERT_TRUE(wait_for([&] { return window.workspace().trace() != nullptr; }));
    window.workspace().open_group("/attention/gradients/v");
    ASSERT_TRUE(wait_for(
        [&] { return window.document().session().trace.group == "/attention/gradients/v"; }));
    window.close();
  }
  MainWindow again(desktop_backends(), state.path());
  EXPECT_TRUE(again.restore_autosave());
  show_active(again);
  EXPECT_TRUE(wait_for([&] {
    const auto& trace = again.workspace().trace();
    return trace && trace->stored && trace->stored->name == "dL/dv";
  }));
}

}  // namespace
}  // namespace conelab::desktop
