// Finds attention weights that another program computed, in a file that has no q.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/files/read_tensors.h"

namespace conelab {

/// The names under which weights are looked for if none is given: those of Hugging Face's models
/// and of this program's own results.
inline constexpr const char* weights_names[] = {"attentions", "weight"};

/// Returns the path of layer `layer` of an array [layer × batch × head × n_q × n_k] in a group.
[[nodiscard]] std::string weights_layer(const std::string& group, const std::string& name,
                                        std::int64_t layer);

/// Splits "/run/attentions/3", the path of layer 3 of an array of five axes, into the group "/run"
/// and the layer, and sets `options.weights` to the array's name. Other groups are returned as they
/// are, with layer 0.
[[nodiscard]] std::pair<std::string, std::int64_t> split_weights_layer(const std::string& group,
                                                                       InputOptions& options);

/// Throws a failure that lists the arrays of the source, which has none of this name.
[[noreturn]] void fail_not_found(TensorSource& source, const std::string& name);

/// Returns the array of weights that the options name, or if they name none and `or_weights` is
/// set, the first with one of the names above; nothing if there is none. Throws a failure for a
/// named one that is missing or is not [.. × n_q × n_k] of floating-point numbers.
[[nodiscard]] std::optional<DeclaredArray> find_weights(TensorSource& source,
                                                        const InputOptions& options);
/// Returns " (its array attentions holds ...)" for a file that attend and tree cannot read but
/// figures can, or "".
[[nodiscard]] std::string weights_hint(TensorSource& source);

/// Reads weights as [batch × head × n_q × n_k]. Of five axes it keeps one layer. Throws a failure
/// if there is no such layer.
[[nodiscard]] InputTensor read_weights(TensorSource& source, const DeclaredArray& array,
                                       std::int64_t layer, const InputOptions& options);

}  // namespace conelab
