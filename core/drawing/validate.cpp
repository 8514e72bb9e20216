// The checks of a display list that every writer relies on.
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/drawing/display_list.h"

namespace conelab::figure {
namespace {

template <class... Values>
void finite(const char* what, Values... values) {
  if (!(std::isfinite(values) && ...)) fail("figure: a {} is not finite", what);
}

struct SegmentCheck {
  void operator()(const MoveTo& s) const { finite("path's point", s.to.x, s.to.y); }
  void operator()(const LineTo& s) const { finite("path's point", s.to.x, s.to.y); }
  void operator()(const ArcTo& s) const {
    finite("arc", s.centre.x, s.centre.y, s.rx, s.ry, s.from, s.sweep, s.rotation);
  }
  void operator()(const CubicTo& s) const {
    finite("curve", s.control1.x, s.control1.y, s.control2.x, s.control2.y, s.to.x, s.to.y);
  }
  void operator()(const Close&) const {}
};

void check(const Path& path) {
  for (const Segment& s : path.segments) std::visit(SegmentCheck{}, s);
  if (!path.empty() && !std::holds_alternative<MoveTo>(path.segments.front())) {
    fail("figure: a path does not begin with a move");
  }
}

/// Checks items one by one, and stores which groups and clips are open.
struct ItemCheck {
  std::vector<char> open = {};
  std::set<std::string> ids = {};

  void operator()(const PathItem& i) {
    check(i.path);
    finite("line width", i.paint.stroke.width);
  }
  void operator()(const TextItem& i) { finite("text", i.at.x, i.at.y, i.size, i.rotation, i.halo); }
  void operator()(const ImageItem& i) {
    finite("image", i.box.x, i.box.y, i.box.width, i.box.height);
    if (i.columns == 0 || i.rows == 0 || i.rgba.size() != 4 * i.columns * i.rows) {
      fail("figure: an image of {} x {} cells carries {} bytes (expected {})", i.columns, i.rows,
           i.rgba.size(), 4 * i.columns * i.rows);
    }
  }
  void operator()(const ClipBegin& i) {
    check(i.path);
    open.push_back('c');
  }
  void operator()(const ClipEnd&) { pop('c', "clip"); }
  void operator()(const GroupBegin& i) {
    if (!ids.insert(i.id).second) fail("figure: two groups are called '{}'", i.id);
    open.push_back('g');
  }
  void operator()(const GroupEnd&) { pop('g', "group"); }
  void pop(char kind, const char* name) {
    if (open.empty() || open.back() != kind) fail("figure: the end of a {} that is not open", name);
    open.pop_back();
  }
};

}  // namespace

void validate(const DisplayList& list) {
  finite("page", list.width, list.height);
  if (list.width <= 0 || list.height <= 0) {
    fail("figure: the page is {} x {} points (expected positive)", list.width, list.height);
  }
  ItemCheck items;
  for (const Item& item : list.items) std::visit(items, item);
  if (!items.open.empty()) fail("figure: a clip or group is never closed");
}

}  // namespace conelab::figure
