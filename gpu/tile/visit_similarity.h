// Turns the index of a row of the similarity table into the row's type, which kernels are
// instantiated with.
#pragma once

#include <utility>

#include "core/similarity/all.h"

namespace conelab::gpu {

/// Carries a type as a value.
template <class S>
struct Tag {
  using type = S;
};

namespace detail {
template <class F, class... S>
bool visit(TypeList<S...>, int index, F&& f) {
  int i = 0;
  return ((i++ == index ? (f(Tag<S>{}), true) : false) || ...);
}
}  // namespace detail

/// Calls f(Tag<S>{}) with S the type of row `index` of the similarity table. Returns false, without
/// a call, if there is no such row.
template <class F>
bool visit_similarity(int index, F&& f) {
  return detail::visit(Similarities{}, index, std::forward<F>(f));
}

}  // namespace conelab::gpu
