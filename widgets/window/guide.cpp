#include "widgets/window/guide.h"

#include <QBoxLayout>
#include <QCommandLinkButton>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QStylePainter>
#include <QTimer>
#include <QToolButton>

#include "widgets/theme/flow_layout.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

QLabel* wrapped_label(const QString& name, bool bold = false) {
  auto* label = named(new QLabel, name);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  QFont font = label->font();
  font.setBold(bold);
  label->setFont(font);
  return label;
}

}  // namespace

Guide::Guide(Document& document) : document_(document) {
  setObjectName("guide");
  auto* column = laid_out<QVBoxLayout>(this);
  auto* page = new QWidget;
  list_ = laid_out<QVBoxLayout>(page, {12, 8, 12, 8}, 8);
  question_ = wrapped_label("guide-question", true);
  question_->setText(tr("Open an example from the welcome page."));
  list_->addWidget(question_);
  answer_ = wrapped_label("guide-answer", true);
  answer_->hide();
  list_->addWidget(answer_);
  list_->addStretch(1);
  scroll_ = scrolled(page, tr("Steps of the example"));
  column->addWidget(scroll_, 1);
  auto* row = laid_out<QHBoxLayout>(nullptr, {12, 0, 12, 8});
  add_button(row, tr("Close the guide"), "guide-close", {}, this, &Guide::closed);
  row->addStretch(1);
  column->addLayout(row);
  connect(&document_, &Document::changed, this, &Guide::check_steps);
  connect(&document_, &Document::focus_changed, this, &Guide::check_steps);
  follow_palette(this, [this] { show_steps(); });
}

void Guide::start(const Example& example) {
  example_ = example;
  done_ = 0;
  qDeleteAll(steps_);
  steps_.clear();
  for (std::size_t i = 0; i < example_.steps.size(); ++i) {
    steps_.push_back(wrapped_label(QStringLiteral("guide-step-%1").arg(i + 1)));
    list_->insertWidget(static_cast<int>(i) + 1, steps_.back());
  }
  question_->setText(QString::fromUtf8(example_.question));
  answer_->setText(QString::fromUtf8(example_.answer));
  show_steps();
}

void Guide::set_flipped(bool flipped) {
  flipped_ = flipped;
  check_steps();
}

/// Steps are done in their order; one event may finish several of them.
void Guide::check_steps() {
  const std::size_t before = done_;
  const GuideView view{document_, flipped_};
  while (done_ < example_.steps.size() && example_.steps[done_].done(view)) ++done_;
  if (done_ != before) show_steps();
}

void Guide::show_steps() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const QString tick = i < done_ ? QStringLiteral("✓ ") : QString();
    const QString text = QString::fromUtf8(example_.steps[i].text);
    steps_[i]->setText(tick + tr("%1. %2").arg(i + 1).arg(text));
    set_ink(*steps_[i], i == done_ ? palette().color(QPalette::WindowText) : quiet_ink(palette()));
    steps_[i]->setVisible(i <= done_);
  }
  answer_->setVisible(!steps_.empty() && finished());
  QTimer::singleShot(0, this, &Guide::show_current);
}

/// Scrolls to the step that comes next, or to the answer.
void Guide::show_current() {
  if (steps_.empty()) return;
  scroll_->ensureWidgetVisible(finished() ? answer_ : steps_[done_], 0, 8);
}

void Guide::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  show_current();
}

namespace {

Call with(const char* similarity, std::map<std::string, Value> parameters) {
  Call call = plain_call(similarity);
  call.parameters = std::move(parameters);
  return call;
}

const Session& session_of(const GuideView& view) { return view.document.session(); }

using Done = std::function<bool(const GuideView&)>;

Done points_at(Focus pair) {
  return [pair](const GuideView& view) { return view.document.focused() == pair; };
}
Done keeps(Focus pair) {
  return [pair](const GuideView& view) { return session_of(view).locked == pair; };
}

bool has_gamma_of(const GuideView& view, double least) {
  for (const Call& call : session_of(view).maps.calls) {
    const auto gamma = call.parameters.find("gamma");
    if (gamma == call.parameters.end()) continue;
    if (gamma->second.number().value_or(0) >= least) return true;
  }
  return false;
}

/// Tokens of "Und ich meine, "Zieh sie aus! …": 2 “ich”, 6 “"”, 13 “!”, 26 “du”.
TraceChoice german_head(const std::string& file) {
  TraceChoice trace;
  trace.file = file, trace.group = "/german/layer3", trace.head = 5;
  return trace;
}

/// Tokens of the carnivores: 97 sporting dog, 120 cocker spaniel.
Example hierarchy(const std::string& file) {
  Example example{
      "What a head learns of a hierarchy",
      "Each token was trained to attend to its ancestors, with two numbers for its query and two "
      "for its key. Which operator finds them?",
      {},
      {{"Colours are relative to the largest weight of each row (the scale “row” above the maps): "
        "the "
        "ancestors of each token are dark columns, which begin on the diagonal. Press Ctrl+F, type "
        "cocker_spaniel and press Enter: the map shows the row “cocker_spaniel.n.01” (120).",
        [](const GuideView& v) {
          return v.document.focused() && v.document.focused()->query == 120;
        }},
       {"Press Down, so that the keys go to the map again, and L: the largest key of the row is "
        "“sporting_dog.n.01” (97), with 0.232. The tool “largest” lists the next ones.",
        points_at({120, 97})},
       {"Open the same tokens as the dot product was trained for them: dot/seed1, in the first "
        "list "
        "above the maps.",
        [](const GuideView& v) { return session_of(v).trace.group == "/dot/seed1"; }}},
      "Penumbral cones: 0.895 of the attention of “cocker_spaniel” is on its ancestors and itself, "
      "under the dot product 0.652, and over all tokens 0.777 and 0.629. With eight numbers for "
      "each token every operator finds nearly all."};
  example.session.trace.file = file, example.session.trace.group = "/penumbral/seed1";
  bring(example.session, {with("penumbral", {{"gamma", "691.5"}, {"height", "1.923"}})});
  example.session.maps.scale = "row";
  example.session.cones.model = "ball";
  return example;
}

Example agreement(const std::string& file) {
  Example example{
      "What cones see that dot products do not",
      "Which token does “du” look at, and do the dot product and cones agree?",
      {},
      {{"Point at the row “du” (26), column “[CLS]” (0), in any map. The line below the "
        "maps has its weights: 0.269 under dot, the largest of this row.",
        points_at({26, 0})},
       {"Click the cell in the row “du”, column “!” (13), to keep that pair: umbral "
        "gives it 0.440, penumbral 0.042.",
        keeps({26, 13})},
       {"Penumbral looks flat, because all maps share one range of colours. Switch off "
        "“shared limits” above the maps (under “more” in a narrow window): its row “du” has its "
        "largest weight at “!”, too.",
        [](const GuideView& v) { return !session_of(v).maps.shared_limits; }},
       {"Choose “arcs” in place of “maps” to see what every token looks at.",
        [](const GuideView& v) { return session_of(v).maps.layout == "arcs"; }}},
      "They do not agree. Under the dot product “du” looks at [CLS], as nearly every "
      "token of this head does; under both cones it looks at “!”, which divides the two "
      "clauses."};
  example.session.trace = german_head(file);
  example.session.cones.model = "ball";
  return example;
}

Example sharpness(const std::string& file) {
  Example example{
      "Sharper and sharper",
      "What does the γ of a cone change: which token wins, or by how much?",
      {},
      {{"Click the cell in the row “du” (26), column “!” (13): 0.042 at γ = 1, 0.073 at "
        "γ = 4, 0.230 at γ = 16.",
        keeps({26, 13})},
       {"Choose “− penumbral” instead of “no difference” above the maps (under “more” in a narrow "
        "window): cells that gain weight against γ = 1 are orange, cells that lose it are blue.",
        [](const GuideView& v) { return session_of(v).maps.reference == 0; }},
       {"Hold R: every map shows the reference, γ = 1, in colours of its own. Its pattern "
        "is the same, but the colour bar ends at 0.09.",
        [](const GuideView& v) { return v.flipped; }},
       {"In the third card at the left, set gamma to 64.",
        [](const GuideView& v) { return has_gamma_of(v, 64); }},
       {"Choose “no difference” again, and read the weight of the pair that you kept: "
        "0.719.",
        [](const GuideView& v) { return session_of(v).maps.reference < 0; }}},
      "Only by how much. γ multiplies every logit, so the order within a row stays and "
      "the strongest takes more: 0.042, 0.073, 0.230, 0.719 for “du” and “!”."};
  example.session.trace = german_head(file);
  bring(example.session, {with("penumbral", {}), with("penumbral", {{"gamma", "4"}}),
                          with("penumbral", {{"gamma", "16"}})});
  example.session.cones.model = "ball";
  return example;
}

Example ancestor(const std::string& file) {
  Example example{
      "Two tokens and their lowest common ancestor",
      "Where do “ich” and the quotation mark meet, and what has that to do with their "
      "logit?",
      {},
      {{"Click the cell in the row “ich” (2), column “\"” (6). The explorer at the right "
        "shows both tokens as u and v with their cones, and says where their lowest common "
        "ancestor (LCA) is.",
        keeps({2, 6})},
       {"Choose “logits” instead of “weights” above the maps and read the line below: "
        "−129.27.",
        [](const GuideView& v) { return session_of(v).maps.quantity == "logits"; }},
       {"Switch on “numbers” in the explorer (under “more” in a narrow window) and find the LCA: "
        "its height is 129.27.",
        [](const GuideView& v) { return session_of(v).cones.numbers; }},
       {"Switch “numbers” off again and drag u: the LCA and the logit follow. Ctrl+Z "
        "takes it back.",
        [](const GuideView& v) { return !session_of(v).cones.follow_tokens; }}},
      "They meet at the LCA, the lowest point that lies above both. Its height is "
      "129.27, and the logit is minus that height: the lower two tokens meet, the more "
      "they attend to each other."};
  example.session.trace = german_head(file);
  // Any two tokens have a common ancestor here; under a penumbral light many pairs have none.
  bring(example.session, {with("umbral", {})});
  return example;
}

}  // namespace

std::vector<Example> examples(const std::string& shipped_trace) {
  const std::string folder = shipped_trace.substr(0, shipped_trace.rfind('/') + 1);
  return {hierarchy(folder + "mammals_trace.h5"), agreement(shipped_trace),
          sharpness(shipped_trace), ancestor(shipped_trace)};
}

namespace {

QLabel* heading(const QString& text, int extra) {
  auto* label = new QLabel(text);
  QFont font = label->font();
  font.setPointSize(font.pointSize() + extra);
  font.setBold(true);
  label->setFont(font);
  return label;
}

/// A button with a title and a question. In a narrow window both take several lines; the class of
/// Qt keeps the title on one.
class ExampleButton : public QCommandLinkButton {
 public:
  ExampleButton(const QString& title, const QString& question)
      : QCommandLinkButton(title, question) {
    bold_ = font();
    bold_.setBold(true);
  }
  [[nodiscard]] QSize minimumSizeHint() const override { return {narrowest, 0}; }
  [[nodiscard]] int heightForWidth(int width) const override {
    return question_place(width).bottom() + 1 + above;
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QStylePainter painter(this);
    QStyleOptionButton frame;
    initStyleOption(&frame);
    frame.text.clear();
    painter.drawControl(QStyle::CE_PushButton, frame);
    const auto draw = [&](const QFont& letters, const QRect& place, const QString& words) {
      painter.setFont(letters);
      painter.drawItemText(place, Qt::TextWordWrap, palette(), isEnabled(), words,
                           QPalette::ButtonText);
    };
    draw(bold_, title_place(width()), text());
    draw(font(), question_place(width()), description());
  }

 private:
  static constexpr int beside = 12, above = 10, narrowest = 160;

  [[nodiscard]] static QRect place(const QFont& letters, int top, int width, const QString& words) {
    const QRect room(beside, top, width - 2 * beside, 0);
    const int height = QFontMetrics(letters).boundingRect(room, Qt::TextWordWrap, words).height();
    return {room.topLeft(), QSize(room.width(), height)};
  }
  [[nodiscard]] QRect title_place(int width) const { return place(bold_, above, width, text()); }
  [[nodiscard]] QRect question_place(int width) const {
    return place(font(), title_place(width).bottom() + 1, width, description());
  }

  QFont bold_;
};

}  // namespace

Welcome::Welcome(const std::string& shipped_trace) {
  setObjectName("welcome");
  auto* page = new QWidget;  // In a small window the page is scrolled.
  laid_out<QVBoxLayout>(this)->addWidget(scrolled(page, tr("Welcome page"), true));
  auto* outer = new QHBoxLayout(page);
  auto* column = new QVBoxLayout;
  outer->addStretch(1);
  outer->addLayout(column, 4);
  outer->addStretch(1);
  column->addStretch(1);
  column->addWidget(heading(tr("Conelab"), 14));
  auto* about = new QLabel(
      tr("Attention that knows hierarchy: what cone attention makes of a trace, beside the dot "
         "product, exactly and at once."));
  about->setWordWrap(true);
  column->addWidget(about);
  column->addSpacing(16);
  column->addWidget(heading(tr("Guided examples"), 2));
  int index = 0;
  for (const Example& example : examples(shipped_trace)) {
    auto* button = named(
        new ExampleButton(QString::fromUtf8(example.title), QString::fromUtf8(example.question)),
        QStringLiteral("example-%1").arg(index));
    button->setEnabled(!shipped_trace.empty());
    button->setIcon(QIcon());
    column->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, index] { emit example_wanted(index); });
    ++index;
  }
  column->addSpacing(12);
  column->addWidget(heading(tr("Open"), 2));
  auto* open =
      add_button<QPushButton>(column, tr("Open a file …"), {}, {}, this, &Welcome::open_wanted);
  column->setAlignment(open, Qt::AlignLeft);
  recent_ = new QVBoxLayout;
  column->addLayout(recent_);
  auto* hint = new QLabel(
      tr("HDF5, .npz, .npy and .safetensors with q, k, v; results of any command; studies; "
         "sessions. Drop any number of them anywhere. Press ? for the shortcuts and Ctrl+Shift+P "
         "for every command."));
  hint->setWordWrap(true);
  hint->setEnabled(false);
  column->addWidget(hint);
  column->addStretch(2);
}

void Welcome::show_recent(const QStringList& files) {
  while (QLayoutItem* item = recent_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const QString& file : files.mid(0, 5)) {
    auto* link = new QLabel(QStringLiteral("<a href='x'>%1</a>  <small>%2</small>")
                                .arg(QFileInfo(file).fileName().toHtmlEscaped(),
                                     QFileInfo(file).path().toHtmlEscaped()));
    connect(link, &QLabel::linkActivated, this, [this, file] { emit file_wanted(file); });
    recent_->addWidget(link);
  }
}

}  // namespace conelab::desktop
