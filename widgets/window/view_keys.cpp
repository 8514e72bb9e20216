#include "widgets/window/view_keys.h"

#include <QAbstractScrollArea>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QCursor>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMainWindow>
#include <QTabBar>
#include <QTextEdit>
#include <algorithm>

#include "widgets/benchmarks/bench_canvas.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/maps/maps_view.h"
#include "widgets/maps/pair_keys.h"

namespace conelab::desktop {
namespace {

bool takes_text(const QObject* widget) {
  return qobject_cast<const QLineEdit*>(widget) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
         qobject_cast<const QTextEdit*>(widget) != nullptr;
}

/// Whether pages have a meaning in the widget. A choice, which may still have the focus when it has
/// been made, does not change by the keys of the next and previous layer.
bool takes_pages(const QObject* widget) {
  return qobject_cast<const QAbstractScrollArea*>(widget) != nullptr ||
         qobject_cast<const QAbstractSlider*>(widget) != nullptr ||
         qobject_cast<const BenchCanvas*>(widget) != nullptr;
}

bool takes_arrows(const QObject* widget) {
  return takes_pages(widget) || qobject_cast<const QComboBox*>(widget) != nullptr ||
         qobject_cast<const QTabBar*>(widget) != nullptr;
}

bool is_page(int key) { return key == Qt::Key_PageUp || key == Qt::Key_PageDown; }

bool is_arrow(int key) {
  return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
}

}  // namespace

ViewKeys::ViewKeys(Workspace& workspace, MapsView& maps, ExplorerView& explorer, QObject* parent)
    : QObject(parent), workspace_(workspace), maps_(maps), explorer_(explorer) {
  qApp->installEventFilter(this);
}

QList<ViewKeys::Key> ViewKeys::keys() {
  const auto pair = [this](int queries, int columns) {
    return [this, queries, columns] { move_pair_by(queries, columns); };
  };
  return {
      {tr("Show the reference in every map (hold)"), QKeySequence(Qt::Key_R),
       [this] { maps_.model().flip(true); }},
      {tr("Next reference"), QKeySequence(Qt::SHIFT | Qt::Key_R),
       [this] { choose_next_reference(); }},
      {tr("Fit the view"), QKeySequence(Qt::Key_F), [this] { fit(); }},
      {tr("Previous head"), QKeySequence(Qt::Key_BracketLeft), [this] { step_head(-1); }},
      {tr("Next head"), QKeySequence(Qt::Key_BracketRight), [this] { step_head(1); }},
      {tr("Previous layer"), QKeySequence(Qt::Key_PageUp), [this] { workspace_.step_group(-1); }},
      {tr("Next layer"), QKeySequence(Qt::Key_PageDown), [this] { workspace_.step_group(1); }},
      {tr("Previous query"), QKeySequence(Qt::Key_Up), pair(-1, 0)},
      {tr("Next query"), QKeySequence(Qt::Key_Down), pair(1, 0)},
      {tr("Previous key"), QKeySequence(Qt::Key_Left), pair(0, -1)},
      {tr("Next key"), QKeySequence(Qt::Key_Right), pair(0, 1)},
  };
}

bool ViewKeys::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    // The event comes to the parents of the focus too; the focus alone decides.
    if (keeps(QApplication::focusWidget(), key)) {
      event->accept();  // The widget gets the key, and no action.
      return true;
    }
  }
  if (event->type() == QEvent::KeyPress && qobject_cast<QMainWindow*>(object) != nullptr) {
    // Nothing that has the focus has taken the key. Fields are left by it.
    const bool escape = static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
    if (escape && !takes_text(QApplication::focusWidget()) && maps_.deselect()) return true;
  }
  if (event->type() == QEvent::KeyRelease) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_R && !key->isAutoRepeat()) maps_.model().flip(false);
  }
  return QObject::eventFilter(object, event);
}

bool ViewKeys::keeps(const QObject* focus, int key) const {
  if (!is_arrow(key) && !is_page(key)) return false;  // Fields for text accept letters themselves.
  const bool taken = is_page(key) ? takes_pages(focus) : takes_arrows(focus);
  return takes_text(focus) || (taken && !is_under_pointer(maps_));
}

bool ViewKeys::is_under_pointer(const QWidget& view) const {
  const QWidget* under = QApplication::widgetAt(QCursor::pos());
  return under != nullptr && (under == &view || view.isAncestorOf(under));
}

void ViewKeys::move_pair_by(int queries, int columns) {
  const int key = queries != 0 ? (queries > 0 ? Qt::Key_Down : Qt::Key_Up)
                               : (columns > 0 ? Qt::Key_Right : Qt::Key_Left);
  const QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
  move_pair(workspace_.document(), event, maps_.model().rows(), maps_.model().columns());
}

void ViewKeys::step_head(int step) {
  const auto& trace = workspace_.trace();
  if (!trace) return;
  const std::int64_t head = workspace_.document().session().trace.head + step;
  if (head < 0 || head >= trace->query.shape.head) return;
  const auto choose = [head](Session& s) {
    s.trace.head = head;
    s.maps.join = head_joins[0];  // Otherwise the mean of all heads stays.
  };
  workspace_.document().edit(tr("choose head %1").arg(head), choose, "step head");
}

/// From none over each operator and back to none.
void ViewKeys::choose_next_reference() {
  const MapChoice& maps = workspace_.document().session().maps;
  const int next = maps.reference + 1;
  const int wanted = next < static_cast<int>(maps.calls.size()) ? next : -1;
  workspace_.document().edit(tr("change the reference"),
                             [wanted](Session& s) { s.maps.reference = wanted; });
}

/// Fits the view under the pointer, otherwise all that are shown.
void ViewKeys::fit() {
  const bool only_maps = is_under_pointer(maps_), only_explorer = is_under_pointer(explorer_);
  if (!only_explorer) maps_.canvas().fit();
  if (only_maps) return;
  explorer_.fit();
}

}  // namespace conelab::desktop
