#include "widgets/figures/figure_preview.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QScreen>
#include <QToolButton>
#include <algorithm>
#include <map>

#include "core/base/parse_number.h"
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
      [list = list_, size, scale = scale() * devicePixelRatioF()](const PoolContext&) {
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

FigureFields::FigureFields(const figure::FigureInfo& info) {
  auto* column = laid_out<QVBoxLayout>(this, {}, 4);
  std::map<figure::KeyGroup, std::vector<JobField>> groups;
  for (const figure::FigureKey& row : info.keys) {
    JobField& field = groups[figure::group_of(info, row)].emplace_back();
    field.name = row.key, field.about = row.about, field.initial = row.initial;
    field.choices = words_at(row.choices, '|');
    if (row.rare) rare_keys_.insert(row.key);
  }
  for (const auto& [group, fields] : groups) {
    forms_.push_back(new FieldForm(fields, "figure-"));
    connect(forms_.back(), &FieldForm::edited, this,
            [this](const QString& key, const QString& value, bool done) {
              if (done) emit edited(key, value);
            });
    column->addWidget(title_of(group, forms_.back()), 0, Qt::AlignLeft);
    column->addWidget(forms_.back());
  }
}

/// The title of the rarely used keys folds their form away.
QWidget* FigureFields::title_of(figure::KeyGroup group, QWidget* form) {
  const QString title = tr(figure::key_group_titles[static_cast<int>(group)]);
  if (group != figure::KeyGroup::rare) return new QLabel(QStringLiteral("<b>%1</b>").arg(title));
  rare_ = tool_button(title, "figure-rare", tr("Keys that few figures need"), true);
  rare_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  const auto fold = [this, form](bool on) {
    rare_->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
    form->setVisible(on);
  };
  connect(rare_, &QToolButton::toggled, this, fold);
  fold(false);
  return rare_;
}

void FigureFields::show_values(const figure::Parameters& values) {
  for (FieldForm* form : forms_) form->show_texts(values);
  const auto is_rare = [&](const auto& each) { return rare_keys_.contains(each.first); };
  // A rarely used key that is set is shown.
  if (shown_ != values && std::ranges::any_of(values, is_rare)) rare_->setChecked(true);
  shown_ = values;
}

}  // namespace conelab::desktop
