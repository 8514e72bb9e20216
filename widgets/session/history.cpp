#include "widgets/session/history.h"

#include <algorithm>

namespace conelab::desktop {

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
  return std::any_of(steps_.begin(), steps_.end(),
                     [](const Step& step) { return !step.session.trace.file.empty(); });
}

}  // namespace conelab::desktop
