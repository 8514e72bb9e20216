// The maps view over the shipped trace, shown and computed, for tests that drive it.
#pragma once

#include <QToolButton>
#include <algorithm>
#include <string>
#include <vector>

#include "tests/widgets/maps/whole_maps.h"
#include "tests/widgets/work.h"
#include "widgets/maps/maps_view.h"

namespace conelab::desktop {

struct ShownMaps : Work {
  MapsView view{workspace};

  explicit ShownMaps(QSize size = {900, 760}) {
    document.edit("head", [](Session& s) { s.trace.head = 5; });
    open();
    view.resize(size);
    show_active(view);
    settle();
  }

  /// Waits until every map is exact, and then some time, in which it is painted.
  void settle(int milliseconds = 60) {
    EXPECT_TRUE(wait_for([this] {
      const auto& panels = view.model().panels();
      return !panels.empty() && std::all_of(panels.begin(), panels.end(), [](const auto& p) {
        return (is_whole(*p) && p->summary.revision == p->pyramid->revision()) || !p->error.empty();
      });
    }));
    pump(milliseconds);
  }
  void edit(const std::function<void(MapChoice&)>& change) {
    document.edit("change", [&](Session& s) { change(s.maps); });
    settle();
  }
  [[nodiscard]] const MapChoice& maps() const { return document.session().maps; }
  [[nodiscard]] MapsCanvas& canvas() { return view.canvas(); }
  [[nodiscard]] const MapPanel& panel(std::size_t i) { return *view.model().panels().at(i); }
  template <class Widget>
  [[nodiscard]] Widget& named(const char* name) {
    auto* found = view.findChild<Widget*>(QString::fromUtf8(name));
    if (found == nullptr) throw std::runtime_error(std::string("there is no ") + name);
    return *found;
  }
  /// Triggers an action of a tool button's menu.
  void choose(const char* button, const QString& text) {
    for (QAction* action : named<QToolButton>(button).menu()->actions()) {
      if (action->text() == text) return action->trigger();
    }
    ADD_FAILURE() << text.toStdString();
  }
  [[nodiscard]] QColor colour_at(const QPointF& at) {
    return canvas().grab().toImage().pixelColor(at.toPoint());
  }
};

/// Returns all cells of a map.
inline std::vector<float> cells_of(const MatrixSource& source) {
  std::vector<float> cells(static_cast<std::size_t>(source.rows() * source.columns()));
  source.cells({0, source.rows(), 0, source.columns()}, cells.data());
  return cells;
}

}  // namespace conelab::desktop
