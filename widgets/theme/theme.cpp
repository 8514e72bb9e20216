#include "widgets/theme/theme.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QCursor>
#include <QEvent>
#include <QFocusEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>
#include <QTimer>
#include <QToolButton>
#include <QWidget>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/drawing/style.h"

namespace conelab::desktop {
namespace {

struct Tones {
  QColor window, base, raised, text, quiet, line, accent, on_accent;
};

const Tones light{QColor(0xf4, 0xf5, 0xf7), QColor(0xff, 0xff, 0xff), QColor(0xff, 0xff, 0xff),
                  QColor(0x1f, 0x23, 0x28), QColor(0x66, 0x6d, 0x76), QColor(0xd5, 0xd9, 0xde),
                  QColor(0x00, 0x72, 0xb2), QColor(0xff, 0xff, 0xff)};
const Tones dark{QColor(0x1d, 0x20, 0x25), QColor(0x15, 0x17, 0x1b), QColor(0x2a, 0x2e, 0x34),
                 QColor(0xe4, 0xe6, 0xea), QColor(0x97, 0x9e, 0xa8), QColor(0x3a, 0x40, 0x48),
                 QColor(0x4a, 0xa8, 0xe0), QColor(0x0c, 0x0e, 0x11)};

QPalette palette_of(const Tones& t) {
  QPalette p;
  const std::pair<QColor, std::vector<QPalette::ColorRole>> tones[] = {
      {t.window, {QPalette::Window, QPalette::AlternateBase}},
      {t.base, {QPalette::Base}},
      {t.raised, {QPalette::Button, QPalette::ToolTipBase, QPalette::Light}},
      {t.text,
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::BrightText,
        QPalette::ToolTipText}},
      {t.quiet, {QPalette::PlaceholderText, QPalette::Dark}},
      {t.line, {QPalette::Midlight, QPalette::Mid, QPalette::Shadow}},
      {t.accent, {QPalette::Highlight, QPalette::Link, QPalette::LinkVisited}},
      {t.on_accent, {QPalette::HighlightedText}}};
  for (const auto& [colour, roles] : tones) {
    for (const QPalette::ColorRole role : roles) p.setColor(role, colour);
  }
  for (const QPalette::ColorRole role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role, t.quiet);
  }
  return p;
}

// The style sheet of what a palette cannot express: spacing, corners and thin lines.
QString sheet_of(const Tones& t) {
  return QStringLiteral(
             "QMainWindow::separator { width: 5px; height: 5px; background: transparent; }"
             "QDockWidget { titlebar-close-icon: none; font-weight: 600; }"
             "QDockWidget::title { padding: 6px 10px; background: %1; }"
             "QToolBar { border: 0; padding: 3px 6px; spacing: 6px; background: %1; }"
             "QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 3px 7px; }"
             "QToolButton:hover, QToolButton:checked { background: %3; }"
             "QToolButton:focus, QPushButton:focus { border-color: %4; }"
             "QTabBar::tab:focus { background: %3; }"
             "QPushButton { border: 1px solid %3; border-radius: 5px; padding: 5px 12px;"
             "  background: %2; }"
             "QPushButton:hover { border-color: %4; }"
             "QPushButton:pressed { background: %3; }"
             "QPushButton:disabled { color: %5; }"
             "QLineEdit, QPlainTextEdit {"
             "  border: 1px solid %3; border-radius: 4px; padding: 3px 6px; background: %6; }"
             "QLineEdit:disabled { background: %1; color: %5; }"
             "QLineEdit:focus, QPlainTextEdit:focus { border-color: %4; }"
             "QGroupBox { border: 1px solid %3; border-radius: 6px; margin-top: 16px;"
             "  padding: 6px; }"
             "QGroupBox::title { subcontrol-origin: margin; left: 8px; color: %5; }"
             "QTabBar::tab { padding: 6px 14px; border: 0; color: %5;"
             "  border-bottom: 2px solid transparent; }"
             "QTabBar::tab:selected { color: %7; border-bottom: 2px solid %4; }"
             "QStatusBar::item { border: 0; }"
             "QTreeView, QListView, QTableView, QTextBrowser { border: 1px solid transparent; }"
             "QTreeView:focus, QListView:focus, QTableView:focus, QTextBrowser:focus {"
             "  border-color: %4; }"
             "QHeaderView::section { background: %1; border: 0; padding: 4px 6px; color: %5; }"
             "QProgressBar { border: 0; border-radius: 3px; background: %3; height: 6px; }"
             "QProgressBar::chunk { border-radius: 3px; background: %4; }"
             "QToolTip { border: 1px solid %3; padding: 5px; background: %2; color: %7; }"
             "QScrollArea { border: 0; }"
             "QComboBox QAbstractItemView { background: %6; color: %7; border: 1px solid %3;"
             "  selection-background-color: %4; selection-color: %8; }")
      .arg(t.window.name(), t.raised.name(), t.line.name(), t.accent.name(), t.quiet.name(),
           t.base.name(), t.text.name(), t.on_accent.name());
}

/// The style Fusion, with frames of check boxes and menus that are visible in a dark theme, and
/// with combo boxes that open lists. As menus, their highlighted row would not have the colours of
/// the style sheet.
class Style : public QProxyStyle {
 public:
  Style() : QProxyStyle(QStyleFactory::create("Fusion")) {}

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    if (element != PE_IndicatorCheckBox && element != PE_IndicatorItemViewItemCheck) {
      QProxyStyle::drawPrimitive(element, option, painter, widget);
      if (element == PE_PanelMenu && is_dark(option->palette)) {
        painter->setPen(quiet_ink(option->palette));
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
      }
      return;
    }
    draw_check_box(*option, *painter);
  }

  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override {
    return hint == SH_ComboBox_Popup ? 0 : QProxyStyle::styleHint(hint, option, widget, data);
  }

 private:
  static void draw_check_box(const QStyleOption& option, QPainter& painter) {
    const QPalette& palette = option.palette;
    const bool on = option.state & State_On, enabled = option.state & State_Enabled;
    const bool hot = option.state & (State_MouseOver | State_HasFocus);
    const QColor accent = enabled ? palette.color(QPalette::Highlight) : quiet_ink(palette);
    const qreal side = std::min(option.rect.width(), option.rect.height()) - 1;
    QRectF box(0, 0, side, side);
    box.moveCenter(QRectF(option.rect).center());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QColor frame = hot || on ? accent : quiet_ink(palette);
    if (!enabled) frame.setAlphaF(0.5F);
    painter.setPen(QPen(frame, 1));
    painter.setBrush(on ? accent : palette.color(QPalette::Base));
    painter.drawRoundedRect(box, 2.5, 2.5);
    if (on) {
      const auto at = [&](qreal x, qreal y) { return box.topLeft() + side * QPointF(x, y); };
      painter.setPen(QPen(palette.color(QPalette::HighlightedText), side / 7, Qt::SolidLine,
                          Qt::RoundCap, Qt::RoundJoin));
      painter.drawPolyline(QPolygonF({at(0.24, 0.52), at(0.43, 0.71), at(0.77, 0.3)}));
    }
    painter.restore();
  }
};

bool system_is_dark() {
  static const bool dark_at_start = is_dark(QApplication::style()->standardPalette());
  return dark_at_start;
}

using figure::Colour;

constexpr int most_of_grey = 12;  ///< Colours whose channels differ by at most this are grey.

Colour adapted(const Colour& c, const QColor& ground, const QColor& text) {
  if (c.a == 0) return c;
  const auto [low, high] = std::minmax({c.r, c.g, c.b});
  if (high - low > most_of_grey) {
    Colour lighter = figure_colour(QColor(c.r, c.g, c.b).lighter(125));
    lighter.a = c.a;
    return lighter;
  }
  const double grey = c.g / 255.0;
  const auto mix = [&](int from, int to) {
    return static_cast<std::uint8_t>(from + (to - from) * grey);
  };
  return {mix(text.red(), ground.red()), mix(text.green(), ground.green()),
          mix(text.blue(), ground.blue()), c.a};
}

/// Calls `recolour` after the palette or the style of its parent has changed: once for several
/// changes, after all widgets have received them.
class PaletteFollower : public QObject {
 public:
  PaletteFollower(QWidget* parent, std::function<void()> recolour)
      : QObject(parent), recolour_(std::move(recolour)) {
    parent->installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    const QEvent::Type type = event->type();
    const bool changed = type == QEvent::PaletteChange || type == QEvent::StyleChange;
    if (changed && !std::exchange(waits_, true)) {
      QMetaObject::invokeMethod(
          this, [this] { waits_ = false, recolour_(); }, Qt::QueuedConnection);
    }
    return QObject::eventFilter(object, event);
  }

 private:
  std::function<void()> recolour_;
  bool waits_ = false;
};

/// The frame of a canvas that has the keyboard focus. It lies above the canvas and takes no input.
class FocusFrame : public QWidget {
 public:
  explicit FocusFrame(QWidget& canvas) : QWidget(&canvas) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
    canvas.installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::FocusIn) {
      const bool by_mouse = static_cast<QFocusEvent*>(event)->reason() == Qt::MouseFocusReason;
      resize(parentWidget()->size());
      raise();
      setVisible(!by_mouse);
    }
    if (event->type() == QEvent::FocusOut) hide();
    if (event->type() == QEvent::Resize) resize(parentWidget()->size());
    return false;
  }
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
  }
};

}  // namespace

void show_focus_of(QWidget& canvas) { new FocusFrame(canvas); }

void apply_theme(QApplication& application, const QString& theme) {
  const bool dark_wanted = theme == "dark" || (theme != "light" && system_is_dark());
  const Tones& tones = dark_wanted ? dark : light;
  static const QStyle* const style = [&] {
    auto* made = new Style;
    application.setStyle(made);
    return made;
  }();
  static_cast<void>(style);
  application.setPalette(palette_of(tones));
  application.setStyleSheet(sheet_of(tones));
  for (QWidget* widget :
       QApplication::allWidgets()) {  // Links keep the colour of their first theme.
    auto* label = qobject_cast<QLabel*>(widget);
    const QString text = label == nullptr ? QString() : label->text();
    if (!text.contains(QLatin1String("<a "))) continue;
    label->clear();
    label->setText(text);
  }
}

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Window).lightnessF() < 0.5F;
}

QColor quiet_ink(const QPalette& palette) { return (is_dark(palette) ? dark : light).quiet; }
QColor hair_line(const QPalette& palette) { return (is_dark(palette) ? dark : light).line; }
QColor canvas_ground(const QPalette& palette) { return palette.color(QPalette::Base); }
QColor focus_colour() { return {0xd5, 0x5e, 0x00}; }

QColor error_ink(const QPalette& palette) {
  return is_dark(palette) ? QColor(0xff, 0x8f, 0x5e) : QColor(0xb0, 0x3a, 0x05);
}

QColor verdict_colour(bool faster, const QPalette& palette) {
  if (!faster) return error_ink(palette);
  return is_dark(palette) ? QColor(0x3f, 0xc9, 0x9d) : QColor(0x00, 0x7a, 0x58);
}

QColor operator_colour(std::size_t i, const QPalette& palette) {
  const figure::Colour c = figure::series_colour(i);
  const QColor colour(c.r, c.g, c.b);
  return is_dark(palette) ? colour.lighter(125) : colour;
}

void set_ink(QWidget& label, const QColor& ink) {
  QPalette colours = label.palette();
  colours.setColor(QPalette::WindowText, ink);
  label.setPalette(colours);
}

void add_entry(QComboBox& box, const QString& text, const QString& tip, const QVariant& data) {
  box.addItem(text, data);
  box.setItemData(box.count() - 1, tip, Qt::ToolTipRole);
}

void widen_list(QComboBox& box) {
  constexpr int frame = 30;  // Space for the frame and the scroll bar of the list.
  box.view()->setMinimumWidth(box.view()->sizeHintForColumn(0) + frame);
}

Colour figure_colour(const QColor& colour) {
  const auto channel = [](int value) { return static_cast<std::uint8_t>(value); };
  return {channel(colour.red()), channel(colour.green()), channel(colour.blue()),
          channel(colour.alpha())};
}

figure::DisplayList on_ground(figure::DisplayList list, const QPalette& palette) {
  if (!is_dark(palette)) return list;
  const QColor ground = canvas_ground(palette), text = palette.color(QPalette::WindowText);
  for (figure::Item& item : list.items) {
    if (auto* path = std::get_if<figure::PathItem>(&item)) {
      path->paint.fill = adapted(path->paint.fill, ground, text);
      path->paint.stroke.colour = adapted(path->paint.stroke.colour, ground, text);
    } else if (auto* run = std::get_if<figure::TextItem>(&item)) {
      run->colour = adapted(run->colour, ground, text);
    }
  }
  return list;
}

void follow_palette(QWidget* widget, std::function<void()> recolour) {
  recolour();
  new PaletteFollower(widget, std::move(recolour));
}

// When a click closes the menu, Qt tells the button that the pointer has entered it, wherever the
// pointer is, and never that it has left.
void set_menu(QToolButton& button, QMenu* menu) {
  constexpr int events_done = 100;  // Milliseconds.
  button.setPopupMode(QToolButton::InstantPopup);
  button.setMenu(menu);
  QObject::connect(menu, &QMenu::aboutToHide, &button, [&button] {
    QTimer::singleShot(events_done, &button, [&button] {
      const bool over = button.rect().contains(button.mapFromGlobal(QCursor::pos()));
      button.setAttribute(Qt::WA_UnderMouse, over);
      button.update();
    });
  });
}

}  // namespace conelab::desktop
