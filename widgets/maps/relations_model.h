// The model of arcs, trees and orders: the strongest arcs of attention, the tree of lowest common
// ancestors, the ancestor order and the segmentation of a head's tokens under each operator.
//
// The layout of the session decides which of them are computed. Each operator has one job; its
// result is kept until the head changes.
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

// More tokens cannot be read in a picture. `conelab tree` is limited only by memory.
inline constexpr std::int64_t most_arc_tokens = 2048, most_tree_tokens = 1024;
/// How many arcs of a query are kept, so that fewer can be shown without computing again.
inline constexpr std::size_t most_arcs = 16;

/// The tokens [begin, end) that are shown, of queries and of keys.
struct TokenRange {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
  bool operator==(const TokenRange&) const = default;
};

/// Tokens of results and figures are numbered within the range; pairs that views share are not.
struct RelationPanel {
  Call call;
  TokenRange range;
  bool tree = false;   ///< True for a tree, false for arcs.
  std::string tokens;  ///< For a tree: "key" or "query".
  std::string title, error;
  std::vector<figure::Arc> arcs;
  std::size_t unknown = 0;  ///< For arcs: the number of weights that are not finite.
  std::shared_ptr<const tree::HeadTree> head_tree;
  JobHandle job;
};

class RelationsModel : public QObject {
  Q_OBJECT

 public:
  explicit RelationsModel(Workspace& workspace);

  [[nodiscard]] Workspace& workspace() { return workspace_; }
  /// Returns one panel per operator; empty if the layout shows something else.
  [[nodiscard]] const std::vector<std::shared_ptr<RelationPanel>>& panels() const {
    return panels_;
  }
  [[nodiscard]] std::int64_t queries() const;
  [[nodiscard]] std::int64_t keys() const;
  /// Returns the batch element that is shown.
  [[nodiscard]] std::int64_t batch() const;
  [[nodiscard]] bool busy() const;
  /// Returns how many tokens the session's range is taken from.
  [[nodiscard]] std::int64_t tokens_in_all() const;
  /// Returns the range of the session, as far as it can be shown.
  [[nodiscard]] TokenRange range() const;
  /// Returns the pair of the trace that has these numbers within the range, and the inverse.
  [[nodiscard]] Focus pair_of(std::size_t query, std::size_t key) const;
  [[nodiscard]] Focus in_range(const Focus& pair) const;
  /// Moves the range of the session to a pair that is outside.
  void reveal(const Focus& pair);

  /// Return the figures of the results so far, `width` points wide. The caption explains why a
  /// figure is empty.
  [[nodiscard]] figure::ArcsFigure arcs_figure(double width) const;
  [[nodiscard]] figure::TreeFigure tree_figure(std::size_t panel, double width) const;

  /// Returns the texts of the tokens of a tree; empty if there are none and all are shown.
  [[nodiscard]] std::vector<std::string> tokens(std::size_t panel) const;

  /// Returns one line per operator about a pair: its LCA and relation, or the rank of its arc among
  /// those of the query.
  [[nodiscard]] std::string about(const Focus& pair) const;
  [[nodiscard]] std::string about_merge(std::size_t panel, std::size_t merge) const;
  [[nodiscard]] std::string about_boundary(std::size_t panel, std::size_t boundary) const;

  /// Returns the merges from a token up to the root, numbered as in `Dendrogram`. The LCA of two
  /// tokens is the first merge that both lists contain.
  [[nodiscard]] static std::vector<std::size_t> merges_above(const tree::HeadTree& tree,
                                                             std::size_t token);

 signals:
  void changed();

 private:
  void rebuild();
  [[nodiscard]] std::shared_ptr<RelationPanel> make_panel(const Call& call);
  void start(const std::shared_ptr<RelationPanel>& panel);
  /// Returns the title, with the range if that is not the whole.
  [[nodiscard]] std::string shown_title(const RelationPanel& panel) const;
  [[nodiscard]] std::vector<std::string> texts(const std::vector<std::string>& tokens,
                                               std::int64_t count) const;
  [[nodiscard]] std::string token_label(const RelationPanel& panel, std::int64_t i) const;
  /// Returns the text of a token of the trace, of a query or of a key as the panel has them.
  [[nodiscard]] std::string token_text(const RelationPanel& panel, std::int64_t token) const;

  Workspace& workspace_;
  std::vector<std::shared_ptr<RelationPanel>> panels_, made_;
  std::shared_ptr<const HeadInput> head_;
  MapChoice choice_;
};

}  // namespace conelab::desktop
