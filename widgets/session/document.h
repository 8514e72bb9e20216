// The session that all views share. It is edited here; every view is notified; edits can be undone.
//
// The focus is the pair of tokens that all views show: the pair under the pointer, otherwise the
// pair that was clicked.
#pragma once

#include <QObject>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "widgets/session/session.h"

namespace conelab::desktop {

// Undo and redo by complete copies of the session. A session is small, and no edit can be missed.
//
// Successive edits with the same non-empty `merge` (a drag, a slider, typing) form one step.

class History {
 public:
  explicit History(Session start = {}) { steps_.push_back({std::move(start), "", ""}); }

  [[nodiscard]] const Session& now() const { return steps_[at_].session; }
  /// Makes `next` the current session and removes the steps that were undone. Adds no step if
  /// nothing changes.
  void record(Session next, std::string label, std::string merge = "");
  /// Makes the next edit a new step, whatever its `merge`.
  void close_step() { steps_[at_].merge.clear(); }

  /// Returns whether a trace is open in any of its sessions.
  [[nodiscard]] bool has_trace() const;
  [[nodiscard]] bool can_undo() const { return at_ > 0; }
  [[nodiscard]] bool can_redo() const { return at_ + 1 < steps_.size(); }
  /// Return what undo (redo) would revert (repeat), for the menu.
  [[nodiscard]] std::string undo_label() const { return can_undo() ? steps_[at_].label : ""; }
  [[nodiscard]] std::string redo_label() const { return can_redo() ? steps_[at_ + 1].label : ""; }
  void undo() { at_ -= can_undo() ? 1 : 0; }
  void redo() { at_ += can_redo() ? 1 : 0; }

  /// The largest number of steps; the oldest ones are removed.
  static constexpr std::size_t most_steps = 1000;

 private:
  struct Step {
    Session session;
    std::string label, merge;
  };
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

class Document : public QObject {
  Q_OBJECT

 public:
  explicit Document(Session start = {}) : history_(std::move(start)) {}

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

  /// Names a file by what it is, where its own name tells nobody: "maps-dot of first".
  void name_file(const QString& file, const QString& name) { names_[file] = name; }
  /// Returns that name, or the name of the file.
  [[nodiscard]] QString name_of(const QString& file) const;
  [[nodiscard]] QString name_of(const std::string& file) const {
    return name_of(QString::fromStdString(file));
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
  std::map<QString, QString> names_;
};

}  // namespace conelab::desktop
