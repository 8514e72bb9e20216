#include "core/study/study_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/dataset/dataset.h"
#include "core/files/byte_file.h"
#include "core/files/read_tensors.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"
#include "core/jobs/tune.h"
#include "core/study/report_order.h"
#include "core/study/shipped_files.h"
#include "core/study/study_block.h"
#include "core/study/toml_json.h"

namespace conelab {
namespace {

using Alternative = StudyAlternative;
using Block = StudyBlock;
using Choice = StudyChoice;
using Key = TomlKey;
namespace fs = std::filesystem;

class StudyReader {
 public:
  StudyReader(Study& study, bool quick, const StudyInputs& inputs)
      : study_(study), inputs_(inputs) {
    study_.quick = quick;
  }

  void read() {
    toml::table root;
    if (study_.text.find('\0') != std::string::npos) {
      return wrong(1, "is no text (expected a study in TOML; see `conelab help studies`)");
    }
    try {
      root = toml::parse(study_.text, study_.path);
    } catch (const toml::parse_error& error) {
      return wrong(static_cast<int>(error.source().begin.line), std::string(error.description()));
    }
    for (const Key& key : keys_of(root)) read_top(key);
    check_quick();
    if (study_.quick) {
      for (Block& block : blocks_) replace_quick(block);
    }
    for (const auto& [name, file] : inputs_) import_instead(name, file);
    for (Block& block : blocks_) expand(block);
    check_report(root);
    if (blocks_.empty() && study_.errors.empty()) {
      wrong(1, "holds no job (expected a block as [[attend]]; kinds: " +
                   join(names_of(job_table())) + ")");
    }
  }

 private:
  Study& study_;
  const StudyInputs& inputs_;
  StudyErrors errors_{study_.errors};
  std::vector<Block> blocks_;
  std::map<std::string, std::size_t> trials_;  ///< Jobs by their spec and inputs.
  Json quick_ = Json::object();
  int quick_line_ = 1;

  void wrong(int line, const std::string& text) { errors_.add(line, text); }
  template <class F>
  bool at_line(int line, const std::string& prefix, const F& f) {
    return errors_.at_line(line, prefix, f);
  }

  void read_top(const Key& key) {
    at_line(key.line, key.name + ": ", [&] {
      if (key.name == "title") {
        study_.title = value_of<std::string>(*key.node, "a text");
      } else if (key.name == "takes") {
        study_.takes = value_of<std::string>(*key.node, "a text");
      } else if (key.name == "seed") {
        study_.seed = value_of<std::int64_t>(*key.node, "a whole number");
      } else if (key.name == "report" || key.name == "quick") {
        if (!key.node->is_table()) misuse("expected a table");
        const Json table = json_of(*key.node);
        if (key.name == "report") take_report(*key.node->as_table(), table);
        const toml::node* quick =
            key.name == "quick" ? key.node : key.node->as_table()->get("quick");
        if (quick == nullptr) return;
        if (!quick->is_table()) misuse("quick: expected a table");
        quick_.update(json_of(*quick));
        quick_line_ = key.name == "quick" ? key.line : static_cast<int>(quick->source().begin.line);
      } else {
        read_blocks(key);
      }
    });
  }

  void take_report(const toml::table& table, const Json& json) {
    study_.report = json;
    for (const Key& key : keys_of(table)) {
      at_line(key.line, "", [&] {
        (void)index_of_name("key of [report]", key.name, {"order", "quick"});
        if (key.name == "order" && !key.node->is_array()) misuse("order: expected a list of texts");
      });
    }
  }

  template <class T>
  static T value_of(const toml::node& node, const char* expected) {
    const auto value = node.value_exact<T>();
    if (!value) misuse("expected {}", expected);
    return *value;
  }

  void read_blocks(const Key& key) {
    std::vector<std::string> known = names_of(job_table());
    if (!contains(known, key.name)) {
      known.insert(known.begin(), {"title", "takes", "seed", "quick", "report"});
      return void(
          at_line(key.line, "", [&] { unknown_name("key or kind of job", key.name, known); }));
    }
    const JobKind& kind = job_named(key.name);
    if (const auto* table = key.node->as_table()) return read_block(kind, *table);
    const auto* array = key.node->as_array();
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      const auto* table = array->get(i)->as_table();
      if (table == nullptr) misuse("expected blocks [[{}]]", key.name);
      read_block(kind, *table);
    }
    if (array == nullptr) misuse("expected blocks [[{}]]", key.name);
  }

  void read_block(const JobKind& kind, const toml::table& table) {
    Block block{&kind, kind.name, static_cast<int>(table.source().begin.line)};
    for (const JobField& field : typed_fields(kind)) {
      const bool own = field.kind != FieldKind::output && field.kind != FieldKind::optional_text;
      if (own) block.fields.push_back(field);
    }
    for (const Key& key : keys_of(table)) {
      at_line(key.line, key.name + ": ", [&] {
        const Json value = json_of(*key.node);
        if (key.name == "tune" && value.is_object()) return read_tune(key, value, block);
        if (key.name != "name") return block.keys.emplace_back(key, value), void();
        block.name = value.is_string() ? value.get<std::string>() : "";
        check_name(block.name);
      });
    }
    const Block* other = find_named(blocks_, block.name);
    if (other != nullptr) {
      wrong(block.line,
            fmt::format("the name '{}' is that of the block in line {} too; give one of "
                        "them another name",
                        block.name, other->line));
    }
    blocks_.push_back(std::move(block));
  }

  /// Turns the table `tune` into the fields of the job.
  static void read_tune(const Key& key, const Json& table, Block& block) {
    if (!table.contains("trials"))
      misuse("expected the number of trials, as {{ trials = 16, ... }}");
    Json over = Json::object();
    for (const auto& [name, value] : table.items()) {
      if (name == "trials") {
        block.keys.emplace_back(key, value);
      } else if (name == "by") {
        block.keys.emplace_back(Key{"tune_by", key.line, key.node}, value);
      } else {
        const bool bounds =
            value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
        if (!bounds) misuse("{}: expected two bounds, as [0.005, 0.5]", name);
        over[name] = value[0].dump() + ".." + value[1].dump();
      }
    }
    if (!over.empty()) block.keys.emplace_back(Key{"tune_over", key.line, key.node}, over);
  }

  static void check_name(const std::string& name) {
    const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (!name.empty() && name.find_first_not_of(plain) == std::string::npos) return;
    misuse("expected a name of letters, digits, '_', '-' and '.'");
  }

  /// Notes an error for each name under `quick` that is neither a key of a block nor a block's
  /// name.
  void check_quick() {
    std::vector<std::string> known;
    for (const Block& block : blocks_) {
      known.push_back(block.name);
      for (const auto& [key, value] : block.keys) known.push_back(key.name);
    }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (const auto& [name, value] : quick_.items()) {
      if (contains(known, name)) continue;
      at_line(quick_line_,
              "quick: ", [&, &name = name] { unknown_name("key or block", name, known); });
    }
  }

  /// Takes the values of `quick` for keys that the block has, and those of its own table there.
  void replace_quick(Block& block) {
    const auto replace = [&](const Json& table, bool adds) {
      for (const auto& [name, value] : table.items()) {
        const auto is = [&, &name = name](const auto& key) { return key.first.name == name; };
        const auto found = std::ranges::find_if(block.keys, is);
        if (found != block.keys.end()) {
          found->second = value;
        } else if (adds) {
          block.keys.emplace_back(Key{name, quick_line_, nullptr}, value);
        }
      }
    };
    replace(quick_, false);
    if (quick_.contains(block.name) && quick_[block.name].is_object()) {
      replace(quick_[block.name], true);
    }
  }

  /// Lets the data set of this name be made from a file. Keys that the import does not take are
  /// left out.
  void import_instead(const std::string& name, const std::string& file) {
    std::vector<std::string> known;
    for (const Block& block : blocks_) {
      if (block.kind->name == "dataset") known.push_back(block.name);
    }
    (void)index_of_name("data set of " + study_.path, name, known);
    auto block = std::ranges::find(blocks_, name, &Block::name);
    std::error_code none;
    if (!fs::exists(file, none)) misuse("{}: there is no such file (to be read as {})", file, name);
    const std::string kind = importer_of(file);
    std::vector<std::string> taken = {"seed"};
    for (const KeyInfo& key : keys_of(*find_named(dataset_table(), kind))) {
      if (!key.needed) taken.emplace_back(key.key);
    }
    std::erase_if(block->keys, [&](const auto& key) { return !contains(taken, key.first.name); });
    const auto add = [&](const char* key, const std::string& value) {
      block->keys.emplace_back(Key{key, block->line, nullptr}, value);
    };
    add("kind", kind);
    add("path", fs::absolute(file).string());
    block->faulty.clear();
  }

  // ---- from blocks to jobs ----------------------------------------------------------------------

  void expand(Block& block) {
    if (block.state == Block::read) return;
    if (block.state == Block::reading) {
      return wrong(block.line, "the block '" + block.name + "' reads its own output");
    }
    block.state = Block::reading;
    std::vector<Choice> choices;
    for (const auto& [key, value] : block.keys) {
      if (key.name == "parameters" && value.is_object() && block.has_parameters()) {
        for (const auto& [name, entry] : value.items()) {
          read_choice(block, {name, key.line, nullptr}, entry, choices);
        }
      } else {
        read_choice(block, key, value, choices);
      }
    }
    product(block, choices, 0, {});
    block.state = Block::read;
  }

  static const JobField* find_own(const Block& block, const std::string& name) {
    return name == "parameters" ? nullptr : find_named(block.fields, name);
  }

  void read_choice(Block& block, const Key& key, const Json& value, std::vector<Choice>& choices) {
    const bool sound = at_line(key.line, key.name + ": ", [&] {
      Choice choice{key.name, key.line, find_own(block, key.name), {}};
      const bool list = choice.field != nullptr && choice.field->is_list();
      const bool nested = value.is_array() && !value.empty() && value.front().is_array();
      const bool swept = value.is_array() && (!list || nested);
      if (value.is_array() && value.empty()) misuse("the list is empty");
      for (const Json& entry : swept ? value : Json::array({value})) {
        if (swept && std::ranges::count(value, entry) > 1) {
          misuse("{} is given twice", json_line(entry));
        }
        if (choice.field != nullptr) (void)value_of_json(*choice.field, entry);
        for (Alternative& found : alternatives(block, choice, entry)) {
          if (swept) found.sweep[key.name] = entry;
          choice.alternatives.push_back(std::move(found));
        }
      }
      choices.push_back(std::move(choice));
    });
    if (!sound) block.faulty.push_back(key.name);
  }

  /// Returns the values that an entry of a key stands for: itself, or one for each combination of
  /// the jobs that it names. "NAME*" stands for the list of all jobs of a block.
  std::vector<Alternative> alternatives(Block& block, const Choice& choice, const Json& entry) {
    const FieldKind kind = choice.field == nullptr ? FieldKind::parameters : choice.field->kind;
    const bool files = kind == FieldKind::input || kind == FieldKind::inputs ||
                       kind == FieldKind::array || kind == FieldKind::parameters;
    const auto is_all = [&](const Json& text) {
      return kind == FieldKind::inputs && text.is_string() &&
             text.get<std::string>().ends_with('*');
    };
    const bool list = entry.is_array() || is_all(entry);
    if (!files) return {{entry, {}}};
    std::vector<Alternative> found = {{list ? Json::array() : entry, {}}};
    const auto add = [&](Alternative& begun, const Alternative& one) {
      const std::size_t at = list ? begun.value.size() : 0;
      list ? begun.value.push_back(one.value) : void(begun.value = one.value);
      for (JobInput input : one.inputs) {
        input.entry = at;
        begun.inputs.push_back(input);
      }
    };
    for (const Json& text : entry.is_array() ? entry : Json::array({entry})) {
      if (!text.is_string()) {
        for (Alternative& begun : found) add(begun, {text, {}});
        continue;
      }
      const bool all = is_all(text);
      std::string name = text.get<std::string>();
      if (all) name.pop_back();
      const std::vector<Alternative> named = files_of(block, choice, kind, name);
      std::vector<Alternative> longer;
      for (Alternative& begun : found) {
        for (const Alternative& one : named) {
          Alternative both = begun;
          add(all ? begun : both, one);
          if (all) continue;
          add_sweep(both.sweep, one.sweep, block_of(one));
          longer.push_back(std::move(both));
        }
        if (all) longer.push_back(std::move(begun));
      }
      found = std::move(longer);
    }
    return found;
  }

  [[nodiscard]] std::string block_of(const Alternative& one) const {
    return one.inputs.empty() ? "" : study_.jobs[one.inputs.front().job].block;
  }

  /// Adds swept keys of a job that is read. A key that is there already gets the block's name.
  static void add_sweep(Json& sweep, const Json& more, const std::string& block) {
    for (const auto& [key, value] : more.items()) {
      sweep[sweep.contains(key) ? block + "." + key : key] = value;
    }
  }

  std::vector<Alternative> files_of(Block& block, const Choice& choice, FieldKind kind,
                                    const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    const auto other =
        std::ranges::find_if(blocks_, [&](const Block& b) { return b.name == name; });
    const bool reads = kind == FieldKind::input || kind == FieldKind::inputs;
    if (reads && other != blocks_.end() && &*other != &block) {
      expand(*other);
      std::vector<Alternative> found;
      for (const std::size_t job : other->jobs) {
        std::string group = colon == std::string::npos ? "" : text.substr(colon + 1);
        if (!group.empty() && group.front() != '/') group.insert(0, "/");
        found.push_back({text, {{choice.name, 0, job, group}}, study_.jobs[job].sweep});
      }
      return found;
    }
    if (reads && name == block.name) misuse("the block '{}' would read its own output", name);
    return {{path_of(block, choice, kind, text), {}}};
  }

  /// Returns the absolute path of a file. Notes an error if it must exist and does not. Arrays and
  /// parameters may be files; the parameter `path` is a file or a folder.
  Json path_of(Block& block, const Choice& choice, FieldKind kind, const std::string& text) {
    const bool marked = kind == FieldKind::parameters && text.starts_with('@');
    const std::string typed = marked ? text.substr(1) : text;
    const fs::path folder = fs::absolute(study_.path).parent_path();
    std::string whole = (folder / typed).lexically_normal().string();
    InputSpec parsed = parse_input_spec(whole);
    std::error_code none;
    const bool is_path = kind == FieldKind::parameters && choice.name == "path";
    bool there =
        fs::is_regular_file(parsed.path, none) || (is_path && fs::is_directory(parsed.path, none));
    // A shipped study that was copied still finds the data that ship with it.
    const std::string shipped = there ? "" : shipped_file(fs::path(parsed.path).filename());
    if (!shipped.empty()) {
      whole = shipped + (parsed.group.empty() ? "" : ":" + parsed.group);
      parsed.path = shipped;
      there = true;
    }
    if (kind == FieldKind::array || (kind == FieldKind::parameters && !marked && !is_path)) {
      return there && fs::path(parsed.path).has_extension() ? whole : text;
    }
    if (there) return marked ? "@" + whole : whole;
    std::vector<std::string> names = names_of(blocks_);
    const std::string nearest = nearest_name(typed.substr(0, typed.find(':')), names);
    wrong(choice.line,
          fmt::format("{}: there is no file {}, and no block of this name{}", choice.name,
                      parsed.path,
                      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    block.lacks_file = true;
    return whole;
  }

  void product(Block& block, const std::vector<Choice>& choices, std::size_t at,
               std::vector<const Alternative*> taken) {
    if (at == choices.size()) return add_job(block, choices, taken);
    for (const Alternative& alternative : choices[at].alternatives) {
      std::vector<const Alternative*> longer = taken;
      longer.push_back(&alternative);
      product(block, choices, at + 1, std::move(longer));
    }
  }

  /// Returns a swept value as a part of a job's name. Of a path, that is the group, or the name of
  /// the file.
  static std::string label_of(const Json& value) {
    if (value.is_array()) {
      std::vector<std::string> parts;
      for (const Json& part : value) parts.push_back(label_of(part));
      return join(parts, "+");
    }
    if (!value.is_string()) return json_line(value);
    const std::string text = value.get<std::string>();
    if (text.find('/') == std::string::npos) return text;
    const InputSpec parsed = parse_input_spec(text);
    std::string group = parsed.group.substr(std::min<std::size_t>(1, parsed.group.size()));
    if (group.empty()) return fs::path(parsed.path).stem().string();
    std::replace(group.begin(), group.end(), '/', '.');
    return group;
  }

  void add_job(Block& block, const std::vector<Choice>& choices,
               const std::vector<const Alternative*>& taken) {
    StudyJob job;
    job.block = block.name;
    job.line = block.line;
    for (const Alternative* one : taken) {
      job.inputs.insert(job.inputs.end(), one->inputs.begin(), one->inputs.end());
      add_sweep(job.sweep, one->sweep, block_of(*one));
    }
    make_spec({block, choices, taken, study_.jobs, study_.seed}, errors_, job);
    add_trials(block, job);
    name_job(job);
    block.jobs.push_back(study_.jobs.size());
    study_.jobs.push_back(std::move(job));
  }

  static void name_job(StudyJob& job) {
    job.name = job.block;
    for (const auto& [key, value] : job.sweep.items()) job.name += "-" + label_of(value);
  }

  void add_trials(Block& block, StudyJob& job) {
    if (!study_.errors.empty()) return;
    const std::int64_t count = trials_of(job.spec);
    std::vector<std::string> names;
    const std::size_t own = job.inputs.size();
    for (std::int64_t t = 0; t < count; ++t) {
      StudyJob trial = job;
      trial.block += ".trials";
      trial.inputs.resize(own);
      trial.spec = trial_spec(job.spec, t);
      for (const char* key : {"seed", "seeds"}) trial.sweep.erase(key);
      trial.sweep["trial"] = t;
      name_job(trial);
      std::string same = json_line(spec_to_json(trial.spec));
      for (const JobInput& input : trial.inputs) same += fmt::format(" {}", input.job);
      const auto [found, added] = trials_.try_emplace(same, study_.jobs.size());
      if (added) {
        block.trials.push_back(study_.jobs.size());
        study_.jobs.push_back(std::move(trial));
      }
      job.inputs.push_back({"trial", static_cast<std::size_t>(t), found->second, ""});
      if (added) study_.jobs.back().first_trial = job.inputs[own].job;
      names.push_back(study_.jobs[found->second].name);
    }
    if (count > 0) job.spec.values["trial"] = names;
  }

  // ---- the report -------------------------------------------------------------------------------

  void check_report(const toml::table& root) {
    const auto* order = root["report"]["order"].as_array();
    std::vector<ReportBlock> blocks;
    for (const Block& block : blocks_) {
      if (!block.trials.empty()) {
        blocks.push_back({block.name + ".trials", block.kind->name, {}, block.kind->measures, {}});
        for (const std::size_t job : block.trials) {
          blocks.back().sweeps.push_back(study_.jobs[job].sweep);
        }
      }
      blocks.push_back({block.name, block.kind->name, {}, block.kind->measures, {}});
      for (const std::size_t job : block.jobs) {
        blocks.back().sweeps.push_back(study_.jobs[job].sweep);
        if (block.kind->case_keys == nullptr || !study_.errors.empty()) continue;
        for (const std::string& key : block.kind->case_keys(study_.jobs[job].spec)) {
          blocks.back().case_keys.push_back(key);
        }
      }
    }
    std::vector<std::pair<int, ReportEntry>> entries;
    ReportNumbers numbers;
    for (std::size_t i = 0; order != nullptr && i < order->size(); ++i) {
      const toml::node& node = *order->get(i);
      const int line = static_cast<int>(node.source().begin.line);
      const bool sound = at_line(line, "order: ", [&] {
        const auto text = value_of<std::string>(node, "a list of texts");
        entries.emplace_back(line, parse_report_entry(text, blocks));
      });
      if (!sound) numbers.add_unknown(node.value_or(std::string()));
    }
    for (const auto& [line, entry] : entries) numbers.add(entry, blocks);
    for (const auto& [line, entry] : entries) {
      at_line(line, "order: ", [&, &entry = entry] { numbers.check(entry); });
    }
  }
};

}  // namespace

Study read_study(const std::string& path, bool quick, const StudyInputs& inputs) {
  const ByteFile file(path);
  return study_of_text(path, file.read(0, file.size()), quick, inputs);
}

Study study_of_text(const std::string& path, const std::string& text, bool quick,
                    const StudyInputs& inputs) {
  Study study;
  study.path = path;
  study.text = text;
  StudyReader(study, quick, inputs).read();
  std::ranges::stable_sort(
      study.errors, [](const StudyError& a, const StudyError& b) { return a.line < b.line; });
  return study;
}

}  // namespace conelab
