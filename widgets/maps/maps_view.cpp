#include "widgets/maps/maps_view.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>

#include "widgets/maps/map_table.h"

namespace conelab::desktop {
namespace {

/// A small preview of a colour map for its menu.
QIcon map_icon(figure::ColourMap map) {
  QPixmap pixmap(48, 12);
  QPainter painter(&pixmap);
  for (int x = 0; x < 48; ++x) {
    const figure::Colour c = figure::colour_at(map, x / 47.0);
    painter.fillRect(x, 0, 1, 12, QColor(c.r, c.g, c.b));
  }
  return QIcon(pixmap);
}

}  // namespace

MapsView::MapsView(Workspace& workspace, QWidget* parent)
    : QWidget(parent), workspace_(workspace), model_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* tools = new QWidget;
  build_tools(tools);
  column->addWidget(tools);
  stack_ = new QStackedWidget;
  canvas_ = new MapsCanvas(model_);
  canvas_->setObjectName("maps-canvas");
  stack_->addWidget(canvas_);
  stack_->addWidget(new MapTableView(model_));
  column->addWidget(stack_, 1);
  readout_ = new QLabel;
  readout_->setObjectName("maps-readout");
  readout_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  readout_->setContentsMargins(12, 4, 12, 6);
  readout_->setAccessibleName(tr("Values under the pointer"));
  readout_->setWordWrap(true);
  column->addWidget(readout_);
  connect(&workspace_.document(), &Document::changed, this, &MapsView::show_session);
  connect(&workspace_, &Workspace::trace_changed, this, &MapsView::show_session);
  connect(&workspace_.document(), &Document::focus_changed, this, &MapsView::show_readout);
  connect(&model_, &MapsModel::panels_changed, this, &MapsView::show_readout);
  connect(&model_, &MapsModel::progressed, this, &MapsView::show_work);
  show_session();
}

QString MapsView::readout() const { return readout_->text(); }

QComboBox* MapsView::add_choice(QWidget* row, const QString& name, const QString& help,
                                const QStringList& words, std::string MapChoice::*member) {
  auto* box = new QComboBox;
  box->addItems(words);
  box->setToolTip(help);
  box->setAccessibleName(name);
  box->setObjectName("maps-" + name);
  row->layout()->addWidget(box);
  choices_.emplace_back(box, member);
  connect(box, &QComboBox::currentTextChanged, this, [this, name, member](const QString& word) {
    workspace_.document().edit(tr("change %1").arg(name),
                               [&](Session& s) { s.maps.*member = word.toStdString(); });
  });
  return box;
}

void MapsView::build_tools(QWidget* row) {
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(10, 4, 10, 4);
  line->setSpacing(6);
  head_ = new QComboBox;
  head_->setObjectName("maps-head");
  head_->setAccessibleName(tr("Head"));
  head_->setToolTip(tr("Which head of the layer"));
  line->addWidget(head_);
  connect(head_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("choose head %1").arg(index),
                               [&](Session& s) { s.trace.head = index; });
  });
  add_choice(row, "layout", tr("Maps side by side, or the numbers as a table"), {"maps", "table"},
             &MapChoice::layout);
  add_choice(row, "quantity", tr("Attention weights, or the logits before the softmax"),
             {"weights", "logits"}, &MapChoice::quantity);
  add_choice(row, "scale",
             tr("How values become colours: linear, logarithmic (weights), each row by its largest,"
                " or by rank"),
             {"linear", "log", "row", "rank"}, &MapChoice::scale);
  QComboBox* colours = add_choice(row, "colours", tr("Colour map; all are perceptually uniform"),
                                  {}, &MapChoice::colours);
  const QSignalBlocker quiet(colours);
  for (const figure::ColourMapInfo& info : figure::colour_maps()) {
    colours->addItem(map_icon(info.map), info.name);
    colours->setItemData(colours->count() - 1, QString::fromUtf8(info.about), Qt::ToolTipRole);
  }
  colours->setIconSize(QSize(48, 12));
  reference_ = new QComboBox;
  reference_->setObjectName("maps-reference");
  reference_->setAccessibleName(tr("Difference"));
  reference_->setToolTip(tr("Shows each operator minus this one; hold R over the maps to flip"));
  line->addWidget(reference_);
  connect(reference_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("change the reference"),
                               [&](Session& s) { s.maps.reference = index - 1; });
  });
  shared_ = new QToolButton;
  shared_->setText(tr("shared limits"));
  shared_->setCheckable(true);
  shared_->setObjectName("maps-shared");
  shared_->setToolTip(tr("One colour bar for all maps, or one for each"));
  line->addWidget(shared_);
  connect(shared_, &QToolButton::clicked, this, [this](bool on) {
    workspace_.document().edit(tr("change limits"), [&](Session& s) { s.maps.shared_limits = on; });
  });
  line->addStretch(1);
  cancel_ = new QToolButton;
  cancel_->setObjectName("maps-cancel");
  line->addWidget(cancel_);
  connect(cancel_, &QToolButton::clicked, this,
          [this] { model_.cancelled() ? model_.resume() : model_.cancel(); });
}

void MapsView::show_session() {
  const Session& session = workspace_.document().session();
  for (const auto& [box, member] : choices_) {
    const QSignalBlocker quiet(box);
    box->setCurrentText(QString::fromStdString(session.maps.*member));
  }
  {
    const QSignalBlocker quiet(head_);
    const auto& trace = workspace_.trace();
    const int heads = trace ? static_cast<int>(trace->extents().head) : 0;
    if (head_->count() != heads) {
      head_->clear();
      for (int i = 0; i < heads; ++i) head_->addItem(tr("head %1").arg(i));
    }
    head_->setCurrentIndex(static_cast<int>(session.trace.head));
    head_->setVisible(heads > 0);
  }
  {
    const QSignalBlocker quiet(reference_);
    reference_->clear();
    reference_->addItem(tr("no difference"));
    for (const Call& call : session.maps.calls) {
      reference_->addItem("− " + QString::fromStdString(call_title(call)));
    }
    reference_->setCurrentIndex(session.maps.reference + 1);
  }
  shared_->setChecked(session.maps.shared_limits);
  stack_->setCurrentIndex(session.maps.layout == "table" ? 1 : 0);
  show_readout();
  show_work();
}

void MapsView::show_readout() {
  const std::string text = model_.readout(workspace_.document().focused());
  readout_->setText(text.empty() ? tr("Point at a cell for its exact values; click to keep it.")
                                 : QString::fromStdString(text).replace('\n', "    "));
}

void MapsView::show_work() {
  bool busy = false;
  for (const auto& panel : model_.panels()) busy = busy || panel->pass.active();
  cancel_->setVisible(busy || model_.cancelled());
  cancel_->setText(model_.cancelled() ? tr("compute again") : tr("cancel"));
}

}  // namespace conelab::desktop
