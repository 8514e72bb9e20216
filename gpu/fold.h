// From a row of the similarity table to its type: how drivers fold over the type list.
#pragma once

#include <utility>

#include "core/similarity/all.h"

namespace conelab::gpu {

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

/// Calls f(Tag<S>{}) for the similarity that is `index` in the table; false where there is none.
template <class F>
bool visit_similarity(int index, F&& f) {
  return detail::visit(Similarities{}, index, std::forward<F>(f));
}

}  // namespace conelab::gpu
