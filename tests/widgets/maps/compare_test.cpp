// Maps of two layers, heads or files side by side, joined heads, and rollout.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QMenu>
#include <algorithm>
#include <cmath>

#include "tests/widgets/maps/whole_maps.h"
#include "tests/widgets/model_file.h"
#include "tests/widgets/texts_painted.h"
#include "tests/widgets/work.h"
#include "widgets/maps/maps_view.h"

namespace conelab::desktop {
namespace {

struct Compared : Work {
  MapsView view{workspace};

  explicit Compared(const std::string& file = shipped_trace(),
                    const char* group = "/german/layer3") {
    open(file, group);
    document.edit("one operator", [](Session& s) { s.maps.calls = {plain_call("dot")}; });
    view.resize(1200, 700);
    show_active(view);
  }
  [[nodiscard]] QComboBox& box(const char* name) const {
    auto* found = view.findChild<QComboBox*>(QString::fromUtf8(name));
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }
  /// Chooses an entry as a person does.
  void choose(const char* name, const QString& text) const {
    QComboBox& found = box(name);
    const int entry = found.findText(text);
    ASSERT_GE(entry, 0) << text.toStdString();
    found.setCurrentIndex(entry);
    emit found.activated(entry);
  }
  [[nodiscard]] const std::vector<std::shared_ptr<MapPanel>>& panels() {
    return view.model().panels();
  }
  /// Waits until there are so many panels and all are complete.
  [[nodiscard]] bool complete(std::size_t count) {
    return wait_for([&] { return are_whole(view.model(), count); });
  }
  [[nodiscard]] float cell(std::size_t panel, const Focus& at) {
    float value = 0;
    panels()[panel]->pyramid->read_row(0, at.query, at.key, 1, &value);
    return value;
  }
};

/// The weights of a head in double precision, in the plainest way.
std::vector<double> plain_weights(const Trace& trace, std::int64_t head) {
  const Tensor4<double>&q = trace.query, &k = trace.key;
  const std::int64_t n = q.shape.token, d = q.shape.feature;
  std::vector<double> weights;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> row;
    double largest = -1e300, sum = 0;
    for (std::int64_t j = 0; j < k.shape.token; ++j) {
      double product = 0;
      for (std::int64_t c = 0; c < d; ++c) product += q.row(0, head, i)[c] * k.row(0, head, j)[c];
      row.push_back(product / std::sqrt(static_cast<double>(d)));
      largest = std::max(largest, row.back());
    }
    for (double& each : row) sum += each = std::exp(each - largest);
    for (const double each : row) weights.push_back(each / sum);
  }
  return weights;
}

/// The mean or the maximum of the weights of all heads.
std::vector<double> plain_join(const Trace& trace, bool mean) {
  std::vector<double> joined(
      static_cast<std::size_t>(trace.query.shape.token * trace.key.shape.token));
  const std::int64_t heads = trace.query.shape.head;
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::vector<double> one = plain_weights(trace, h);
    for (std::size_t i = 0; i < joined.size(); ++i) {
      joined[i] =
          mean ? joined[i] + one[i] / static_cast<double>(heads) : std::max(joined[i], one[i]);
    }
  }
  return joined;
}

/// Every cell of a panel, in the picture and exactly.
void expect_cells(Compared& compared, std::size_t panel, const std::vector<double>& expected) {
  const MapPyramid& pyramid = *compared.panels()[panel]->pyramid;
  for (std::int64_t i = 0; i < pyramid.rows(); ++i) {
    for (std::int64_t j = 0; j < pyramid.columns(); ++j) {
      const double value = expected[static_cast<std::size_t>(i * pyramid.columns() + j)];
      EXPECT_NEAR(compared.cell(panel, {i, j}), value, 1e-5) << i << " " << j;
      EXPECT_NEAR(pyramid.source().exact(i, j), value, 1e-12) << i << " " << j;
    }
  }
}

TEST(Compare, NarrowTitlesKeepTheLayerAndTheHead) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.document.edit("compare", [](Session& s) {
    Call call = plain_call("penumbral");
    call.parameters["gamma"] = "16";
    s.maps.calls = {call};
    s.maps.beside = BesideChoice{s.trace.file, "/german/layer2", 4, head_joins[0]};
  });
  ASSERT_TRUE(compared.complete(3));
  compared.view.resize(620, 520);
  pump(100);
  QStringList painted;
  for (const PaintedText& text : texts_painted(compared.view.canvas())) painted << text.text;
  // The titles have no room in one line, and take two.
  EXPECT_EQ(painted.count("penumbral, gamma = 16,"), 3) << painted.join('\n').toStdString();
  for (const char* last : {"layer3 · 0", "layer2 · 4", "difference"}) {
    EXPECT_EQ(painted.count(last), 1) << last << " in " << painted.join('\n').toStdString();
  }
}

TEST(Compare, AReferenceThatIsNoOperatorIsShownAsNone) {
  REQUIRE_DISPLAY();
  Compared compared;
  const auto* box = compared.view.findChild<QComboBox*>("maps-reference");
  for (const int reference : {1, 0, 2}) {
    compared.document.edit("reference", [&](Session& s) {
      s.maps.calls = {plain_call("dot"), plain_call("umbral")};
      s.maps.reference = reference;
    });
    EXPECT_EQ(box->currentIndex(), reference == 2 ? 0 : reference + 1);
  }
}

// Nothing moves when R shows the reference, whose title is short.
TEST(Compare, TheReferenceKeepsThePlacesOfTheMaps) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.document.edit("reference", [](Session& s) {
    Call call = plain_call("penumbral");
    call.parameters["gamma"] = "16", call.parameters["height"] = "2";
    s.maps.calls = {plain_call("dot"), call};
    s.maps.reference = 0;
  });
  ASSERT_TRUE(compared.complete(2));
  compared.view.resize(640, 700);
  pump(100);
  MapsCanvas& canvas = compared.view.canvas();
  const auto cells = [&] {
    canvas.grab();
    const Box& box = canvas.places().panels[1].cells;
    return std::array{box.x, box.y, box.width, box.height};
  };
  const auto before = cells();
  EXPECT_GT(canvas.places().panels[1].title.height, title_height);
  compared.view.model().flip(true);
  EXPECT_EQ(cells(), before);
  compared.view.model().flip(false);
}

// Maps that are scrolled are as large with titles of two lines.
TEST(Compare, MapsBesideAFileHave200Pixels) {
  REQUIRE_DISPLAY();
  const QTemporaryDir folder;
  const std::string other = write_model(folder, {3, 2, 20, 8}, "afterwards.h5", 2);
  Compared compared(write_model(folder, {3, 2, 20, 8}, "before.h5", 1), "/layer2");
  compared.document.edit("operators", [](Session& s) {
    s.maps.calls = {plain_call("dot"), plain_call("penumbral"), plain_call("umbral")};
  });
  compared.view.model().second().choose_file(QString::fromStdString(other));
  ASSERT_TRUE(compared.complete(9));
  compared.view.resize(760, 700);
  pump(150);
  for (const PanelPlace& place : compared.view.canvas().places().panels) {
    EXPECT_GE(std::round(place.cells.height), 200);
  }
}

TEST(JoinedHeads, MeanAndMaximumAreThoseOfPlainWeights) {
  REQUIRE_DISPLAY();
  Compared compared;
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  compared.box("maps-head").setCurrentText("mean");
  ASSERT_TRUE(compared.complete(1));
  EXPECT_EQ(compared.panels()[0]->title, "dot, layer3 · mean");
  expect_cells(compared, 0, plain_join(*trace, true));
  EXPECT_FALSE(compared.panels()[0]->summary.row_entropy.empty());
  compared.box("maps-head").setCurrentText("maximum");
  ASSERT_TRUE(compared.complete(1));
  expect_cells(compared, 0, plain_join(*trace, false));
  EXPECT_TRUE(compared.panels()[0]->summary.row_entropy.empty());  // Rows do not sum to one.
  compared.document.undo();
  EXPECT_EQ(compared.box("maps-head").currentText(), "mean");
  compared.document.edit("arcs", [](Session& s) { s.maps.layout = "arcs"; });
  EXPECT_EQ(compared.box("maps-head").currentText(), "head 0");  // Of which these arcs are.
  compared.box("maps-head").setCurrentText("maximum");
  EXPECT_EQ(compared.document.session().maps.layout, "maps");
  compared.box("maps-head").setCurrentText("head 7");
  EXPECT_EQ(compared.document.session().trace.head, 7);
  ASSERT_TRUE(compared.complete(1));
  expect_cells(compared, 0, plain_weights(*trace, 7));
}

TEST(JoinedHeads, RolloutIsTheProductOfTheLayers) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.box("maps-head").setCurrentText("rollout");
  ASSERT_TRUE(compared.complete(1));
  EXPECT_EQ(compared.panels()[0]->title, "dot, rollout to layer3");
  const std::size_t n = 30;
  std::vector<double> rollout(n * n);
  for (std::size_t i = 0; i < n; ++i) rollout[i * n + i] = 1;
  for (int layer = 0; layer <= 3; ++layer) {
    const auto trace = load_trace(shipped_trace(), fmt::format("/german/layer{}", layer));
    std::vector<double> mean = plain_join(*trace, true), next(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += mean[i * n + j] = (mean[i * n + j] + (i == j)) / 2;
      for (std::size_t j = 0; j < n; ++j) mean[i * n + j] /= sum;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < n; ++c) next[i * n + c] += mean[i * n + j] * rollout[j * n + c];
      }
    }
    rollout = next;
  }
  expect_cells(compared, 0, rollout);
  compared.document.edit("logits", [](Session& s) { s.maps.quantity = "logits"; });
  EXPECT_NE(compared.panels()[0]->error.find("defined for weights"), std::string::npos);
}

TEST(JoinedHeads, RolloutOfTooManyTokensSaysSo) {
  Trace trace;
  trace.query = trace.key = trace.value = Tensor4<double>({1, 1, 2049, 1});
  MapSubject subject;
  subject.trace = std::make_shared<const Trace>(trace);
  subject.join = "rollout";
  EXPECT_THROW((void)subject_source(subject, plain_call("dot"), Map2d::weights), Error);
}

TEST(Compare, TwoLayersWithTheirDifference) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.choose("maps-beside", "with german/layer5");
  ASSERT_TRUE(compared.complete(3));
  compared.choose("maps-beside-head", "head 9");
  ASSERT_TRUE(compared.complete(3));
  EXPECT_EQ(compared.panels()[0]->title, "dot, layer3 · 0");
  EXPECT_EQ(compared.panels()[1]->title, "dot, layer5 · 9");
  const auto a = load_trace(shipped_trace(), "/german/layer3");
  const auto b = load_trace(shipped_trace(), "/german/layer5");
  const std::vector<double> first = plain_weights(*a, 0), second = plain_weights(*b, 9);
  std::vector<double> difference = first;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= second[i];
  expect_cells(compared, 0, first);
  expect_cells(compared, 1, second);
  expect_cells(compared, 2, difference);
  EXPECT_TRUE(compared.panels()[2]->difference);
  // The readout under the pointer has all three.
  const Focus at{4, 9};
  move_to(compared.view.canvas(), compared.view.canvas().cell_centre(1, at));
  const QString readout = compared.view.readout();
  for (const double value : {first[4 * 30 + 9], second[4 * 30 + 9], difference[4 * 30 + 9]}) {
    EXPECT_TRUE(readout.contains(QString::number(value, 'g', 6).left(6))) << readout.toStdString();
  }
  // The key R lets the two change places.
  compared.view.model().flip(true);
  EXPECT_EQ(&compared.view.model().shown(0), compared.panels()[1].get());
  EXPECT_EQ(&compared.view.model().shown(2), compared.panels()[2].get());
  compared.view.model().flip(false);
  EXPECT_EQ(&compared.view.model().shown(0), compared.panels()[0].get());
  compared.document.undo();
  compared.document.undo();
  ASSERT_TRUE(compared.complete(1));
}

TEST(Compare, TheFigureHasBothSides) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.choose("maps-beside", "with german/layer5");
  ASSERT_TRUE(compared.complete(3));
  compared.document.edit("mean", [](Session& s) { s.maps.join = "mean"; });
  std::vector<FigureChoice> figures;
  QObject::connect(&compared.view, &MapsView::figure_wanted,
                   [&](const FigureChoice& figure) { figures.push_back(figure); });
  auto* menu = compared.view.findChild<QMenu*>("maps-figure-menu");
  emit menu->aboutToShow();
  ASSERT_EQ(menu->actions().size(), 2);
  menu->actions()[0]->trigger();
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_TRUE(figures[0].inputs[0].ends_with(":/german/layer3"));
  EXPECT_TRUE(figures[0].parameters["beside"].ends_with(":/german/layer5"));
  EXPECT_EQ(figures[0].parameters["join"], "mean");
}

TEST(Compare, TheFigureMenuSaysWhatAFigureLeavesOut) {
  REQUIRE_DISPLAY();
  Compared shown;
  auto* menu = shown.view.findChild<QMenu*>("maps-figure-menu");
  emit menu->aboutToShow();
  EXPECT_TRUE(menu->actions().back()->isEnabled());
  shown.document.edit("words", [](Session& s) {
    s.maps.merge_words = s.maps.profiles = true;
    s.maps.range_begin = 2;  // Of arcs only.
  });
  emit menu->aboutToShow();
  EXPECT_EQ(menu->actions().back()->text(), "The figure leaves out merged words, profiles");
  EXPECT_FALSE(menu->actions().back()->isEnabled());
}

TEST(Compare, TwoHeadsOfOneLayer) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.choose("maps-beside", "with german/layer3");
  ASSERT_TRUE(compared.complete(3));
  EXPECT_EQ(compared.panels()[1]->title, "dot, layer3 · 1");  // Not the same head again.
  compared.choose("maps-beside-head", "mean");
  ASSERT_TRUE(compared.complete(3));
  expect_cells(compared, 1, plain_join(*load_trace(shipped_trace(), "/german/layer3"), true));
}

TEST(Compare, OtherSizesHaveOwnLabelsAndNoDifference) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.choose("maps-beside", "with english/layer3");
  ASSERT_TRUE(compared.complete(2));
  EXPECT_EQ(compared.panels()[1]->pyramid->rows(), 23);
  EXPECT_EQ(compared.panels()[0]->title, "dot, german/layer3 · 0");
  EXPECT_EQ(compared.panels()[1]->title, "dot, english/layer3 · 0");
  pump(60);
  const auto texts = texts_painted(compared.view.canvas());
  expect_texts_apart(texts, "two texts");
  const auto written = [&](const QString& text) {
    return std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return t.text == text; });
  };
  const auto trace = load_trace(shipped_trace(), "/english/layer3");
  EXPECT_TRUE(written(QString::fromStdString(trace->key_token[1])));
  // Cells that only one of the maps has are no pairs.
  EXPECT_TRUE(compared.view.canvas().cell_at(compared.view.canvas().cell_centre(0, {25, 25})));
  EXPECT_FALSE(compared.view.canvas().cell_at(compared.view.canvas().cell_centre(1, {25, 25})));
}

TEST(Compare, TwoFiles) {
  REQUIRE_DISPLAY();
  const QTemporaryDir folder;
  const std::string one = write_model(folder, {3, 2, 20, 8}, "before.h5", 1);
  const std::string two = write_model(folder, {3, 2, 20, 8}, "after.h5", 2);
  Compared compared(one, "/layer2");
  compared.view.model().second().choose_file(QString::fromStdString(two));
  ASSERT_TRUE(compared.complete(3));
  EXPECT_EQ(compared.document.session().maps.beside->group, "/layer2");
  EXPECT_EQ(compared.panels()[1]->title, "dot, after.h5: layer2 · 0");
  expect_cells(compared, 1, plain_weights(*load_trace(two, "/layer2"), 0));
  EXPECT_EQ(compared.box("maps-beside").currentText(), "with after.h5: layer2");
  compared.choose("maps-beside", "with after.h5: layer0");
  ASSERT_TRUE(compared.complete(3));
  expect_cells(compared, 1, plain_weights(*load_trace(two, "/layer0"), 0));
}

TEST(Compare, AFileThatIsGoneSaysSo) {
  REQUIRE_DISPLAY();
  Compared compared;
  compared.document.edit("beside", [](Session& s) {
    s.maps.beside = BesideChoice{"/nowhere/model.h5", "/layer0", 0, "one"};
  });
  ASSERT_TRUE(wait_for([&] { return compared.panels().size() == 2; }));
  EXPECT_NE(compared.panels()[1]->error, "");
  EXPECT_EQ(compared.panels()[1]->pyramid, nullptr);
}

}  // namespace
}  // namespace conelab::desktop
