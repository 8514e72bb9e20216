#include "widgets/benchmarks/bench_model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/base/duration.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/parts.h"
#include "core/bench/result.h"
#include "core/files/sandbox.h"
#include "widgets/forms/field_form.h"

namespace conelab::desktop {
namespace {

namespace fs = std::filesystem;

/// The time between two pictures of a running sweep. Drawing takes time from the machine that is
/// being measured.
constexpr auto picture_pause = std::chrono::milliseconds(500);
/// Times that differ by less are equal; `conelab compare` uses the same margin.
constexpr double same_margin = 0.02;
constexpr std::size_t most_warnings = 3;

const char* const open_label = "open a benchmark";

bool is_picture(const std::string& page) {
  return page == "scaling" || page == "ratio" || page == "roofline";
}

const MeasuredCase* case_at(const BenchSelection& s, const std::string& operation, double length) {
  for (const MeasuredCase& c : s.cases) {
    if (c.labels["operator"] == operation &&
        static_cast<double>(c.labels.number("seq_len")) == length)
      return &c;
  }
  return nullptr;
}

/// Keeps the latest result and converts it to numbers of a picture from time to time.
class Pictures {
 public:
  Pictures(std::string output, const LongRun<BenchState>::Change& change)
      : output_(std::move(output)), change_(change) {}

  void sampled(const BenchResult& result) {
    latest_ = result;
    if (std::chrono::steady_clock::now() >= due_) show();
  }
  void show() {
    if (!latest_) return;
    change_([data = bench_data(bench_file(*latest_), output_)](BenchState& s) { s.data = data; });
    latest_.reset();
    due_ = std::chrono::steady_clock::now() + picture_pause;
  }

 private:
  std::string output_;
  const LongRun<BenchState>::Change& change_;
  std::optional<BenchResult> latest_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace

BenchModel::BenchModel(Document& document, JobPool& jobs, BenchBackend backend)
    : document_(document),
      jobs_(jobs),
      backend_(std::move(backend)),
      run_(jobs, [this] { look(); }) {
  connect(&watch_, &FileWatch::changed, this, [this] {
    if (!live()) show_file();
  });
  connect(&document_, &Document::changed, this, &BenchModel::follow);
  follow();
}

// ---- the sweep ----------------------------------------------------------------------------------

void BenchModel::find_devices() {
  if (!backend_.devices || finding_.active() || !devices_.empty()) return;
  finding_ = jobs_.start<std::vector<DeviceState>>(
      "looking for devices", [find = backend_.devices](const PoolContext&) { return find(); },
      [this](std::vector<DeviceState> found) {
        devices_ = std::move(found);
        follow();
      },
      [this](const std::string& message) { say(message, true); });
}

std::string BenchModel::output() const {
  const auto typed = choice().fields.find("output");
  return result_path(typed == choice().fields.end() ? "" : typed->second, backend_.folder);
}

bool BenchModel::can_resume() const {
  return !running() && check_.sound() && Parts::exist(output());
}

void BenchModel::run() {
  if (!can_run()) return;
  try {
    start(free_path(output()), false);
  } catch (const Error& error) {
    say(error.what(), true);
  }
}

void BenchModel::resume() {
  if (can_resume()) start(output(), true);
}

void BenchModel::start(const std::string& path, bool resume) {
  if (!backend_.run) return;
  run_.start("benchmark " + name_of(path), [run = backend_.run, sweep = check_.sweep, path, resume](
                                               const PoolContext& context, const auto& change) {
    Pictures pictures(path, change);
    BenchOptions options;
    options.output = path;
    options.resume = resume;
    options.cancelled = context.cancel_check();
    options.progress = [&](const BenchProgress& p) {
      context.progress(p.share);
      change([&](BenchState& s) { s.progress = p; });
    };
    options.warned = [&](const std::string& what) {
      change([&](BenchState& s) { s.warnings.push_back(what); });
    };
    options.sampled = [&](const BenchResult& result) { pictures.sampled(result); };
    try {
      run(sweep, options);
    } catch (...) {
      pictures.show();
      throw;
    }
    pictures.show();
  });
  run_output_ = shown_ = path;
  shown_warnings_ = 0;
  data_.reset();
  say(resume ? "Going on with " + path : "Measuring into " + path, false);
  document_.edit("run a sweep",
                 [&](Session& s) { s.bench.fields["output"] = s.bench.shown = path; });
  follow();
}

void BenchModel::cancel() {
  if (!running()) return;
  run_.stop();
  say("Stopping …", false);
}

void BenchModel::look() {
  const BenchState& state = run_.state();
  const bool is_shown = choice().shown == run_output_;
  const bool other_picture = is_shown && state.data != nullptr && state.data != data_;
  if (other_picture) data_ = state.data;
  const std::size_t count = state.warnings.size();
  const bool warned = std::exchange(shown_warnings_, count) != count;
  if (run_.end() == RunEnd::finished) {
    say("Finished: " + run_output_, false);
    if (is_shown) show_file();
  } else if (run_.end() == RunEnd::stopped) {
    say(progress().done == 0
            ? "Stopped before the first sample was finished: nothing is kept."
            : fmt::format("Stopped; {} of {} samples are kept. Resume goes on from there.",
                          progress().done, progress().total),
        false);
  } else if (run_.end() == RunEnd::failed) {
    say(run_.error(), true);
  } else if (other_picture || warned) {
    emit changed();
  }
  emit progressed();
}

std::string BenchModel::progress_text() const {
  const BenchProgress& now = progress();
  if (now.total == 0) return running() ? "starting …" : "";
  const bool known = std::isfinite(now.eta);
  return fmt::format("{} of {} samples, {}: {}", now.done, now.total,
                     known ? clock_text(now.eta) + " left" : "time left unknown", now.current);
}

void BenchModel::type(const std::string& field, const std::string& text, bool done) {
  const auto fields = sweep_fields(backend_.operators);
  const auto row = std::ranges::find(fields, field, &JobField::name);
  const bool is_default = text == row->initial || (text.empty() && !offers_names(*row));
  const QString name = QString::fromStdString(field);
  document_.edit(
      tr("change %1 of the sweep").arg(name),
      [&](Session& s) {
        is_default ? void(s.bench.fields.erase(field)) : void(s.bench.fields[field] = text);
      },
      "bench " + name);
  if (done) document_.close_step();
}

std::vector<std::string> BenchModel::warnings() const {
  if (choice().shown != run_output_) return {};
  std::vector<std::string> told = run_.state().warnings;
  if (told.size() <= most_warnings) return told;
  const std::size_t more = told.size() - most_warnings;
  told.resize(most_warnings);
  told.push_back(fmt::format("(and {} more like these)", more));
  return told;
}

void BenchModel::say(const std::string& message, bool failed) {
  message_ = message;
  failed_ = failed;
  emit changed();
}

// ---- the result on display ----------------------------------------------------------------------

void BenchModel::follow() {
  check_ = check_bench(choice(), backend_.operators, devices_);
  if (choice().shown != shown_) show_file();
  compare();
  emit changed();
}

bool BenchModel::unfinished() const {
  std::error_code error;
  return !fs::exists(choice().shown, error) && Parts::exist(choice().shown);
}

bool BenchModel::live() const { return running() && choice().shown == run_output_; }

void BenchModel::open(const std::string& file) {
  opened_ = file;
  if (shown_ == file && !live()) {
    if (data_) return fill_form(file);
    if (!loading_.active())
      return show_file();  // It could not be read before and may have changed.
  }
  document_.edit(
      open_label, [&](Session& s) { s.bench.shown = file; }, QString::fromStdString(file));
}

/// This edit and the opening of the file are one step of the history.
void BenchModel::fill_form(const std::string& file) {
  if (std::exchange(opened_, {}) != file) return;
  document_.edit(
      open_label,
      [&](Session& s) { s.bench = form_of_sweep(s.bench, data_->sweep, backend_.operators); },
      QString::fromStdString(file));
}

void BenchModel::compare_with(const std::string& file) {
  document_.edit("compare benchmarks", [&](Session& s) {
    s.bench.compared = file;
    if (!file.empty()) s.bench.page = "comparison";
  });
}

void BenchModel::show_file() {
  const std::string file = choice().shown;
  if (file != shown_) data_.reset();
  if (file != opened_) opened_.clear();
  shown_ = file;
  loading_.cancel();
  watch_.watch(live() ? QString() : QString::fromStdString(file));
  if (file.empty() || live()) return;
  std::error_code error;
  if (!fs::exists(file, error)) {
    opened_.clear();
    return say(unfinished() ? name_of(file) + " is not finished; Resume goes on with it."
                            : file + ": there is no such file",
               !unfinished());
  }
  loading_ = jobs_.start<std::shared_ptr<const BenchData>>(
      "reading " + name_of(file),
      [file](const PoolContext& context) {
        const SandboxLimits limits{.cancelled = context.cancel_check()};
        return bench_data(read_labelled_file_sandboxed(file, limits), file);
      },
      [this, file](std::shared_ptr<const BenchData> data) {
        data_ = std::move(data);
        compared_ = {};
        compare();
        say(file, false);
        fill_form(file);
      },
      [this](const std::string& message) {
        opened_.clear();  // The form must not change later, when the file becomes readable.
        say(message, true);
      },
      true);
}

/// Compares files, hence finished results only.
void BenchModel::compare() {
  const std::pair<std::string, std::string> wanted = {choice().compared, choice().shown};
  if (wanted == compared_) return;
  compared_ = wanted;
  comparison_.reset();
  comparing_.cancel();
  if (wanted.first.empty() || wanted.second.empty() || live() || !data_ || unfinished()) {
    compared_ = {};
    return;
  }
  comparing_ = jobs_.start<BenchComparison>(
      "comparing with " + name_of(wanted.first),
      [wanted](const PoolContext& context) {
        return compare_bench(wanted.first, wanted.second, same_margin,
                             {.cancelled = context.cancel_check()});
      },
      [this](BenchComparison found) {
        comparison_ = std::move(found);
        emit changed();
      },
      [this](const std::string& message) {
        if (message == job_cancelled) compared_ = {};  // The next change compares again.
        say(message, true);
      });
}

std::vector<std::string> BenchModel::visible() const {
  if (!data_) return {};
  std::vector<std::string> names = label_values(data_->cases, "operator");
  const std::vector<std::string>& hidden = choice().hidden;
  std::erase_if(names, [&](const std::string& name) { return contains(hidden, name); });
  return names;
}

/// Returns the parameters of the figure that differ from its defaults.
std::map<std::string, std::string> BenchModel::keys() const {
  std::map<std::string, std::string> keys;
  for (const Axis& axis : fixed_axes()) {
    const std::string label = axis.name;
    const std::vector<std::string> known = label_values(data_->cases, label);
    if (known.empty()) continue;  // The result has no cases.
    const auto chosen = choice().place.find(label);
    const bool has = chosen != choice().place.end() && contains(known, chosen->second);
    const std::string value = has ? chosen->second : known.front();
    if (known.size() > 1 || (*axis.drawn != '\0' && value != axis.drawn)) keys[label] = value;
  }
  const std::vector<std::string> names = visible();
  if (names.size() < label_values(data_->cases, "operator").size()) {
    keys["operators"] = join(names, ",");
  }
  return keys;
}

FigureChoice BenchModel::figure(double width) const {
  FigureChoice figure;
  figure.name = is_picture(choice().page) ? choice().page : "scaling";
  figure.inputs = {choice().shown};
  if (data_) figure.parameters = keys();
  figure.width = fmt::format("{:.0f}pt", width);
  return figure;
}

BenchPicture BenchModel::picture(double width) const {
  if (!data_ || visible().empty() || !is_picture(choice().page)) return {};
  const BenchSelection selection = select_cases(data_->cases, data_->exponents, keys());
  BenchPicture drawn =
      choice().page == "roofline" ? roofline(selection, width) : curves(selection, width);
  return drawn.spots.empty() ? BenchPicture() : drawn;  // Axes without a case would be invented.
}

BenchPicture BenchModel::curves(const BenchSelection& selection, double width) const {
  figure::ScalingFigure scaling = scaling_figure(selection);
  scaling.ratio_only = choice().page == "ratio";
  scaling.width = width;
  BenchPicture picture{draw_scaling(scaling), {}};
  for (const figure::PlacedSample& s : scaling_samples(scaling)) {
    const std::string& name = selection.operators[s.series];
    std::string text;
    if (s.ratio) {
      text = fmt::format("{} / {} = {:.6g}  [{:.6g}, {:.6g}]   ", name, selection.operators[0], s.y,
                         s.low, s.high);
    }
    if (const MeasuredCase* c = case_at(selection, name, s.x)) text += case_text(*data_, *c);
    picture.spots.push_back({s.at, std::move(text)});
  }
  return picture;
}

BenchPicture BenchModel::roofline(const BenchSelection& selection, double width) const {
  figure::RooflineFigure roof = roofline_figure(selection);
  roof.width = width;
  const std::vector<const MeasuredCase*> cases = roofline_cases(selection);
  BenchPicture picture{draw_roofline(roof), {}};
  for (const figure::PlacedPoint& p : roofline_places(roof)) {
    const MeasuredCase& c = *cases[p.point];
    picture.spots.push_back(
        {p.at, fmt::format("{:.4g} FLOP/byte   {}", c.flops / c.bytes, case_text(*data_, c))});
  }
  return picture;
}

TextTable BenchModel::table(bool exported) const {
  const std::string& page = choice().page;
  if (page == "comparison") {
    return comparison_ ? verdicts_first(comparison_table(comparison_->cases)) : TextTable();
  }
  if (!data_) return {};
  return page == "exponents" ? exponents_table(*data_, exported) : numbers_table(*data_, exported);
}

std::string BenchModel::comparison_text() const {
  if (choice().compared.empty()) return "Choose an older result to compare with.";
  if (live()) return "The running sweep can be compared once it is finished.";
  if (unfinished()) {
    return name_of(choice().shown) +
           " is not finished: it can be compared once Resume has measured the rest.";
  }
  if (!comparison_) return comparing_.active() ? "comparing …" : "";
  if (comparison_->cases.empty()) {
    const std::string labels = join(differing_labels(*comparison_));
    return fmt::format("{} and {} have no case in common{}{}.", name_of(choice().compared),
                       name_of(choice().shown), labels.empty() ? "" : ": ", labels);
  }
  std::map<std::string, int> counts;
  for (const CaseComparison& c : comparison_->cases) ++counts[verdict_name(c.result.verdict)];
  std::string text = fmt::format("Time of {} over time of {}", name_of(choice().shown),
                                 name_of(choice().compared));
  for (const auto& [verdict, count] : counts) text += fmt::format("  ·  {} {}", count, verdict);
  const auto alone = comparison_->only_first.size() + comparison_->only_second.size();
  if (alone > 0) text += fmt::format("  ·  {} in one file only", alone);
  for (const std::string& line : comparison_->differences) text += "\nNot the same " + line;
  return text;
}

}  // namespace conelab::desktop
