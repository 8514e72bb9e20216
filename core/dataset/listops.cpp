// ListOps (Nangia and Bowman 2018), with the rules by which the Long Range Arena draws its
// expressions: nested lists of digits under MAX, MIN, MED (the median, rounded down) and SM (the
// sum modulo 10). Operators and digits are the nodes of a hierarchy with one tree for each
// expression, in depth-first order.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/dataset/dataset.h"

namespace conelab {
namespace {

constexpr const char* operators[] = {"MAX", "MIN", "MED", "SM"};
constexpr int tries = 100'000;

std::int64_t value_of(std::size_t name, std::vector<std::int64_t> list) {
  std::sort(list.begin(), list.end());
  const std::size_t half = list.size() / 2;
  switch (name) {
    case 0:
      return list.back();
    case 1:
      return list.front();
    case 2:
      return list.size() % 2 == 1 ? list[half] : (list[half - 1] + list[half]) / 2;
    default:
      return std::accumulate(list.begin(), list.end(), std::int64_t{0}) % 10;
  }
}

struct Expression {
  std::vector<std::string> names;          ///< [node]: an operator or a digit.
  std::vector<std::array<Node, 2>> edges;  ///< Child and parent.
  std::string text;                        ///< "(MAX 3 (SM 4 1) 9)"
  std::int64_t words = 0, depth = 0;       ///< Brackets that close are words.
};

/// Draws expressions: at each level a digit with the probability 1/4, else an operator of two to
/// `arguments` parts; at the depth 0 a digit.
class Draw {
 public:
  Draw(Random& random, std::int64_t arguments, std::int64_t longest)
      : random_(random), arguments_(arguments), longest_(longest) {}

  /// Appends a part below `parent` (−1: none), and returns its value. Beyond the longest text
  /// nothing more is appended.
  std::int64_t add(Expression& to, Node parent, std::int64_t level, std::int64_t left) {
    if (++to.words > longest_) return 0;
    const auto node = static_cast<Node>(to.names.size());
    if (parent >= 0) to.edges.push_back({node, parent});
    to.depth = std::max(to.depth, level);
    if (left == 0 || random_.below(4) == 0) {
      const auto digit = static_cast<std::int64_t>(random_.below(10));
      to.names.push_back(std::to_string(digit));
      to.text += to.names.back();
      return digit;
    }
    const std::size_t name = random_.below(4);
    to.names.push_back(operators[name]);
    to.text += "(" + to.names.back();
    std::vector<std::int64_t> list(2 + random_.below(static_cast<std::uint64_t>(arguments_ - 1)));
    for (std::int64_t& each : list) {
      to.text += " ";
      each = add(to, node, level + 1, left - 1);
    }
    to.text += ")";
    ++to.words;
    return value_of(name, std::move(list));
  }

 private:
  Random& random_;
  std::int64_t arguments_, longest_;
};

}  // namespace

// The depths 1 to `depth` take turns; an expression that is too shallow or too long is drawn again.
MadeData listops(const KeyValues& values) {
  const std::int64_t n = values.whole("n"), depth = values.whole("depth");
  const std::int64_t arguments = values.whole("arguments"), length = values.whole("length");
  if (arguments < 2) misuse("data set listops: arguments={} (expected at least 2)", arguments);
  Random random(static_cast<std::uint64_t>(values.whole("seed")));
  Draw draw(random, arguments, length);
  std::vector<std::array<Node, 2>> edges;
  std::vector<std::string> names, texts;
  std::vector<std::int64_t> value, depths;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t wanted = 1 + i % depth;
    Expression drawn;
    std::int64_t is = 0;
    int left = tries;
    do {
      if (left-- == 0) {
        misuse(
            "data set listops: depth={} and length={}: no expression of {} levels in {} draws is "
            "as short (lower depth or raise length)",
            depth, length, wanted, tries);
      }
      drawn = {};
      is = draw.add(drawn, -1, 0, wanted);
    } while (drawn.depth != wanted || drawn.words > length);
    const auto first = static_cast<Node>(names.size());
    for (const auto& [child, parent] : drawn.edges)
      edges.push_back({child + first, parent + first});
    names.insert(names.end(), drawn.names.begin(), drawn.names.end());
    texts.push_back(std::move(drawn.text));
    value.push_back(is);
    depths.push_back(wanted);
  }
  LabelledArray group;
  group.axes = {counted_axis("sentence", texts.size())};
  group.variables = {{"text", {"sentence"}, std::move(texts)},
                     {"value", {"sentence"}, std::move(value)},
                     {"depth", {"sentence"}, std::move(depths)}};
  return {make_hierarchy(std::move(edges), std::move(names)), {{"sentence", std::move(group)}}, {}};
}

}  // namespace conelab
