#include "widgets/window/shortcut_sheet.h"

#include <QBoxLayout>
#include <QLabel>

#include "widgets/window/command_palette.h"

namespace conelab::desktop {
namespace {

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

ShortcutSheet::ShortcutSheet(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Shortcuts"));
  setAttribute(Qt::WA_DeleteOnClose);
  setObjectName("shortcut-sheet");
  QString left = "<table>" + heading(tr("Everywhere"));
  for (const QAction* action : actions) {
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    if (!keys.isEmpty()) left += row(keys, action_name(*action));
  }
  const QString right =
      "<table>" + heading(tr("Attention maps")) + row(tr("wheel"), tr("zoom about the pointer")) +
      row(tr("drag"), tr("move")) + row(tr("click"), tr("keep a pair of tokens")) +
      row(tr("arrows"), tr("move the kept pair")) + row(tr("Esc"), tr("let the pair go")) +
      row(tr("F, double click"), tr("show all")) +
      row(tr("hold R"), tr("show the reference in every map")) + heading(tr("Cone explorer")) +
      row(tr("drag u, v, source"), tr("move the point; everything follows")) +
      row(tr("drag the ground, wheel"), tr("move and zoom (isometries of the half-plane)")) +
      row(tr("F, double click"), tr("show all")) + "</table>";
  auto* columns = new QHBoxLayout(this);
  columns->setContentsMargins(22, 14, 22, 18);
  columns->setSpacing(40);
  for (const QString& text : {left + "</table>", right}) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::RichText);
    label->setAlignment(Qt::AlignTop);
    columns->addWidget(label);
  }
}

}  // namespace conelab::desktop
