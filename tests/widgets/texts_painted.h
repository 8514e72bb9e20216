// What a widget writes, and where: a paint device that keeps the texts and paints nothing.
#pragma once

#include <gtest/gtest.h>

#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QWidget>
#include <vector>

namespace conelab::desktop {

struct PaintedText {
  QString text;
  QRectF box;  ///< Around its letters, in the widget's pixels.
};

class TextEngine : public QPaintEngine {
 public:
  TextEngine() : QPaintEngine(AllFeatures) {}
  std::vector<PaintedText> texts;

  bool begin(QPaintDevice*) override { return setActive(true), true; }
  bool end() override { return setActive(false), true; }
  void updateState(const QPaintEngineState&) override {}
  void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
  void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}
  void drawPath(const QPainterPath&) override {}
  void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    const QRectF ink = QFontMetricsF(item.font()).tightBoundingRect(item.text());
    const QRectF box(at.x(), at.y() + ink.top(), item.width(), ink.height());
    if (!item.text().trimmed().isEmpty()) {
      texts.push_back({item.text(), painter()->combinedTransform().mapRect(box)});
    }
  }
  [[nodiscard]] Type type() const override { return User; }
};

class TextDevice : public QPaintDevice {
 public:
  explicit TextDevice(const QWidget& widget) : widget_(widget) {}
  [[nodiscard]] QPaintEngine* paintEngine() const override { return &engine_; }
  [[nodiscard]] const std::vector<PaintedText>& texts() const { return engine_.texts; }

 protected:
  [[nodiscard]] int metric(PaintDeviceMetric metric) const override {
    switch (metric) {
      case PdmWidth:
        return widget_.width();
      case PdmHeight:
        return widget_.height();
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return static_cast<int>(devicePixelRatioFScale());
      case PdmDepth:
        return 32;
      case PdmNumColors:
        return 0;
      case PdmWidthMM:
        return widget_.widthMM();
      case PdmHeightMM:
        return widget_.heightMM();
      default:
        return metric == PdmDpiX || metric == PdmPhysicalDpiX ? widget_.logicalDpiX()
                                                              : widget_.logicalDpiY();
    }
  }

 private:
  const QWidget& widget_;
  mutable TextEngine engine_;
};

inline std::vector<PaintedText> texts_painted(QWidget& widget) {
  TextDevice device(widget);
  widget.render(&device);
  return device.texts();
}

/// No text lies over another, to a pixel.
inline void expect_texts_apart(const std::vector<PaintedText>& texts, const std::string& where) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const QRectF both = texts[i].box.intersected(texts[k].box);
      EXPECT_FALSE(both.width() > 1 && both.height() > 1)
          << where << ": '" << texts[i].text.toStdString() << "' lies over '"
          << texts[k].text.toStdString() << "'";
    }
  }
}

}  // namespace conelab::desktop
