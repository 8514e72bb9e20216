// Controls above the scene of a viewport: ImGui windows that close automatically. Controls record
// their positions, so that tests and help can point at them.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "widgets/imgui/viewport.h"

namespace conelab::desktop {

/// A small window at a side of the viewport. It is open while the object exists.
class Overlay {
 public:
  Overlay(Viewport& viewport, const char* name, const OverlaySpot& spot, float opacity);
  ~Overlay() { ImGui::End(); }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  [[nodiscard]] QSizeF size() const;

  // These work as in ImGui and return true if the user changed something.
  bool button(const char* label);
  bool checkbox(const char* label, bool& value);
  bool slider(const char* label, double& value, double low, double high,
              const char* format = "%.3g", bool logarithmic = false);
  void tooltip(const char* text);

 private:
  Viewport& viewport_;
  void record(const char* label);
};

/// Return a point as ImGui takes it.
[[nodiscard]] inline ImVec2 imgui_point(double x, double y) {
  return {static_cast<float>(x), static_cast<float>(y)};
}
[[nodiscard]] inline ImVec2 imgui_point(const QPointF& p) { return imgui_point(p.x(), p.y()); }

/// Returns a colour as the lists of ImGui take it; `alpha` 0 is transparent.
[[nodiscard]] std::uint32_t packed(const QColor& colour, double alpha = 1);

/// Sets the colours of ImGui from the palette of the widget, light or dark.
void apply_palette(const QPalette& palette);

}  // namespace conelab::desktop
