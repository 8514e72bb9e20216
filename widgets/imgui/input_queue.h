// The queue of input events of a viewport, which passes them to Dear ImGui one change per frame.
//
// Dear ImGui 1.86 reads the state of buttons and keys once per frame. A press and its release
// before the same frame would be lost, and a click would be taken at the later position of the
// pointer. A frame therefore ends after a button or key has changed, before the next change or
// movement.
#pragma once

#include <deque>
#include <string>
#include <variant>

struct ImGuiIO;

namespace conelab::desktop {

struct PointerMove {
  float x, y;  ///< Viewport coordinates, independent of the screen's pixel density.
};
struct PointerLeave {};
struct ButtonChange {
  int index;  ///< 0 left, 1 right, 2 middle
  bool down;
};
struct WheelTurn {
  float horizontal, vertical;  ///< In notches.
};
struct KeyChange {
  int index;  ///< Index into ImGuiIO::KeysDown, see key_index.
  bool down;
};
struct Modifiers {
  bool control, shift, alt, super;
};
struct TextEntry {
  std::string utf8;
};
struct FocusLoss {};

using InputEvent = std::variant<PointerMove, PointerLeave, ButtonChange, WheelTurn, KeyChange,
                                Modifiers, TextEntry, FocusLoss>;

class InputQueue {
 public:
  void push(InputEvent event) { events_.push_back(std::move(event)); }
  /// Applies the events of one frame. Returns true if more events are left for the next frame.
  bool apply(ImGuiIO& io);
  [[nodiscard]] bool empty() const { return events_.empty(); }

 private:
  std::deque<InputEvent> events_;
};

/// Returns the index of a Qt key in ImGuiIO::KeysDown [512]. Latin keys have their code, others
/// have indices from 256 on.
[[nodiscard]] int key_index(int qt_key);

/// Fills ImGuiIO::KeyMap using `key_index`.
void map_keys(ImGuiIO& io);

}  // namespace conelab::desktop
