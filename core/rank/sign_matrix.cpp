#include "core/rank/sign_matrix.h"

namespace conelab::rank {

Matrix sign_matrix(const Hierarchy& hierarchy) {
  const std::vector<Node> order = depth_first_order(hierarchy);
  const NodeLists ancestors = ancestors_of(hierarchy);
  std::vector<Eigen::Index> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<Eigen::Index>(i);
  }
  Matrix signs = Matrix::Constant(hierarchy.size(), hierarchy.size(), -1);
  for (std::size_t node = 0; node < order.size(); ++node) {
    signs(place[node], place[node]) = 1;
    for (const Node above : ancestors[node]) {
      signs(place[static_cast<std::size_t>(above)], place[node]) = 1;
    }
  }
  return signs;
}

std::int64_t sign_changes(const Matrix& signs) {
  const Eigen::Index n = signs.cols();
  if (n < 2 || signs.rows() == 0) return 0;
  const auto differs = signs.leftCols(n - 1).array() * signs.rightCols(n - 1).array() < 0;
  return differs.rowwise().count().maxCoeff();
}

}  // namespace conelab::rank
