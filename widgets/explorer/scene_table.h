// The scene of the explorer as tables of numbers, for reading, copying and screen readers.
#pragma once

#include <QWidget>

#include "widgets/explorer/cone_scene.h"
#include "widgets/tables/text_table_model.h"

namespace conelab::desktop {

/// A family as a pane shows it.
struct ShownScene {
  const ConeChoice& choice;
  const ConeScene& scene;
};
/// Returns one row per quantity and one column per family. A cell is empty if the family lacks the
/// quantity.
[[nodiscard]] TextTable scene_table(const std::vector<ShownScene>& panes);

/// Returns one row per token: its point, its distance from u and its K(u, ·), which are exact.
[[nodiscard]] TextTable token_table(const ConeChoice& choice, const TokenNames& tokens);

/// The two tables. That of the tokens is hidden if there are none.
class SceneTables : public QWidget {
  Q_OBJECT

 public:
  SceneTables();
  void show_scene(const std::vector<ShownScene>& panes, const TokenNames& tokens);

 signals:
  /// The row of a token has become the current one.
  void token_chosen(int token);

 private:
  TextTableView *scene_, *tokens_;
};

}  // namespace conelab::desktop
