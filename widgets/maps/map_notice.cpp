#include "widgets/maps/map_notice.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>
#include <cmath>

namespace conelab::desktop {
namespace {

QString nats(double entropy) { return QString::number(entropy, 'f', 2); }

}  // namespace

MapNotice::MapNotice(MapsModel& maps, EntropyMatcher& matcher, QWidget* parent)
    : QWidget(parent), maps_(maps), matcher_(matcher) {
  setObjectName("maps-notice");
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(12, 2, 12, 4);
  line->setSpacing(8);
  text_ = new QLabel;
  text_->setObjectName("maps-notice-text");
  text_->setWordWrap(true);
  const auto add = [&](const QString& name) {
    auto* button = new QPushButton;
    button->setObjectName(name);
    line->addWidget(button, 0, Qt::AlignVCenter);
    return button;
  };
  line->addWidget(text_, 1);
  own_ = add("maps-own-limits");
  own_->setText(tr("Own limits"));
  own_->setToolTip(tr("Each map uses all colours for its own values"));
  match_ = add("maps-match-entropy");
  connect(own_, &QPushButton::clicked, this, [this] {
    maps_.workspace().document().edit(tr("change limits"),
                                      [](Session& s) { s.maps.shared_limits = false; });
  });
  connect(match_, &QPushButton::clicked, this, [this] { matcher_.match(flat_panels()); });
  connect(&maps_, &MapsModel::progressed, this, &MapNotice::refresh);
  connect(&maps_, &MapsModel::panels_changed, this, [this] {
    matcher_.forget_error();
    refresh();
  });
  connect(&matcher_, &EntropyMatcher::changed, this, &MapNotice::refresh);
  hide();
}

void MapNotice::look(bool wanted) {
  wanted_ = wanted;
  refresh();
}

std::vector<std::size_t> MapNotice::flat_panels() const {
  std::vector<std::size_t> flat;
  if (maps_.compares()) return flat;  // Entropies are matched on one head.
  const auto& panels = maps_.panels();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (!panels[i]->pyramid || !panels[i]->error.empty()) continue;
    if (!panels[i]->pyramid->complete()) return {};
    if (maps_.flat(*panels[i])) flat.push_back(i);
  }
  return flat;
}

QString MapNotice::text_of(const std::vector<std::size_t>& flat) const {
  QStringList names;
  double most = 0;
  for (const std::size_t i : flat) {
    names << QString::fromStdString(maps_.panels()[i]->title);
    most = std::max(most, maps_.used_colours(*maps_.panels()[i]));
  }
  const QString share = QString::number(100 * most, 'g', 2);
  if (flat.size() > 1) {
    return tr("%1 use at most %2 % of the shared colours, so they look empty.")
        .arg(names.join(", "), share);
  }
  QString text =
      tr("%1 uses %2 % of the shared colours, so it looks empty").arg(names.join(""), share);
  const MapSummary& summary = maps_.panels()[flat.front()]->summary;
  const double entropy = summary.mean_entropy();
  if (!summary.row_entropy.empty() && std::isfinite(entropy)) {
    text += tr(" (mean entropy of its rows: %1 nats)").arg(nats(entropy));
  }
  return text + ".";
}

bool MapNotice::is_incomplete() const {
  const auto& panels = maps_.panels();
  return std::any_of(panels.begin(), panels.end(), [](const auto& panel) {
    return panel->pyramid && panel->error.empty() && !panel->pyramid->complete();
  });
}

void MapNotice::refresh() {
  // While other maps are computed the notice stays, so that the maps keep their size.
  if (wanted_ && !isHidden() && is_incomplete()) {
    text_->setText(maps_.cancelled() ? tr("The maps are incomplete.") : tr("computing …"));
    own_->setEnabled(false), match_->setEnabled(false);
    return;
  }
  own_->setEnabled(true);
  const std::vector<std::size_t> flat = wanted_ ? flat_panels() : std::vector<std::size_t>();
  const bool busy = matcher_.busy();
  const QString error = QString::fromStdString(matcher_.error());
  setVisible(wanted_ && (!flat.empty() || busy || !error.isEmpty()));
  if (isHidden()) return;
  if (!busy) text_->setText(error.isEmpty() ? text_of(flat) : error);
  const auto can = std::find_if(flat.begin(), flat.end(),
                                [this](std::size_t i) { return matcher_.can_match(i); });
  own_->setVisible(!flat.empty());
  match_->setVisible(busy || (can != flat.end() && error.isEmpty()));
  match_->setEnabled(!busy);
  if (busy) return match_->setText(tr("computing …"));
  if (can == flat.end()) return;
  const Call& call = maps_.workspace().document().session().maps.calls[*can];
  const QString key = QString::fromStdString(sharpness_key(call).value_or(""));
  match_->setText(tr("%1 with the entropy of dot").arg(key));
  match_->setToolTip(tr("Sets %1 so that the mean entropy of the rows equals that of dot on this "
                        "head: then the attention is as concentrated")
                         .arg(key));
}

}  // namespace conelab::desktop
