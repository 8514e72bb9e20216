// What relates the tokens of a head under each operator, without a window: the strongest arcs of
// attention, the tree of lowest common ancestors, the ancestor order, the segmentation.
//
// Which of them is computed follows the session's layout; each operator's is one job, and what was
// computed is kept until the head changes.
#pragma once

#include <QObject>
#include <memory>
#include <string>
#include <vector>

#include "core/figure/arcs.h"
#include "core/figure/tree_figure.h"
#include "widgets/jobs/job_pool.h"
#include "widgets/trace/workspace.h"

namespace conelab::desktop {

// More tokens than these are no picture any more; `conelab tree` takes as many as memory holds.
inline constexpr std::int64_t most_arc_tokens = 2048, most_tree_tokens = 1024;
/// As many arcs of a query are kept, so that fewer are shown without computing anew.
inline constexpr std::size_t most_arcs = 16;

struct RelationPanel {
  Call call;
  bool tree = false;   ///< A tree, else arcs.
  std::string tokens;  ///< Of a tree: "key" or "query".
  std::string title, error;
  std::vector<figure::Arc> arcs;
  std::size_t unknown = 0;  ///< Of arcs: weights that are not finite.
  std::shared_ptr<const tree::HeadTree> head_tree;
  JobHandle job;
};

class RelationsModel : public QObject {
  Q_OBJECT

 public:
  explicit RelationsModel(Workspace& workspace, QObject* parent = nullptr);

  [[nodiscard]] Workspace& workspace() { return workspace_; }
  /// One an operator; empty while the layout shows something else.
  [[nodiscard]] const std::vector<std::shared_ptr<RelationPanel>>& panels() const {
    return panels_;
  }
  [[nodiscard]] std::int64_t queries() const;
  [[nodiscard]] std::int64_t keys() const;
  [[nodiscard]] bool busy() const;

  /// What there is so far, at that width in points; the caption says why there is nothing.
  [[nodiscard]] figure::ArcsFigure arcs_figure(double width) const;
  [[nodiscard]] figure::TreeFigure tree_figure(std::size_t panel, double width) const;

  /// The texts of a tree's tokens, or none.
  [[nodiscard]] std::vector<std::string> tokens(std::size_t panel) const;

  /// One line an operator about a pair: its LCA and relation, or its arc's place among the query's.
  [[nodiscard]] std::string about(const Focus& pair) const;
  [[nodiscard]] std::string about_merge(std::size_t panel, std::size_t merge) const;
  [[nodiscard]] std::string about_boundary(std::size_t panel, std::size_t boundary) const;

  /// The merges from a token up to the root, by the numbers of `Dendrogram`; from their cluster
  /// the LCA of two tokens is the first that both have.
  [[nodiscard]] static std::vector<std::size_t> merges_above(const tree::HeadTree& tree,
                                                             std::size_t token);

 signals:
  void changed();

 private:
  void rebuild();
  [[nodiscard]] std::shared_ptr<RelationPanel> make_panel(const Call& call);
  void start(const std::shared_ptr<RelationPanel>& panel);
  [[nodiscard]] std::string token_label(std::int64_t i) const;

  Workspace& workspace_;
  std::vector<std::shared_ptr<RelationPanel>> panels_, made_;
  std::shared_ptr<const HeadInput> head_;
  MapChoice choice_;
};

}  // namespace conelab::desktop
