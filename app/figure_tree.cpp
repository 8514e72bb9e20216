// Figures `tree` and `hasse` from a result of `tree`.
#include "app/figure_request.h"
#include "core/base/error.h"
#include "core/tree/tree_file.h"

namespace conelab {

figure::TreeFigure read_tree(const FigureRequest& request) {
  const std::string& input = request.single_input();
  const tree::StoredTrees stored = tree::read_trees(read_labelled_file(input));
  const std::size_t batch = request.index("batch"), head = request.index("head");
  const auto batches = static_cast<std::size_t>(stored.labels.batch);
  const auto heads = static_cast<std::size_t>(stored.labels.head);
  if (batch >= batches) misuse("-p batch={}: {} has {}", batch, input, batches);
  if (head >= heads) misuse("-p head={}: {} has {}", head, input, heads);
  figure::TreeFigure figure;
  figure.tree = stored.trees[batch * heads + head];
  figure.tokens = stored.labels.tokens;
  return figure;
}

}  // namespace conelab
