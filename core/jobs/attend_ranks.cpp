#include "core/jobs/attend_ranks.h"

#include <algorithm>
#include <cstring>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/byte_file.h"

namespace conelab {
namespace {

/// The tags of messages beside those of the attention itself.
constexpr int rows_tag = 8192, written_tag = 16384;
/// The bytes at the beginning of a file that are compared.
constexpr std::uint64_t compared_bytes = 65536;

bool is_of_keys(const std::string& name) { return name == "k" || name == "v"; }

}  // namespace

void check_shared(const AttendJob& job) {
  const auto refuse = [](const std::string& what) {
    misuse("{} is computed by one process (start conelab without mpirun)", what);
  };
  if (job.head) refuse("--head");
  if (job.device == "cuda") refuse("--device cuda");
  if (read_by_any(job.call.masks, MaskOperand::allowed)) refuse("--mask explicit");
  for (const char* part : {"weights", "logits", "determinant"}) {
    if (job.keeps(part)) refuse(std::string("--keep ") + part);
  }
}

void check_alike(const JobSpec& spec, const AttendJob& job, const JobContext& context) {
  Ranks& ranks = *context.ranks;
  const InputSpec input = parse_input_spec(job.input.empty() ? job.query : job.input);
  const ByteFile file(input.path);
  const std::string own[] = {
      program_version(), json_line(spec_to_json(spec)),
      fmt::format("{} bytes, {}", file.size(), sha256(file.peek(0, compared_bytes)))};
  constexpr const char* what[] = {"another version", "another job", "another input file"};
  for (std::size_t i = 0; i < std::size(own); ++i) {
    const std::vector<std::string> all = gather(ranks, own[i], context.cancelled);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank] == all[0]) continue;
      fail("{}: rank {} has {} (expected that of rank 0, {}, found {})", input.path, rank, what[i],
           all[0], all[rank]);
    }
  }
}

template <class T>
SharedAttend<T>::SharedAttend(const AttendJob& job, const Plan& plan, AttentionInput<T> own,
                              const JobContext& context)
    : job_(job),
      plan_(plan),
      own_(std::move(own)),
      context_(context),
      ranks_(*context.ranks),
      ring_(plan_, own_, ranks_) {}

template <class T>
void SharedAttend<T>::compute() {
  ring_.forward(context_.execution(job_.threads, "forward"));
  if (job_.keeps("gradients")) ring_.backward(context_.execution(job_.threads, "backward"));
}

/// Returns the tensors in the order in which the file gets them.
template <class T>
std::vector<std::string> SharedAttend<T>::tensor_names() const {
  if (job_.keeps("gradients")) return {"output", "lse", "q", "k", "v"};
  return {"output", "lse"};
}

template <class T>
std::pair<const void*, std::size_t> SharedAttend<T>::numbers_of(const BlockResult<T>& part,
                                                                const std::string& name) const {
  const auto of = [](const auto& tensor) {
    return std::pair<const void*, std::size_t>(tensor.data.data(),
                                               tensor.data.size() * sizeof(tensor.data[0]));
  };
  if (name == "lse") return of(part.forward.lse);
  return of(name == "output" ? part.forward.output
            : name == "q"    ? part.backward.query
            : name == "k"    ? part.backward.key
                             : part.backward.value);
}

template <class T>
void SharedAttend<T>::send_rows() {
  for (const std::string& name : tensor_names()) {
    for (const BlockResult<T>& part : results()) {
      const auto [numbers, bytes] = numbers_of(part, name);
      Ranks::Transfer transfer =
          ranks_.send(0, rows_tag + static_cast<int>(part.block), numbers, bytes);
      ranks_.wait(transfer, context_.cancelled);
    }
  }
}

template <class T>
void SharedAttend<T>::receive_rows(const std::string& name, std::size_t bytes_a_row,
                                   const std::function<void(Rows, const void*)>& write) {
  const Blocks& blocks = ring_.blocks();
  std::vector<char> room;
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    const Rows rows = is_of_keys(name) ? blocks.keys(block) : blocks.queries(block);
    const int from = blocks.owner_of_block(block);
    if (from == 0) {
      const auto part = std::ranges::find(results(), block, &BlockResult<T>::block);
      write(rows, numbers_of(*part, name).first);
      continue;
    }
    room.resize(static_cast<std::size_t>(rows.count()) * bytes_a_row);
    Ranks::Transfer transfer =
        ranks_.receive(from, rows_tag + static_cast<int>(block), room.data(), room.size());
    ranks_.wait(transfer, context_.cancelled);
    write(rows, room.data());
  }
}

/// Returns the SHA-256 of the tokens: of a line "BLOCK SHA256" for each block, whose digest is that
/// of its q, k, v and output_grad in the type of the computation. Empty on other ranks than 0.
template <class T>
std::string SharedAttend<T>::digest_of_blocks() {
  std::string lines;
  std::int64_t query = 0, key = 0;
  const Blocks& blocks = ring_.blocks();
  for (const std::int64_t block : blocks.of_rank(ranks_.rank())) {
    Sha256 sum;
    const auto add = [&](const StridedTensor4<T>& tokens, std::int64_t first, std::int64_t count) {
      for (std::int64_t h = 0; !tokens.empty() && h < tokens.shape.batch * tokens.shape.head; ++h) {
        const auto rows = tokens.tokens(h / tokens.shape.head, h % tokens.shape.head);
        for (std::int64_t i = first; i < first + count; ++i) {
          sum.update(reinterpret_cast<const char*>(rows.row(i)),
                     static_cast<std::size_t>(rows.columns) * sizeof(T));
        }
      }
    };
    const std::int64_t queries = blocks.queries(block).count(), keys = blocks.keys(block).count();
    add(own_.query, query, queries);
    add(own_.key, key, keys);
    add(own_.value, key, keys);
    add(own_.output_grad, query, queries);
    query += queries, key += keys;
    lines += fmt::format("{:04} {}\n", block, sum.hex());
  }
  std::string all;
  for (const std::string& part : gather(ranks_, lines, context_.cancelled)) all += part;
  if (ranks_.rank() > 0) return "";
  std::vector<std::string> sorted;
  for (std::size_t at = 0; at < all.size(); at = all.find('\n', at) + 1) {
    sorted.push_back(all.substr(at, all.find('\n', at) + 1 - at));
  }
  std::ranges::sort(sorted);
  all.clear();
  for (const std::string& line : sorted) all += line;
  return sha256(all);
}

template <class T>
void SharedAttend<T>::write(AttentionFile<T> file) {
  const std::string digest = digest_of_blocks();
  char written = 1;
  if (ranks_.rank() > 0) {
    send_rows();
    Ranks::Transfer transfer = ranks_.receive(0, written_tag, &written, 1);
    return ranks_.wait(transfer, context_.cancelled);
  }
  file.environment.add("input_blocks_sha256", {}, std::vector{digest});
  const Extents& e = plan_.extents;
  Forward<T> sizes;
  sizes.output.shape = plan_.output;
  sizes.lse.shape = {e.batch, plan_.pairs.head, e.query, 1};
  Backward<T> gradients = ring_.parameters();
  gradients.query.shape = {e.batch, e.head, e.query, e.feature};
  gradients.key.shape = {e.batch, e.key_heads(), e.key, e.feature};
  gradients.value.shape = {e.batch, e.value_heads(), e.key, e.value};
  file.output = &sizes.output, file.lse = &sizes.lse;
  if (job_.keeps("gradients")) file.gradients = &gradients;
  file.rows = [this](const std::string& name, std::size_t bytes_a_row, const auto& write) {
    receive_rows(name, bytes_a_row, write);
  };
  write_attention(job_.output, file);
  for (int rank = 1; rank < ranks_.size(); ++rank) {
    Ranks::Transfer transfer = ranks_.send(rank, written_tag, &written, 1);
    ranks_.wait(transfer);
  }
}

template <class T>
typename SharedAttend<T>::Traffic SharedAttend<T>::traffic() {
  const std::int64_t own[] = {ranks_.sent_bytes(), ranks_.received_bytes(), ring_.steps()};
  const std::string bytes(reinterpret_cast<const char*>(own), sizeof own);
  Traffic traffic;
  for (const std::string& part : gather(ranks_, bytes, context_.cancelled)) {
    std::int64_t numbers[3];
    std::memcpy(numbers, part.data(), sizeof numbers);
    traffic.sent.push_back(numbers[0]);
    traffic.received.push_back(numbers[1]);
    traffic.steps.push_back(numbers[2]);
  }
  return traffic;
}

#define CONELAB_SHARED(T) template class SharedAttend<T>;
CONELAB_EACH_TYPE(CONELAB_SHARED)

}  // namespace conelab
