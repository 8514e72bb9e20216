#include "gpu/operands.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/parameter_sums.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/shared_rows.h"
#include "core/tiles/upstream.h"
#include "core/tiles/values.h"
#include "gpu/tile/product.h"

namespace conelab::gpu {
namespace {

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

/// Rounds numbers to `storage` at `to`. Returns whether all of them are within its range; if not,
/// they are 0.
template <class N>
bool store(const N* from, std::int64_t count, Storage storage, std::byte* to) {
  const auto put = [&](auto convert) {
    using To = decltype(convert(N(0)));
    bool finite = true;
    for (std::int64_t i = 0; i < count; ++i) {
      const To number = convert(from[i]);
      finite &= std::isfinite(static_cast<double>(number));
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof(To)), &number, sizeof(To));
    }
    if (!finite) std::memset(to, 0, size_of(count) * sizeof(To));
    return finite;
  };
  switch (storage) {
    case Storage::f64:
      return put([](N x) { return static_cast<double>(x); });
    case Storage::f32:
      return put([](N x) { return static_cast<float>(x); });
    case Storage::f16:
      return put([](N x) { return Float16(x); });
    case Storage::bf16:
      return put([](N x) { return Bfloat16(x); });
  }
  return false;
}

template <class N>
constexpr N not_finite = std::numeric_limits<N>::quiet_NaN();

int to_int(std::int64_t count) {
  if (count > std::numeric_limits<int>::max() / 2)
    fail("device cuda: {} tokens are too many", count);
  return static_cast<int>(count);
}

template <class To, class From>
void append(To& to, const From& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// A differentiable number of the bias: its position among the bias's parameters, and its axis.
struct BiasNumber {
  std::size_t parameter, axis;
};

template <class N>
std::vector<BiasNumber> bias_numbers(const Plan& plan, const HeadBias<N>& bias) {
  std::vector<BiasNumber> numbers;
  for (std::size_t k = 0; k < plan.bias_parameters.size(); ++k) {
    const Parameter& p = plan.parameters[plan.bias_parameters[k]];
    if (!p.info.differentiable || !p.is_number()) continue;
    for (std::size_t a = 0; a < bias.axes(); ++a) numbers.push_back({k, a});
  }
  return numbers;
}

/// The entries of one block's list: for each token of the other side the bits of PairLists::rows.
/// Pairs are added in the order of the block's tokens or in that of the other side's.
class BlockList {
 public:
  void add(std::int64_t own, std::int64_t other) {
    if (entries_.empty() || entries_.back().token != other) entries_.push_back({to_int(other), 0});
    entries_.back().rows |= std::uint64_t{1} << (own % tile_rows);
  }
  void append_to(ListArrays& lists) {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.token < b.token; });
    const std::size_t first = lists.token.size();
    for (const Entry& entry : entries_) {
      if (lists.token.size() == first || lists.token.back() != entry.token) {
        lists.token.push_back(entry.token);
        lists.rows.push_back(0);
      }
      lists.rows.back() |= entry.rows;
    }
    lists.first.push_back(to_int(static_cast<std::int64_t>(lists.token.size())));
  }

 private:
  struct Entry {
    int token;
    std::uint64_t rows;
  };
  std::vector<Entry> entries_;
};

std::vector<std::int64_t> seen_keys(const Mask& mask, std::int64_t element, std::int64_t query,
                                    std::vector<std::uint8_t>& room) {
  if (mask.is_sparse()) return mask.keys(element, query);
  std::vector<std::int64_t> keys;
  mask.row(element, query, 0, static_cast<std::int64_t>(room.size()), room.data());
  for (std::size_t j = 0; j < room.size(); ++j) {
    if (room[j] != 0) keys.push_back(static_cast<std::int64_t>(j));
  }
  return keys;
}

template <class N>
class Builder {
 public:
  Builder(const Plan& plan, const AttentionInput<N>& input, Storage storage)
      : plan_(plan), input_(input) {
    if (const char* part = plan.cpu_part()) {
      fail("device cuda: {} is computed on the CPU only", part);
    }
    const Extents& e = plan.extents;
    Problem<N>& p = out_.shape;
    p.groups = to_int(e.batch * e.head);
    p.heads = to_int(std::max<std::int64_t>(1, e.head));
    p.base_size = plan.map->base_size(static_cast<int>(e.feature));
    // Lines that begin at a multiple of 8 numbers are read 4 or 8 at a time (gpu/tile/product.h).
    // The halves of a sum of tanh follow each other.
    const bool halves = plan.similarity->info.measure == Measure::tanh_sum;
    p.base_stride = halves ? p.base_size : ceil_div(p.base_size, 8) * 8;
    p.width = aggregate_width(plan.aggregate, e.value);
    p.storage = storage;
    p.sigmoid = plan.weights == WeightLaw::sigmoid;
    p.normalised = scale_law(plan.weights, plan.aggregate) == WeightLaw::softmax;
    p.over_queries = plan.weights == WeightLaw::softmax_over_queries;
    p.query.count = to_int(e.query);
    p.key.count = to_int(e.key);
    // One of the two numbers of heads divides the other.
    const std::int64_t own = std::max(plan.placed_key_heads(), e.value_heads());
    p.key.share = own > 0 ? to_int(e.head / own) : 1;
  }

  void make_heads() {
    for (int g = 0; g < out_.shape.groups; ++g) {
      out_.heads.emplace_back(plan_, kernels<N>(), input_, g);
    }
  }

  Operands<N> run(const Execution& execution) {
    make_heads();
    allocate();
    run_tasks(out_.shape.groups, quiet(execution),
              [&](std::int64_t g, const auto&) { build_group(g); });
    return structure();
  }

  /// Builds what no token decides, for heads that exist.
  Operands<N> structure() {
    if (out_.shape.groups > 0) {
      set_bias_sizes();
      for (std::int64_t h = 0; h < plan_.extents.head; ++h) build_head(h);
      for (const Head<N>& head : out_.heads) {
        if (head.bias().of_queries()) append(out_.class_bias, head.bias().table());
      }
    }
    build_masks();
    return std::move(out_);
  }

 private:
  const Plan& plan_;
  const AttentionInput<N>& input_;
  Operands<N> out_;

  void allocate() {
    const Problem<N>& p = out_.shape;
    const std::int64_t queries = static_cast<std::int64_t>(p.groups) * p.query.count;
    const std::int64_t key_groups = p.groups / p.key.share;
    const std::int64_t keys = key_groups * p.key.count;
    const int bytes = storage_size(p.storage);
    out_.query_base.resize(size_of(queries * p.base_stride * bytes));
    out_.key_base.resize(size_of(keys * p.base_stride * bytes));
    out_.value.resize(size_of(keys * p.width * bytes));
    out_.query_values.resize(size_of(queries * plan_.similarity->values));
    out_.key_values.resize(size_of(keys * plan_.similarity->values));
    out_.query_offset.resize(size_of(queries));
    out_.key_offset.resize(size_of(keys));
    out_.value_mark.resize(size_of(keys));
    out_.non_finite_values.resize(size_of(key_groups));
  }

  void build_group(std::int64_t g) {
    const Problem<N>& p = out_.shape;
    const std::int64_t b = g / p.heads;
    const std::int64_t h = g % p.heads;
    const Head<N>& head = out_.heads[size_of(g)];
    place(head, g, input_.query.tokens(b, h), "q", out_.query_base, out_.query_values,
          out_.query_offset);
    if (g % p.key.share != 0) return;  // The first of the groups that share k and v stores them.
    const std::int64_t own = p.key.of(to_int(g));
    place(head, own, input_.key.tokens(b, h, p.heads), "k", out_.key_base, out_.key_values,
          out_.key_offset);
    std::vector<N> extended(size_of(static_cast<std::int64_t>(p.key.count) * p.width));
    std::vector<std::int64_t>& bad = out_.non_finite_values[size_of(own)];
    extend_values(plan_, g, input_.value.tokens(b, h, p.heads), 0, p.width, extended.data(), bad);
    const std::int64_t first = own * p.key.count;
    for (std::int64_t key = 0; key < p.key.count; ++key) {
      std::byte* to = out_.value.data() + (first + key) * p.width * storage_size(p.storage);
      // Only numbers of a midpoint, times their Lorentz factors, are not those of the input.
      if (!store(extended.data() + key * p.width, p.width, p.storage, to)) bad.push_back(key);
    }
    std::ranges::sort(bad);
    for (const std::int64_t key : bad) {
      out_.value_mark[size_of(first + key)] = not_finite<N>;
    }
  }

  void place(const Head<N>& head, std::int64_t g, const TokenRows<const N>& tokens,
             const char* tensor, std::vector<std::byte>& base, std::vector<N>& values,
             std::vector<N>& offset) const {
    const Problem<N>& p = out_.shape;
    const std::int64_t count = tokens.count;
    Operand<N> operand;
    // The rows have no padding, because the device packs panels in its own layout.
    head.place(tokens, count, tensor, 0, 1, operand);
    const int bytes = storage_size(p.storage);
    for (std::int64_t i = 0; i < count; ++i) {
      std::byte* to = base.data() + (g * count + i) * p.base_stride * bytes;
      N& own = offset[size_of(g * count + i)];
      own = not_finite<N>;
      if (store(operand.base.data() + i * operand.stride, p.base_size, p.storage, to)) {
        own = distance() ? norm(to) : N(0);
      }
    }
    const int size = plan_.similarity->values;
    std::copy_n(operand.values.begin(), count * size, values.begin() + g * count * size);
    for (const std::int64_t i : operand.non_finite) offset[size_of(g * count + i)] = not_finite<N>;
  }

  [[nodiscard]] bool distance() const {
    return plan_.similarity->info.measure == Measure::squared_distance;
  }

  [[nodiscard]] N norm(const std::byte* stored) const {
    double sum = 0;
    for (int c = 0; c < out_.shape.base_size; ++c) {
      const auto x = load<double>(stored, out_.shape.storage, c);
      sum += x * x;
    }
    return static_cast<N>(sum);
  }

  void set_bias_sizes() {
    const HeadBias<N>& bias = out_.heads.front().bias();
    Problem<N>& p = out_.shape;
    if (plan_.bias->place != nullptr) {
      p.classes = to_int(bias.class_count());
      p.sums_slopes = bias.has_gradient();
      p.sums_weights = out_.heads.front().position_values().exist();
    }
    if (!bias.exists() || bias.of_queries()) return;
    p.axes = to_int(static_cast<std::int64_t>(bias.axes()));
    p.bias_size = to_int(static_cast<std::int64_t>(bias.table().size()));
    p.bias_slopes = to_int(static_cast<std::int64_t>(bias_numbers(plan_, bias).size()));
    bias.places(out_.query_place, out_.key_place);
  }

  void build_head(std::int64_t h) {
    const Head<N>& head = out_.heads[size_of(h)];
    const Problem<N>& p = out_.shape;
    const HeadBias<N>& bias = head.bias();
    const int constants = plan_.similarity->constants;
    out_.constants.insert(out_.constants.end(), head.constants(), head.constants() + constants);
    if (p.classes > 0) append(out_.class_of, bias.classes());
    if (p.axes == 0) return;
    append(out_.bias, bias.table());
    for (const BiasNumber& n : bias_numbers(plan_, bias)) {
      append(out_.bias_slope, bias.slope_table(n.parameter, n.axis));
    }
  }

  void build_masks() {
    const Extents& e = plan_.extents;
    const Mask mask = plan_.mask(input_);
    for (std::int64_t b = 0; b < e.batch; ++b) {
      const std::size_t first = out_.span.size();
      for (std::int64_t i = 0; i < e.query; ++i) {
        const KeyRange seen = mask.range(b * e.head, i);
        out_.span.push_back({static_cast<int>(seen.begin), static_cast<int>(seen.end)});
      }
      for (std::int64_t i = 0; i < e.query; i += tile_rows) {
        const std::int64_t end = std::min<std::int64_t>(i + tile_rows, e.query);
        out_.block_span.push_back(join(out_.span.data() + first + i, end - i));
      }
    }
    if (!mask.has_holes()) return;
    const Shape4 sizes = reads(MaskOperand::allowed) ? mask_sizes(input_) : Shape4{};
    const std::int64_t batches = reads(MaskOperand::lengths) || sizes.batch > 1 ? e.batch : 1;
    const std::int64_t heads = sizes.head > 1 ? e.head : 1;
    out_.shape.lists = to_int(std::max<std::int64_t>(1, heads > 1 ? e.batch * heads : batches));
    if (e.batch == 0) return;
    for (std::int64_t list = 0; list < out_.shape.lists; ++list) {
      build_lists(mask, heads > 1 ? list : list * e.head);
    }
  }

  [[nodiscard]] bool reads(MaskOperand operand) const {
    return std::any_of(plan_.masks.begin(), plan_.masks.end(),
                       [&](const PlannedMask& part) { return part.row->operand == operand; });
  }

  void build_lists(const Mask& mask, std::int64_t element) {
    const Extents& e = plan_.extents;
    std::vector<std::uint8_t> room(size_of(e.key));
    std::vector<BlockList> of_keys(size_of(ceil_div(out_.shape.key.count, tile_rows)));
    for (std::int64_t first = 0; first < e.query; first += tile_rows) {
      BlockList of_queries;
      for (std::int64_t i = first; i < std::min<std::int64_t>(first + tile_rows, e.query); ++i) {
        for (const std::int64_t j : seen_keys(mask, element, i, room)) {
          of_queries.add(i, j);
          of_keys[size_of(j / tile_rows)].add(j, i);
        }
      }
      of_queries.append_to(out_.query_lists);
    }
    for (BlockList& list : of_keys) list.append_to(out_.key_lists);
  }

  /// What a block of queries sees; queries that see nothing do not widen it.
  [[nodiscard]] static BlockSpan join(const KeySpan* spans, std::int64_t count) {
    BlockSpan block{{0, 0}, spans[0]};
    for (std::int64_t i = 0; i < count; ++i) {
      const KeySpan s = spans[i];
      block.all = {std::max(block.all.begin, s.begin), std::min(block.all.end, s.end)};
      if (s.begin >= s.end) continue;
      const bool first = block.any.begin >= block.any.end;
      block.any =
          first ? s : KeySpan{std::min(block.any.begin, s.begin), std::max(block.any.end, s.end)};
    }
    return block;
  }
};

template <class N>
void add_non_finite_values(const Plan& plan, const AttentionInput<N>& input,
                           const Operands<N>& operands, const Execution& execution,
                           Tensor4<N>& output) {
  const Mask mask = plan.mask(input);
  run_tasks(operands.shape.groups, execution, [&](std::int64_t g, const auto&) {
    const std::int64_t b = g / operands.shape.heads, h = g % operands.shape.heads;
    const std::int64_t own = operands.shape.key.of(to_int(g));
    const NonFiniteValues<N> values(plan.aggregate, input.value.tokens(b, h, operands.shape.heads),
                                    operands.non_finite_values[size_of(own)]);
    for (std::int64_t i = 0; i < plan.extents.query; ++i)
      values.add_seen(mask, g, i, output.row(b, h, i));
  });
}

}  // namespace

template <class N>
Operands<N> make_operands(const Plan& plan, const AttentionInput<N>& input, Storage storage,
                          const Execution& execution) {
  return Builder<N>(plan, input, storage).run(execution);
}

template <class N>
Operands<N> make_structure(const Plan& plan, Storage storage) {
  const Extents& e = plan.extents;
  const std::vector<N> zeros(size_of(std::max(e.feature, e.value)));
  const auto tokens = [&](std::int64_t heads, std::int64_t count, std::int64_t columns) {
    return StridedTensor4<N>(zeros.data(), {e.batch, heads, count, columns}, {0, 0, 0});
  };
  AttentionInput<N> input;
  input.query = tokens(e.head, e.query, e.feature);
  input.key = tokens(e.key_heads(), e.key, e.feature);
  input.value = tokens(e.value_heads(), e.key, e.value);
  Builder<N> builder(plan, input, storage);
  builder.make_heads();
  return builder.structure();
}

template <class N>
ForwardSums<N>::ForwardSums(const Problem<N>& p)
    : output(size_of(static_cast<std::int64_t>(p.groups) * p.query.count * p.width)),
      maximum(size_of(static_cast<std::int64_t>(p.groups) * p.query.count)),
      sum(maximum.size()),
      column_lse(p.over_queries ? size_of(static_cast<std::int64_t>(p.groups) * p.key.count) : 0),
      class_weight(p.sums_weights ? maximum.size() * size_of(p.classes) : 0) {}

template <class N>
Forward<N> finish_forward(const Plan& plan, const AttentionInput<N>& input,
                          const Operands<N>& operands, const ForwardSums<N>& sums,
                          const Execution& execution) {
  const Extents& e = plan.extents;
  const int width = operands.shape.width;
  const Shape4 per_row{e.batch, e.head, e.query, 1};
  Forward<N> result;
  result.output = Tensor4<N>({e.batch, e.head, e.query, e.value});
  result.lse = Tensor4<N>(per_row);
  result.row_reference = Tensor4<N>(per_row);
  result.row_sum = Tensor4<N>(per_row);
  if (is_midpoint(plan.aggregate)) result.midpoint_sum = Tensor4<N>(per_row);
  if (operands.shape.over_queries) {
    result.column_lse = Tensor4<N>({e.batch, e.head, e.key, 1});
    result.column_lse.data = sums.column_lse;
  }
  std::vector<N> row(size_of(width));
  for (std::size_t i = 0; i < sums.sum.size(); ++i) {
    const N* extended = sums.output.data() + i * size_of(width);
    if (operands.shape.sums_weights) {
      std::copy_n(extended, width, row.begin());
      operands.heads[i / size_of(e.query)].position_values().add(
          sums.class_weight.data() + i * size_of(operands.shape.classes), row.data());
      extended = row.data();
    }
    N& reference = result.row_reference.data[i] = sums.sum[i] == 0 ? N(0) : sums.maximum[i];
    double sum = sums.sum[i];
    const double factor = add_sink(operands.heads[i / size_of(e.query)].sink(), reference, sum);
    // The keys' share of the sum, by which the device has divided.
    const N share = sum == sums.sum[i] ? N(1) : static_cast<N>(factor * sums.sum[i] / sum);
    finish_row(plan.aggregate, extended, e.value, share,
               result.output.data.data() + i * static_cast<std::size_t>(e.value));
    result.row_sum.data[i] = static_cast<N>(sum);
    result.lse.data[i] =
        sum == 0 ? -std::numeric_limits<N>::infinity() : static_cast<N>(reference + std::log(sum));
    if (is_midpoint(plan.aggregate)) result.midpoint_sum.data[i] = share * extended[e.value];
  }
  add_non_finite_values(plan, input, operands, quiet(execution), result.output);
  return result;
}

template <class N>
UpstreamArrays<N> make_upstream(const Plan& plan, const AttentionInput<N>& input,
                                const Operands<N>& operands, const Forward<N>& saved) {
  const Problem<N>& p = operands.shape;
  if (p.bias_slopes > max_slopes) {
    fail("device cuda: gradients of bias {} on a grid of {} axes are computed on the CPU only",
         plan.bias->name, p.axes);
  }
  const std::int64_t rows = static_cast<std::int64_t>(p.groups) * p.query.count;
  const conelab::Upstream<N> upstream(plan, input, saved);
  UpstreamArrays<N> u;
  u.output_grad.resize(size_of(rows * p.width));
  u.column_lse = saved.column_lse.data;
  if (p.sums_weights) u.class_slope.resize(size_of(rows * p.classes));
  N* to = u.output_grad.data();
  for (std::int64_t g = 0; g < p.groups; ++g) {
    const std::int64_t b = g / p.heads, h = g % p.heads;
    const N* extended = upstream.extended(b, h, 0, p.query.count, p.width, to);
    if (extended != to)
      std::copy_n(extended, static_cast<std::int64_t>(p.query.count) * p.width, to);
    for (std::int64_t i = 0; i < p.query.count; ++i) {
      u.delta.push_back(upstream.delta(b, h, i));
      u.reference.push_back(*saved.row_reference.row(b, h, i));
      u.inverse_sum.push_back(upstream.scale(b, h, i));
      if (p.over_queries) u.unit.push_back(upstream.unit(b, h, i));
      if (p.sums_weights) {
        operands.heads[size_of(g)].position_values().slopes(
            kernels<N>(), to + i * p.width,
            u.class_slope.data() + (g * p.query.count + i) * p.classes);
      }
    }
    to += static_cast<std::int64_t>(p.query.count) * p.width;
  }
  return u;
}

template <class N>
GradientSums<N>::GradientSums(const Problem<N>& p, int constants)
    : query_base(size_of(static_cast<std::int64_t>(p.groups) * p.query.count * p.base_size)),
      query_potential(size_of(static_cast<std::int64_t>(p.groups) * p.query.count)),
      key_base(size_of(static_cast<std::int64_t>(p.groups) * p.key.count * p.base_size)),
      key_potential(size_of(static_cast<std::int64_t>(p.groups) * p.key.count)),
      value(size_of(static_cast<std::int64_t>(p.groups) * p.key.count * p.width)),
      sums(size_of(static_cast<std::int64_t>(p.groups) * ceil_div(p.query.count, tile_rows) *
                   (constants + p.bias_slopes))),
      column_delta(p.over_queries ? key_potential.size() : 0),
      class_slope(p.sums_slopes ? query_potential.size() * size_of(p.classes) : 0),
      class_weight(p.sums_weights ? query_potential.size() * size_of(p.classes) : 0) {}

/// Adds what the sums of one group by class say to the gradients of the bias's tensors, and to
/// those of the queries [n_q × d] that its table depends on.
template <class N>
void add_class_gradients(const Plan& plan, const AttentionInput<N>& input,
                         const Operands<N>& operands, const Forward<N>& saved,
                         const GradientSums<N>& sums, std::int64_t g,
                         const TokenRows<N>& query_grad, ParameterSums& total) {
  const Problem<N>& p = operands.shape;
  const Head<N>& head = operands.heads[size_of(g)];
  const std::int64_t b = g / p.heads, h = g % p.heads;
  const std::size_t size = size_of(static_cast<std::int64_t>(p.query.count) * p.classes);
  const auto own = [&](const std::vector<N>& all) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(size_of(g) * size);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(size));
  };
  if (p.sums_slopes && head.bias().of_queries()) {
    head.bias_gradients(own(sums.class_slope).data(), input.query.tokens(b, h), query_grad,
                        total.bias, total.similarity.data());
  } else if (p.sums_slopes) {
    std::vector<double>& tensor = total.bias.tensor.front();
    const std::vector<double> slopes = own(sums.class_slope);
    for (std::size_t i = 0; i < slopes.size(); ++i) tensor[i % size_of(p.classes)] += slopes[i];
  }
  if (!p.sums_weights) return;
  const conelab::Upstream<N> upstream(plan, input, saved);
  const std::vector<double> weights = own(sums.class_weight);
  std::vector<N> room(size_of(p.width));
  for (std::int64_t i = 0; i < p.query.count; ++i) {
    head.position_values().collect(weights.data() + i * p.classes,
                                   upstream.extended(b, h, i, 1, p.width, room.data()), total.bias);
  }
}

template <class N>
Backward<N> finish_backward(const Plan& plan, const AttentionInput<N>& input,
                            const Operands<N>& operands, const Forward<N>& saved,
                            const GradientSums<N>& sums, const Execution& execution) {
  const Problem<N>& p = operands.shape;
  const Extents& e = plan.extents;
  Backward<N> result;
  result.query = Tensor4<N>(input.query.shape);
  SharedRows<N> key_grad(input.key.shape, p.heads), value_grad(input.value.shape, p.heads);
  std::vector<ParameterSums> parameters(size_of(p.groups), ParameterSums(plan));
  run_tasks(p.groups, quiet(execution), [&](std::int64_t g, const auto&) {
    const std::int64_t b = g / p.heads;
    const std::int64_t h = g % p.heads;
    ParameterSums& total = parameters[size_of(g)];
    total.bias = plan.zeros(plan.bias_parameters);
    const auto tokens = [&](const StridedTensor4<N>& tensor, const std::vector<N>& base,
                            const std::vector<N>& potential, const TokenRows<N>& to) {
      const std::int64_t first = g * tensor.shape.token;
      operands.heads[size_of(g)].token_gradients(
          tensor.tokens(b, h, p.heads),
          {base.data() + first * p.base_size, p.base_size, potential.data() + first}, to,
          total.similarity.data());
    };
    Buffer<N> dk(size_of(e.key * e.feature)), dv(size_of(e.key * e.value));
    tokens(input.query, sums.query_base, sums.query_potential, result.query.tokens(b, h));
    tokens(input.key, sums.key_base, sums.key_potential, {dk.data(), e.key, e.feature, e.feature});
    const TokenRows<const N> values = input.value.tokens(b, h, p.heads);
    for (std::int64_t j = 0; j < e.key; ++j) {
      set_value_grad(plan.aggregate, sums.value.data() + (g * e.key + j) * p.width, values.row(j),
                     e.value, dv.data() + j * e.value);
    }
    key_grad.add(b, h, 0, std::move(dk));
    value_grad.add(b, h, 0, std::move(dv));
    add_class_gradients(plan, input, operands, saved, sums, g, result.query.tokens(b, h), total);
    total.sink = conelab::Upstream<N>(plan, input, saved).sink_slope(b, h);
  });
  result.key = key_grad.take();
  result.value = value_grad.take();
  const int constants = plan.similarity->constants, count = constants + p.bias_slopes;
  const int blocks = ceil_div(p.query.count, tile_rows);
  for (std::int64_t g = 0; g < p.groups; ++g) {
    ParameterSums& total = parameters[size_of(g)];
    const HeadBias<N>& bias = operands.heads[size_of(g)].bias();
    if (!sums.by_offset.empty()) bias.collect(sums.by_offset.data() + g * p.bias_size, total.bias);
    const std::vector<BiasNumber> numbers = bias_numbers(plan, bias);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(blocks) * count; ++i) {
      const auto k = static_cast<int>(i % count);
      const double sum = sums.sums[size_of(g * blocks * count + i)];
      if (k < constants) {
        total.constant[size_of(k)] += sum;
      } else {
        bias.add_number(numbers[size_of(k - constants)].parameter,
                        numbers[size_of(k - constants)].axis, sum, total.bias);
      }
    }
  }
  add_parameter_gradients<N>(plan, parameters, result);
  return result;
}

#define CONELAB_OPERANDS(N)                                                                       \
  template Operands<N> make_operands(const Plan&, const AttentionInput<N>&, Storage,              \
                                     const Execution&);                                           \
  template Operands<N> make_structure(const Plan&, Storage);                                      \
  template struct ForwardSums<N>;                                                                 \
  template Forward<N> finish_forward(const Plan&, const AttentionInput<N>&, const Operands<N>&,   \
                                     const ForwardSums<N>&, const Execution&);                    \
  template UpstreamArrays<N> make_upstream(const Plan&, const AttentionInput<N>&,                 \
                                           const Operands<N>&, const Forward<N>&);                \
  template struct GradientSums<N>;                                                                \
  template Backward<N> finish_backward(const Plan&, const AttentionInput<N>&, const Operands<N>&, \
                                       const Forward<N>&, const GradientSums<N>&,                 \
                                       const Execution&);
CONELAB_OPERANDS(float)
CONELAB_OPERANDS(double)

}  // namespace conelab::gpu
