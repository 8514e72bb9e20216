#include "widgets/window/tool_tips.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QToolTip>

namespace conelab::desktop {
namespace {

constexpr qsizetype longest_line = 90;  ///< Letters; a longer text is broken into lines.

/// Returns the tool tip of a widget, or of the item of a list below the pointer.
QString tip_at(const QWidget& widget, const QPoint& point) {
  const auto* view = qobject_cast<const QAbstractItemView*>(widget.parentWidget());
  if (view == nullptr || view->viewport() != &widget) return widget.toolTip();
  return view->indexAt(point).data(Qt::ToolTipRole).toString();
}

}  // namespace

ToolTips::ToolTips(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

/// Qt breaks the lines of rich text.
bool ToolTips::eventFilter(QObject* object, QEvent* event) {
  auto* widget = event->type() == QEvent::ToolTip ? qobject_cast<QWidget*>(object) : nullptr;
  if (widget == nullptr) return QObject::eventFilter(object, event);
  const auto& help = *static_cast<QHelpEvent*>(event);
  const QString tip = tip_at(*widget, help.pos());
  if (tip.size() <= longest_line || Qt::mightBeRichText(tip)) return false;
  const QString text = tip.toHtmlEscaped().replace('\n', "<br>");
  QToolTip::showText(help.globalPos(), "<qt>" + text + "</qt>", widget);
  return true;
}

}  // namespace conelab::desktop
