#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/dataset/dataset.h"

namespace conelab {
namespace {

constexpr double pi = 3.14159265358979323846;

LabelledArray graph_group(const std::vector<std::int64_t>& edges, std::size_t nodes) {
  LabelledArray group;
  group.axes = {counted_axis("node", nodes), counted_axis("link", edges.size() / 2),
                counted_axis("end", 2)};
  group.variables = {{"edge", {"link", "end"}, edges}};
  return group;
}

/// A point of the hyperboloid in three dimensions.
struct DiskPoint {
  double t, x, y;
};

}  // namespace

// Angles φ are uniform, radii r = acosh(1 + u (cosh αR − 1)) / α with u uniform and
// R = acosh(n / 2π + 1). Two nodes are neighbours if their distance is at most radius_factor R:
// cosh of the distance is cosh r₁ cosh r₂ − cos(φ₁ − φ₂) sinh r₁ sinh r₂.
MadeData hyperbolic_graph(const KeyValues& values) {
  Random random(static_cast<std::uint64_t>(values.whole("seed")));
  const auto cosh = [](double x) { return (portable::exp(x) + portable::exp(-x)) / 2; };
  const auto sinh = [](double x) { return (portable::exp(x) - portable::exp(-x)) / 2; };
  const auto n = static_cast<std::size_t>(values.whole("n"));
  const double alpha = values.number("alpha");
  const double disk = portable::acosh(static_cast<double>(n) / (2 * pi) + 1);
  const double reach = cosh(values.number("radius_factor") * disk);
  const double spread = cosh(alpha * disk) - 1;
  std::vector<double> radius(n), angle(n);
  std::vector<DiskPoint> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    angle[i] = random.uniform() * (values.number("slice") * (pi / 180));
    radius[i] = portable::acosh(1 + random.uniform() * spread) / alpha;
    const double length = sinh(radius[i]);
    points[i] = {cosh(radius[i]), length * portable::cos(angle[i]),
                 length * portable::sin(angle[i])};
  }
  std::vector<std::int64_t> edges;
  for (std::size_t i = 0; i < n; ++i) {
    const DiskPoint a = points[i];
    for (std::size_t j = i + 1; j < n; ++j) {
      const DiskPoint& b = points[j];
      if (a.t * b.t - (a.x * b.x + a.y * b.y) > reach) continue;
      edges.insert(edges.end(), {static_cast<Node>(i), static_cast<Node>(j)});
    }
  }
  LabelledArray group = graph_group(edges, n);
  group.add("radius", {"node"}, std::move(radius));
  group.variables.push_back({"angle", {"node"}, std::move(angle), "rad"});
  return {{}, {{"graph", std::move(group)}}, {}};
}

MadeData clustered_graph(const KeyValues& values) {
  Random random(static_cast<std::uint64_t>(values.whole("seed")));
  const std::int64_t n = values.whole("n"), clusters = values.whole("clusters");
  if (clusters > n) misuse("data set clustered: {} clusters for {} nodes", clusters, n);
  std::vector<std::int64_t> cluster, edges;
  for (std::int64_t i = 0; i < n; ++i) cluster.push_back(i * clusters / n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i + 1; j < n; ++j) {
      const bool same =
          cluster[static_cast<std::size_t>(i)] == cluster[static_cast<std::size_t>(j)];
      if (random.uniform() < values.number(same ? "within" : "between")) {
        edges.insert(edges.end(), {i, j});
      }
    }
  }
  LabelledArray group = graph_group(edges, cluster.size());
  group.add("cluster", {"node"}, std::move(cluster));
  return {{}, {{"graph", std::move(group)}}, {}};
}

// Paper i cites `links` of the `window` papers before it, each with a probability that is
// proportional to one more than the number of times that it has been cited. The graph holds all
// citations; the hierarchy leaves out those that follow from others.
MadeData citation_graph(const KeyValues& values) {
  Random random(static_cast<std::uint64_t>(values.whole("seed")));
  const std::int64_t n = values.whole("n"), links = values.whole("links");
  std::vector<std::uint64_t> chances(static_cast<std::size_t>(n), 1);
  std::vector<std::array<Node, 2>> citations;
  std::vector<std::int64_t> edges;
  std::vector<std::string> names;
  for (Node paper = 0; paper < n; ++paper) {
    names.push_back("paper " + std::to_string(paper));
    const Node first = std::max<Node>(0, paper - values.whole("window"));
    std::vector<std::uint64_t> open(chances.begin() + first, chances.begin() + paper);
    std::uint64_t sum = 0;
    for (const std::uint64_t chance : open) sum += chance;
    for (std::int64_t link = 0; link < links && sum > 0; ++link) {
      std::uint64_t drawn = random.below(sum);
      std::size_t cited = 0;
      while (drawn >= open[cited]) drawn -= open[cited++];
      sum -= std::exchange(open[cited], 0);  // It is cited once.
      citations.push_back({paper, first + static_cast<Node>(cited)});
      ++chances[static_cast<std::size_t>(citations.back()[1])];
      edges.insert(edges.end(), citations.back().begin(), citations.back().end());
    }
  }
  const Hierarchy all = make_hierarchy(std::move(citations), std::move(names));
  return {reduced(all), {{"graph", graph_group(edges, all.names.size())}}, {}};
}

}  // namespace conelab
