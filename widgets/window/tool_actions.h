// The tools of a view as actions for the command palette: whatever stands in a tool bar can be
// found by its name, and a new tool needs no line for that.
#pragma once

#include <QList>
#include <functional>

class QAction;
class QObject;
class QString;
class QWidget;

namespace conelab::desktop {

/// Returns an action for each entry of each box of choices ("Scale: log"), for each button and for
/// each entry of a button's menu ("Maps: profiles", where `title` is "Maps"), as far as they are
/// enabled and have a meaning in what the view shows now. Triggering one does what a click does.
/// `show_view` is called first. `owner` owns the actions, which must be used before the view
/// changes.
[[nodiscard]] QList<QAction*> tool_actions(QWidget& view, const QString& title,
                                           const std::function<void()>& show_view, QObject* owner);

}  // namespace conelab::desktop
