#include "core/tree/clusters.h"

#include <algorithm>
#include <iterator>

namespace conelab::tree {

std::set<Cluster> clusters_of(const Dendrogram& dendrogram) {
  const std::size_t n = dendrogram.leaf_order.size();
  std::vector<Cluster> tokens(n);
  for (std::size_t i = 0; i < n; ++i) tokens[i] = {static_cast<std::int64_t>(i)};
  std::set<Cluster> clusters;
  for (const Merge& merge : dendrogram.merges) {
    const Cluster& left = tokens[static_cast<std::size_t>(merge.left)];
    const Cluster& right = tokens[static_cast<std::size_t>(merge.right)];
    Cluster both;
    std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
    if (both.size() < n) clusters.insert(both);
    tokens.push_back(std::move(both));
  }
  return clusters;
}

ClusterMatch match_clusters(const std::set<Cluster>& known, const Dendrogram& dendrogram) {
  const std::set<Cluster> found = clusters_of(dendrogram);
  double wanted = 0, common = 0;
  for (const Cluster& cluster : known) {
    if (cluster.size() < 2 || cluster.size() >= dendrogram.leaf_order.size()) continue;
    wanted += 1;
    common += found.contains(cluster);
  }
  const double all = wanted + static_cast<double>(found.size());
  if (all == 0) return {};
  return {2 * common / all, 2 * std::min(wanted, static_cast<double>(found.size())) / all};
}

}  // namespace conelab::tree
