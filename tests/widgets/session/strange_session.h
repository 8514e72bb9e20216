// A session of which every text is "?", as a file of another program or version may have it.
#pragma once

#include "widgets/session/session_members.h"

namespace conelab::desktop {

struct MakeStrange {
  template <class T>
  void operator()(const char*, T& member) {
    make(member);
  }

  void make(std::string& text) { text = "?"; }
  template <class T>
  void make(T& part) {
    if constexpr (has_members<T>) members(*this, part);
  }
  template <class T>
  void make(std::optional<T>& part) {
    make(part.emplace());
  }
  template <class T>
  void make(std::vector<T>& list) {
    if (list.empty()) list.emplace_back();
    for (T& item : list) make(item);
  }
  template <class T>
  void make(std::map<std::string, T>& map) {
    make(map["?"]);
  }
};

[[nodiscard]] inline Session strange_session() {
  Session session;
  MakeStrange strange;
  members(strange, session);
  return session;
}

}  // namespace conelab::desktop
