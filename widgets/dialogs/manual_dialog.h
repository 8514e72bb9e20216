// The manual that `conelab help TOPIC` prints, as a window: its topics at the left, the text of the
// chosen one beside them.
#pragma once

#include <QDialog>
#include <string>
#include <utility>
#include <vector>

namespace conelab::desktop {

/// Topics with their texts in Markdown; the first line of each is its heading.
using Manual = std::vector<std::pair<std::string, std::string>>;

/// Shows the manual at a topic, or at the first one. The dialog deletes itself when it is closed.
class ManualDialog : public QDialog {
  Q_OBJECT

 public:
  ManualDialog(const Manual& manual, const QString& topic, QWidget* parent);
};

}  // namespace conelab::desktop
