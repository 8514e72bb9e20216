// The rows of operators: attention, then the structured ones, in the order in which they are
// listed.
#include <array>

#include "core/operators/operator.h"

namespace conelab {

OperatorRow attention_row();
OperatorRow agglomerative_row();
OperatorRow multi_head_row();
OperatorRow random_row();
OperatorRow recursive_row();

std::span<const OperatorRow> operator_table() {
  static const std::array table{attention_row(), agglomerative_row(), multi_head_row(),
                                recursive_row(), random_row()};
  return table;
}

}  // namespace conelab
