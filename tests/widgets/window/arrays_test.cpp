// Arrays of other names open as q, k and v.
#include <gtest/gtest.h>

#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <QTreeWidget>
#include <algorithm>

#include "core/call/call.h"
#include "core/files/hdf5.h"
#include "tests/widgets/window/result_window.h"
#include "tests/widgets/window/trace_window.h"
#include "tests/widgets/window/written_files.h"

namespace conelab::desktop {
namespace {

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
  EXPECT_TRUE(command.contains(" --q query --k key --v value")) << command.toStdString();
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

// A file that is compared may have arrays of other names, too.
TEST(ArraysDialog, OfAComparedFileItsChoiceIsCompared) {
  REQUIRE_DISPLAY();
  ResultWindow opened;
  const QString named = opened.state.filePath("model.safetensors");
  write_arrays(named, {{"0.query", {3, 5, 4}},
                       {"0.key", {3, 5, 4}},
                       {"0.value", {3, 5, 4}},
                       {"1.query", {3, 5, 4}},
                       {"1.key", {3, 5, 4}},
                       {"1.value", {3, 5, 4}}});
  opened.window.open({QString::fromStdString(shipped_trace()) + ":/german/layer3"});
  ASSERT_TRUE(wait_for([&] { return opened.window.workspace().head() != nullptr; }));
  MapsModel& model = opened.model();
  model.second().choose_file(named);
  QDialog* dialog = arrays_dialog(opened);
  ASSERT_NE(dialog, nullptr);
  QPushButton* open = open_button(*dialog);
  ASSERT_NE(open, nullptr);
  click(*open, QRectF(open->rect()).center());
  ASSERT_TRUE(wait_for([&] { return model.second().trace() != nullptr; }));
  EXPECT_EQ(model.second().trace()->query.shape, (Shape4{1, 3, 5, 4}));
  EXPECT_EQ(model.second().groups(), (std::vector<std::string>{"/0", "/1"}));
  // The other layers open with the same names, also from a session.
  opened.choose("maps-beside", "with model.safetensors: 1");
  ASSERT_TRUE(wait_for([&] {
    const auto& trace = model.second().trace();
    return trace && trace->group == "/1";
  }));
  const QByteArray json = session_to_json({opened.window.document().session(), {}});
  EXPECT_EQ(session_from_json(json, "again").session, opened.window.document().session());
  EXPECT_EQ(opened.window.error_shown(), "");
  // The command of the figure names them.
  const std::optional<FigureChoice> figure = opened.window.view<MapsView>().figure();
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure->parameters.at("beside_arrays"), "query,key,value");
  QProcess program;
  program.start(CONELAB_BINARY_DIR "/bin/conelab",
                {"figure", "heatmap", "--input", QString::fromStdString(figure->inputs[0]), "-p",
                 "beside=" + QString::fromStdString(figure->parameters.at("beside")), "-p",
                 "beside_arrays=query,key,value", "-o", opened.state.filePath("beside.svg")});
  ASSERT_TRUE(program.waitForFinished(60000));
  EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
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
  const auto figure = opened.window.view<MapsView>().figure();
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
  const auto& rows = opened.window.view<MapsView>().heads().rows();
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
  const auto& second = opened.model().second();
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
    EXPECT_TRUE(wait_for([&] { return opened.model().panels().size() == 1; }));
    return opened.model().panels().front()->title;
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
    const auto& panels = opened.window.view<MapsView>().model().panels();
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
