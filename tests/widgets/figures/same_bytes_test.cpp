// For every figure there is: what the view writes is, byte for byte, what the command writes.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QProcess>
#include <QTemporaryDir>

#include "app/desktop.h"
#include "core/call/call.h"
#include "core/drawing/svg.h"
#include "core/jobs/figure_job.h"
#include "core/source/figure_table.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/maps/whole_maps.h"
#include "widgets/explorer/cone_scene.h"
#include "widgets/figures/figures_view.h"
#include "widgets/maps/heads_model.h"
#include "widgets/maps/map_figure.h"
#include "widgets/maps/maps_model.h"
#include "widgets/maps/relations_model.h"
#include "widgets/window/backends.h"

namespace conelab::desktop {
namespace {

bool run_program(const QStringList& arguments) {
  QProcess program;
  program.start(QStringLiteral(CONELAB_BINARY_DIR "/bin/conelab"), arguments);
  if (!program.waitForFinished(120000) || program.exitCode() != 0) {
    ADD_FAILURE() << arguments.join(' ').toStdString() << ": "
                  << program.readAllStandardError().toStdString();
    return false;
  }
  return true;
}

QByteArray bytes_of(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The view over the program's own figures, and inputs for those that read one.
struct ShownTemplates {
  QTemporaryDir folder;
  Document document;
  JobPool jobs{deliver};
  FiguresView view{document, jobs, desktop_backends().draw_figure};

  /// Empty where the figure needs no input.
  QString input_of(const figure::FigureInfo& info) {
    if (info.source.read == nullptr) return "";
    if (info.name == std::string("intervals")) {
      return QStringLiteral(CONELAB_SOURCE_DIR
                            "/datasets/mammals_trace.h5:/umbral/seed1");  // d = 2
    }
    if (info.source.traces) return QString::fromStdString(shipped_trace()) + ":/german/layer3";
    if (info.source.results.front() == "train") return trained();
    EXPECT_EQ(info.source.results.front(), "bench") << info.name << ": make its input here";
    const QString file = folder.filePath("bench.h5");
    if (QFile::exists(file)) return file;
    const bool made = run_program({"bench", "-o", file, "--operators", "dot,penumbral", "--lengths",
                                   "32,64,128", "--dims", "8", "--heads", "1", "--passes",
                                   "forward", "--rounds", "3", "--warm-only"});
    return made ? file : "";
  }

  /// Returns a short search of `train`, with snapshots of its head.
  QString trained() {
    const QString tree = folder.filePath("family.h5"), file = folder.filePath("trained.h5");
    if (QFile::exists(file)) return file;
    const bool made = run_program({"dataset", "tree", "-o", tree, "-p", "depth=3"}) &&
                      run_program({"train", tree, "-o", file, "-s", "dot", "--dim", "2", "-p",
                                   "epochs=5", "-p", "snapshots=2", "--tune", "2"});
    return made ? file : "";
  }

  /// Exports the session's figure by the view and by the command, in each format.
  void expect_same_bytes() {
    ASSERT_TRUE(wait_for([this] { return !view.drawing() && view.preview().list() != nullptr; },
                         60000 * slowness))
        << view.message().toStdString();
    const FigureChoice choice = view.wanted();
    for (const char* ending : {"svg", "pdf", "png"}) {
      const QString seen = folder.filePath(QStringLiteral("view.") + ending);
      const QString typed = folder.filePath(QStringLiteral("command.") + ending);
      view.export_to(seen);
      ASSERT_TRUE(wait_for([this] { return !view.exporting(); }));
      QStringList words = {"figure", QString::fromStdString(choice.name), "-o", typed};
      for (const std::string& input : choice.inputs) {
        words << "--input" << QString::fromStdString(input);
      }
      for (const auto& [key, value] : choice.parameters) {
        words << "-p" << QString::fromStdString(key + "=" + value);
      }
      if (!choice.width.empty()) words << "--width" << QString::fromStdString(choice.width);
      ASSERT_TRUE(run_program(words));
      EXPECT_FALSE(bytes_of(seen).isEmpty());
      EXPECT_EQ(bytes_of(seen), bytes_of(typed)) << choice.name << "." << ending;
    }
  }
};

/// Returns what the figure's reader takes from its inputs.
figure::FigureInput figure_input_of(const FigureChoice& choice) {
  FigureRequest request;
  request.name = choice.name, request.inputs = choice.inputs;
  request.parameters = choice.parameters;
  figure::FigureInput input;
  figure::figure_named(request.name).source.read(request, input);
  return input;
}

TEST(FigureBytes, OfEveryTemplateAreThoseOfTheCommand) {
  ShownTemplates shown;
  for (const figure::FigureInfo& info : figure::figure_table()) {
    SCOPED_TRACE(info.name);
    const QString input = shown.input_of(info);
    shown.document.edit("choose", [&](Session& s) {
      s.figure = {};
      s.figure.name = info.name;
      if (!input.isEmpty()) s.figure.inputs = {input.toStdString()};
      s.figure.width = "120mm";
      s.figure.parameters["caption"] = "A caption, with <b>marks</b> & ünïcode";
    });
    shown.expect_same_bytes();
  }
}

TEST(FigureBytes, OfCellsPooledToDotsAreThoseOfTheCommand) {
  ShownTemplates shown;
  shown.document.edit("choose", [](Session& s) {
    s.figure = {};
    s.figure.name = "heatmap";
    s.figure.inputs = {shipped_trace() + ":/glosses/layer3"};
    s.figure.width = "86mm";
  });
  shown.expect_same_bytes();
  EXPECT_NE(shown.view.preview().list()->metadata.description.find("Each dot is"),
            std::string::npos);
}

TEST(FigureBytes, OfTheExplorersSceneAreThoseOfTheCommand) {
  ShownTemplates shown;
  for (const char* family : {"penumbral", "umbral", "penumbral-finite", "umbral-finite", "ganea"}) {
    SCOPED_TRACE(family);
    ConeChoice cones;
    cones.family = family;
    cones.model = "ball";
    cones.u = {-0.3125, 0.25 + 1e-13};
    const PlanePoint v = into_domain(cones, {0.45, 0.2});
    cones.v = {v.x, v.y};
    shown.document.edit("figure", [&](Session& s) { s.figure = cone_figure(cones); });
    shown.expect_same_bytes();
  }
}

/// Every model and toggle that the explorer has: the figure is drawn, and by the command too.
TEST(FigureBytes, EveryStateOfTheExplorerHasAFigureAndACommand) {
  ShownTemplates shown;
  for (const char* model : {"halfspace", "klein", "band", "hyperboloid", "space"}) {
    SCOPED_TRACE(model);
    ConeChoice cones;
    cones.family = "umbral";
    cones.model = model;
    cones.parameters = {{"radius", 0.3}, {"K", 0.2}};
    cones.beside = {"ganea"};
    cones.depth = "distance";
    cones.similarity = "hyperbolic";
    cones.ancestors = cones.level_lines = false;
    const TokenNames tokens{{{0.1, 0.2}, {0.1, std::nan("")}, {-0.3, 0.4}},
                            {"a;b, c", "nowhere", "Größe = \"x\""}};
    shown.document.edit("figure", [&](Session& s) { s.figure = cone_figure(cones, tokens); });
    shown.expect_same_bytes();
    QStringList words;
    for (const std::string& word : cone_command(cones)) words << QString::fromStdString(word);
    ASSERT_EQ(words.takeFirst(), "conelab");
    EXPECT_TRUE(run_program(words));
  }
}

TEST(FigureBytes, WhatTheFigureOfAnExplorersSceneLacksIsTold) {
  ConeChoice plain;
  plain.heat = false;
  EXPECT_EQ(figure_leaves_out(plain), "");
  EXPECT_EQ(command_leaves_out(plain), "");
  ConeChoice space = plain;
  space.model = "space";
  EXPECT_NE(figure_leaves_out(space).find("slice"), std::string::npos);
  EXPECT_NE(command_leaves_out(space).find("plane"), std::string::npos);
  ConeChoice beside = plain;
  beside.beside = {"ganea"};
  EXPECT_EQ(figure_leaves_out(beside), "");
  EXPECT_NE(command_leaves_out(beside).find("penumbral alone"), std::string::npos);
}

/// The session of the maps view in a layout, over the shipped trace.
Session maps_session(const char* layout) {
  Session session;
  session.trace.file = shipped_trace();
  session.trace.group = "/german/layer3";
  session.trace.head = 5;
  session.maps.layout = layout;
  session.maps.calls = {plain_call("dot"), plain_call("penumbral"), plain_call("umbral")};
  session.maps.calls[1].parameters["gamma"] = "1,2,3,4,5,6,7,8,9,10,11,12";
  session.maps.calls[2].masks = {"causal"};
  session.maps.calls[2].bias = "alibi";
  session.maps.arc_top = 2;
  session.maps.arc_threshold = 0.05;
  session.maps.arc_arrangement = "above";
  return session;
}

TEST(FigureBytes, OfTheMapsLayoutsAreThoseOfTheCommand) {
  ShownTemplates shown;
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  for (const char* layout : {"maps", "arcs", "tree", "hasse", "heads"}) {
    SCOPED_TRACE(layout);
    Session session = maps_session(layout);
    session.maps.heads_rows = "operators";  // Read by "heads" only.
    const auto figure = map_figure(session, *trace, 1);
    ASSERT_TRUE(figure);
    shown.document.edit("figure", [&](Session& s) { s.figure = *figure; });
    shown.expect_same_bytes();
  }
  EXPECT_FALSE(map_figure(maps_session("tree"), *trace, 3));
}

/// What is drawn, without what is said of it.
std::string drawn_items(figure::DisplayList list) {
  list.metadata = {};
  return figure::to_svg(list);
}

TEST(FigureBytes, OfTheMapsLayoutsAreWhatTheViewShows) {
  ShownTemplates shown;
  Workspace workspace(shown.document, shown.jobs);
  shown.document.edit("maps", [](Session& s) { s = maps_session("arcs"); });
  ASSERT_TRUE(wait_for([&] { return workspace.head() != nullptr; }));
  const auto draw = desktop_backends().draw_figure;
  const auto figure_of = [&](std::size_t operation) {
    FigureChoice choice = *map_figure(shown.document.session(), *workspace.trace(), operation);
    choice.parameters["caption"] = "c";
    choice.width = "500pt";
    return drawn_items(draw(choice, {}));
  };
  RelationsModel relations(workspace);
  ASSERT_TRUE(wait_for([&] { return !relations.busy(); }));
  figure::ArcsFigure arcs = relations.arcs_figure(500);
  arcs.caption = "c";
  for (std::size_t i = 0; i < 3; ++i) {  // A figure's title tells the head's own number.
    arcs.panels[i].title = i == 1 ? "penumbral, gamma = 6" : arcs.panels[i].title;
  }
  EXPECT_EQ(drawn_items(figure::draw_arcs(arcs)), figure_of(0));
  for (const char* layout : {"tree", "hasse"}) {
    shown.document.edit("layout", [&](Session& s) { s.maps.layout = layout; });
    ASSERT_TRUE(wait_for([&] { return !relations.busy(); }));
    for (std::size_t i = 1; i < 3; ++i) {
      figure::TreeFigure tree = relations.tree_figure(i, 500);
      tree.title.clear();
      tree.caption = "c";
      const bool order = layout == std::string("hasse");
      EXPECT_EQ(drawn_items(order ? figure::draw_hasse(tree) : figure::draw_tree(tree)),
                figure_of(i))
          << layout << i;
    }
  }
}

/// Expects that the figure's reader has the numbers of the view's maps: those of each operator,
/// what they are compared with, and their difference.
void expect_numbers_of(const MapsModel& maps, const figure::FigureInput& input) {
  ASSERT_EQ(maps.panels().size(), 3 * input.panels.size());
  ASSERT_EQ(input.beside.size(), input.panels.size());
  for (std::size_t i = 0; i < input.panels.size(); ++i) {
    const MatrixSource& open = maps.panels()[3 * i]->pyramid->source();
    const MatrixSource& other = maps.panels()[3 * i + 1]->pyramid->source();
    for (std::int64_t row = 0; row < open.rows(); row += 3) {
      for (std::int64_t column = 0; column < open.columns(); ++column) {
        const auto cell = static_cast<std::size_t>(row * open.columns() + column);
        ASSERT_NEAR(input.panels[i].values[cell], open.exact(row, column), 1e-12) << i;
        ASSERT_NEAR(input.beside[i].values[cell], other.exact(row, column), 1e-12) << i;
      }
    }
  }
}

/// Joined heads and compared maps: the figure has the numbers of the view, cell by cell.
TEST(FigureBytes, OfComparedMapsAreWhatTheViewShows) {
  ShownTemplates shown;
  Workspace workspace(shown.document, shown.jobs);
  MapsModel maps(workspace);
  for (const char* join : {"mean", "maximum", "rollout"}) {
    SCOPED_TRACE(join);
    shown.document.edit("maps", [&](Session& s) {
      s = maps_session("maps");
      s.maps.calls = {plain_call("umbral"), plain_call("dot")};
      s.maps.join = join;
      s.maps.beside = BesideChoice{shipped_trace(), "/german/layer1", 2, "one"};
    });
    ASSERT_TRUE(wait_for([&] { return are_whole(maps, 6); }));
    const FigureChoice choice = *map_figure(shown.document.session(), *workspace.trace());
    expect_numbers_of(maps, figure_input_of(choice));
    const std::string drawn = drawn_items(desktop_backends().draw_figure(choice, {}));
    for (const auto& panel : maps.panels()) {
      EXPECT_NE(drawn.find(panel->title), std::string::npos) << panel->title;
    }
    shown.document.edit("figure", [&](Session& s) { s.figure = choice; });
    shown.expect_same_bytes();
  }
}

/// Lists by head, by axis of a grid, and by both: the figure takes the same numbers as the view.
TEST(FigureBytes, OfListsOfNumbersAreWhatTheViewShows) {
  ShownTemplates shown;
  Workspace workspace(shown.document, shown.jobs);
  MapsModel maps(workspace);
  for (const char* join : {"one", "mean"}) {
    SCOPED_TRACE(join);
    shown.document.edit("maps", [&](Session& s) {
      s = maps_session("maps");
      s.trace.head = 0;
      const std::string both = ".2,.1;.3;.1,.2;.1;.1;.1;.1;.1;.1;.1;.1;.1";
      s.maps.calls = {call_from_text("dot:bias=hype:grid=5x6:hype_mu=.2,.1"),
                      call_from_text("penumbral:gamma=1,2,3,4,5,6,7,8,9,10,11,12"),
                      call_from_text("dot:bias=hype:grid=5x6:hype_mu=" + both)};
      s.maps.join = join;
      s.maps.beside = BesideChoice{shipped_trace(), "/german/layer1", 2, "one"};
    });
    ASSERT_TRUE(wait_for([&] { return are_whole(maps, 9); }));
    const FigureChoice choice = *map_figure(shown.document.session(), *workspace.trace());
    expect_numbers_of(maps, figure_input_of(choice));
  }
}

TEST(FigureBytes, AReferenceWithNumbersOfHeadsIsSubtracted) {
  const auto trace = load_trace(shipped_trace(), "/german/layer3");
  Session session = maps_session("maps");
  session.maps.reference = 1;
  const std::string drawn =
      drawn_items(desktop_backends().draw_figure(*map_figure(session, *trace), {}));
  EXPECT_NE(drawn.find("dot − penumbral, gamma = 6"), std::string::npos);
}

TEST(FigureBytes, OfAllHeadsAreWhatTheViewShows) {
  ShownTemplates shown;
  Workspace workspace(shown.document, shown.jobs);
  MapsModel maps(workspace);
  HeadsModel heads(maps);
  shown.document.edit("heads", [&](Session& s) {
    s = maps_session("heads");
    s.maps.calls = {plain_call("dot"), plain_call("umbral")};
    s.maps.heads_operator = 1;
    s.maps.head_score = "order";
    s.maps.heads_order = "highest first";
  });
  ASSERT_TRUE(wait_for([&] { return workspace.head() != nullptr; }));
  heads.set_visible(true);
  ASSERT_TRUE(wait_for([&] { return heads.complete(); }));
  const FigureChoice choice = *map_figure(shown.document.session(), *workspace.trace());
  const figure::FigureInput input = figure_input_of(choice);
  ASSERT_EQ(input.head_rows.size(), heads.rows().size());
  ASSERT_EQ(input.heads.size(), 72U);
  for (const figure::HeadPanel& panel : input.heads) {
    for (const tree::HeadScoreInfo& info : tree::head_score_table) {
      // The view computes in float32; umbral logits are about −165. The largest difference that was
      // seen is 5.1e-6.
      const double seen = heads.rows()[panel.row]->score(panel.head, info);
      EXPECT_NEAR(panel.scores.*info.member, seen, 1e-5 * (1 + std::abs(seen)));
    }
  }
  std::string drawn = drawn_items(desktop_backends().draw_figure(choice, {}));
  std::size_t at = 0;
  for (const HeadAt& head : heads.heads()) {  // In the same order.
    at = drawn.find(">" + heads.name(head, true) + "<", at + 1);
    ASSERT_NE(at, std::string::npos) << heads.name(head, true);
  }
  shown.document.edit("figure", [&](Session& s) { s.figure = choice; });
  shown.expect_same_bytes();
}

TEST(FigureBytes, EveryOptionHasAFieldThatExplainsIt) {
  ShownTemplates shown;
  for (const figure::FigureInfo& info : figure::figure_table()) {
    shown.view.findChild<QComboBox*>("figure-name")->setCurrentText(info.name);
    for (const figure::FigureKey& key : info.keys) {
      auto* field = shown.view.findChild<QWidget*>(QStringLiteral("figure-%1").arg(key.key));
      ASSERT_NE(field, nullptr) << info.name << " " << key.key;
      EXPECT_FALSE(field->toolTip().isEmpty());
    }
  }
}

TEST(FigureBytes, AWrongValueIsExplained) {
  ShownTemplates shown;
  shown.view.findChild<QComboBox*>("figure-name")->setCurrentText("cones");
  ASSERT_TRUE(wait_for([&] { return shown.view.preview().list() != nullptr; }));
  auto* levels = shown.view.findChild<QLineEdit*>("figure-levels");
  levels->setText("many");
  emit levels->editingFinished();
  ASSERT_TRUE(wait_for([&] { return shown.view.message().contains("levels"); }));
  EXPECT_EQ(shown.view.preview().list(), nullptr);
}

}  // namespace
}  // namespace conelab::desktop
