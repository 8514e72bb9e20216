// Sentences of a small grammar. Their constituents and words are the nodes of a hierarchy with one
// tree for each sentence, in depth-first order.

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/dataset/dataset.h"

namespace conelab {
namespace {

/// A way to expand a phrase. Symbols in capitals are phrases, others stand for one of their words.
struct Rule {
  const char* phrase;
  std::vector<std::string> parts;
  std::int64_t depth;  ///< The fewest edges from the phrase to the farthest of its words.
};
const std::vector<Rule>& grammar() {
  static const std::vector<Rule> rules = {
      {"S", {"NP", "VP"}, 2},
      {"NP", {"article", "noun"}, 1},
      {"NP", {"article", "adjective", "noun"}, 1},
      {"NP", {"NP", "PP"}, 3},
      {"NP", {"name"}, 1},
      {"VP", {"verb-alone"}, 1},
      {"VP", {"verb", "NP"}, 2},
      {"VP", {"verb", "NP", "PP"}, 3},
      {"VP", {"verb-of-saying", "that", "S"}, 3},
      {"PP", {"preposition", "NP"}, 2},
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
      if (rule.phrase == symbol && rule.depth <= depth) fitting.push_back(&rule);
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
  group.variables = {{"text", {"sentence"}, std::move(texts)}};
  return {grown.take(), {{"sentence", std::move(group)}}, {}};
}

}  // namespace conelab
