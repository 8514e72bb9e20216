#include "widgets/window/command_palette.h"

#include <QBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPointer>
#include <algorithm>

#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int row_gap = 6;  ///< Pixels between commands.

}  // namespace

int match_score(const QString& typed, const QString& name) {
  int score = 0;
  qsizetype at = 0;
  qsizetype last = -2;
  for (const QChar letter : typed) {
    if (letter.isSpace()) continue;
    const qsizetype found = name.indexOf(letter, at, Qt::CaseInsensitive);
    if (found < 0) return -1;
    score += found == last + 1 ? 4 : 0;
    score += found == 0 ? 4 : name[found - 1].isSpace() ? 3 : 0;
    last = found;
    at = found + 1;
  }
  return score;
}

QString action_name(const QAction& action) {
  QString name = action.text();
  name.remove('&').remove(QStringLiteral("…"));
  return name.trimmed();
}

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup), actions_(actions) {
  setObjectName("command-palette");
  setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  field_ = new QLineEdit;
  field_->setPlaceholderText(tr("Type a command"));
  field_->setAccessibleName(tr("Command"));
  list_ = new QListWidget;
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  column->addWidget(field_);
  column->addWidget(list_);
  field_->installEventFilter(this);
  connect(field_, &QLineEdit::textChanged, this, &CommandPalette::filter);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::run);
  const int rows = static_cast<int>(actions_.size()) * (list_->fontMetrics().height() + row_gap);
  resize(520, std::min(rows + 70, parent->height() - 80));
  move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 60)));
  filter({});
  field_->setFocus();
}

void CommandPalette::filter(const QString& typed) {
  std::vector<std::pair<int, int>> found;
  for (int i = 0; i < actions_.size(); ++i) {
    if (!actions_[i]->isEnabled() || actions_[i]->isSeparator()) continue;
    const int score = match_score(typed, action_name(*actions_[i]));
    if (score >= 0) found.emplace_back(-score, i);
  }
  std::sort(found.begin(), found.end());
  list_->clear();
  for (const auto& [score, i] : found) {
    const QString keys = actions_[i]->shortcut().toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(
        action_name(*actions_[i]) + (keys.isEmpty() ? "" : "    " + keys), list_);
    item->setData(Qt::UserRole, i);
    item->setSizeHint({0, list_->fontMetrics().height() + row_gap});
  }
  list_->setCurrentRow(0);
}

void CommandPalette::run() {
  const QListWidgetItem* item = list_->currentItem();
  if (!item) return;
  const QPointer<QAction> action = actions_[item->data(Qt::UserRole).toInt()];
  close();
  if (action) action->trigger();
}

/// A popup has no frame of the desktop's around it.
void CommandPalette::paintEvent(QPaintEvent* event) {
  QDialog::paintEvent(event);
  QPainter painter(this);
  painter.setPen(quiet_ink(palette()));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Return || key == Qt::Key_Enter) return run(), true;
    if (key == Qt::Key_Down || key == Qt::Key_Up) {
      const int row = list_->currentRow() + (key == Qt::Key_Down ? 1 : -1);
      list_->setCurrentRow(std::clamp(row, 0, std::max(0, list_->count() - 1)));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace conelab::desktop
