#include "widgets/session/document.h"

#include <QFileInfo>
#include <algorithm>

namespace conelab::desktop {

void Document::report(const std::optional<Focus>& before) {
  emit changed();
  if (focused() != before) emit focus_changed();
}

void Document::edit(const QString& label, const std::function<void(Session&)>& change,
                    const QString& merge) {
  Session next = session();
  change(next);
  if (next == session()) return;
  const auto before = focused();
  history_.record(std::move(next), label.toStdString(), merge.toStdString());
  report(before);
}

void Document::open(const QString& label, const std::function<void(Session&)>& change) {
  if (history_.has_trace()) return edit(label, change);
  Session next = session();
  change(next);
  replace(std::move(next));
}

void Document::undo() {
  if (!history_.can_undo()) return;
  const auto before = focused();
  history_.undo();
  history_.close_step();  // The user returned to this state, so that the next edit is a new step.
  report(before);
}

void Document::redo() {
  if (!history_.can_redo()) return;
  const auto before = focused();
  history_.redo();
  history_.close_step();
  report(before);
}

void Document::replace(Session session) {
  const auto before = focused();
  history_ = History(std::move(session));
  report(before);
}

void Document::hover(std::optional<Focus> pair) {
  if (hovered_ == pair) return;
  const auto before = focused();
  hovered_ = pair;
  if (focused() != before) emit focus_changed();
}

QString Document::name_of(const QString& file) const {
  const auto named = names_.find(file);
  return named == names_.end() ? QFileInfo(file).fileName() : named->second;
}

void History::record(Session next, std::string label, std::string merge) {
  if (next == now()) return;
  steps_.resize(at_ + 1);
  Step& present = steps_.back();
  if (at_ > 0 && !merge.empty() && present.merge == merge) {
    present.session = std::move(next);
    return;
  }
  steps_.push_back({std::move(next), std::move(label), std::move(merge)});
  if (steps_.size() > most_steps) steps_.erase(steps_.begin());
  at_ = steps_.size() - 1;
}

bool History::has_trace() const {
  return std::ranges::any_of(steps_,
                             [](const Step& step) { return !step.session.trace.file.empty(); });
}

}  // namespace conelab::desktop
