#include "widgets/trace/workspace.h"

#include <QFileInfo>
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/files/byte_file.h"
#include "widgets/session/brought.h"

namespace conelab::desktop {
namespace {

/// How many numbers of a head can be copied within a few milliseconds.
constexpr std::int64_t most_at_once = std::int64_t{1} << 19;

std::int64_t numbers_of_head(const Trace& trace) {
  const Extents e = trace.extents();
  return e.query * e.feature + e.key * (e.feature + e.value);
}

bool same_source(const TraceChoice& a, const TraceChoice& b) {
  return a.file == b.file && a.group == b.group && a.arrays == b.arrays;
}

/// Returns whether a pair of tokens of one trace is one of the other too: they are of one file, as
/// layers are, and of as many tokens.
bool same_pairs(const Trace* before, const Trace& now) {
  const auto of_pairs = [](const Trace& t) { return !t.stored || t.stored->of_pairs(); };
  return before != nullptr && before->file == now.file && of_pairs(*before) && of_pairs(now) &&
         before->query.shape.token == now.query.shape.token &&
         before->key.shape.token == now.key.shape.token;
}

bool all_beside(const Session& session) {
  return session.maps.beside && session.maps.beside->group == all_arrays;
}

/// Returns a choice of file, group and arrays.
TraceChoice source_of(const std::string& file, const std::string& group,
                      const ArrayNames& arrays = {}) {
  TraceChoice source;
  source.file = file, source.group = group, source.arrays = arrays;
  return source;
}

}  // namespace

Workspace::Workspace(Document& document, JobPool& jobs) : document_(document), jobs_(jobs) {
  connect(&document_, &Document::changed, this, &Workspace::follow);
  connect(&watch_, &FileWatch::changed, this, &Workspace::file_changed);
  follow();
}

void Workspace::open(const QString& file, const QString& group, const ArrayNames& arrays) {
  load(source_of(QFileInfo(file).absoluteFilePath().toStdString(), group.toStdString(), arrays),
       true);
}

void Workspace::open_first(const QString& file, const std::vector<std::string>& groups) {
  load(source_of(QFileInfo(file).absoluteFilePath().toStdString(), ""), true, groups);
}

void Workspace::open_group(const std::string& group) {
  if (!trace_ || (group == trace_->group && !job_.active())) return;
  load(source_of(trace_->file, group, trace_->arrays), true, groups_);
}

void Workspace::step_group(int step) {
  if (!trace_) return;
  const bool under_way = opening_ && job_.active();
  const std::string& from = under_way ? opening_group_ : trace_->group;
  const auto here = std::ranges::find(groups_, from);
  const auto wanted = (here - groups_.begin()) + step;
  if (here == groups_.end() || wanted < 0 || wanted >= std::ssize(groups_)) return;
  open_group(groups_[static_cast<std::size_t>(wanted)]);
}

/// Loads what the session names, after an edit, an undo or a replacement of the session.
void Workspace::follow() {
  const TraceChoice& wanted = document_.session().trace;
  const TraceChoice before = std::exchange(followed_, wanted);
  if (trace_ && same_source(source_of(trace_->file, trace_->group, trace_->arrays), wanted)) {
    return choose_head();
  }
  // Edits of other members do not affect the file that is being opened.
  const bool same = same_source(wanted, before);
  if (same && opening_ && job_.active()) return;
  if (wanted.file.empty()) {
    watch_.watch({});
    if (!trace_ && !job_.active()) return;
    job_.cancel(), head_job_.cancel();
    trace_.reset(), head_.reset(), head_of_.reset(), groups_.clear();
    shown_ = {};
    emit trace_changed();
    return;
  }
  if (same_source(failed_, wanted)) return;
  load(wanted, false);
}

void Workspace::load(const TraceChoice& source, bool into_session,
                     const std::vector<std::string>& groups) {
  const std::string file = source.file;
  failed_ = {};
  opening_ = into_session, opening_group_ = source.group, rereading_ = false;
  if (!into_session) changed_.clear();  // The current content of the session's file is read.
  if (!into_session) watch_.watch(QString::fromStdString(file));  // It may become readable later.
  job_ = jobs_.start<Loaded>(
      "reading " + document_.name_of(file).toStdString(),
      [source, groups](const PoolContext& context) {
        Loaded loaded;
        loaded.stamp = file_stamp(source.file);
        loaded.groups = groups;
        if (groups.empty()) {
          loaded.groups = groups_to_open(source.file, source.arrays, context.cancel_check());
        }
        context.stop_if_cancelled();
        std::string chosen = source.group;
        if (chosen.empty() && !loaded.groups.empty()) chosen = loaded.groups.front();
        loaded.trace = load_trace(source.file, chosen, context.cancel_check(), source.arrays);
        return loaded;
      },
      [this, into_session](Loaded loaded) { take(std::move(loaded), into_session); },
      [this, source](const std::string& message) {
        failed_ = source;
        emit loading_changed();
        emit failed(QString::fromStdString(message));
        if (opening_) follow();  // What the session names may not have been read in favour of this.
        read_changed();
      },
      true);
  emit loading_changed();
}

void Workspace::show_live(std::shared_ptr<const Trace> live) {
  live_ = std::move(live);
  if (!trace_ || (opening_ && job_.active())) return;
  if (!live_) return file_changed();
  if (!live_of(*trace_)) return;
  trace_ = with_live(trace_);
  shown_ = {};
  read_own_call_again("read again");
  choose_head();
}

bool Workspace::live_of(const Trace& trace) const {
  return live_ && live_->file == trace.file && live_->group == trace.group &&
         live_->query.data.size() == trace.query.data.size();
}

std::shared_ptr<const Trace> Workspace::with_live(std::shared_ptr<const Trace> trace) const {
  if (!live_of(*trace)) return trace;
  auto now = std::make_shared<Trace>(*trace);
  now->query = live_->query, now->key = live_->key, now->value = live_->value;
  now->own_call = live_->own_call;
  return now;
}

/// Takes over the parameters that the trace has now.
void Workspace::read_own_call_again(const QString& step) {
  document_.edit(
      tr("read %1 again").arg(document_.name_of(trace_->file)),
      [&](Session& s) { bring_own_call(s, trace_->own_call ? &*trace_->own_call : nullptr); },
      step);
}

void Workspace::take(Loaded loaded, bool into_session) {
  loaded.trace = with_live(std::move(loaded.trace));
  const auto before = std::exchange(trace_, std::move(loaded.trace));
  const bool keeps_pair = same_pairs(before.get(), *trace_);
  groups_ = std::move(loaded.groups);
  shown_ = {};
  watch_.watch(QString::fromStdString(trace_->file));
  // It may have changed before it was watched.
  const std::string stamp = file_stamp(trace_->file);
  if (!stamp.empty() && stamp != loaded.stamp) changed_ = trace_->file;
  emit loading_changed();
  const Call* own = trace_->own_call ? &*trace_->own_call : nullptr;
  if (!into_session) {
    const bool reread = std::exchange(rereading_, false);
    // Training may have written other parameters, and a click among all heads names a layer only.
    if (reread || brought_for_another_layer(document_.session())) {
      read_own_call_again(reread ? "read again" : open_layer_step);
    }
    choose_head();
    return read_changed();
  }
  const Session& before_it = document_.session();
  const std::string& left = before_it.trace.file;
  const bool leaves_arrays = left != trace_->file && all_beside(before_it);
  const std::vector<Brought> brought_before = before_it.maps.brought;
  const QString left_name = document_.name_of(left);
  document_.open(tr("open %1").arg(document_.name_of(trace_->file)),
                 [this, keeps_pair, own](Session& s) {
                   const bool other_file = s.trace.file != trace_->file;
                   if (other_file) {  // Other tokens.
                     s.maps.region.reset();
                     s.maps.limits.clear();
                     s.maps.range_begin = s.maps.range_end = 0;
                     if (all_beside(s)) s.maps.beside.reset();
                     take_brought_away(s);
                   }
                   // Most of the half-plane would be light: tokens are near its border.
                   const bool first = s.trace.file.empty() && s.cones.model == cone_models[0];
                   if (first) s.cones.model = "ball";
                   s.trace.file = trace_->file, s.trace.group = trace_->group;
                   s.trace.arrays = trace_->arrays;
                   bring_own_call(s, own);
                   s.trace.batch = std::min(s.trace.batch, trace_->query.shape.batch - 1);
                   s.trace.head = std::min(s.trace.head, trace_->query.shape.head - 1);
                   if (other_file) s.trace.batch = 0;
                   if (!keeps_pair) s.locked.reset();
                 });
  choose_head();
  const std::vector<Brought>& now = document_.session().maps.brought;
  const auto operator_of = [](const std::vector<Brought>& brought) {
    return brought.empty() ? "" : brought[0].file + operator_name(brought[0].calls[0]);
  };
  if (own != nullptr && operator_of(now) != operator_of(brought_before)) emit operator_brought();
  if (leaves_arrays) {
    emit failed(tr("All arrays of %1 stand side by side only while it is open itself: nothing is "
                   "compared now.")
                    .arg(left_name));
  }
  read_changed();
}

/// A small head is copied at once, so that nothing flickers; a large one in a job.
void Workspace::choose_head() {
  const TraceChoice wanted = document_.session().trace;
  if (!trace_ || wanted == shown_) return;
  shown_ = wanted;
  head_job_.cancel();
  const auto read = [trace = trace_, wanted, device = device()] {
    return head_input(*trace, wanted.batch, wanted.head, device);
  };
  const auto failed_to = [this](const std::string& message) {
    take_head(nullptr);
    emit failed(QString::fromStdString(message));
  };
  if (numbers_of_head(*trace_) <= most_at_once) {
    try {
      return take_head(read());
    } catch (const Error& error) {
      return failed_to(error.what());
    }
  }
  head_job_ = jobs_.start<Head>(
      "head " + std::to_string(wanted.head), [read](const PoolContext&) { return read(); },
      [this](Head head) { take_head(std::move(head)); }, failed_to, true);
  if (head_of_ == trace_) return;  // The previous head remains until this one is ready.
  head_.reset();
  emit trace_changed();
}

void Workspace::take_head(Head head) {
  head_ = std::move(head);
  head_of_ = trace_;
  emit trace_changed();
}

void Workspace::file_changed() {
  const TraceChoice& open = document_.session().trace;
  // Another file may replace it, or fail to be read; and a file that is written often would never
  // be read to its end.
  if (job_.active() && (opening_ || rereading_)) {
    changed_ = open.file;
    return;
  }
  if (open.file.empty() || !QFileInfo::exists(QString::fromStdString(open.file))) return;
  load(open, false);
  rereading_ = true;
}

/// Reads a file that changed while it was read or another was opened, if the session still names
/// it: the other file could not be read, or another group of the same file was opened.
void Workspace::read_changed() {
  const std::string changed = std::exchange(changed_, {});
  if (!changed.empty() && changed == document_.session().trace.file) file_changed();
}

namespace {

constexpr int rest_milliseconds = 300;

/// Returns the file, or the nearest folder above it that exists.
QString nearest_there(QString path) {
  while (!QFileInfo::exists(path)) {
    const QString above = QFileInfo(path).path();
    if (above == path) break;
    path = above;
  }
  return path;
}

}  // namespace

FileWatch::FileWatch() {
  rest_.setSingleShot(true);
  rest_.setInterval(rest_milliseconds);
  const auto touched = [this] {
    aim();
    rest_.start();
  };
  connect(&watcher_, &QFileSystemWatcher::fileChanged, this, touched);
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, touched);
  connect(&rest_, &QTimer::timeout, this, &FileWatch::report);
}

void FileWatch::watch(const QString& file) {
  if (file == file_) return;
  file_ = file;
  there_ = !file.isEmpty() && QFileInfo::exists(file);
  rest_.stop();
  aim();
}

/// Watches the path again even if it is watched, because it may be another file now.
void FileWatch::aim() {
  const QStringList watched = watcher_.files() + watcher_.directories();
  if (!watched.isEmpty()) watcher_.removePaths(watched);
  if (file_.isEmpty()) return;
  const QString nearest = nearest_there(file_);
  watcher_.addPath(nearest);
  // A change between the check and the watch would be missed otherwise.
  if (nearest_there(file_) != nearest) rest_.start();
}

void FileWatch::report() {
  aim();
  const bool before = std::exchange(there_, QFileInfo::exists(file_));
  if (before || there_) emit changed();  // Otherwise another file of the folder has changed.
}

}  // namespace conelab::desktop
