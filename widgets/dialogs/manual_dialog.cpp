#include "widgets/dialogs/manual_dialog.h"

#include <QBoxLayout>
#include <QListWidget>
#include <QTextBrowser>
#include <algorithm>

#include "widgets/theme/theme.h"

namespace conelab::desktop {

ManualDialog::ManualDialog(const Manual& manual, const QString& topic, QWidget* parent)
    : QDialog(parent) {
  setObjectName("manual");
  setWindowTitle(tr("Manual"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* topics = named(new QListWidget, "manual-topics", tr("Topics of the manual"));
  auto* page = named(new QTextBrowser, "manual-page", tr("The manual's text"));
  page->setOpenExternalLinks(true);
  for (const auto& [name, text] : manual) topics->addItem(QString::fromStdString(name));
  topics->setFixedWidth(topics->sizeHintForColumn(0) + 32);
  connect(topics, &QListWidget::currentRowChanged, page, [manual, page](int row) {
    const auto at = static_cast<std::size_t>(std::max(0, row));
    if (at < manual.size()) page->setMarkdown(QString::fromStdString(manual[at].second));
  });
  auto* line = new QHBoxLayout(this);
  line->addWidget(topics);
  line->addWidget(page, 1);
  const QList<QListWidgetItem*> found = topics->findItems(topic, Qt::MatchExactly);
  topics->setCurrentRow(found.isEmpty() ? 0 : topics->row(found.front()));
  resize(parent->size().boundedTo(QSize(960, 720)));
}

}  // namespace conelab::desktop
