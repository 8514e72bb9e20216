// The explorer's scene as numbers: the twin of its picture for reading, copying and screen readers.
#pragma once

#include <QWidget>

#include "widgets/explorer/cone_scene.h"
#include "widgets/tables/text_table_model.h"

namespace conelab::desktop {

/// A family as it is shown in a pane.
struct ShownScene {
  const ConeChoice& choice;
  const ConeScene& scene;
};
/// One row a quantity, one column a family; empty cells where a family has no such quantity.
[[nodiscard]] TextTable scene_table(const std::vector<ShownScene>& panes);

/// The tokens' points in the plane of u and v under the first family.
struct TokenNames {
  std::vector<PlanePoint> places;
  std::vector<std::string> names;  ///< Of as many.
};
/// One row a token: its place, its distance to u and its K(u, ·), which are exact.
[[nodiscard]] TextTable token_table(const ConeChoice& choice, const TokenNames& tokens);

/// The two tables; that of tokens is there only with tokens.
class SceneTables : public QWidget {
  Q_OBJECT

 public:
  explicit SceneTables(QWidget* parent = nullptr);
  void show_scene(const std::vector<ShownScene>& panes, const TokenNames& tokens);

 signals:
  /// The row of a token was made the current one.
  void token_chosen(int token);

 private:
  TextTableView *scene_, *tokens_;
};

}  // namespace conelab::desktop
