// Room around a widget that stays. Margins of a label itself are lost where a style sheet is set
// anew, as it is with every choice of a theme.
#pragma once

#include <QHBoxLayout>
#include <QMargins>

namespace conelab::desktop {

/// A layout that holds the widget within these margins; without room where the widget is hidden.
[[nodiscard]] inline QLayout* inset(QWidget* widget, const QMargins& margins) {
  auto* line = new QHBoxLayout;
  line->setContentsMargins(margins);
  line->addWidget(widget);
  return line;
}

}  // namespace conelab::desktop
