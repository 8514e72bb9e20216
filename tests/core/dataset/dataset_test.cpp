#include "core/dataset/dataset.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "core/base/sha256.h"
#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

using fixtures::message_of;
using ::testing::HasSubstr;

template <class T>
const std::vector<T>& list(const MadeData& made, const char* name) {
  return std::get<std::vector<T>>(made.groups.front().second.variable(name)->data);
}

std::size_t closure_pairs(const Hierarchy& hierarchy) {
  std::size_t pairs = 0;
  for (const auto& above : ancestors_of(hierarchy)) pairs += above.size();
  return pairs;
}

/// The SHA-256 of all numbers and texts of a data set, whatever the file format makes of them.
std::string digest(const MadeData& made) {
  Sha256 sum;
  const auto add = [&](const auto& numbers) {
    sum.update(numbers.data(), numbers.size() * sizeof numbers.front());
  };
  const auto add_texts = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) sum.update(text.c_str(), text.size() + 1);
  };
  if (made.hierarchy) {
    add(made.hierarchy->edges);
    add_texts(made.hierarchy->names);
    add_texts(made.hierarchy->ids);
  }
  for (const auto& [name, group] : made.groups) {
    for (const LabelledVariable& variable : group.variables) {
      std::visit(
          [&](const auto& data) {
            if constexpr (std::is_same_v<decltype(data), const std::vector<std::string>&>) {
              add_texts(data);
            } else {
              add(data);
            }
          },
          variable.data);
    }
  }
  for (const RootTensor& tensor : made.tensors) add(tensor.numbers);
  return sum.hex();
}

/// What tests know of a row: rows/NAME.txt holds lines of a key of -p and its value, and `digest`
/// with the first 16 digits of that of its numbers; `drawn no` where the seed changes nothing. A
/// `path` is relative to that folder.
KeyTexts known_of_row(const std::string& name) {
  const std::string folder = CONELAB_SOURCE_DIR "/tests/core/dataset/rows/";
  std::ifstream file(folder + name + ".txt");
  if (!file) ADD_FAILURE() << folder << name << ".txt is missing (CONTRIBUTING.md, A data set)";
  KeyTexts known;
  for (std::string key, value; file >> key && std::getline(file >> std::ws, value);) {
    known[key] = key == "path" ? folder + value : value;
  }
  return known;
}

KeyTexts keys_of_row(const std::string& name) {
  KeyTexts keys = known_of_row(name);
  keys.erase("digest");
  keys.erase("drawn");
  return keys;
}

// GCC 12 without optimisation, with -O3, and with -O3 for AVX2 and FMA gives these digests. A
// machine or compiler that gives others breaks the promise of equal bytes.
TEST(Dataset, EveryRowHasTheSameNumbersEverywhere) {
  for (const DatasetInfo& info : dataset_table()) {
    EXPECT_EQ(digest(make_dataset(info.name, keys_of_row(info.name))).substr(0, 16),
              known_of_row(info.name)["digest"])
        << info.name;
  }
}

TEST(Dataset, SeedsChangeWhatIsDrawn) {
  for (const DatasetInfo& info : dataset_table()) {
    KeyTexts keys = keys_of_row(info.name);
    const std::string first = digest(make_dataset(info.name, keys));
    keys["seed"] = "2";
    const bool is_drawn = info.endings.empty() && known_of_row(info.name)["drawn"] != "no";
    EXPECT_EQ(digest(make_dataset(info.name, keys)) != first, is_drawn) << info.name;
  }
}

TEST(Dataset, HierarchiesAreReduced) {
  for (const DatasetInfo& info : dataset_table()) {
    const MadeData made = make_dataset(info.name, keys_of_row(info.name));
    if (made.hierarchy) {
      EXPECT_EQ(reduced(*made.hierarchy).edges, made.hierarchy->edges) << info.name;
    }
  }
}

TEST(Dataset, TreesHaveTheirSizes) {
  const MadeData tree = make_dataset("tree", {{"branching", "3"}, {"depth", "5"}});
  EXPECT_EQ(tree.hierarchy->size(), 364);
  EXPECT_EQ(tree.hierarchy->edges.size(), 363u);
  EXPECT_EQ(closure_pairs(*tree.hierarchy), 3u + 2 * 9 + 3 * 27 + 4 * 81 + 5 * 243);
  EXPECT_EQ(make_dataset("tree", {{"depth", "0"}}).hierarchy->size(), 1);
  const Hierarchy two_parents =
      *make_dataset("tree", {{"branching", "3"}, {"depth", "5"}, {"extra", "1"}}).hierarchy;
  const NodeLists parents = parents_of(two_parents);
  for (std::size_t node = 0; node < parents.size(); ++node) {
    EXPECT_EQ(parents[node].size(), node == 0 ? 0u : node < 4 ? 1u : 2u) << node;
    for (const Node parent : parents[node]) {
      EXPECT_EQ(two_parents.depths[static_cast<std::size_t>(parent)], two_parents.depths[node] - 1);
    }
  }
  EXPECT_THAT(message_of([] {
                (void)make_dataset("tree", {{"depth", "40"}});
              }),
              HasSubstr("more than 1000000 nodes"));
  const MadeData recursive = make_dataset("random-tree", {});
  EXPECT_EQ(recursive.hierarchy->size(), 500);
  EXPECT_EQ(recursive.hierarchy->edges.size(), 499u);
}

// The sum over nodes k of the harmonic number H(k-1) is the expected number of pairs.
TEST(Dataset, RecursiveTreesHaveTheirExpectedDepth) {
  double sum = 0, expected = 0, harmonic = 0;
  for (int seed = 1; seed <= 200; ++seed) {
    const MadeData tree =
        make_dataset("random-tree", {{"seed", std::to_string(seed)}, {"n", "100"}});
    sum += static_cast<double>(closure_pairs(*tree.hierarchy));
  }
  for (int k = 1; k < 100; ++k) expected += harmonic += 1.0 / k;
  EXPECT_NEAR(sum / 200 / expected, 1, 0.03);  // 3 standard errors, measured.
}

// The expected degrees come from numerical integration (operators.md of the specification).
TEST(Dataset, HyperbolicGraphsHaveTheirExpectedDegree) {
  const std::pair<int, double> known[] = {
      {100, 3.9598}, {400, 7.6106}, {1000, 10.7956}, {1200, 11.5081}};
  for (const auto& [n, expected] : known) {
    double sum = 0, squares = 0;
    for (int seed = 1; seed <= 200; ++seed) {
      const MadeData graph = make_dataset(
          "hyperbolic-graph", {{"n", std::to_string(n)}, {"seed", std::to_string(seed)}});
      const double degree = static_cast<double>(list<std::int64_t>(graph, "edge").size()) / n;
      sum += degree;
      squares += degree * degree;
    }
    const double mean = sum / 200, variance = (squares - sum * mean) / 199;
    EXPECT_LT(std::abs(mean - expected), 3 * std::sqrt(variance / 200)) << n << ": " << mean;
  }
}

TEST(Dataset, SlicesHoldTheirAngles) {
  const MadeData graph = make_dataset("hyperbolic-graph", {{"slice", "30"}});
  for (const double angle : list<double>(graph, "angle")) {
    EXPECT_GE(angle, 0);
    EXPECT_LT(angle, 0.5235987756);
  }
}

TEST(Dataset, ClustersHaveTheirDensities) {
  const MadeData graph = make_dataset("clustered", {});
  const auto& edges = list<std::int64_t>(graph, "edge");
  const auto& cluster = list<std::int64_t>(graph, "cluster");
  double within = 0;
  for (std::size_t i = 0; i < edges.size(); i += 2) {
    within += cluster[static_cast<std::size_t>(edges[i])] ==
              cluster[static_cast<std::size_t>(edges[i + 1])];
  }
  const double between = static_cast<double>(edges.size()) / 2 - within;
  EXPECT_NEAR(within, 49500 * .1, 3 * std::sqrt(49500 * .1 * .9));
  EXPECT_NEAR(between, 450000 * .005, 3 * std::sqrt(450000 * .005 * .995));
}

TEST(Dataset, PapersCiteRecentOnes) {
  const MadeData graph = make_dataset("citation", {});
  const auto& edges = list<std::int64_t>(graph, "edge");
  EXPECT_EQ(edges.size(), 2u * (0 + 1 + 2 + 997 * 3));
  std::vector<int> cited(1000);
  for (std::size_t i = 0; i < edges.size(); i += 2) {
    EXPECT_LT(edges[i + 1], edges[i]);
    EXPECT_LE(edges[i] - edges[i + 1], 100);
    ++cited[static_cast<std::size_t>(edges[i + 1])];
  }
  // Without preference 3 citations on average rarely exceed 12.
  EXPECT_GT(*std::max_element(cited.begin(), cited.end()), 20);
}

TEST(Dataset, TheMammalsThatShipAreThoseOfThePackage) {
  const Hierarchy shipped = *make_dataset("wordnet", {}).hierarchy;
  EXPECT_EQ(shipped.size(), 1170);
  EXPECT_EQ(shipped.edges.size(), 1170u);
  EXPECT_EQ(closure_pairs(shipped), 6448u);
  if (!std::ifstream("/usr/share/wordnet/data.noun")) GTEST_SKIP() << "no package wordnet-base";
  const Hierarchy read = *make_dataset("wordnet", {{"path", "/usr/share/wordnet"}}).hierarchy;
  EXPECT_EQ(read.names, shipped.names);
  EXPECT_EQ(read.edges, shipped.edges);
}

// Nickel and Kiela count 82,115 nouns and 743,241 pairs, instances included.
TEST(Dataset, AllNounsHaveTheCountsOfOthers) {
  if (!std::ifstream("/usr/share/wordnet/data.noun")) GTEST_SKIP() << "no package wordnet-base";
  const auto counted = [](const char* instances) {
    const Hierarchy nouns =
        *make_dataset("wordnet", {{"root", "entity.n.01"}, {"instances", instances}}).hierarchy;
    return std::pair(nouns.size(), closure_size(nouns)->pairs);
  };
  EXPECT_EQ(counted("yes"), std::pair(Node{82115}, std::size_t{743241}));
  EXPECT_EQ(counted("no"), std::pair(Node{74374}, std::size_t{663492}));
}

class WordNet : public fixtures::FilesTest {};

TEST_F(WordNet, MissingFilesAreNamedWithTheirPackage) {
  EXPECT_THAT(message_of([&] {
                (void)make_dataset("wordnet", {{"path", path("none")}});
              }),
              HasSubstr("Debian's package wordnet-base has it"));
}

TEST_F(WordNet, ReadsItsFiles) {
  fixtures::spill(path("data.noun"),
                  "  1 licence\n"
                  "100 03 n 02 Thing 0 object 0 000 | what is\n"
                  "200 03 n 01 dog 0 001 @ 100 n 0000 | barks\n"
                  "300 03 n 01 Dog 1 003 @ 200 n 0000 @ 400 n 0000 @i 100 n 0000 | another\n"
                  "400 03 n 01 pet 0 001 @ 100 n 0000 | at home\n");
  fixtures::spill(path("index.noun"),
                  "  1 licence\n"
                  "thing n 1 0 1 0 100\n"
                  "dog n 2 1 @ 2 1 200 300\n"
                  "pet n 1 1 @ 1 0 400\n");
  const auto made = make_dataset("wordnet", {{"path", directory_}, {"root", "thing.n.01"}});
  using ::testing::ElementsAre;
  EXPECT_THAT(made.hierarchy->names, ElementsAre("thing.n.01", "dog.n.01", "dog.n.02", "pet.n.01"));
  EXPECT_THAT(made.hierarchy->edges, ElementsAre(ElementsAre(1, 0), ElementsAre(2, 1),
                                                 ElementsAre(2, 3), ElementsAre(3, 0)));
  EXPECT_THAT(message_of([&] {
                (void)make_dataset("wordnet", {{"path", directory_}});
              }),
              HasSubstr("no noun 'mammal.n.01'"));
}

TEST(Dataset, SentencesHaveTheirDepth) {
  for (const int depth : {2, 3, 4, 6}) {
    const MadeData made = make_dataset("sentences", {{"depth", std::to_string(depth)}});
    const Hierarchy& trees = *made.hierarchy;
    EXPECT_EQ(*std::max_element(trees.depths.begin(), trees.depths.end()), depth);
    EXPECT_EQ(std::count(trees.depths.begin(), trees.depths.end(), 0), 200);
    EXPECT_EQ(trees.edges.size() + 200, trees.names.size());
    std::string text;
    for (const std::string& each : list<std::string>(made, "text")) text += each;
    std::string names;
    for (const char c : text) names += std::string("( )").find(c) == std::string::npos ? c : ' ';
    std::istringstream words(names);
    for (const std::string& name : trees.names) {
      std::string word;
      words >> word;
      EXPECT_EQ(word, name);  // Depth-first order is that of the text.
    }
  }
  // A depth that no sentence reaches costs nothing.
  EXPECT_EQ(make_dataset("sentences", {{"depth", "60"}}).hierarchy->names,
            make_dataset("sentences", {{"depth", "100"}}).hierarchy->names);
}

/// Returns the value of a nested list of digits, read from a text.
std::int64_t listops_value(std::istringstream& words, std::int64_t* depth) {
  std::string word;
  words >> word;
  if (word[0] != '(') return std::stoll(word);
  std::vector<std::int64_t> parts;
  std::int64_t deepest = 0;
  while ((words >> std::ws).peek() != ')') {
    std::int64_t below = 0;
    parts.push_back(listops_value(words, &below));
    deepest = std::max(deepest, below);
  }
  words.get();
  *depth = deepest + 1;
  std::sort(parts.begin(), parts.end());
  const std::size_t n = parts.size();
  if (word == "(MAX") return parts.back();
  if (word == "(MIN") return parts.front();
  if (word == "(MED") return (parts[(n - 1) / 2] + parts[n / 2]) / 2;
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) % 10;
}

TEST(Dataset, ListOpsHaveTheirValuesDepthsAndLengths) {
  const MadeData made =
      make_dataset("listops", {{"n", "500"}, {"depth", "3"}, {"arguments", "5"}, {"length", "40"}});
  const auto& texts = list<std::string>(made, "text");
  std::int64_t nodes = 0;
  std::set<std::int64_t> values;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string apart;
    for (const char c : texts[i]) apart += c == ')' ? std::string(" )") : std::string(1, c);
    std::istringstream words(apart);
    std::int64_t depth = 0;
    EXPECT_EQ(listops_value(words, &depth), list<std::int64_t>(made, "value")[i]) << texts[i];
    EXPECT_EQ(depth, list<std::int64_t>(made, "depth")[i]) << texts[i];
    EXPECT_EQ(depth, static_cast<std::int64_t>(1 + i % 3));
    const auto spaces = static_cast<std::size_t>(std::count(apart.begin(), apart.end(), ' '));
    longest = std::max(longest, spaces + 1);
    nodes += static_cast<std::int64_t>(spaces + 1) - std::count(apart.begin(), apart.end(), ')');
    values.insert(list<std::int64_t>(made, "value")[i]);
  }
  EXPECT_EQ(made.hierarchy->names.size(), static_cast<std::size_t>(nodes));
  EXPECT_EQ(made.hierarchy->edges.size() + 500, static_cast<std::size_t>(nodes));
  EXPECT_EQ(*std::max_element(made.hierarchy->depths.begin(), made.hierarchy->depths.end()), 3);
  EXPECT_EQ(values.size(), 10u);
  EXPECT_LE(longest, 40u);
  EXPECT_GE(longest, 36u);
  EXPECT_THAT(message_of([] {
                (void)make_dataset("listops", {{"depth", "9"}, {"length", "12"}});
              }),
              HasSubstr("depth=9 and length=12: no expression of"));
  EXPECT_THAT(message_of([] {
                (void)make_dataset("listops", {{"arguments", "1"}});
              }),
              HasSubstr("arguments=1 (expected at least 2)"));
}

TEST(Dataset, RigidBodiesKeepTheirInvariants) {
  const MadeData made = make_dataset("rigid-body", {});
  const auto& z = list<double>(made, "value");
  ASSERT_EQ(z.size(), 50u * 200 * 3);
  double moved = 0;
  for (std::size_t i = 0; i < z.size(); i += 3) {
    const std::size_t first = i / 600 * 600;
    EXPECT_NEAR(z[i] * z[i] + z[i + 1] * z[i + 1] + z[i + 2] * z[i + 2], 1, 1e-13);
    EXPECT_NEAR(z[i + 1] * z[i + 1] - z[i + 2] * z[i + 2],
                z[first + 1] * z[first + 1] - z[first + 2] * z[first + 2], 1e-13);
    moved = std::max(moved, std::abs(z[i] - z[first]));
  }
  EXPECT_GT(moved, 0.5);
}

TEST(Dataset, TokensHaveTheirShapesAndTwins) {
  const MadeData made = make_dataset("gaussian", {{"heads", "2"}, {"n", "6"}, {"d", "3"}});
  EXPECT_EQ(made.tensors[1].extents, (std::vector<std::int64_t>{2, 6, 3}));
  const auto &q = made.tensors[0].numbers, &k = made.tensors[1].numbers;
  for (const std::size_t head : {0u, 18u}) {
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(q[head + c], k[head + 3 + c]);
    EXPECT_NEAR(q[head + 6], k[head + 9], 2e-4);
    EXPECT_NE(q[head + 6], k[head + 9]);
  }
  EXPECT_EQ(make_dataset("shapes", {{"model", "deit-ti"}}).tensors[2].extents,
            (std::vector<std::int64_t>{3, 197, 64}));
  const MadeData positions = make_dataset("positions", {{"heads", "2"}, {"n", "3"}});
  EXPECT_EQ(positions.tensors[2].numbers, (std::vector<double>{0, .5, 1, 0, .5, 1}));
}

}  // namespace
}  // namespace conelab
