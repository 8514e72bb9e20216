// Nouns of WordNet 3.0 below a synset: from the text of the mammals that ships, or from the files
// of a folder. Formats: wndb(5WN).
//
// Others count 1,180 mammals and 6,540 pairs of a node and its ancestor, because they follow
// instances as well, as from a famous horse to thoroughbreds: with `instances=yes` the same files
// give 1,182 and 6,542. A name is the first word of a synset in lower case with the number of its
// sense.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/dataset/dataset.h"

namespace conelab {

extern const char* const mammals_text;  ///< datasets/mammals.txt

namespace {

constexpr const char* package_folder = "/usr/share/wordnet";

Hierarchy sorted_hierarchy(std::vector<std::array<Node, 2>> edges, std::vector<std::string> names) {
  std::ranges::sort(edges);
  return make_hierarchy(std::move(edges), std::move(names), "WordNet");
}

/// Reads lines NAME [PARENT]... whose indentation is the depth in a tree.
Hierarchy mammals() {
  std::istringstream lines(mammals_text);
  std::vector<std::string> names;
  std::vector<std::array<Node, 2>> edges;
  std::vector<Node> above;  // The last node of each depth.
  std::vector<std::pair<Node, std::string>> further;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t depth = line.find_first_not_of(' ');
    const auto node = static_cast<Node>(names.size());
    std::istringstream words(line);
    words >> names.emplace_back();
    for (std::string parent; words >> parent;) further.emplace_back(node, parent);
    if (depth > 0) edges.push_back({node, above.at(depth - 1)});
    above.resize(depth);
    above.push_back(node);
  }
  for (const auto& [node, parent] : further) {
    edges.push_back({node, std::ranges::find(names, parent) - names.begin()});
  }
  return sorted_hierarchy(std::move(edges), std::move(names));
}

std::vector<std::vector<std::string>> records(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    fail(
        "{}: cannot be read; Debian's package wordnet-base has it (WordNet 3.0, under the WordNet "
        "licence of Princeton University)",
        path);
  }
  std::vector<std::vector<std::string>> list;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == ' ') continue;  // The licence.
    std::istringstream fields(line.substr(0, line.find('|')));
    std::vector<std::string>& words = list.emplace_back();
    for (std::string word; fields >> word;) words.push_back(word);
  }
  return list;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// A synset's number is its place in data.noun, so that numbers rise with offsets.
struct Nouns {
  std::vector<std::string> names;
  NodeLists parents, children;
};

std::size_t number_at(const std::vector<std::string>& record, std::size_t field, int base = 10) {
  if (field >= record.size()) return 0;
  return static_cast<std::size_t>(std::strtoul(record[field].c_str(), nullptr, base));
}

Nouns read_nouns(const std::string& folder, bool instances) {
  const std::string path = folder + "/data.noun";
  const auto synsets = records(path);
  std::map<std::string, Node> number;  // By offset.
  std::map<std::pair<std::string, std::string>, std::size_t> sense;
  for (const auto& record : records(folder + "/index.noun")) {
    const std::size_t count = number_at(record, 2);
    for (std::size_t i = 0; i < count && count <= record.size(); ++i) {
      sense[{record[0], record[record.size() - count + i]}] = i + 1;
    }
  }
  for (const auto& record : synsets) number.emplace(record[0], static_cast<Node>(number.size()));
  Nouns nouns;
  nouns.parents.resize(synsets.size());
  nouns.children.resize(synsets.size());
  for (const auto& record : synsets) {
    const std::size_t node = nouns.names.size(), pointers = 4 + 2 * number_at(record, 3, 16);
    if (record.size() < pointers + 1) fail("{}: synset {} is incomplete", path, record[0]);
    const std::string word = lower_case(record[4]);
    nouns.names.push_back(fmt::format("{}.n.{:02d}", word, sense[{word, record[0]}]));
    for (std::size_t i = 0; i < number_at(record, pointers); ++i) {
      const std::size_t at = pointers + 1 + 4 * i;
      const auto parent = at + 1 < record.size() ? number.find(record[at + 1]) : number.end();
      const bool above = record[at] == "@" || (instances && record[at] == "@i");
      if (parent == number.end() && above) fail("{}: broken link in {}", path, word);
      if (!above) continue;
      nouns.parents[node].push_back(parent->second);
      nouns.children[static_cast<std::size_t>(parent->second)].push_back(static_cast<Node>(node));
    }
  }
  return nouns;
}

Node root_named(const Nouns& nouns, const std::string& name) {
  const auto found = std::ranges::find(nouns.names, name);
  if (found != nouns.names.end()) return found - nouns.names.begin();
  const std::string near = nearest_name(name, nouns.names);
  misuse("data set wordnet: no noun '{}'{} (expected WORD.n.NUMBER, as dog.n.01)", name,
         near.empty() ? "" : "; did you mean '" + near + "'?");
}

/// Numbers the synsets below a root in depth-first order.
Hierarchy below(const Nouns& nouns, Node root) {
  std::vector<Node> number(nouns.names.size(), -1), order, stack = {root};
  while (!stack.empty()) {
    const Node node = stack.back();
    stack.pop_back();
    if (number[static_cast<std::size_t>(node)] >= 0) continue;
    number[static_cast<std::size_t>(node)] = static_cast<Node>(order.size());
    order.push_back(node);
    const auto& children = nouns.children[static_cast<std::size_t>(node)];
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  std::vector<std::array<Node, 2>> edges;
  std::vector<std::string> names;
  for (const Node node : order) {
    for (const Node parent : nouns.parents[static_cast<std::size_t>(node)]) {
      const Node above = number[static_cast<std::size_t>(parent)];
      if (above >= 0 && node != root) edges.push_back({static_cast<Node>(names.size()), above});
    }
    names.push_back(nouns.names[static_cast<std::size_t>(node)]);
  }
  return sorted_hierarchy(std::move(edges), std::move(names));
}

}  // namespace

MadeData wordnet(const KeyValues& values) {
  const std::string root = lower_case(values.text("root"));
  const std::string& path = values.text("path");
  const bool instances = values.text("instances") == "yes";
  if (path.empty() && !instances) {
    const Hierarchy shipped = mammals();
    const auto found = std::find(shipped.names.begin(), shipped.names.end(), root);
    if (found != shipped.names.end()) {
      return {below({shipped.names, parents_of(shipped), children_of(shipped)},
                    found - shipped.names.begin()),
              {},
              {}};
    }
  }
  const Nouns nouns = read_nouns(path.empty() ? package_folder : path, instances);
  return {below(nouns, root_named(nouns, root)), {}, {}};
}

}  // namespace conelab
