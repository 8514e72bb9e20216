// An open trace: the tensors of a file, and one head of it in the form that views need for
// computing. A stored map is a trace too: it has tokens and heads, but no features.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/call/input.h"
#include "core/files/read_tensors.h"
#include "core/operators/operator.h"
#include "core/tiles/backend.h"
#include "core/trace/array_choice.h"
#include "core/trace/layers.h"

namespace conelab {

// A matrix that is stored in a file: weights, logits, output or a gradient of a result of `attend`,
// or weights that another program computed, of every batch element and head.
//
// Maps show it like a trace, without computing anything. Each array of a result stands where a
// trace has its layers, under the path of its group:
//   /attention/weights      [query × key]
//   /attention/logits       [query × key], −inf for masked pairs
//   /attention/output       [query × feature]
//   /attention/gradients/q  [query × feature], dL/dq; likewise k and v

struct Inspection;

struct StoredMap {
  std::string name;   ///< "weights", "logits", "output", "dL/dq", …
  std::string title;  ///< The call that computed it: "penumbral, gamma = 2"; or the file's name.
  std::int64_t batch = 0, head = 0, rows = 0, columns = 0;
  std::string row_axis, column_axis;                 ///< "query", "key", "feature", …
  std::vector<std::string> row_token, column_token;  ///< [rows], [columns], or empty.
  /// [batch × head × rows × columns], as in the file.
  std::variant<std::vector<float>, std::vector<double>> numbers;

  [[nodiscard]] bool of_pairs() const { return column_axis == "key"; }
  /// Returns whether its values are of either sign around zero: gradients and outputs.
  [[nodiscard]] bool has_signs() const { return !of_pairs(); }
  /// Returns where a row of a head begins in `numbers`.
  [[nodiscard]] std::size_t index(std::int64_t batch_index, std::int64_t head_index,
                                  std::int64_t row) const {
    return static_cast<std::size_t>(((batch_index * head + head_index) * rows + row) * columns);
  }
};

/// Returns whether a group of an HDF5 file is the path of a stored map.
[[nodiscard]] bool is_stored_map(const std::string& group);
/// Returns the name of the map at a path: "weights", "dL/dq"; of other paths the path itself
/// without its first slash.
[[nodiscard]] std::string group_title(const std::string& group);

/// Returns the paths of the stored maps of a result of `attend`, weights first; none for any other
/// file.
[[nodiscard]] std::vector<std::string> stored_maps(const Inspection& inspection);

/// Reads a stored map in a sandbox. Throws a failure if the file does not hold it, and interrupted
/// once `cancelled` returns true.
[[nodiscard]] std::shared_ptr<const StoredMap> load_stored_map(
    const std::string& file, const std::string& group, const std::function<bool()>& cancelled);

// The operator that a trace was made for, as attributes of its group: `similarity`, by their keys
// the numbers that are its parameters, and `bias`. `conelab train` writes them, and conelab.trace
// of a model's attention. Commands and views then take this operator where the user chooses none,
// and of it what is not given where the user chooses its similarity.

/// Returns the names of the attributes that may say it.
[[nodiscard]] std::vector<std::string> own_call_attributes();
/// Returns these and the names of the others that a layer may have: its kind, name and module in
/// the model, the window, the dropout in training, and `exact`, which is 0 if the model's attention
/// differs from what was recorded.
[[nodiscard]] std::vector<std::string> trace_attributes();

/// Returns the call of an input's attributes, without parameters that have their defaults; nothing
/// if they name no similarity that there is.
[[nodiscard]] std::optional<Call> own_call(const Input& input);

/// Returns the call with the trace's own parameters and bias where it has none, if it has the
/// similarity of the trace's own operator.
[[nodiscard]] Call with_own(const std::optional<Call>& own, Call call);

/// Returns in one line what of the trace's own operator adds to the logits and is not applied,
/// because `call` has another similarity, and whether that takes the trace's sinks; empty if there
/// is nothing.
[[nodiscard]] std::string left_out_remark(const std::optional<Call>& own, const Call& call,
                                          bool has_sinks);

/// The tensors q, k, v of a file with their attributes. Shared between views and never modified.
struct Trace {
  std::string file, group;
  ArrayNames arrays;   ///< Names of the file's arrays that were read as q, k and v.
  std::string sha256;  ///< Of what was read (Input::sha256); empty for a map of a result.
  std::string stamp;   ///< Of the file before it was read (file_stamp of core/files/byte_file.h).
  /// The attribute `model` of the file or group, with ", exact = 0" for a layer that is not exact,
  /// as captions show it; empty if there is none.
  std::string model;
  std::string remark;  ///< What the user should know of how it was read, one line; may be empty.
  std::optional<Call> own_call;  ///< The operator that it was made for, if the file says it.
  bool exact = true;  ///< Whether it is what the model computed, as far as the file says.
  /// (child, parent) of the file's hierarchy, if its nodes are the tokens of a trace that was made
  /// for an operator; otherwise none.
  std::vector<std::array<std::int64_t, 2>> edges;
  Tensor4<double> query, key, value;
  /// [n_q] and [n_k], with a row for each batch element if these have their own; or empty.
  std::vector<std::string> query_token, key_token;
  std::vector<std::uint8_t> allowed;                   ///< In the sizes `allowed_sizes`, or empty.
  Shape4 allowed_sizes = {0, 1, 0, 0};                 ///< See AttentionInput.
  std::map<std::string, Array<double>> tensors;        ///< Parameters that lie beside q,
  std::map<std::string, Array<std::int64_t>> indices;  ///< and those of whole numbers.
  /// A map that the file contains instead of q, k and v, which have no features then; null for
  /// traces.
  std::shared_ptr<const StoredMap> stored;

  [[nodiscard]] Extents extents() const;
  /// Returns "FILE.h5:/group", the form that commands take.
  [[nodiscard]] std::string spec() const { return group.empty() ? file : file + ":" + group; }
  /// Return the texts of the tokens of a batch element, [n_q] and [n_k], or nothing.
  [[nodiscard]] std::vector<std::string> query_tokens(std::int64_t batch) const;
  [[nodiscard]] std::vector<std::string> key_tokens(std::int64_t batch) const;
  /// Return the text of a token, or its number if it has none.
  [[nodiscard]] std::string query_label(std::int64_t batch, std::int64_t i) const;
  [[nodiscard]] std::string key_label(std::int64_t batch, std::int64_t i) const;
};

/// A function that is polled while files are read. If it returns true, reading throws interrupted.
/// An empty one is not called.
using Cancelled = std::function<bool()>;

/// Reads a trace in a sandbox, or a stored map if `group` is its path, or if the group holds
/// attention weights and no q. Throws like read_input.
[[nodiscard]] std::shared_ptr<const Trace> load_trace(const std::string& file,
                                                      const std::string& group,
                                                      const Cancelled& cancelled = {},
                                                      const ArrayNames& arrays = {});

/// One head of one batch element as input of the engine: in double, and in float for pictures.
struct HeadInput {
  AttentionInput<double> exact;
  AttentionInput<float> fast;
  Backend* device = nullptr;  ///< The backend of passes over all pairs; null for the CPU.
  /// Of a stored map: the map, and which head of it this is. The tensors have no features then.
  std::shared_ptr<const StoredMap> stored = {};
  std::int64_t batch_index = 0, head_index = 0;
};
/// Returns one head. Throws a failure if the trace has no such head.
[[nodiscard]] std::shared_ptr<const HeadInput> head_input(const Trace& trace, std::int64_t batch,
                                                          std::int64_t head,
                                                          Backend* device = nullptr);

/// Returns the call with "random" for every tensor that it needs and that neither it nor the trace
/// has, so that commands draw what the views draw. Returns a call that is wrong, and any of a
/// stored map, as it is.
[[nodiscard]] Call with_drawn_tensors(const Call& call, const Trace& trace);

/// Names the tensors that neither the call nor the trace has, so that they are drawn: ", random W",
/// or of more than three ", random tensors". Empty if there are none, or if the call is wrong.
[[nodiscard]] std::string drawn_tensors(const Call& call, const Trace& trace);

/// Of an operator that makes several heads from tokens with one, a map shows the first: ", head 0
/// of 4". Empty for others, or if the call is wrong.
[[nodiscard]] std::string made_head(const Call& call, const Trace& trace);

/// Returns the trace with the tensors that the call takes from files (`W=@W.npy`) in the place of
/// its own; the trace itself, which must outlive the result, if there are none.
[[nodiscard]] std::shared_ptr<const Trace> with_file_tensors(const Trace& trace, const Call& call);

/// `call_of_head` under the file's own mask, where it has one.
[[nodiscard]] Call given_call_on_head(Call call, const Trace& trace, std::int64_t head);
/// Does the same, and draws the tensors that the call needs and the file lacks.
[[nodiscard]] Call call_on_head(const Call& call, const Trace& trace, std::int64_t head);

/// Returns the groups of a file that contain an array with the name of q. If there are none and
/// `or_stored` is set, returns the stored maps of a result; otherwise, and if q is not named, the
/// groups with attention weights of another program. For a .npy file it is one empty name. Parents
/// are in the order of the file, the layers of each in natural order ("/german/layer3" before
/// "/german/layer10"). Throws a failure if the file cannot be read.
[[nodiscard]] std::vector<std::string> groups_to_open(const std::string& file,
                                                      const ArrayNames& names = {},
                                                      const Cancelled& cancelled = {},
                                                      bool or_stored = true);
/// Returns the same for an HDF5 file that has been inspected, as far as it could be read.
[[nodiscard]] std::vector<std::string> groups_to_open(const Inspection& inspection,
                                                      const ArrayNames& names = {},
                                                      bool or_stored = true);

// The tensors of attention from the arrays of an input file, for the command line and the desktop.

/// Moves the tensors out of `file` and converts them to T [batch x head x n x d]. If `dtype` is
/// narrower than T, the numbers are rounded to it. Each tensor of the file is freed before the next
/// is converted, so that at most one is held twice. Throws a failure if `edge` holds a number that
/// is not whole.
template <class T>
[[nodiscard]] AttentionInput<T> attention_input(Input&& file, Dtype dtype);

}  // namespace conelab
