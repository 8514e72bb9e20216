// Controls over a viewport's scene: ImGui windows that close themselves, and controls that remember
// where they stood, so that tests and help can point at them.
#pragma once

#include <imgui.h>

#include <string>

#include "widgets/imgui/overlay_spot.h"
#include "widgets/imgui/viewport.h"

namespace conelab::desktop {

/// A small window fixed at a side of the viewport, as long as the guard lives.
class Overlay {
 public:
  Overlay(Viewport& viewport, const char* name, const OverlaySpot& spot, float opacity);
  ~Overlay() { ImGui::End(); }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  [[nodiscard]] QSizeF size() const;

  // As ImGui's; true where the user changed something.
  bool button(const char* label);
  bool checkbox(const char* label, bool& value);
  bool slider(const char* label, double& value, double low, double high,
              const char* format = "%.3g", bool logarithmic = false);
  bool choice(const char* label, int& index, const char* const* names, int count);
  void text(const std::string& text);
  void tooltip(const char* text);

 private:
  Viewport& viewport_;
  void record(const char* label);
};

/// ImGui's colours from the widget's palette, light or dark.
void apply_palette(const QPalette& palette);

}  // namespace conelab::desktop
