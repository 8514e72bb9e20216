#include "widgets/maps/map_table.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QHeaderView>
#include <QShortcut>
#include <QSignalBlocker>
#include <QTableView>
#include <algorithm>
#include <cmath>

#include "core/figure/text.h"
#include "widgets/maps/pair_keys.h"
#include "widgets/tables/text_table_model.h"

namespace conelab::desktop {

namespace {

QString near_text(const MapPanel& panel, std::int64_t row, std::int64_t column) {
  if (!panel.pyramid->complete()) return QObject::tr("computing …");
  float value = 0;
  panel.pyramid->source().cells({row, row + 1, column, column + 1}, &value);
  return is_masked(value) ? QObject::tr("masked") : QString::number(value, 'g', 5);
}

}  // namespace

void MapTableModel::show_panel(int index) {
  beginResetModel();
  panel_ = index;
  endResetModel();
}

int MapTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(maps_.rows());
}

int MapTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(maps_.columns());
}

QVariant MapTableModel::data(const QModelIndex& index, int role) const {
  const auto panel = static_cast<std::size_t>(panel_);
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if ((role != Qt::DisplayRole && role != Qt::ToolTipRole) || panel >= maps_.panels().size()) {
    return {};
  }
  const MapPanel& shown = *maps_.panels()[panel];
  const MapTokens& tokens = *shown.tokens;
  if (index.row() >= tokens.query.size() || index.column() >= tokens.key.size()) return {};
  // Five digits of the picture's float value are shown if the exact row takes long.
  const bool quick = !shown.pyramid || shown.pyramid->source().exact_is_quick(index.row());
  if (role == Qt::DisplayRole && !quick) return near_text(shown, index.row(), index.column());
  const std::string text = quick ? maps_.value_text(shown, {index.row(), index.column()})
                                 : MapsModel::exact_text(shown, {index.row(), index.column()});
  if (role == Qt::ToolTipRole) return QString::fromStdString(text);
  bool number = false;
  const double value = QString::fromStdString(text).toDouble(&number);
  return number ? QString::number(value, 'g', 5) : QString::fromStdString(text);
}

QVariant MapTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  const auto panel = static_cast<std::size_t>(panel_);
  const auto& panels = maps_.panels();
  const MapTokens& tokens = panel < panels.size() ? *panels[panel]->tokens : maps_.tokens();
  const MapAxis& axis = orientation == Qt::Vertical ? tokens.query : tokens.key;
  if (role != Qt::DisplayRole || section >= axis.size()) return {};
  const std::string label = axis.label_of(section);
  return QString::fromStdString(figure::token_text(label));
}

MapTableView::MapTableView(MapsModel& maps, QWidget* parent)
    : QWidget(parent), maps_(maps), model_(maps) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 0, 10, 6);
  which_ = new QComboBox;
  which_->setAccessibleName(tr("Operator of the table"));
  which_->setObjectName("table-operator");
  column->addWidget(which_, 0, Qt::AlignLeft);
  table_ = new QTableView;
  table_->setModel(&model_);
  table_->setAccessibleName(tr("Attention as numbers, queries down, keys across"));
  table_->horizontalHeader()->setDefaultSectionSize(82);
  table_->verticalHeader()->setDefaultSectionSize(22);
  column->addWidget(table_);
  connect(which_, &QComboBox::currentIndexChanged, this,
          [this](int index) { model_.show_panel(std::max(0, index)); });
  connect(&maps_, &MapsModel::panels_changed, this, &MapTableView::refill);
  connect(
      table_->selectionModel(), &QItemSelectionModel::currentChanged, this,
      [this](const QModelIndex& now) {
        if (!now.isValid()) return;
        lock_pair(maps_.workspace().document(), maps_.tokens().pair_of({now.row(), now.column()}));
      });
  auto* copy = new QShortcut(QKeySequence::Copy, table_, nullptr, nullptr, Qt::WidgetShortcut);
  // The tooltips show all digits.
  connect(copy, &QShortcut::activated, this, [this] { copy_selection(*table_, Qt::ToolTipRole); });
  refill();
}

void MapTableView::refill() {
  const QSignalBlocker quiet(which_);
  const int before = which_->currentIndex();
  which_->clear();
  for (const auto& panel : maps_.panels()) which_->addItem(QString::fromStdString(panel->title));
  which_->setCurrentIndex(std::clamp(before, 0, std::max(0, which_->count() - 1)));
  model_.show_panel(std::max(0, which_->currentIndex()));
}

}  // namespace conelab::desktop
