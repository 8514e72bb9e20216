// The tokens of a head in the explorer: from the start, with names, and what is kept of them.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QLineF>

#include "tests/widgets/explorer/shown_explorer.h"
#include "tests/widgets/window/written_files.h"

namespace conelab::desktop {
namespace {

TEST(TokenPlane, WordsAreToldFromOtherTokens) {
  for (const char* word : {"Haus", "##ken", "a", "7", "é", "日"})
    EXPECT_TRUE(is_word(word)) << word;
  for (const char* other : {"[CLS]", "[SEP]", "<s>", "</s>", "!", "\"", ".", "", "##"}) {
    EXPECT_FALSE(is_word(other)) << other;
  }
}

TEST(Explorer, TokensAreThereFromTheStartFramedAndNamed) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  const ExplorerViewport& viewport = shown.viewport;
  for (const char* family : {"penumbral", "umbral", "penumbral-finite"}) {
    for (const char* model : {"halfspace", "ball", "klein", "band"}) {
      shown.document.edit("look", [&](Session& s) {
        s.cones.family = family;
        s.cones.model = model;
      });
      if (!shown.workspace.trace()) shown.open_trace();
      settle(shown.viewport);
      ASSERT_EQ(viewport.tokens().places.size(), 30U) << family;
      EXPECT_FALSE(shown.document.session().locked) << "a first look is no edit";
      for (std::size_t i = 0; i < 30; ++i) {
        const QPointF p = viewport.token_place(i);
        EXPECT_TRUE(QRectF(viewport.rect()).adjusted(-1, -1, 1, 1).contains(p))
            << i << " of " << family << " in " << model << ": " << p.x() << ", " << p.y();
      }
      int named = 0;
      const auto& names = viewport.names();
      for (std::size_t i = 0; i < names.size(); ++i) {
        named += names[i].box.has_value();
        for (std::size_t k = 0; k < i && names[i].box; ++k) {
          EXPECT_TRUE(!names[k].box || disjoint(*names[i].box, *names[k].box));
        }
      }
      EXPECT_GT(named, 5) << family << " in " << model;
      EXPECT_TRUE(names[0].text.startsWith("u ") && names[0].box) << "u has precedence";
      EXPECT_TRUE(names[1].text.startsWith("v ") && names[1].box) << "and v";
    }
  }
}

TEST(Explorer, ItsFirstPairIsOfWordsThatTheReadoutNames) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  const std::string text = shown.view.readout().toStdString();
  const auto& trace = *shown.workspace.trace();
  const TokenMarks& marks = shown.viewport.tokens();
  ASSERT_TRUE(marks.key);
  EXPECT_TRUE(is_word(marks.query) && is_word(marks.names[*marks.key])) << text;
  EXPECT_NE(text.find("v is key " + std::to_string(*marks.key) + " “" +
                      trace.key_label(0, static_cast<std::int64_t>(*marks.key))),
            std::string::npos)
      << text;
  // Another view's pair takes its place.
  shown.document.hover(Focus{3, 8});
  pump(60);
  EXPECT_TRUE(shown.view.readout().contains("u is query 3")) << shown.view.readout().toStdString();
}

TEST(Explorer, FollowingIsSwitchedInTheToolBarAndComesBack) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  auto* button = shown.view.findChild<QAbstractButton*>("explorer-follow");
  EXPECT_TRUE(button->isChecked());
  EXPECT_TRUE(shown.viewport.shows_tokens());
  click(*button, QRectF(button->rect()).center());
  EXPECT_FALSE(shown.document.session().cones.follow_tokens);
  EXPECT_FALSE(shown.viewport.shows_tokens());
  EXPECT_EQ(shown.viewport.choice().u, shown.document.session().cones.u);
  shown.document.undo();
  EXPECT_TRUE(button->isChecked() && shown.viewport.shows_tokens());
  // Who moves a point wants to see that point; the button says so.
  settle(shown.viewport);
  drag(shown.viewport, shown.viewport.handle("u"), shown.viewport.handle("u") + QPointF(30, 4));
  EXPECT_TRUE(wait_for([&] { return !shown.viewport.shows_tokens(); }));
  EXPECT_FALSE(button->isChecked());
}

TEST(Explorer, WithoutATraceEditsLeaveFollowingOn) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  drag(shown.viewport, shown.viewport.handle("u"), shown.viewport.handle("u") + QPointF(30, 20));
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.u[0] > -0.34; }));
  turn_wheel(shown.viewport, {100, 100}, 1);
  EXPECT_TRUE(wait_for([&] { return shown.document.session().cones.camera.has_value(); }));
  EXPECT_TRUE(shown.document.session().cones.follow_tokens);
  // The button does not look as if something were followed.
  const auto* button = shown.view.findChild<QAbstractButton*>("explorer-follow");
  EXPECT_FALSE(button->isChecked() || button->isEnabled());
  EXPECT_TRUE(button->toolTip().startsWith("No file is open"));
  shown.open_trace();
  EXPECT_TRUE(shown.viewport.shows_tokens());
  EXPECT_TRUE(button->isChecked() && button->isEnabled());
  // The result of attend has no places of tokens.
  shown.workspace.open(Written::files()["dot.h5"], "/attention/weights");
  EXPECT_TRUE(wait_for([&] { return !button->isEnabled(); }));
  EXPECT_FALSE(button->isChecked());
  EXPECT_TRUE(button->toolTip().startsWith("A result of attend"));
  EXPECT_TRUE(shown.document.session().cones.follow_tokens);
}

TEST(Explorer, TheFamilyOfTheTokensIsChosenAndItsParametersAreTheirOperators) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  shown.document.edit("radius", [](Session& s) { s.maps.calls[2].parameters["radius"] = "0.5"; });
  shown.view.findChild<QComboBox*>("explorer-family")->setCurrentText("umbral");
  EXPECT_TRUE(shown.viewport.shows_tokens());
  EXPECT_EQ(shown.viewport.choice().parameters.at("radius"), 0.5);
  shown.view.findChild<QComboBox*>("explorer-depth")->setCurrentIndex(1);
  EXPECT_EQ(shown.document.session().maps.calls[2].parameters.at("depth"), "distance");
  EXPECT_TRUE(shown.viewport.shows_tokens());
  EXPECT_EQ(shown.viewport.scene().measure, geometry::DepthMeasure::distance);
  // A family without an operator in the maps has its defaults.
  shown.view.findChild<QComboBox*>("explorer-family")->setCurrentText("ganea");
  EXPECT_TRUE(shown.viewport.shows_tokens());
  EXPECT_EQ(shown.viewport.choice().parameters.at("K"), 0.1);
}

TEST(Explorer, SettingsAndLegendCoverNoTokens) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  for (const QSize size : {QSize(1300, 800), QSize(700, 640), QSize(445, 800), QSize(282, 640)}) {
    shown.view.resize(size);
    for (const std::string model : {"halfspace", "ball", "band"}) {
      shown.document.edit("look", [&](Session& s) { s.cones.model = model; });
      settle(shown.viewport);
      EXPECT_EQ(shown.viewport.legends().size(), 1U) << model << size.width();
      for (std::size_t i = 0; i < 30; ++i) {
        const QPointF p = shown.viewport.token_place(i);
        EXPECT_FALSE(shown.viewport.settings_place().contains(p)) << model << size.width();
        for (const figure::Box& legend : shown.viewport.legends()) {
          EXPECT_FALSE(legend.contains({p.x(), p.y()})) << model << size.width();
        }
      }
    }
  }
}

TEST(Explorer, SettingsOpenWithoutAFurtherMoveOfThePointer) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  shown.view.resize(282, 640);
  settle(shown.viewport);
  ASSERT_LT(shown.viewport.settings_place().height(), 60);
  move_to(shown.viewport, shown.viewport.control("settings").center());
  settle(shown.viewport);
  click(shown.viewport, shown.viewport.control("settings").center());
  settle(shown.viewport);
  EXPECT_GT(shown.viewport.settings_place().height(), 150);
}

TEST(Explorer, TellsWhyTokensHaveNoPlacesInALowWindowToo) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.resize(420, 500);
  shown.open_trace();
  const auto* readout = shown.view.findChild<QLabel*>("explorer-readout");
  pump(100);
  EXPECT_FALSE(readout->text().contains("Points are the keys"));  // The picture says it.
  shown.document.edit("unknown", [](Session& s) {
    s.maps.calls = {plain_call("penumbral")};
    s.maps.calls[0].parameters["stride"] = "3";
  });
  EXPECT_TRUE(wait_for([&] { return readout->text().contains("The tokens have no places"); }))
      << readout->text().toStdString();
}

TEST(Explorer, ALowWindowNamesTheTokenUnderThePointerAndWhatIsNotExact) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.resize(420, 560);
  shown.open_trace();
  settle(shown.viewport);
  const auto* readout = shown.view.findChild<QLabel*>("explorer-readout");
  const auto text = [&] { return readout->text().replace(QChar::Nbsp, ' '); };
  EXPECT_TRUE(text().contains("those between keys are not")) << text().toStdString();
  std::optional<std::size_t> other;
  for (std::size_t i = 0; i < 30 && !other; ++i) {
    const bool is_key = shown.viewport.tokens().key == i;
    if (!is_key && shown.viewport.token_under(shown.viewport.token_place(i)) == i) other = i;
  }
  ASSERT_TRUE(other);
  move_to(shown.viewport, shown.viewport.token_place(*other));
  const QString named = QString("Under the pointer: key %1 ").arg(*other);
  EXPECT_TRUE(wait_for([&] { return text().contains(named); })) << text().toStdString();
  EXPECT_TRUE(text().contains(", log K(u, ·) = ")) << text().toStdString();
}

TEST(Explorer, ANodeOfAHierarchyIsPickedForAllViews) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open(CONELAB_SOURCE_DIR "/datasets/mammals_trace.h5", "/umbral/seed1");
  shown.document.edit("follow", [](Session& s) {
    s.cones.family = "umbral";
    s.cones.follow_tokens = true;
  });
  ASSERT_TRUE(wait_for([&] { return shown.viewport.shows_tokens(); }));
  settle(shown.viewport);
  EXPECT_FALSE(shown.viewport.tokens().edges.empty());
  std::optional<std::size_t> node;
  const QRect inside = shown.viewport.rect().adjusted(20, 60, -260, -60);
  for (std::size_t i = 0; i < shown.viewport.tokens().places.size() && !node; ++i) {
    const QPointF p = shown.viewport.token_place(i);
    const QPointF u = p - shown.viewport.handle("u"), v = p - shown.viewport.handle("v");
    const bool free = std::hypot(u.x(), u.y()) > 20 && std::hypot(v.x(), v.y()) > 20;
    if (inside.contains(p.toPoint()) && free && shown.viewport.token_under(p) == i) node = i;
  }
  ASSERT_TRUE(node);
  const auto key = static_cast<std::int64_t>(*node);
  move_to(shown.viewport, shown.viewport.token_place(*node));
  ASSERT_TRUE(wait_for([&] { return shown.document.hovered().has_value(); }));
  click(shown.viewport, shown.viewport.token_place(*node));
  ASSERT_TRUE(wait_for([&] { return shown.document.session().locked.has_value(); }));
  EXPECT_EQ(shown.document.session().locked->key, key);
  EXPECT_EQ(shown.viewport.tokens().focused, *node);
}

TEST(Explorer, FamiliesSideBySideAreFittedEach) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  auto* beside = shown.view.findChild<QComboBox*>("explorer-beside");
  const auto framed = [&](std::size_t pane) {
    const PlaneFrame f = shown.viewport.frame(pane);
    const QRectF box(f.corner().x, f.corner().y, f.width(), f.height());
    const auto& lca = shown.viewport.scene(pane).lca_place;
    const PlanePoint at = f.page(*lca);
    return box.contains(shown.viewport.handle("u", pane)) &&
           box.contains(shown.viewport.handle("v", pane)) && box.contains(QPointF(at.x, at.y));
  };
  beside->setCurrentIndex(beside->findText("beside umbral"));
  ASSERT_EQ(shown.viewport.pane_count(), 2U);
  EXPECT_TRUE(framed(0) && framed(1)) << "at once";
  beside->setCurrentIndex(0);
  turn_wheel(shown.viewport, {300, 200}, 8);  // Somewhere deep inside.
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.camera.has_value(); }));
  beside->setCurrentIndex(beside->findText("beside umbral"));
  for (const QSize size : {QSize(700, 640), QSize(445, 800), QSize(1200, 500)}) {
    shown.view.resize(size);
    settle(shown.viewport);
    ASSERT_EQ(shown.viewport.pane_count(), 2U);
    EXPECT_TRUE(framed(0) && framed(1)) << size.width();
  }
  // A movement applies to both, and fit undoes it.
  const QPointF middle(shown.viewport.frame(1).corner().x + 60,
                       shown.viewport.frame(1).corner().y + 60);
  turn_wheel(shown.viewport, middle, 6);
  ASSERT_TRUE(wait_for([&] { return shown.document.session().cones.camera.has_value(); }));
  EXPECT_TRUE(shown.viewport.camera(0) == shown.viewport.camera(1));
  shown.view.fit();
  EXPECT_FALSE(shown.document.session().cones.camera);
  EXPECT_TRUE(framed(0) && framed(1));
  shown.document.undo();
  settle(shown.viewport);
  EXPECT_EQ(shown.document.session().cones.camera.has_value(),
            shown.viewport.choice().camera.has_value());
}

TEST(Explorer, TheToolBarKeepsItsPlacesWhateverIsShown) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.view.resize(445, 800);
  pump(60);
  const auto places = [&] {
    std::vector<QRect> all;
    for (const char* name : {"beside", "heat", "depth", "fit", "numbers", "follow", "figure",
                             "figure-command", "family", "model", "u", "v", "source"}) {
      auto* widget = shown.view.findChild<QWidget*>(QString("explorer-") + name);
      all.emplace_back(widget->mapTo(&shown.view, QPoint()), widget->size());
    }
    return all;
  };
  const auto before = places();
  const auto same = [&](const char* what) { EXPECT_TRUE(places() == before) << what; };
  shown.open_trace();
  same("a trace");
  shown.view.findChild<QComboBox*>("explorer-heat")->setCurrentIndex(3);
  pump(60);
  same("heat");
  shown.view.findChild<QComboBox*>("explorer-family")->setCurrentText("penumbral-finite");
  pump(60);
  same("family");
  for (int i = 1; i < shown.view.findChild<QComboBox*>("explorer-beside")->count(); ++i) {
    shown.view.findChild<QComboBox*>("explorer-beside")->setCurrentIndex(i);
    pump(60);
    same("beside");
  }
}

TEST(Explorer, ItsFigureHasTheTokensAndTheFamiliesBeside) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  shown.document.edit("beside", [](Session& s) { s.cones.beside = {"umbral"}; });
  shown.view.findChild<QAbstractButton*>("explorer-figure")->click();
  const FigureChoice figure = shown.document.session().figure;
  EXPECT_EQ(figure.name, "cones");
  EXPECT_EQ(figure.parameters.at("beside"), "umbral");
  const std::string& tokens = figure.parameters.at("tokens");
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), ';'), 29);
  EXPECT_NE(tokens.find("=[CLS]"), std::string::npos);
}

/// A pair whose LCA lies far above the tokens, where a view of the two points alone looks.
struct PairWithAFarAncestor : ShownExplorer {
  ExplorerViewport& viewport = view.viewport();
  PairWithAFarAncestor() {
    open_trace();
    document.edit("pair", [](Session& s) {
      s.cones.family = "umbral";
      s.cones.model = "halfspace";
      s.locked = Focus{2, 6};
    });
    settle(viewport);
  }
};

TEST(Explorer, APointThatIsDraggedFromTheTokensFollowsThePointer) {
  REQUIRE_DISPLAY();
  PairWithAFarAncestor shown;
  ExplorerViewport& viewport = shown.viewport;
  const PlaneCamera before = viewport.camera();
  const double x = viewport.choice().u[0];
  const QPointF from = viewport.handle("u"), to = from + QPointF(24, -8);
  drag(viewport, from, to);
  ASSERT_TRUE(wait_for([&] { return !viewport.shows_tokens(); }));
  settle(viewport);
  EXPECT_TRUE(viewport.camera() == before) << "the view stays";
  EXPECT_LT(QLineF(viewport.handle("u"), to).length(), 2);
  EXPECT_GT(viewport.choice().u[0], x) << "it was dragged to the right";
  shown.document.undo();
  settle(viewport);
  EXPECT_TRUE(viewport.shows_tokens());
  EXPECT_EQ(viewport.choice().u[0], x);
}

TEST(Explorer, SaysWhereAnAncestorIsThatTheViewDoesNotShow) {
  REQUIRE_DISPLAY();
  PairWithAFarAncestor shown;
  ExplorerViewport& viewport = shown.viewport;
  ASSERT_TRUE(viewport.scene().lca_place);
  const PlanePoint lca = *viewport.scene().lca_place;
  ASSERT_LT(viewport.frame().page(lca).y, 0) << "above the view";
  EXPECT_EQ(viewport.title_lines(0),
            std::vector<std::string>{
                fmt::format("LCA outside of the view, at ({:.4g}, {:.4g})", lca.x, lca.y)});
  EXPECT_NEAR(lca.y, 129.27, 0.01);
  shown.document.edit("own points", [](Session& s) { s.cones.follow_tokens = false; });
  settle(viewport);
  EXPECT_TRUE(viewport.title_lines(0).empty()) << "fitted to the points, the view shows it";
}

TEST(Explorer, ArrowsPointToUAndVOutsideOfTheViewAndBringThemBack) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  shown.document.edit("plane", [](Session& s) { s.cones.model = "halfspace"; });
  settle(shown.viewport);
  EXPECT_FALSE(shown.viewport.arrow("u") || shown.viewport.arrow("v")) << "both are in view";
  const double away = shown.viewport.handle("u").x() + 60;
  drag(shown.viewport, {away + 120, 160}, {120, 160});
  settle(shown.viewport);
  ASSERT_LT(shown.viewport.handle("u").x(), 0);
  ASSERT_TRUE(shown.viewport.arrow("u"));
  EXPECT_FALSE(shown.viewport.arrow("v"));
  const figure::Box arrow = *shown.viewport.arrow("u");
  EXPECT_LT(arrow.x, 12);
  EXPECT_TRUE(std::any_of(
      shown.viewport.names().begin(), shown.viewport.names().end(),
      [&](const auto& n) { return n.text.startsWith("u ") && n.box && n.box->x < arrow.right(); }));
  EXPECT_FALSE(shown.viewport.title_lines(0).empty()) << "tokens are outside, too";
  click(shown.viewport, {arrow.x + arrow.width / 2, arrow.y + arrow.height / 2});
  settle(shown.viewport);
  EXPECT_FALSE(shown.viewport.arrow("u") || shown.viewport.arrow("v"));
  EXPECT_TRUE(shown.viewport.rect().contains(shown.viewport.handle("u").toPoint()));
  EXPECT_TRUE(shown.viewport.shows_tokens());
}

TEST(Explorer, InANarrowViewSettingsCoverNoPointsAndTitlesHaveSpace) {
  REQUIRE_DISPLAY();
  ShownExplorer shown;
  shown.open_trace();
  shown.view.resize(276, 630);
  auto* family = shown.view.findChild<QComboBox*>("explorer-family");
  auto* beside = shown.view.findChild<QComboBox*>("explorer-beside");
  for (const char* first : {"penumbral", "umbral", "ganea"}) {
    family->setCurrentText(first);
    for (int i = 0; i < beside->count(); ++i) {
      beside->setCurrentIndex(i);
      settle(shown.viewport);
      const std::string what = first + std::string(", ") + beside->currentText().toStdString();
      EXPECT_FALSE(shown.viewport.settings_cover_points()) << what;
      std::size_t title = 0;
      for (std::size_t pane = 0; pane < shown.viewport.pane_count(); ++pane) {
        for (const std::string& line : shown.viewport.title_lines(pane)) {
          // Points are drawn inside of the pane only, and K above it.
          const figure::Box& place = shown.viewport.titles().at(title++);
          if (line.find("K = ") != std::string::npos) {
            EXPECT_LE(place.bottom(), shown.viewport.frame(pane).corner().y)
                << what << ": " << line;
          }
          const int wide =
              shown.viewport.fontMetrics().horizontalAdvance(QString::fromStdString(line));
          const bool word = line.find(' ') == std::string::npos;  // Cannot be broken.
          EXPECT_TRUE(word || wide <= shown.viewport.frame(pane).width()) << what << ": " << line;
        }
      }
    }
  }
}

// A pair without places, for instance while a parameter of its operator is wrong, gets them later.
TEST(Explorer, APointOfTheUserStaysWhenTheTokensGetPlaces) {
  REQUIRE_DISPLAY();
  for (const bool typed : {true, false}) {
    ShownExplorer shown;
    shown.document.edit("wrong", [](Session& s) { s.maps.calls[1].parameters["gamma"] = "-1"; });
    shown.open_trace();
    ASSERT_FALSE(shown.viewport.shows_tokens());
    auto* button = shown.view.findChild<QAbstractButton*>("explorer-follow");
    EXPECT_TRUE(button->isChecked());
    settle(shown.viewport);
    if (typed) {
      auto* field = shown.view.findChild<QLineEdit*>("explorer-u");
      field->setFocus();
      field->selectAll();
      for (const QChar letter : QString("-0.5, 0.25")) {
        press_key(*field, 0, Qt::NoModifier, QString(letter));
      }
      press_key(*field, Qt::Key_Return);
    } else {
      drag(shown.viewport, shown.viewport.handle("u"), shown.viewport.handle("u") + QPointF(30, 4));
    }
    EXPECT_TRUE(wait_for([&] { return !button->isChecked(); }));
    const auto u = shown.document.session().cones.u;
    EXPECT_NE(u, ConeChoice().u);
    shown.document.edit("right", [](Session& s) { s.maps.calls[1].parameters.clear(); });
    pump(100);
    EXPECT_EQ(shown.viewport.choice().u, u) << (typed ? "typed" : "dragged");
    EXPECT_FALSE(shown.viewport.shows_tokens());
    click(*button, QRectF(button->rect()).center());
    EXPECT_TRUE(wait_for([&] { return shown.viewport.shows_tokens(); }));
  }
}

}  // namespace
}  // namespace conelab::desktop
