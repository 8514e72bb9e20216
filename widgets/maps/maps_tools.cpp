// The tool bar of the attention maps view.
#include <QActionGroup>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <algorithm>

#include "widgets/maps/compare_tools.h"
#include "widgets/maps/map_figure.h"
#include "widgets/maps/maps_view.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// The width of a choice in the tool bar; of one whose entries depend on the operators.
constexpr int narrowest = 56, widest = 124, steady = 112;

/// Returns a small preview of a colour map for its menu.
QIcon map_icon(figure::ColourMap map) {
  QPixmap pixmap(48, 12);
  QPainter painter(&pixmap);
  for (int x = 0; x < 48; ++x) {
    const figure::Colour c = figure::colour_at(map, x / 47.0);
    painter.fillRect(x, 0, 1, 12, QColor(c.r, c.g, c.b));
  }
  return QIcon(pixmap);
}

/// Offers the colour maps with a preview of each.
void fill_colours(QComboBox& colours) {
  const QSignalBlocker quiet(&colours);
  add_entry(colours, QString::fromStdString(MapChoice().colours),
            QObject::tr("sequential in the light theme, dark in the dark one"));
  for (const figure::ColourMapInfo& info : figure::colour_maps()) {
    add_entry(colours, info.name, QString::fromUtf8(info.about));
    colours.setItemIcon(colours.count() - 1, map_icon(info.map));
  }
  colours.setIconSize(QSize(48, 12));
  widen_list(colours);
}

}  // namespace

void MapsView::edit(const QString& label, const std::function<void(MapChoice&)>& change,
                    const QString& merge) {
  workspace_.document().edit(
      label, [&](Session& s) { change(s.maps); }, merge);
}

template <class Tool>
Tool* MapsView::add(QWidget* row, Tool* tool, const QStringList& layouts) {
  row->layout()->addWidget(tool);
  if (!layouts.isEmpty()) shown_in_.emplace_back(tool, layouts);
  return tool;
}

QComboBox* MapsView::add_choice(QWidget* row, const QString& name, const QString& help,
                                std::span<const char* const> words, std::string MapChoice::*member,
                                const QStringList& layouts) {
  auto* box = add(row, named(new QComboBox, "maps-" + name, name, help), layouts);
  for (const char* word : words) box->addItem(word);
  box->setMinimumWidth(narrowest);
  choices_.emplace_back(box, member);
  connect(box, &QComboBox::currentTextChanged, this, [this, name, member](const QString& word) {
    edit(tr("change %1").arg(name), [&](MapChoice& maps) {
      maps.*member = word.toStdString();
      // Limits that were set by hand would go before those of the percentiles.
      if (member == &MapChoice::percentiles) maps.limits.clear();
    });
  });
  return box;
}

QComboBox* MapsView::add_numbered(QWidget* row, const char* name, const QString& accessible,
                                  const QString& help, const std::function<void(int)>& chosen,
                                  const QStringList& layouts) {
  auto* box =
      add(row, named(new QComboBox, QStringLiteral("maps-") + name, accessible, help), layouts);
  box->setMinimumWidth(narrowest);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  if (chosen) connect(box, &QComboBox::currentIndexChanged, this, chosen);
  return box;
}

void MapsView::build_tools(QWidget* row) {
  layer_ = add_numbered(row, "layer", tr("Layer"),
                        tr("Which layer of the file, or which array of a result"));
  connect(layer_, &QComboBox::activated, this, [this](int index) {
    workspace_.open_group(layer_->itemData(index).toString().toStdString());
  });
  batch_ =
      add_numbered(row, "batch", tr("Batch element"), tr("Which batch element"), [this](int index) {
        workspace_.document().edit(tr("choose batch element %1").arg(index),
                                   [&](Session& s) { s.trace.batch = index; });
      });
  head_ = add_numbered(row, "head", tr("Head"), tr("Which head of the layer"), [this](int index) {
    workspace_.document().edit(tr("choose %1").arg(head_->itemText(index)), [&](Session& s) {
      take_head(*head_, index, s.trace.head, s.maps.join);
      // Only matrices are joined.
      const bool matrices = s.maps.layout == "maps" || s.maps.layout == "table";
      if (s.maps.join != head_joins[0] && !matrices) s.maps.layout = "maps";
    });
  });
  shared_heads_ =
      add(row, named(new QLabel, "maps-shared-heads", {},
                     tr("Heads of q, and of k and v, which consecutive heads of q share")));
  add_choice(row, "layout",
             tr("maps: side by side; heads: all heads of the model, small; arcs between tokens;"
                " tree: tokens joined by their lowest common ancestors; hasse: the ancestor order;"
                " table: the numbers"),
             map_layouts, &MapChoice::layout);
  add(row, new CompareTools(workspace_, model_.second()), {"maps", "table"});
  build_heads_tools(row);
  build_map_tools(row);
  build_arc_tools(row);
  build_range_tools(row);
  build_export_tools(row);
  build_colour_tools(row);
  build_row_tools(row);
  build_token_tools(row);
}

/// Builds the tools that determine how matrices become pictures.
void MapsView::build_map_tools(QWidget* row) {
  const QStringList matrices = {"maps", "heads", "table"};
  quantity_ = add_choice(row, "quantity", tr("Attention weights, or the logits before the softmax"),
                         map_quantities, &MapChoice::quantity, matrices);
  add_choice(row, "scale",
             tr("How values become colours: linear, logarithmic (weights), each row by its"
                " largest, or by rank"),
             figure::heat_scale_names, &MapChoice::scale, {"maps", "heads"});
  reference_ = add_numbered(
      row, "reference", tr("Difference"),
      tr("Shows each operator minus this one; hold R over the maps to flip"),
      [this](int index) {
        edit(tr("change the reference"), [&](MapChoice& maps) { maps.reference = index - 1; });
      },
      matrices);
  reference_->setFixedWidth(steady);  // Of any operators.
}

/// Builds the tools that choose the small maps, their score and their order.
void MapsView::build_heads_tools(QWidget* row) {
  add_choice(row, "heads-rows",
             tr("layers: those beside the open one; file: all layers of the file;"
                " operators: the open layer under each operator"),
             figure::head_row_choices, &MapChoice::heads_rows, {"heads"});
  heads_operator_ = add_numbered(row, "heads-operator", tr("Operator of all heads"),
                                 tr("The operator of all layers"), [this](int index) {
                                   edit(tr("choose an operator"),
                                        [&](MapChoice& maps) { maps.heads_operator = index; });
                                 });
  heads_operator_->setFixedWidth(steady);
  QComboBox* score = add_choice(row, "head-score", tr("The number of each map"),
                                tree::head_score_names, &MapChoice::head_score, {"heads"});
  for (int i = 0; i < score->count(); ++i) {
    score->setItemData(i, QString::fromUtf8(tree::head_score_table[i].about), Qt::ToolTipRole);
  }
  add_choice(row, "heads-order", tr("In rows, or all heads in the order of the number"),
             figure::head_orders, &MapChoice::heads_order, {"heads"});
}

/// Builds the tools that determine which tokens have a part in maps, and the button that shows the
/// canvas as numbers.
void MapsView::build_token_tools(QWidget* row) {
  tokens_ = add(row,
                tool_button(tr("tokens"), "maps-tokens-menu",
                            tr("Special tokens such as [CLS] and <s>, and pieces of words")),
                {"maps", "heads", "table"});
  auto* menu = new QMenu(tokens_);
  auto* group = new QActionGroup(menu);
  for (const char* word : special_token_choices) {
    QAction* action = menu->addAction(tr("special tokens %1").arg(word), this, [this, word] {
      edit(tr("change special tokens"), [&](MapChoice& maps) { maps.special_tokens = word; });
    });
    action->setData(QString(word));
    action->setCheckable(true);
    group->addAction(action);
  }
  menu->addSeparator();
  merge_ = menu->addAction(tr("merge the pieces of words"));
  merge_->setCheckable(true);
  connect(merge_, &QAction::triggered, this, [this](bool on) {
    edit(on ? tr("merge words") : tr("show pieces of words"), [&](MapChoice& maps) {
      maps.merge_words = on;
      maps.region.reset();  // Its cells would be others.
    });
  });
  set_menu(*tokens_, menu);
  numbers_ = add(row, tool_button(tr("numbers"), "maps-numbers",
                                  tr("The same as a table: to read, to select, to copy"), true));
  connect(numbers_, &QToolButton::clicked, this, [this](bool on) {
    edit(on ? tr("show numbers") : tr("show the picture"), [&](MapChoice& maps) {
      const bool matrices = maps.layout == "maps" || maps.layout == "table";
      if (matrices) maps.layout = on ? "table" : "maps";
      maps.numbers = on && !matrices;
    });
  });
}

/// Builds the range of tokens of arcs, trees and orders.
void MapsView::build_range_tools(QWidget* row) {
  const auto add_end = [&](const QString& prefix, const char* name, const QString& help,
                           void (*take)(std::int64_t, const TokenRange&, MapChoice&)) {
    auto* box = add(row, named(new QSpinBox, name, help, help), {"arcs", "tree", "hasse"});
    box->setPrefix(prefix);
    box->setKeyboardTracking(false);
    connect(box, &QSpinBox::valueChanged, this, [this, take](int value) {
      edit(
          tr("change the range of tokens"),
          [&](MapChoice& maps) {
            take(value, relations_.range(), maps);
            if (maps.range_end >= relations_.tokens_in_all()) maps.range_end = 0;
          },
          "range of tokens");
    });
    return box;
  };
  from_ = add_end(tr("tokens "), "maps-range-from", tr("The first token that is shown"),
                  [](std::int64_t value, const TokenRange& range, MapChoice& maps) {
                    // The range keeps its length and is moved; at the end of the tokens it becomes
                    // shorter.
                    maps.range_begin = value;
                    maps.range_end = value + range.size();
                  });
  to_ = add_end(tr("to "), "maps-range-to", tr("The last token that is shown"),
                [](std::int64_t value, const TokenRange& range, MapChoice& maps) {
                  maps.range_end = value + 1;
                  // An end before the beginning moves the range, which keeps its length.
                  if (maps.range_end > range.begin) return;
                  maps.range_begin = std::max<std::int64_t>(0, maps.range_end - range.size());
                });
}

void MapsView::build_arc_tools(QWidget* row) {
  add_choice(row, "arrangement",
             tr("sides: arcs to earlier tokens above, to later ones below; above: all"
                " above; rows: queries above, keys below"),
             arc_arrangements, &MapChoice::arc_arrangement, {"arcs"});
  add_choice(row, "tokens", tr("Whose tokens become the tree"), tree_sides, &MapChoice::tree_tokens,
             {"tree", "hasse"});
  top_ = add(row,
             named(new QSpinBox, "maps-top", tr("Arcs of a query"),
                   tr("How many arcs each query has at most: its strongest")),
             {"arcs"});
  top_->setRange(1, static_cast<int>(most_arcs));
  top_->setPrefix(tr("top "));
  threshold_ = add(row,
                   named(new QDoubleSpinBox, "maps-threshold", tr("Weakest arc"),
                         tr("The weakest weight that is drawn")),
                   {"arcs"});
  threshold_->setRange(0, 1);
  threshold_->setDecimals(3);
  threshold_->setSingleStep(0.01);
  threshold_->setPrefix(QStringLiteral("≥ "));
  connect(top_, &QSpinBox::valueChanged, this, [this](int value) {
    edit(
        tr("change the number of arcs"), [&](MapChoice& maps) { maps.arc_top = value; }, "arc top");
  });
  connect(threshold_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    edit(
        tr("change the weakest arc"), [&](MapChoice& maps) { maps.arc_threshold = value; },
        "arc threshold");
  });
}

/// Builds the tools that show the canvas as a figure or as a command, and the search.
void MapsView::build_export_tools(QWidget* row) {
  figure_ = add(row, tool_button(tr("figure"), "maps-figure",
                                 tr("This canvas in the view of figures, or the command that draws "
                                    "it")));
  auto* menu = named(new QMenu(figure_), "maps-figure-menu");
  set_menu(*figure_, menu);
  connect(menu, &QMenu::aboutToShow, this, &MapsView::fill_figure_menu);
  search_ = add(row, new TokenSearch(model_), {"maps", "arcs", "tree", "hasse"});
}

/// Builds the tools that determine the colours of maps, and what stands at their margins.
void MapsView::build_colour_tools(QWidget* row) {
  shared_ = add(row, tool_button(tr("shared limits"), "maps-shared", {}, true),
                {"maps", "heads", "arcs"});
  connect(shared_, &QToolButton::clicked, this, [this](bool on) {
    edit(tr("change limits"), [&](MapChoice& maps) { maps.shared_limits = on; });
  });
  QComboBox* colours = add_choice(row, "colours", tr("Colour map; all are perceptually uniform"),
                                  {}, &MapChoice::colours, {"maps", "heads"});
  fill_colours(*colours);
  colours->setMaximumWidth(widest);
  QComboBox* percentiles =
      add_choice(row, "percentiles",
                 tr("Which values the colours span: all, or those between these percentiles"),
                 map_percentiles, &MapChoice::percentiles, {"maps", "heads"});
  percentiles->setPlaceholderText(tr("by hand"));
  for (int i = 1; i < percentiles->count(); ++i) {
    percentiles->setItemData(i, tr("from the first to the second percentile"), Qt::ToolTipRole);
  }
  profiles_ =
      add(row,
          tool_button(tr("profiles"), "maps-profiles",
                      tr("The row and the column of the pair as lines beside the maps"), true),
          {"maps"});
  connect(profiles_, &QToolButton::clicked, this, [this](bool on) {
    edit(on ? tr("show profiles") : tr("hide profiles"),
         [&](MapChoice& maps) { maps.profiles = on; });
  });
}

void MapsView::build_row_tools(QWidget* row) {
  largest_ =
      add(row,
          tool_button(tr("largest"), "maps-largest",
                      tr("The keys that the kept query attends to most, under each operator")),
          {"maps", "table"});
  auto* menu = named(new QMenu(largest_), "maps-largest-menu");
  set_menu(*largest_, menu);
  connect(menu, &QMenu::aboutToShow, this, &MapsView::fill_largest_menu);
}

/// Builds the button that cancels work. It keeps its place while it is hidden, so that nothing
/// moves when work begins.
void MapsView::build_cancel(ToolRow* row) {
  cancel_ = tool_button(tr("resume"), "maps-cancel");
  cancel_->setMinimumWidth(cancel_->sizeHint().width());
  row->add_at_end(cancel_);
  connect(cancel_, &QToolButton::clicked, this, [this] {
    if (layout_name() == "heads") {
      heads_.cancelled() ? heads_.resume() : heads_.cancel();
    } else {
      model_.cancelled() ? model_.resume() : model_.cancel();
    }
  });
}

void MapsView::add_figure(const std::optional<FigureChoice>& figure, const QString& of) {
  if (!figure) return;
  QMenu* menu = figure_->menu();
  const QString suffix = of.isEmpty() ? of : " " + tr("of %1").arg(of);
  connect(menu->addAction(tr("As a figure") + suffix), &QAction::triggered, this,
          [this, figure = *figure] { emit figure_wanted(figure); });
  connect(menu->addAction(tr("Copy as command") + suffix), &QAction::triggered, this,
          [this, figure = *figure] { emit command_wanted(figure); });
}

/// Gives a figure of maps with shared limits those that follow from the percentiles of the view.
std::optional<FigureChoice> MapsView::with_percentiles(std::optional<FigureChoice> figure) const {
  const MapChoice& maps = workspace_.document().session().maps;
  const bool small = maps.layout == "heads";
  if (!figure || maps.percentiles == map_percentiles[0] || !maps.shared_limits ||
      maps.scale != figure::heat_scale_names[0] || figure->parameters.contains("low") ||
      (small ? heads_.rows().empty() : maps.layout != "maps" || model_.panels().empty())) {
    return figure;
  }
  const figure::Limits limits =
      small ? heads_.limits(*heads_.rows().front(), 0) : model_.limits(*model_.panels().front());
  if (limits.low < limits.high) {
    figure->parameters["low"] = fmt::format("{:.6g}", limits.low);
    figure->parameters["high"] = fmt::format("{:.6g}", limits.high);
  }
  return figure;
}

std::optional<FigureChoice> MapsView::figure() const {
  const auto& trace = workspace_.trace();
  if (!trace) return std::nullopt;
  return with_percentiles(map_figure(workspace_.document().session(), *trace));
}

void MapsView::fill_figure_menu() {
  figure_->menu()->clear();
  const Session& session = workspace_.document().session();
  if (!workspace_.trace()) return;
  const auto& second = model_.second().trace();
  if (workspace_.trace()->stored && session.maps.beside && second) {  // A figure for each side.
    Session other = session;
    other.trace.head = session.maps.beside->head;
    add_figure(map_figure(session, *workspace_.trace()), tr("the open map"));
    return add_figure(map_figure(other, *second), tr("the other map"));
  }
  const bool each = figure_of_one(session.maps.layout) && !workspace_.trace()->stored;
  const std::size_t count = each ? session.maps.calls.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    add_figure(with_percentiles(map_figure(session, *workspace_.trace(), i)),
               each ? QString::fromStdString(call_title(session.maps.calls[i])) : QString());
  }
  if (figure_->menu()->isEmpty()) {
    figure_->menu()->addAction(tr("No figure shows this"))->setEnabled(false);
  } else if (const std::string missing = not_in_figure(session.maps); !missing.empty()) {
    figure_->menu()
        ->addAction(tr("The figure leaves out %1").arg(QString::fromStdString(missing)))
        ->setEnabled(false);
  }
}

}  // namespace conelab::desktop
