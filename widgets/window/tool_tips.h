// Long tool tips break into several lines: Qt shows plain text in one line, however wide the screen
// would have to be.
#pragma once

#include <QObject>

namespace conelab::desktop {

class ToolTips : public QObject {
 public:
  /// Watches all widgets of the application as long as it lives.
  explicit ToolTips(QObject* parent);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
};

}  // namespace conelab::desktop
