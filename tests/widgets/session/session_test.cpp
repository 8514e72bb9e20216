#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "core/base/error.h"
#include "core/base/random.h"
#include "widgets/session/document.h"
#include "widgets/session/session_json.h"

namespace conelab::desktop {
namespace {

/// One random edit of any kind; what it changes is drawn from the generator.
void random_edit(Document& document, Random& random) {
  const auto pick = [&](std::uint64_t n) { return static_cast<int>(random.next() % n); };
  const int kind = pick(9);
  document.edit(
      "edit " + QString::number(kind),
      [&](Session& s) {
        switch (kind) {
          case 0:
            s.trace.head = pick(12);
            break;
          case 1:
            s.maps.calls.push_back(plain_call(pick(2) ? "dot" : "umbral"));
            break;
          case 2:
            if (!s.maps.calls.empty()) s.maps.calls.pop_back();
            break;
          case 3:
            if (!s.maps.calls.empty()) {
              s.maps.calls.front().parameters["gamma"] = std::to_string(pick(100));
            }
            break;
          case 4:
            s.locked = pick(3) ? std::optional(Focus{pick(30), pick(30)}) : std::nullopt;
            break;
          case 5:
            s.cones.u = {0.01 * pick(100), 0.01 * (1 + pick(99))};
            break;
          case 6:
            s.maps.scale = pick(2) ? "log" : "rank";
            s.maps.arc_top = 1 + pick(16);
            break;
          case 7:
            s.theme = pick(2) ? "dark" : "light";
            break;
          default:
            s.figure.parameters["caption"] = std::to_string(pick(5));
        }
      },
      pick(4) == 0 ? "drag" : "");
}

TEST(Document, TwoHundredRandomEditsUndoneGiveTheStartAndRedoneTheEnd) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Document document;
    const Session start = document.session();
    for (int i = 0; i < 200; ++i) random_edit(document, random);
    const Session end = document.session();
    ASSERT_FALSE(start == end);
    while (document.history().can_undo()) document.undo();
    EXPECT_TRUE(document.session() == start) << seed;
    while (document.history().can_redo()) document.redo();
    EXPECT_TRUE(document.session() == end) << seed;
  }
}

TEST(Document, EqualMergesInARowAreOneStep) {
  Document document;
  for (int i = 0; i < 10; ++i) {
    document.edit(
        "drag", [i](Session& s) { s.cones.u[0] = i; }, "u");
  }
  document.close_step();
  document.edit(
      "drag", [](Session& s) { s.cones.u[0] = 20; }, "u");
  document.undo();
  EXPECT_EQ(document.session().cones.u[0], 9);
  document.undo();
  EXPECT_FALSE(document.history().can_undo());
}

TEST(Document, AnEditThatThrowsChangesNothing) {
  Document document;
  const Session before = document.session();
  EXPECT_THROW(document.edit("bad",
                             [](Session& s) {
                               s.trace.head = 7;
                               misuse("no");
                             }),
               Error);
  EXPECT_TRUE(document.session() == before);
  EXPECT_FALSE(document.history().can_undo());
}

TEST(Document, FocusIsHoveredElseLocked) {
  Document document;
  int told = 0;
  QObject::connect(&document, &Document::focus_changed, [&] { ++told; });
  document.edit("lock", [](Session& s) { s.locked = Focus{1, 2}; });
  document.hover(Focus{3, 4});
  EXPECT_EQ(document.focused(), (Focus{3, 4}));
  document.hover(std::nullopt);
  EXPECT_EQ(document.focused(), (Focus{1, 2}));
  document.undo();
  EXPECT_EQ(document.focused(), std::nullopt);
  EXPECT_EQ(told, 4);
}

TEST(SessionFile, HoldsEveryMember) {
  SavedSession saved;
  Random random(3);
  Document document;
  for (int i = 0; i < 120; ++i) random_edit(document, random);
  document.edit("rest", [](Session& s) {
    s.trace = {"a.h5", "/layer 3", 1, 4};
    s.locked = Focus{5, 6};
    s.maps.calls = {plain_call("penumbral")};
    s.maps.calls[0].masks = {"causal"};
    s.maps.reference = 0;
    s.maps.layout = "hasse";
    s.maps.arc_threshold = 0.25;
    s.maps.arc_arrangement = "rows";
    s.maps.tree_tokens = "query";
    s.cones.parameters = {{"height", 2.5}};
    s.cones.model = "ball";
    s.cones.camera = ConeCamera{0.25, -3, 1, -0.5, 2};
    s.figure.inputs = {"x.h5"};
    s.bench.lengths = "64";
  });
  saved.session = document.session();
  saved.layout = QByteArray("\0\1\2layout", 9);
  const SavedSession read = session_from_json(session_to_json(saved), "test");
  EXPECT_TRUE(read.session == saved.session);
  EXPECT_EQ(read.layout, saved.layout);
}

TEST(SessionFile, WordsThatNoViewKnowsBecomeTheDefaults) {
  SavedSession saved;
  MapChoice& maps = saved.session.maps;
  maps.quantity = maps.scale = maps.colours = maps.layout = "of a later version";
  maps.arc_arrangement = maps.tree_tokens = "";
  maps.arc_top = -3;
  const SavedSession read = session_from_json(session_to_json(saved), "test");
  EXPECT_TRUE(read.session.maps == MapChoice());
}

TEST(SessionFile, WrongFilesAreToldInOneLine) {
  QTemporaryDir folder;
  const QString path = folder.filePath("s.json");
  const auto message = [&](const QByteArray& content) -> std::string {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    try {
      (void)load_session(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("{\"conelab_session\": 1, ").find("not a session"), std::string::npos);
  EXPECT_NE(message("{}").find("expected conelab_session = 1"), std::string::npos);
  EXPECT_NE(message("").find(path.toStdString()), std::string::npos);
  EXPECT_EQ(message("{\"conelab_session\": 1}"), "");
  EXPECT_EQ(message("{\"conelab_session\": 1, \"session\": {\"maps\": [1, 2], \"theme\": 4}}"), "");
}

}  // namespace
}  // namespace conelab::desktop
