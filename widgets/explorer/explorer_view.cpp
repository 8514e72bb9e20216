#include "widgets/explorer/explorer_view.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QResizeEvent>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/drawing/text.h"
#include "core/geometry/lca_query.h"
#include "widgets/theme/flow_layout.h"

namespace conelab::desktop {
namespace {

/// For longer sequences the tokens' plane is not computed at every movement of the pointer.
constexpr std::int64_t most_followed = 4096;

constexpr QMargins readout_margins(12, 6, 12, 8);

/// Returns for instance "key 8 “Haus”".
QString token_name(const char* what, std::int64_t i, const std::string& text) {
  return QStringLiteral("%1 %2 “%3”")
      .arg(QLatin1String(what))
      .arg(i)
      .arg(QString::fromStdString(figure::token_text(text)));
}

}  // namespace

ExplorerView::ExplorerView(Workspace& workspace) : workspace_(workspace) {
  auto* column = laid_out<QVBoxLayout>(this, {}, 0);
  column->addWidget(build_tools());
  build_scene();
  column->addWidget(stack_, 1);
  readout_ = text_label<SteadyLabel>("explorer-readout", tr("Exact values of the scene"));
  readout_->setTextFormat(Qt::RichText);
  readout_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
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

/// The source moves below the points if the three do not fit next to each other. The readout has as
/// many columns as fit.
void ExplorerView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  constexpr int roomy = 420;
  points_->setDirection(width() < roomy ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  show_beside(viewport_->choice());
  if (event->size() != event->oldSize()) show_readout();
}

/// Returns the tokens under the operator of the session's family. If they have no places,
/// `no_plane_` says why.
const HeadTokens* ExplorerView::tokens_of_head() {
  const auto& head = workspace_.head();
  const auto& trace = workspace_.trace();
  const Session& session = workspace_.document().session();
  if (!head || !trace) return nullptr;
  if (trace->stored) {
    no_plane_ = tr("A result of attend holds no places of tokens: u and v are points of your own.");
    return nullptr;
  }
  if (std::max(head->exact.query.shape.token, head->exact.key.shape.token) > most_followed) {
    no_plane_ =
        tr("The head has more than %1 tokens: they are not shown as points.").arg(most_followed);
    return nullptr;
  }
  try {
    const Call call = call_of_head(call_of_tokens(session.maps.calls, session.cones),
                                   trace->extents(), session.trace.head);
    if (tokens_head_ != head || !(tokens_call_ == call)) {
      tokens_.reset();
      tokens_head_ = head, tokens_call_ = call;
      tokens_ = head_tokens(*head, call);
      key_names_.clear();
      for (std::int64_t i = 0; i < head->exact.key.shape.token; ++i) {
        key_names_.push_back(figure::token_text(trace->key_label(head->batch_index, i)));
      }
      const TokenTexts texts = {
          [&](std::int64_t i) { return trace->query_label(head->batch_index, i); },
          [&](std::int64_t i) { return trace->key_label(head->batch_index, i); }};
      first_pair_ = tokens_ ? first_pair(*tokens_, texts) : std::nullopt;
    }
  } catch (const Error& error) {
    no_plane_ = tr("The tokens have no places: %1").arg(error.what());
    tokens_head_.reset();
    return nullptr;
  }
  return tokens_ ? &*tokens_ : nullptr;
}

/// Returns the pair whose plane is shown: the focused one, or else the one for the first sight of
/// the head.
std::optional<Focus> ExplorerView::wanted_pair(const HeadTokens& tokens) const {
  const auto focus = pointing_ ? pair_ : workspace_.document().focused();
  const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  const bool inside = focus && focus->query < size(tokens.queries.elements) &&
                      focus->key < size(tokens.keys.elements);
  return inside ? focus : first_pair_;
}

/// Returns the session's scene, or a pair of tokens in its own plane with all keys.
TokenPlane ExplorerView::wanted() {
  no_plane_.clear();
  const Session& session = workspace_.document().session();
  const HeadTokens* tokens = session.cones.follow_tokens ? tokens_of_head() : nullptr;
  const auto pair = tokens == nullptr ? std::nullopt : wanted_pair(*tokens);
  pair_.reset();
  if (!pair) {
    if (tokens != nullptr) {
      no_plane_ = tr("No query and key of the head have a plane: their numbers are not finite.");
    }
    return {session.cones, {}};
  }
  const auto placed = [&](const auto& list, std::int64_t i, const QString& name) {
    if (std::isfinite(list[static_cast<std::size_t>(i)].radial)) return true;
    no_plane_ = tr("%1 has numbers that are not finite: its pairs have no plane, and the scene"
                   " does not follow them.")
                    .arg(name);
    return false;
  };
  if (!placed(tokens->queries.elements, pair->query, query_name(pair->query)) ||
      !placed(tokens->keys.elements, pair->key, key_name(pair->key))) {
    return {session.cones, {}};
  }
  pair_ = pair;
  return plane_of_pair(session.cones, *tokens, *pair);
}

/// Returns the tokens of a plane with their names.
TokenMarks ExplorerView::marks_of(const TokenPlane& plane) const {
  TokenMarks marks;
  const auto& trace = workspace_.trace();
  if (!pair_ || !trace) return marks;
  const auto focus = workspace_.document().focused();
  marks.places = plane.keys;
  marks.names = key_names_;
  marks.edges = trace->edges;
  marks.query = figure::token_text(trace->query_label(batch(), pair_->query));
  marks.key = static_cast<std::size_t>(pair_->key);
  marks.focused = static_cast<std::size_t>((focus ? *focus : *pair_).key);
  return marks;
}

/// A view that is not seen follows nothing: the tokens of a long head take time.
void ExplorerView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  show_session();
}

void ExplorerView::show_session() {
  if (!isVisible() && shown_once_) return;
  shown_once_ = true;
  TokenPlane plane = wanted();
  ConeChoice as_before = plane.choice;
  as_before.camera = viewport_->choice().camera;
  if (!(as_before == viewport_->choice())) left_out_.clear();
  viewport_->expect_more(workspace_.shows_live());
  viewport_->show_scene(plane.choice, marks_of(plane));
  show_readout();
  show_choices(plane.choice);
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
  const auto& entries = *qobject_cast<QStandardItemModel*>(beside_->model());
  for (int i = 0; i < beside_->count(); ++i) {
    const bool is_shown = beside_->itemData(i).toString().toStdString() == choice.family;
    entries.item(i)->setEnabled(!is_shown);
    entries.item(i)->setToolTip(is_shown ? tr("This family is shown already") : QString());
  }
  beside_->setCurrentIndex(names.isEmpty() ? 0 : beside_->findData(entry));
  show_list_beside(tr("beside %1").arg(names.join(", ")));
}

/// Updates the widgets above the viewport.
void ExplorerView::show_choices(const ConeChoice& choice) {
  const QSignalBlocker a(family_), b(model_), c(heat_), d(depth_);
  show_beside(choice);
  family_->setCurrentText(QString::fromStdString(choice.family));
  model_->setCurrentIndex(model_->findData(QString::fromStdString(choice.model)));
  heat_->setCurrentIndex(heat_->findData(QString::fromStdString(choice.similarity)));
  depth_->setCurrentIndex(depth_->findData(QString::fromStdString(choice.depth)));
  show_follow(choice);
  heat_->setEnabled(choice.model != "space");
  heat_->setToolTip(heat_->isEnabled()
                        ? tr("What heat and level lines show: log K(u, ·) of the cones, or another "
                             "similarity of the half-plane's points with u")
                        : tr("No heat is drawn in H³: choose another model to see one"));
  numbers_->setChecked(choice.numbers);
  stack_->setCurrentIndex(choice.numbers ? 1 : 0);
  const auto has_depth = [](const std::string& family) {
    return geometry::cone_family(family).base == geometry::Base::plane;
  };
  depth_->setEnabled(has_depth(choice.family) || std::ranges::any_of(choice.beside, has_depth));
  for (const auto& [field, member] : fields_) {
    const auto& p = choice.*member;
    const QString text = field->hasFocus() ? field_text(p) : short_text(p);
    const bool is_edited = field->hasFocus() && field->isModified();
    if (!is_edited && field->text() != text) {
      field->setText(text);
      field->setCursorPosition(0);
    }
  }
  const bool has_source = finite_family(choice);
  QLineEdit* source = fields_.back().first;
  source->setEnabled(has_source);
  source_label_->setEnabled(has_source);
  source->setToolTip(has_source ? point_help()
                                : tr("The light of %1 is infinitely far away: choose a finite "
                                     "family to place it")
                                      .arg(QString::fromStdString(choice.family)));
}

/// Without places of tokens there is nothing to follow, whatever the session says of later files.
void ExplorerView::show_follow(const ConeChoice& choice) {
  const auto& trace = workspace_.trace();
  const bool possible = trace && !trace->stored;
  follow_->setEnabled(possible);
  follow_->setChecked(possible && choice.follow_tokens);
  follow_->setToolTip(
      possible
          ? tr("u and v are the pair of tokens in focus, in their own plane, with all keys of "
               "the head as points. Their heights and their distance to u are exact, so u's "
               "cone and log K(u, ·) are too; distances between two keys are not. A point that is "
               "typed or dragged switches it off")
      : trace ? tr("A result of attend holds no places of tokens: open a trace to follow them")
              : tr("No file is open: open a trace to follow its tokens"));
}

std::int64_t ExplorerView::batch() const { return workspace_.document().session().trace.batch; }

QString ExplorerView::query_name(std::int64_t i) const {
  return token_name("query", i, workspace_.trace()->query_label(batch(), i));
}

QString ExplorerView::key_name(std::int64_t i) const {
  return token_name("key", i, workspace_.trace()->key_label(batch(), i));
}

QString ExplorerView::about_tokens(bool brief) const {
  if (!no_plane_.isEmpty()) return no_plane_;
  const auto focus = workspace_.document().focused();
  if (!pair_ || !workspace_.trace()) return {};
  QString pointed;
  if (pointing_ && focus && focus->key != pair_->key) pointed = about_token(focus->key);
  if (brief) {
    return pointed.isEmpty() ? tr("Distances to u are exact, those between keys are not.")
                             : pointed.trimmed();
  }
  QString text = tr("u is %1, v is %2.").arg(query_name(pair_->query), key_name(pair_->key));
  text += pointed;
  text +=
      tr(" Points are the keys of head %1: where they are to u is exact, to each other it is not.")
          .arg(workspace_.document().session().trace.head);
  if (other_similarity(viewport_->choice())) {
    text += tr(" The heat is of points of this plane, not of the tokens' vectors.");
  }
  return text;
}

/// Describes the token under the pointer.
QString ExplorerView::about_token(std::int64_t key) const {
  const auto& places = viewport_->tokens().places;
  if (key < 0 || key >= static_cast<std::int64_t>(places.size())) return {};
  ConeChoice other = viewport_->choice();
  const PlanePoint& at = places[static_cast<std::size_t>(key)];
  other.v = {at.x, at.y};
  const ConeScene scene = cone_scene(other);
  return tr(" Under the pointer: %1, %2 = %3.")
      .arg(key_name(key), QString::fromStdString(similarity_name(scene, "u, ·")),
           QString::fromStdString(exact_text(scene.similarity)));
}

QString ExplorerView::field_text(const std::array<double, 2>& p) {
  return QString::fromStdString(fmt::format("{}, {}", p[0], p[1]));
}

QString ExplorerView::short_text(const std::array<double, 2>& p) {
  return QString::fromStdString(fmt::format("{:.4g}, {:.4g}", p[0], p[1]));
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
  tables_->show_scene(panes, viewport_->tokens());
}

namespace {

/// Returns a text with its numbers rounded to six digits.
QString with_six_digits(const QString& text) {
  static const QRegularExpression number(QStringLiteral("-?\\d+\\.\\d+(e[-+]?\\d+)?"));
  QString rounded;
  qsizetype at = 0;
  for (auto each = number.globalMatch(text); each.hasNext();) {
    const QRegularExpressionMatch match = each.next();
    rounded += text.mid(at, match.capturedStart() - at);
    rounded += QString::number(match.captured().toDouble(), 'g', 6);
    at = match.capturedEnd();
  }
  return rounded + text.mid(at);
}

}  // namespace

void ExplorerView::write_readout() {
  QString html = "<table cellspacing='0'>";
  // As wide as complete numbers, so that columns do not move while a point is dragged.
  const int pair = readout_->fontMetrics().horizontalAdvance(
      QStringLiteral("u in the half-plane  -0.123456, -0.123456 "));
  const int room = width() - readout_margins.left() - readout_margins.right();
  const int columns = room < 2 * pair + 46 ? 1 : 2;
  int column = 0;
  readout_->setToolTip(readout().trimmed());  // With all digits.
  for (const auto& [name, value] : cone_readout(viewport_->choice(), viewport_->scene())) {
    if (column == 0) html += "<tr>";
    html += QStringLiteral(
                "<td style='padding-right:8px'><i>%1</i></td>"
                "<td style='padding-right:22px'>%2</td>")
                .arg(QString::fromStdString(name).toHtmlEscaped(),
                     with_six_digits(QString::fromStdString(value)).toHtmlEscaped());
    column = (column + 1) % columns;
    if (column == 0) html += "</tr>";
  }
  html += "</table>";
  // The tools need the space of the whole text in a low window; the picture shows its names.
  constexpr int low = 640;
  for (const QString& line : {about_tokens(height() < low), left_out_}) {
    if (line.isEmpty()) continue;
    const QString bound = with_values_bound(line).replace("(u, ·)", "(u,\u00a0·)");
    html += "<p>" + bound.toHtmlEscaped() + "</p>";
  }
  const bool anew = std::exchange(readout_columns_, columns) != columns;
  anew ? readout_->show_new_text(html) : readout_->show_text(html);
}

}  // namespace conelab::desktop
