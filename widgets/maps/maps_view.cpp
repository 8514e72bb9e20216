#include "widgets/maps/maps_view.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>

#include "widgets/maps/layout_table.h"
#include "widgets/maps/map_figure.h"
#include "widgets/maps/map_table.h"
#include "widgets/theme/flow_layout.h"

namespace conelab::desktop {
namespace {

/// The width of a choice in the tool bar.
constexpr int narrowest = 56, widest = 240;

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

/// Shows `count` numbered choices, with one of them chosen; hidden if there is nothing to choose.
void show_numbered(QComboBox& box, const QString& name, int count, int chosen, int least) {
  const QSignalBlocker quiet(box);
  if (box.count() != count) {
    box.clear();
    for (int i = 0; i < count; ++i) box.addItem(name.arg(i));
  }
  box.setCurrentIndex(chosen);
  box.setVisible(count >= least);
}

}  // namespace

MapsView::MapsView(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      workspace_(workspace),
      model_(workspace),
      heads_(model_),
      relations_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* tools = new QWidget;
  build_tools(tools);
  column->addWidget(tools);
  build_canvases();
  column->addWidget(stack_, 1);
  readout_ = new SteadyLabel;
  readout_->setObjectName("maps-readout");
  readout_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  readout_->setAccessibleName(tr("Values under the pointer"));
  readout_->setWordWrap(true);
  readout_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  column->addLayout(inset(readout_, {12, 4, 12, 6}));
  connect(&workspace_.document(), &Document::changed, this, &MapsView::show_session);
  connect(&workspace_, &Workspace::trace_changed, this, &MapsView::show_session);
  connect(&workspace_.document(), &Document::focus_changed, this, [this] {
    model_.prepare_exact(workspace_.document().focused());
    show_readout();
  });
  connect(&model_, &MapsModel::exact_known, this, &MapsView::show_readout);
  connect(&model_, &MapsModel::panels_changed, this, [this] {
    model_.prepare_exact(workspace_.document().focused());
    show_readout();
  });
  connect(&model_, &MapsModel::progressed, this, &MapsView::show_work);
  connect(&heads_, &HeadsModel::changed, this, &MapsView::show_work);
  connect(heads_canvas_, &HeadsCanvas::pointed_changed, this, &MapsView::show_readout);
  connect(&relations_, &RelationsModel::changed, this, &MapsView::show_readout);
  connect(relations_canvas_, &RelationsCanvas::pointed_changed, this, &MapsView::show_readout);
  show_session();
}

void MapsView::build_canvases() {
  stack_ = new QStackedWidget;
  canvas_ = new MapsCanvas(model_);
  canvas_->setObjectName("maps-canvas");
  heads_canvas_ = new HeadsCanvas(heads_);
  relations_canvas_ = new RelationsCanvas(relations_);
  auto* scroll = new QScrollArea;
  scroll->setAccessibleName(tr("Arcs and trees, to be scrolled"));
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(relations_canvas_);
  relations_page_ = scroll;
  table_page_ = new MapTableView(model_);
  numbers_page_ = new LayoutTableView(heads_, relations_);
  for (QWidget* page : {static_cast<QWidget*>(canvas_), static_cast<QWidget*>(heads_canvas_),
                        relations_page_, table_page_, static_cast<QWidget*>(numbers_page_)}) {
    stack_->addWidget(page);
  }
}

QString MapsView::readout() const { return readout_->text().replace(QChar::Nbsp, ' '); }

QComboBox* MapsView::add_choice(QWidget* row, const QString& name, const QString& help,
                                std::span<const char* const> words,
                                std::string MapChoice::*member) {
  auto* box = new QComboBox;
  for (const char* word : words) box->addItem(word);
  box->setToolTip(help);
  box->setAccessibleName(name);
  box->setObjectName("maps-" + name);
  box->setMinimumWidth(narrowest);
  row->layout()->addWidget(box);
  choices_.emplace_back(box, member);
  connect(box, &QComboBox::currentTextChanged, this, [this, name, member](const QString& word) {
    workspace_.document().edit(tr("change %1").arg(name),
                               [&](Session& s) { s.maps.*member = word.toStdString(); });
  });
  return box;
}

QComboBox* MapsView::add_numbered(QWidget* row, const char* name, const QString& accessible,
                                  const QString& help) {
  auto* box = new QComboBox;
  box->setObjectName(QStringLiteral("maps-") + name);
  box->setMinimumWidth(narrowest);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  box->setAccessibleName(accessible);
  box->setToolTip(help);
  row->layout()->addWidget(box);
  return box;
}

void MapsView::only_in(QWidget* control, const QStringList& layouts) {
  shown_in_.emplace_back(control, layouts);
}

void MapsView::build_tools(QWidget* row) {
  auto* line = new FlowLayout(row);
  line->setContentsMargins(10, 4, 10, 4);
  layer_ = add_numbered(row, "layer", tr("Layer"),
                        tr("Which layer of the file, or which array of a result"));
  connect(layer_, &QComboBox::activated, this, [this](int index) {
    workspace_.open_group(layer_->itemData(index).toString().toStdString());
  });
  batch_ = add_numbered(row, "batch", tr("Batch element"), tr("Which batch element"));
  connect(batch_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("choose batch element %1").arg(index),
                               [&](Session& s) { s.trace.batch = index; });
  });
  head_ = add_numbered(row, "head", tr("Head"), tr("Which head of the layer"));
  connect(head_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("choose head %1").arg(index),
                               [&](Session& s) { s.trace.head = index; });
  });
  add_choice(row, "layout",
             tr("maps: side by side; heads: all heads of the layer, small; arcs between tokens;"
                " tree: tokens joined by their lowest common ancestors; hasse: the ancestor order;"
                " table: the numbers"),
             map_layouts, &MapChoice::layout);
  build_map_tools(row);
  build_arc_tools(row);
  build_work_tools(row);
  build_export_tools(row);
  build_cancel(row);
}

/// Builds the tools that determine how matrices become pictures.
void MapsView::build_map_tools(QWidget* row) {
  const QStringList matrices = {"maps", "heads", "table"}, pictures = {"maps", "heads"};
  quantity_ = add_choice(row, "quantity", tr("Attention weights, or the logits before the softmax"),
                         map_quantities, &MapChoice::quantity);
  only_in(quantity_, matrices);
  only_in(add_choice(row, "scale",
                     tr("How values become colours: linear, logarithmic (weights), each row by its"
                        " largest, or by rank"),
                     map_scales, &MapChoice::scale),
          pictures);
  QComboBox* colours = add_choice(row, "colours", tr("Colour map; all are perceptually uniform"),
                                  {}, &MapChoice::colours);
  only_in(colours, pictures);
  const QSignalBlocker quiet(colours);
  for (const figure::ColourMapInfo& info : figure::colour_maps()) {
    colours->addItem(map_icon(info.map), info.name);
    colours->setItemData(colours->count() - 1, QString::fromUtf8(info.about), Qt::ToolTipRole);
  }
  colours->setIconSize(QSize(48, 12));
  reference_ = add_numbered(row, "reference", tr("Difference"),
                            tr("Shows each operator minus this one; hold R over the maps to flip"));
  reference_->setMaximumWidth(widest);
  only_in(reference_, matrices);
  connect(reference_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("change the reference"),
                               [&](Session& s) { s.maps.reference = index - 1; });
  });
}

void MapsView::build_arc_tools(QWidget* row) {
  only_in(add_choice(row, "arrangement",
                     tr("sides: arcs to earlier tokens above, to later ones below; above: all"
                        " above; rows: queries above, keys below"),
                     arc_arrangements, &MapChoice::arc_arrangement),
          {"arcs"});
  only_in(add_choice(row, "tokens", tr("Whose tokens become the tree"), tree_sides,
                     &MapChoice::tree_tokens),
          {"tree", "hasse"});
  top_ = new QSpinBox;
  top_->setRange(1, static_cast<int>(most_arcs));
  top_->setPrefix(tr("top "));
  top_->setObjectName("maps-top");
  top_->setAccessibleName(tr("Arcs of a query"));
  top_->setToolTip(tr("How many arcs each query has at most: its strongest"));
  threshold_ = new QDoubleSpinBox;
  threshold_->setRange(0, 1);
  threshold_->setDecimals(3);
  threshold_->setSingleStep(0.01);
  threshold_->setPrefix(QStringLiteral("≥ "));
  threshold_->setObjectName("maps-threshold");
  threshold_->setAccessibleName(tr("Weakest arc"));
  threshold_->setToolTip(tr("The weakest weight that is drawn"));
  for (QWidget* control : {static_cast<QWidget*>(top_), static_cast<QWidget*>(threshold_)}) {
    row->layout()->addWidget(control);
    only_in(control, {"arcs"});
  }
  connect(top_, &QSpinBox::valueChanged, this, [this](int value) {
    workspace_.document().edit(
        tr("change the number of arcs"), [&](Session& s) { s.maps.arc_top = value; }, "arc top");
  });
  connect(threshold_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    workspace_.document().edit(
        tr("change the weakest arc"), [&](Session& s) { s.maps.arc_threshold = value; },
        "arc threshold");
  });
}

void MapsView::build_work_tools(QWidget* row) {
  QLayout* line = row->layout();
  shared_ = new QToolButton;
  shared_->setText(tr("shared limits"));
  shared_->setCheckable(true);
  shared_->setObjectName("maps-shared");
  shared_->setToolTip(tr("One range for all operators, or one for each"));
  line->addWidget(shared_);
  only_in(shared_, {"maps", "heads", "arcs"});
  connect(shared_, &QToolButton::clicked, this, [this](bool on) {
    workspace_.document().edit(tr("change limits"), [&](Session& s) { s.maps.shared_limits = on; });
  });
}

/// Builds the tools that show the canvas as numbers, as a figure or as a command.
void MapsView::build_export_tools(QWidget* row) {
  QLayout* line = row->layout();
  numbers_ = new QToolButton;
  numbers_->setText(tr("numbers"));
  numbers_->setCheckable(true);
  numbers_->setObjectName("maps-numbers");
  numbers_->setToolTip(tr("The same as a table: to read, to select, to copy"));
  line->addWidget(numbers_);
  connect(numbers_, &QToolButton::clicked, this, [this](bool on) {
    workspace_.document().edit(on ? tr("show numbers") : tr("show the picture"), [&](Session& s) {
      const bool maps = s.maps.layout == "maps" || s.maps.layout == "table";
      if (maps) s.maps.layout = on ? "table" : "maps";
      s.maps.numbers = on && !maps;
    });
  });
  figure_ = new QToolButton;
  figure_->setText(tr("figure"));
  figure_->setObjectName("maps-figure");
  figure_->setToolTip(tr("This canvas in the view of figures, or the command that draws it"));
  figure_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(figure_);
  menu->setObjectName("maps-figure-menu");
  figure_->setMenu(menu);
  line->addWidget(figure_);
  connect(menu, &QMenu::aboutToShow, this, &MapsView::fill_figure_menu);
}

/// Builds the button that cancels work. It stands last and keeps its place while it is hidden, so
/// that nothing moves when work begins.
void MapsView::build_cancel(QWidget* row) {
  cancel_ = new QToolButton;
  cancel_->setObjectName("maps-cancel");
  cancel_->setText(tr("compute again"));
  cancel_->setMinimumWidth(cancel_->sizeHint().width());
  QSizePolicy keeps_place = cancel_->sizePolicy();
  keeps_place.setRetainSizeWhenHidden(true);
  cancel_->setSizePolicy(keeps_place);
  row->layout()->addWidget(cancel_);
  connect(cancel_, &QToolButton::clicked, this, [this] {
    if (layout_name() == "heads") {
      heads_.cancelled() ? heads_.resume() : heads_.cancel();
    } else {
      model_.cancelled() ? model_.resume() : model_.cancel();
    }
  });
}

void MapsView::fill_figure_menu() {
  QMenu* menu = figure_->menu();
  menu->clear();
  const Session& session = workspace_.document().session();
  if (!workspace_.trace()) return;
  const bool each = figure_of_one(session.maps.layout) && !workspace_.trace()->stored;
  const std::size_t count = each ? session.maps.calls.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto figure = map_figure(session, *workspace_.trace(), i);
    if (!figure) continue;
    const QString of =
        each ? " " + tr("of %1").arg(QString::fromStdString(call_title(session.maps.calls[i])))
             : "";
    connect(menu->addAction(tr("As a figure") + of), &QAction::triggered, this,
            [this, figure = *figure] { emit figure_wanted(figure); });
    connect(menu->addAction(tr("Copy as command") + of), &QAction::triggered, this,
            [this, figure = *figure] { emit command_wanted(figure); });
  }
  if (menu->isEmpty()) menu->addAction(tr("No figure shows this"))->setEnabled(false);
}

std::string MapsView::layout_name() const { return workspace_.document().session().maps.layout; }

void MapsView::show_layout() {
  const std::string layout = layout_name();
  const bool related = layout == "arcs" || figure_of_one(layout);
  const bool numbers = workspace_.document().session().maps.numbers;
  numbers_->setChecked(layout == "table" || (numbers && layout != "maps"));
  figure_->setEnabled(layout != "heads" && workspace_.trace() != nullptr);
  stack_->setCurrentWidget(numbers && (related || layout == "heads") ? numbers_page_
                           : related                                 ? relations_page_
                           : layout == "heads"                       ? heads_canvas_
                           : layout == "table"                       ? table_page_
                                                                     : canvas_);
  heads_.look(layout == "heads");
  for (const auto& [control, layouts] : shown_in_) {
    control->setVisible(layouts.contains(QString::fromStdString(layout)));
  }
  const auto& trace = workspace_.trace();
  if (trace && trace->stored) quantity_->hide(), reference_->hide();
}

void MapsView::show_session() {
  const Session& session = workspace_.document().session();
  for (const auto& [box, member] : choices_) {
    const QSignalBlocker quiet(box);
    box->setCurrentText(QString::fromStdString(session.maps.*member));
  }
  show_place();
  {
    const QSignalBlocker quiet(reference_);
    reference_->clear();
    reference_->addItem(tr("no difference"));
    for (const Call& call : session.maps.calls) {
      reference_->addItem("− " + QString::fromStdString(call_title(call)));
    }
    reference_->setCurrentIndex(session.maps.reference + 1);
  }
  shared_->setChecked(session.maps.shared_limits);
  {
    const QSignalBlocker quiet(top_), silent(threshold_);
    top_->setValue(session.maps.arc_top);
    threshold_->setValue(session.maps.arc_threshold);
  }
  show_layout();
  show_readout();
  show_work();
}

void MapsView::show_place() {
  const auto& trace = workspace_.trace();
  const TraceChoice& chosen = workspace_.document().session().trace;
  const Shape4 shape = trace ? trace->query.shape : Shape4{0, 0, 0, 0};
  show_numbered(*batch_, tr("batch %1"), static_cast<int>(shape.batch),
                static_cast<int>(chosen.batch), 2);
  show_numbered(*head_, tr("head %1"), static_cast<int>(shape.head), static_cast<int>(chosen.head),
                1);
  const QSignalBlocker quiet(layer_);
  layer_->clear();
  const std::vector<std::string>& groups = workspace_.groups();
  for (const std::string& group : groups) {
    layer_->addItem(QString::fromStdString(group_title(group)), QString::fromStdString(group));
  }
  layer_->setVisible(trace && groups.size() > 1);
  if (!trace) return;
  layer_->setCurrentIndex(layer_->findData(QString::fromStdString(trace->group)));
}

/// Returns a description of what is pointed at; for a pair, its value under each operator and what
/// the layout knows about it.
void MapsView::show_readout() {
  const std::string layout = layout_name();
  const auto focus = workspace_.document().focused();
  QString text;
  const bool related = layout == "arcs" || figure_of_one(layout);
  if (layout == "heads") text = heads_canvas_->pointed();
  if (related) text = relations_canvas_->pointed();
  QString pair = QString::fromStdString(model_.readout(focus));
  if (focus && related) {
    const QString relation = QString::fromStdString(relations_.about(*focus));
    if (!relation.isEmpty()) pair += "\n" + relation;
  }
  if (!text.isEmpty() && !pair.isEmpty()) text += "\n";
  text += pair;
  readout_->reserve_space_for(with_values_bound(longest_readout()));
  readout_->show_text(text.isEmpty() ? tr("Point at a cell for its exact values; click to keep it.")
                                     : with_values_bound(text.replace('\n', "    ")));
}

/// Returns a text as long as the readouts of this layout, so that the canvas keeps its size when a
/// readout appears.
QString MapsView::longest_readout() const {
  const auto& trace = workspace_.trace();
  if (!trace) return {};
  const auto longest = [](const std::vector<std::string>& tokens) {
    const auto by_size = [](const std::string& a, const std::string& b) {
      return a.size() < b.size();
    };
    const auto found = std::max_element(tokens.begin(), tokens.end(), by_size);
    return found == tokens.end() ? QString("0000") : QString::fromStdString(*found).left(40);
  };
  QString text = tr("query 0000 “%1”, key 0000 “%2”")
                     .arg(longest(trace->query_token), longest(trace->key_token));
  for (const auto& panel : model_.panels()) {
    text += "    " + QString::fromStdString(panel->title) + ": -0.000000000000e-00";
  }
  const std::string layout = layout_name();
  for (const auto& panel : relations_.panels()) {
    if (!panel->tree) continue;
    text += "    " + QString::fromStdString(panel->title) +
            tr(": height of the LCA 0.000000, 000 is an ancestor of 000");
  }
  if (layout == "heads") {
    text += tr("    penumbral, head 00: mean entropy 0.0000 nats, values from 0.0000 to 0.0000");
  }
  return text;
}

void MapsView::show_work() {
  const bool all_heads = layout_name() == "heads";
  bool busy = all_heads && heads_.busy();
  for (const auto& panel : model_.panels()) busy = busy || (!all_heads && panel->pass.active());
  const bool cancelled = all_heads ? heads_.cancelled() : model_.cancelled();
  cancel_->setVisible(busy || cancelled);
  cancel_->setText(cancelled ? tr("compute again") : tr("cancel"));
}

}  // namespace conelab::desktop
