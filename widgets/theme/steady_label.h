// A readout that keeps room for the longest text it will have, grows where that was too little and
// does not shrink again, so that what stands beside it keeps its size while the text follows the
// pointer.
#pragma once

#include <QLabel>
#include <QRegularExpression>
#include <algorithm>

namespace conelab::desktop {

/// The text with its values bound to what they are values of: lines do not break after a colon or
/// an equals sign, before a number, nor around a minus sign.
[[nodiscard]] inline QString with_values_bound(QString text) {
  static const QRegularExpression breaks(
      QStringLiteral("(?<=[:=−]) (?! )|(?<! ) (?=[-−=]?\\d|[=−] )"));
  return text.replace(breaks, QString(QChar::Nbsp));
}

class SteadyLabel : public QLabel {
 public:
  using QLabel::QLabel;

  /// Its text where it needs another number of lines than before for another reason than its
  /// values: the room that it took is given back.
  void say_anew(const QString& text) {
    setText(text);
    if (isVisible()) settle();
  }
  void say(const QString& text) {
    setText(text);
    if (wordWrap() && isVisible()) grow(heightForWidth(width()));
  }
  /// The room that `longest` needs is kept from now on.
  void keep_room_for(const QString& longest) {
    if (longest == longest_) return;
    longest_ = longest;
    setMinimumHeight(height_of(longest_));
  }

  // The layout around it is asked nothing when a text changes: laying out rich text at the widths
  // that it tries costs more than a frame of a picture.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }
  [[nodiscard]] QSize sizeHint() const override { return {1, minimumHeight()}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    if (width() != wrapped_) settle();  // Other lines: other heights.
    QLabel::resizeEvent(event);
  }
  void showEvent(QShowEvent* event) override {
    settle();
    QLabel::showEvent(event);
  }

 private:
  void settle() {
    wrapped_ = width();
    setMinimumHeight(0);  // A label counts it into what its text needs.
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
