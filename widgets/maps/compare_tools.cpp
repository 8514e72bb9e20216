#include "widgets/maps/compare_tools.h"

#include <QBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>

#include "widgets/dialogs/file_dialogs.h"
#include "widgets/maps/map_tokens.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

/// Roles of an entry: its file and its group. A file that was not looked into has no group, and
/// "another file …" has neither.
constexpr int file_role = Qt::UserRole, group_role = Qt::UserRole + 1;
constexpr int layer_width = 116;  ///< Of any file.

}  // namespace

void fill_heads(QComboBox& box, std::int64_t heads) {
  const std::pair<QString, QString> of_joins[] = {
      {QObject::tr("mean"), QObject::tr("The mean of the heads of the layer, cell by cell")},
      {QObject::tr("maximum"), QObject::tr("The largest cell of the heads of the layer")},
      {QObject::tr("rollout"),
       QObject::tr("Attention rollout from the first layer to this one (Abnar and Zuidema 2020)")}};
  static_assert(std::size(of_joins) + 1 == std::size(head_joins));
  const int count =
      heads == 0 ? 0 : static_cast<int>(heads) + static_cast<int>(std::size(of_joins));
  if (box.count() == count) return;
  box.clear();
  for (std::int64_t i = 0; i < heads; ++i) box.addItem(QObject::tr("head %1").arg(i));
  for (std::size_t i = 0; heads > 0 && i < std::size(of_joins); ++i) {
    add_entry(box, of_joins[i].first, of_joins[i].second, QString(head_joins[i + 1]));
  }
}

void show_head(QComboBox& box, std::int64_t head, const std::string& join) {
  const int joined = box.findData(QString::fromStdString(join));
  box.setCurrentIndex(joined < 0 ? static_cast<int>(head) : joined);
}

void take_head(const QComboBox& box, int entry, std::int64_t& head, std::string& join) {
  const QString joined = box.itemData(entry).toString();
  join = joined.isEmpty() ? head_joins[0] : joined.toStdString();
  if (joined.isEmpty()) head = entry;
}

CompareTools::CompareTools(Workspace& workspace, SecondTrace& second)
    : workspace_(workspace), second_(second) {
  auto* line = laid_out<QHBoxLayout>(this, {}, 6);
  const auto add = [&](const char* name, const QString& accessible, const QString& help) {
    auto* box = named(new QComboBox, QLatin1String(name), accessible, help);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    line->addWidget(box);
    return box;
  };
  layer_ = add("maps-beside", tr("Compared layer"),
               tr("Shows another layer, head or file beside each map, and the difference where the"
                  " sizes agree; hold R over the maps to let the two change places"));
  layer_->setFixedWidth(layer_width);
  head_ = add("maps-beside-head", tr("Compared head"), tr("The head of the compared layer"));
  connect(layer_, &QComboBox::activated, this, &CompareTools::choose_layer);
  connect(head_, &QComboBox::activated, this, &CompareTools::choose_head);
  connect(&workspace_.document(), &Document::changed, this, &CompareTools::refill);
  connect(&workspace_, &Workspace::trace_changed, this, &CompareTools::refill);
  connect(&second_, &SecondTrace::changed, this, &CompareTools::refill);
  refill();
}

void CompareTools::add_layer(const QString& text, const std::string& file,
                             const std::string& group) {
  layer_->addItem(text);
  layer_->setItemData(layer_->count() - 1, QString::fromStdString(file), file_role);
  layer_->setItemData(layer_->count() - 1, QString::fromStdString(group), group_role);
}

void CompareTools::add_layers(const std::string& file, const std::vector<std::string>& groups) {
  const auto& open = workspace_.trace();
  const QString name = workspace_.document().name_of(file);
  for (const std::string& group : groups) {
    QString text = QString::fromStdString(group_title(group));
    if (!open || file != open->file) text = name + ": " + text;
    add_layer(tr("with %1").arg(text), file, group);
  }
}

void CompareTools::refill() {
  const QSignalBlocker quiet(layer_), silent(head_);
  const auto& beside = workspace_.document().session().maps.beside;
  const auto& open = workspace_.trace();
  layer_->clear();
  layer_->addItem(tr("no comparison"));
  if (open) add_layers(open->file, workspace_.groups());
  if (open && open->stored && workspace_.groups().size() > 1) {
    add_layer(tr("with all arrays"), open->file, all_arrays);
  }
  if (beside && (!open || beside->file != open->file)) {
    const bool known = second_.trace() && second_.trace()->file == beside->file;
    add_layers(beside->file, known ? second_.groups() : std::vector{beside->group});
  }
  for (const QString& file : second_.offered()) {
    const std::string path = file.toStdString();
    if (!open || path == open->file || (beside && path == beside->file)) continue;
    layer_->addItem(tr("with %1 …").arg(workspace_.document().name_of(file)));
    layer_->setItemData(layer_->count() - 1, file, file_role);
  }
  layer_->addItem(tr("with another file …"));
  widen_list(*layer_);
  for (int i = 0; beside && i < layer_->count(); ++i) {
    if (layer_->itemData(i, file_role).toString().toStdString() == beside->file &&
        layer_->itemData(i, group_role).toString().toStdString() == beside->group) {
      layer_->setCurrentIndex(i);
    }
  }
  const auto& trace = second_.trace();
  head_->setVisible(beside && trace && beside->group != all_arrays);
  if (!beside || !trace) return;
  fill_heads(*head_, trace->extents().head);
  show_head(*head_, beside->head, beside->join);
}

void CompareTools::choose_layer(int entry) {
  if (entry == layer_->count() - 1) return open_file();
  const auto& open = workspace_.trace();
  if (!open) return;
  if (entry > 0 && !layer_->itemData(entry, group_role).isValid()) {
    const QString offered = layer_->itemData(entry, file_role).toString();
    refill();  // The entry is no choice that stays.
    return second_.choose_file(offered);
  }
  const std::string file = layer_->itemData(entry, file_role).toString().toStdString();
  const std::string group = layer_->itemData(entry, group_role).toString().toStdString();
  workspace_.document().edit(
      entry == 0 ? tr("compare with nothing") : tr("compare with %1").arg(layer_->itemText(entry)),
      [&](Session& s) {
        if (entry == 0) return s.maps.beside.reset();
        const auto before = s.maps.beside;
        s.maps.beside = first_beside(s, *open, file, group);
        if (!before) return;
        s.maps.beside->head = before->head, s.maps.beside->join = before->join;
      });
}

void CompareTools::choose_head(int entry) {
  workspace_.document().edit(tr("compare with %1").arg(head_->itemText(entry)), [&](Session& s) {
    if (s.maps.beside) take_head(*head_, entry, s.maps.beside->head, s.maps.beside->join);
  });
}

void CompareTools::open_file() {
  refill();  // The entry is no choice that stays.
  const QString file =
      ask_for_file(this, tr("Compare with"),
                   tr("Traces (*.h5 *.hdf5 *.npz *.npy *.safetensors);;All files (*)"));
  if (!file.isEmpty()) second_.choose_file(file);
}

namespace {

constexpr int field_width = 108;

std::vector<std::int64_t> cells_with(const MapAxis& axis, const QString& part) {
  std::vector<std::int64_t> cells;
  for (std::int64_t i = 0; i < axis.size(); ++i) {
    const QString label = QString::fromStdString(axis.label_of(i));
    if (label.contains(part, Qt::CaseInsensitive)) cells.push_back(i);
  }
  return cells;
}

}  // namespace

std::vector<Focus> token_matches(const MapTokens& tokens, const QString& part,
                                 const std::optional<Focus>& locked) {
  std::vector<Focus> pairs;
  if (part.isEmpty() || tokens.query.size() == 0 || tokens.key.size() == 0) return pairs;
  const Focus now = tokens.cell_of(locked).value_or(Focus{0, 0});
  const bool same =
      tokens.query.label == tokens.key.label && tokens.query.size() == tokens.key.size();
  for (const std::int64_t key : cells_with(tokens.key, part)) {
    pairs.push_back(tokens.pair_of({same ? key : now.query, key}));
  }
  if (same) return pairs;
  for (const std::int64_t query : cells_with(tokens.query, part)) {
    pairs.push_back(tokens.pair_of({query, now.key}));
  }
  return pairs;
}

TokenSearch::TokenSearch(MapsModel& maps) : maps_(maps) {
  auto* line = laid_out<QHBoxLayout>(this, {}, 4);
  field_ = named(new QLineEdit, "maps-search", tr("Find a token"),
                 tr("Part of a token (Ctrl+F): Enter goes to the next one that contains it, "
                    "Shift+Enter to the one before"));
  field_->setPlaceholderText(tr("find a token"));
  field_->setFixedWidth(field_width);
  field_->setClearButtonEnabled(true);
  field_->installEventFilter(this);
  count_ = named(new QLabel, "maps-search-count", tr("Matches"));
  count_->setFixedWidth(fontMetrics().horizontalAdvance("00 of 000"));
  line->addWidget(field_);
  line->addWidget(count_);
  const auto begin_anew = [this] {
    at_ = -1;
    show_count();
  };
  connect(field_, &QLineEdit::textChanged, this, begin_anew);
  connect(&maps_, &MapsModel::panels_changed, this, begin_anew);
}

void TokenSearch::begin() {
  field_->setFocus(Qt::ShortcutFocusReason);
  field_->selectAll();
}

bool TokenSearch::eventFilter(QObject* object, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(object, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
    go(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
    return true;
  }
  if (key->key() == Qt::Key_Escape) {
    field_->clear();
    emit left();
    return true;
  }
  if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up) {  // On with the pair that was found.
    emit left();
    return true;
  }
  return QWidget::eventFilter(object, event);
}

void TokenSearch::go(int steps) {
  Document& document = maps_.workspace().document();
  const auto matches = token_matches(maps_.tokens(), field_->text(), document.session().locked);
  if (matches.empty()) return;
  const int count = static_cast<int>(matches.size());
  at_ = at_ < 0 ? (steps > 0 ? 0 : count - 1) : (at_ + steps + count) % count;
  const Focus pair = matches[static_cast<std::size_t>(at_)];
  document.hover(std::nullopt);
  lock_pair(document, pair);
  show_count();
  emit found(pair);
}

void TokenSearch::show_count() {
  const auto& locked = maps_.workspace().document().session().locked;
  const std::size_t count = token_matches(maps_.tokens(), field_->text(), locked).size();
  count_->setText(field_->text().isEmpty() ? QString()
                  : at_ < 0                ? tr("%1").arg(count)
                                           : tr("%1 of %2").arg(at_ + 1).arg(count));
}

}  // namespace conelab::desktop
