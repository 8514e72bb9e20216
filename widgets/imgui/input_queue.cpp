#include "widgets/imgui/input_queue.h"

#include <imgui.h>

#include <Qt>
#include <algorithm>
#include <iterator>
#include <utility>

namespace conelab::desktop {
namespace {

struct Apply {
  ImGuiIO& io;
  void operator()(const PointerMove& e) const { io.MousePos = ImVec2(e.x, e.y); }
  void operator()(const PointerLeave&) const { io.MousePos = ImVec2(-FLT_MAX, -FLT_MAX); }
  void operator()(const ButtonChange& e) const { io.MouseDown[e.index] = e.down; }
  void operator()(const WheelTurn& e) const {
    io.MouseWheelH += e.horizontal;
    io.MouseWheel += e.vertical;
  }
  void operator()(const KeyChange& e) const { io.KeysDown[e.index] = e.down; }
  void operator()(const Modifiers& e) const {
    io.KeyCtrl = e.control;
    io.KeyShift = e.shift;
    io.KeyAlt = e.alt;
    io.KeySuper = e.super;
  }
  void operator()(const TextEntry& e) const { io.AddInputCharactersUTF8(e.utf8.c_str()); }
  // The release of a key or button elsewhere is never reported.
  void operator()(const FocusLoss&) const {
    std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
    std::fill(std::begin(io.MouseDown), std::end(io.MouseDown), false);
    (*this)(Modifiers{false, false, false, false});
  }
};

bool is_change(const InputEvent& event) {
  return std::holds_alternative<ButtonChange>(event) || std::holds_alternative<KeyChange>(event);
}

bool is_movement(const InputEvent& event) {
  return std::holds_alternative<PointerMove>(event) || std::holds_alternative<PointerLeave>(event);
}

}  // namespace

bool InputQueue::apply(ImGuiIO& io) {
  bool changed = false;
  while (!events_.empty()) {
    const InputEvent& event = events_.front();
    if (changed && (is_change(event) || is_movement(event))) break;
    changed = changed || is_change(event);
    std::visit(Apply{io}, event);
    events_.pop_front();
  }
  return !events_.empty();
}

int key_index(int qt_key) {
  constexpr int special = 0x01000000;  // The first of Qt's keys without a Latin character.
  return qt_key >= special ? 256 + (qt_key & 0xff) : qt_key & 0xff;
}

void map_keys(ImGuiIO& io) {
  const std::pair<ImGuiKey_, Qt::Key> keys[] = {
      {ImGuiKey_Tab, Qt::Key_Tab},
      {ImGuiKey_LeftArrow, Qt::Key_Left},
      {ImGuiKey_RightArrow, Qt::Key_Right},
      {ImGuiKey_UpArrow, Qt::Key_Up},
      {ImGuiKey_DownArrow, Qt::Key_Down},
      {ImGuiKey_PageUp, Qt::Key_PageUp},
      {ImGuiKey_PageDown, Qt::Key_PageDown},
      {ImGuiKey_Home, Qt::Key_Home},
      {ImGuiKey_End, Qt::Key_End},
      {ImGuiKey_Insert, Qt::Key_Insert},
      {ImGuiKey_Delete, Qt::Key_Delete},
      {ImGuiKey_Backspace, Qt::Key_Backspace},
      {ImGuiKey_Space, Qt::Key_Space},
      {ImGuiKey_Enter, Qt::Key_Return},
      {ImGuiKey_KeyPadEnter, Qt::Key_Enter},
      {ImGuiKey_Escape, Qt::Key_Escape},
      {ImGuiKey_A, Qt::Key_A},
      {ImGuiKey_C, Qt::Key_C},
      {ImGuiKey_V, Qt::Key_V},
      {ImGuiKey_X, Qt::Key_X},
      {ImGuiKey_Y, Qt::Key_Y},
      {ImGuiKey_Z, Qt::Key_Z},
  };
  for (const auto& [own, qt] : keys) io.KeyMap[own] = key_index(qt);
}

}  // namespace conelab::desktop
