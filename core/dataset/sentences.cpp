// Sentences of a small grammar. Their constituents and words are the nodes of a hierarchy with one
// tree for each sentence, in depth-first order.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/dataset/dataset.h"

namespace conelab {
namespace {

/// A way to expand a phrase. Symbols in capitals are phrases, others stand for one of their words.
struct Rule {
  const char* phrase;
  std::vector<std::string> parts;
};
const std::vector<Rule>& grammar() {
  static const std::vector<Rule> rules = {
      {"S", {"NP", "VP"}},
      {"NP", {"article", "noun"}},
      {"NP", {"article", "adjective", "noun"}},
      {"NP", {"NP", "PP"}},
      {"NP", {"name"}},
      {"VP", {"verb-alone"}},
      {"VP", {"verb", "NP"}},
      {"VP", {"verb", "NP", "PP"}},
      {"VP", {"verb-of-saying", "that", "S"}},
      {"PP", {"preposition", "NP"}},
  };
  return rules;
}

struct WordClass {
  const char* name;
  std::vector<std::string> words;
};
const std::vector<WordClass>& word_classes() {
  static const std::vector<WordClass> classes = {
      {"article", {"the", "a", "every", "this"}},
      {"adjective", {"old", "small", "quick", "grey", "wild"}},
      {"noun", {"dog", "cat", "horse", "child", "river", "house", "tree", "bird"}},
      {"name", {"Anna", "Paul", "Mary", "Tom"}},
      {"verb-alone", {"sleeps", "waits", "sings", "runs"}},
      {"verb", {"sees", "finds", "follows", "likes", "paints"}},
      {"verb-of-saying", {"says", "thinks", "knows"}},
      {"that", {"that"}},
      {"preposition", {"in", "near", "behind", "with", "under"}},
  };
  return classes;
}

bool is_phrase(const std::string& symbol) { return symbol[0] >= 'A' && symbol[0] <= 'Z'; }

/// Returns the fewest edges from a symbol to its words, 0 for a word; `most` ends the recursion.
std::int64_t height(const std::string& symbol, std::int64_t most) {
  if (!is_phrase(symbol)) return 0;
  std::int64_t least = most;
  for (const Rule& rule : grammar()) {
    if (rule.phrase != symbol) continue;
    std::int64_t own = 0;
    for (const std::string& part : rule.parts) {
      own = std::max(own, most <= 1 ? most : height(part, most - 1));
    }
    least = std::min(least, own + 1);
  }
  return least;
}

/// Grows the trees of sentences.
class Sentences {
 public:
  explicit Sentences(std::uint64_t seed) : random_(seed) {}

  /// Adds a symbol below `parent` (−1: none), with words at most `depth` edges below it. Returns
  /// its text with brackets around phrases: "(S (NP Anna) (VP sleeps))".
  std::string add(const std::string& symbol, Node parent, std::int64_t depth) {
    const auto node = static_cast<Node>(names_.size());
    if (parent >= 0) edges_.push_back({node, parent});
    if (!is_phrase(symbol)) {
      for (const WordClass& each : word_classes()) {
        if (each.name == symbol) names_.push_back(each.words[random_.below(each.words.size())]);
      }
      return names_.back();
    }
    names_.push_back(symbol);
    std::vector<const Rule*> fitting;
    for (const Rule& rule : grammar()) {
      const bool fits = std::ranges::all_of(
          rule.parts, [&](const std::string& part) { return height(part, depth) < depth; });
      if (rule.phrase == symbol && fits) fitting.push_back(&rule);
    }
    std::string text = "(" + symbol;
    for (const std::string& part : fitting[random_.below(fitting.size())]->parts) {
      text += " " + add(part, node, depth - 1);
    }
    return text + ")";
  }

  [[nodiscard]] Hierarchy take() { return make_hierarchy(std::move(edges_), std::move(names_)); }

 private:
  Random random_;
  std::vector<std::array<Node, 2>> edges_;
  std::vector<std::string> names_;
};

}  // namespace

MadeData sentences(const KeyValues& values) {
  const std::int64_t n = values.whole("n"), depth = values.whole("depth");
  if (depth < 2) misuse("data set sentences: depth={} (expected at least 2)", depth);
  Sentences grown(static_cast<std::uint64_t>(values.whole("seed")));
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < n; ++i) texts.push_back(grown.add("S", -1, depth));
  LabelledArray group;
  group.axes = {counted_axis("sentence", texts.size())};
  group.variables = {{"text", {"sentence"}, std::move(texts), "", {}}};
  return {grown.take(), {{"sentence", std::move(group)}}, {}};
}

}  // namespace conelab
