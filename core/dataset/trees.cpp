#include "core/base/error.h"
#include "core/base/random.h"
#include "core/dataset/dataset.h"

namespace conelab {

namespace {
constexpr std::size_t most_nodes_of_a_tree = 1000000;
}

MadeData complete_tree(const KeyValues& values) {
  const std::int64_t branching = values.whole("branching"), depth = values.whole("depth");
  const double extra = values.number("extra");
  Random random(static_cast<std::uint64_t>(values.whole("seed")));
  std::vector<std::array<Node, 2>> edges;
  std::vector<std::string> names = {"0"};
  for (std::size_t begin = 0, level = 0; level < static_cast<std::size_t>(depth); ++level) {
    const std::size_t end = names.size();
    if ((end - begin) * static_cast<std::size_t>(branching) > most_nodes_of_a_tree - end) {
      misuse("data set tree: branching {} and depth {} give more than {} nodes", branching, depth,
             most_nodes_of_a_tree);
    }
    for (std::size_t parent = begin; parent < end; ++parent) {
      for (std::int64_t child = 0; child < branching; ++child) {
        edges.push_back({static_cast<Node>(names.size()), static_cast<Node>(parent)});
        if (end - begin > 1 && extra > 0 && random.uniform() < extra) {
          const std::size_t others = random.below(end - begin - 1);  // From the parent on.
          const std::size_t second = begin + (parent - begin + 1 + others) % (end - begin);
          edges.push_back({static_cast<Node>(names.size()), static_cast<Node>(second)});
        }
        names.push_back(names[parent] + '.' + std::to_string(child));
      }
    }
    begin = end;
  }
  return {make_hierarchy(std::move(edges), std::move(names)), {}, {}};
}

MadeData random_tree(const KeyValues& values) {
  Random random(static_cast<std::uint64_t>(values.whole("seed")));
  std::vector<std::array<Node, 2>> edges;
  std::vector<std::string> names = {"0"};
  for (Node node = 1; node < values.whole("n"); ++node) {
    edges.push_back({node, static_cast<Node>(random.below(static_cast<std::uint64_t>(node)))});
    names.push_back(std::to_string(node));
  }
  return {make_hierarchy(std::move(edges), std::move(names)), {}, {}};
}

}  // namespace conelab
