#include "core/tree/merge.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace conelab::tree {
namespace {

/// Returns whether depth a is greater than b. NaN is smaller than every number, −∞ included.
bool deeper(double a, double b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

double shallower_of(double a, double b) { return std::isnan(a) || a < b ? a : b; }

/// Complete linkage that stores for each cluster its best partner with a larger index. A cluster
/// has the index of its first token. Merging never increases a depth, so that a stored partner
/// remains the best one unless it takes part in the merge.
class Agglomeration {
 public:
  Agglomeration(const std::vector<double>& depth, std::size_t n)
      : n_(n), depth_(n * n), id_(n), size_(n, 1), alive_(n, 1), partner_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      id_[i] = static_cast<std::int64_t>(i);
      for (std::size_t j = 0; j < n; ++j) {
        depth_[i * n + j] = (depth[i * n + j] + depth[j * n + i]) / 2;
      }
    }
    for (std::size_t i = 0; i < n; ++i) find_partner(i);
  }

  Merge step(std::int64_t new_id) {
    std::size_t best = n_;
    for (std::size_t i = 0; i < n_; ++i) {
      if (alive_[i] && partner_[i] < n_ &&
          (best == n_ || deeper(at(i, partner_[i]), at(best, partner_[best])))) {
        best = i;
      }
    }
    const std::size_t other = partner_[best];
    const Merge merge{id_[best], id_[other], at(best, other), size_[best] + size_[other]};
    join(best, other);
    id_[best] = new_id;
    return merge;
  }

 private:
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return depth_[i * n_ + j]; }

  void find_partner(std::size_t i) {
    partner_[i] = n_;
    for (std::size_t j = i + 1; j < n_; ++j) {
      if (alive_[j] && (partner_[i] == n_ || deeper(at(i, j), at(i, partner_[i])))) partner_[i] = j;
    }
  }

  void join(std::size_t into, std::size_t gone) {
    size_[into] += size_[gone];
    alive_[gone] = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      if (!alive_[j] || j == into) continue;
      const double both = shallower_of(at(into, j), at(gone, j));
      depth_[into * n_ + j] = depth_[j * n_ + into] = both;
    }
    for (std::size_t i = 0; i < n_; ++i) {
      if (alive_[i] && (i == into || partner_[i] == into || partner_[i] == gone)) find_partner(i);
    }
  }

  std::size_t n_;
  std::vector<double> depth_;
  std::vector<std::int64_t> id_, size_;
  std::vector<std::uint8_t> alive_;
  std::vector<std::size_t> partner_;
};

std::vector<std::int64_t> leaves_in_order(const std::vector<Merge>& merges, std::size_t n) {
  const auto leaves = static_cast<std::int64_t>(n);
  std::vector<std::int64_t> order, open;
  if (merges.empty()) {
    if (n == 1) order.push_back(0);
    return order;
  }
  open.push_back(leaves + static_cast<std::int64_t>(merges.size()) - 1);
  while (!open.empty()) {
    const std::int64_t id = open.back();
    open.pop_back();
    if (id < leaves) {
      order.push_back(id);
      continue;
    }
    const Merge& merge = merges[static_cast<std::size_t>(id - leaves)];
    open.push_back(merge.right);
    open.push_back(merge.left);
  }
  return order;
}

}  // namespace

Dendrogram merge_by_depth(const std::vector<double>& depth, std::size_t n) {
  Dendrogram out;
  Agglomeration clusters(depth, n);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    out.merges.push_back(clusters.step(static_cast<std::int64_t>(n + k)));
  }
  out.leaf_order = leaves_in_order(out.merges, n);
  return out;
}

geometry::Model model_of(const geometry::ConeSystem& system) {
  return system.infinite() ? geometry::Model::halfspace : geometry::Model::ball;
}

std::vector<std::optional<geometry::Element>> merge_ancestors(const HeadElements& tokens,
                                                              const Dendrogram& dendrogram) {
  std::vector<std::optional<geometry::Element>> clusters;
  for (const geometry::Element& token : tokens.elements) {
    clusters.push_back(std::isnan(token.shadow) ? std::nullopt : std::optional(token));
  }
  for (const Merge& merge : dendrogram.merges) {
    const auto& left = clusters[static_cast<std::size_t>(merge.left)];
    const auto& right = clusters[static_cast<std::size_t>(merge.right)];
    std::optional<geometry::Element> found;
    if (left && right) found = geometry::lca(tokens.system, *left, *right).place;
    clusters.push_back(std::move(found));
  }
  return {clusters.begin() + static_cast<std::ptrdiff_t>(tokens.elements.size()), clusters.end()};
}

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
