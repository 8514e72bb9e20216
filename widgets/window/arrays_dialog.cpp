#include "widgets/window/arrays_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>

#include "widgets/theme/theme.h"

namespace conelab::desktop {

ArraysDialog::ArraysDialog(const FoundFile& file, QWidget* parent) : QDialog(parent), file_(file) {
  setObjectName("arrays-dialog");
  setWindowTitle(tr("Which arrays are q, k and v?"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* form = new QFormLayout(this);
  form->setContentsMargins(18, 16, 18, 14);
  form->setSpacing(8);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  auto* about = new QLabel(tr("%1 has no array called q. Queries, keys and values are arrays "
                              "[token × feature], [head × token × feature] or [batch × head × "
                              "token × feature].")
                               .arg(QFileInfo(file.path).fileName()));
  about->setWordWrap(true);
  form->addRow(about);
  const ArrayNames guess = guess_arrays(file.arrays);
  query_ = add_choice("q", guess.query, false);
  key_ = add_choice("k", guess.key, true);
  value_ = add_choice("v", guess.value, true);
  problem_ = new QLabel;
  problem_->setObjectName("arrays-problem");
  problem_->setWordWrap(true);
  problem_->setMinimumHeight(2 * fontMetrics().lineSpacing());  // Nothing moves when it appears.
  problem_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  form->addRow(problem_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel);
  open_ = buttons->button(QDialogButtonBox::Open);
  form->addRow(buttons);
  connect(buttons, &QDialogButtonBox::accepted, this, &ArraysDialog::choose);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  setMinimumWidth(480);
  show_problem();
}

QComboBox* ArraysDialog::add_choice(const QString& name, const std::string& guess, bool optional) {
  auto* box = new QComboBox;
  box->setObjectName("arrays-" + name);
  box->setAccessibleName(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(40);
  if (optional) box->addItem(tr("the same as q"), QString());
  for (const NamedArray& array : file_.arrays) {
    box->addItem(QString::fromStdString(array.text()), QString::fromStdString(array.name));
  }
  const int at = box->findData(QString::fromStdString(guess));
  box->setCurrentIndex(std::max(0, at));
  static_cast<QFormLayout*>(layout())->addRow(name, box);
  connect(box, &QComboBox::currentIndexChanged, this, [this] {
    if (problem_ != nullptr) show_problem();
  });
  return box;
}

ArrayNames ArraysDialog::names() const {
  const auto name = [](const QComboBox* box) {
    return box->currentData().toString().toStdString();
  };
  return {name(query_), name(key_), name(value_)};
}

void ArraysDialog::show_problem() {
  const std::string problem = array_problem(file_.arrays, names());
  open_->setEnabled(problem.empty());
  problem_->setText(QString::fromStdString(problem));
  QPalette colours = palette();
  colours.setColor(QPalette::WindowText, error_ink(colours));
  problem_->setPalette(colours);
}

void ArraysDialog::choose() {
  const GroupedNames named = within_group(names());
  emit chosen(file_.path, QString::fromStdString(named.group), named.arrays);
  accept();
}

}  // namespace conelab::desktop
