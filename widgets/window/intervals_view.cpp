// The intervals of a head's keys as nested bars (core/figure/intervals.h), under the first operator
// of the maps whose cones have their light at infinity. The focused pair is that of all views: the
// bar of its key and those of the key's ancestors are outlined, the interval of its query lies on
// the axis, and a band marks the hull of both, their lowest common ancestor. A double click on a
// bar shows only what it spans, one beside the bars shows all.
#include <QCheckBox>
#include <QMouseEvent>
#include <QPainter>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/figure/intervals.h"
#include "core/trace/matrix_source.h"
#include "widgets/explorer/token_plane.h"
#include "widgets/maps/map_tokens.h"
#include "widgets/painter/painter.h"
#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"
#include "widgets/window/main_window.h"
#include "widgets/window/view.h"

namespace conelab::desktop {
namespace {

using figure::Interval;

constexpr double pixels_per_point = 1.4;
constexpr std::size_t most_told = 8;  ///< How many ancestors and weights the readout names.
constexpr const char* view_name = "intervals";

/// Returns the operator whose intervals are shown.
Call call_of_intervals(const Session& session, const Trace& trace) {
  const auto shows = [](const Call& call) {
    const auto* family = geometry::find_cone_family(call.similarity);
    return is_attention(call) && family != nullptr && family->base == geometry::Base::plane;
  };
  for (const Call& call : session.maps.calls) {
    if (shows(call)) return call;
  }
  return trace.own_call && shows(*trace.own_call) ? *trace.own_call : plain_call("umbral");
}

/// A head's keys as bars, and what the readout says of them.
struct IntervalSheet {
  HeadTokens tokens;
  std::vector<Interval> keys, queries;
  std::shared_ptr<MatrixSource> weights;
  figure::DrawnIntervals drawn;
  QImage picture;
};

/// What a sheet is made of; another one is another sheet.
struct SheetChoice {
  std::shared_ptr<const HeadInput> head;
  Call call;
  bool by_rank = true;
  int within = -1;  ///< The key whose descendants are shown; -1: all.
  double width = 0, density = 1;
  bool operator==(const SheetChoice&) const = default;
};

IntervalSheet make_sheet(const SheetChoice& choice, const std::vector<std::string>& names) {
  auto tokens = head_tokens(*choice.head, choice.call);
  if (!tokens) misuse("{} is no family of cones", choice.call.similarity);
  IntervalSheet sheet{std::move(*tokens), {}, {}, {}, {}, {}};
  const std::string what = "the view of intervals";
  sheet.keys = figure::intervals_of(sheet.tokens.keys, what);
  sheet.queries = figure::intervals_of(sheet.tokens.queries, what);
  sheet.weights = attention_source(choice.head, choice.call, Map2d::weights);
  figure::IntervalFigure f{.intervals = sheet.keys, .names = names};
  f.axis = choice.call.similarity == "umbral" ? "<i>c x</i>" : "<i>x</i>";
  f.by_rank = choice.by_rank, f.width = choice.width;
  const auto within = static_cast<std::size_t>(choice.within);
  if (within < f.intervals.size()) figure::keep_within(f.intervals, within);
  sheet.drawn = figure::place_intervals(f);
  const figure::DisplayList& list = sheet.drawn.list;
  const double scale = pixels_per_point * choice.density;
  sheet.picture = QImage((QSizeF(list.width, list.height) * scale).toSize(),
                         QImage::Format_ARGB32_Premultiplied);
  sheet.picture.setDevicePixelRatio(choice.density);
  sheet.picture.fill(Qt::white);  // Names are dark or light for the colours of their bars.
  QPainter into(&sheet.picture);
  into.scale(pixels_per_point, pixels_per_point);
  figure::paint(list, into);
  return sheet;
}

class IntervalsCanvas : public QWidget {
 public:
  IntervalsCanvas(Workspace& workspace, SteadyLabel& readout)
      : workspace_(workspace), readout_(readout) {
    named(this, "intervals-canvas", tr("Keys as nested intervals"));
    setMouseTracking(true);
    Document& document = workspace_.document();
    connect(&workspace_, &Workspace::trace_changed, this, [this] { follow(); });
    connect(&document, &Document::changed, this, [this] { follow(); });
    connect(&document, &Document::focus_changed, this, [this] { show_focus(); });
  }

 protected:
  void showEvent(QShowEvent*) override { follow(); }
  void resizeEvent(QResizeEvent*) override { follow(); }
  void paintEvent(QPaintEvent*) override {
    if (left_out_) QTimer::singleShot(0, this, [this] { follow(); });
    QPainter painter(this);
    painter.fillRect(rect(), canvas_ground(palette()));
    if (!sheet_) {
      painter.setPen(quiet_ink(palette()));
      return painter.drawText(rect().adjusted(8, 8, -8, -8), Qt::AlignCenter | Qt::TextWordWrap,
                              message_);
    }
    painter.drawImage(QPointF(), sheet_->picture);
    const auto pair = workspace_.document().focused();
    if (!pair || !has(*pair)) return;
    painter.scale(pixels_per_point, pixels_per_point);
    mark(painter, *pair);
  }
  void mouseMoveEvent(QMouseEvent* event) override {
    const auto pair = pair_at(event->position());
    setCursor(pair ? Qt::PointingHandCursor : Qt::ArrowCursor);
    workspace_.document().hover(pair);
  }
  void mousePressEvent(QMouseEvent* event) override {
    const auto pair = pair_at(event->position());
    if (event->button() == Qt::LeftButton && pair) lock_pair(workspace_.document(), pair);
  }
  void mouseDoubleClickEvent(QMouseEvent* event) override {
    const auto pair = pair_at(event->position());
    const int within = pair ? static_cast<int>(pair->key) : -1;
    workspace_.document().edit(tr("choose the intervals shown"), [within](Session& s) {
      QJsonObject own = s.views[view_name].toObject();
      own["within"] = within;
      s.views[view_name] = own;
    });
  }
  void leaveEvent(QEvent*) override { workspace_.document().hover(std::nullopt); }

 private:
  Workspace& workspace_;
  SteadyLabel& readout_;
  SheetChoice choice_;
  std::vector<std::string> names_;              ///< [keys]
  std::shared_ptr<const IntervalSheet> sheet_;  ///< Null until it is made.
  QString message_ = tr("Open a trace.");
  JobHandle job_, row_job_;
  bool left_out_ = false;  ///< Whether the sheet was not made because nobody saw it.

  [[nodiscard]] bool has(const Focus& pair) const {
    return sheet_ && choice_.head == workspace_.head() && pair.query >= 0 && pair.key >= 0 &&
           pair.query < std::ssize(sheet_->queries) && pair.key < std::ssize(sheet_->keys);
  }

  /// Makes the sheet that the session wants, unless it is there or the view is hidden.
  void follow() {
    const auto& trace = workspace_.trace();
    left_out_ = visibleRegion().isEmpty();  // Also behind another tab.
    if (left_out_) return;
    if (!trace || !workspace_.head() || trace->stored) {
      message_ = trace && trace->stored ? tr("A result of attend holds no places of tokens.")
                                        : tr("Open a trace.");
      choice_ = {}, job_ = {}, sheet_.reset();
      return show_focus();
    }
    const Session& session = workspace_.document().session();
    const QJsonObject own = session.views[view_name].toObject();
    Call call;
    try {
      call = call_on_head(call_of_intervals(session, *trace), *trace, session.trace.head);
    } catch (const Error& error) {  // The operator's card shows it too.
      message_ = QString::fromUtf8(error.what());
      choice_ = {}, job_ = {}, sheet_.reset();
      return show_focus();
    }
    SheetChoice wanted{workspace_.head(),
                       call,
                       !own["linear"].toBool(),
                       own["within"].toInt(-1),
                       std::floor(std::max(240.0, width() / pixels_per_point)),
                       devicePixelRatioF()};
    if (wanted == choice_) return;
    if (choice_.head != wanted.head) {
      sheet_.reset(), names_.clear();
      for (std::int64_t j = 0; j < wanted.head->exact.key.shape.token; ++j) {
        names_.push_back(trace->key_label(wanted.head->batch_index, j));
      }
    }
    choice_ = wanted;
    message_ = tr("computing …");
    job_ = workspace_.jobs().start<IntervalSheet>(
        "intervals",
        [wanted, names = names_](const PoolContext&) { return make_sheet(wanted, names); },
        [this](IntervalSheet made) {
          sheet_ = std::make_shared<const IntervalSheet>(std::move(made));
          setMinimumHeight(static_cast<int>(sheet_->drawn.list.height * pixels_per_point));
          show_focus();
        },
        [this](const std::string& error) {
          sheet_.reset(), message_ = QString::fromStdString(error);
          show_focus();
        },
        true);
    update();
  }

  /// Returns the pair of the bar at a point: its key with the query of the locked pair, or else
  /// with the query of its number.
  [[nodiscard]] std::optional<Focus> pair_at(const QPointF& at) const {
    if (!sheet_) return std::nullopt;
    const figure::Point p{at.x() / pixels_per_point, at.y() / pixels_per_point};
    const auto& bars = sheet_->drawn.bars;
    const auto beside = [&](const figure::Box& bar) {
      const bool in_row = bar.width > 0 && p.y >= bar.y && p.y <= bar.bottom();
      return in_row ? std::max({bar.x - p.x, p.x - bar.right(), 0.0}) : 1e300;
    };
    const auto bar = std::ranges::min_element(bars, {}, beside);
    constexpr double reach = 2;  // Points; narrow bars can be pointed at too.
    if (bar == bars.end() || beside(*bar) > reach) return std::nullopt;
    const std::int64_t key = bar - bars.begin();
    const auto& locked = workspace_.document().session().locked;
    return Focus{locked ? locked->query : std::min(key, std::ssize(sheet_->queries) - 1), key};
  }

  void mark(QPainter& painter, const Focus& pair) const {
    const auto& drawn = sheet_->drawn;
    const Interval &query = sheet_->queries[static_cast<std::size_t>(pair.query)],
                   &key = sheet_->keys[static_cast<std::size_t>(pair.key)];
    if (!std::isfinite(query.low) || !std::isfinite(key.low)) return;
    const auto span = [&](const Interval& t, double y, double height) {
      const double left = drawn.scale(t.low), right = drawn.scale(t.high);
      return QRectF(drawn.field.x + left * drawn.field.width, y,
                    std::max(0.5, (right - left) * drawn.field.width), height);
    };
    const QColor colour = focus_colour();
    const figure::Box& field = drawn.field;
    QColor band = colour;
    band.setAlphaF(0.12);
    painter.fillRect(span(figure::hull(query, key), field.y, field.height), band);
    painter.fillRect(span(query, field.bottom() - 1, 2), colour);
    const auto outline = [&](std::size_t bar, double width) {
      painter.setPen(QPen(colour, width));
      if (drawn.bars[bar].width > 0) painter.drawRect(desktop_rect(drawn.bars[bar]));
    };
    for (const std::size_t above : ancestors_of(pair.key)) outline(above, 0.6);
    outline(static_cast<std::size_t>(pair.key), 1.6);
  }

  /// Returns the keys that span another one and differ from it, the nearest first.
  [[nodiscard]] std::vector<std::size_t> ancestors_of(std::int64_t token) const {
    const auto& keys = sheet_->keys;
    const Interval& own = keys[static_cast<std::size_t>(token)];
    std::vector<std::size_t> above;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      if (keys[j].spans(own) && keys[j] != own) above.push_back(j);
    }
    std::ranges::sort(above, {}, [&](std::size_t j) { return keys[j].high - keys[j].low; });
    return above;
  }

  /// Shows what is known of the focused pair, and its weights once a job has computed their row.
  void show_focus() {
    update();
    const auto pair = workspace_.document().focused();
    row_job_ = {};
    if (!pair || !has(*pair)) return readout_.show_text(sheet_ ? about_sheet() : QString());
    const QString text = about(*pair);
    readout_.show_text(text);
    setAccessibleDescription(text);
    row_job_ = workspace_.jobs().start<std::vector<double>>(
        "weights of a query",
        [source = sheet_->weights, row = pair->query](const PoolContext&) {
          std::vector<double> weights;
          for (std::int64_t j = 0; j < source->columns(); ++j) {
            weights.push_back(source->exact(row, j));
          }
          return weights;
        },
        [this, text](const std::vector<double>& weights) {
          readout_.show_text(text + "\n" + about_weights(weights));
        },
        nullptr, true);
  }

  /// Names the head and the cones whose intervals are shown, and what can be done with them.
  [[nodiscard]] QString about_sheet() const {
    const geometry::ConeSystem& system = sheet_->tokens.keys.system;
    const std::string& head = workspace_.trace()->group;
    std::string text = fmt::format("{} keys of {} under {} cones, {} = {:.4g}", sheet_->keys.size(),
                                   head.empty() ? "the head" : head, system.family->name,
                                   system.family->parameters[0].key, system.values[0]);
    text += choice_.within < 0 ? "\nA double click on a bar shows what it spans."
                               : "\nA double click beside the bars shows all keys again.";
    return QString::fromStdString(text);
  }

  [[nodiscard]] QString about(const Focus& pair) const {
    const auto key = static_cast<std::size_t>(pair.key);
    const auto& tokens = sheet_->tokens;
    const geometry::Lca lca = geometry::lca(
        tokens.keys.system, tokens.queries.elements[static_cast<std::size_t>(pair.query)],
        tokens.keys.elements[key]);
    const std::vector<std::size_t> above = ancestors_of(pair.key);
    std::string text = fmt::format("key {} “{}”: [{:.6g}, {:.6g}], height {:.6g}\n", key,
                                   names_[key], sheet_->keys[key].low, sheet_->keys[key].high,
                                   tokens.keys.elements[key].radial);
    text += fmt::format("{} ancestors, the nearest first:", above.size());
    for (std::size_t k = 0; k < std::min(most_told, above.size()); ++k) {
      text += fmt::format("{} {}", k == 0 ? "" : ",", names_[above[k]]);
    }
    const auto& trace = *workspace_.trace();
    text += fmt::format("\nquery {} “{}”: LCA with the key {}", pair.query,
                        trace.query_label(choice_.head->batch_index, pair.query),
                        lca.place ? fmt::format("at height {:.6g}", lca.radial) : "does not exist");
    return QString::fromStdString(text);
  }

  [[nodiscard]] QString about_weights(const std::vector<double>& weights) const {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto told = static_cast<std::ptrdiff_t>(std::min(most_told, order.size()));
    std::partial_sort(order.begin(), order.begin() + told, order.end(),
                      [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::string text = "its largest weights:";
    for (std::ptrdiff_t k = 0; k < told; ++k) {
      const std::size_t j = order[static_cast<std::size_t>(k)];
      text += fmt::format("{} {:.3g} {}", k == 0 ? "" : ",", weights[j], names_[j]);
    }
    return QString::fromStdString(text);
  }
};

}  // namespace

View make_intervals(MainWindow& window) {
  auto* view = new QWidget;
  auto* readout = named(new SteadyLabel, "intervals-readout", tr("What is known of the bar"));
  readout->setWordWrap(true);
  readout->setTextInteractionFlags(Qt::TextSelectableByMouse);
  readout->reserve_space_for("\n\n\n\n");
  auto* linear = named(new QCheckBox(tr("Linear axis")), "intervals-linear", {},
                       tr("Otherwise the ends of intervals have equal distances in their order"));
  Document& document = window.document();
  QObject::connect(linear, &QCheckBox::clicked, view, [&document](bool on) {
    document.edit(tr("change the axis of the intervals"), [on](Session& s) {
      QJsonObject own = s.views[view_name].toObject();
      own["linear"] = on;
      s.views[view_name] = own;
    });
  });
  QObject::connect(&document, &Document::changed, view, [&document, linear] {
    linear->setChecked(document.session().views[view_name].toObject()["linear"].toBool());
  });
  auto* column = new QVBoxLayout(view);
  column->setContentsMargins(4, 4, 4, 4);
  column->addWidget(linear);
  column->addWidget(
      scrolled(new IntervalsCanvas(window.workspace(), *readout), tr("Intervals of the keys")), 1);
  column->addWidget(readout);
  return {.widget = view,
          .tools = tr("Intervals"),
          .gestures = {{tr("click a bar"), tr("keep its key in the pair of tokens")},
                       {tr("double click a bar"), tr("show what it spans; beside bars: all")}}};
}

}  // namespace conelab::desktop
