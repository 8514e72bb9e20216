// The table of operators: attention, then the structured ones, in the order of lists.
#include <array>

#include "core/operators/operator.h"

namespace conelab {

OperatorRow attention_row();
OperatorRow agglomerative_row();
OperatorRow bi_blosa_row();
OperatorRow multi_head_row();
OperatorRow random_row();
OperatorRow recursive_row();
OperatorRow relation_network_row();
OperatorRow segtree_row();
OperatorRow star_row();
OperatorRow volume_preserving_row();

std::span<const OperatorRow> operator_table() {
  static const std::array table{attention_row(),        agglomerative_row(), bi_blosa_row(),
                                multi_head_row(),       random_row(),        recursive_row(),
                                relation_network_row(), segtree_row(),       star_row(),
                                volume_preserving_row()};
  return table;
}

}  // namespace conelab
