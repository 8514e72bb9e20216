// A theme that is chosen while views are open is that of every view: each looks as in a window that
// began in this theme.
#include "widgets/theme/theme.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QDockWidget>
#include <QHelpEvent>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QTemporaryDir>
#include <QToolTip>
#include <map>
#include <utility>

#include "app/desktop.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/window/written_files.h"
#include "widgets/benchmarks/benchmarks_view.h"
#include "widgets/explorer/explorer_viewport.h"
#include "widgets/window/backends.h"
#include "widgets/window/main_window.h"
#include "widgets/window/view.h"

namespace conelab::desktop {
namespace {

using Pictures = std::map<std::string, QImage>;

/// A window that has something to show in every view.
class Full {
 public:
  /// One that looks right: all its views were filled in this theme.
  explicit Full(const char* begun_in) {
    window_.resize(1400, 1000);
    show_active(window_);
    set_theme(begun_in);
    window_.open({QString::fromStdString(shipped_trace()) + ":/german/layer3",
                  Written::files()["tree.h5"], Written::files()["new.h5"]});
    EXPECT_TRUE(wait_for([this] { return window_.workspace().head() != nullptr; }));
    EXPECT_TRUE(
        wait_for([this] { return window_.view<BenchmarksView>().model().data() != nullptr; }));
    EXPECT_EQ(window_.error_shown().toStdString(), "");
    window_.document().edit("look", [](Session& s) {
      s.locked = Focus{3, 8};
      s.trace.head = 5;
      s.bench.fields["rounds"] = "many";  // What is wrong has a colour of its own.
      s.maps.calls.front().parameters["nonsense"] = "1";
    });
  }
  /// Every view, each page of it in turn, after the theme `from` has become `to`.
  Pictures pictures(const char* from, const char* to) {
    from_ = from, to_ = to;
    // There and back: what is lost once stays lost.
    for (const char* theme : {from, to, from}) set_theme(theme);
    Pictures all;
    window_.show_error("something is wrong");
    for (const ViewRow& view : view_table()) all[view.name] = picture(view.name);
    for (const char* layout : {"maps", "heads", "arcs", "hasse", "table"}) {
      window_.document().edit("layout", [&](Session& s) { s.maps.layout = layout; });
      all[std::string("maps, ") + layout] = picture("maps");
    }
    for (const char* model : {"ball", "space"}) {
      window_.document().edit("model", [&](Session& s) { s.cones.model = model; });
      all[std::string("explorer, ") + model] = picture("explorer");
    }
    for (const char* page : {"scaling", "table"}) {
      window_.document().edit("page", [&](Session& s) { s.bench.page = page; });
      all[std::string("benchmarks, ") + page] = picture("benchmarks");
    }
    all["menu bar"] = window_.menuBar()->grab().toImage();
    all["banner"] = window_.findChild<QWidget*>("banner")->grab().toImage();
    return all;
  }

 private:
  void set_theme(const std::string& theme) {
    window_.document().edit("theme", [&](Session& s) { s.theme = theme; });
    window_.setFocus();  // No field has a cursor that blinks.
    pump(40);
    EXPECT_TRUE(wait_for([this] { return window_.workspace().jobs().running().empty(); }));
    pump(40);
  }
  QImage picture(const char* name) {
    auto* dock = window_.findChild<QDockWidget*>(QStringLiteral("dock-%1").arg(name));
    dock->raise();
    set_theme(from_);
    if (from_ != to_) set_theme(to_);
    return at_rest(*dock).convertToFormat(QImage::Format_RGB32);
  }
  /// Jobs paint some pictures, and the explorer refines its own at rest: the one that is there once
  /// they are done and it changes no more.
  QImage at_rest(QWidget& widget) {
    const auto* explorer = widget.findChild<ExplorerViewport*>();
    QImage last;
    EXPECT_TRUE(wait_for([&] {
      pump(40);
      // The result of a job that has just ended is not delivered yet, so that a picture from before
      // the job does not count.
      if (!window_.workspace().jobs().running().empty()) {
        last = {};
        return false;
      }
      // A grab draws the picture, which is refined after that.
      const QImage before = std::exchange(last, widget.grab().toImage());
      return last == before && (explorer == nullptr || explorer->heat_step() == 2);
    }));
    return last;
  }

  QTemporaryDir state_;
  MainWindow window_{desktop_backends(), state_.path()};
  std::string from_, to_;
};

/// Where they differ; the whole picture where their sizes do.
QRect difference(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return a.rect() | b.rect();
  if (a == b) return {};
  QRect found;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      if (a.pixel(x, y) != b.pixel(x, y)) found |= QRect(x, y, 1, 1);
    }
  }
  return found;
}

double brightness(const QImage& picture) {
  double sum = 0;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) sum += qGray(picture.pixel(x, y));
  }
  return sum / (picture.width() * picture.height());
}

/// Keeps both for a look at them.
void keep(const std::string& name, const QImage& expected, const QImage& found) {
  const char* folder = std::getenv("CONELAB_KEEP_PICTURES");
  if (folder == nullptr) return;
  const QString path = QStringLiteral("%1/%2").arg(folder, QString::fromStdString(name));
  expected.save(path + " expected.png");
  found.save(path + " found.png");
}

TEST(Theme, SwitchedInAnOpenWindowLeavesNothingOfTheOther) {
  REQUIRE_DISPLAY();
  Pictures expected = Full("dark").pictures("dark", "dark");
  EXPECT_LT(brightness(expected["menu bar"]), 100);
  const Pictures found = Full("light").pictures("light", "dark");
  for (const auto& [name, picture] : found) {
    SCOPED_TRACE(name);
    const QRect at = difference(expected[name], picture);
    EXPECT_TRUE(at.isEmpty()) << at.x() << ", " << at.y() << ": " << at.width() << " x "
                              << at.height();
    if (!at.isEmpty()) keep(name, expected[name], picture);
  }
}

TEST(Theme, LinksHaveItsColour) {
  REQUIRE_DISPLAY();
  const QString text = QStringLiteral("<a href='reset'>reset</a>");
  apply_theme(*qApp, "light");
  QLabel switched(text);
  const QImage before = switched.grab().toImage();
  apply_theme(*qApp, "dark");
  QLabel made(text);
  const QImage expected = made.grab().toImage();
  EXPECT_NE(expected, before);
  EXPECT_EQ(switched.grab().toImage(), expected);
}

/// Shows the tool tip of a widget as the pointer at rest does.
QImage tool_tip_of(QWidget& widget) {
  QToolTip::hideText();
  pump(400);
  const QPoint at = widget.rect().center();
  QHelpEvent help(QEvent::ToolTip, at, widget.mapToGlobal(at));
  QApplication::sendEvent(&widget, &help);
  const auto shown = [] {
    for (QWidget* each : QApplication::topLevelWidgets()) {
      if (each->inherits("QTipLabel") && each->isVisible()) return each;
    }
    return static_cast<QWidget*>(nullptr);
  };
  EXPECT_TRUE(wait_for([&] { return shown() != nullptr; }, 2000));
  return shown() == nullptr ? QImage() : shown()->grab().toImage();
}

TEST(Theme, ToolTipsAreLegibleInAThemeThatIsChosen) {
  REQUIRE_DISPLAY();
  MainWindow window(desktop_backends(), "");
  show_active(window);
  window.document().edit("tools", [](Session& s) { s.maps.layout = "heads"; });
  auto* box = window.findChild<QWidget*>("maps-head-score");
  ASSERT_NE(box, nullptr);
  for (const char* theme : {"light", "dark", "light"}) {
    window.document().edit("theme", [&](Session& s) { s.theme = theme; });
    pump(40);
    const QImage tip = tool_tip_of(*box);
    int darkest = 255, lightest = 0;
    for (int y = 4; y < tip.height() - 4; ++y) {
      for (int x = 4; x < tip.width() - 4; ++x) {
        darkest = std::min(darkest, qGray(tip.pixel(x, y)));
        lightest = std::max(lightest, qGray(tip.pixel(x, y)));
      }
    }
    EXPECT_GT(lightest - darkest, 120) << theme;
    EXPECT_EQ(brightness(tip) < 128, theme == std::string("dark"));
  }
}

TEST(Theme, MenusHaveAVisibleFrame) {
  REQUIRE_DISPLAY();
  MainWindow window(desktop_backends(), "");
  show_active(window);
  for (const char* theme : {"light", "dark"}) {
    window.document().edit("theme", [&](Session& s) { s.theme = theme; });
    pump(40);
    QMenu menu(&window);
    menu.addAction("entry");
    menu.popup(window.mapToGlobal(QPoint(200, 200)));
    pump(40);
    const QImage picture = menu.grab().toImage();
    const int y = picture.height() / 2;
    const int frame = qGray(picture.pixel(0, y)), inside = qGray(picture.pixel(3, y));
    EXPECT_GT(std::abs(frame - inside), 30) << theme;
  }
}

TEST(Theme, LongToolTipsBreakIntoLines) {
  REQUIRE_DISPLAY();
  MainWindow window(desktop_backends(), "");
  show_active(window);
  for (const char* name : {"maps-layout", "explorer-depth", "maps-scale"}) {
    auto* widget = window.findChild<QWidget*>(name);
    ASSERT_NE(widget, nullptr) << name;
    ASSERT_GT(widget->toolTip().size(), 90) << name;
    EXPECT_LT(tool_tip_of(*widget).width(), 700) << name;
  }
}

TEST(Theme, TheViewMenuMarksItAndTheViewsThatAreSeen) {
  REQUIRE_DISPLAY();
  MainWindow window(Backends{}, "");
  window.resize(1300, 850);
  show_active(window);
  const auto marked = [&] {
    QMenu* menu = nullptr;
    for (QAction* action : window.menuBar()->actions()) {
      if (action->text() == "&View") menu = action->menu();
    }
    menu->popup(window.mapToGlobal(QPoint(50, 50)));
    EXPECT_TRUE(wait_for([&] { return menu->isVisible(); }));
    QStringList names;
    for (const QAction* action : menu->actions()) {
      if (action->isChecked()) names << action->text();
    }
    menu->hide();
    return names;
  };
  window.document().edit("theme", [](Session& s) { s.theme = "light"; });
  pump(60);
  const QStringList before = marked();
  EXPECT_TRUE(before.contains("Theme: light"));
  EXPECT_FALSE(before.contains("Theme: dark"));
  // Views behind others in a row of tabs are there, and marked.
  EXPECT_TRUE(before.contains("Show Welcome") && before.contains("Show Attention maps"));
  window.findChild<QDockWidget*>("dock-data")->close();
  for (QAction* action : window.actions()) {
    if (action->text() == "Show Attention maps") action->trigger();
  }
  window.document().edit("theme", [](Session& s) { s.theme = "dark"; });
  pump(60);
  const QStringList after = marked();
  EXPECT_TRUE(after.contains("Theme: dark") && after.contains("Show Attention maps"));
  EXPECT_FALSE(after.contains("Show Data")) << after.join(", ").toStdString();
  window.document().undo();
  pump(60);
}

}  // namespace
}  // namespace conelab::desktop
