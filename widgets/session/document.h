// The session that all views share. It is edited here; every view is notified; edits can be undone.
//
// The focus is the pair of tokens that all views show: the pair under the pointer, otherwise the
// pair that was clicked.
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

  /// Makes one edit. `label` is its name in the menu; successive edits with the same `merge` become
  /// one step of the history. `change` modifies a copy: if it throws, nothing has changed.
  void edit(const QString& label, const std::function<void(Session&)>& change,
            const QString& merge = {});
  /// Makes an edit that opens a file. If none was open before, the history begins with it, so that
  /// undo does not close the file.
  void open(const QString& label, const std::function<void(Session&)>& change);
  /// Ends a series of merged edits, such as a drag: the next edit is a new step.
  void close_step() { history_.close_step(); }
  void undo();
  void redo();
  /// Replaces the session by another one and clears the history.
  void replace(Session session);

  void hover(std::optional<Focus> pair);
  [[nodiscard]] std::optional<Focus> hovered() const { return hovered_; }
  [[nodiscard]] std::optional<Focus> focused() const {
    return hovered_ ? hovered_ : session().locked;
  }

 signals:
  /// Emitted after each edit, undo, redo and replacement.
  void changed();
  /// Emitted after `focused` has changed for any reason.
  void focus_changed();

 private:
  void report(const std::optional<Focus>& before);

  History history_;
  std::optional<Focus> hovered_;
};

}  // namespace conelab::desktop
