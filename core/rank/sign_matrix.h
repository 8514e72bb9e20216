// The sign matrix of a hierarchy, and how often its signs change.
//
//   S [n × n]: S_ij = +1 if node i is node j or one of its ancestors, otherwise −1,
//
// with rows and columns in depth-first order. The sign-rank of S, the least rank of a matrix with
// these signs, is at most SC(S) + 1 (Coneheads §7.7, after Alon, Frankl and Rödl). In a tree the
// descendants of a node follow it without a break, so that SC(S) ≤ 2; with several parents SC(S)
// can be larger.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "core/dataset/hierarchy.h"

namespace conelab::rank {

using Matrix = Eigen::MatrixXd;

/// Returns S [n × n].
[[nodiscard]] Matrix sign_matrix(const Hierarchy& hierarchy);

/// Returns SC: the most changes of sign from one column to the next that a row has.
[[nodiscard]] std::int64_t sign_changes(const Matrix& signs);

}  // namespace conelab::rank
