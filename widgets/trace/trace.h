// An opened trace: the tensors of a file, and one head of it in the form the views compute with.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/files/read_tensors.h"
#include "core/operators/operator.h"
#include "core/tiles/backend.h"
#include "widgets/session/session.h"

namespace conelab {
struct Inspection;
}

namespace conelab::desktop {

/// A file's q, k, v and what belongs to them; shared, never changed.
struct Trace {
  std::string file, group;
  std::string model;   ///< Attribute, or empty.
  std::string text;    ///< Attribute, or empty.
  std::string sha256;  ///< Of the file.
  Tensor4<double> query, key, value;
  std::vector<std::string> query_token, key_token;  ///< [n_q], [n_k], or empty.
  std::vector<std::uint8_t> allowed;                ///< [n_q × n_k] or empty.
  std::map<std::string, Array<double>> tensors;     ///< Parameters that lie beside q.
  std::int64_t nan_count = 0, infinite_count = 0;

  [[nodiscard]] Extents extents() const;
  /// "FILE.h5:/group", as commands take it.
  [[nodiscard]] std::string spec() const { return group.empty() ? file : file + ":" + group; }
  /// The token's text, or its number where there is none.
  [[nodiscard]] std::string query_label(std::int64_t i) const;
  [[nodiscard]] std::string key_label(std::int64_t i) const;
};

/// Polled by what reads files: true stops it with Error(interrupted). Empty: never.
using Cancelled = std::function<bool()>;

/// Reads in a sandbox. Fails as read_input does.
[[nodiscard]] std::shared_ptr<const Trace> load_trace(const std::string& file,
                                                      const std::string& group,
                                                      const Cancelled& cancelled = {});

/// One head of one batch element as input of the engine: exact, and in float for pictures.
struct HeadInput {
  AttentionInput<double> exact;
  AttentionInput<float> fast;
  Backend* device = nullptr;  ///< Where passes over all pairs run; null: the CPU.
};
/// Fails where the trace has no such head.
[[nodiscard]] std::shared_ptr<const HeadInput> head_input(const Trace& trace, std::int64_t batch,
                                                          std::int64_t head,
                                                          Backend* device = nullptr);

/// `call_of_head` under the file's own mask, where it has one. Tensors that the call needs and the
/// file lacks are drawn.
[[nodiscard]] Call call_on_head(Call call, const Trace& trace, std::int64_t head);

/// Groups of an HDF5 file that hold a q, ascending ("/german/layer3"); one empty name for files of
/// other formats. Fails where the file cannot be read.
[[nodiscard]] std::vector<std::string> groups_with_queries(const std::string& file,
                                                           const Cancelled& cancelled = {});
/// The same of an HDF5 file that was looked into, as far as it could be read.
[[nodiscard]] std::vector<std::string> groups_with_queries(const Inspection& inspection);

}  // namespace conelab::desktop
