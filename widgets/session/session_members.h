// The list of the members of a session, for its file and for tests that cover every member.
//
// `members(a, part)` calls `a(name, member)` for each member. A member that is itself a part has
// members of its own.
#pragma once

#include "widgets/session/session.h"

namespace conelab::desktop {

template <class A>
void members(A& a, Call& c) {
  a("operator", c.operation);
  for (const CallField& field : call_fields()) {
    if (field.word != nullptr) {
      a(field.name, c.*field.word);
    } else {
      a(field.name, c.*field.list);
    }
  }
  a("parameters", c.parameters);
}
template <class A>
void members(A& a, ArrayNames& c) {
  a("q", c.query), a("k", c.key), a("v", c.value), a("weights", c.weights);
}
template <class A>
void members(A& a, TraceChoice& c) {
  a("file", c.file), a("group", c.group), a("batch", c.batch), a("head", c.head);
  a("device", c.device), a("arrays", c.arrays);
}
template <class A>
void members(A& a, MapRegion& c) {
  a("query_begin", c.query_begin), a("query_end", c.query_end);
  a("key_begin", c.key_begin), a("key_end", c.key_end);
}
template <class A>
void members(A& a, MapZoom& c) {
  a("row", c.row), a("column", c.column), a("scale", c.scale);
  a("rows", c.rows), a("columns", c.columns);
}
template <class A>
void members(A& a, BesideChoice& c) {
  a("file", c.file), a("group", c.group), a("head", c.head), a("join", c.join);
  a("arrays", c.arrays);
}
template <class A>
void members(A& a, Brought& c) {
  a("file", c.file), a("group", c.group), a("calls", c.calls), a("instead", c.instead);
  a("reference", c.reference), a("family", c.family), a("scale", c.scale);
  a("own", c.own);
}
template <class A>
void members(A& a, MapChoice& c) {
  a("calls", c.calls), a("brought", c.brought), a("quantity", c.quantity), a("scale", c.scale),
      a("colours", c.colours);
  a("shared_limits", c.shared_limits), a("reference", c.reference), a("layout", c.layout);
  a("arc_top", c.arc_top), a("arc_threshold", c.arc_threshold);
  a("arc_arrangement", c.arc_arrangement), a("tree_tokens", c.tree_tokens);
  a("numbers", c.numbers), a("percentiles", c.percentiles), a("limits", c.limits);
  a("special_tokens", c.special_tokens), a("merge_words", c.merge_words);
  a("profiles", c.profiles), a("range_begin", c.range_begin), a("range_end", c.range_end);
  a("region", c.region), a("zoom", c.zoom);
  a("join", c.join), a("beside", c.beside);
  a("heads_rows", c.heads_rows), a("heads_operator", c.heads_operator);
  a("head_score", c.head_score), a("heads_order", c.heads_order);
}
template <class A>
void members(A& a, Focus& c) {
  a("query", c.query), a("key", c.key);
}
template <class A>
void members(A& a, ConeCamera& c) {
  a("x0", c.x0), a("log_scale", c.log_scale), a("yaw", c.yaw), a("pitch", c.pitch);
  a("zoom", c.zoom);
}
template <class A>
void members(A& a, ConeChoice& c) {
  a("family", c.family), a("beside", c.beside), a("parameters", c.parameters);
  a("model", c.model), a("depth", c.depth), a("similarity", c.similarity);
  a("horospheres", c.horospheres), a("snap", c.snap);
  a("u", c.u), a("v", c.v), a("source", c.source);
  a("heat", c.heat), a("level_lines", c.level_lines), a("ancestors", c.ancestors);
  a("objects", c.objects), a("geodesic", c.geodesic), a("follow_tokens", c.follow_tokens);
  a("numbers", c.numbers), a("camera", c.camera);
}
template <class A>
void members(A& a, FigureChoice& c) {
  a("name", c.name), a("inputs", c.inputs), a("parameters", c.parameters), a("width", c.width);
}
template <class A>
void members(A& a, BenchChoice& c) {
  a("fields", c.fields), a("shown", c.shown);
  a("compared", c.compared), a("page", c.page), a("place", c.place), a("hidden", c.hidden);
}
template <class A>
void members(A& a, StudyChoice& c) {
  a("file", c.file), a("quick", c.quick);
}
template <class A>
void members(A& a, Session& s) {
  a("trace", s.trace), a("maps", s.maps), a("locked", s.locked), a("cones", s.cones);
  a("figure", s.figure), a("figure_output", s.figure_output), a("bench", s.bench);
  a("study", s.study), a("theme", s.theme), a("views", s.views);
}

template <class Part>
concept has_members = requires(int& each, Part& part) {
  members(each, part);
};

}  // namespace conelab::desktop
