// What happened to a viewport between two frames, handed to Dear ImGui one transition at a time.
//
// Dear ImGui 1.86 looks at the state of buttons and keys once a frame: a press and its release
// before the same frame would be lost, and a click would be taken where the pointer is later. So a
// frame ends after a button or key has changed and before the next change or movement.
#pragma once

#include <deque>
#include <string>
#include <variant>

struct ImGuiIO;

namespace conelab::desktop {

struct PointerMove {
  float x, y;  ///< Viewport coordinates, independent of the screen's density.
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
  int index;  ///< Of ImGuiIO::KeysDown; see key_index.
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
  /// Applies the events of one frame; true where more wait for the next.
  bool apply(ImGuiIO& io);
  [[nodiscard]] bool empty() const { return events_.empty(); }

 private:
  std::deque<InputEvent> events_;
};

/// The slot of a Qt key in ImGuiIO::KeysDown [512]: Latin keys by their code, others from 256 on.
[[nodiscard]] int key_index(int qt_key);

/// Fills ImGuiIO::KeyMap by `key_index`.
void map_keys(ImGuiIO& io);

}  // namespace conelab::desktop
