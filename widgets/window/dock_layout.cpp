#include "widgets/window/dock_layout.h"

#include <QApplication>
#include <QDataStream>
#include <QDockWidget>
#include <QEvent>
#include <QIODevice>
#include <QMainWindow>
#include <QScopedValueRollback>
#include <QScreen>
#include <QScrollArea>
#include <QToolBar>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "widgets/theme/flow_layout.h"

namespace conelab::desktop {
namespace {

/// Returns the size of the window when it is first shown: it fits on the screen with its frame,
/// whose title is above the window.
QSize first_size(const QWidget& window) {
  constexpr QSize usual(1440, 900), frame(16, 48);
  const QSize screen = window.screen()->availableSize();
  const QSize inside = usual.boundedTo(screen - frame);
  return screen.width() >= usual.width() ? QSize(usual.width(), inside.height()) : inside;
}

bool is_seen(const QDockWidget* dock) {
  return dock->isVisible() && !dock->isFloating() && !dock->visibleRegion().isEmpty();
}

}  // namespace

DockLayout::DockLayout(QMainWindow& window) : window_(window) {
  window_.installEventFilter(this);
  measuring_.setSingleShot(true);
  measuring_.setInterval(0);
  connect(&measuring_, &QTimer::timeout, this, &DockLayout::measure);
  following_.setSingleShot(true);
  following_.setInterval(0);
  connect(&following_, &QTimer::timeout, this, &DockLayout::follow_front);
}

void DockLayout::add(const ViewRow& row, QWidget* view) {
  auto* dock = new QDockWidget(tr(row.title), &window_);
  dock->setObjectName(QStringLiteral("dock-%1").arg(row.name));
  const QString title = dock->windowTitle();
  QScrollArea* area = scrolled(view, title, true);  // It does not determine the window's size.
  area->setFocusProxy(view);
  dock->setWidget(area);
  view->setWindowTitle(title);
  if (view->accessibleName().isEmpty()) view->setAccessibleName(title);
  const bool is_left = row.place == Place::panel || row.place == Place::panel_tab;
  window_.addDockWidget(is_left ? Qt::LeftDockWidgetArea : Qt::RightDockWidgetArea, dock);
  dock->installEventFilter(this);
  connect(dock, &QDockWidget::visibilityChanged, &following_, qOverload<>(&QTimer::start));
  docks_ << dock;
  if (row.place == Place::panel && panel_ == nullptr) panel_ = dock;
  if (row.place == Place::panel_tab) window_.tabifyDockWidget(panel_, dock), dock->hide();
  if (row.place == Place::tab) window_.tabifyDockWidget(main_, dock);
  if (row.place == Place::wide_tab) window_.tabifyDockWidget(main_, dock), wide_ << dock;
  if (row.place == Place::front) front_ = dock;
  if (row.place != Place::main) return;
  if (main_ == nullptr) main_ = last_ = dock;
  if (last_ != dock) window_.splitDockWidget(std::exchange(last_, dock), dock, Qt::Horizontal);
}

void DockLayout::clear() {
  window_.removeEventFilter(this);
  forget_folded();
  following_.stop();
  qDeleteAll(std::exchange(docks_, {}));
}

// ---- which are seen -----------------------------------------------------------------------------

QDockWidget* DockLayout::named(const QString& name) const {
  return window_.findChild<QDockWidget*>("dock-" + name);
}

void DockLayout::raise(const QString& name, int height) {
  QDockWidget* dock = named(name);
  dock->show();
  dock->raise();
  dock->widget()->setFocus();
  const int wanted = std::min(height, window_.height() / 2);
  if (!dock->isFloating() && dock->height() < wanted) {
    window_.resizeDocks({dock}, {wanted}, Qt::Vertical);
  }
}

void DockLayout::hide(const QString& name) { named(name)->hide(); }

bool DockLayout::shows(const QWidget& widget) const {
  return std::ranges::none_of(docks_, [&](const QDockWidget* dock) {
    return dock->isAncestorOf(&widget) && !dock->isFloating() && !is_seen(dock);
  });
}

QDockWidget* DockLayout::in_front() const {
  const QWidget* focus = QApplication::focusWidget();
  const auto holds = [&](const QDockWidget* dock) {
    return focus != nullptr && dock->isAncestorOf(focus);
  };
  auto found = std::ranges::find_if(docks_, holds);
  if (found == docks_.end()) found = std::ranges::find_if(docks_, is_seen);
  return found == docks_.end() ? nullptr : *found;
}

void DockLayout::toggle_single() {
  if (!before_single_.isEmpty()) {
    arrange(std::exchange(before_single_, {}));
    return measuring_.start();
  }
  QDockWidget* front = in_front();
  if (front == nullptr) return;
  before_single_ = window_.saveState();
  for (QDockWidget* dock : docks_) dock->setVisible(dock == front);
}

// ---- folding ------------------------------------------------------------------------------------

void DockLayout::follow_front() {
  if (!window_.isVisible() || !before_single_.isEmpty()) return;
  const auto front = std::ranges::find_if(
      docks_, [&](const QDockWidget* dock) { return is_seen(dock) && wide_.contains(dock); });
  if (front == docks_.end()) return unfold();
  if (unfolded_.isEmpty()) fold_beside(*front);
}

/// In a wide window the panels at the left stay, so that the tabs of the views keep their place.
void DockLayout::fold_beside(QDockWidget* front) {
  constexpr int wide_window = 1280;
  const bool folds_panels = window_.width() < wide_window;
  if (measuring_.isActive()) measure();
  unfolded_ = window_.saveState();
  unfolded_widths_ = given_;
  const QList<QDockWidget*> behind = window_.tabifiedDockWidgets(front);
  for (QDockWidget* dock : docks_) {
    if (dock == front || dock->isHidden() || dock->isFloating() || behind.contains(dock)) continue;
    if (is_panel(dock) && !folds_panels) continue;
    folded_ << dock;
    if (is_seen(dock)) seen_ << dock;
  }
  for (QDockWidget* dock : folded_) dock->hide();
}

void DockLayout::unfold() {
  if (unfolded_.isEmpty()) return;
  for (QDockWidget* dock : folded_) dock->show();
  for (QDockWidget* dock : seen_) dock->raise();  // In front of those at the same position.
  given_ = unfolded_widths_;
  forget_folded();
  share_width();
}

void DockLayout::forget_folded() {
  unfolded_.clear();
  folded_.clear(), seen_.clear();
}

// ---- arrangements -------------------------------------------------------------------------------

void DockLayout::make_usual(const std::vector<ViewRow>& rows) {
  window_.tabifyDockWidget(main_, front_);
  window_.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  window_.resize(first_size(window_));
  constexpr int side_by_side = 1200;  // In a narrower window, views stand behind one another.
  constexpr int beside_panels =
      720;  // In a still narrower one, panels do as well: with large text.
  const int width = window_.width();
  QHash<QDockWidget*, int> widths;
  QList<QDockWidget*> high;
  QList<int> heights;
  int others = 0;
  for (const ViewRow& row : rows) {
    QDockWidget* dock = named(row.name);
    const bool behind = (width < side_by_side && row.place == Place::main && dock != main_) ||
                        (width < beside_panels && row.place == Place::panel);
    if (behind) window_.tabifyDockWidget(main_, dock);
    if (behind) continue;
    if (row.height > 0) high << dock, heights << row.height;
    if (row.width > 0) widths[dock] = row.width;
    if (!is_panel(dock)) others += row.width;
  }
  window_.resizeDocks(high, heights, Qt::Vertical);
  front_->raise();
  usual_ = window_.saveState();
  usual_widths_ = given_ = {window_.width(), window_.width() - others, widths};
}

bool DockLayout::arrange(const QByteArray& state) {
  QHash<QToolBar*, bool> hidden;
  for (QToolBar* bar : window_.findChildren<QToolBar*>()) hidden[bar] = bar->isHidden();
  const bool restored = window_.restoreState(state);
  for (auto each = hidden.begin(); each != hidden.end(); ++each) each.key()->setHidden(*each);
  return restored;
}

void DockLayout::restore_usual() {
  before_single_.clear();
  forget_folded();
  arrange(usual_);
  given_ = usual_widths_;
  share_width();
}

QByteArray DockLayout::state() const {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << window_.saveGeometry()
         << (!unfolded_.isEmpty()        ? unfolded_
             : !before_single_.isEmpty() ? before_single_
                                         : window_.saveState());
  return bytes;
}

bool DockLayout::restore(const QByteArray& state) {
  QByteArray geometry, docks;
  QDataStream stream(state);
  stream >> geometry >> docks;
  window_.restoreGeometry(geometry);
  // The session may come from a larger screen.
  const QSize screen = window_.screen()->availableSize();
  window_.resize(window_.size().boundedTo(screen));
  // Widths of docks can be set only after the window has its size on the screen.
  if (!window_.isVisible()) shown_later_ = state;
  given_ = {};
  before_single_.clear();
  forget_folded();
  const bool restored = arrange(docks);
  measuring_.start();
  return restored;
}

// ---- widths -------------------------------------------------------------------------------------

bool DockLayout::is_panel(QDockWidget* dock) const {
  return window_.dockWidgetArea(dock) == Qt::LeftDockWidgetArea;
}

bool DockLayout::eventFilter(QObject* object, QEvent* event) {
  if (object == &window_ && event->type() == QEvent::Show && !shown_later_.isEmpty()) {
    QMetaObject::invokeMethod(
        this, [this, later = std::exchange(shown_later_, {})] { restore(later); },
        Qt::QueuedConnection);
  }
  if (object == &window_ && event->type() == QEvent::Show) following_.start();
  // The layout of the main window has finished at this point.
  if (object == &window_ && event->type() == QEvent::Resize) share_width();
  // If docks change while the window does not, the user or the program has changed them.
  const bool moved = event->type() == QEvent::Resize || event->type() == QEvent::Show;
  if (object != &window_ && moved && !sharing_ && window_.width() == shared_width_) {
    measuring_.start();
  }
  return QObject::eventFilter(object, event);
}

void DockLayout::measure() {
  if (!window_.isVisible() || window_.width() != shared_width_) return;
  given_ = {window_.width(), window_.width(), {}};
  QList<QDockWidget*> seen;
  std::ranges::copy_if(docks_, std::back_inserter(seen), is_seen);
  std::ranges::sort(seen, [](const QDockWidget* a, const QDockWidget* b) {
    return a->geometry().left() < b->geometry().left();
  });
  int end = 0;
  for (QDockWidget* dock : seen) {
    given_.docks[dock] = dock->width();
    const QRect place = dock->geometry();
    if (!is_panel(dock))
      given_.fixed -= std::max(0, place.right() + 1 - std::max(end, place.left()));
    end = std::max(end, place.right() + 1);
  }
}

void DockLayout::share_width() {
  shared_width_ = window_.width();
  if (given_.window <= given_.fixed) return measuring_.start();
  const QScopedValueRollback sharing(sharing_, true);
  const double factor = static_cast<double>(shared_width_ - given_.fixed) /
                        static_cast<double>(given_.window - given_.fixed);
  QList<QDockWidget*> docks;
  QList<int> widths;
  for (QDockWidget* dock : docks_) {
    const auto given = given_.docks.constFind(dock);
    if (given == given_.docks.constEnd()) continue;
    docks << dock;
    widths << (is_panel(dock) ? *given : static_cast<int>(std::lround(*given * factor)));
  }
  window_.resizeDocks(docks, widths, Qt::Horizontal);
}

}  // namespace conelab::desktop
