// The session as the views share it: edited in one place, told to all, and taken back.
//
// Focus is what all views look at: the pair under the pointer, else the pair that was clicked.
#pragma once

#include <QObject>
#include <functional>
#include <optional>

#include "widgets/session/history.h"

namespace conelab::desktop {

class Document : public QObject {
  Q_OBJECT

 public:
  explicit Document(Session start = {}, QObject* parent = nullptr)
      : QObject(parent), history_(std::move(start)) {}

  [[nodiscard]] const Session& session() const { return history_.now(); }
  [[nodiscard]] const History& history() const { return history_; }

  /// One edit; `label` names it in the menu, equal `merge` in a row make one step. `change` gets a
  /// copy to work on: where it throws, nothing has happened.
  void edit(const QString& label, const std::function<void(Session&)>& change,
            const QString& merge = {});
  /// Ends a drag: the next edit is a step of its own.
  void close_step() { history_.close_step(); }
  void undo();
  void redo();
  /// Another session altogether, with no history.
  void replace(Session session);

  void hover(std::optional<Focus> pair);
  [[nodiscard]] std::optional<Focus> hovered() const { return hovered_; }
  [[nodiscard]] std::optional<Focus> focused() const {
    return hovered_ ? hovered_ : session().locked;
  }

 signals:
  /// After each edit, undo, redo and replacement.
  void changed();
  /// After `focused` has changed, for whichever reason.
  void focus_changed();

 private:
  void tell(const std::optional<Focus>& before);

  History history_;
  std::optional<Focus> hovered_;
};

}  // namespace conelab::desktop
