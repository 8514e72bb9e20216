// The attention maps view: its tool bar, the canvas, the exact readout.
#pragma once

#include <QWidget>

#include "widgets/maps/maps_canvas.h"

class QComboBox;
class QLabel;
class QToolButton;
class QStackedWidget;

namespace conelab::desktop {

class MapsView : public QWidget {
  Q_OBJECT

 public:
  explicit MapsView(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] MapsModel& model() { return model_; }
  [[nodiscard]] MapsCanvas& canvas() { return *canvas_; }
  /// The readout's text, as it can be selected and copied.
  [[nodiscard]] QString readout() const;

 private:
  void build_tools(QWidget* row);
  QComboBox* add_choice(QWidget* row, const QString& name, const QString& help,
                        const QStringList& words, std::string MapChoice::*member);
  void show_session();
  void show_readout();
  void show_work();

  Workspace& workspace_;
  MapsModel model_;
  QStackedWidget* stack_;
  MapsCanvas* canvas_;
  QLabel* readout_;
  QComboBox *head_ = nullptr, *reference_ = nullptr;
  QToolButton *shared_ = nullptr, *cancel_ = nullptr;
  std::vector<std::pair<QComboBox*, std::string MapChoice::*>> choices_;
};

}  // namespace conelab::desktop
