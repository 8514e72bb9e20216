// The cone explorer: family, model, typed coordinates, the viewport, the exact readout.
#pragma once

#include <QTimer>
#include <QWidget>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/explorer/scene_table.h"
#include "widgets/explorer/token_plane.h"
#include "widgets/theme/steady_label.h"
#include "widgets/trace/workspace.h"

class QBoxLayout;
class QComboBox;
class QLineEdit;
class QStackedWidget;
class QToolButton;

namespace conelab::desktop {

class ExplorerView : public QWidget {
  Q_OBJECT

 public:
  explicit ExplorerView(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] ExplorerViewport& viewport() { return *viewport_; }
  /// The readout as text, one "name: value" a line.
  [[nodiscard]] QString readout() const;
  [[nodiscard]] SceneTables& tables() { return *tables_; }

 signals:
  void text_copied(const QString& text);
  /// The session's figure is now of this scene; the figures are to be seen.
  void figure_shown();
  /// The command that draws this figure is to be copied.
  void figure_command_wanted(const FigureChoice& choice);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QWidget* build_tools();
  [[nodiscard]] QWidget* build_last_row();
  void build_scene();
  [[nodiscard]] QComboBox* build_choice(const char* name, const QString& about);
  [[nodiscard]] QComboBox* build_families();
  [[nodiscard]] QComboBox* build_models();
  [[nodiscard]] QComboBox* build_beside();
  [[nodiscard]] QToolButton* add_button(const char* name, const QString& text,
                                        const QString& about);
  QLineEdit* add_field(class QLayout* line, const QString& name,
                       std::array<double, 2> ConeChoice::*member);
  void build_readout();
  void connect_tools();
  void leave(const QString& as);
  void choose_family(const QString& name);
  void choose_beside(int index);
  void show_beside(const ConeChoice& choice);
  void choose_token(int token);
  void show_session();
  void show_choices(const ConeChoice& choice);
  void show_readout();
  void write_readout();
  void write_tables();
  void show_tokens(const TokenPlane& plane);
  void point_at_token(int token);
  /// What the points are, and which token is u, v and under the pointer.
  [[nodiscard]] QString about_tokens() const;
  [[nodiscard]] QString query_name(std::int64_t i) const;
  [[nodiscard]] QString key_name(std::int64_t i) const;
  [[nodiscard]] TokenPlane wanted();
  /// Of the first operator that is a cone family and places all tokens; null where none is.
  [[nodiscard]] const HeadTokens* tokens_of_head();

  Workspace& workspace_;
  ExplorerViewport* viewport_;
  QStackedWidget* stack_;  ///< The viewport, or its tables.
  SceneTables* tables_;
  QBoxLayout* points_ = nullptr;  ///< Their coordinates, in one row or two.
  QToolButton* numbers_ = nullptr;
  QComboBox *family_ = nullptr, *model_ = nullptr, *beside_ = nullptr;
  SteadyLabel* readout_;
  QTimer readout_pause_;
  bool readout_waits_ = false;  ///< For the end of the pause.
  int readout_columns_ = 0;     ///< Of its table, as last written.
  /// The head's tokens as last placed, and what they were placed by.
  std::optional<HeadTokens> tokens_;
  std::shared_ptr<const HeadInput> tokens_head_;
  std::vector<Call> tokens_calls_;
  std::optional<Focus> pair_;  ///< Whose plane is shown; none: the session's scene.
  QString unplaced_;           ///< Why the focused pair has no plane; empty where it has.
  bool pointing_ = false;      ///< At a token here: the plane stays that of its pair.
  QString left_out_;           ///< What the command or figure that was just made does not hold.
  std::vector<std::pair<QLineEdit*, std::array<double, 2> ConeChoice::*>> fields_;
};

}  // namespace conelab::desktop
