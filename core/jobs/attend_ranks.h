// The job `attend` on several ranks (core/ring/ring_attention.h). Each reads its rows of the file
// and keeps them, and those of its results; rank 0 receives the results block by block and writes
// the one file. Every array in it has the same bytes for any number of ranks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/ranks.h"
#include "core/jobs/attend_job.h"
#include "core/jobs/attention_file.h"
#include "core/ring/ring_attention.h"

namespace conelab {

/// Throws misuse for what only one process computes: one head of several, maps of pairs and
/// determinants, and a GPU.
void check_shared(const AttendJob& job);
/// Throws a failure on rank 0 unless all ranks have the same version, job and file, of which the
/// size and the first bytes are compared.
void check_alike(const JobSpec& spec, const AttendJob& job, const JobContext& context);

template <class T>
class SharedAttend {
 public:
  /// `plan` is that of the whole sequences.
  SharedAttend(const AttendJob& job, const Plan& plan, AttentionInput<T> own,
               const JobContext& context);

  void compute();
  /// Returns the rows of this rank.
  [[nodiscard]] const AttentionInput<T>& own() const { return own_; }
  /// Returns the results of this rank's blocks.
  [[nodiscard]] const std::vector<BlockResult<T>>& results() const { return ring_.results(); }
  /// Writes the file on rank 0, which gets what the other ranks hold; returns on all of them when
  /// it is complete.
  void write(AttentionFile<T> file);
  /// Returns the bytes that each rank has sent and received so far, and the slabs that it received,
  /// on rank 0.
  struct Traffic {
    std::vector<std::int64_t> sent, received, steps;
  };
  [[nodiscard]] Traffic traffic();

 private:
  const AttendJob& job_;
  const Plan& plan_;
  AttentionInput<T> own_;
  const JobContext& context_;
  Ranks& ranks_;
  RingAttention<T> ring_;

  [[nodiscard]] std::vector<std::string> tensor_names() const;
  [[nodiscard]] std::pair<const void*, std::size_t> numbers_of(const BlockResult<T>& part,
                                                               const std::string& name) const;
  void send_rows();
  void receive_rows(const std::string& name, std::size_t bytes_a_row,
                    const std::function<void(Rows, const void*)>& write);
  [[nodiscard]] std::string digest_of_blocks();
};

}  // namespace conelab
