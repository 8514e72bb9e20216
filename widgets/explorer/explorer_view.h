// The cone explorer: choice of family and model, coordinate fields, the viewport, the exact
// numbers.
#pragma once

#include <QTimer>
#include <QWidget>

#include "widgets/explorer/explorer_viewport.h"
#include "widgets/explorer/scene_table.h"
#include "widgets/explorer/token_plane.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/trace/workspace.h"

class QBoxLayout;
class QComboBox;
class QLabel;
class QLineEdit;
class QStackedWidget;
class QToolButton;

namespace conelab::desktop {

class ExplorerView : public QWidget {
  Q_OBJECT

 public:
  explicit ExplorerView(Workspace& workspace);

  [[nodiscard]] ExplorerViewport& viewport() { return *viewport_; }
  /// Returns the readout as text, one "name: value" per line.
  [[nodiscard]] QString readout() const;
  [[nodiscard]] SceneTables& tables() { return *tables_; }

 public slots:
  /// Fits every view to its scene and to the window.
  void fit();
  /// Copies the command that computes the numbers of the scene.
  void copy_command();

 signals:
  void text_copied(const QString& text);
  /// The session's figure now shows this scene, and the figures view should be shown. `left_out`
  /// says what the figure does not contain; empty if it has everything.
  void figure_shown(const QString& left_out);
  /// The command that draws this figure should be copied.
  void figure_command_wanted(const FigureChoice& choice);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  [[nodiscard]] QWidget* build_tools();
  [[nodiscard]] QWidget* build_last_row();
  void build_scene();
  [[nodiscard]] QComboBox* build_choice(const char* name, const QString& about,
                                        const QString& tip = {});
  [[nodiscard]] QComboBox* build_beside();
  [[nodiscard]] QComboBox* build_heat();
  [[nodiscard]] QComboBox* build_depth();
  /// Adds the field of a point, and returns its label.
  QLabel* add_field(class QLayout* line, const QString& name,
                    std::array<double, 2> ConeChoice::*member);
  [[nodiscard]] static QString point_help();
  void connect_tools();
  void toggle(const QString& label, bool ConeChoice::*member);
  void show_menu(const QPoint& at);
  void show_figure();
  void copy_figure_command();
  void report_left_out(const std::string& text);
  void set_parameter(const QString& key, const QString& value);
  void choose_family(const QString& name);
  void choose_beside(int index);
  void show_beside(const ConeChoice& choice);
  void show_list_beside(const QString& list);
  void choose_token(int token);
  void show_session();
  void show_choices(const ConeChoice& choice);
  void show_follow(const ConeChoice& choice);
  void show_readout();
  void write_readout();
  void write_tables();
  /// Returns the text of a field while it is edited, with all digits of the point.
  [[nodiscard]] static QString field_text(const std::array<double, 2>& p);
  /// Returns the text of a field that is not edited: a few digits, which fit into a narrow view.
  [[nodiscard]] static QString short_text(const std::array<double, 2>& p);
  [[nodiscard]] TokenMarks marks_of(const TokenPlane& plane) const;
  void point_at_token(int token);
  /// Returns what the points are, and which tokens are u, v and under the pointer. A brief text
  /// has one sentence: that of the token under the pointer, or else which distances are exact.
  [[nodiscard]] QString about_tokens(bool brief = false) const;
  [[nodiscard]] QString about_token(std::int64_t key) const;
  /// Returns the batch element that the session selects.
  [[nodiscard]] std::int64_t batch() const;
  [[nodiscard]] QString query_name(std::int64_t i) const;
  [[nodiscard]] QString key_name(std::int64_t i) const;
  [[nodiscard]] TokenPlane wanted();
  [[nodiscard]] const HeadTokens* tokens_of_head();
  [[nodiscard]] std::optional<Focus> wanted_pair(const HeadTokens& tokens) const;

  Workspace& workspace_;
  ExplorerViewport* viewport_;
  QStackedWidget* stack_;  ///< Shows the viewport or its tables.
  SceneTables* tables_;
  QBoxLayout* points_ = nullptr;  ///< The coordinate fields, in one row or two.
  QLabel* source_label_ = nullptr;
  QToolButton *numbers_ = nullptr, *follow_ = nullptr;
  QComboBox *family_ = nullptr, *model_ = nullptr, *beside_ = nullptr;
  QComboBox *heat_ = nullptr, *depth_ = nullptr;
  SteadyLabel* readout_;
  QTimer readout_pause_;
  bool readout_waits_ = false;  ///< Whether the readout is written at the end of the pause.
  int readout_columns_ = 0;     ///< Columns of its table when it was last written.
  /// The tokens of the head, and the input and the call that they were computed from.
  std::optional<HeadTokens> tokens_;
  std::shared_ptr<const HeadInput> tokens_head_;
  Call tokens_call_;
  std::vector<std::string> key_names_;
  bool shown_once_ = false;          ///< Whether the view has been built from the session.
  std::optional<Focus> first_pair_;  ///< The pair that is shown while none is focused.
  std::optional<Focus> pair_;  ///< The pair whose plane is shown; absent: the session's scene.
  QString no_plane_;           ///< Why the focused pair has no plane; empty if it has one.
  bool pointing_ = false;      ///< Pointing at a token: the plane of the pair does not change.
  QString left_out_;           ///< What the last command or figure does not contain.
  std::vector<std::pair<QLineEdit*, std::array<double, 2> ConeChoice::*>> fields_;
};

}  // namespace conelab::desktop
