// Results of attend open as maps of what they store; arrays of other names open as q, k and v.
#include <gtest/gtest.h>

#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "app/desktop_backends.h"
#include "core/call/call_text.h"
#include "core/files/hdf5.h"
#include "core/files/sandbox.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/window/trace_window.h"
#include "tests/widgets/window/written_files.h"
#include "widgets/maps/maps_view.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

struct ResultWindow {
  QTemporaryDir state;
  MainWindow window{desktop_backends(), state.path()};

  ResultWindow() {
    window.resize(1300, 850);
    show_active(window);
  }
  [[nodiscard]] bool shows(const std::string& group) {
    return wait_for([&] {
      const auto& trace = window.workspace().trace();
      const auto& panels = window.maps().model().panels();
      return trace && trace->group == group && panels.size() == 1 && panels[0]->pyramid &&
             panels[0]->pyramid->complete() && window.workspace().jobs().running().empty();
    });
  }
  [[nodiscard]] const MapPanel& panel() { return *window.maps().model().panels().front(); }
  template <class Widget>
  [[nodiscard]] Widget* named(const char* name) {
    auto* found = window.findChild<Widget*>(QString::fromUtf8(name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  /// Points at a cell of the only map and returns the readout.
  QString point_at_cell(const Focus& cell) {
    MapsCanvas& canvas = window.maps().canvas();
    canvas.grab();  // It is laid out when it is painted.
    move_to(canvas, canvas.cell_centre(0, cell));
    pump(60);
    return window.maps().readout();
  }
  void choose(const char* box, const QString& text) {
    auto* choice = named<QComboBox>(box);
    choice->setCurrentText(text);
    emit choice->activated(choice->currentIndex());
  }
  void copy_as_command() {
    for (QAction* action : window.actions()) {
      if (action_name(*action) == "Copy as command") action->trigger();
    }
  }
};

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
  ResultWindow opened;
  opened.window.open({Written::files()["all.h5"]});
  ASSERT_TRUE(opened.shows("/attention/weights"));
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
  ResultWindow opened;
  const QString file = Written::files()["all.h5"];
  opened.window.open({file});
  ASSERT_TRUE(opened.shows("/attention/weights"));
  EXPECT_TRUE(opened.window.notice_shown().contains("as it is stored"));
  EXPECT_FALSE(opened.named<QWidget>("operator-0-scale")->isEnabled()) << "it would do nothing";
  const auto* arrays = opened.named<QComboBox>("maps-layer");
  QStringList names;
  for (int i = 0; i < arrays->count(); ++i) names << arrays->itemText(i);
  EXPECT_EQ(names, (QStringList{"weights", "logits", "output", "dL/dq", "dL/dk", "dL/dv"}));
  opened.choose("maps-layer", "logits");
  ASSERT_TRUE(opened.shows("/attention/logits"));
  EXPECT_DOUBLE_EQ(opened.panel().pyramid->source().exact(26, 13),
                   stored_number(file, "attention/logits", "logit", 0, 26, 13));
  opened.choose("maps-layer", "dL/dk");
  ASSERT_TRUE(opened.shows("/attention/gradients/k"));
  const MapPanel& panel = opened.panel();
  EXPECT_DOUBLE_EQ(panel.pyramid->source().exact(3, 31),
                   stored_number(file, "attention/gradients", "k", 0, 3, 31));
  const QString told = opened.point_at_cell({3, 31});
  EXPECT_TRUE(told.contains("key 3 “mein”, feature 31")) << told.toStdString();
  const figure::Limits limits = opened.window.maps().model().limits(panel);
  EXPECT_DOUBLE_EQ(limits.low, -limits.high) << "colours diverge from zero";
  EXPECT_TRUE(opened.window.maps().model().colour_choice(panel).diverging);
  EXPECT_EQ(opened.window.error_shown(), "");
}

TEST(StoredMaps, AllArraysStandSideBySide) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = Written::files()["all.h5"];
  opened.window.open({file});
  ASSERT_TRUE(opened.shows("/attention/weights"));
  opened.choose("maps-beside", "with all arrays");
  MapsModel& model = opened.window.maps().model();
  ASSERT_TRUE(wait_for([&] {
    return model.panels().size() == 6 &&
           std::all_of(model.panels().begin(), model.panels().end(),
                       [](const auto& p) { return p->pyramid && p->pyramid->complete(); });
  }));
  opened.choose("maps-head", "head 5");
  struct Array {
    const char *group, *variable, *name;
  };
  const Array arrays[] = {
      {"attention/weights", "weight", "weights"}, {"attention/logits", "logit", "logits"},
      {"attention/output", "output", "output"},   {"attention/gradients", "q", "dL/dq"},
      {"attention/gradients", "k", "dL/dk"},      {"attention/gradients", "v", "dL/dv"}};
  ASSERT_TRUE(wait_for([&] {
    return std::all_of(model.panels().begin(), model.panels().end(),
                       [](const auto& p) { return p->pyramid && p->pyramid->complete(); });
  }));
  for (std::size_t i = 0; i < 6; ++i) {
    const MapPanel& panel = *model.panels()[i];
    EXPECT_EQ(panel.title, fmt::format("penumbral, gamma = 4, stored {} · 5", arrays[i].name));
    EXPECT_EQ(model.value_name(panel), arrays[i].name);
    EXPECT_DOUBLE_EQ(panel.pyramid->source().exact(3, 8),
                     stored_number(file, arrays[i].group, arrays[i].variable, 5, 3, 8));
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
  [[nodiscard]] MapsModel& model() { return window.maps().model(); }
  [[nodiscard]] bool complete(std::size_t count) {
    const bool all = wait_for([&] {
      const auto& panels = model().panels();
      return panels.size() == count && std::all_of(panels.begin(), panels.end(), [](const auto& p) {
               return p->pyramid && p->pyramid->complete() && p->revision == p->pyramid->revision();
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
  ResultWindow opened;
  opened.window.open({Written::files()["all.h5"]});
  ASSERT_TRUE(opened.shows("/attention/weights"));
  opened.choose("maps-beside", "with all arrays");
  ASSERT_TRUE(wait_for([&] { return opened.window.maps().model().panels().size() == 6; }));
  opened.window.open({QString::fromStdString(shipped_trace()) + ":/german/layer3"});
  ASSERT_TRUE(
      wait_for([&] { return opened.window.document().session().trace.group == "/german/layer3"; }));
  EXPECT_EQ(opened.named<QComboBox>("maps-beside")->currentText(), "no comparison");
  EXPECT_EQ(opened.window.error_shown(),
            "All arrays of all.h5 stand side by side only while it is open itself: nothing is "
            "compared now.");
  opened.window.document().undo();
  EXPECT_TRUE(wait_for([&] { return opened.window.maps().model().panels().size() == 6; }));
}

TEST(StoredMaps, OtherLayoutsShowThemToo) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  opened.window.open({Written::files()["all.h5"]});
  ASSERT_TRUE(opened.shows("/attention/weights"));
  for (const char* layout : {"arcs", "heads", "tree", "hasse", "table", "maps"}) {
    opened.choose("maps-layout", layout);
    EXPECT_TRUE(opened.shows("/attention/weights")) << layout;
    opened.window.grab();
  }
  opened.choose("maps-layout", "arcs");
  ASSERT_TRUE(opened.shows("/attention/weights"));
  const auto& arcs = opened.window.maps().relations().panels().front()->arcs;
  ASSERT_FALSE(arcs.empty());
  const QString file = Written::files()["all.h5"];
  EXPECT_DOUBLE_EQ(arcs.front().weight, stored_number(file, "attention/weights", "weight", 0,
                                                      arcs.front().query, arcs.front().key));
}

TEST(StoredMaps, TheirCommandDrawsThem) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  opened.window.open({Written::files()["all.h5"]});
  ASSERT_TRUE(opened.shows("/attention/weights"));
  opened.copy_as_command();
  const QString command = QGuiApplication::clipboard()->text();
  EXPECT_TRUE(command.startsWith("conelab figure heatmap --input")) << command.toStdString();
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

// ---- arrays of other names ----------------------------------------------------------------------

/// A .safetensors file of ramps; each array is f32.
void write_arrays(const QString& path,
                  const std::vector<std::pair<std::string, std::vector<std::size_t>>>& arrays) {
  std::string header = "{";
  std::size_t at = 0;
  std::vector<float> numbers;
  for (const auto& [name, extents] : arrays) {
    std::size_t count = 1;
    std::string shape;
    for (const std::size_t n : extents) {
      count *= n;
      shape += (shape.empty() ? "" : ",") + std::to_string(n);
    }
    header += (at == 0 ? "\"" : ",\"") + name + "\":{\"dtype\":\"F32\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + 4 * count) +
              "]}";
    at += 4 * count;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.push_back(static_cast<float>((i * 7 + numbers.size()) % 11) / 8);
    }
  }
  header += "}";
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  const auto length = static_cast<std::uint64_t>(header.size());
  file.write(reinterpret_cast<const char*>(&length), 8);
  file.write(header.data(), static_cast<qint64>(header.size()));
  file.write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<qint64>(4 * numbers.size()));
}

QDialog* arrays_dialog(ResultWindow& opened) {
  QDialog* dialog = nullptr;
  EXPECT_TRUE(wait_for([&] {
    dialog = opened.window.findChild<QDialog*>("arrays-dialog");
    return dialog != nullptr && dialog->isVisible();
  }));
  return dialog;
}

QPushButton* open_button(QDialog& dialog) {
  for (auto* button : dialog.findChildren<QPushButton*>()) {
    if (button->isDefault() || button->text().contains("Open")) return button;
  }
  return nullptr;
}

/// Opens a file and presses the button that takes the arrays which the dialog proposes.
void take_proposed_arrays(ResultWindow& opened, const QString& file) {
  opened.window.open({file});
  QDialog* dialog = arrays_dialog(opened);
  ASSERT_NE(dialog, nullptr);
  QPushButton* open = open_button(*dialog);
  ASSERT_NE(open, nullptr);
  click(*open, QRectF(open->rect()).center());
}

void open_with_proposed_arrays(ResultWindow& opened, const QString& file) {
  take_proposed_arrays(opened, file);
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().trace() != nullptr; }));
}

TEST(ArraysDialog, AssignsArraysAndTheCommandNamesThem) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("model.safetensors");
  write_arrays(file, {{"a.query", {2, 3, 5, 4}},
                      {"a.key", {2, 3, 5, 4}},
                      {"a.value", {2, 3, 5, 6}},
                      {"other", {2, 3, 5, 7}}});
  opened.window.open({file});
  QDialog* dialog = arrays_dialog(opened);
  ASSERT_NE(dialog, nullptr);
  auto* key = dialog->findChild<QComboBox*>("arrays-k");
  EXPECT_TRUE(key->currentText().startsWith("a.key")) << key->currentText().toStdString();
  EXPECT_TRUE(key->currentText().contains("2 × 3 × 5 × 4, f32"));
  QPushButton* open = open_button(*dialog);
  ASSERT_NE(open, nullptr);
  key->setCurrentIndex(key->findData("other"));
  EXPECT_FALSE(open->isEnabled());
  EXPECT_EQ(dialog->findChild<QLabel*>("arrays-problem")->text(),
            "The features of q and k differ: 4 against 7.");
  key->setCurrentIndex(key->findData("a.key"));
  ASSERT_TRUE(open->isEnabled());
  click(*open, QRectF(open->rect()).center());
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().trace() != nullptr; }));
  EXPECT_EQ(opened.window.workspace().trace()->value.shape.feature, 6);
  EXPECT_EQ(opened.window.document().session().trace.arrays, (ArrayNames{"query", "key", "value"}));
  auto* batch = opened.named<QComboBox>("maps-batch");
  EXPECT_TRUE(batch->isVisible());
  EXPECT_EQ(batch->count(), 2);
  opened.copy_as_command();
  const QString command = QGuiApplication::clipboard()->text().section('\n', 0, 0);
  EXPECT_TRUE(command.contains(":/a --q query --k key --v value")) << command.toStdString();
  QProcess program;  // What was copied runs.
  program.setWorkingDirectory(opened.state.path());
  QStringList words = QProcess::splitCommand(command);
  words.removeFirst();
  program.start(CONELAB_BINARY_DIR "/bin/conelab", words);
  ASSERT_TRUE(program.waitForFinished(60000));
  EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
}

TEST(ArraysDialog, OfAnHdf5FileTheOtherLayersOpenToo) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("layers.h5");
  {
    const hdf5::Lock lock;
    const hdf5::File made(
        H5Fcreate(file.toUtf8().constData(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    for (const char* layer : {"layer0", "layer1"}) {
      const hdf5::Group group(H5Gcreate2(made.id(), layer, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      for (const char* name : {"query", "key"}) {
        const hsize_t extents[] = {2, 5, 4};
        const std::vector<float> numbers(40, 0.5F);
        const hdf5::Space space(H5Screate_simple(3, extents, nullptr));
        const hdf5::Dataset data(H5Dcreate2(group.id(), name, H5T_IEEE_F32LE, space.id(),
                                            H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        ASSERT_GE(
            H5Dwrite(data.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()),
            0);
      }
    }
  }
  ASSERT_NO_FATAL_FAILURE(open_with_proposed_arrays(opened, file));
  EXPECT_EQ(opened.window.workspace().trace()->group, "/layer0");
  EXPECT_EQ(opened.window.workspace().groups(), (std::vector<std::string>{"/layer0", "/layer1"}));
  opened.choose("maps-layer", "layer1");
  EXPECT_TRUE(wait_for([&] { return opened.window.workspace().trace()->group == "/layer1"; }));
  EXPECT_EQ(opened.window.error_shown(), "");
}

TEST(ArraysDialog, CancelledSaysWhatTheMapsStillShow) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  opened.window.open({QString::fromStdString(shipped_trace())});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().head() != nullptr; }));
  const QString file = opened.state.filePath("model.safetensors");
  write_arrays(file, {{"layer0/query", {5, 4}}, {"layer1/query", {5, 4}}});
  opened.window.open({file});
  QDialog* dialog = arrays_dialog(opened);
  ASSERT_NE(dialog, nullptr);
  press_key(*dialog, Qt::Key_Escape);
  EXPECT_TRUE(wait_for([&] { return !opened.window.notice_shown().isEmpty(); }));
  EXPECT_EQ(opened.window.notice_shown(),
            "model.safetensors is shown in Data only; the maps still show minilm_trace.h5.");
  // In a file without groups an array has its whole name.
  auto* tree = opened.named<QTreeWidget>("data-tree");
  EXPECT_EQ(tree->findItems("layer1/query", Qt::MatchRecursive | Qt::MatchExactly).size(), 1);
}

TEST(ArraysDialog, AFileThatCannotBeOpenedSaysWhatTheMapsStillShow) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  opened.window.open({QString::fromStdString(shipped_trace())});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().head() != nullptr; }));
  const QString file = opened.state.filePath("masked.safetensors");
  write_arrays(file, {{"my query", {5, 4}}, {"mask", {5, 5}}});  // A mask holds whole numbers.
  take_proposed_arrays(opened, file);
  EXPECT_TRUE(wait_for([&] { return opened.window.error_shown().contains("mask"); }));
  EXPECT_TRUE(opened.window.error_shown().endsWith(
      "masked.safetensors is shown in Data only; the maps still show minilm_trace.h5."))
      << opened.window.error_shown().toStdString();
}

TEST(Archives, HaveLayersByTheNamesOfTheirArrays) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("model.safetensors");
  write_arrays(file, {{"layer10/q", {2, 5, 4}},
                      {"layer2/q", {2, 5, 4}},
                      {"layer2/k", {2, 6, 4}},
                      {"layer2/v", {2, 6, 3}}});
  opened.window.open({file});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().trace() != nullptr; }));
  EXPECT_EQ(opened.window.workspace().groups(), (std::vector<std::string>{"/layer2", "/layer10"}));
  EXPECT_EQ(opened.window.workspace().trace()->group, "/layer2");
  EXPECT_EQ(opened.window.workspace().trace()->value.shape.feature, 3);
  opened.choose("maps-layer", "layer10");
  EXPECT_TRUE(wait_for([&] { return opened.window.workspace().trace()->group == "/layer10"; }));
  EXPECT_EQ(opened.window.workspace().trace()->value.shape.feature, 4) << "q takes its place";
  EXPECT_EQ(opened.window.error_shown(), "");
}

TEST(ArraysDialog, OfAnArchiveTheOtherLayersOpenToo) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("model.safetensors");
  write_arrays(file, {{"layer0/query", {2, 5, 4}}, {"layer1/query", {2, 5, 4}}});
  ASSERT_NO_FATAL_FAILURE(open_with_proposed_arrays(opened, file));
  EXPECT_EQ(opened.window.workspace().groups(), (std::vector<std::string>{"/layer0", "/layer1"}));
  EXPECT_EQ(opened.window.document().session().trace.arrays, (ArrayNames{"query", "", ""}));
  const auto figure = opened.window.maps().figure();
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->parameters.at("arrays"), "query,query,query") << "none may be empty";
}

TEST(ArraysDialog, NamesWithDotsOpenTheOtherLayersToo) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("model.safetensors");
  write_arrays(file, {{"model.layers.0.attn.q_proj", {2, 5, 4}},
                      {"model.layers.0.attn.k_proj", {2, 6, 4}},
                      {"model.layers.0.attn.v_proj", {2, 6, 3}},
                      {"model.layers.10.attn.q_proj", {2, 5, 4}},
                      {"model.layers.10.attn.k_proj", {2, 6, 4}},
                      {"model.layers.10.attn.v_proj", {2, 6, 3}},
                      {"model.layers.2.attn.q_proj", {2, 5, 4}},
                      {"model.layers.2.attn.k_proj", {2, 6, 4}},
                      {"model.layers.2.attn.v_proj", {2, 6, 3}}});
  ASSERT_NO_FATAL_FAILURE(open_with_proposed_arrays(opened, file));
  EXPECT_EQ(opened.window.workspace().groups(),
            (std::vector<std::string>{"/model.layers.0.attn", "/model.layers.2.attn",
                                      "/model.layers.10.attn"}));
  opened.choose("maps-layer", "model.layers.10.attn");
  ASSERT_TRUE(wait_for(
      [&] { return opened.window.workspace().trace()->group == "/model.layers.10.attn"; }));
  EXPECT_EQ(opened.window.workspace().trace()->value.shape.feature, 3);
  opened.choose("maps-layout", "heads");
  const auto& rows = opened.window.maps().heads().rows();
  ASSERT_TRUE(wait_for([&] { return rows.size() == 3; }));
  EXPECT_EQ(rows[0]->title, "layers.0");
  EXPECT_EQ(rows[2]->title, "layers.10");
  EXPECT_EQ(opened.window.error_shown(), "");
}

TEST(Archives, HaveLayersByNamesWithDots) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("dots.safetensors");
  write_arrays(file, {{"layer0.q", {2, 5, 4}}, {"layer1.q", {2, 5, 4}}});
  opened.window.open({file, QString::fromStdString(shipped_trace())});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().trace() != nullptr; }));
  EXPECT_EQ(opened.window.workspace().trace()->group, "/layer0");
  EXPECT_EQ(opened.window.workspace().groups(), (std::vector<std::string>{"/layer0", "/layer1"}));
  EXPECT_EQ(opened.window.error_shown(), "");
  // The other file waits in the list of what maps are compared with.
  opened.choose("maps-beside", "with minilm_trace.h5 …");
  const auto& second = opened.window.maps().model().second();
  ASSERT_TRUE(wait_for([&] { return second.trace() != nullptr; }));
  EXPECT_EQ(second.trace()->file, shipped_trace());
  EXPECT_EQ(opened.window.document().session().maps.beside->file, shipped_trace());
}

TEST(MadeHeads, TheTitleSaysWhichOneIsShown) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString file = opened.state.filePath("one.safetensors");
  write_arrays(file, {{"q", {1, 6, 8}}, {"k", {1, 6, 8}}, {"v", {1, 6, 8}}});
  opened.window.open({file});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().head() != nullptr; }));
  const auto title = [&](const char* heads) {
    opened.window.document().edit("operators", [&](Session& s) {
      Call call = call_from_text("multi-head");
      if (heads != nullptr) call.parameters["heads"] = heads;
      s.maps.calls = {call};
    });
    EXPECT_TRUE(wait_for([&] { return opened.window.maps().model().panels().size() == 1; }));
    return opened.window.maps().model().panels().front()->title;
  };
  EXPECT_EQ(title("4"), "multi-head, heads = 4, random P_key, P_query, P_value, head 0 of 4");
  EXPECT_EQ(title(nullptr), "multi-head, random P_key, P_query, P_value");
}

TEST(MadeHeads, AreMadeOfTheOpenHead) {
  REQUIRE_DISPLAY();
  TraceWindow opened({1200, 800});
  Document& document = opened.window.document();
  Call call = call_from_text("multi-head:heads=4:scale=1,2,3,4");
  const auto drawn = [&](std::int64_t head) {
    document.edit("heads", [&](Session& s) {
      s.trace.head = head;
      s.maps.calls = {call};
    });
    const auto& panels = opened.window.maps().model().panels();
    EXPECT_TRUE(wait_for([&] {
      return opened.window.workspace().head()->head_index == head && panels.size() == 1 &&
             panels.front()->pyramid != nullptr;
    }));
    EXPECT_EQ(panels.front()->error, "");
    EXPECT_TRUE(panels.front()->title.ends_with(", head 0 of 4")) << panels.front()->title;
    std::vector<double> row(30);
    for (std::int64_t j = 0; j < 30; ++j) {
      row[static_cast<std::size_t>(j)] = panels.front()->pyramid->source().exact(7, j);
    }
    return row;
  };
  for (const std::int64_t head : {3, 5}) {
    const Trace& trace = *opened.window.workspace().trace();
    AttentionInput<double> one = head_input(trace, 0, head)->exact;
    Call all = with_random_tensors(call);
    draw_tensors(all, one);
    const auto plan = resolve(all, check_extents(one));
    const Tensor4<double> map = attention_map(*plan, one, Map2d::weights);
    const std::vector<double> found = drawn(head);
    for (std::int64_t j = 0; j < 30; ++j) {
      EXPECT_NEAR(found[static_cast<std::size_t>(j)], map.row(0, 0, 7)[j], 1e-12);
    }
  }
  const auto source =
      attention_source(opened.window.workspace().head(),
                       call_on_head(call, *opened.window.workspace().trace(), 5), Map2d::logits);
  const std::vector<float> every_third = source->sample(3);
  ASSERT_EQ(every_third.size(), 100U);
  EXPECT_NEAR(every_third[12], source->exact(3, 6), 1e-4);
  const Call given = call_from_text("random:R=random");
  EXPECT_TRUE(
      attention_source(opened.window.workspace().head(), given, Map2d::logits)->sample(3).empty())
      << "no sample of tokens has these logits";
  const std::string command =
      desktop_backends().attend_command(document.session().trace, with_random_tensors(call));
  EXPECT_NE(command.find("--head 5 "), std::string::npos) << command;
}

}  // namespace
}  // namespace conelab::desktop
