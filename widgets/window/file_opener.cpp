#include "widgets/window/file_opener.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <iterator>
#include <set>

#include "core/base/error.h"
#include "core/source/figure_table.h"
#include "widgets/data/data_view.h"
#include "widgets/maps/maps_view.h"
#include "widgets/theme/theme.h"
#include "widgets/window/main_window.h"

namespace conelab::desktop {
namespace {

using Files = std::vector<FoundFile>;

Files of_kind(const Files& files, const std::string& kind) {
  Files some;
  std::ranges::copy_if(files, std::back_inserter(some),
                       [&kind](const FoundFile& file) { return file.kind == kind; });
  return some;
}

bool is_among(const Files& files, const FoundFile& one) {
  return std::ranges::any_of(files, [&](const FoundFile& each) {
    return each.path == one.path && each.group == one.group;
  });
}

/// Compares files also under different names, for instance through a link.
bool is_known(const Files& files, const FoundFile& one) {
  return std::ranges::any_of(files, [&](const FoundFile& each) {
    return each.group == one.group && QFileInfo(each.path) == QFileInfo(one.path);
  });
}

/// Reads a trace, or the first layer of an archive. Throws what the workspace would report.
void try_reading(const FoundFile& file, const PoolContext& context) {
  const std::string path = file.path.toStdString();
  std::string group = file.group;
  if (group.empty()) {
    const std::vector<std::string> groups = groups_to_open(path, {}, context.cancel_check());
    if (!groups.empty()) group = groups.front();
  }
  (void)load_trace(path, group, context.cancel_check());
}

/// Returns the trace from which the first result was computed.
QString trace_of(const Files& shown) {
  const auto first =
      std::ranges::find_if(shown, [](const FoundFile& file) { return !file.made_of.empty(); });
  return first == shown.end() ? QString() : QString::fromStdString(first->made_of);
}

}  // namespace

FileOpener::FileOpener(MainWindow& window, const std::vector<View>& views)
    : window_(window), workspace_(window.workspace()), views_(views) {}

const ViewRow* FileOpener::own_view(const FoundFile& file) const {
  const auto shows = [&](const ShownKind& shown) { return file.kind == shown.kind; };
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (std::ranges::any_of(views_[i].kinds, shows)) return &view_table()[i];
  }
  return nullptr;
}

const char* FileOpener::view_of(const FoundFile& file) const {
  if (file.kind == "trace" || file.path == stored_map_) return "maps";
  if (const ViewRow* own = own_view(file)) return own->name;
  return is_drawn(file) ? "figures" : "data";
}

bool FileOpener::is_drawn(const FoundFile& file) const {
  const bool stores_map = file.kind != "attend" || !file.quantity.empty();
  return stores_map && own_view(file) == nullptr && figure::figure_of_results(file.kind) != nullptr;
}

void FileOpener::open(const QStringList& files) {
  if (files.isEmpty()) return;
  pending_ = files + (job_.active() ? pending_ : QStringList());
  pending_.removeDuplicates();
  const QString title = pending_.size() == 1 ? workspace_.document().name_of(files.front())
                                             : tr("%n files", nullptr, pending_.size());
  job_ = workspace_.jobs().start<Found>(
      "opening " + title.toStdString(),
      [all = pending_](const PoolContext& context) { return find_all(all, context); },
      [this](const Found& found) { take(found); },
      [this](const std::string& message) { window_.show_error(QString::fromStdString(message)); },
      true);
}

FileOpener::Found FileOpener::find_all(const QStringList& files, const PoolContext& context) {
  Found found;
  for (const QString& file : files) {
    context.stop_if_cancelled();
    try {
      const FoundFile one = identify_file(file, context.cancel_check());
      // Of several traces one is shown, so that errors of the others would go unnoticed.
      const bool unread = one.kind == "trace" && !one.content;
      if (files.size() > 1 && unread) try_reading(one, context);
      found.add(one);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      found.errors << QString::fromStdString(error.what());
    }
  }
  return found;
}

void FileOpener::Found::add(const FoundFile& file) {
  if (is_known(files, file)) return;
  files.push_back(file);
  const bool sound = !file.content || file.content->sound();
  // A damaged file may contain an intact trace. The workspace reports what it could not read.
  if (file.kind == "trace" || sound) return;
  errors << QString::fromStdString(file.content->problems.front());
}

void FileOpener::take(const Found& found) {
  const Files& files = found.files;
  shown_.clear();
  // A session determines what is open. Files that are opened with it are shown above it.
  const Files sessions = of_kind(files, "session");
  if (!sessions.empty()) {
    shown_.push_back(sessions.front());
    window_.open_session(*sessions.front().session, sessions.front().path);
  }
  show_trace(of_kind(files, "trace"));
  show_stored(files);
  show_in_views(files);
  show_figure(files);
  show_content(files);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    // A trace that is being read may still be damaged; the workspace reports this.
    if (file->kind != "trace" || !is_among(shown_, *file)) window_.remember(file->path);
  }
  const auto first =
      std::ranges::find_if(files, [](const FoundFile& file) { return file.kind != "session"; });
  if (first != files.end()) window_.show_view(view_of(*first));
  report(found);
  const auto arrays = std::ranges::find_if(files, &FoundFile::has_arrays);
  if (arrays != files.end() && of_kind(files, "trace").empty()) window_.ask_for_arrays(*arrays);
}

/// Shows one result as maps, as it is stored, unless there is a trace. Several results are
/// compared in one figure.
void FileOpener::show_stored(const Files& files) {
  stored_map_.clear();
  const Files results = of_kind(files, "attend");
  const bool alone = results.size() == 1 && results.front().has_stored_maps();
  if (!alone || !of_kind(files, "trace").empty()) return;
  stored_map_ = results.front().path;
  workspace_.open_first(stored_map_, stored_maps(*results.front().content));
}

void FileOpener::find_arrays(const QString& file,
                             const std::function<void(const FoundFile&)>& take) {
  arrays_job_ = workspace_.jobs().start<FoundFile>(
      "looking into " + workspace_.document().name_of(file).toStdString(),
      [file](const PoolContext& context) { return identify_file(file, context.cancel_check()); },
      [this, file, take](const FoundFile& found) {
        if (found.has_arrays()) return take(found);
        window_.show_error(tr("%1: no group holds a q").arg(file));
      },
      [this](const std::string& message) { window_.show_error(QString::fromStdString(message)); },
      true);
}

void FileOpener::show_trace(const Files& traces) {
  if (traces.empty()) return;
  const FoundFile& trace = traces.front();
  shown_.push_back(trace);
  QStringList more;
  for (const FoundFile& other : traces) {
    if (other.path != trace.path) more << other.path;
  }
  if (!more.isEmpty()) window_.view<MapsView>().model().second().offer(more);
  if (!trace.content) return workspace_.open(trace.path, QString::fromStdString(trace.group));
  window_.view<DataView>().know(trace.path, trace.content);
  workspace_.open_first(trace.path, groups_to_open(*trace.content));
}

void FileOpener::show_in_views(const Files& files) {
  for (const View& view : views_) {
    for (const ShownKind& shown : view.kinds) {
      const Files some = of_kind(files, shown.kind);
      const auto count = some.empty() ? 0 : static_cast<std::ptrdiff_t>(shown.open(some));
      shown_.insert(shown_.end(), some.begin(), some.begin() + count);
    }
  }
}

/// Shows files as `conelab figure` draws them: maps of one quantity, or one file of trees.
void FileOpener::show_figure(const Files& files) {
  const auto first =
      std::ranges::find_if(files, [this](const FoundFile& file) { return is_drawn(file); });
  if (first == files.end()) return;
  const auto begin = static_cast<std::ptrdiff_t>(shown_.size());
  std::copy_if(first, files.end(), std::back_inserter(shown_), [&](const FoundFile& file) {
    const bool beside = first->kind == "attend" && file.kind == "attend";
    return file.path == first->path || (beside && file.quantity == first->quantity);
  });
  workspace_.document().edit(tr("open a result"), [&](Session& s) {
    s.figure = {};
    s.figure.name = figure::figure_of_results(first->kind)->name;
    if (first->quantity == "logits") s.figure.parameters["quantity"] = "logits";
    for (auto file = shown_.begin() + begin; file != shown_.end(); ++file) {
      s.figure.inputs.push_back(file->path.toStdString());
    }
  });
}

/// Shows the content of the first file that no other view shows; traces are shown anyway.
void FileOpener::show_content(const Files& files) {
  if (!of_kind(files, "trace").empty()) return;
  const auto first = std::ranges::find_if(files, [this](const FoundFile& file) {
    return file.kind != "session" && own_view(file) == nullptr;
  });
  if (first == files.end()) return;
  auto& data = window_.view<DataView>();
  data.know(first->path, first->content);
  data.show_file(first->path);
  if (!is_among(shown_, *first)) shown_.push_back(*first);
}

/// Returns a notice about which view shows what, if several views have something new. Results that
/// figures draw have their own notice.
QString FileOpener::places_text() const {
  std::set<std::string> kinds;
  for (const FoundFile& file : shown_) {
    if (file.kind != "session") kinds.insert(file.kind);
  }
  if (kinds.size() < 2) return {};
  QStringList places;
  for (const ViewRow& row : view_table()) {
    QStringList here;
    for (const FoundFile& file : shown_) {
      const bool has_own_notice = file.kind == "session" || file.kind == "attend" || is_drawn(file);
      if (!has_own_notice && view_of(file) == std::string(row.name)) here << name_of(file);
    }
    if (!here.isEmpty()) {
      places << tr("%1 in %2").arg(here.join(tr(" and ")), QObject::tr(row.title));
    }
  }
  return places.isEmpty() ? QString() : tr("Open: %1.").arg(places.join(", "));
}

/// Returns the notice about results that figures draw; empty if there are none among the files.
QString FileOpener::result_text() const {
  const auto first = std::ranges::find_if(
      shown_, [this](const FoundFile& file) { return file.kind == "attend" || is_drawn(file); });
  if (first == shown_.end()) return {};
  const QString name = name_of(*first), quantity = QString::fromStdString(first->quantity);
  if (first->kind != "attend") {
    return tr("%1 is a result of %2: its figure is in Figures.")
        .arg(name, QString::fromStdString(first->kind));
  }
  const std::size_t count = of_kind(shown_, "attend").size();
  if (!stored_map_.isEmpty() && count == 1) {
    return tr("%1 is a result of attend, shown as it is stored: nothing is computed, and operators "
              "do not act on it.")
        .arg(name);
  }
  if (quantity.isEmpty()) {
    return tr("%1 is a result of attend without weights or logits.").arg(name);
  }
  if (count > 1) {
    return tr("%1 results of attend: their stored %2 are in Figures, side by side.")
        .arg(QString::number(count), quantity);
  }
  return tr("%1 is a result of attend: its stored %2 are in Figures.").arg(name, quantity);
}

QString FileOpener::name_of(const FoundFile& file) const {
  return workspace_.document().name_of(file.path);
}

/// All messages share one line; errors come first.
void FileOpener::report(const Found& found) {
  QStringList text, others, traces;
  QStringList errors = found.errors;
  for (const FoundFile& file : found.files) {
    if (is_among(shown_, file)) continue;
    const bool damaged = file.kind == "trace" && file.content && !file.content->sound();
    if (damaged)
      errors << QString::fromStdString(file.content->problems.front());
    else
      (file.kind == "trace" ? traces : others) << name_of(file);
  }
  for (const QString& said : {places_text(), result_text()}) {
    if (!said.isEmpty()) text << said;
  }
  const auto content = std::ranges::find_if(
      shown_, [this](const FoundFile& file) { return view_of(file) == std::string("data"); });
  if (content != shown_.end() && workspace_.trace()) {
    text << window_.shown_in_data_only(content->path);
  }
  if (!others.isEmpty()) {
    text << tr("A view shows one at a time: under File, Open recent: %1.").arg(others.join(", "));
  }
  if (!traces.isEmpty()) {
    text << tr("To be compared with it, in the list above the maps: %1.").arg(traces.join(", "));
  }
  const QString notices = text.join(' ');
  if (!errors.isEmpty()) {
    const QString told = errors.join("; ");
    window_.show_error(notices.isEmpty() ? told : told + QStringLiteral(" · ") + notices);
  } else if (!notices.isEmpty()) {
    const bool has_trace = !of_kind(found.files, "trace").empty();
    window_.show_notice(notices, has_trace ? QString() : trace_of(shown_));
  }
}

ArraysDialog::ArraysDialog(const FoundFile& file, QWidget* parent) : QDialog(parent), file_(file) {
  setObjectName("arrays-dialog");
  setWindowTitle(tr("Which arrays are q, k and v?"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* form = new QFormLayout(this);
  form->setContentsMargins(18, 16, 18, 14);
  form->setSpacing(8);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  auto* about = new QLabel(tr("%1 has no array called q. Queries, keys and values are arrays "
                              "[token × feature], [head × token × feature] or [batch × head × "
                              "token × feature].")
                               .arg(QFileInfo(file.path).fileName()));
  about->setWordWrap(true);
  form->addRow(about);
  const ArrayNames guess = guess_arrays(file.arrays);
  query_ = add_choice("q", guess.query, false);
  key_ = add_choice("k", guess.key, true);
  value_ = add_choice("v", guess.value, true);
  problem_ = named(new QLabel, "arrays-problem");
  problem_->setWordWrap(true);
  problem_->setMinimumHeight(2 * fontMetrics().lineSpacing());  // Nothing moves when it appears.
  problem_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  form->addRow(problem_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel);
  open_ = buttons->button(QDialogButtonBox::Open);
  form->addRow(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &ArraysDialog::choose);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  setMinimumWidth(480);
  show_problem();
  open();
}

QComboBox* ArraysDialog::add_choice(const QString& name, const std::string& guess, bool optional) {
  auto* box = named(new QComboBox, "arrays-" + name, name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(40);
  if (optional) box->addItem(tr("the same as q"), QString());
  for (const NamedArray& array : file_.arrays) {
    box->addItem(QString::fromStdString(array.text()), QString::fromStdString(array.name));
  }
  const int at = box->findData(QString::fromStdString(guess));
  box->setCurrentIndex(std::max(0, at));
  static_cast<QFormLayout*>(layout())->addRow(name, box);
  connect(box, &QComboBox::currentIndexChanged, this, [this] {
    if (problem_ != nullptr) show_problem();
  });
  return box;
}

ArrayNames ArraysDialog::names() const {
  const auto name = [](const QComboBox* box) {
    return box->currentData().toString().toStdString();
  };
  return {name(query_), name(key_), name(value_)};
}

void ArraysDialog::show_problem() {
  const std::string problem = array_problem(file_.arrays, names());
  open_->setEnabled(problem.empty());
  problem_->setText(QString::fromStdString(problem));
  set_ink(*problem_, error_ink(palette()));
}

void ArraysDialog::choose() {
  const GroupedNames named = within_group(names());
  emit chosen(file_.path, QString::fromStdString(named.group), named.arrays);
  accept();
}

}  // namespace conelab::desktop
