// The program's window, for a result or another file that a test opens.
#pragma once

#include <gtest/gtest.h>

#include <QComboBox>
#include <QTemporaryDir>

#include "app/desktop.h"
#include "tests/widgets/driving.h"
#include "tests/widgets/maps/whole_maps.h"
#include "widgets/maps/maps_view.h"
#include "widgets/window/backends.h"
#include "widgets/window/command_palette.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {

struct ResultWindow {
  QTemporaryDir state;
  MainWindow window{desktop_backends(), state.path()};

  ResultWindow() {
    window.resize(1300, 850);
    show_active(window);
  }
  [[nodiscard]] MapsModel& model() { return window.view<MapsView>().model(); }
  [[nodiscard]] bool shows(const std::string& group) {
    return wait_for([&] {
      const auto& trace = window.workspace().trace();
      return trace && trace->group == group && are_whole(model(), 1) &&
             window.workspace().jobs().running().empty();
    });
  }
  [[nodiscard]] const MapPanel& panel() { return *model().panels().front(); }
  template <class Widget>
  [[nodiscard]] Widget* named(const char* name) {
    auto* found = window.findChild<Widget*>(QString::fromUtf8(name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  /// Points at a cell of the only map and returns the readout.
  QString point_at_cell(const Focus& cell) {
    MapsCanvas& canvas = window.view<MapsView>().canvas();
    canvas.grab();  // It is laid out when it is painted.
    move_to(canvas, canvas.cell_centre(0, cell));
    pump(60);
    return window.view<MapsView>().readout();
  }
  void choose(const char* box, const QString& text) {
    auto* choice = named<QComboBox>(box);
    choice->setCurrentText(text);
    emit choice->activated(choice->currentIndex());
  }
  void copy_as_command() {
    for (QAction* action : window.actions()) {
      if (action_name(*action) == "Copy as command") action->trigger();
    }
  }
};

}  // namespace conelab::desktop
