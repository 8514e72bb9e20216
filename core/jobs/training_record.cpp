#include "core/jobs/training_record.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <thread>

#include "core/base/error.h"
#include "core/embed/measures.h"
#include "core/jobs/hierarchy_job.h"

namespace conelab {
namespace {

constexpr std::chrono::milliseconds least_pause{2000};
constexpr int pause_factor = 20;  ///< Writing takes at most so small a part of the time.
constexpr std::chrono::milliseconds live_pause{40};
constexpr std::size_t most_live = 16384;  ///< Numbers of a head that is watched.

std::string unfinished_group(std::size_t task) { return fmt::format("unfinished/{}", task); }

/// Returns the list of numbers of a group. Throws a failure if it has not `size` of them.
template <class T>
const std::vector<T>& list_of(const LabelledArray& group, const char* name, std::size_t size) {
  const auto* list = group.data<T>(name);
  if (list == nullptr || list->size() != size) fail("the unfinished training is damaged: {}", name);
  return *list;
}

}  // namespace

std::vector<Node> all_nodes(const TrainingData& data) {
  std::vector<Node> all(data.closure.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

LabelledArray head_group(const MeasuredHead& made, const HeadGoal& goal,
                         const std::vector<std::string>& names) {
  LabelledArray group;
  group.axes = {counted_axis("node", names.size()),
                counted_axis("coordinate", static_cast<std::size_t>(goal.dim))};
  const auto add = [&](const char* name, const PlacedTokens& tokens) {
    group.add(name, {"node", "coordinate"},
              std::vector<float>(tokens.point.begin(), tokens.point.end()));
  };
  add("q", made.head.query);
  add("k", made.head.key);
  add("v", made.head.key);
  group.add("token", {"node"}, names);
  group.attributes = {{"similarity", goal.similarity}};
  for (const auto& [key, value] : made.head.model.parameters()) {
    group.attributes.emplace_back(key, value);
  }
  group.attributes.emplace_back("dim", std::int64_t{goal.dim});
  group.attributes.emplace_back("seed", static_cast<std::int64_t>(goal.seed));
  for (const auto& [key, value] : made.measures) group.attributes.emplace_back(key, value);
  if (!made.losses.empty()) group.attributes.emplace_back("start_loss", made.losses);
  return group;
}

Execution one_thread() {
  Execution one;
  one.threads = 1;
  return one;
}

TrainingRecord::TrainingRecord(const Training& training, const TrainingData& data, std::string path,
                               LabelledFile file)
    : training_(training),
      data_(data),
      path_(std::move(path)),
      file_(std::move(file)),
      snapshots_(training.goals.size() * static_cast<std::size_t>(training.starts)),
      states_(snapshots_.size()),
      paused_at_(snapshots_.size(), -1),
      losses_(snapshots_.size(), HUGE_VAL),
      shown_(snapshots_.size()),
      all_(all_nodes(data)) {}

void TrainingRecord::stepped(std::size_t task, std::int64_t step, const TrainedHead& head) {
  const std::int64_t epochs = training_.goals.front().epochs, count = training_.snapshots;
  if (step * count / epochs == (step - 1) * count / epochs) return;
  MeasuredHead made{head, {}, 0, {{"step", static_cast<double>(step)}}};
  place_all(made.head, data_.features);
  made.measures.emplace_back("loss", head.loss);
  made.measures.emplace_back(
      "mass", mass_on_ancestors(made.head.model, made.head.query, made.head.key, data_.closure,
                                all_, one_thread()));
  const std::lock_guard lock(mutex_);
  states_[task] = state_of(head, step);
  snapshots_[task].push_back(std::move(made));
  if (std::chrono::steady_clock::now() < due_) return;
  const auto begin = std::chrono::steady_clock::now();
  write();
  const auto end = std::chrono::steady_clock::now();
  due_ = end + std::max<std::chrono::nanoseconds>(least_pause, (end - begin) * pause_factor);
}

void TrainingRecord::show(std::size_t task, std::int64_t step, const TrainedHead& head,
                          const JobContext& context) {
  const auto now = std::chrono::steady_clock::now();
  const std::size_t goal = goal_of(task);
  const auto size = 2 * all_.size() * static_cast<std::size_t>(head.model.dim());
  if (!context.live || now - shown_[task] < live_pause || size > most_live) return;
  shown_[task] = now;
  {
    const std::lock_guard lock(mutex_);
    losses_[task] = head.loss;
    const auto first = losses_.begin() +
                       static_cast<std::ptrdiff_t>(goal * losses_.size() / training_.goals.size());
    if (*std::min_element(first, first + training_.starts) < head.loss) return;
  }
  TrainedHead made = head;
  place_all(made, data_.features);
  context.live({{"group", "/" + training_.groups[goal]},
                {"step", step},
                {"loss", head.loss},
                {"parameters", made.model.parameters()},
                {"query", made.query.point},
                {"key", made.key.point}});
}

void TrainingRecord::keep(std::size_t task, std::int64_t step, const TrainedHead& head) {
  const std::lock_guard lock(mutex_);
  states_[task] = state_of(head, step);
}

void TrainingRecord::wait_while_paused(std::size_t task, const JobContext& context,
                                       const std::function<bool()>& stopped) {
  const auto allowed = [&] { return context.allowed ? context.allowed() : -1; };
  std::int64_t& before = paused_at_[task];
  const auto made = static_cast<std::int64_t>(snapshots_[task].size());
  if (allowed() < 0) {
    before = -1;
    return;
  }
  if (before < 0) before = made;
  bool written = false;
  for (auto more = allowed(); more >= 0 && made >= before + more && !stopped(); more = allowed()) {
    if (!written) {  // What is seen is what has been reached.
      const std::lock_guard lock(mutex_);
      written = true;
      write();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void TrainingRecord::add_to(LabelledFile& file, std::size_t goal, std::size_t start) const {
  const std::size_t task = goal * static_cast<std::size_t>(training_.starts) + start;
  for (const MeasuredHead& made : snapshots_[task]) {
    const auto step = static_cast<std::int64_t>(made.measures.front().second);
    const std::size_t digits = std::to_string(training_.goals.front().epochs).size();
    file.groups.emplace_back(fmt::format("{}/step{:0{}}", training_.groups[goal], step, digits),
                             head_group(made, training_.goals[goal], data_.hierarchy.names));
  }
}

bool TrainingRecord::write() const {
  LabelledFile file = file_;
  const auto starts = static_cast<std::size_t>(training_.starts);
  for (std::size_t goal = 0; goal < training_.goals.size(); ++goal) {
    const auto first = snapshots_.begin() + static_cast<std::ptrdiff_t>(goal * starts);
    const auto best = std::ranges::min_element(
        first, first + training_.starts, {}, [](const std::vector<MeasuredHead>& made) {
          return made.empty() ? HUGE_VAL : made.back().head.loss;
        });
    if (best->empty()) continue;
    file.groups.emplace_back(training_.groups[goal], head_group(best->back(), training_.goals[goal],
                                                                data_.hierarchy.names));
    add_to(file, goal, static_cast<std::size_t>(best - first));
  }
  if (file.groups.empty()) return false;
  for (std::size_t task = 0; task < snapshots_.size(); ++task) {
    if (snapshots_[task].empty()) continue;
    file.groups.emplace_back(unfinished_group(task), unfinished(task));
  }
  file.groups.emplace_back("hierarchy", group_with_held_out(data_.hierarchy, data_.held));
  write_labelled(path_, file);
  return true;
}

// ---- the group of a task that is not finished ---------------------------------------------------

LabelledArray TrainingRecord::unfinished(std::size_t task) const {
  std::vector<double> measures, parameters;
  std::vector<float> points;
  for (const MeasuredHead& made : snapshots_[task]) {
    for (const auto& [name, value] : made.measures) measures.push_back(value);
    const std::vector<double> values = made.head.model.values();
    parameters.insert(parameters.end(), values.begin(), values.end());
    for (const PlacedTokens* tokens : {&made.head.query, &made.head.key}) {
      points.insert(points.end(), tokens->point.begin(), tokens->point.end());
    }
  }
  const auto count = static_cast<std::int64_t>(snapshots_[task].size());
  const auto columns = [&](const auto& list) {
    return static_cast<std::int64_t>(list.size()) / count;
  };
  LabelledArray group;
  group.add_tensor("state", {static_cast<std::int64_t>(states_[task].size())}, states_[task]);
  group.add_tensor("measure", {count, columns(measures)}, measures);
  group.add_tensor("parameter", {count, columns(parameters)}, parameters);
  group.add_tensor("point", {count, columns(points)}, points);
  return group;
}

void TrainingRecord::restore(std::size_t task, const LabelledArray& group) {
  const std::size_t goal = goal_of(task), start = task % static_cast<std::size_t>(training_.starts);
  const TrainedHead first = first_head(training_.goals[goal], start, data_.problem);
  const auto *measures = group.data<double>("measure"), *state = group.data<double>("state");
  if (state == nullptr) fail("the unfinished training is damaged: state");
  const std::size_t count = measures == nullptr ? 0 : measures->size() / 3;
  const std::size_t values = first.model.values().size();
  const std::size_t points = all_.size() * static_cast<std::size_t>(first.model.dim());
  const auto& measure = list_of<double>(group, "measure", 3 * count);
  const auto& parameter = list_of<double>(group, "parameter", values * count);
  const auto& point = list_of<float>(group, "point", 2 * points * count);
  for (std::size_t i = 0; i < count; ++i) {
    MeasuredHead made{first, {}, 0, {}};
    for (std::size_t m = 0; m < 3; ++m) {
      static constexpr const char* names[] = {"step", "loss", "mass"};
      made.measures.emplace_back(names[m], measure[3 * i + m]);
    }
    made.head.loss = made.measures[1].second;
    const double* own = parameter.data() + i * values;
    made.head.model.set_values({own, own + values});
    const float* query = point.data() + 2 * i * points;
    made.head.query.point.assign(query, query + points);
    made.head.key.point.assign(query + points, query + 2 * points);
    snapshots_[task].push_back(std::move(made));
  }
  states_[task] = *state;
}

bool TrainingRecord::resume() {
  if (!std::filesystem::exists(path_)) return true;
  const LabelledFile stored = read_labelled_file(path_);
  const auto spec = [](const LabelledFile& file) {
    return attribute_or_empty(file.attributes, "spec");
  };
  if (spec(stored) != spec(file_)) misuse("{}: is the result of another call", path_);
  const LabelledArray *held = stored.group("hierarchy"),
                      now = group_with_held_out(data_.hierarchy, data_.held);
  for (const LabelledVariable& variable : now.variables) {
    const LabelledVariable* same = held == nullptr ? nullptr : held->variable(variable.name);
    if (same == nullptr || same->data != variable.data) {
      misuse("{}: was trained on another hierarchy", path_);
    }
  }
  bool any = false;
  for (std::size_t task = 0; task < snapshots_.size(); ++task) {
    const LabelledArray* group = stored.group(unfinished_group(task));
    if (group == nullptr) continue;
    any = true;
    try {
      restore(task, *group);
    } catch (const Error& error) {
      fail("{}: {}", path_, error.what());
    }
  }
  return any;
}

}  // namespace conelab
