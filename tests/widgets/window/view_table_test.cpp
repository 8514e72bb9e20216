// The table of views, which the window folds over.
#include <gtest/gtest.h>

#include <QDockWidget>
#include <QTemporaryDir>
#include <set>

#include "tests/widgets/driving.h"
#include "widgets/window/main_window.h"
#include "widgets/window/view.h"

namespace conelab::desktop {
namespace {

TEST(Views, HaveADockOfTheirNameAndTitleAndAnEntryOfTheMenu) {
  REQUIRE_DISPLAY();
  MainWindow window(Backends{}, "");
  QStringList entries;
  for (const QAction* action : window.actions()) entries << action->text();
  std::set<std::string> names;
  for (const ViewRow& row : view_table()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    const auto* dock = window.findChild<QDockWidget*>(QStringLiteral("dock-%1").arg(row.name));
    ASSERT_NE(dock, nullptr);
    EXPECT_EQ(dock->windowTitle(), row.title);
    EXPECT_EQ(entries.count(QStringLiteral("Show %1").arg(row.title)), 1);
  }
}

TEST(Views, StoreTheirOwnPartsOfTheSessionWhichAreUndoneAndSaved) {
  Document document;
  document.edit("write a note", [](Session& s) {
    s.views["notes"] = QJsonObject{{"text", "\u00fc"}, {"lines", 2}};
  });
  const SavedSession read =
      session_from_json(session_to_json({document.session(), {}}), "a session");
  EXPECT_EQ(read.session.views["notes"].toObject()["lines"].toInt(), 2);
  EXPECT_TRUE(read.session == document.session());
  document.undo();
  EXPECT_TRUE(document.session().views.isEmpty());
  const QByteArray older = R"({"conelab_session": 1, "session": {"theme": "dark"}})";
  EXPECT_TRUE(session_from_json(older, "an older session").session.views.isEmpty());
}

}  // namespace
}  // namespace conelab::desktop
