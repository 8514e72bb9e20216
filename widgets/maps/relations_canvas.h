// Arcs, trees and orders of all operators, painted from the display lists of the figures of the
// same names, with the background of the theme. The focused pair is highlighted in all of them.
//
// Pointing at an arc or a token focuses it, a click locks it.
#pragma once

#include <QImage>
#include <QWidget>

#include "widgets/maps/relations_model.h"

namespace conelab::desktop {

class RelationsCanvas : public QWidget {
  Q_OBJECT

 public:
  /// Pixels per point of a page: text is as large as the window's labels.
  static constexpr double scale = 1.4;
  /// A page of figures, drawn and painted in a job, with what is needed to point at it. The window
  /// never handles a display list of a thousand tokens itself.
  struct Page {
    double width = 0, height = 0;  ///< Points.
    QImage picture;
    QString description;
    std::vector<figure::TextItem> texts;  ///< Titles and labels of the arcs.
    std::vector<figure::ArcsPlace> arcs = {};
    std::optional<figure::TreePlaces> tree = {};
  };
  /// A page with the arcs of all operators, or the tree of one.
  struct Sheet {
    std::size_t panel = 0;
    double top = 0;  ///< Upper edge in pixels.
    Page page;       ///< The previous page until the job is done.
    JobHandle job;
  };

  explicit RelationsCanvas(RelationsModel& model);

  /// Returns a description of what is under the pointer, if it is not a pair of tokens.
  [[nodiscard]] QString pointed() const { return pointed_; }
  [[nodiscard]] const std::vector<Sheet>& sheets() const { return sheets_; }
  /// Returns whether the screen shows the current state at full resolution.
  [[nodiscard]] bool sharp() const;

 signals:
  void pointed_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  /// What is at a point of the canvas.
  struct Hit {
    std::optional<Focus> pair;
    QString text;
  };
  void lay_out();
  [[nodiscard]] double page_width() const;
  void draw(Sheet& sheet);
  void stack();
  void paint_sheet(QPainter& painter, const Sheet& sheet) const;
  void mark_arcs(figure::DisplayList& list, const Sheet& sheet, const Focus& pair) const;
  void mark_tree(figure::DisplayList& list, const Sheet& sheet, const Focus& pair) const;
  [[nodiscard]] Hit hit(const QPointF& at) const;
  [[nodiscard]] Hit hit_arcs(const Sheet& sheet, figure::Point p) const;
  [[nodiscard]] Hit hit_tree(const Sheet& sheet, figure::Point p) const;
  /// `number` counts the tokens of the range.
  [[nodiscard]] Focus with_token(std::int64_t number, bool key) const;

  RelationsModel& model_;
  std::vector<Sheet> sheets_;
  std::vector<std::shared_ptr<RelationPanel>> panels_;  ///< The panels that the sheets show.
  double width_ = 0, density_ = 0;                      ///< The size for which they are drawn.
  QString pointed_;
};

}  // namespace conelab::desktop
