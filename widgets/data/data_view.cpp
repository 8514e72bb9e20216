#include "widgets/data/data_view.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QScrollBar>
#include <QTreeWidget>
#include <algorithm>
#include <utility>

#include "core/base/names.h"
#include "core/trace/trace.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int item_role = Qt::UserRole;       ///< Index into Inspection::items.
constexpr int trace_role = Qt::UserRole + 1;  ///< True for groups that can be opened.

QString extents_text(const InspectedItem& item) {
  QStringList parts;
  for (const std::int64_t n : item.extents) parts << QString::number(n);
  return parts.join(QStringLiteral(" × "));
}

QString value_text(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> QString {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return QString::fromStdString(v).left(400);
        } else if constexpr (std::is_arithmetic_v<T>) {
          return QString::number(v);
        } else {
          return QObject::tr("%1 values").arg(v.size());
        }
      },
      value);
}

QString details_text(const InspectedItem& item) {
  QString text = "<b>" + QString::fromStdString(item.path).toHtmlEscaped() + "</b>";
  if (item.kind == ItemKind::array) {
    text += QObject::tr("<br>%1, %2, %3 in the file")
                .arg(extents_text(item), QString::fromStdString(item.type).toHtmlEscaped(),
                     QLocale().formattedDataSize(item.stored_bytes));
    text += item.checksummed ? QObject::tr(", checksummed") : QString();
    if (item.nan_count + item.infinite_count > 0) {
      text += QObject::tr("<br>%1 NaN, %2 infinite").arg(item.nan_count).arg(item.infinite_count);
    }
  }
  for (const auto& [name, value] : item.attributes) {
    text += "<br>" + QString::fromStdString(name).toHtmlEscaped() + " = " +
            value_text(value).toHtmlEscaped();
  }
  if (!item.problem.empty()) {
    text += "<br><b>" + QString::fromStdString(item.problem).toHtmlEscaped() + "</b>";
  }
  return text;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

DataView::DataView(Workspace& workspace) : workspace_(workspace) {
  auto* column = laid_out<QVBoxLayout>(this);
  tree_ = named(new QTreeWidget, "data-tree", tr("Content of the file"));
  tree_->setHeaderLabels({tr("name"), tr("extent"), tr("type")});
  tree_->setIndentation(12);  // Pixels.
  // Long types do not shrink the column of names; the tree scrolls instead.
  tree_->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  tree_->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
  tree_->setUniformRowHeights(true);
  column->addWidget(tree_, 1);
  details_ = new QLabel;
  details_->setWordWrap(true);
  details_->setTextFormat(Qt::RichText);
  details_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  details_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  details_->setContentsMargins(10, 6, 10, 8);
  details_space_ = scrolled(details_, tr("About the file or the chosen array"));
  column->addWidget(details_space_);
  tell(tr("Drop a file anywhere, or open one."));
  connect(tree_, &QTreeWidget::currentItemChanged, this,
          [this](QTreeWidgetItem* item) { show_details(item); });
  const auto open = [this](QTreeWidgetItem* item) {
    if (!item->data(0, trace_role).toBool()) return;
    const QString group = item->data(0, trace_role + 1).toString();
    const auto& trace = workspace_.trace();
    const bool same_file = trace && QString::fromStdString(trace->file) == file_;
    if (same_file && QString::fromStdString(trace->group) == group) return;
    same_file ? workspace_.open_group(group.toStdString()) : workspace_.open(file_, group);
    emit trace_opened();
  };
  connect(tree_, &QTreeWidget::itemClicked, this, open);
  connect(tree_, &QTreeWidget::itemActivated, this, open);
  connect(&workspace_, &Workspace::trace_changed, this, [this] {
    if (!workspace_.trace()) return show_nothing_of_trace();
    const QString file = trace_file_ = QString::fromStdString(workspace_.trace()->file);
    if (file != file_) {
      show_file(file);
    } else if (inspection_ && shown_query_ != query_name()) {  // Other groups can be opened now.
      show_inspection(inspection_);
    }
    mark_open_group();
  });
}

void DataView::tell(const QString& text) {
  details_->setText(text);
  fit_details();
}

/// The details take at most a third of the view; longer ones are scrolled.
void DataView::fit_details() {
  const int needed = details_->heightForWidth(width());
  const bool scrolls = needed > height() / 3;
  const int bar = scrolls ? details_space_->verticalScrollBar()->sizeHint().width() : 0;
  const int high = bar > 0 ? details_->heightForWidth(width() - bar) : needed;
  details_space_->setFixedHeight(std::min(high, std::max(height() / 3, fontMetrics().height())));
}

void DataView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_details();
}

/// After the trace was closed, as by a new session, its file is not shown any more.
void DataView::show_nothing_of_trace() {
  if (trace_file_.isEmpty() || file_ != trace_file_) return;
  job_.cancel();
  file_.clear(), trace_file_.clear();
  inspection_.reset();
  tree_->clear();
  tell(tr("Drop a file anywhere, or open one."));
}

void DataView::know(const QString& file, std::shared_ptr<const Inspection> content) {
  known_file_ = file;
  known_ = std::move(content);
}

void DataView::show_file(const QString& file) {
  file_ = file;
  job_.cancel();
  if (known_ && file == known_file_) return show_inspection(std::exchange(known_, nullptr));
  const QString name = workspace_.document().name_of(file);
  tell(tr("reading %1 …").arg(name));
  using Content = std::shared_ptr<const Inspection>;
  job_ = workspace_.jobs().start<Content>(
      "looking into " + name.toStdString(),
      [path = file.toStdString()](const PoolContext& context) {
        return std::make_shared<const Inspection>(
            inspect_if_small(path, {.cancelled = context.cancel_check()}));
      },
      [this](Content found) { show_inspection(std::move(found)); },
      [this](const std::string& message) {
        tree_->clear();
        tell(QString::fromStdString(message).toHtmlEscaped());
      });
}

void DataView::show_inspection(std::shared_ptr<const Inspection> shown) {
  inspection_ = std::move(shown);
  const Inspection& inspection = *inspection_;
  tree_->clear();
  auto* root = new QTreeWidgetItem(tree_, {workspace_.document().name_of(file_), "",
                                           QString::fromUtf8(format_name(inspection.format))});
  std::map<std::string, QTreeWidgetItem*> groups = {{"/", root}};
  shown_query_ = query_name();
  ArrayNames names;
  if (shown_query_ != "q") names.query = shown_query_;
  const std::vector<std::string> to_open = groups_to_open(inspection, names);
  const auto offer = [&](QTreeWidgetItem* node, const std::string& path) {
    const std::string group = path == "/" ? "" : path;
    if (!contains(to_open, group)) return;
    node->setData(0, trace_role, true);
    node->setData(0, trace_role + 1, QString::fromStdString(group));
    node->setToolTip(0, is_stored_map(group) ? tr("Click: show this array as it is stored")
                                             : tr("Click: open this trace"));
  };
  if (inspection.format == FileFormat::hdf5) offer(root, "/");
  for (std::size_t i = 0; i < inspection.items.size(); ++i) {
    const InspectedItem& item = inspection.items[i];
    if (item.path == "/") {
      root->setData(0, item_role, static_cast<int>(i));
      continue;
    }
    const auto above = groups.find(parent_of(item.path));
    QTreeWidgetItem* parent = above == groups.end() ? root : above->second;
    // The arrays of a file without groups keep their whole names, for instance "layer0/q".
    const bool grouped = above != groups.end();
    const std::string name =
        item.path.substr(grouped ? item.path.rfind('/') + 1 : item.path.find_first_not_of('/'));
    auto* node = new QTreeWidgetItem(parent, {QString::fromStdString(name), extents_text(item),
                                              QString::fromStdString(item.type)});
    node->setData(0, item_role, static_cast<int>(i));
    if (!item.problem.empty()) node->setForeground(0, focus_colour());
    if (item.kind == ItemKind::group) groups[item.path] = node;
    offer(node, item.path);
  }
  root->setExpanded(true);
  for (int i = 0; i < root->childCount(); ++i) root->child(i)->setExpanded(true);
  const QString size = QLocale().formattedDataSize(static_cast<qint64>(inspection.file_bytes));
  QString text =
      inspection.sha256.empty()
          ? tr("%1; numbers not read: conelab inspect checks them all").arg(size)
          : tr("%1, SHA-256 %2…").arg(size, QString::fromStdString(inspection.sha256).left(12));
  for (const std::string& problem : inspection.problems) {
    text += "<br><b>" + QString::fromStdString(problem).toHtmlEscaped() + "</b>";
  }
  tell(text);
  mark_open_group();
}

std::string DataView::query_name() const {
  const auto& trace = workspace_.trace();
  const bool named = trace && QString::fromStdString(trace->file) == file_;
  return named && !trace->arrays.query.empty() ? trace->arrays.query : "q";
}

void DataView::show_details(QTreeWidgetItem* item) {
  const QVariant index = item ? item->data(0, item_role) : QVariant();
  if (!index.isValid() || !inspection_) return;
  tell(details_text(inspection_->items[static_cast<std::size_t>(index.toInt())]));
}

void DataView::mark_open_group() {
  const auto& trace = workspace_.trace();
  if (!trace || QString::fromStdString(trace->file) != file_) return;
  for (QTreeWidgetItemIterator it(tree_); *it != nullptr; ++it) {
    const bool open = (*it)->data(0, trace_role).toBool() &&
                      (*it)->data(0, trace_role + 1).toString().toStdString() == trace->group;
    QFont font = (*it)->font(0);
    font.setBold(open);
    (*it)->setFont(0, font);
    // A row that was chosen to open another group is not the chosen one any more, as after undo.
    const QTreeWidgetItem* chosen = tree_->currentItem();
    const bool chose_group = chosen != nullptr && chosen->data(0, trace_role).toBool();
    if (open && chose_group && marked_group_ != trace->group) tree_->setCurrentItem(*it);
  }
  marked_group_ = trace->group;
}

}  // namespace conelab::desktop
