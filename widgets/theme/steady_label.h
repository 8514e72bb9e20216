// A readout that grows with its text and does not shrink again, so that what stands beside it keeps
// its size while the text follows the pointer.
#pragma once

#include <QLabel>
#include <algorithm>

namespace conelab::desktop {

class SteadyLabel : public QLabel {
 public:
  using QLabel::QLabel;

  void say(const QString& text) {
    setText(text);
    if (wordWrap() && isVisible()) {
      setMinimumHeight(std::max(minimumHeight(), heightForWidth(width())));
    }
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    if (width() != wrapped_) setMinimumHeight(0);  // Other lines: other heights.
    wrapped_ = width();
    QLabel::resizeEvent(event);
  }

 private:
  int wrapped_ = 0;
};

}  // namespace conelab::desktop
