// What a person saves is in the file, whatever else the program is doing, also at the end.
#include "widgets/window/session_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFileInfo>
#include <QGuiApplication>
#include <QScreen>
#include <QTemporaryDir>
#include <span>

#include "core/files/tensor_write.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/file_dialog.h"
#include "tests/widgets/session/strange_session.h"
#include "widgets/session/session_json.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

/// A window whose session is in a file.
struct OpenedSession {
  QTemporaryDir folder;
  QString file = folder.filePath("mine.json");
  std::unique_ptr<MainWindow> window;

  OpenedSession() {
    window = std::make_unique<MainWindow>(Backends{}, folder.filePath("state"));
    show_active(*window);
    Session theirs;
    theirs.trace.batch = 7;
    save_session({theirs, {}}, file);
    window->open({file});
    EXPECT_TRUE(wait_for([&] { return session().trace.batch == 7; }));
  }
  [[nodiscard]] const Session& session() const { return window->document().session(); }
  void set_scale(const char* scale) const {
    window->document().edit("scale", [&](Session& s) { s.maps.scale = scale; });
  }
  void save() const {
    for (QAction* action : window->actions()) {
      if (action_name(*action) == "Save session") return action->trigger();
    }
    ADD_FAILURE() << "there is no way to save";
  }
  [[nodiscard]] std::string saved_scale(const QString& path) const {
    return load_session(path).session.maps.scale;
  }
};

/// Work that computes until it is cancelled, on every thread that the window has for it.
std::vector<JobHandle> busy(JobPool& jobs) {
  std::vector<JobHandle> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(jobs.start<int>(
        "computing",
        [](const PoolContext& context) {
          while (!context.cancelled()) QThread::msleep(1);
          return 0;
        },
        [](int) {}, {}));
  }
  return all;
}

/// A window that saves the scale "log" while every thread computes, and then has another, "rank".
struct OpenedSessionAndBusy : OpenedSession {
  std::vector<JobHandle> work = busy(window->workspace().jobs());

  OpenedSessionAndBusy() {
    set_scale("log");
    save();
    set_scale("rank");
  }
};

/// Each view in turn.
void show_everything(MainWindow& window) {
  for (QDockWidget* dock : window.findChildren<QDockWidget*>()) {
    dock->show();
    dock->raise();
    pump(60);
    EXPECT_FALSE(dock->grab().isNull());
  }
}

TEST(SavedSession, OfWordsThatNobodyKnowsShowsInEveryView) {
  REQUIRE_DISPLAY();
  OpenedSession opened;
  Session strange = strange_session();
  strange.trace.file = shipped_trace();
  strange.trace.group = "/german/layer3";
  save_session({strange, {}}, opened.file);
  opened.window->open({opened.file});
  ASSERT_TRUE(wait_for([&] { return opened.session().bench.shown == "?"; }));
  show_everything(*opened.window);
  // The words of the file that a view has a list for are the defaults by now.
  EXPECT_EQ(opened.session().cones.model, Session().cones.model);
}

template <std::size_t n>
QStringList every_word(const char* const (&words)[n]) {
  QStringList list;
  for (const char* word : words) list << word;
  return list;
}

TEST(SavedSession, KeepsTheWordsThatTheMapsOffer) {
  REQUIRE_DISPLAY();
  const OpenedSession opened;
  const auto offered = [&](const char* name) {
    QStringList words;
    const auto* box = opened.window->findChild<QComboBox*>(name);
    for (int i = 0; box != nullptr && i < box->count(); ++i) words << box->itemText(i);
    return words;
  };
  EXPECT_EQ(offered("maps-layout"), every_word(map_layouts));
  EXPECT_EQ(offered("maps-quantity"), every_word(map_quantities));
  EXPECT_EQ(offered("maps-scale"), every_word(figure::heat_scale_names));
  EXPECT_EQ(offered("maps-arrangement"), every_word(arc_arrangements));
  EXPECT_EQ(offered("maps-tokens"), every_word(tree_sides));
}

TEST(SavedSession, OfWordsThatNobodyKnowsDoesNotKeepTheProgramFromStarting) {
  REQUIRE_DISPLAY();
  QTemporaryDir state;
  save_session({strange_session(), {}}, state.filePath("autosave.json"));
  MainWindow window(Backends{}, state.path());
  EXPECT_TRUE(window.restore_autosave());
  show_active(window);
  show_everything(window);
}

TEST(SavedSession, IsInTheFileWhenTheWindowHasGone) {
  REQUIRE_DISPLAY();
  OpenedSessionAndBusy opened;
  opened.window->close();
  opened.window.reset();
  EXPECT_EQ(opened.saved_scale(opened.file), "log");
  EXPECT_EQ(opened.saved_scale(opened.folder.filePath("state/autosave.json")), "rank");
}

TEST(SavedSession, DoesNotWaitForWorkAndIsNotCancelledWithIt) {
  REQUIRE_DISPLAY();
  const OpenedSessionAndBusy opened;
  opened.save();
  opened.window->workspace().jobs().cancel_all();
  EXPECT_TRUE(wait_for([&] { return opened.saved_scale(opened.file) == "rank"; }));
}

TEST(SavedSession, ThatIsWrittenLateDoesNotBecomeTheFileOfTheNext) {
  QTemporaryDir folder;
  const QString theirs = folder.filePath("theirs.json");
  SessionFile file([] { return SavedSession{}; }, {});
  int written = 0, failed = 0;
  QObject::connect(&file, &SessionFile::saved, [&] { ++written; });
  QObject::connect(&file, &SessionFile::failed, [&] { ++failed; });
  file.save_as(theirs);
  file.came_from({});  // A new session, before that save has been told of.
  ASSERT_TRUE(wait_for([&] { return written == 1; }));
  file.save_as(folder.filePath("no such folder/mine.json"));
  ASSERT_TRUE(wait_for([&] { return failed == 1; }));
  EXPECT_EQ(file.path(), QString());
}

TEST(SavedSession, ThatCannotBeWrittenKeepsTheWindowOnce) {
  REQUIRE_DISPLAY();
  OpenedSession opened;
  ASSERT_TRUE(QFile::remove(opened.file));
  ASSERT_EQ(::mkdir(opened.file.toUtf8().constData(), 0700), 0);
  opened.set_scale("log");
  opened.save();
  EXPECT_FALSE(opened.window->close());
  EXPECT_TRUE(opened.window->isVisible());
  EXPECT_TRUE(opened.window->error_shown().contains("mine.json"))
      << opened.window->error_shown().toStdString();
  EXPECT_EQ(opened.saved_scale(opened.folder.filePath("state/autosave.json")), "log");
  EXPECT_TRUE(opened.window->close());
}

TEST(SavedSession, OfAnotherFileKeepsThePersonsTheme) {
  REQUIRE_DISPLAY();
  QTemporaryDir folder;
  const QString state = folder.filePath("state");
  {
    MainWindow window(Backends{}, state);
    show_active(window);
    window.document().edit("theme", [](Session& s) { s.theme = "dark"; });
    window.close();
  }
  MainWindow again(Backends{}, state);
  again.restore_theme();
  EXPECT_EQ(again.document().session().theme, "dark");
  EXPECT_LT(QApplication::palette().color(QPalette::Window).lightness(), 100);
  EXPECT_FALSE(again.document().history().can_undo());
  show_active(again);
  Session theirs;
  const auto open = [&](std::int64_t batch, const char* theme) {
    theirs.trace.batch = batch;
    theirs.theme = theme;
    save_session({theirs, {}}, folder.filePath("theirs.json"));
    again.open({folder.filePath("theirs.json")});
    EXPECT_TRUE(wait_for([&] { return again.document().session().trace.batch == batch; }));
    return again.document().session().theme;
  };
  EXPECT_EQ(open(7, "system"), "dark");
  EXPECT_EQ(open(8, "light"), "light");
}

QAction* action_called(const MainWindow& window, const char* name) {
  for (QAction* action : window.actions()) {
    if (action_name(*action) == name) return action;
  }
  return nullptr;
}

TEST(SavedSession, OfTheRunBeforeIsKeptWhereThisOneBeganWithAFile) {
  REQUIRE_DISPLAY();
  QTemporaryDir folder;
  const QString state = folder.filePath("state");
  {
    MainWindow window(Backends{}, state);
    show_active(window);
    EXPECT_FALSE(action_called(window, "Earlier session")->isEnabled()) << "there is none";
    window.document().edit("work", [](Session& s) { s.maps.scale = "log"; });
    window.close();
  }
  for (int run = 0; run < 2; ++run) {  // Runs in which nothing is done do not take its place.
    MainWindow window(Backends{}, state);
    window.restore_theme();
    show_active(window);
    window.open({folder.filePath("no such file.h5")});
    EXPECT_TRUE(wait_for([&] { return !window.error_shown().isEmpty(); }));
    window.close();
  }
  MainWindow again(Backends{}, state);
  EXPECT_TRUE(again.restore_autosave());
  EXPECT_EQ(again.document().session().maps.scale, "linear") << "that of the last run";
  show_active(again);
  again.document().edit("work", [](Session& s) { s.maps.scale = "rank"; });
  ASSERT_TRUE(action_called(again, "Earlier session")->isEnabled());
  action_called(again, "Earlier session")->trigger();
  EXPECT_EQ(again.document().session().maps.scale, "log");
  again.document().undo();
  EXPECT_EQ(again.document().session().maps.scale, "rank") << "nor is this one lost";
}

TEST(SavedSession, ReplacesNoFileThatIsNotASession) {
  REQUIRE_DISPLAY();
  const QTemporaryDir folder;
  SessionFile session([] { return SavedSession{}; }, {});
  QStringList failures, saved;
  QObject::connect(&session, &SessionFile::failed,
                   [&](const QString& message) { failures << message; });
  QObject::connect(&session, &SessionFile::saved, [&](const QString& file) { saved << file; });
  const auto write = [](const QString& path, const QByteArray& bytes) {
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  };
  const QString arrays = folder.filePath("arrays.npz");
  write(arrays, "PK\x03\x04 somebody's work");
  session.save_as(arrays);
  ASSERT_EQ(failures.size(), 1);
  EXPECT_TRUE(failures[0].contains("arrays.npz: is not a session of this program, and would be"))
      << failures[0].toStdString();
  EXPECT_EQ(session.path(), "") << "Save does not go there later";
  EXPECT_EQ(QFileInfo(arrays).size(), 20);
  // A new file, an empty one and a session are replaced.
  const QString mine = folder.filePath("mine"), empty = folder.filePath("empty.json");
  write(empty, {});
  for (const QString& path : {mine, mine, empty}) {
    session.save_as(path);
    EXPECT_TRUE(session.close());
  }
  EXPECT_EQ(saved, (QStringList{mine, mine, empty}));
  EXPECT_EQ(failures.size(), 1);
}

TEST(Title, SaysThatALayerDiffersFromItsModel) {
  REQUIRE_DISPLAY();
  OpenedSession opened;
  MainWindow& window = *opened.window;
  const QTemporaryDir folder;
  std::vector<float> numbers(24, 0.5F);
  TraceLayer layer{"layer0", {{"q", NumberType::f32, numbers.data(), {6, 4}, {4, 1}}}, {}, {}};
  for (const std::int64_t exact : {1, 0}) {
    layer.attributes = {{"exact", exact}};
    const QString file = folder.filePath(exact != 0 ? "same.h5" : "other.h5");
    write_trace(file.toStdString(), std::span(&layer, 1), {});
    window.open({file + ":/layer0"});
    const QString title = exact != 0 ? "same.h5:/layer0 — mine.json — Conelab"
                                     : "other.h5:/layer0 (not exact) — mine.json — Conelab";
    EXPECT_TRUE(wait_for([&] { return window.windowTitle() == title; }))
        << window.windowTitle().toStdString();
    EXPECT_EQ(window.notice_shown().contains("exact = 0"), exact == 0);
  }
}

TEST(SavedSession, IsNamedInTheTitleBesideTheTrace) {
  REQUIRE_DISPLAY();
  OpenedSession opened;
  MainWindow& window = *opened.window;
  EXPECT_EQ(window.windowTitle(), "mine.json — Conelab");
  window.open({QString::fromStdString(shipped_trace()) + ":/german/layer3"});
  EXPECT_TRUE(wait_for([&] { return window.workspace().head() != nullptr; }));
  EXPECT_EQ(window.windowTitle(), "minilm_trace.h5:/german/layer3 — mine.json — Conelab");
  window.document().edit("batch", [](Session& s) { s.trace.batch = 0; });
  action_called(window, "New session")->trigger();
  EXPECT_EQ(window.windowTitle(), "Conelab");
  name_the_file(opened.folder.filePath("next"));
  opened.save();
  EXPECT_TRUE(wait_for([&] { return window.windowTitle() == "next.json — Conelab"; }))
      << window.windowTitle().toStdString();
}

TEST(SessionFile, OfALargerScreenFitsThisOne) {
  REQUIRE_DISPLAY();
  QTemporaryDir state;
  const QSize screen = QGuiApplication::primaryScreen()->availableSize();
  {
    MainWindow window(Backends{}, state.path());
    window.resize(screen + QSize(300, 200));
    show_active(window);
    window.document().edit("work", [](Session& s) { s.maps.scale = "log"; });
    EXPECT_GT(window.width(), screen.width());
    window.close();
  }
  MainWindow again(Backends{}, state.path());
  EXPECT_TRUE(again.restore_autosave());
  show_active(again);
  pump(300);
  EXPECT_LE(again.width(), screen.width());
  EXPECT_LE(again.height(), screen.height());
}

}  // namespace
}  // namespace conelab::desktop
