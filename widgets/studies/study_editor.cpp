#include "widgets/studies/study_editor.h"

#include <QBoxLayout>
#include <QFile>
#include <QFileInfo>
#include <QFontDatabase>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTextBlock>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "core/base/error.h"
#include "core/files/atomic_file.h"
#include "widgets/dialogs/file_dialogs.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int key_column = 0, value_column = 1, error_column = 2;

int line_of(const QTreeWidgetItem& item) { return item.data(key_column, Qt::UserRole).toInt(); }

/// Calls `visit` for every line of the tree, in their order.
template <class Visit>
void each_line(const QTreeWidget& tree, Visit visit) {
  for (int b = 0; b < tree.topLevelItemCount(); ++b) {
    QTreeWidgetItem* block = tree.topLevelItem(b);
    visit(*block);
    for (int k = 0; k < block->childCount(); ++k) visit(*block->child(k));
  }
}

}  // namespace

std::vector<StudyLine> study_lines(const std::string& text) {
  static const QRegularExpression header(QStringLiteral("^\\s*(\\[\\[?[^\\]]+\\]\\]?)\\s*(#.*)?$"));
  static const QRegularExpression key(QStringLiteral(
      "^(\\s*([A-Za-z0-9_-]+)\\s*=\\s*)((?:\"[^\"]*\"|'[^']*'|[^\"'#])*?)(\\s*(?:#.*)?)$"));
  std::vector<StudyLine> lines;
  int number = 0, open = 0;  // Brackets of a value that goes on.
  for (const QString& line : QString::fromStdString(text).split('\n')) {
    ++number;
    const int before = open;
    const auto found = key.match(line);
    const QString value = found.hasMatch() ? found.captured(3) : before > 0 ? line : QString();
    open +=
        static_cast<int>(value.count('[') + value.count('{') - value.count(']') - value.count('}'));
    if (before > 0) continue;
    if (found.hasMatch()) {
      lines.push_back({number, found.captured(2).toStdString(), value.toStdString(),
                       found.captured(1).toStdString(), found.captured(4).toStdString(), false,
                       open == 0});
    } else if (const auto block = header.match(line); block.hasMatch()) {
      lines.push_back({number, block.captured(1).toStdString(), "", "", "", true, true});
    }
  }
  return lines;
}

StudyEditor::StudyEditor(JobPool& jobs) : jobs_(jobs) {
  auto* column = laid_out<QVBoxLayout>(this);
  auto* tools = new QHBoxLayout;
  add_button(tools, tr("Save"), "study-save",
             tr("Write the study, a shipped one as a file of your own, and open it"), this,
             &StudyEditor::save);
  message_ = text_label("study-errors", tr("What is wrong in the study"));
  tools->addWidget(message_, 1);
  column->addLayout(tools);
  auto* beside = new QSplitter;
  keys_ = named(new QTreeWidget, "study-keys", tr("The keys of the study"),
                tr("Double click, or Enter: change a value"));
  keys_->setHeaderLabels({tr("key"), tr("value"), tr("what is wrong")});
  keys_->setRootIsDecorated(false);
  keys_->header()->resizeSection(value_column, 2 * keys_->header()->defaultSectionSize());
  keys_->setEditTriggers(QAbstractItemView::NoEditTriggers);  // Only the value can be changed.
  text_ = named(new QPlainTextEdit, "study-text", tr("The study as TOML"));
  text_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  beside->addWidget(keys_);
  beside->addWidget(text_);
  beside->setSizes({500, 500});
  column->addWidget(beside, 1);
  checking_.setSingleShot(true);
  checking_.setInterval(200);
  checking_.callOnTimeout([this] {
    show_keys();
    check();
  });
  connect(text_, &QPlainTextEdit::textChanged, this, [this] { checking_.start(); });
  connect(keys_, &QTreeWidget::itemChanged, this, &StudyEditor::take_value);
  connect(keys_, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
    if (item->flags().testFlag(Qt::ItemIsEditable)) keys_->editItem(item, value_column);
  });
  connect(keys_, &QTreeWidget::currentItemChanged, this, &StudyEditor::go_to);
}

std::string StudyEditor::text() const { return text_->toPlainText().toStdString(); }

bool StudyEditor::changed() const { return text_->document()->isModified(); }

void StudyEditor::edit(const std::string& file, bool ships) {
  if (file == file_ && changed()) return;
  QFile content(QString::fromStdString(file));
  if (!content.open(QIODevice::ReadOnly)) return;
  file_ = file, ships_ = ships;
  text_->setPlainText(QString::fromUtf8(content.readAll()));
}

void StudyEditor::check() {
  job_ = jobs_.start<std::vector<StudyError>>(
      "checking the study",
      [file = file_, text = text()](const PoolContext&) {
        return study_of_text(file, text, false).errors;
      },
      [this](const std::vector<StudyError>& errors) { show_errors(errors); },
      [this](const std::string& message) {
        show_errors({{1, message}});
      });
}

void StudyEditor::show_keys() {
  const QSignalBlocker quiet(keys_);
  const QTreeWidgetItem* current = keys_->currentItem();
  const int line = current == nullptr ? 0 : line_of(*current);
  keys_->clear();
  QTreeWidgetItem* block = nullptr;
  for (const StudyLine& each : study_lines(text())) {
    if (block == nullptr || each.block) {
      block = new QTreeWidgetItem(keys_);
      block->setText(key_column, each.block ? QString::fromStdString(each.key) : tr("the study"));
      block->setData(key_column, Qt::UserRole, each.block ? each.line : 0);
    }
    if (each.block) continue;
    auto* item = new QTreeWidgetItem(block);
    item->setText(key_column, QString::fromStdString(each.key));
    item->setText(value_column, QString::fromStdString(each.value) + (each.whole ? "" : " …"));
    item->setData(key_column, Qt::UserRole, each.line);
    if (each.whole) item->setFlags(item->flags() | Qt::ItemIsEditable);
  }
  keys_->expandAll();
  each_line(*keys_, [&](QTreeWidgetItem& item) {
    if (line_of(item) == line && line > 0) keys_->setCurrentItem(&item, value_column);
  });
  keys_->resizeColumnToContents(key_column);
}

/// Shows errors at the last key that begins at their line or before.
void StudyEditor::show_errors(const std::vector<StudyError>& errors) {
  const QSignalBlocker quiet(keys_);
  const QColor colour = error_ink(palette());
  QList<QTextEdit::ExtraSelection> marks;
  each_line(*keys_, [](QTreeWidgetItem& item) { item.setText(error_column, {}); });
  for (const StudyError& error : errors) {
    QTreeWidgetItem* at = nullptr;
    each_line(*keys_, [&](QTreeWidgetItem& item) {
      if (line_of(item) <= error.line) at = &item;
    });
    const QString text = QString::fromStdString(error.text);
    if (at != nullptr) {
      at->setText(error_column, text);
      at->setToolTip(error_column, text);
      at->setForeground(error_column, colour);
    }
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(text_->document()->findBlockByNumber(std::max(0, error.line - 1)));
    mark.format.setProperty(QTextFormat::FullWidthSelection, true);
    QColor faint = colour;
    faint.setAlpha(50);
    mark.format.setBackground(faint);
    marks << mark;
  }
  text_->setExtraSelections(marks);
  message_->setText(errors.empty() ? tr("Nothing is wrong.")
                                   : tr("Line %1: %2")
                                         .arg(errors.front().line)
                                         .arg(QString::fromStdString(errors.front().text)));
  set_ink(*message_, errors.empty() ? palette().color(QPalette::WindowText) : colour);
}

void StudyEditor::take_value(QTreeWidgetItem* item) {
  for (const StudyLine& each : study_lines(text())) {
    if (each.line != line_of(*item) || each.block) continue;
    QTextCursor cursor(text_->document()->findBlockByNumber(each.line - 1));
    cursor.select(QTextCursor::LineUnderCursor);
    cursor.insertText(QString::fromStdString(each.before) + item->text(value_column) +
                      QString::fromStdString(each.after));
  }
}

void StudyEditor::go_to(QTreeWidgetItem* item) {
  if (item == nullptr) return;
  text_->setTextCursor(
      QTextCursor(text_->document()->findBlockByNumber(std::max(0, line_of(*item) - 1))));
}

void StudyEditor::save() {
  QString file = QString::fromStdString(file_);
  if (ships_) {
    file = ask_where_to_write(this, tr("Save the study"), QFileInfo(file).fileName(),
                              tr("Studies (*.toml)"));
  }
  if (file.isEmpty()) return;
  try {
    write_text_atomically(file.toStdString(), text());
  } catch (const Error& error) {
    return show_errors({{1, error.what()}});
  }
  file_ = file.toStdString(), ships_ = false;
  text_->document()->setModified(false);
  emit saved(file);
}

}  // namespace conelab::desktop
