// A block of a study, one table of [[kind]], and how the specs of its jobs are made and checked.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/study/study_file.h"
#include "core/study/toml_json.h"

namespace conelab {

/// A value that a key has in one job, and the jobs that it names.
struct StudyAlternative {
  Json value;
  std::vector<JobInput> inputs;
  /// The swept keys that it brings, with their values.
  Json sweep = Json::object();
};

/// A key of a block with all its values.
struct StudyChoice {
  std::string name;
  int line = 0;
  const JobField* field = nullptr;  ///< Null: a parameter.
  std::vector<StudyAlternative> alternatives;
};

struct StudyBlock {
  const JobKind* kind = nullptr;
  std::string name;
  int line = 0;
  std::vector<std::pair<TomlKey, Json>> keys = {};
  std::vector<JobField> fields = {};     ///< What its keys may name besides parameters.
  std::vector<std::string> faulty = {};  ///< Keys that have an error of their own, which is noted.
  bool lacks_file = false;  ///< Whether it names a file that does not exist, which is noted.
  std::vector<std::size_t> jobs = {};
  std::vector<std::size_t> trials =
      {};  ///< The jobs from which the values of some keys are chosen.
  enum { unread, reading, read } state = unread;

  [[nodiscard]] const JobField* field(const std::string& name) const;
  [[nodiscard]] bool has_parameters() const { return field("parameters") != nullptr; }
};

/// Notes the errors of a study, each once.
class StudyErrors {
 public:
  explicit StudyErrors(std::vector<StudyError>& errors) : errors_(errors) {}

  void add(int line, const std::string& text);
  [[nodiscard]] bool has(int line) const;
  [[nodiscard]] bool none() const { return errors_.empty(); }
  /// Calls `f`, and notes the error that it throws under this line. Returns whether there was none.
  template <class F>
  bool at_line(int line, const std::string& prefix, const F& f) {
    try {
      f();
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      add(line, prefix + error.what());
      return false;
    }
  }

 private:
  std::vector<StudyError>& errors_;
};

/// StudyMaking holds what a job is made from: its block and the value that each key takes.
struct StudyMaking {
  const StudyBlock& block;
  const std::vector<StudyChoice>& choices;
  const std::vector<const StudyAlternative*>& taken;  ///< [choices]
  const std::vector<StudyJob>& jobs;                  ///< Those that it may read.
  std::int64_t seed = 1;                              ///< Of jobs that take one and give none.
};

/// Sets the spec of a job, whose inputs are known, and checks it. Each error is noted, and the spec
/// is made again without the key that it is about: then others may come to light. What follows from
/// keys that were left out is not noted. A parameter with one value that only jobs with other
/// values of the swept keys have is left out, too.
void make_spec(const StudyMaking& from, StudyErrors& errors, StudyJob& job);

}  // namespace conelab
