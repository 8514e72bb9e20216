// The cone explorer: family, model, typed coordinates, the viewport, the exact readout.
#pragma once

#include <QWidget>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/trace/workspace.h"

class QComboBox;
class QLabel;
class QLineEdit;

namespace conelab::desktop {

class ExplorerView : public QWidget {
  Q_OBJECT

 public:
  explicit ExplorerView(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] ExplorerViewport& viewport() { return *viewport_; }
  /// The readout as text, one "name: value" a line.
  [[nodiscard]] QString readout() const;

 signals:
  void text_copied(const QString& text);
  /// The session's figure is now of this scene; the figures are to be seen.
  void figure_shown();
  /// The command that draws this figure is to be copied.
  void figure_command_wanted(const FigureChoice& choice);

 private:
  void build_tools();
  QLineEdit* add_field(class QLayout* line, const QString& name,
                       std::array<double, 2> ConeChoice::*member);
  void choose_beside(int index);
  void show_session();
  void show_readout();
  [[nodiscard]] ConeChoice wanted() const;

  Workspace& workspace_;
  ExplorerViewport* viewport_;
  QComboBox *family_ = nullptr, *model_ = nullptr, *beside_ = nullptr;
  QLabel* readout_;
  std::vector<std::pair<QLineEdit*, std::array<double, 2> ConeChoice::*>> fields_;
};

}  // namespace conelab::desktop
