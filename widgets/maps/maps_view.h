// The attention maps view: its tool bar, one canvas per layout (maps, all heads, arcs and trees,
// table), and the exact numbers of the focused pair.
#pragma once

#include <QWidget>
#include <functional>
#include <span>

#include "widgets/maps/compare_tools.h"
#include "widgets/maps/heads_canvas.h"
#include "widgets/maps/layout_table.h"
#include "widgets/maps/map_menu.h"
#include "widgets/maps/maps_canvas.h"
#include "widgets/maps/relations_canvas.h"
#include "widgets/theme/flow_layout.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSpinBox;
class QToolButton;
class QScrollArea;
class QStackedWidget;

namespace conelab::desktop {

class ToolRow;

class MapsView : public QWidget {
  Q_OBJECT

 public:
  explicit MapsView(Workspace& workspace);

  [[nodiscard]] MapsModel& model() { return model_; }
  [[nodiscard]] MapsCanvas& canvas() { return *canvas_; }
  [[nodiscard]] HeadsModel& heads() { return heads_; }
  [[nodiscard]] HeadsCanvas& heads_canvas() { return *heads_canvas_; }
  [[nodiscard]] RelationsModel& relations() { return relations_; }
  [[nodiscard]] RelationsCanvas& relations_canvas() { return *relations_canvas_; }
  /// Returns the text of the readout.
  [[nodiscard]] QString readout() const;
  [[nodiscard]] LayoutTableView& numbers() { return *numbers_page_; }
  /// Returns the figure of what is shown, of its first operator if each has its own; absent if no
  /// figure shows it.
  [[nodiscard]] std::optional<FigureChoice> figure() const;
  /// Removes what is selected: the pair of tokens, then the region. Returns whether there was one.
  bool deselect();
  /// Keeps a cell and brings it into view.
  void keep_cell(const Focus& cell);
  /// Keeps the largest key of the row that is kept or pointed at, of the first map.
  void keep_largest();
  /// Moves the locked pair to the next cell as the arrow `Qt::Key` does: where words are merged, to
  /// the next word.
  void move(int key);
  /// Lets the user type part of a token to find; layouts without tokens give way to the maps.
  void find_token();

 signals:
  /// The user wants the current layout in the view of figures, or the command that draws it.
  void figure_wanted(const FigureChoice& figure);
  void command_wanted(const FigureChoice& figure);
  /// The commands are wanted that compute a cell under these calls, with a note about it.
  void cell_commands_wanted(const std::vector<conelab::Call>& calls, const QString& note);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void build_canvases();
  void connect_models();
  void build_tools(QWidget* row);
  void build_map_tools(QWidget* row);
  void build_token_tools(QWidget* row);
  void build_heads_tools(QWidget* row);
  void build_arc_tools(QWidget* row);
  void build_range_tools(QWidget* row);
  void build_export_tools(QWidget* row);
  void build_colour_tools(QWidget* row);
  void build_row_tools(QWidget* row);
  void build_cancel(ToolRow* row);
  void fill_figure_menu();
  void fill_largest_menu();
  [[nodiscard]] std::optional<FigureChoice> with_percentiles(
      std::optional<FigureChoice> figure) const;
  /// Adds a figure and its command to the menu, if there is one.
  void add_figure(const std::optional<FigureChoice>& figure, const QString& of);
  [[nodiscard]] QString longest_readout() const;
  /// Adds a tool that is shown in these layouts only; if none are given, in all.
  template <class Tool>
  Tool* add(QWidget* row, Tool* tool, const QStringList& layouts = {});
  QComboBox* add_choice(QWidget* row, const QString& name, const QString& help,
                        std::span<const char* const> words, std::string MapChoice::*member,
                        const QStringList& layouts = {});
  /// Adds a choice whose entries come from the session.
  QComboBox* add_numbered(QWidget* row, const char* name, const QString& accessible,
                          const QString& help, const std::function<void(int)>& chosen = {},
                          const QStringList& layouts = {});
  void edit(const QString& label, const std::function<void(MapChoice&)>& change,
            const QString& merge = {});
  void show_session();
  /// Offers the layers, batch elements and heads of the trace, and shows which one is chosen.
  void show_place();
  void show_tokens();
  void show_range();
  void show_menu(std::size_t panel, const std::optional<Focus>& cell, const QPoint& at);
  void show_readout();
  void show_work();
  void show_shared_limits();
  void show_layout();
  [[nodiscard]] std::string layout_name() const;

  Workspace& workspace_;
  MapsModel model_;
  HeadsModel heads_;
  RelationsModel relations_;
  MapRegionModel region_;
  EntropyMatcher matcher_;
  QStackedWidget* stack_;
  MapsCanvas* canvas_;
  QScrollArea* maps_page_;
  MapNotice* notice_;
  TokenSearch* search_ = nullptr;
  HeadsCanvas* heads_canvas_;
  RelationsCanvas* relations_canvas_;
  QWidget *heads_page_, *relations_page_, *table_page_;
  LayoutTableView* numbers_page_;
  SteadyLabel* readout_;
  QComboBox *layer_ = nullptr, *batch_ = nullptr, *head_ = nullptr, *reference_ = nullptr;
  QLabel* shared_heads_ = nullptr;  ///< "8 heads on 2", where k and v have fewer heads than q.
  QComboBox *heads_operator_ = nullptr, *quantity_ = nullptr;
  QSpinBox *top_ = nullptr, *from_ = nullptr, *to_ = nullptr;
  QDoubleSpinBox* threshold_ = nullptr;
  QToolButton *shared_ = nullptr, *cancel_ = nullptr, *numbers_ = nullptr, *figure_ = nullptr;
  QToolButton *tokens_ = nullptr, *profiles_ = nullptr, *largest_ = nullptr;
  QAction* merge_ = nullptr;
  std::vector<std::pair<QWidget*, QStringList>> shown_in_;
  std::vector<std::pair<QComboBox*, std::string MapChoice::*>> choices_;
};

}  // namespace conelab::desktop
