#include "widgets/maps/maps_view.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "widgets/maps/compare_tools.h"
#include "widgets/maps/layout_table.h"
#include "widgets/maps/map_figure.h"
#include "widgets/maps/map_tokens.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// Returns the parts of a readout, which are separated by line breaks or wide spaces, behind one
/// another. No line ends within a short part, so that a name stays with its value.
QString joined_lines(QString text) {
  constexpr int longest = 60;
  QStringList lines = text.replace("    ", "\n").split('\n');
  for (QString& line : lines) {
    if (line.size() <= longest) line.replace(' ', QChar::Nbsp);
  }
  return with_values_bound(lines.join("    "));
}

/// Returns what a readout says while nothing is pointed at. A table of heads, tokens or nodes says
/// what choosing one of its rows does.
QString what_to_point_at(const std::string& layout, bool is_table) {
  if (is_table) {
    return layout == "heads" ? MapsView::tr("Choose a row to open its head.")
                             : MapsView::tr("Choose a row to keep its pair of tokens.");
  }
  if (layout == "heads") return MapsView::tr("Point at a map for its scores; click to open it.");
  if (layout == "arcs") return MapsView::tr("Point at a token for its arcs; click to keep it.");
  if (layout == "tree") {
    return MapsView::tr("Point at a token or a node for its numbers; click to keep a token.");
  }
  if (layout == "hasse")
    return MapsView::tr("Point at a token for its ancestors; click to keep it.");
  return MapsView::tr("Point at a cell for its exact values; click to keep it.");
}

/// Offers the operators of the session, after an entry for none of them if that has a name. Tool
/// tips have the names as a whole.
void offer_operators(QComboBox& box, const QString& none, const std::string& prefix,
                     const std::vector<Call>& calls, int index) {
  const QSignalBlocker quiet(&box);
  box.clear();
  if (!none.isEmpty()) box.addItem(none);
  for (const Call& call : calls) {
    const QString name = QString::fromStdString(prefix + call_title(call));
    add_entry(box, name, name + "\n" + box.toolTip());
  }
  widen_list(box);
  box.setCurrentIndex(index);
}

}  // namespace

MapsView::MapsView(Workspace& workspace)
    : workspace_(workspace),
      model_(workspace),
      heads_(model_),
      relations_(workspace),
      region_(model_),
      matcher_(workspace) {
  auto* column = laid_out<QVBoxLayout>(this, {}, 0);
  auto* tools = new ToolRow;
  build_tools(tools);
  build_cancel(tools);
  column->addWidget(tools);
  notice_ = new MapNotice(model_, matcher_);
  column->addWidget(notice_);
  build_canvases();
  column->addWidget(stack_, 1);
  readout_ = text_label<SteadyLabel>("maps-readout", tr("Values under the pointer"));
  readout_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  column->addLayout(inset(readout_, {12, 4, 12, 6}));
  connect_models();
  model_.seen = [this] { return !visibleRegion().isEmpty(); };
  follow_palette(this, [this] { model_.use_dark_colours(is_dark(palette())); });
  show_session();
}

void MapsView::paintEvent(QPaintEvent* event) {
  QWidget::paintEvent(event);
  QTimer::singleShot(0, &model_, &MapsModel::catch_up);
}

void MapsView::connect_models() {
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
    show_shared_limits();
  });
  connect(&model_, &MapsModel::progressed, this, &MapsView::show_work);
  connect(&heads_, &HeadsModel::changed, this, &MapsView::show_work);
  connect(heads_canvas_, &HeadsCanvas::pointed_changed, this, &MapsView::show_readout);
  connect(&relations_, &RelationsModel::changed, this, &MapsView::show_readout);
  connect(relations_canvas_, &RelationsCanvas::pointed_changed, this, &MapsView::show_readout);
  connect(&region_, &MapRegionModel::changed, this, &MapsView::show_readout);
  connect(canvas_, &MapsCanvas::menu_wanted, this, &MapsView::show_menu);
  connect(search_, &TokenSearch::left, this, [this] { stack_->currentWidget()->setFocus(); });
  connect(canvas_, &MapsCanvas::shown_at, this,
          [this](const QPointF& at) { maps_page_->ensureVisible(qRound(at.x()), qRound(at.y())); });
  connect(search_, &TokenSearch::found, this, [this](const Focus& pair) {
    if (const auto cell = model_.tokens().cell_of(pair)) canvas_->reveal(*cell, true);
    relations_.reveal(pair);
  });
}

void MapsView::build_canvases() {
  stack_ = new QStackedWidget;
  canvas_ = named(new MapsCanvas(model_, region_), "maps-canvas");
  heads_canvas_ = new HeadsCanvas(heads_);
  relations_canvas_ = new RelationsCanvas(relations_);
  for (QWidget* canvas : {static_cast<QWidget*>(canvas_), static_cast<QWidget*>(heads_canvas_),
                          static_cast<QWidget*>(relations_canvas_)}) {
    show_focus_of(*canvas);
  }
  maps_page_ = scrolled(canvas_, tr("Attention maps, to be scrolled"));
  heads_page_ = scrolled(heads_canvas_, tr("All heads, to be scrolled"));
  relations_page_ = scrolled(relations_canvas_, tr("Arcs and trees, to be scrolled"));
  maps_page_->setFocusProxy(canvas_);
  heads_page_->setFocusProxy(heads_canvas_);
  relations_page_->setFocusProxy(relations_canvas_);
  table_page_ = new MapTableView(model_);
  numbers_page_ = new LayoutTableView(heads_, relations_);
  for (QWidget* page : {static_cast<QWidget*>(maps_page_), heads_page_, relations_page_,
                        table_page_, static_cast<QWidget*>(numbers_page_)}) {
    stack_->addWidget(page);
  }
}

void MapsView::show_menu(std::size_t panel, const std::optional<Focus>& cell, const QPoint& at) {
  auto* menu = new MapMenu(model_, matcher_, panel, cell, this);
  connect(menu, &MapMenu::commands_wanted, this, &MapsView::cell_commands_wanted);
  connect(menu, &MapMenu::cell_chosen, this, &MapsView::keep_cell);
  connect(menu, &MapMenu::picture_wanted, canvas_, [this] { copy_picture(*canvas_); });
  menu->popup(at);
}

void MapsView::find_token() {
  const std::string layout = layout_name();
  if (layout == "heads" || layout == "table") {
    workspace_.document().edit(tr("show the maps"), [](Session& s) { s.maps.layout = "maps"; });
  }
  search_->begin();
}

bool MapsView::deselect() {
  Document& document = workspace_.document();
  if (document.session().locked) return lock_pair(document, std::nullopt), true;
  if (!region_.region()) return false;
  return region_.choose(std::nullopt), true;
}

void MapsView::keep_cell(const Focus& cell) {
  workspace_.document().hover(std::nullopt);
  lock_pair(workspace_.document(), model_.tokens().pair_of(cell));
  if (stack_->currentWidget() == maps_page_) canvas_->reveal(cell);
}

void MapsView::keep_largest() {
  const auto cell = model_.tokens().cell_of(workspace_.document().focused());
  const auto first = model_.first_with_map();
  if (!cell || !first) return;
  const auto panel = model_.panels()[*first];
  model_.with_exact_row(panel, cell->query, [this, panel, query = cell->query] {
    const auto keys = MapsModel::largest_keys(*panel, query, 1);
    if (!keys.empty()) keep_cell({query, keys.front().first});
  });
}

/// Lists the largest keys of the row that is kept, under each operator.
void MapsView::fill_largest_menu() {
  QMenu& menu = *largest_->menu();
  menu.clear();
  const auto cell = model_.tokens().cell_of(workspace_.document().focused());
  for (const auto& panel : model_.panels()) {
    if (!cell) break;
    add_largest_keys(menu, *panel, cell->query, [this](const Focus& c) { keep_cell(c); });
  }
  if (!menu.isEmpty()) return;
  menu.addAction(cell ? tr("computing …") : tr("Click a cell first: the list is of its row."))
      ->setEnabled(false);
}

void MapsView::move(int key) {
  const MapTokens& tokens = model_.tokens();
  const std::int64_t down = (key == Qt::Key_Down) - (key == Qt::Key_Up);
  const std::int64_t right = (key == Qt::Key_Right) - (key == Qt::Key_Left);
  if (tokens.query.size() == 0 || tokens.key.size() == 0) return;
  Document& document = workspace_.document();
  Focus cell = tokens.cell_of(document.session().locked).value_or(Focus{-down, -right});
  cell.query = std::clamp<std::int64_t>(cell.query + down, 0, tokens.query.size() - 1);
  cell.key = std::clamp<std::int64_t>(cell.key + right, 0, tokens.key.size() - 1);
  document.hover(std::nullopt);
  lock_pair(document, tokens.pair_of(cell));
  if (stack_->currentWidget() == maps_page_) canvas_->reveal(cell);
}

QString MapsView::readout() const { return readout_->text().replace(QChar::Nbsp, ' '); }

std::string MapsView::layout_name() const { return workspace_.document().session().maps.layout; }

void MapsView::show_layout() {
  const std::string layout = layout_name();
  const bool related = layout == "arcs" || figure_of_one(layout);
  const bool numbers = workspace_.document().session().maps.numbers;
  numbers_->setChecked(layout == "table" || (numbers && layout != "maps"));
  figure_->setEnabled(workspace_.trace() != nullptr);
  stack_->setCurrentWidget(numbers && (related || layout == "heads") ? numbers_page_
                           : related                                 ? relations_page_
                           : layout == "heads"                       ? heads_page_
                           : layout == "table"                       ? table_page_
                                                                     : maps_page_);
  setFocusProxy(stack_->currentWidget());
  heads_.set_visible(layout == "heads");
  notice_->set_wanted(layout == "maps");
  for (const auto& [control, layouts] : shown_in_) {
    control->setVisible(layouts.contains(QString::fromStdString(layout)));
  }
  const MapChoice& maps = workspace_.document().session().maps;
  heads_operator_->setVisible(layout == "heads" && maps.heads_rows != "operators" &&
                              maps.calls.size() > 1);
  const auto& trace = workspace_.trace();
  if (trace && trace->stored) quantity_->hide(), reference_->hide(), heads_operator_->hide();
}

void MapsView::show_session() {
  const Session& session = workspace_.document().session();
  for (const auto& [box, member] : choices_) {
    const QSignalBlocker quiet(box);
    box->setCurrentText(QString::fromStdString(session.maps.*member));
    // Limits that were set by hand go before percentiles. Any choice in the box takes them back.
    const bool by_hand = member == &MapChoice::percentiles && !session.maps.limits.empty();
    if (by_hand) box->setCurrentIndex(-1);
  }
  show_place();
  const std::vector<Call>& calls = session.maps.calls;
  offer_operators(*reference_, tr("no difference"), "− ", calls,
                  reference_call(session.maps) ? session.maps.reference + 1 : 0);
  offer_operators(*heads_operator_, {}, "", calls,
                  std::min(session.maps.heads_operator, static_cast<int>(calls.size()) - 1));
  {
    const QSignalBlocker quiet(top_), silent(threshold_);
    top_->setValue(session.maps.arc_top);
    threshold_->setValue(session.maps.arc_threshold);
  }
  show_tokens();
  show_range();
  show_layout();
  show_readout();
  show_work();
}

void MapsView::show_place() {
  const auto& trace = workspace_.trace();
  const Session& session = workspace_.document().session();
  const QSignalBlocker quiet(layer_), silent(batch_), mute(head_);
  layer_->clear();
  for (const std::string& group : workspace_.groups()) {
    layer_->addItem(QString::fromStdString(group_title(group)), QString::fromStdString(group));
  }
  layer_->setVisible(trace && layer_->count() > 1);
  if (trace) layer_->setCurrentIndex(layer_->findData(QString::fromStdString(trace->group)));
  batch_->clear();
  const std::int64_t elements = trace ? trace->query.shape.batch : 0;
  for (std::int64_t i = 0; i < elements; ++i) batch_->addItem(tr("batch %1").arg(i));
  batch_->setCurrentIndex(static_cast<int>(session.trace.batch));
  batch_->setVisible(elements > 1);
  const bool joins = (session.maps.layout == "maps" || session.maps.layout == "table") &&
                     !(trace && trace->stored);
  fill_heads(*head_, trace ? trace->query.shape.head : 0);
  const Extents e = trace ? trace->extents() : Extents();
  shared_heads_->setText(tr("%1 heads on %2").arg(e.head).arg(e.key_heads()));
  shared_heads_->setVisible(e.key_heads() != e.head);
  show_head(*head_, session.trace.head, joins ? session.maps.join : head_joins[0]);
  head_->setVisible(trace != nullptr);
}

void MapsView::show_tokens() {
  const MapChoice& maps = workspace_.document().session().maps;
  for (QAction* action : tokens_->menu()->actions()) {
    const QString word = action->data().toString();
    if (!word.isEmpty()) action->setChecked(word.toStdString() == maps.special_tokens);
  }
  merge_->setChecked(maps.merge_words);
  merge_->setEnabled(maps.layout != "heads");
  profiles_->setChecked(maps.profiles);
  const bool usual = maps.special_tokens == special_token_choices[0] && !maps.merge_words;
  tokens_->setText(usual ? tr("tokens") : tr("tokens •"));
}

void MapsView::show_range() {
  const QSignalBlocker quiet(from_), silent(to_);
  const TokenRange range = relations_.range();
  const int last = static_cast<int>(std::max<std::int64_t>(0, relations_.tokens_in_all() - 1));
  from_->setRange(0, last);
  to_->setRange(0, last);
  from_->setValue(static_cast<int>(range.begin));
  to_->setValue(static_cast<int>(std::max<std::int64_t>(range.begin, range.end - 1)));
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
  if (layout == "heads" && !pair.isEmpty()) {  // Its values are those of the open head.
    pair = text.isEmpty() ? QString::fromStdString(heads_.open_name()) + "\n" + pair : QString();
  }
  if (focus && related) {
    const QString relation = QString::fromStdString(relations_.about(*focus));
    if (!relation.isEmpty()) pair += "\n" + relation;
  }
  if (!text.isEmpty() && !pair.isEmpty()) text += "\n";
  text += pair;
  // Its mass stands in the maps, too, so that it may make room for the cell under the pointer.
  const bool pointing = workspace_.document().hovered().has_value();
  if (layout == "maps" && region_.region() && !pointing) {
    text = QString::fromStdString(region_.text());
  }
  readout_->reserve_space_for(joined_lines(longest_readout()));
  const bool is_table = stack_->currentWidget() == numbers_page_;
  readout_->show_text(text.isEmpty() ? what_to_point_at(layout, is_table) : joined_lines(text));
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
    const auto found = std::ranges::max_element(tokens, by_size);
    return found == tokens.end() ? QString("0000") : QString::fromStdString(*found).left(40);
  };
  const std::string layout = layout_name();
  const QString query = tr("query 0000 “%1”").arg(longest(trace->query_token));
  const QString key = tr("key 0000 “%1”").arg(longest(trace->key_token));
  QString text = query + ", " + key;
  if (layout == "maps") text = tr("region: %1 to %1, %2 to %2").arg(query, key);
  for (const auto& panel : model_.panels()) {
    text += "\n" + QString::fromStdString(panel->title) +
            (layout == "maps" ? tr(": Σ -0.00000, 00.00 % of its rows") : ": -0.000000000000e-00");
  }
  for (const auto& panel : relations_.panels()) {
    if (!panel->tree) continue;
    text += "\n" + QString::fromStdString(panel->title) +
            tr(", queries 000 and 000: height of the LCA 0.000000, 000 is an ancestor of 000");
  }
  if (layout == "heads") {
    text += tr("\npenumbral, head 00:");
    for (const char* name : tree::head_score_names) text += QString(" %1 0.0000,").arg(name);
    text += tr(" values from 0.0000 to 0.0000");
  }
  return text;
}

void MapsView::show_work() {
  const bool all_heads = layout_name() == "heads";
  bool busy = all_heads && heads_.busy();
  for (const auto& panel : model_.panels()) busy = busy || (!all_heads && panel->pass.active());
  const bool cancelled = all_heads ? heads_.cancelled() : model_.cancelled();
  cancel_->setVisible(busy || cancelled);
  cancel_->setText(cancelled ? tr("resume") : tr("cancel"));
  show_shared_limits();
}

/// The button is pressed where maps have the same limits. Maps of different kinds cannot have them.
void MapsView::show_shared_limits() {
  const bool possible = layout_name() != "maps" || model_.can_share_limits();
  shared_->setEnabled(possible);
  shared_->setChecked(possible && workspace_.document().session().maps.shared_limits);
  shared_->setToolTip(possible ? tr("One range for all operators, or one for each")
                               : tr("No two of these maps show values of one kind (weights, logits,"
                                    " differences, …), so that each has limits of its own"));
}

}  // namespace conelab::desktop
