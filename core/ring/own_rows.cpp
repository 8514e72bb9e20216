#include "core/ring/own_rows.h"

#include <algorithm>
#include <list>
#include <utility>

#include "core/ring/blocks.h"

namespace conelab {
namespace {

constexpr int rows_tag = 4096;  ///< Beside those of the attention itself.

/// Calls each(first row among those of `own`, rows) for what two lists of runs share, in ascending
/// order.
template <class Each>
void each_common(const std::vector<Rows>& own, const std::vector<Rows>& other, const Each& each) {
  std::int64_t before = 0;
  for (const Rows& mine : own) {
    for (const Rows& theirs : other) {
      const Rows common{std::max(mine.begin, theirs.begin), std::min(mine.end, theirs.end)};
      if (common.count() > 0) each(before + common.begin - mine.begin, common.count());
    }
    before += mine.count();
  }
}

}  // namespace

template <class T>
AttentionInput<T> rows_of_rank(const AttentionInput<T>& all, int rank, int ranks) {
  const std::int64_t queries = all.query.shape.token, keys = all.key.shape.token;
  const Blocks blocks(queries, keys, ranks);
  const auto keep = [&](StridedTensor4<T>& tokens, std::int64_t length) {
    if (tokens.empty()) return;
    const std::vector<Rows> runs = blocks.tokens_of_rank(rank, length);
    Shape4 shape = tokens.shape;
    shape.token = 0;
    for (const Rows& run : runs) shape.token += run.count();
    Tensor4<T> own(shape);
    for (std::int64_t h = 0; h < shape.batch * shape.head; ++h) {
      T* to = own.row(h / shape.head, h % shape.head, 0);
      for (const Rows& run : runs) {
        const auto from = tokens.tokens(h / shape.head, h % shape.head);
        copy_tokens(from.part(run.begin, run.count()), to);
        to += run.count() * shape.feature;
      }
    }
    tokens = std::move(own);
  };
  AttentionInput<T> own = all;
  keep(own.query, queries), keep(own.output_grad, queries);
  keep(own.key, keys), keep(own.value, keys);
  return own;
}

template <class T>
AttentionInput<T> take_rows(AttentionInput<T>& input, std::int64_t queries, std::int64_t keys) {
  AttentionInput<T> own;
  const auto take = [](StridedTensor4<T>& from, std::int64_t tokens) {
    StridedTensor4<T> rows = std::move(from);
    Shape4 whole = rows.shape;
    whole.token = tokens;
    const std::int64_t head = whole.token * whole.feature;
    from = StridedTensor4<T>(nullptr, whole, {whole.head * head, head, whole.feature});
    return rows;
  };
  own.query = take(input.query, queries);
  own.key = take(input.key, keys);
  own.value = take(input.value, keys);
  own.output_grad = std::exchange(input.output_grad, {});
  return own;
}

std::int64_t tokens_in(const std::vector<Rows>& runs) {
  std::int64_t tokens = 0;
  for (const Rows& run : runs) tokens += run.count();
  return tokens;
}

template <class T>
Tensor4<T> exchange(Ranks& ranks, const StridedTensor4<T>& own, const Layout& from,
                    const Layout& to, const std::function<bool()>& cancelled) {
  const std::vector<Rows> had = from(ranks.rank()), gets = to(ranks.rank());
  const std::int64_t heads = own.shape.batch * own.shape.head, columns = own.shape.feature;
  Tensor4<T> all({own.shape.batch, own.shape.head, tokens_in(gets), columns});
  struct Message {
    std::vector<T> numbers;
    std::vector<Rows> rows;  ///< Among those of the receiver.
    Ranks::Transfer transfer;
  };
  std::list<Message> sent, received;
  const auto size = [&](std::int64_t rows) {
    return static_cast<std::size_t>(heads * rows * columns);
  };
  for (int other = 0; other < ranks.size(); ++other) {
    Message out, in;
    each_common(had, to(other), [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto rows = own.tokens(h / own.shape.head, h % own.shape.head).part(first, count);
        out.numbers.resize(out.numbers.size() + static_cast<std::size_t>(count * columns));
        copy_tokens(rows, out.numbers.data() + out.numbers.size() - count * columns);
      }
    });
    std::int64_t expected = 0;
    each_common(gets, from(other), [&](std::int64_t first, std::int64_t count) {
      in.rows.push_back({first, first + count});
      expected += count;
    });
    if (other == ranks.rank()) {
      in.numbers = std::move(out.numbers);
    } else {
      in.numbers.resize(size(expected));
      Message& message = sent.emplace_back(std::move(out));
      message.transfer =
          ranks.send(other, rows_tag, message.numbers.data(), message.numbers.size() * sizeof(T));
    }
    Message& message = received.emplace_back(std::move(in));
    if (other == ranks.rank()) continue;
    message.transfer =
        ranks.receive(other, rows_tag, message.numbers.data(), message.numbers.size() * sizeof(T));
  }
  for (Message& message : received) {
    ranks.wait(message.transfer, cancelled);
    const T* next = message.numbers.data();
    for (const Rows& rows : message.rows) {
      for (std::int64_t h = 0; h < heads; ++h) {
        T* row = all.row(h / own.shape.head, h % own.shape.head, rows.begin);
        std::copy_n(next, rows.count() * columns, row);
        next += rows.count() * columns;
      }
    }
  }
  for (Message& message : sent) ranks.wait(message.transfer, cancelled);
  return all;
}

#define CONELAB_ROWS(T)                                                                        \
  template AttentionInput<T> rows_of_rank(const AttentionInput<T>&, int, int);                 \
  template AttentionInput<T> take_rows(AttentionInput<T>&, std::int64_t, std::int64_t);        \
  template Tensor4<T> exchange(Ranks&, const StridedTensor4<T>&, const Layout&, const Layout&, \
                               const std::function<bool()>&);
CONELAB_EACH_TYPE(CONELAB_ROWS)

}  // namespace conelab
