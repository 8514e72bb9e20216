#include "app/bench_command.h"

#include <fmt/ranges.h>

namespace conelab {

std::vector<std::string> bench_command(const desktop::BenchChoice& typed,
                                       const std::string& output) {
  const auto list = [](const auto& names) { return fmt::format("{}", fmt::join(names, ",")); };
  std::vector<std::string> words = {"conelab", "bench", "-o", output};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  add("--operators", list(typed.operators));
  add("--lengths", typed.lengths);
  add("--dims", typed.dims);
  add("--heads", typed.heads);
  add("--batch", typed.batch);
  add("--passes", list(typed.passes));
  add("--dtypes", list(typed.dtypes));
  add("--devices", list(typed.devices));
  add("--threads", typed.threads);
  add("--rounds", typed.rounds);
  add("--controls", typed.controls);
  add("--seed", typed.seed);
  add("--time-limit", typed.time_limit);
  if (!typed.cold) words.emplace_back("--warm-only");
  return words;
}

}  // namespace conelab
