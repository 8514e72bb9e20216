// The layers of a traced model: groups of an HDF5 file that contain an array q, and what they and
// their heads are called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/inspect.h"
#include "core/trace/array_choice.h"

namespace conelab {

/// Returns the groups of an inspected file that contain an array `query`. Parents are in the order
/// of the file, the layers of each in natural order ("/german/layer3" before "/german/layer10").
[[nodiscard]] std::vector<std::string> groups_with_queries(const Inspection& inspection,
                                                           const std::string& query = "q");
/// Returns the groups that hold an array of attention weights of this name; if it is empty, of one
/// of the names of weights_array.h. An array with an axis of layers gives a group for each.
[[nodiscard]] std::vector<std::string> groups_with_weights(const std::vector<NamedArray>& arrays,
                                                           const std::string& name = "");
/// Returns whether an array of an archive is `name` within a group: "layer0/q" and "layer0.q" are
/// q.
[[nodiscard]] bool is_array_of_group(const std::string& array, const std::string& name);
/// Returns the groups of an archive with these arrays that contain an array `query`, in the same
/// order: "/layer0" for "layer0/q" or "layer0.q"; "" alone if an array is called `query`. The
/// result is empty if there is none.
[[nodiscard]] std::vector<std::string> groups_of_archive(const std::vector<std::string>& arrays,
                                                         const std::string& query = "q");
/// Returns those of `groups` that have the same parent as `group`, in natural order: the layers of
/// one model on one text. Of a model with several stacks, whose layers are called "encoder.layer0",
/// "decoder.layer0.self", "decoder.layer0.cross", ..., they are the layers of one stack and kind.
[[nodiscard]] std::vector<std::string> layers_beside(const std::vector<std::string>& groups,
                                                     const std::string& group);
/// Returns the first of `layers` up to and including `group`. If `group` is not one of them,
/// returns `group` alone.
[[nodiscard]] std::vector<std::string> layers_up_to(std::vector<std::string> layers,
                                                    const std::string& group);
/// Returns the last part of the path of a group, "layer3"; "trace" for the root.
[[nodiscard]] std::string layer_name(const std::string& group);
/// Shortens names of words between dots: leaves out the words with which all names begin or end,
/// except the last of those at the beginning. "model.layers.0.attn" and "model.layers.1.attn"
/// become "layers.0" and "layers.1". If a name would become empty, no name is shortened.
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& names);
/// Returns whether a comes before b if runs of digits are compared as numbers.
[[nodiscard]] bool naturally_before(const std::string& a, const std::string& b);

/// Returns what a map shows of a layer: "layer3 · 5" for head 5, "layer3 · mean" for a join of its
/// heads, "rollout to layer3". `join` is "one" for a head. If `whole` is true, the layer is named
/// with its path: "german/layer3 · 5".
[[nodiscard]] std::string subject_name(const std::string& group, std::int64_t head,
                                       const std::string& join, bool whole);

/// Returns what names the head that a map shows of an operator that makes `heads` of them from one:
/// the first, ", head 0 of 4". Empty if there is one.
[[nodiscard]] std::string made_head_text(std::int64_t heads);

/// Returns whether an array of an HDF5 file is a gradient that `attend --keep gradients` wrote.
/// These arrays are named q, k and v too, but they form no trace.
[[nodiscard]] inline bool is_gradient(const std::string& path) {
  return path.starts_with("/attention/gradients/");
}

}  // namespace conelab
