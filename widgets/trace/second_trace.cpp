#include "widgets/trace/second_trace.h"

#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab::desktop {
namespace {

std::string query_name(const ArrayNames& arrays) {
  return arrays.query.empty() ? "q" : arrays.query;
}

/// Returns what the groups of a trace depend on.
std::string groups_key(const std::string& file, const ArrayNames& arrays) {
  return file + ":" + query_name(arrays) + ":" + arrays.weights;
}

}  // namespace

SecondTrace::SecondTrace(Workspace& workspace) : workspace_(workspace) {
  connect(&workspace_.document(), &Document::changed, this, &SecondTrace::follow);
  connect(&workspace_, &Workspace::trace_changed, this, &SecondTrace::follow);
  follow();
}

void SecondTrace::follow() {
  const auto& beside = workspace_.document().session().maps.beside;
  const auto& open = workspace_.trace();
  std::string wanted;
  const bool all = beside && beside->group == all_arrays;
  const bool has_all = open && open->stored && beside && beside->file == open->file;
  if (beside && open && (!all || has_all)) {
    const bool same_file = beside->file == open->file;
    wanted = beside->file + ":" + beside->group + ":" + (same_file ? open->stamp : "") +
             (all ? open->group : "") + ":" + beside->arrays.query + ":" + beside->arrays.key +
             ":" + beside->arrays.value;
    if (same_file && beside->group == open->group && trace_ != open) {
      job_.cancel();
      wanted_ = wanted;
      return take({open, workspace_.groups()});
    }
  }
  if (wanted == wanted_) return;
  wanted_ = wanted;
  job_.cancel();
  const bool had = trace_ || !error_.empty();
  trace_.reset(), more_.clear(), error_.clear();
  if (!wanted.empty()) {
    std::vector<std::string> known;
    if (beside->file == open->file) known = workspace_.groups();
    const ArrayNames arrays = beside->file == open->file ? open->arrays : beside->arrays;
    if (groups_key(beside->file, arrays) == groups_of_) known = groups_;
    job_ = workspace_.jobs().start<Loaded>(
        "reading " + (all ? "all arrays" : layer_name(beside->group)),
        [file = beside->file, group = beside->group, arrays, known, all,
         without = open->group](const PoolContext& context) {
          Loaded loaded;
          loaded.groups = known;
          if (known.empty()) {
            loaded.groups = groups_to_open(file, arrays, context.cancel_check());
          }
          context.stop_if_cancelled();
          const auto read = [&](const std::string& which) {
            return load_trace(file, which, context.cancel_check(), arrays);
          };
          if (!all) loaded.trace = read(group);
          for (const std::string& other : loaded.groups) {
            if (all && other != without) loaded.more.push_back(read(other));
          }
          if (loaded.more.empty() && all) fail("{}: holds no other array", file);
          if (all) loaded.trace = loaded.more.front(), loaded.more.erase(loaded.more.begin());
          return loaded;
        },
        [this](Loaded loaded) { take(std::move(loaded)); },
        [this](const std::string& message) {
          error_ = message;
          emit changed();
        },
        true);
  }
  if (had) emit changed();
}

void SecondTrace::take(Loaded loaded) {
  trace_ = std::move(loaded.trace);
  more_ = std::move(loaded.more);
  groups_ = std::move(loaded.groups);
  groups_of_ = groups_key(trace_->file, trace_->arrays);
  error_.clear();
  emit changed();
}

void SecondTrace::offer(const QStringList& files) {
  for (const QString& file : files) {
    const QString path = QFileInfo(file).absoluteFilePath();
    if (!offered_.contains(path)) offered_ << path;
  }
  emit changed();
}

void SecondTrace::choose_file(const QString& file, const QString& group, const ArrayNames& arrays) {
  const std::string path = QFileInfo(file).absoluteFilePath().toStdString();
  choice_job_ = workspace_.jobs().start<std::vector<std::string>>(
      "looking into " + QFileInfo(file).fileName().toStdString(),
      [path, arrays](const PoolContext& context) {
        return groups_to_open(path, arrays, context.cancel_check());
      },
      [this, path, arrays, named = group.toStdString()](const std::vector<std::string>& groups) {
        if (!workspace_.trace()) return;
        if (groups.empty()) return emit arrays_wanted(QString::fromStdString(path));
        groups_ = groups, groups_of_ = groups_key(path, arrays);
        const Trace& open = *workspace_.trace();
        const std::string& wanted = named.empty() ? open.group : named;
        const bool found = contains(groups, wanted);
        workspace_.document().edit(tr("compare with another file"), [&](Session& s) {
          s.maps.beside = first_beside(s, open, path, found ? wanted : groups.front());
          s.maps.beside->arrays = arrays;
        });
      },
      [this](const std::string& message) {
        emit workspace_.failed(QString::fromStdString(message));
      },
      true);
}

BesideChoice first_beside(const Session& session, const Trace& open, const std::string& file,
                          const std::string& group) {
  BesideChoice beside{file, group, session.trace.head, session.maps.join};
  const auto& before = session.maps.beside;
  if (before && before->file == file) beside.arrays = before->arrays;
  const bool same = file == open.file && group == open.group;
  if (same && beside.join == head_joins[0]) beside.head = (beside.head + 1) % open.extents().head;
  return beside;
}

}  // namespace conelab::desktop
