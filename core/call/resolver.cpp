#include "core/call/resolver.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/tensor.h"

namespace conelab {
namespace {

/// Throws misuse, which names the first entry that is no number, if there is any.
void check_numbers(const std::string& key, const Value& value) {
  if (!value.lists().empty()) return;
  for (const std::string_view list : split_at(value.text(), ';')) {
    for (const std::string_view part : split_commas(list)) {
      if (!parse_number(part)) misuse("parameter {}: '{}' is not a number", key, part);
    }
  }
}

/// Returns whether the parameter has one number for each axis of a grid.
bool is_by_axis(const ParameterInfo& info) {
  return info.domain != Domain::tensor && std::string_view(info.shape) == "axes";
}

constexpr ParameterInfo seed_parameter{"seed", 0, Domain::count, false,
                                       "of the tensors that are drawn"};

}  // namespace

std::string shape_text(const ParameterInfo& info) {
  if (*info.shape == 0) return "[head]";
  std::string text = "[";
  for (const char* c = info.shape; *c != 0; ++c) text += *c == ',' ? " x " : std::string(1, *c);
  return text + "]";
}

Resolver::Resolver(const Call& call, const Extents& extents)
    : call_(call), feature_(extents.feature) {
  plan_->call = call;
  plan_->extents = extents;
  sizes_ = {{"d", extents.feature},
            {"3d", 3 * extents.feature},
            {"d_v", extents.value},
            {"n_q", extents.query},
            {"n_k", extents.key}};
}

bool is_required(const ParameterInfo& info) {
  return info.domain == Domain::tensor && std::isnan(info.initial);
}

bool is_missing(const ParameterInfo& info, const Call& call, const Extents& extents) {
  return is_required(info) && !extents.tensors.contains(info.key) &&
         !call.parameters.contains(info.key);
}

std::string also_needed(std::span<const ParameterInfo> infos, const Call& call,
                        const Extents& extents, std::string_view named) {
  std::vector<std::string_view> others;
  for (const ParameterInfo& info : infos) {
    if (info.key != named && is_missing(info, call, extents)) others.emplace_back(info.key);
  }
  return others.empty() ? "" : fmt::format(" (it also needs {})", fmt::join(others, ", "));
}

std::size_t Resolver::declare(const ParameterInfo& info, bool is_known) {
  auto& all = plan_->parameters;
  const auto same = std::ranges::find_if(
      all, [&](const Parameter& p) { return std::string_view(p.info.key) == info.key; });
  const auto at = static_cast<std::size_t>(same - all.begin());
  if (same == all.end()) {
    all.push_back({info, {}, {}});
    if (is_known) known_keys_.emplace_back(info.key);
  }
  return at;
}

ParameterSet Resolver::add(const std::string& part, std::span<const ParameterInfo> infos,
                           DefaultOf initial) {
  ParameterSet set;
  for (const ParameterInfo& info : infos) set.push_back(declare(info, true));
  // The order is: the grid; numbers that are given, since they may be sizes of tensors; tensors,
  // whose sizes may be defaults of numbers, the drawn ones last, since others may determine their
  // sizes; other numbers.
  const auto order = [&](const Parameter& p) {
    if (is_by_axis(p.info) && p.info.domain == Domain::whole) return 0;
    if (p.info.domain == Domain::tensor) return is_drawn(p.info) ? 3 : 2;
    return call_.parameters.contains(p.info.key) ? 1 : 4;
  };
  for (int turn = 0; turn < 5; ++turn) {
    for (std::size_t k = 0; k < set.size(); ++k) {
      Parameter& p = plan_->parameters[set[k]];
      if (order(p) == turn) fill(part, infos, p, static_cast<int>(k), initial);
    }
  }
  if (std::exchange(draws_, false)) (void)add(part, std::span(&seed_parameter, 1));
  return set;
}

ParameterSet Resolver::add_fixed(const ParameterInfo& info, double value) {
  ParameterInfo fixed = info;
  fixed.differentiable = false;
  const std::size_t at = declare(fixed, false);
  plan_->parameters[at].values = {value};
  return {at};
}

void Resolver::fill(const std::string& part, std::span<const ParameterInfo> infos, Parameter& p,
                    int index, DefaultOf initial) {
  const ParameterInfo& info = infos[static_cast<std::size_t>(index)];
  if (p.values.empty()) {
    if (p.info.domain == Domain::tensor) return fill_tensor(part, infos, p);
    if (p.info.domain == Domain::choice) return fill_word(p, index, initial);
    if (is_by_axis(p.info)) {
      fill_axes(p, index, initial);
    } else {
      p.values = call_.parameters.contains(p.info.key)
                     ? given(p.info, call_.parameters.at(p.info.key))
                     : defaults(p, index, initial);
    }
  }
  if (p.values.empty()) misuse("{} needs parameter {}: {}", part, p.info.key, p.info.about);
  for (const double v : p.values) check_domain(info, v);
  if (p.info.domain == Domain::whole || p.info.domain == Domain::count) {
    sizes_.emplace(p.info.key, static_cast<std::int64_t>(p.values.front()));
  }
}

void Resolver::fill_axes(Parameter& p, int index, DefaultOf initial) {
  const auto text = call_.parameters.find(p.info.key);
  const bool is_grid = p.info.domain == Domain::whole;
  if (text == call_.parameters.end()) {
    p.values = defaults_by_axis(p, index, initial);
  } else {
    p.values = is_grid ? sides(p.info, text->second) : given_by_axis(p.info, text->second);
  }
  if (is_grid) sides_ = p.values;
  if (sides_.size() == 1) return;
  p.extents = {static_cast<std::int64_t>(sides_.size())};
  if (p.values.size() > sides_.size()) p.extents.insert(p.extents.begin(), plan_->extents.head);
}

std::vector<double> Resolver::sides(const ParameterInfo& info, const Value& value) const {
  const std::vector<double>& sides = value.sides();
  const std::string& text = value.text();
  if (sides.empty()) {
    misuse("parameter {}: '{}' is not a list of sides (expected as 16x16)", info.key, text);
  }
  double tokens = 1;
  for (const double side : sides) {
    check_domain(info, side);
    tokens *= side;
  }
  const Slice all = plan_->extents.slice();
  if (tokens != static_cast<double>(std::max<std::int64_t>(1, all.all_keys))) {
    misuse("parameter {} must have as many points as there are keys (expected {}, found {} = {})",
           info.key, all.all_keys, text, tokens);
  }
  if (sides.size() > 1 && all.all_queries > all.all_keys) {
    misuse(
        "parameter {} leaves no points for the first queries (expected n_q <= n_k = {}, found {})",
        info.key, all.all_keys, all.all_queries);
  }
  return sides;
}

std::vector<double> Resolver::given_by_axis(const ParameterInfo& info, const Value& value) const {
  if (sides_.size() == 1) return given(info, value);  // It is a list like any other.
  check_numbers(info.key, value);
  const std::vector<std::vector<double>>& by_head = value.lists();
  const auto heads = static_cast<std::size_t>(plan_->extents.head);
  if (by_head.size() != 1 && by_head.size() != heads) {
    misuse("parameter {}: ';' separates one list per head (expected {}, found {})", info.key, heads,
           by_head.size());
  }
  std::vector<double> values;
  for (std::vector<double> own : by_head) {
    if (own.size() == 1) own.resize(sides_.size(), own.front());
    if (own.size() != sides_.size()) {
      misuse("parameter {}: a list gives one value per axis of the grid (expected {}, found {})",
             info.key, sides_.size(), own.size());
    }
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

std::vector<double> Resolver::defaults_by_axis(const Parameter& p, int index, DefaultOf initial) {
  if (sides_.size() == 1) return defaults(p, index, initial);
  const Extents whole = plan_->extents;
  plan_->extents.positions = {};
  std::vector<double> values;
  for (const double side : sides_) {
    plan_->extents.query = plan_->extents.key = std::llround(side);
    values.push_back(defaults(p, index, initial).front());
  }
  plan_->extents = whole;
  return values;
}

void Resolver::fill_word(Parameter& p, int index, DefaultOf initial) const {
  const auto found = call_.parameters.find(p.info.key);
  if (found == call_.parameters.end()) {
    p.values = defaults(p, index, initial);
    return;
  }
  const std::size_t word = index_of_name(p.info.key, found->second.text(), choice_words(p.info));
  p.values = {static_cast<double>(word)};
}

bool Resolver::is_drawn(const ParameterInfo& info) const {
  const auto given = call_.parameters.find(info.key);
  return given != call_.parameters.end() && given->second.is_random() &&
         !plan_->extents.tensors.contains(info.key);
}

void Resolver::fill_tensor(const std::string& part, std::span<const ParameterInfo> infos,
                           Parameter& p) {
  if (!p.extents.empty()) return;
  const auto given = call_.parameters.find(p.info.key);
  const bool drawn = given != call_.parameters.end() && given->second.is_random();
  if (given != call_.parameters.end() && !drawn && !given->second.file()) {
    misuse("parameter {} is a tensor (expected {}=random or {}=@FILE.npy, found '{}')", p.info.key,
           p.info.key, p.info.key, given->second.text());
  }
  draws_ |= drawn;
  const auto found = plan_->extents.tensors.find(p.info.key);
  if (found != plan_->extents.tensors.end()) {
    p.extents = found->second;
  } else if (drawn) {
    const Extents& e = plan_->extents;
    const DefaultContext context{0, e.head, e.slice().all_queries, e.slice().all_keys, e.feature};
    p.extents = drawn_shape(p.info, with_drawn_sizes(sizes_, context), usual_drawn_size);
    if (p.extents.empty()) p.extents = {e.head};
    plan_->extents.tensors[p.info.key] = p.extents;  // The plan is that of the drawn tensor, too.
  } else if (std::isnan(p.info.initial)) {
    fail(
        "{} needs tensor {} {}, {}: a dataset of that name beside q, -p {}=@FILE.npy or -p "
        "{}=random{}",
        part, p.info.key, shape_text(p.info), p.info.about, p.info.key, p.info.key,
        also_needed(infos, call_, plan_->extents, p.info.key));
  } else {
    return take_absent(p.info, sizes_);
  }
  if (!is_of_pairs(p.info)) return check_shape(p.info, p.extents, plan_->extents.head, sizes_);
  const Extents& e = plan_->extents;
  if (p.extents.size() < 2 || p.extents.size() > 4) {
    fail(
        "tensor {} has {} axes (expected [n_q x n_k], with or without axes of heads and batch "
        "elements before)",
        p.info.key, p.extents.size());
  }
  check_pair_sizes(p.info.key, pair_sizes(p.extents), {e.batch, e.head, e.query, e.key});
}

std::vector<double> Resolver::given(const ParameterInfo& info, const Value& value) const {
  check_numbers(info.key, value);
  std::vector<double> values;
  for (const std::vector<double>& list : value.lists()) {
    values.insert(values.end(), list.begin(), list.end());
  }
  const auto count = static_cast<std::int64_t>(values.size());
  if (count != 1 && count != plan_->extents.head) {
    misuse("parameter {}: a list gives one value per head (expected {}, found {})", info.key,
           plan_->extents.head, count);
  }
  return values;
}

std::vector<double> Resolver::defaults(const Parameter& p, int index, DefaultOf initial) const {
  if (!std::isnan(p.info.initial)) return {p.info.initial};
  const auto size = sizes_.find(*p.info.shape != 0 ? p.info.shape : p.info.key);
  if (size != sizes_.end()) return {static_cast<double>(size->second)};
  if (initial == nullptr) return {};
  const Extents& e = plan_->extents;
  std::vector<double> values;
  for (std::int64_t h = 0; h < std::max<std::int64_t>(1, e.head); ++h) {
    const DefaultContext context{h, std::max<std::int64_t>(1, e.head), e.slice().all_queries,
                                 e.slice().all_keys, feature_};
    values.push_back(initial(index, context));
  }
  if (std::isnan(values.front())) return {};
  const bool equal = std::ranges::all_of(values, [&](double v) { return v == values.front(); });
  if (equal) values.resize(1);
  return values;
}

void Resolver::add_masks() {
  Call& call = plan_->call;
  if (call.masks.empty()) call.masks = {"full"};
  for (const std::string& name : call.masks) {
    const MaskRow* row = &row_named("mask", mask_table(), name);
    for (const ParameterInfo& info : row->parameters) {
      const auto text = call_.parameters.find(info.key);
      if (text == call_.parameters.end()) continue;
      const std::size_t count = split_commas(text->second.text()).size();
      if (count > 1) {
        misuse("parameter {} of mask {} is one number for all heads (found {})", info.key, name,
               count);
      }
    }
    plan_->masks.push_back({row, add("mask " + name, row->parameters, row->initial)});
  }
}

void Resolver::check_keys(const std::string& name) const {
  conelab::check_keys(call_.parameters, known_keys_, name);
}

void check_keys(const std::map<std::string, Value>& parameters,
                const std::vector<std::string>& known, const std::string& name) {
  for (const auto& [key, text] : parameters) {
    if (contains(known, key)) continue;
    const std::string nearest = nearest_name(key, known);
    misuse("unknown parameter '{}'{} ({} takes: {})", key,
           nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest), name,
           known.empty() ? "none" : join(known));
  }
}

}  // namespace conelab
