#include "widgets/explorer/explorer_view.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>

#include "core/base/error.h"
#include "core/geometry/lca_query.h"

namespace conelab::desktop {
namespace {

/// Longer sequences are not placed anew at every movement of the pointer.
constexpr std::int64_t most_followed = 4096;

struct ModelName {
  const char* name;
  const char* title;
};
constexpr ModelName models[] = {{"halfspace", "half-plane"},
                                {"ball", "Poincaré ball"},
                                {"klein", "Klein ball"},
                                {"band", "band"},
                                {"hyperboloid", "hyperboloid (3-D)"},
                                {"space", "half-space H³ (3-D)"}};

QString exact(double value) { return QString::number(value, 'g', 12); }

}  // namespace

ExplorerView::ExplorerView(Workspace& workspace, QWidget* parent)
    : QWidget(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  build_tools();
  viewport_ = new ExplorerViewport(workspace_.document());
  column->addWidget(viewport_, 1);
  readout_ = new QLabel;
  readout_->setObjectName("explorer-readout");
  readout_->setTextFormat(Qt::RichText);
  readout_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  readout_->setContentsMargins(12, 6, 12, 8);
  readout_->setAccessibleName(tr("Exact values of the scene"));
  readout_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  column->addWidget(readout_);
  connect(&workspace_.document(), &Document::changed, this, &ExplorerView::show_session);
  connect(&workspace_.document(), &Document::focus_changed, this, &ExplorerView::show_session);
  connect(&workspace_, &Workspace::trace_changed, this, &ExplorerView::show_session);
  connect(viewport_, &ExplorerViewport::scene_changed, this, &ExplorerView::show_readout);
  show_session();
  show_readout();
  viewport_->fit();
}

void ExplorerView::build_tools() {
  auto* tools = new QWidget;
  auto* rows = new QVBoxLayout(tools);
  rows->setContentsMargins(10, 4, 10, 4);
  rows->setSpacing(4);
  auto* first = new QHBoxLayout;
  family_ = new QComboBox;
  family_->setObjectName("explorer-family");
  family_->setAccessibleName(tr("Cone family"));
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    family_->addItem(QString::fromUtf8(family->name));
    family_->setItemData(family_->count() - 1, QString::fromUtf8(family->about), Qt::ToolTipRole);
  }
  first->addWidget(family_, 1);
  model_ = new QComboBox;
  model_->setObjectName("explorer-model");
  model_->setAccessibleName(tr("Model of the hyperbolic plane"));
  for (const ModelName& m : models) model_->addItem(QString::fromUtf8(m.title), QString(m.name));
  first->addWidget(model_, 1);
  beside_ = new QComboBox;
  beside_->setObjectName("explorer-beside");
  beside_->setAccessibleName(tr("Families side by side"));
  beside_->setToolTip(tr("The same u and v under another family, side by side"));
  beside_->addItem(tr("alone"));
  for (const geometry::ConeFamily* family : geometry::cone_families()) {
    beside_->addItem(tr("beside %1").arg(family->name), QString(family->name));
  }
  beside_->addItem(tr("all five"), QStringLiteral("*"));
  first->addWidget(beside_, 1);
  auto* figure = new QToolButton;
  figure->setText(tr("figure"));
  figure->setObjectName("explorer-figure");
  figure->setToolTip(tr("This scene as a vector figure: opens it in Figures, to export or copy"));
  first->addWidget(figure);
  auto* figure_command = new QToolButton;
  figure_command->setText(QStringLiteral("$_ figure"));
  figure_command->setObjectName("explorer-figure-command");
  figure_command->setToolTip(tr("Copy as command: the same figure from a terminal"));
  first->addWidget(figure_command);
  connect(figure, &QToolButton::clicked, this, [this] {
    const FigureChoice wanted = cone_figure(viewport_->choice());
    workspace_.document().edit(tr("make a figure of the cones"),
                               [&](Session& s) { s.figure = wanted; });
    emit figure_shown();
  });
  connect(figure_command, &QToolButton::clicked, this,
          [this] { emit figure_command_wanted(cone_figure(viewport_->choice())); });
  connect(beside_, &QComboBox::currentIndexChanged, this, &ExplorerView::choose_beside);
  auto* command = new QToolButton;
  command->setText(QStringLiteral("$_"));
  command->setObjectName("explorer-command");
  command->setToolTip(tr("Copy as command: the same numbers from a terminal"));
  first->addWidget(command);
  rows->addLayout(first);
  auto* second = new QHBoxLayout;
  add_field(second, "u", &ConeChoice::u);
  add_field(second, "v", &ConeChoice::v);
  add_field(second, "source", &ConeChoice::source);
  rows->addLayout(second);
  layout()->addWidget(tools);
  connect(family_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
    workspace_.document().edit(tr("change the cone family"), [&](Session& s) {
      s.cones = viewport_->choice();
      s.cones.follow_tokens = false;
      s.cones.family = name.toStdString();
      for (auto* p : {&s.cones.u, &s.cones.v}) {
        const PlanePoint inside = into_domain(s.cones, {(*p)[0], (*p)[1]});
        *p = {inside.x, inside.y};
      }
    });
  });
  connect(model_, &QComboBox::currentIndexChanged, this, [this](int index) {
    workspace_.document().edit(tr("change the model"), [&](Session& s) {
      s.cones.model = model_->itemData(index).toString().toStdString();
    });
  });
  connect(command, &QToolButton::clicked, this, [this] {
    QStringList words;
    for (const std::string& word : cone_command(viewport_->choice())) {
      words << QString::fromStdString(word);
    }
    emit text_copied(words.join(' '));
  });
}

void ExplorerView::choose_beside(int index) {
  const std::string name = beside_->itemData(index).toString().toStdString();
  workspace_.document().edit(tr("choose the families side by side"), [&](Session& s) {
    s.cones.beside.clear();
    if (name != "*" && !name.empty()) s.cones.beside = {name};
    if (name != "*") return;
    for (const geometry::ConeFamily* family : geometry::cone_families()) {
      if (family->name != s.cones.family) s.cones.beside.emplace_back(family->name);
    }
  });
}

QLineEdit* ExplorerView::add_field(QLayout* line, const QString& name,
                                   std::array<double, 2> ConeChoice::*member) {
  auto* label = new QLabel(name);
  line->addWidget(label);
  auto* field = new QLineEdit;
  field->setObjectName("explorer-" + name);
  field->setAccessibleName(tr("Coordinates of %1").arg(name));
  field->setToolTip(tr("x, height in the half-plane; exact"));
  field->setMinimumWidth(60);
  line->addWidget(field);
  fields_.emplace_back(field, member);
  connect(field, &QLineEdit::editingFinished, this, [this, field, name, member] {
    try {
      const geometry::Vector p =
          geometry::parse_point(field->text().toStdString(), name.toStdString());
      if (p.size() != 2) misuse("{}: two numbers are needed", name.toStdString());
      const std::array<double, 2> typed = {p[0], p[1]};
      const auto& now = viewport_->choice().*member;
      if (field->text() == exact(now[0]) + ", " + exact(now[1])) return;
      workspace_.document().edit(tr("type %1").arg(name), [&](Session& s) {
        s.cones = viewport_->choice();
        s.cones.follow_tokens = false;
        s.cones.*member = typed;
      });
    } catch (const Error& error) {
      readout_->setText(QString::fromStdString(error.what()).toHtmlEscaped());
    }
  });
  return field;
}

/// The session's scene, or the pair of tokens in focus in their own plane.
ConeChoice ExplorerView::wanted() const {
  const Session& session = workspace_.document().session();
  const auto focus = workspace_.document().focused();
  const auto& head = workspace_.head();
  if (!session.cones.follow_tokens || !focus || !head) return session.cones;
  const Extents extents = workspace_.trace()->extents();
  if (std::max(extents.query, extents.key) > most_followed || focus->query >= extents.query ||
      focus->key >= extents.key) {
    return session.cones;
  }
  for (const Call& call : session.maps.calls) {
    try {
      const auto plane = plane_of_pair(session.cones, *head,
                                       call_of_head(call, extents, session.trace.head), *focus);
      if (plane) return *plane;
    } catch (const Error&) {
      continue;  // The maps tell what is wrong with this operator.
    }
  }
  return session.cones;
}

void ExplorerView::show_session() {
  const bool followed = viewport_->choice().follow_tokens;
  const ConeChoice choice = wanted();
  const bool other = choice.model != viewport_->choice().model ||
                     choice.family != viewport_->choice().family ||
                     choice.beside.size() != viewport_->choice().beside.size() ||
                     (choice.follow_tokens && !followed);
  const bool pair = choice.follow_tokens && !(choice == viewport_->choice());
  viewport_->show_choice(choice);
  if (other || pair) viewport_->fit();
  const QSignalBlocker a(family_), b(model_), c(beside_);
  const std::vector<std::string>& beside = choice.beside;
  beside_->setCurrentIndex(
      beside.empty()
          ? 0
          : std::max(0, beside_->findData(beside.size() > 1 ? QStringLiteral("*")
                                                            : QString::fromStdString(beside[0]))));
  family_->setCurrentText(QString::fromStdString(choice.family));
  model_->setCurrentIndex(model_->findData(QString::fromStdString(choice.model)));
  const bool finite = geometry::cone_family(choice.family).base == geometry::Base::sphere;
  for (const auto& [field, member] : fields_) {
    const auto& p = choice.*member;
    const QString text = exact(p[0]) + ", " + exact(p[1]);
    if (!field->hasFocus() && field->text() != text) {
      field->setText(text);
      field->setCursorPosition(0);
    }
    if (member == &ConeChoice::source) field->setEnabled(finite);
  }
}

QString ExplorerView::readout() const {
  QString text;
  for (const auto& [name, value] : cone_readout(viewport_->choice(), viewport_->scene())) {
    text += QString::fromStdString(name + ": " + value + "\n");
  }
  return text;
}

void ExplorerView::show_readout() {
  QString html = "<table cellspacing='0'>";
  int column = 0;
  for (const auto& [name, value] : cone_readout(viewport_->choice(), viewport_->scene())) {
    if (column == 0) html += "<tr>";
    html += QStringLiteral(
                "<td style='padding-right:8px'><i>%1</i></td>"
                "<td style='padding-right:22px'>%2</td>")
                .arg(QString::fromStdString(name).toHtmlEscaped(),
                     QString::fromStdString(value).toHtmlEscaped());
    column = (column + 1) % 2;
    if (column == 0) html += "</tr>";
  }
  readout_->setText(html + "</table>");
}

}  // namespace conelab::desktop
