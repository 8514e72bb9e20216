#include "widgets/maps/map_menu.h"

#include <QBoxLayout>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

#include "widgets/maps/map_tokens.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// Returns the tokens of a cell as an index of an array: "3", or "3:6" for three pieces of a word.
QString index_of_cell(const MapAxis& axis, std::int64_t cell) {
  const auto at = static_cast<std::size_t>(cell);
  const std::int64_t begin = axis.first[at], end = axis.first[at + 1];
  return end - begin == 1 ? QString::number(begin) : QString("%1:%2").arg(begin).arg(end);
}

void copy(const QString& text) { QGuiApplication::clipboard()->setText(text); }

}  // namespace

void add_largest_keys(QMenu& menu, const MapPanel& panel, std::int64_t query,
                      const std::function<void(const Focus&)>& choose) {
  constexpr std::size_t shown = 5;
  const auto keys = MapsModel::largest_keys(panel, query, shown);
  if (keys.empty()) return;
  const auto text = [](const std::string& of) {
    return QString::fromStdString(of).replace('&', "&&");
  };
  menu.addSection(QObject::tr("%1: largest keys of %2")
                      .arg(text(panel.title), text(panel.tokens->query.text_of(query))));
  for (const auto& [key, value] : keys) {
    const QAction* action = menu.addAction(QStringLiteral("%1   %2").arg(
        QString::number(value, 'g', 4), text(panel.tokens->key.brief_of(key))));
    QObject::connect(action, &QAction::triggered, &menu,
                     [choose, cell = Focus{query, key}] { choose(cell); });
  }
}

QString number_of_cell(const Session& session, const MapTokens& tokens, const Focus& cell) {
  const bool weights = session.maps.quantity == "weights";
  const QString name = weights ? "/attention/weights/weight" : "/attention/logits/logit";
  const QString row = index_of_cell(tokens.query, cell.query),
                column = index_of_cell(tokens.key, cell.key);
  QString text = QString("%1[%2, %3, %4, %5]")
                     .arg(name)
                     .arg(session.trace.batch)
                     .arg(session.trace.head)
                     .arg(row, column);
  if (!row.contains(':') && !column.contains(':')) return text;
  return text + (weights ? QObject::tr(", the mean over queries of the sum over keys")
                         : QObject::tr(", their mean"));
}

MapMenu::MapMenu(MapsModel& maps, EntropyMatcher& matcher, std::size_t panel,
                 const std::optional<Focus>& cell, QWidget* parent)
    : QMenu(parent), maps_(maps), matcher_(matcher) {
  setObjectName("maps-menu");
  setAttribute(Qt::WA_DeleteOnClose);
  const auto shown = maps_.panels().at(panel);
  if (cell && shown->pyramid) {
    add_largest_keys(*this, *shown, cell->query, [this](const Focus& c) { emit cell_chosen(c); });
    addSeparator();
    add_values(shown, *cell);
    if (!maps_.compares()) add_command(panel, *cell);
  }
  connect(addAction(tr("Copy the picture")), &QAction::triggered, this, &MapMenu::picture_wanted);
  addSeparator();
  add_choices(shown->operation);
}

void MapMenu::add_values(const std::shared_ptr<MapPanel>& panel, const Focus& cell) {
  MapsModel* maps = &maps_;
  connect(addAction(tr("Copy the value")), &QAction::triggered, maps, [maps, panel, cell] {
    maps->with_exact_row(panel, cell.query, [panel, cell] {
      copy(QString::fromStdString(MapsModel::exact_text(*panel, cell)));
    });
  });
  connect(addAction(tr("Copy the row")), &QAction::triggered, maps, [maps, panel, cell] {
    maps->with_exact_row(panel, cell.query, [panel, cell] {
      QStringList values;
      for (std::int64_t key = 0; key < panel->pyramid->columns(); ++key) {
        values << QString::fromStdString(MapsModel::exact_text(*panel, {cell.query, key}));
      }
      copy(values.join('\t'));
    });
  });
}

void MapMenu::add_command(std::size_t index, const Focus& cell) {
  const Session& session = maps_.workspace().document().session();
  const MapChoice choice = shown_maps(session.maps, maps_.workspace().trace().get());
  std::vector<Call> calls = {choice.calls.at(index)};
  QString note = number_of_cell(session, maps_.tokens(), cell);
  if (maps_.panels().at(index)->difference) {
    calls.push_back(*reference_call(choice));
    note += tr("; the first minus the second");
  }
  connect(addAction(tr("Copy the cell as a command")), &QAction::triggered, this,
          [this, calls, note] { emit commands_wanted(calls, note); });
}

void MapMenu::add_choices(std::size_t index) {
  Document& document = maps_.workspace().document();
  const bool is_reference = document.session().maps.reference == static_cast<int>(index);
  connect(addAction(is_reference ? tr("Show no differences") : tr("Set as reference")),
          &QAction::triggered, &document, [&document, is_reference, index] {
            document.edit(tr("change the reference"), [&](Session& s) {
              s.maps.reference = is_reference ? -1 : static_cast<int>(index);
            });
          });
  if (!matcher_.can_match(index)) return;
  EntropyMatcher* matcher = &matcher_;
  connect(addAction(tr("Match entropy of dot")), &QAction::triggered, matcher,
          [matcher, index] { matcher->match({index}); });
}

namespace {

constexpr int text_lines = 2;  ///< For which the notice has space.

/// Two digits, or 100.
QString percent(double share) { return QString::number(100 * share, 'g', share < 0.995 ? 2 : 3); }

}  // namespace

MapNotice::MapNotice(MapsModel& maps, EntropyMatcher& matcher) : maps_(maps), matcher_(matcher) {
  setObjectName("maps-notice");
  auto* line = laid_out<QHBoxLayout>(this, {12, 2, 12, 4}, 8);
  text_ = named(new QLabel, "maps-notice-text");
  text_->setWordWrap(true);
  text_->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  text_->setFixedHeight(text_lines * text_->fontMetrics().lineSpacing());
  offers_ = new QWidget;
  auto* buttons = laid_out<QHBoxLayout>(offers_, {}, line->spacing());
  line->addWidget(text_, 1);
  line->addWidget(offers_);
  own_ = add_button<QPushButton>(buttons, tr("Own limits"), "maps-own-limits",
                                 tr("Each map uses all colours for its own values"), this, [this] {
                                   maps_.workspace().document().edit(
                                       tr("change limits"),
                                       [](Session& s) { s.maps.shared_limits = false; });
                                 });
  match_ = add_button<QPushButton>(buttons, tr("Match entropy of dot"), "maps-match-entropy", {},
                                   this, [this] { matcher_.match(flat_panels()); });
  for (QPushButton* button : {own_, match_}) {
    keep_place_when_hidden(*button);
    buttons->setAlignment(button, Qt::AlignVCenter);
  }
  connect(&maps_, &MapsModel::progressed, this, &MapNotice::refresh);
  connect(&maps_, &MapsModel::panels_changed, this, [this] {
    matcher_.forget_error();
    refresh();
  });
  connect(&matcher_, &EntropyMatcher::changed, this, &MapNotice::refresh);
  setMinimumHeight(sizeHint().height());  // It is not lower without buttons.
  hide();
}

void MapNotice::set_wanted(bool wanted) {
  wanted_ = wanted;
  refresh();
}

void MapNotice::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  layout()->activate();
  refresh();
}

std::vector<std::size_t> MapNotice::flat_panels() const {
  std::vector<std::size_t> flat;
  if (maps_.compares()) return flat;  // Entropies are matched on one head.
  const auto& panels = maps_.panels();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (panels[i]->failed()) continue;
    if (!panels[i]->pyramid->complete()) return {};
    if (maps_.flat(*panels[i])) flat.push_back(i);
  }
  return flat;
}

QString MapNotice::text_of(const std::vector<std::size_t>& flat) const {
  const auto& panels = maps_.panels();
  if (flat.empty()) {
    double least = 1;
    for (const auto& panel : panels) {
      if (!panel->failed()) least = std::min(least, maps_.used_colours(*panel));
    }
    if (least >= 0.995) return tr("Every map uses all of the shared colours.");
    return tr("Every map uses at least %1 % of the shared colours.").arg(percent(least));
  }
  double most = 0;
  for (const std::size_t i : flat) most = std::max(most, maps_.used_colours(*panels[i]));
  const QString share = percent(most);
  if (flat.size() > 1) {
    return tr("%1 maps use at most %2 % of the shared colours.").arg(flat.size()).arg(share);
  }
  QString title = QString::fromStdString(panels[flat.front()]->title), text;
  const QRect room(0, 0, text_->width(), 0);
  for (;;) {  // A long title is cut until the sentence has space.
    text = tr("%1 uses %2 % of the shared colours.").arg(title, share);
    const int high = text_->fontMetrics().boundingRect(room, Qt::TextWordWrap, text).height();
    if (high <= text_->height() || title.size() < 8) return text;
    title = title.left(title.size() - 4).trimmed() + QStringLiteral(" …");
  }
}

void MapNotice::refresh() {
  const MapChoice& choice = maps_.workspace().document().session().maps;
  std::size_t count = 0, complete = 0;
  for (const auto& panel : maps_.panels()) {
    count += panel->failed() ? 0 : 1;
    complete += !panel->failed() && panel->pyramid->complete() ? 1 : 0;
  }
  setVisible(wanted_ && choice.shared_limits && count > 1 && !maps_.compares());
  if (isHidden()) return;
  if (matcher_.busy() || complete < count) {
    text_->setText(maps_.cancelled() ? tr("The maps are incomplete.") : tr("computing …"));
    own_->setEnabled(false), match_->setEnabled(false);
    return;
  }
  const std::vector<std::size_t> flat = flat_panels();
  const QString error = QString::fromStdString(matcher_.error());
  offers_->setVisible(!flat.empty());
  layout()->activate();  // The text is cut to the width that the buttons leave.
  text_->setText(error.isEmpty() ? text_of(flat) : error);
  text_->setToolTip(error);
  own_->setEnabled(true), match_->setEnabled(true);
  const auto can =
      std::ranges::find_if(flat, [this](std::size_t i) { return matcher_.can_match(i); });
  match_->setVisible(can != flat.end() && error.isEmpty());
  if (can == flat.end()) return;
  const QString key = QString::fromStdString(sharpness_key(choice.calls[*can]).value_or(""));
  match_->setToolTip(tr("Sets %1 so that the mean entropy of the rows equals that of dot on this "
                        "head: then the attention is as concentrated")
                         .arg(key));
}

}  // namespace conelab::desktop
