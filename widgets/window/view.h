// The views of the window: a table of rows. A row names a view, says where it stands, and makes it.
//
// A new view is three files: its own, its row in view_table.cpp, and its test. It gets everything
// from the window (main_window.h): the open trace, the session with its selection, the pool of
// jobs, and functions that open files, show other views and copy commands. What it wants to keep in
// the session it stores under its name in Session::views, through Document::edit, and reads it
// again when the document has changed; undo, saving and restoring then include it.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>
#include <QWidget>
#include <functional>
#include <utility>
#include <vector>

namespace conelab::desktop {

struct FoundFile;
class MainWindow;

/// Translates a text of a row.
[[nodiscard]] inline QString tr(const char* text) { return QObject::tr(text); }

/// Something that the user can do with a view.
struct ViewAction {
  QString text;
  std::function<void()> run;
  const char* menu = "";               ///< "edit" or "go".
  QKeySequence keys = {};              ///< They work wherever the keyboard focus is.
  std::function<void()> release = {};  ///< Called when these keys are released.
};

/// Files of one kind (FoundFile::kind) that a view shows.
struct ShownKind {
  const char* kind;
  /// Shows files of this kind, at least one. Returns how many of them, from the first, it shows.
  std::function<std::size_t(const std::vector<FoundFile>& files)> open;
};

/// A row makes this: the widget, and the actions that menus, keys and the palette offer of it.
/// Functions may be empty.
struct View {
  QWidget* widget = nullptr;
  std::vector<ViewAction> actions = {};  ///< Shown in menus.
  /// Returns what only the command palette offers, when it is opened.
  std::function<std::vector<ViewAction>()> choices = {};
  QString tools = {};  ///< The title under which the palette offers its tools; empty: it does not.
  /// Pairs of a gesture of the mouse and its effect, for the list of shortcuts.
  QList<std::pair<QString, QString>> gestures = {};
  std::function<void()> fit = {};       ///< Makes everything visible.
  std::function<bool()> deselect = {};  ///< Escape: returns whether something was selected.
  bool takes_arrows =
      false;  ///< Whether arrows and pages are its keys while the pointer is over it.
  /// Returns what closing the window would stop, as a sentence; empty if nothing runs.
  std::function<QString()> running = {};
  std::vector<ShownKind> kinds = {};
};

/// Where a view stands at first. Panels are at the left and keep their width.
enum class Place {
  panel,      ///< Below the other panels.
  panel_tab,  ///< Behind the first panel, and hidden.
  main,       ///< To the right of the views before it.
  tab,        ///< Behind the first of these.
  wide_tab,   ///< Behind the first of these; the docks beside it fold away while it is in front.
  front,      ///< The last of those tabs, and in front of them.
};

struct ViewRow {
  const char* name;  ///< "maps"; its dock is called "dock-maps".
  const char* title;
  Place place;
  View (*make)(MainWindow& window);
  int width = 0, height = 0;  ///< Pixels in the usual layout; 0: what remains.
};

/// Returns the views in the order of the menu. A row may look for the views of rows before it.
[[nodiscard]] const std::vector<ViewRow>& view_table();

}  // namespace conelab::desktop
