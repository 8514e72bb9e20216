#include "widgets/explorer/explorer_view.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QResizeEvent>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/figure/text.h"
#include "core/geometry/lca_query.h"
#include "widgets/theme/flow_layout.h"

namespace conelab::desktop {
namespace {

/// For longer sequences the tokens' plane is not computed at every movement of the pointer.
constexpr std::int64_t most_followed = 4096;

constexpr QMargins readout_margins(12, 6, 12, 8);

/// Titles of `cone_models`, in the same order.
constexpr const char* model_titles[] = {"half-plane", "Poincaré ball",     "Klein ball",
                                        "band",       "hyperboloid (3-D)", "half-space H³ (3-D)"};
static_assert(std::size(model_titles) == std::size(cone_models));

QString exact(double value) { return QString::number(value, 'g', 12); }

/// Returns for instance "key 8 “Haus”".
QString token_name(const char* what, std::int64_t i, const std::string& text) {
  return QStringLiteral("%1 %2 “%3”")
      .arg(QLatin1String(what))
      .arg(i)
      .arg(QString::fromStdString(figure::clean_text(text)));
}

}  // namespace

ExplorerView::ExplorerView(Workspace& workspace, QWidget* parent)
    : QWidget(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(build_tools());
  build_scene();
  column->addWidget(stack_, 1);
  build_readout();
  column->addLayout(inset(readout_, readout_margins));
  constexpr int pause = 50;  // Milliseconds; numbers cannot be read faster.
  readout_pause_.setSingleShot(true);
  readout_pause_.setInterval(pause);
  connect(&readout_pause_, &QTimer::timeout, this, [this] {
    if (readout_waits_) show_readout();
  });
  connect(&workspace_.document(), &Document::changed, this, &ExplorerView::show_session);
  connect(&workspace_.document(), &Document::focus_changed, this, &ExplorerView::show_session);
  connect(&workspace_, &Workspace::trace_changed, this, &ExplorerView::show_session);
  connect(viewport_, &ExplorerViewport::scene_changed, this, &ExplorerView::show_readout);
  // Queued, because these signals are emitted while the viewport paints.
  connect(viewport_, &ExplorerViewport::token_pointed, this, &ExplorerView::point_at_token,
          Qt::QueuedConnection);
  connect(viewport_, &ExplorerViewport::token_chosen, this, &ExplorerView::choose_token,
          Qt::QueuedConnection);
  show_session();
  show_readout();
}

/// The token under the pointer is a key. It becomes the focus of all views, with the query of the
/// plane.
void ExplorerView::point_at_token(int token) {
  if (token >= 0 ? !pair_ : !pointing_) return;  // The focus of another view is not changed.
  pointing_ = token >= 0;
  workspace_.document().hover(pointing_ ? std::optional(Focus{pair_->query, token}) : std::nullopt);
}

void ExplorerView::choose_token(int token) {
  if (!pair_) return;
  const Focus pair{pair_->query, token};
  pointing_ = false;
  workspace_.document().hover(std::nullopt);
  workspace_.document().edit(
      tr("select a pair of tokens"), [&](Session& s) { s.locked = pair; }, "locked");
}

// ---- building -----------------------------------------------------------------------------------

void ExplorerView::build_scene() {
  viewport_ = new ExplorerViewport(workspace_.document());
  tables_ = new SceneTables;
  stack_ = new QStackedWidget;
  stack_->addWidget(viewport_);
  stack_->addWidget(tables_);
  connect(tables_, &SceneTables::token_chosen, this, [this](int token) {
    // Not if the table follows a choice made elsewhere.
    if (pair_ && pair_->key != token) choose_token(token);
  });
}

void ExplorerView::build_readout() {
  readout_ = new SteadyLabel;
  readout_->setObjectName("explorer-readout");
  readout_->setTextFormat(Qt::RichText);
  readout_->setWordWrap(true);
  readout_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  readout_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  readout_->setAccessibleName(tr("Exact values of the scene"));
  readout_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

/// Builds three rows of tools: family and model, the points, further families and export.
QWidget* ExplorerView::build_tools() {
  auto* tools = new QWidget;
  auto* rows = new QVBoxLayout(tools);
  rows->setContentsMargins(10, 4, 10, 4);
  rows->setSpacing(4);
  auto *first = new QHBoxLayout, *pair = new QHBoxLayout, *light = new QHBoxLayout;
  points_ = new QBoxLayout(QBoxLayout::LeftToRight);
  rows->addLayout(first);
  rows->addLayout(points_);
  points_->addLayout(pair, 2);
  points_->addLayout(light, 1);
  first->addWidget(family_ = build_families(), 1);
  first->addWidget(model_ = build_models(), 1);
  first->addWidget(add_button("command", QStringLiteral("$_"),
                              tr("Copy as command: the same numbers from a terminal")));
  add_field(pair, "u", &ConeChoice::u);
  add_field(pair, "v", &ConeChoice::v);
  add_field(light, "source", &ConeChoice::source);
  rows->addWidget(build_last_row());
  connect_tools();
  return tools;
}

QWidget* ExplorerView::build_last_row() {
  auto* row = new QWidget;
  auto* line = new FlowLayout(row);  // Continues in a new line in a narrow dock.
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(beside_ = build_beside());
  line->addWidget(numbers_ = add_button("numbers", tr("numbers"),
                                        tr("The same as a table: to read, to select, to copy")));
  numbers_->setCheckable(true);
  line->addWidget(
      add_button("figure", tr("figure"),
                 tr("This scene as a vector figure: opens it in Figures, to export or copy")));
  line->addWidget(add_button("figure-command", QStringLiteral("$_ figure"),
                             tr("Copy as command: the same figure from a terminal")));
  return row;
}

QComboBox* ExplorerView::build_choice(const char* name, const QString& about) {
  auto* choice = new QComboBox;
  choice->setObjectName(QStringLiteral("explorer-") + name);
  choice->setAccessibleName(about);
  // The boxes are as wide as their texts if there is space; they do not widen a narrow dock.
  choice->setMinimumWidth(70);
  choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice->setMinimumContentsLength(6);
  return choice;
}

QComboBox* ExplorerView::build_families() {
  QComboBox* choice = build_choice("family", tr("Cone family"));
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    choice->addItem(QString::fromUtf8(family->name));
    choice->setItemData(choice->count() - 1, QString::fromUtf8(family->about), Qt::ToolTipRole);
  }
  return choice;
}

QComboBox* ExplorerView::build_models() {
  QComboBox* choice = build_choice("model", tr("Model of the hyperbolic plane"));
  for (std::size_t i = 0; i < std::size(cone_models); ++i) {
    choice->addItem(QString::fromUtf8(model_titles[i]), QString(cone_models[i]));
  }
  return choice;
}

QComboBox* ExplorerView::build_beside() {
  QComboBox* choice = build_choice("beside", tr("Families side by side"));
  choice->setToolTip(tr("The same u and v under another family, side by side"));
  choice->addItem(tr("alone"));
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    choice->addItem(tr("beside %1").arg(family->name), QString(family->name));
  }
  choice->addItem(tr("all five"), QStringLiteral("*"));
  return choice;
}

QToolButton* ExplorerView::add_button(const char* name, const QString& text, const QString& about) {
  auto* button = new QToolButton;
  button->setObjectName(QStringLiteral("explorer-") + name);
  button->setText(text);
  button->setToolTip(about);
  connect(button, &QToolButton::clicked, this, [this, which = QString(name)] { leave(which); });
  return button;
}

void ExplorerView::connect_tools() {
  connect(beside_, &QComboBox::currentIndexChanged, this, &ExplorerView::choose_beside);
  connect(family_, &QComboBox::currentTextChanged, this, &ExplorerView::choose_family);
  connect(model_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("change the model"), [&](Session& s) {
      s.cones.model = model_->itemData(index).toString().toStdString();
      s.cones.camera.reset();
    });
  });
}

/// The source moves below the points if the three do not fit next to each other. The readout has as
/// many columns as fit.
void ExplorerView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  constexpr int roomy = 420;
  points_->setDirection(width() < roomy ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  if (event->size().width() != event->oldSize().width()) show_readout();
}

// ---- edits --------------------------------------------------------------------------------------

/// Shows the scene as a table, a command or a figure, and reports what the latter cannot contain.
void ExplorerView::leave(const QString& as) {
  const ConeChoice& choice = viewport_->choice();
  if (as == "numbers") {
    return workspace_.document().edit(choice.numbers ? tr("show the picture") : tr("show numbers"),
                                      [&](Session& s) { s.cones.numbers = !choice.numbers; });
  }
  if (as == "command") {
    QStringList words;
    for (const std::string& word : cone_command(choice)) words << QString::fromStdString(word);
    emit text_copied(words.join(' '));
  } else if (as == "figure-command") {
    emit figure_command_wanted(cone_figure(choice));
  } else {
    const FigureChoice wanted = cone_figure(choice);
    workspace_.document().edit(tr("make a figure of the cones"),
                               [&](Session& s) { s.figure = wanted; });
    emit figure_shown();
  }
  left_out_ = QString::fromStdString(as == "command" ? command_leaves_out(choice)
                                                     : figure_leaves_out(choice));
  show_readout();
}

void ExplorerView::choose_family(const QString& name) {
  workspace_.document().edit(tr("change the cone family"), [&](Session& s) {
    s.cones = viewport_->choice();
    s.cones.follow_tokens = false;
    // A family that is already shown beside it is exchanged with it.
    std::replace(s.cones.beside.begin(), s.cones.beside.end(), name.toStdString(), s.cones.family);
    s.cones.family = name.toStdString();
    s.cones.camera.reset();
    for (auto* p : {&s.cones.u, &s.cones.v}) {
      const PlanePoint inside = into_domain(s.cones, {(*p)[0], (*p)[1]});
      *p = {inside.x, inside.y};
    }
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

QLineEdit* ExplorerView::add_field(QLayout* line, const QString& name,
                                   std::array<double, 2> ConeChoice::*member) {
  auto* label = new QLabel(name);
  line->addWidget(label);
  auto* field = new QLineEdit;
  field->setObjectName("explorer-" + name);
  field->setAccessibleName(tr("Coordinates of %1").arg(name));
  field->setToolTip(tr("x, height in the half-plane; exact"));
  field->setMinimumWidth(60);
  line->addWidget(field);
  fields_.emplace_back(field, member);
  connect(field, &QLineEdit::editingFinished, this, [this, field, name, member] {
    try {
      const geometry::Vector p =
          geometry::parse_point(field->text().toStdString(), name.toStdString());
      if (p.size() != 2) misuse("{}: two numbers are needed", name.toStdString());
      const std::array<double, 2> typed = {p[0], p[1]};
      const auto& now = viewport_->choice().*member;
      if (field->text() == exact(now[0]) + ", " + exact(now[1])) return;
      workspace_.document().edit(tr("type %1").arg(name), [&](Session& s) {
        s.cones = viewport_->choice();
        s.cones.follow_tokens = false;
        s.cones.*member = typed;
      });
    } catch (const Error& error) {
      readout_->show_text(QString::fromStdString(error.what()).toHtmlEscaped());
    }
  });
  return field;
}

const HeadTokens* ExplorerView::tokens_of_head() {
  const auto& head = workspace_.head();
  const Session& session = workspace_.document().session();
  if (!head ||
      std::max(head->exact.query.shape.token, head->exact.key.shape.token) > most_followed) {
    return nullptr;
  }
  if (tokens_head_ == head && tokens_calls_ == session.maps.calls) {
    return tokens_ ? &*tokens_ : nullptr;
  }
  tokens_.reset();
  tokens_head_ = head;
  tokens_calls_ = session.maps.calls;
  for (const Call& call : session.maps.calls) {
    try {
      tokens_ =
          head_tokens(*head, call_of_head(call, workspace_.trace()->extents(), session.trace.head));
      if (tokens_) return &*tokens_;
    } catch (const Error&) {
      continue;  // The maps view reports the error of this operator.
    }
  }
  return nullptr;
}

/// Returns the session's scene, or the focused pair of tokens in its own plane with all keys.
TokenPlane ExplorerView::wanted() {
  no_plane_.clear();
  const Session& session = workspace_.document().session();
  const auto focus = pointing_ ? pair_ : workspace_.document().focused();
  pair_.reset();
  const HeadTokens* tokens = session.cones.follow_tokens && focus ? tokens_of_head() : nullptr;
  const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  if (tokens == nullptr || focus->query >= size(tokens->queries.elements) ||
      focus->key >= size(tokens->keys.elements)) {
    return {session.cones, {}};
  }
  const auto placed = [&](const auto& list, std::int64_t i, const QString& name) {
    if (std::isfinite(list[static_cast<std::size_t>(i)].radial)) return true;
    no_plane_ = tr("%1 has numbers that are not finite: its pairs have no plane, and the scene"
                   " does not follow them.")
                    .arg(name);
    return false;
  };
  if (!placed(tokens->queries.elements, focus->query, query_name(focus->query)) ||
      !placed(tokens->keys.elements, focus->key, key_name(focus->key))) {
    return {session.cones, {}};
  }
  pair_ = focus;
  return plane_of_pair(session.cones, *tokens, *focus);
}

void ExplorerView::show_session() {
  const ConeChoice before = viewport_->choice();
  TokenPlane plane = wanted();
  ConeChoice& choice = plane.choice;
  // The camera of a pair's plane is fitted, whatever the camera of the session.
  if (choice.follow_tokens) choice.camera = before.camera;
  const bool other = choice.model != before.model || choice.family != before.family ||
                     choice.beside.size() != before.beside.size() ||
                     choice.follow_tokens != before.follow_tokens;
  const bool pair = choice.follow_tokens && !(choice == before);
  if (!(choice == before)) left_out_.clear();
  viewport_->show_choice(choice);
  show_tokens(plane);
  if (pair || (other && !choice.camera)) viewport_->fit();
  show_choices(choice);
}

/// If neither one nor all of the other families are shown, the entry lists their names.
void ExplorerView::show_beside(const ConeChoice& choice) {
  const QSignalBlocker quiet(beside_);
  QStringList names;
  for (const std::string& family : choice.beside) names << QString::fromStdString(family);
  QString entry = names.value(0);
  if (names.size() > 1) {
    QStringList shown = names + QStringList(QString::fromStdString(choice.family));
    shown.removeDuplicates();
    const auto all = static_cast<qsizetype>(geometry::cone_families().size());
    entry = shown.size() == all ? QStringLiteral("*") : QString();
  }
  beside_->setPlaceholderText(tr("beside %1").arg(names.join(", ")));
  beside_->setCurrentIndex(names.isEmpty() ? 0 : beside_->findData(entry));
}

/// Updates the widgets above the viewport.
void ExplorerView::show_choices(const ConeChoice& choice) {
  const QSignalBlocker a(family_), b(model_);
  show_beside(choice);
  family_->setCurrentText(QString::fromStdString(choice.family));
  model_->setCurrentIndex(model_->findData(QString::fromStdString(choice.model)));
  numbers_->setChecked(choice.numbers);
  stack_->setCurrentIndex(choice.numbers ? 1 : 0);
  const bool finite = geometry::cone_family(choice.family).base == geometry::Base::sphere;
  for (const auto& [field, member] : fields_) {
    const auto& p = choice.*member;
    const QString text = exact(p[0]) + ", " + exact(p[1]);
    if (!field->hasFocus() && field->text() != text) {
      field->setText(text);
      field->setCursorPosition(0);
    }
    if (member == &ConeChoice::source) field->setEnabled(finite);
  }
}

void ExplorerView::show_tokens(const TokenPlane& plane) {
  const auto focus = workspace_.document().focused();
  TokenMarks marks{plane.keys, std::nullopt};
  if (focus && pair_) marks.focused = static_cast<std::size_t>(focus->key);
  viewport_->show_tokens(std::move(marks));
  show_readout();
}

QString ExplorerView::query_name(std::int64_t i) const {
  return token_name("query", i, workspace_.trace()->query_label(i));
}

QString ExplorerView::key_name(std::int64_t i) const {
  return token_name("key", i, workspace_.trace()->key_label(i));
}

QString ExplorerView::about_tokens() const {
  if (!no_plane_.isEmpty()) return no_plane_;
  const auto focus = workspace_.document().focused();
  if (!pair_ || !focus || !workspace_.trace()) return {};
  QString text = tr("u is %1, v is %2.").arg(query_name(pair_->query), key_name(pair_->key));
  const auto& places = viewport_->tokens().places;
  const auto key = static_cast<std::size_t>(focus->key);
  if (pointing_ && focus->key != pair_->key && key < places.size()) {
    ConeChoice other = viewport_->choice();
    const PlanePoint& at = places[key];
    other.v = {at.x, at.y};
    text += tr(" Under the pointer: %1, K(u, ·) = %2.")
                .arg(key_name(focus->key), exact(cone_scene(other).law.depth));
  } else {
    text += tr(" Point at a token for its K(u, ·).");
  }
  return text + tr(" Points are the head's keys: their heights and their distance to u are exact,"
                   " so u's cone and K(u, ·) are too; distances between two keys are not.");
}

QString ExplorerView::readout() const {
  QString text = about_tokens();
  if (!text.isEmpty()) text += "\n";
  for (const auto& [name, value] : cone_readout(viewport_->choice(), viewport_->scene())) {
    text += QString::fromStdString(name + ": " + value + "\n");
  }
  return text;
}

// Laying out and painting the readout costs more than the scene. While a point is dragged, this is
// therefore not done in every frame.
void ExplorerView::show_readout() {
  readout_waits_ = readout_pause_.isActive();
  if (readout_waits_) return;
  readout_pause_.start();
  write_readout();
  write_tables();
}

void ExplorerView::write_tables() {
  viewport_->setAccessibleDescription(readout());
  if (!viewport_->choice().numbers) return;
  std::vector<ShownScene> panes;
  for (std::size_t i = 0; i < viewport_->pane_count(); ++i) panes.push_back(viewport_->shown(i));
  TokenNames tokens;
  if (const auto& trace = workspace_.trace(); pair_ && trace) {
    tokens.places = viewport_->tokens().places;
    for (std::size_t i = 0; i < tokens.places.size(); ++i) {
      tokens.names.push_back(trace->key_label(static_cast<std::int64_t>(i)));
    }
  }
  tables_->show_scene(panes, tokens);
}

void ExplorerView::write_readout() {
  QString html = "<table cellspacing='0'>";
  // As wide as complete numbers, so that columns do not move while a point is dragged.
  const int pair = readout_->fontMetrics().horizontalAdvance(
      QStringLiteral("potential u  -0.123456789012, -0.123456789012 "));
  const int room = width() - readout_margins.left() - readout_margins.right();
  const int columns = room < 2 * pair + 46 ? 1 : 2;
  int column = 0;
  for (const auto& [name, value] : cone_readout(viewport_->choice(), viewport_->scene())) {
    if (column == 0) html += "<tr>";
    html += QStringLiteral(
                "<td style='padding-right:8px'><i>%1</i></td>"
                "<td style='padding-right:22px'>%2</td>")
                .arg(QString::fromStdString(name).toHtmlEscaped(),
                     QString::fromStdString(value).toHtmlEscaped());
    column = (column + 1) % columns;
    if (column == 0) html += "</tr>";
  }
  html += "</table>";
  for (const QString& line : {about_tokens(), left_out_}) {
    if (!line.isEmpty()) html += "<p>" + with_values_bound(line).toHtmlEscaped() + "</p>";
  }
  const bool anew = std::exchange(readout_columns_, columns) != columns;
  anew ? readout_->show_new_text(html) : readout_->show_text(html);
}

}  // namespace conelab::desktop
