// A label that reserves space for its longest text. It grows if that was too little and does not
// shrink again, so that its neighbours keep their sizes while the text follows the pointer.
#pragma once

#include <QLabel>
#include <QRegularExpression>
#include <algorithm>

namespace conelab::desktop {

/// Returns the text with non-breaking spaces between values and their names: lines do not break
/// after a colon or an equals sign, before a number, or around a minus sign.
[[nodiscard]] inline QString with_values_bound(QString text) {
  static const QRegularExpression breaks(
      QStringLiteral("(?<=[:=−]) (?! )|(?<! ) (?=[-−=]?\\d|[=−] )"));
  return text.replace(breaks, QString(QChar::Nbsp));
}

class SteadyLabel : public QLabel {
 public:
  using QLabel::QLabel;

  /// Shows a text whose number of lines changed for another reason than its values. The reserved
  /// space is computed again.
  void show_new_text(const QString& text) {
    setText(text);
    if (isVisible()) settle();
  }
  void show_text(const QString& text) {
    setText(text);
    if (wordWrap() && isVisible()) grow(heightForWidth(width()));
  }
  /// Reserves the space that `longest` needs from now on.
  void reserve_space_for(const QString& longest) {
    if (longest == longest_) return;
    longest_ = longest;
    setMinimumHeight(height_of(longest_));
  }

  // The layout around the label is not asked when a text changes, because laying out rich text at
  // several widths takes longer than a frame.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }
  [[nodiscard]] QSize sizeHint() const override { return {1, minimumHeight()}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    if (width() != wrapped_) settle();  // Another width changes the lines and the height.
    QLabel::resizeEvent(event);
  }
  void showEvent(QShowEvent* event) override {
    settle();
    QLabel::showEvent(event);
  }

 private:
  void settle() {
    wrapped_ = width();
    setMinimumHeight(0);  // Otherwise the label includes it in the height of its text.
    setMinimumHeight(std::max(height_of(longest_), wordWrap() ? heightForWidth(width()) : 0));
  }
  void grow(int height) { setMinimumHeight(std::max(minimumHeight(), height)); }
  [[nodiscard]] int height_of(const QString& text) const {
    const QMargins around = contentsMargins();
    const int room = std::max(1, width() - around.left() - around.right());
    return fontMetrics().boundingRect(0, 0, room, 10000, Qt::TextWordWrap, text).height() +
           around.top() + around.bottom();
  }

  QString longest_;
  int wrapped_ = 0;
};

}  // namespace conelab::desktop
