// The tools of the cone explorer: choices, coordinate fields, buttons, and the edits that they
// make.
#include <QBoxLayout>
#include <QClipboard>
#include <QComboBox>
#include <QFocusEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/error.h"
#include "core/geometry/lca_query.h"
#include "widgets/explorer/explorer_view.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// Titles of `cone_models`, in the same order.
constexpr const char* model_titles[] = {"half-plane", "Poincaré ball",     "Klein ball",
                                        "band",       "hyperboloid (3-D)", "half-space H³ (3-D)"};
static_assert(std::size(model_titles) == std::size(cone_models));

/// A field that shows another text while it has the focus.
class PointField : public QLineEdit {
 public:
  using Show = std::function<void(QLineEdit&, bool edited)>;
  explicit PointField(Show show) : show_(std::move(show)) {}

 protected:
  void focusInEvent(QFocusEvent* event) override {
    show_(*this, true);
    QLineEdit::focusInEvent(event);
    // The beginning of a text without space is seen: its last digits matter least.
    const int size = static_cast<int>(text().size());
    hasSelectedText() ? setSelection(size, -size) : setCursorPosition(0);
  }
  void focusOutEvent(QFocusEvent* event) override {
    QLineEdit::focusOutEvent(event);
    const Qt::FocusReason why = event->reason();
    const bool returns = why == Qt::PopupFocusReason || why == Qt::ActiveWindowFocusReason;
    if (!returns) show_(*this, false);
  }

 private:
  Show show_;
};

}  // namespace

// ---- building -----------------------------------------------------------------------------------

void ExplorerView::build_scene() {
  viewport_ = new ExplorerViewport(workspace_.document());
  connect(viewport_, &ExplorerViewport::parameter_wanted, this, &ExplorerView::set_parameter,
          Qt::QueuedConnection);  // It is emitted while the viewport paints.
  viewport_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(viewport_, &QWidget::customContextMenuRequested, this, &ExplorerView::show_menu);
  tables_ = new SceneTables;
  stack_ = new QStackedWidget;
  stack_->addWidget(viewport_);
  stack_->addWidget(tables_);
  connect(tables_, &SceneTables::token_chosen, this, [this](int token) {
    // Not if the table follows a choice made elsewhere.
    if (pair_ && pair_->key != token) choose_token(token);
  });
}

/// Builds three rows of tools: family and model, the points, further families and export.
QWidget* ExplorerView::build_tools() {
  auto* tools = new QWidget;
  auto* rows = laid_out<QVBoxLayout>(tools, {10, 4, 10, 4}, 4);
  auto *first = new QHBoxLayout, *pair = new QHBoxLayout, *light = new QHBoxLayout;
  points_ = new QBoxLayout(QBoxLayout::LeftToRight);
  rows->addLayout(first);
  rows->addLayout(points_);
  points_->addLayout(pair, 2);
  points_->addLayout(light, 1);
  first->addWidget(family_ = build_choice("family", tr("Cone family")), 1);
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    add_entry(*family_, QString::fromUtf8(family->name), QString::fromUtf8(family->about));
  }
  first->addWidget(model_ = build_choice("model", tr("Model of the hyperbolic plane")), 1);
  for (std::size_t i = 0; i < std::size(cone_models); ++i) {
    model_->addItem(QString::fromUtf8(model_titles[i]), QString(cone_models[i]));
  }
  add_button(first, QStringLiteral("$_"), "explorer-command",
             tr("Copy as command: the same numbers from a terminal"), this,
             &ExplorerView::copy_command);
  add_field(pair, "u", &ConeChoice::u);
  add_field(pair, "v", &ConeChoice::v);
  source_label_ = add_field(light, "source", &ConeChoice::source);
  rows->addWidget(build_last_row());
  connect_tools();
  return tools;
}

QWidget* ExplorerView::build_last_row() {
  auto* row = new ToolRow;
  QLayout* line = row->layout();
  line->setContentsMargins(0, 0, 0, 0);
  follow_ = add_button(line, tr("follow tokens"), "explorer-follow", {}, this,
                       [this] { toggle(tr("follow the tokens"), &ConeChoice::follow_tokens); });
  add_button(line, tr("fit"), "explorer-fit", tr("Fits every view to its scene"), this,
             &ExplorerView::fit);
  line->addWidget(beside_ = build_beside());
  add_button(line, tr("figure"), "explorer-figure",
             tr("This picture as a vector figure: opens it in Figures, to export or copy"), this,
             &ExplorerView::show_figure);
  line->addWidget(heat_ = build_heat());
  line->addWidget(depth_ = build_depth());
  numbers_ = add_button(line, tr("numbers"), "explorer-numbers",
                        tr("The same as a table: to read, to select, to copy"), this,
                        [this] { toggle(tr("show numbers"), &ConeChoice::numbers); });
  for (QToolButton* button : {follow_, numbers_}) button->setCheckable(true);
  add_button(line, QStringLiteral("$_ figure"), "explorer-figure-command",
             tr("Copy as command: the same figure from a terminal"), this,
             &ExplorerView::copy_figure_command);
  return row;
}

QComboBox* ExplorerView::build_heat() {
  QComboBox* choice = build_choice("heat", tr("The similarity that the heat layer shows"));
  for (const char* name : heat_similarities) {
    const figure::PlaneSimilarityInfo* other = figure::plane_similarity(name);
    add_entry(*choice, other == nullptr ? tr("heat: cones") : tr("heat: %1").arg(name),
              other == nullptr ? tr("log K(u, ·) of the cone family, as attention has it")
                               : QString::fromUtf8(other->formula),
              QString(name));
  }
  choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  return choice;
}

QComboBox* ExplorerView::build_depth() {
  QComboBox* choice =
      build_choice("depth", tr("What K reads of the lowest common ancestor"),
                   tr("Penumbral and umbral cones: K is minus the height of the LCA, or minus "
                      "its logarithm, the distance from the light; the other families have the "
                      "distance"));
  for (const char* name : cone_depths) choice->addItem(tr("depth: %1").arg(name), QString(name));
  choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  return choice;
}

QComboBox* ExplorerView::build_choice(const char* name, const QString& about, const QString& tip) {
  auto* choice = named(new QComboBox, QStringLiteral("explorer-") + name, about, tip);
  // The boxes are as wide as their texts if there is space; they do not widen a narrow dock.
  choice->setMinimumWidth(70);
  choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice->setMinimumContentsLength(6);
  return choice;
}

QComboBox* ExplorerView::build_beside() {
  QComboBox* choice = build_choice("beside", tr("Families side by side"),
                                   tr("The same u and v under another family, side by side"));
  choice->addItem(tr("alone"));
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    choice->addItem(tr("beside %1").arg(family->name), QString(family->name));
  }
  choice->addItem(tr("all five"), QStringLiteral("*"));
  // A list of several families is a placeholder, and no less chosen than an entry.
  follow_palette(choice, [choice] {
    const QColor ink = choice->palette().color(QPalette::ButtonText);
    if (choice->palette().color(QPalette::PlaceholderText) == ink) return;
    QPalette own;
    own.setColor(QPalette::PlaceholderText, ink);
    choice->setPalette(own);
  });
  return choice;
}

/// Shows the list of several families. The box has the width of its longest entry, so that its
/// neighbours stay where they are, unless the list is longer; a list without space is elided.
void ExplorerView::show_list_beside(const QString& list) {
  constexpr int frame = 34, widest = 380;  // Pixels; the frame includes the arrow.
  const QFontMetrics metrics = beside_->fontMetrics();
  int longest = 0;
  for (int i = 0; i < beside_->count(); ++i) {
    longest = std::max(longest, metrics.horizontalAdvance(beside_->itemText(i)));
  }
  const int most = std::max(longest, std::min(widest, width() - 20) - frame);
  const QString shown = metrics.elidedText(list, Qt::ElideRight, most);
  if (beside_->currentIndex() < 0) longest = std::max(longest, metrics.horizontalAdvance(shown));
  beside_->setPlaceholderText(shown);
  const int letter = std::max(1, metrics.horizontalAdvance('X'));
  beside_->setMinimumContentsLength((longest + letter - 1) / letter);
}

void ExplorerView::connect_tools() {
  connect(beside_, &QComboBox::currentIndexChanged, this, &ExplorerView::choose_beside);
  connect(heat_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("change the similarity of the heat"), [&](Session& s) {
      s.cones.similarity = heat_->itemData(index).toString().toStdString();
    });
  });
  connect(depth_, &QComboBox::currentIndexChanged, this,
          [this](int index) { set_parameter("depth", depth_->itemData(index).toString()); });
  connect(family_, &QComboBox::currentTextChanged, this, &ExplorerView::choose_family);
  connect(model_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("change the model"), [&](Session& s) {
      s.cones.model = model_->itemData(index).toString().toStdString();
      s.cones.camera.reset();
    });
  });
}

/// Shows the menu of the scene at a position in the viewport.
void ExplorerView::show_menu(const QPoint& at) {
  auto* menu = named(new QMenu(this), "explorer-menu");
  menu->setAttribute(Qt::WA_DeleteOnClose);
  for (const char* name : {"u", "v", "source"}) {
    if (std::string_view(name) == "source" && !finite_family(viewport_->choice())) continue;
    menu->addAction(tr("Put %1 here").arg(name), this,
                    [this, name, at] { viewport_->put_handle(name, at); });
  }
  menu->addSeparator();
  menu->addAction(tr("Copy the values"), this,
                  [this] { QGuiApplication::clipboard()->setText(readout()); });
  menu->addAction(tr("Copy as command"), this, &ExplorerView::copy_command);
  menu->addAction(tr("Copy the picture"), this, [this] { copy_picture(*viewport_); });
  menu->addAction(tr("Make a figure"), this, &ExplorerView::show_figure);
  menu->addSeparator();
  menu->addAction(tr("Fit the view"), this, &ExplorerView::fit);
  menu->popup(viewport_->mapToGlobal(at));
}

// ---- edits --------------------------------------------------------------------------------------

void ExplorerView::toggle(const QString& label, bool ConeChoice::*member) {
  workspace_.document().edit(label, [&](Session& s) { s.cones.*member = !(s.cones.*member); });
}

void ExplorerView::fit() { viewport_->fit_view(); }

void ExplorerView::copy_command() {
  QStringList words;
  for (const std::string& word : cone_command(viewport_->choice())) {
    words << QString::fromStdString(word);
  }
  emit text_copied(words.join(' '));
  report_left_out(command_leaves_out(viewport_->choice(), viewport_->tokens()));
}

void ExplorerView::show_figure() {
  const FigureChoice wanted = cone_figure(viewport_->choice(), viewport_->tokens());
  workspace_.document().edit(tr("make a figure of the cones"),
                             [&](Session& s) { s.figure = wanted; });
  report_left_out(figure_leaves_out(viewport_->choice(), viewport_->tokens()));
  emit figure_shown(left_out_);
}

void ExplorerView::copy_figure_command() {
  emit figure_command_wanted(cone_figure(viewport_->choice(), viewport_->tokens()));
  report_left_out(figure_leaves_out(viewport_->choice(), viewport_->tokens()));
}

void ExplorerView::report_left_out(const std::string& text) {
  left_out_ = QString::fromStdString(text);
  show_readout();
}

/// Sets a parameter of the shown family. With tokens it is that of their operator, which the maps
/// show too.
void ExplorerView::set_parameter(const QString& key, const QString& value) {
  const std::string name = key.toStdString(), text = value.toStdString();
  const bool tokens = viewport_->shows_tokens();
  workspace_.document().edit(
      tr("change %1").arg(key),
      [&](Session& s) {
        if (name == "depth") {
          s.cones.depth = text;
        } else {
          s.cones.parameters[name] = value.toDouble();
        }
        if (!tokens) return;
        for (Call& call : s.maps.calls) {
          if (!is_attention(call) || call.similarity != s.cones.family) continue;
          call.parameters[name] = text;
          break;
        }
      },
      "cone " + key);
}

/// The points stay as they are: if one lies outside the domain of the family, the picture says so.
void ExplorerView::choose_family(const QString& name) {
  const bool tokens = viewport_->shows_tokens();
  workspace_.document().edit(tr("change the cone family"), [&](Session& s) {
    if (!tokens) s.cones = viewport_->choice();
    // A family that is already shown beside it is exchanged with it.
    std::ranges::replace(s.cones.beside, name.toStdString(), s.cones.family);
    s.cones.family = name.toStdString();
    s.cones.camera.reset();
  });
}

void ExplorerView::choose_beside(int index) {
  const std::string name = beside_->itemData(index).toString().toStdString();
  workspace_.document().edit(tr("choose the families side by side"), [&](Session& s) {
    s.cones.beside.clear();
    s.cones.camera.reset();
    if (name != "*" && !name.empty()) s.cones.beside = {name};
    if (name != "*") return;
    for (const geometry::ConeFamily* family : geometry::cone_families()) {
      if (family->name != s.cones.family) s.cones.beside.emplace_back(family->name);
    }
  });
}

QString ExplorerView::point_help() {
  return tr("x, height in the half-plane; with all digits while it is edited");
}

QLabel* ExplorerView::add_field(QLayout* line, const QString& name,
                                std::array<double, 2> ConeChoice::*member) {
  auto* label = new QLabel(name);
  line->addWidget(label);
  auto* field = new PointField([this, member](QLineEdit& shown, bool edited) {
    const auto& now = viewport_->choice().*member;
    const QString few = short_text(now), all = field_text(now);
    if (shown.text() == (edited ? few : all)) shown.setText(edited ? all : few);
  });
  named(field, "explorer-" + name, tr("Coordinates of %1").arg(name), point_help());
  field->setMinimumWidth(60);
  line->addWidget(field);
  fields_.emplace_back(field, member);
  connect(field, &QLineEdit::editingFinished, this, [this, field, name, member] {
    try {
      const geometry::Vector p =
          geometry::parse_point(field->text().toStdString(), name.toStdString());
      if (p.size() != 2) misuse("{}: two numbers are needed", name.toStdString());
      const std::array<double, 2> typed = {p[0], p[1]};
      if (typed[1] <= 0) misuse("{}: its height must be above 0", name.toStdString());
      const auto& now = viewport_->choice().*member;
      const bool is_short = !field->isModified() && field->text() == short_text(now);
      if (is_short || field->text() == field_text(now)) return show_readout();
      workspace_.document().edit(tr("type %1").arg(name), [&](Session& s) {
        s.cones = viewport_->choice();
        keep_own_points(s);
        s.cones.*member = typed;
      });
    } catch (const Error& error) {
      readout_->show_text(QString::fromStdString(error.what()).toHtmlEscaped());
      // The text has been refused, so that Escape still takes it back.
      QMetaObject::invokeMethod(
          field, [field] { field->setModified(true); }, Qt::QueuedConnection);
    }
  });
  return label;
}

}  // namespace conelab::desktop
