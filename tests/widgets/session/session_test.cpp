#include <fmt/format.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <map>
#include <span>

#include "core/base/error.h"
#include "core/base/random.h"
#include "tests/helpers/errors.h"
#include "tests/widgets/session/strange_session.h"
#include "widgets/session/document.h"
#include "widgets/session/session_json.h"
#include "widgets/session/session_members.h"

namespace conelab::desktop {
namespace {

// ---- every kind of edit -------------------------------------------------------------------------

/// How many members an aggregate has, counted by the compiler: those that `members` forgets are
/// missed.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT: any member is made from it.
};
template <class Part, class... Given>
constexpr std::size_t member_count() {
  if constexpr (requires { Part{Given{}..., Anything{}}; }) {
    return member_count<Part, Given..., Anything>();
  } else {
    return sizeof...(Given);
  }
}
struct Counter {
  std::size_t told = 0;
  template <class T>
  void operator()(const char*, T&) {
    ++told;
  }
};
template <class Part>
std::size_t members_told() {
  Part part;
  Counter counter;
  members(counter, part);
  return counter.told;
}

TEST(Session, TellsEveryMemberOfEveryPart) {
  EXPECT_EQ(members_told<Session>(), member_count<Session>());
  EXPECT_EQ(members_told<TraceChoice>(), member_count<TraceChoice>());
  EXPECT_EQ(members_told<MapChoice>(), member_count<MapChoice>());
  EXPECT_EQ(members_told<MapRegion>(), member_count<MapRegion>());
  EXPECT_EQ(members_told<BesideChoice>(), member_count<BesideChoice>());
  EXPECT_EQ(members_told<Focus>(), member_count<Focus>());
  EXPECT_EQ(members_told<ConeCamera>(), member_count<ConeCamera>());
  EXPECT_EQ(members_told<ConeChoice>(), member_count<ConeChoice>());
  EXPECT_EQ(members_told<FigureChoice>(), member_count<FigureChoice>());
  EXPECT_EQ(members_told<BenchChoice>(), member_count<BenchChoice>());
  EXPECT_EQ(members_told<Call>(), member_count<Call>());
  EXPECT_GE(member_count<MapChoice>(), 11U);
}

std::vector<std::string> all(std::span<const char* const> words) {
  return {words.begin(), words.end()};
}

/// Words that are kept when a session is read; all other texts are free.
const std::map<std::string, std::vector<std::string>> known_words = {
    {"family", {"penumbral", "umbral", "ganea"}},
    {"beside", {"umbral-finite", "ganea"}},
    {"colours", {"theme", "sequential", "dark", "diverging"}},
    {"name", {"heatmap", "cones", "lub"}},
    {"device", all(trace_devices)},
    {"quantity", all(map_quantities)},
    {"scale", all(figure::heat_scale_names)},
    {"layout", all(map_layouts)},
    {"arc_arrangement", all(arc_arrangements)},
    {"tree_tokens", all(tree_sides)},
    {"percentiles", all(map_percentiles)},
    {"special_tokens", all(special_token_choices)},
    {"join", all(head_joins)},
    {"heads_rows", all(figure::head_row_choices)},
    {"head_score", all(tree::head_score_names)},
    {"heads_order", all(figure::head_orders)},
    {"model", all(cone_models)},
    {"depth", all(cone_depths)},
    {"similarity", all(heat_similarities)},
    {"page", all(bench_pages)},
    {"theme", all(themes)}};

/// Goes through all members that are no parts themselves, in order, and changes the chosen one.
struct Change {
  Random& random;
  int chosen;  ///< Negative: none, which counts them.
  int seen = 0;
  std::string path = {}, changed = {};

  int pick(std::uint64_t n) const { return static_cast<int>(random.next() % n); }

  template <class T>
  void operator()(const char* name, T& member) {
    if constexpr (has_members<T>) {
      Change inner{random, chosen, seen, path + name + "."};
      members(inner, member);
      seen = inner.seen;
      if (!inner.changed.empty()) changed = inner.changed;
    } else if (seen++ == chosen) {
      changed = path + name;
      change(name, member);
    }
  }

  void change(const std::string& name, std::string& text) const {
    const auto words = known_words.find(name);
    text = words != known_words.end()
               ? words->second[static_cast<std::size_t>(pick(words->second.size()))]
               : fmt::format("{} \"ü\n{}\"", name, pick(1000));
  }
  void change(const std::string& name, Value& value) const {
    std::string text;
    change(name, text);
    value = text;
  }
  void change(const std::string&, bool& value) const { value = !value; }
  void change(const std::string&, int& value) const { value = 1 + pick(16); }
  void change(const std::string&, std::int64_t& value) const { value = pick(1 << 30); }
  void change(const std::string&, double& value) const { value = 1e-3 * pick(100000) / 7; }
  void change(const std::string&, std::array<double, 2>& point) const {
    point = {0.01 * pick(100) / 3, 0.01 * (1 + pick(99))};
  }
  void change(const std::string&, QJsonObject& parts) const { parts["notes"] = pick(1 << 30); }
  void change(const std::string&, Call& call) const {
    Change inner{random, pick(7)};
    members(inner, call);
  }
  void change(const std::string&, Brought& brought) const {
    Change inner{random, pick(8)};
    members(inner, brought);
    if (brought.calls.empty()) brought.calls.emplace_back();  // A session without them forgets it.
  }
  template <class T>
  void change(const std::string&, std::optional<T>& value) const {
    if (value && pick(3) == 0) return value.reset();
    if (!value) value.emplace();
    Change inner{random, pick(2)};
    members(inner, *value);
  }
  template <class T>
  void change(const std::string& name, std::vector<T>& list) const {
    const int kind = list.empty() ? 0 : pick(3);
    if (kind == 0) change(name, list.emplace_back());
    if (kind == 1) list.erase(list.begin() + pick(list.size()));
    if (kind == 2) change(name, list[static_cast<std::size_t>(pick(list.size()))]);
  }
  template <class T>
  void change(const std::string& name, std::map<std::string, T>& map) const {
    const std::string key = "key " + std::to_string(pick(4));
    if (map.erase(key) == 0) change(name, map[key]);
  }
};

int kinds_of_edits() {
  Random random(1);
  Session session;
  Change count{random, -1};
  members(count, session);
  return count.seen;
}

/// One edit of the chosen kind, whose value is drawn; sometimes as a part of a drag. Its name.
std::string random_edit(Document& document, Random& random, int kind) {
  std::string changed;
  document.edit(
      "edit",
      [&](Session& s) {
        Change change{random, kind};
        members(change, s);
        changed = change.changed;
      },
      random.next() % 4 == 0 ? "drag" : "");
  return changed;
}

/// The session as its file would be: equal bytes are equal sessions, member by member.
QByteArray file_of(const Session& session) { return session_to_json({session, {}}); }

TEST(Document, TwoHundredRandomEditsUndoneGiveTheStartAndRedoneTheEnd) {
  const int kinds = kinds_of_edits();
  std::map<std::string, int> made;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Document document;
    const QByteArray start = file_of(document.session());
    for (int i = 0; i < 200; ++i) {
      const int kind = static_cast<int>(random.next() % static_cast<std::uint64_t>(kinds));
      ++made[random_edit(document, random, kind)];
    }
    const QByteArray end = file_of(document.session());
    ASSERT_NE(start, end);
    while (document.history().can_undo()) document.undo();
    EXPECT_EQ(file_of(document.session()), start);
    EXPECT_TRUE(document.session() == Session());
    int steps_redone = 0;
    for (; document.history().can_redo(); ++steps_redone) document.redo();
    EXPECT_EQ(file_of(document.session()), end);
    EXPECT_GT(steps_redone, 100);
    // Saved and loaded, the end is the same session.
    EXPECT_TRUE(session_from_json(end, "test").session == document.session());
  }
  EXPECT_EQ(made.size(), static_cast<std::size_t>(kinds));  // Each kind was among them.
}

TEST(Document, EachKindOfEditAloneIsUndoneRedoneSavedAndLoaded) {
  const int kinds = kinds_of_edits();
  ASSERT_GE(kinds, 50);
  for (int kind = 0; kind < kinds; ++kind) {
    Random random(static_cast<std::uint64_t>(kind) + 1);
    Document document;
    std::string name;
    for (int i = 0; i < 20 && !document.history().can_undo(); ++i) {
      name = random_edit(document, random, kind);
    }
    SCOPED_TRACE(name);
    ASSERT_TRUE(document.history().can_undo());
    const Session changed = document.session();
    EXPECT_FALSE(changed == Session());
    EXPECT_TRUE(session_from_json(file_of(changed), "test").session == changed);
    document.undo();
    EXPECT_TRUE(document.session() == Session());
    document.redo();
    EXPECT_TRUE(document.session() == changed);
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

TEST(Document, WhatWasUndoneToIsAStepOfItsOwn) {
  Document document;
  const auto drag = [&](double to) {
    document.edit(
        "drag", [to](Session& s) { s.cones.u[0] = to; }, "u");
  };
  const auto drawn = [&] { return document.session().cones.u[0]; };
  drag(1);
  document.edit("else", [](Session& s) { s.cones.heat = false; });
  document.undo();
  drag(2);
  document.undo();
  EXPECT_EQ(drawn(), 1);
  document.undo();
  document.redo();
  drag(3);
  document.undo();
  EXPECT_EQ(drawn(), 1);
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

TEST(SessionFile, HoldsTheLayoutBesideTheSession) {
  SavedSession saved;
  saved.session.locked = Focus{5, 6};
  saved.layout = QByteArray("\0\1\2layout", 9);
  QTemporaryDir folder;
  save_session(saved, folder.filePath("s.json"));
  const SavedSession read = load_session(folder.filePath("s.json"));
  EXPECT_TRUE(read.session == saved.session);
  EXPECT_EQ(read.layout, saved.layout);
}

TEST(SessionFile, WordsThatNoViewKnowsBecomeTheDefaults) {
  SavedSession saved;
  MapChoice& maps = saved.session.maps;
  maps.quantity = maps.scale = maps.colours = maps.layout = "of a later version";
  maps.arc_arrangement = maps.tree_tokens = "";
  saved.session.cones.family = "of a later version";
  saved.session.cones.beside = {"ganea", "of a later version"};
  maps.arc_top = -3;
  const SavedSession read = session_from_json(session_to_json(saved), "test");
  EXPECT_TRUE(read.session.maps == MapChoice());
  EXPECT_EQ(read.session.cones.family, ConeChoice().family);
  EXPECT_EQ(read.session.cones.beside, std::vector<std::string>{"ganea"});
}

TEST(SessionFile, OfWordsThatNobodyKnowsLoads) {
  const Session strange = strange_session();
  ASSERT_EQ(strange.cones.model, "?");
  const Session read = session_from_json(file_of(strange), "test").session, plain;
  EXPECT_EQ(read.theme, plain.theme);
  EXPECT_EQ(read.trace.device, plain.trace.device);
  EXPECT_EQ(read.cones.model, plain.cones.model);
  EXPECT_EQ(read.figure.name, plain.figure.name);
  EXPECT_EQ(read.bench.page, plain.bench.page);
  EXPECT_EQ(read.trace.file, "?") << "texts that are free stay";
}

TEST(SessionFile, WrongFilesAreToldInOneLine) {
  QTemporaryDir folder;
  const QString path = folder.filePath("s.json");
  const auto message = [&](const QByteArray& content) -> std::string {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    return fixtures::message_of([&] { return load_session(path); });
  };
  EXPECT_NE(message("{\"conelab_session\": 1, ").find("not a session"), std::string::npos);
  EXPECT_NE(message("{}").find("expected conelab_session = 1"), std::string::npos);
  EXPECT_NE(message("").find(path.toStdString()), std::string::npos);
  EXPECT_EQ(message("{\"conelab_session\": 1}"), "");
  EXPECT_EQ(message("{\"conelab_session\": 1, \"session\": {\"maps\": [1, 2], \"theme\": 4}}"), "");
}

}  // namespace
}  // namespace conelab::desktop
