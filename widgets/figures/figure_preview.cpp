#include "widgets/figures/figure_preview.h"

#include <QAction>
#include <QBoxLayout>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QScreen>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>

#include "core/operators/operator.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr double margin = 18, points_an_inch = 72;

QImage painted(const figure::DisplayList& list, QSize size, double scale) {
  QImage picture(size, QImage::Format_RGB32);
  picture.fill(Qt::white);  // Figures are white in every theme.
  QPainter painter(&picture);
  painter.scale(scale, scale);
  figure::paint(list, painter);
  return picture;
}

}  // namespace

FigurePreview::FigurePreview(JobPool& jobs) : jobs_(jobs) {
  setObjectName("figure-preview");
  setAccessibleName(tr("Preview of the figure"));
  fit_size();
}

void FigurePreview::show_list(std::shared_ptr<const figure::DisplayList> list) {
  list_ = std::move(list);
  job_.cancel();
  asked_ = {};
  setAccessibleDescription(list_ ? QString::fromStdString(list_->metadata.description) : QString());
  fit_size();
  update();
}

void FigurePreview::set_zoom(double zoom) {
  zoom_ = zoom;
  fit_size();
  update();
}

double FigurePreview::real_scale() const {
  const double across = screen() ? screen()->physicalDotsPerInchX() : 0;
  // Some screens report a wrong physical size.
  const bool known = across >= 50 && across <= 600;
  return (known ? across : logicalDpiX()) / points_an_inch;
}

double FigurePreview::scale() const {
  if (!list_) return 1;
  if (zoom_ > 0) return zoom_ * real_scale();
  return std::max(0.1, std::min((width() - 2 * margin) / list_->width,
                                (height() - 2 * margin) / list_->height));
}

void FigurePreview::fit_size() {
  const bool fixed = zoom_ > 0 && list_ != nullptr;
  setMinimumSize(fixed ? (QSizeF(list_->width, list_->height) * scale()).toSize() +
                             QSize(2 * margin, 2 * margin)
                       : QSize(200, 160));
}

QSize FigurePreview::picture_size() const {
  return (QSizeF(list_->width, list_->height) * scale() * devicePixelRatioF())
      .toSize()
      .expandedTo({1, 1});
}

bool FigurePreview::sharp() const {
  return list_ && painted_ == list_ && picture_.size() == picture_size();
}

void FigurePreview::start() {
  const QSize size = picture_size();
  if (job_.active() && asked_ == size) return;
  asked_ = size;
  job_ = jobs_.start<QImage>(
      "preview",
      [list = list_, size, scale = scale() * devicePixelRatioF()](const JobContext&) {
        return painted(*list, size, scale);
      },
      [this, list = list_](QImage picture) {
        picture_ = std::move(picture);
        painted_ = list;
        update();
      },
      nullptr, true);
}

void FigurePreview::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Window));
  if (!list_) return;
  if (!sharp()) start();
  const QSizeF page(list_->width * scale(), list_->height * scale());
  const QRectF place(
      QPointF(std::round((width() - page.width()) / 2), std::round((height() - page.height()) / 2)),
      page);
  painter.fillRect(place, Qt::white);
  if (painted_ == list_) painter.drawImage(place, picture_);
  painter.setPen(hair_line(palette()));
  painter.drawRect(place.adjusted(-0.5, -0.5, 0.5, 0.5));
}

namespace {

QStringList words(const std::string& text, char between) {
  return QString::fromStdString(text).split(between, Qt::SkipEmptyParts);
}

}  // namespace

FigureFields::FigureFields(const figure::FigureInfo& info) {
  auto* column = laid_out<QVBoxLayout>(this, {}, 4);
  std::map<figure::KeyGroup, QFormLayout*> forms;
  for (const figure::FigureKey& row : info.keys) {
    QFormLayout*& form = forms[figure::group_of(info, row)];
    if (form == nullptr) form = add_group(column, figure::group_of(info, row));
    if (row.rare) rare_keys_.insert(row.key);
    const QString key = QString::fromUtf8(row.key), about = QString::fromUtf8(row.about);
    QWidget* field = row.choices.empty() ? add_line(form, row) : add_choice(form, row);
    named(field, "figure-" + key, key, about)->setAccessibleDescription(about);
  }
}

/// Adds the title and the form of a group. That of the rarely used keys folds its form away.
QFormLayout* FigureFields::add_group(QVBoxLayout* column, figure::KeyGroup group) {
  auto* content = new QWidget;
  auto* form = laid_out<QFormLayout>(content);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  const QString title = tr(figure::key_group_titles[static_cast<int>(group)]);
  if (group == figure::KeyGroup::rare) {
    rare_ = tool_button(title, "figure-rare", tr("Keys that few figures need"), true);
    rare_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    const auto fold = [this, content](bool on) {
      rare_->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
      content->setVisible(on);
    };
    connect(rare_, &QToolButton::toggled, this, fold);
    fold(false);
    column->addWidget(rare_, 0, Qt::AlignLeft);
  } else {
    auto* label = new QLabel(QStringLiteral("<b>%1</b>").arg(title));
    column->addWidget(label);
  }
  column->addWidget(content);
  return form;
}

QWidget* FigureFields::add_choice(QFormLayout* form, const figure::FigureKey& row) {
  auto* box = new QComboBox;
  const QString key = QString::fromUtf8(row.key), initial = QString::fromUtf8(row.initial);
  if (initial.isEmpty()) box->addItem(tr("automatic"), QString());
  for (const QString& word : words(row.choices, '|')) box->addItem(word, word);
  form->addRow(key, box);
  connect(box, &QComboBox::activated, this, [this, box, key, initial] {
    const QString chosen = box->currentData().toString();
    emit edited(key, chosen == initial ? QString() : chosen);
  });
  fields_.emplace_back(row.key, [box, initial](const QString& value) {
    const QString wanted = value.isEmpty() ? initial : value;
    const QSignalBlocker quiet(box);
    // An invalid value is shown as well, so that it can be changed.
    if (box->findData(wanted) < 0) box->addItem(wanted, wanted);
    box->setCurrentIndex(box->findData(wanted));
  });
  return box;
}

QWidget* FigureFields::add_line(QFormLayout* form, const figure::FigureKey& row) {
  auto* line = new QLineEdit;
  const QString key = QString::fromUtf8(row.key), initial = QString::fromUtf8(row.initial);
  line->setPlaceholderText(initial);
  connect(line, &QLineEdit::editingFinished, this,
          [this, line, key] { emit edited(key, line->text().trimmed()); });
  fields_.emplace_back(row.key, [line](const QString& value) {
    if (line->text() != value) line->setText(value);
  });
  if (!key.startsWith("similarit")) {
    form->addRow(key, line);
    return line;
  }
  auto* whole = new QWidget;
  auto* both = laid_out<QHBoxLayout>(whole, {}, 4);
  both->addWidget(line, 1);
  form->addRow(key, whole);
  add_operators(line, key, initial);
  return line;
}

/// Adds a menu of all operators next to the field, in which one or several can be chosen.
void FigureFields::add_operators(QLineEdit* line, const QString& key, const QString& initial) {
  auto* button =
      tool_button(QStringLiteral("…"), "figure-" + key + "-menu", tr("Choose among all operators"));
  button->setAccessibleName(tr("Choose operators"));
  auto* menu = new QMenu(button);
  set_menu(*button, menu);
  line->parentWidget()->layout()->addWidget(button);
  const bool several = key == "similarities";
  connect(menu, &QMenu::aboutToShow, this, [=, this] {
    menu->clear();
    QStringList chosen = (line->text().isEmpty() ? initial : line->text()).split(',');
    for (const PartInfo& part : list_similarities()) {
      const QString name = QString::fromStdString(part.name);
      QAction* action = menu->addAction(name);
      action->setCheckable(true);
      action->setChecked(chosen.contains(name));
      connect(action, &QAction::triggered, this, [=, this](bool on) {
        QStringList next = several ? chosen : QStringList();
        next.removeAll(name);
        if (on || !several) next << name;
        const QString text = next.join(',');
        emit edited(key, text == initial ? QString() : text);
      });
    }
  });
}

void FigureFields::show_values(const figure::Parameters& values) {
  for (const auto& [key, show] : fields_) {
    const auto found = values.find(key);
    show(found == values.end() ? QString() : QString::fromStdString(found->second));
    const bool rare = found != values.end() && rare_keys_.contains(key);
    if (rare && shown_ != values) rare_->setChecked(true);  // What is set is seen.
  }
  shown_ = values;
}

}  // namespace conelab::desktop
