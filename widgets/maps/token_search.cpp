#include "widgets/maps/token_search.h"

#include <QBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>

#include "widgets/maps/pair_keys.h"

namespace conelab::desktop {
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

TokenSearch::TokenSearch(MapsModel& maps, QWidget* parent) : QWidget(parent), maps_(maps) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(4);
  field_ = new QLineEdit;
  field_->setObjectName("maps-search");
  field_->setPlaceholderText(tr("find a token"));
  field_->setAccessibleName(tr("Find a token"));
  field_->setToolTip(
      tr("Part of a token (Ctrl+F): Enter goes to the next one that contains it, "
         "Shift+Enter to the one before"));
  field_->setFixedWidth(field_width);
  field_->setClearButtonEnabled(true);
  field_->installEventFilter(this);
  count_ = new QLabel;
  count_->setObjectName("maps-search-count");
  count_->setAccessibleName(tr("Matches"));
  count_->setFixedWidth(fontMetrics().horizontalAdvance("00 of 000"));
  line->addWidget(field_);
  line->addWidget(count_);
  connect(field_, &QLineEdit::textChanged, this, [this] {
    at_ = -1;
    show_count();
  });
  connect(&maps_, &MapsModel::panels_changed, this, [this] {
    at_ = -1;
    show_count();
  });
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
