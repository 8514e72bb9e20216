#include "widgets/maps/map_menu.h"

#include <QClipboard>
#include <QGuiApplication>

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
  const MapChoice& choice = session.maps;
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

}  // namespace conelab::desktop
