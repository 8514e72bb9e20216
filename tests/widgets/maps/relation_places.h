// Where arcs, tokens, merges and boundaries stand on the canvas of arcs and trees.
#pragma once

#include <optional>

#include "widgets/maps/maps_view.h"

namespace conelab::desktop {

inline QPointF on_canvas(const RelationsCanvas::Sheet& sheet, figure::Point p) {
  return QPointF(p.x, p.y) * RelationsCanvas::scale + QPointF(0, sheet.top);
}

/// The middle of the arc of a pair of tokens.
inline std::optional<QPointF> place_of_arc(MapsView& view, std::size_t panel, const Focus& pair) {
  const auto& sheets = view.relations_canvas().sheets();
  if (sheets.empty() || panel >= sheets.front().page.arcs.size()) return std::nullopt;
  for (const figure::PlacedArc& placed : sheets.front().page.arcs[panel].arcs) {
    if (view.relations().pair_of(placed.arc.query, placed.arc.key) == pair) {
      return on_canvas(sheets.front(), placed.points[placed.points.size() / 2]);
    }
  }
  return std::nullopt;
}

/// The sheet with the tree of a panel; null if it has none.
inline const RelationsCanvas::Sheet* tree_sheet(const RelationsCanvas& canvas, std::size_t panel) {
  for (const RelationsCanvas::Sheet& sheet : canvas.sheets()) {
    if (sheet.panel == panel && sheet.page.tree) return &sheet;
  }
  return nullptr;
}

inline std::optional<QPointF> place_of_token(const RelationsCanvas& canvas, std::size_t panel,
                                             std::size_t token) {
  const auto* sheet = tree_sheet(canvas, panel);
  if (sheet == nullptr || token >= sheet->page.tree->token.size()) return std::nullopt;
  return on_canvas(*sheet, {sheet->page.tree->token[token].x, sheet->page.tree->labels.y + 4});
}

inline std::optional<QPointF> place_of_merge(const RelationsCanvas& canvas, std::size_t panel,
                                             std::size_t merge) {
  const auto* sheet = tree_sheet(canvas, panel);
  if (sheet == nullptr || merge >= sheet->page.tree->merge.size()) return std::nullopt;
  return on_canvas(*sheet, sheet->page.tree->merge[merge]);
}

inline std::optional<QPointF> place_of_boundary(const RelationsCanvas& canvas, std::size_t panel,
                                                std::size_t b) {
  const auto* sheet = tree_sheet(canvas, panel);
  if (sheet == nullptr || b >= sheet->page.tree->boundary.size()) return std::nullopt;
  return on_canvas(*sheet,
                   {sheet->page.tree->boundary[b], sheet->page.tree->segmentation.bottom() - 4});
}

}  // namespace conelab::desktop
