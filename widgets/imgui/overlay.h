// Controls over a viewport's scene: ImGui windows that close themselves, and controls that remember
// where they stood, so that tests and help can point at them.
#pragma once

#include <imgui.h>

#include <string>

#include "widgets/imgui/viewport.h"

namespace conelab::desktop {

/// A small window fixed at a corner of the viewport, as long as the guard lives.
class Overlay {
 public:
  enum class Corner { top_left, top_right, bottom_left, bottom_right };
  Overlay(Viewport& viewport, const char* name, Corner corner, float opacity = 0.86F);
  ~Overlay() { ImGui::End(); }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  /// Where a window of that size lies in a corner.
  [[nodiscard]] static QRectF place(Corner corner, const QSizeF& size, const QSizeF& viewport);
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
