#include "widgets/window/command_palette.h"

#include <QBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPointer>
#include <algorithm>

#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"
#include "widgets/window/view.h"

namespace conelab::desktop {
namespace {

constexpr int row_gap = 6;  ///< Pixels between commands.

QString row(const QString& keys, const QString& what) {
  return QStringLiteral(
             "<tr><td style='padding:2px 18px 2px 0'><b>%1</b></td><td style='padding:2px "
             "0'>%2</td></tr>")
      .arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
}

QString heading(const QString& text) {
  return QStringLiteral("<tr><td colspan='2' style='padding-top:10px'><i>%1</i></td></tr>")
      .arg(text.toHtmlEscaped());
}

}  // namespace

int match_score(const QString& typed, const QString& name) {
  int score = 0;
  // Letters in a row count most, wherever they are.
  qsizetype at = std::max<qsizetype>(0, name.indexOf(typed.trimmed(), 0, Qt::CaseInsensitive));
  qsizetype last = -2;
  for (const QChar letter : typed) {
    if (letter.isSpace()) continue;
    const qsizetype found = name.indexOf(letter, at, Qt::CaseInsensitive);
    if (found < 0) return -1;
    score += found == last + 1 ? 4 : 0;
    score += found == 0 ? 4 : name[found - 1].isLetterOrNumber() ? 0 : 3;
    last = found;
    at = found + 1;
  }
  return score;
}

int help_score(const QString& typed, const QString& name, const QString& help) {
  int score = 0;
  for (const QString& word : typed.split(' ', Qt::SkipEmptyParts)) {
    const bool named = name.contains(word, Qt::CaseInsensitive);
    if (!named && !help.contains(word, Qt::CaseInsensitive)) return -1;
    score += named ? 1 : 0;
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
  auto* column = laid_out<QVBoxLayout>(this, {8, 8, 8, 8});
  field_ = named(new QLineEdit, {}, tr("Command"));
  field_->setPlaceholderText(tr("Type a command"));
  list_ = new QListWidget;
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  column->addWidget(field_);
  column->addWidget(list_);
  field_->installEventFilter(this);
  connect(field_, &QLineEdit::textChanged, this, &CommandPalette::filter);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::run);
  list_->setMinimumHeight(row_height() + 2 * list_->frameWidth());
  resize(520, height());
  filter({});
  move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 60)));
  field_->setFocus();
}

void CommandPalette::filter(const QString& typed) {
  std::vector<std::pair<int, int>> found;
  const auto find = [&](const auto& score_of) {
    for (int i = 0; i < actions_.size(); ++i) {
      if (!actions_[i]->isEnabled() || actions_[i]->isSeparator()) continue;
      const int score = score_of(*actions_[i]);
      if (score >= 0) found.emplace_back(-score, i);
    }
    std::ranges::sort(found);
  };
  find([&](const QAction& action) { return match_score(typed, action_name(action)); });
  if (found.empty()) {
    find([&](const QAction& action) {
      return help_score(typed, action_name(action), action.toolTip());
    });
  }
  list_->clear();
  for (const auto& [score, i] : found) {
    const QString keys = actions_[i]->shortcut().toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(
        action_name(*actions_[i]) + (keys.isEmpty() ? "" : "    " + keys), list_);
    item->setData(Qt::UserRole, i);
    item->setSizeHint({0, row_height()});
  }
  if (found.empty()) {
    (new QListWidgetItem(tr("No command here has these letters."), list_))->setFlags({});
  }
  list_->setCurrentRow(found.empty() ? -1 : 0);
  // The window is as high as its list, as far as that fits into the parent.
  const QMargins around = layout()->contentsMargins();
  const int others = around.top() + field_->sizeHint().height() + layout()->spacing() +
                     2 * list_->frameWidth() + around.bottom();
  const int most = parentWidget()->height() - 80;
  resize(width(), std::min(list_->count() * row_height() + others, most));
}

int CommandPalette::row_height() const { return list_->fontMetrics().height() + row_gap; }

void CommandPalette::run() {
  const QListWidgetItem* item = list_->currentItem();
  if (!item || !item->flags().testFlag(Qt::ItemIsEnabled)) return;
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

ShortcutSheet::ShortcutSheet(const QList<QAction*>& actions, const std::vector<View>& views,
                             QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Shortcuts"));
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName("shortcut-sheet");
  QString left = "<table>" + heading(tr("Everywhere")), right = "<table>";
  for (const QAction* action : actions) {
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    if (!keys.isEmpty()) left += row(keys, action_name(*action));
  }
  for (const View& view : views) {
    if (!view.gestures.isEmpty()) right += heading(view.widget->windowTitle());
    for (const auto& [gesture, what] : view.gestures) right += row(gesture, what);
  }
  auto* columns = laid_out<QHBoxLayout>(this, {22, 14, 22, 18}, 40);
  for (const QString& text : {left, right}) {
    auto* label = new QLabel(text + "</table>");
    label->setTextFormat(Qt::RichText);
    label->setAlignment(Qt::AlignTop);
    columns->addWidget(label);
  }
}

}  // namespace conelab::desktop
