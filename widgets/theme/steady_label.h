// A readout that keeps room for the longest text it will have, grows where that was too little and
// does not shrink again, so that what stands beside it keeps its size while the text follows the
// pointer.
#pragma once

#include <QLabel>
#include <algorithm>

namespace conelab::desktop {

class SteadyLabel : public QLabel {
 public:
  using QLabel::QLabel;

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

 protected:
  void resizeEvent(QResizeEvent* event) override {
    if (width() != wrapped_) setMinimumHeight(height_of(longest_));  // Other lines: other heights.
    wrapped_ = width();
    QLabel::resizeEvent(event);
  }

 private:
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
