#include "core/study/study_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/base/names.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"
#include "core/jobs/shared_fields.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) { return contains(names, name); }

/// Returns the key whose value or name the text quotes; null if there is none.
const StudyChoice* choice_of_text(const std::vector<const StudyChoice*>& choices,
                                  const std::string& text) {
  const auto quoted = [&](const Json& value) {
    const std::string typed = value.is_string() ? value.get<std::string>() : json_line(value);
    return text.find("'" + typed + "'") != std::string::npos || text.starts_with(typed + ":");
  };
  const auto quotes = [&](const StudyAlternative& one) {
    if (quoted(one.value)) return true;
    const Names parts = one.value.is_string() ? split_names(one.value.get<std::string>()) : Names();
    return std::ranges::any_of(parts, quoted) ||
           (one.value.is_array() && std::ranges::any_of(one.value, quoted));
  };
  for (const StudyChoice* choice : choices) {
    if (std::ranges::any_of(choice->alternatives, quotes)) return choice;
  }
  const auto place = [&](const StudyChoice* choice) { return find_word(text, choice->name); };
  const auto first = std::ranges::min_element(choices, {}, place);
  return first == choices.end() || place(*first) >= text.size() ? nullptr : *first;
}

void give_seed(const std::string& seed, JobSpec& spec) {
  if (find_field(*spec.kind, FieldKind::call) != nullptr) {
    Call call = spec.call();
    call.parameters["seed"] = seed;
    spec.values["call"] = call;
  } else {
    auto parameters = spec.parameters();
    parameters["seed"] = seed;
    spec.values["parameters"] = parameters;
  }
}

class SpecMaker {
 public:
  SpecMaker(const StudyMaking& from, StudyErrors& errors, StudyJob& job)
      : from_(from), block_(from.block), errors_(errors), job_(job), faulty_(block_.faulty) {
    job_.spec.kind = block_.kind;
  }

  void make() {
    for (std::size_t before = faulty_.size() + 1; before != faulty_.size();) {
      before = faulty_.size();
      try {
        make_once();
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::interrupted) throw;
        note(error.what());
      }
    }
  }

 private:
  const StudyMaking& from_;
  const StudyBlock& block_;
  StudyErrors& errors_;
  StudyJob& job_;
  Names faulty_;                          ///< Keys with an error that is noted.
  std::vector<const StudyChoice*> used_;  ///< The others.

  [[nodiscard]] bool takes_operator() const { return block_.field("similarity") != nullptr; }
  [[nodiscard]] bool lacks_operator() const {
    return takes_operator() && (has(faulty_, "similarity") || has(faulty_, "operator"));
  }

  void make_once() {
    used_.clear();
    FieldValues typed;
    if (lacks_operator()) typed["similarity"] = "dot";
    std::map<std::string, std::string> parameters;
    for (std::size_t i = 0; i < from_.choices.size(); ++i) {
      const StudyChoice& choice = from_.choices[i];
      if (has(faulty_, choice.name)) continue;
      const bool sound = errors_.at_line(choice.line, choice.name + ": ", [&] {
        if (choice.field != nullptr) {
          typed[choice.name] = value_of_json(*choice.field, from_.taken[i]->value);
        } else if (block_.has_parameters() && !lacks_operator()) {
          const Json one{{choice.name, from_.taken[i]->value}};
          const FieldValue value = value_of_json(*block_.field("parameters"), one);
          parameters.merge(std::map(std::get<std::map<std::string, std::string>>(value)));
        }
      });
      sound ? used_.push_back(&choice) : faulty_.push_back(choice.name);
    }
    const auto make = [&](const FieldValues& values) {
      FieldValues whole = values;
      if (!parameters.empty()) whole["parameters"] = parameters;
      return spec_of_typed(*block_.kind, whole);
    };
    job_.spec = make(typed);
    for (const JobField& field : block_.fields) {
      if (field.required && !job_.spec.given(field.name)) misuse("{} is missing", field.name);
    }
    const Names known = known_parameters(job_.spec);
    const std::set<std::string> others = parameters_of_others(typed, known, make);
    std::erase_if(used_, [&](const StudyChoice* choice) {
      return others.contains(choice->name) && parameters.erase(choice->name) > 0;
    });
    if (!others.empty()) job_.spec = make(typed);
    check(known);
  }

  /// Notes an error, and adds its key to those with one.
  void note(const std::string& text) {
    const auto is_named = [&](const std::string& name) {
      std::string place = name;  // An argument by its place: "INPUT".
      for (char& c : place) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      return find_word(text, name) < text.size() || find_word(text, place) < text.size();
    };
    if (std::ranges::any_of(faulty_, is_named)) return;
    const StudyChoice* cause = choice_of_text(used_, text);
    const bool no_operator = cause == nullptr && takes_operator() && is_named("similarity");
    const auto misspelt = std::ranges::find_if(used_, [&](const StudyChoice* choice) {
      const bool near = !nearest_name(choice->name, {"similarity", "operator"}).empty();
      return no_operator && choice->field == nullptr && near;
    });
    if (misspelt != used_.end()) return unknown_key(**misspelt, {});
    errors_.add(cause == nullptr ? block_.line : cause->line, block_.name + ": " + text);
    if (cause != nullptr) faulty_.push_back(cause->name);
    if (no_operator) faulty_.emplace_back("similarity");
  }

  /// Returns the parameters that a job may have. Those of a call whose operator is unknown may be
  /// any that there are.
  [[nodiscard]] Names known_parameters(const JobSpec& spec) const {
    Names known;
    if (spec.kind->keys != nullptr) known = spec.kind->keys(spec);
    if (!lacks_operator()) return known;
    known.emplace_back("seed");
    for (const ParameterInfo& info : all_parameters()) known.emplace_back(info.key);
    return known;
  }

  /// Returns the parameters with one value that are not `known`, but that jobs with other values of
  /// the swept keys have.
  template <class Make>
  [[nodiscard]] std::set<std::string> parameters_of_others(const FieldValues& typed,
                                                           const Names& known,
                                                           const Make& make) const {
    std::set<std::string> wanted, found;
    for (const StudyChoice* choice : used_) {
      const bool plain = choice->field == nullptr && choice->alternatives.size() == 1;
      if (plain && !has(known, choice->name)) wanted.insert(choice->name);
    }
    for (const StudyChoice* swept : used_) {
      if (wanted.empty() || swept->field == nullptr || swept->alternatives.size() < 2) continue;
      for (const StudyAlternative& one : swept->alternatives) {
        try {
          FieldValues other = typed;
          other[swept->name] = value_of_json(*swept->field, one.value);
          for (const std::string& key : known_parameters(make(other))) {
            if (wanted.contains(key)) found.insert(key);
          }
        } catch (const Error&) {
          continue;  // It is noted with that job.
        }
      }
    }
    return found;
  }

  /// Notes that the block has no such key, once for all of its jobs, and adds it and the nearest
  /// key to those with an error.
  void unknown_key(const StudyChoice& choice, const Names& parameters) {
    Names fields = {"name"};
    for (const JobField& field : block_.fields) fields.push_back(field.name);
    Names known = fields;
    for (const std::string& key : parameters) {
      if (!has(known, key)) known.push_back(key);
    }
    const std::string nearest = nearest_name(choice.name, known);
    if (!errors_.has(choice.line)) {
      // If the operator is unknown, the list of all parameters would be long, so it is left out.
      errors_.add(
          choice.line,
          fmt::format("unknown key of {} '{}'{} (known: {})", block_.kind->name, choice.name,
                      nearest.empty() ? "" : "; did you mean '" + nearest + "'?",
                      takes_operator() && (parameters.empty() || lacks_operator())
                          ? join(fields) + ", and the parameters of its operator"
                          : join(known)));
    }
    faulty_.push_back(choice.name);
    faulty_.push_back(nearest);
  }

  /// Throws misuse if the job reads q, k and v where the result of `source` has none. With
  /// rows = "file" a figure shows all groups. Where the study has errors, the groups are not sure.
  void check_group(const StudyJob& source, const std::string& group) const {
    const auto groups_of = source.spec.kind->groups;
    const Names tokens = token_sources(job_.spec);
    const Names kinds = block_.kind->sources == nullptr ? tokens : block_.kind->sources(job_.spec);
    const bool reads_tokens =
        find_field(*block_.kind, "axes") != nullptr &&
        std::ranges::all_of(tokens, [&](const std::string& name) { return has(kinds, name); });
    if (groups_of == nullptr || !reads_tokens || !errors_.none()) return;
    if (const auto typed = job_.spec.parameters();
        typed.contains("rows") && typed.at("rows") == "file")
      return;
    const Names groups = groups_of(source.spec);
    if (has(groups, group)) return;
    if (groups.empty()) misuse("input: '{}' holds no q, k and v", source.block);
    misuse("input: name a group of '{}', as {}:{} (found '{}', known: {})", source.block,
           source.block, groups.front(), group, join(groups));
  }

  void check_source(const StudyJob& source) const {
    const JobKind& kind = *block_.kind;
    if (kind.sources == nullptr) return;
    const Names kinds = kind.sources(job_.spec);
    if (has(kinds, source.spec.kind->name)) return;
    const std::string own = block_.field("kind") == nullptr ? "" : " " + job_.spec.text("kind");
    misuse("input: {}{} reads what {} makes (found '{}', which is {})", kind.name, own, join(kinds),
           source.block, source.spec.kind->name);
  }

  /// Throws misuse if a figure shows a map that the job `attend` does not keep.
  void check_kept(const StudyJob& source) const {
    if (block_.kind->name != "figure" || source.spec.kind->name != "attend" || !errors_.none())
      return;
    const auto typed = job_.spec.parameters();
    const auto quantity = typed.find("quantity");
    const std::string map = quantity == typed.end() ? "weights" : quantity->second;
    if (has(source.spec.list("keep"), map)) return;
    misuse("input: '{0}' does not keep {1}; it needs keep = [\"{1}\"]", source.block, map);
  }

  void check(const Names& known) {
    const JobKind& kind = *block_.kind;
    const std::size_t before = faulty_.size();
    bool has_seed = false;
    for (const StudyChoice* choice : used_) {
      if (choice->field != nullptr) continue;
      has_seed = has_seed || choice->name == "seed";
      if (!has(known, choice->name)) unknown_key(*choice, known);
    }
    if (has(known, "seed") && !has_seed && !lacks_operator())
      give_seed(std::to_string(from_.seed), job_.spec);
    if (find_field(kind, "seed") != nullptr) job_.spec.values.try_emplace("seed", from_.seed);
    // The report prints the captions.
    if (find_field(kind, "caption_in") != nullptr)
      job_.spec.values.try_emplace("caption_in", "file");
    if (faulty_.size() != before) return;
    JobSpec written = job_.spec;
    if (const JobField* output = find_field(kind, FieldKind::output)) {
      written.values[output->name] = "output" + kind.endings.front();
    }
    check_spec(written);
    for (const JobInput& input : job_.inputs) {
      check_source(from_.jobs[input.job]);
      check_kept(from_.jobs[input.job]);
      check_group(from_.jobs[input.job], input.group);
    }
    const bool readable = job_.inputs.empty() && !block_.lacks_file;
    if (readable && kind.check_input != nullptr) kind.check_input(written);
  }
};

}  // namespace

const JobField* StudyBlock::field(const std::string& name) const {
  return find_named(fields, name);
}

void StudyErrors::add(int line, const std::string& text) {
  const auto same = [&](const StudyError& known) {
    return known.line == line && known.text == text;
  };
  if (std::ranges::none_of(errors_, same)) errors_.push_back({line, text});
}

bool StudyErrors::has(int line) const {
  return std::ranges::any_of(errors_, [&](const StudyError& error) { return error.line == line; });
}

void make_spec(const StudyMaking& from, StudyErrors& errors, StudyJob& job) {
  SpecMaker(from, errors, job).make();
}

}  // namespace conelab
