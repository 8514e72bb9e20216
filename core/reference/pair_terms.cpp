#include "core/reference/pair_terms.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace conelab::reference {
namespace {

/// The formula of this name in a table; a row of the engine without one is a failure.
template <class Formulas>
auto formula_of(const char* what, const Formulas& formulas, const std::string& name) {
  for (const auto& [known, formula] : formulas) {
    if (name == known) return formula;
  }
  fail("the reference has no formula of {} {}: write it in core/reference/pair_terms.cpp", what,
       name);
}

struct Pair {
  std::int64_t b, i, j;
  std::int64_t position;  ///< i + n_k - n_q
  std::int64_t head = 0;
};

bool has_edge(const Problem& p, std::int64_t i, std::int64_t j) {
  const std::vector<std::int64_t>& edge = p.indices.at("edge").data;
  for (std::size_t e = 0; e < edge.size(); e += 2) {
    if (edge[e] == i && edge[e + 1] == j) return true;
  }
  return false;
}

/// Returns where the segment of a position begins; positions before the first key have one as well.
std::int64_t segment_start(const Problem& p, std::int64_t position) {
  const Real length = p.number("segment", 0);
  return static_cast<std::int64_t>(length * std::floor(static_cast<Real>(position) / length));
}

using Admits = bool (*)(const Problem&, const Pair&);
constexpr std::pair<const char*, Admits> masks[] = {
    {"full", [](const Problem&, const Pair&) { return true; }},
    {"causal", [](const Problem&, const Pair& x) { return x.j <= x.position; }},
    {"padding",
     [](const Problem& p, const Pair& x) {
       return p.key_lengths.empty() || x.j < p.key_lengths[static_cast<std::size_t>(x.b)];
     }},
    {"window",
     [](const Problem& p, const Pair& x) {
       return static_cast<Real>(std::abs(x.j - x.position)) < p.number("window", 0);
     }},
    {"explicit",
     [](const Problem& p, const Pair& x) {
       if (p.allowed.empty()) return true;
       const Shape4& s = p.allowed_sizes;
       const std::int64_t at[] = {x.b % s.batch, x.head % s.head, x.i % s.token, x.j % s.feature};
       const std::int64_t row = (at[0] * s.head + at[1]) * s.token + at[2];
       return p.allowed[static_cast<std::size_t>(row * s.feature + at[3])] != 0;
     }},
    {"strided",
     [](const Problem& p, const Pair& x) {
       const auto l = static_cast<std::int64_t>(p.number("stride", 0));
       const std::int64_t back = x.position - x.j;
       return back >= 0 && (back < l || back == back / l * l);
     }},
    {"graph",
     [](const Problem& p, const Pair& x) {
       if (!p.indices.contains("edge") || x.j == x.position) return true;
       return has_edge(p, x.i, x.j) || (p.word("edges") == "undirected" && has_edge(p, x.j, x.i));
     }},
    {"fixed",
     [](const Problem& p, const Pair& x) {
       const Real l = p.number("stride", 0);
       const Real block = std::floor(static_cast<Real>(x.j) / l);
       const bool same = block == std::floor(static_cast<Real>(x.position) / l);
       return x.j <= x.position &&
              (same || static_cast<Real>(x.j) - l * block >= l - p.number("summary", 0));
     }},
    {"directional",
     [](const Problem& p, const Pair& x) {
       return p.word("direction") == "forward" ? x.j < x.position : x.j > x.position;
     }},
    {"segment",
     [](const Problem& p, const Pair& x) {
       const auto memory = static_cast<std::int64_t>(p.number("memory", 0));
       return x.j <= x.position && x.j >= segment_start(p, x.position) - memory;
     }},
};

/// Raffel et al.: one bucket for each small distance, then buckets whose borders grow
/// geometrically; the bucket is the largest b whose border exact (distance / exact)^((b - exact) /
/// (own - exact)) has been reached.
std::size_t t5_bucket(const Problem& p, std::int64_t buckets, std::int64_t offset) {
  const bool causal = p.word("t5_direction") == "causal";
  const std::int64_t own = std::max<std::int64_t>(1, causal ? buckets : buckets / 2);
  const std::int64_t first = !causal && offset > 0 && buckets > 1 ? own : 0;
  const std::int64_t distance = causal ? std::max<std::int64_t>(0, -offset) : std::abs(offset);
  const std::int64_t exact = std::max<std::int64_t>(1, own / 2);
  if (distance < exact) return static_cast<std::size_t>(first + std::min(own - 1, distance));
  const Real furthest = std::max(p.number("t5_distance", 0), static_cast<Real>(exact));
  std::int64_t bucket = exact;
  while (bucket + 1 < own) {
    const Real part = static_cast<Real>(bucket + 1 - exact) / static_cast<Real>(own - exact);
    const Real border =
        static_cast<Real>(exact) * std::pow(furthest / static_cast<Real>(exact), part);
    if (static_cast<Real>(distance) < border - 1e-9L) break;
    ++bucket;
  }
  return static_cast<std::size_t>(first + std::min(bucket, own - 1));
}

/// Returns the coordinates of a point of a grid, the last axis fastest; a sequence is a grid of one
/// axis.
std::vector<std::int64_t> coordinates(const std::vector<Real>& sides, std::int64_t index) {
  std::vector<std::int64_t> x;
  for (std::size_t a = 0; a < sides.size(); ++a) {
    Real block = 1;
    for (std::size_t later = a + 1; later < sides.size(); ++later) block *= sides[later];
    const auto size = static_cast<std::int64_t>(block);
    x.push_back(a == 0 ? index / size : index / size % static_cast<std::int64_t>(sides[a]));
  }
  return x;
}

/// Returns a head's number for one axis of a grid: the list holds one number for each axis, or for
/// each axis of each head.
Real axis_number(const Problem& p, const std::string& key, std::int64_t head, std::size_t axis) {
  const std::size_t axes = p.numbers.at("grid").size();
  if (axes == 1) return p.number(key, head);
  const std::vector<Real>& list = p.numbers.at(key);
  return list.size() == axes ? list[axis] : list[static_cast<std::size_t>(head) * axes + axis];
}

/// Shaw et al., section 3.2: the label clip(j - i', -k, k), counted from 0.
std::int64_t label(const Problem& p, const Pair& x) {
  const auto k = static_cast<std::int64_t>(p.number("clip", 0));
  const std::int64_t distance = x.j - x.position;
  return std::max(-k, std::min(k, distance)) + k;
}

/// Shaw et al. eq. 4 without what does not depend on the position: q_i a_ij / sqrt(d), with the
/// scale of dot where it has another.
Real shaw(const Problem& p, std::int64_t head, const Pair& x) {
  const Real* table = p.tensor("shaw_k", head, 2);
  if (table == nullptr) return 0;
  const Real* given = p.query.row(x.b, head, x.i);
  const std::vector<Real> q =
      mapped_token(p, head, true, x.i, {given, given + p.query.shape.feature});
  const Real* a = table + label(p, x) * static_cast<std::int64_t>(q.size());
  Real sum = 0;
  for (std::size_t c = 0; c < q.size(); ++c) sum += q[c] * a[c];
  const bool is_dot = p.call.similarity == "dot";
  return is_dot ? p.number("scale", head) * sum : sum / std::sqrt(static_cast<Real>(q.size()));
}

/// HyPE eq. 5, summed over the axes of a grid.
Real hype(const Problem& p, std::int64_t head, const Pair& x) {
  const std::vector<Real>& sides = p.numbers.at("grid");
  const std::vector<std::int64_t> from = coordinates(sides, x.position);
  const std::vector<std::int64_t> to = coordinates(sides, x.j);
  Real sum = 0;
  for (std::size_t a = 0; a < sides.size(); ++a) {
    sum -= axis_number(p, "hype_tau", head, a) *
           std::sinh(axis_number(p, "hype_mu", head, a) * static_cast<Real>(to[a] - from[a]));
  }
  return sum;
}

using Bias = Real (*)(const Problem&, std::int64_t head, const Pair&);
constexpr std::pair<const char*, Bias> biases[] = {
    {"none", [](const Problem&, std::int64_t, const Pair&) { return Real(0); }},
    {"alibi",
     [](const Problem& p, std::int64_t h, const Pair& x) {
       return -p.number("alibi_slope", h) * static_cast<Real>(std::abs(x.j - x.position));
     }},
    {"hype", &hype},
    {"t5",
     [](const Problem& p, std::int64_t h, const Pair& x) {
       const std::int64_t buckets = p.tensors.at("t5_bias").extents.back();
       return p.tensor("t5_bias", h, 1)[t5_bucket(p, buckets, x.j - x.position)];
     }},
    {"shaw", &shaw},
    {"explicit",
     [](const Problem& p, std::int64_t h, const Pair& x) {
       const Array<Real>& bias = p.tensors.at("bias");
       const std::int64_t at[] = {x.b, h, x.i, x.j};
       std::int64_t index = 0;
       for (std::size_t axis = 0; axis < bias.extents.size(); ++axis) {
         const std::int64_t n = bias.extents[axis];
         index = index * n + (n == 1 ? 0 : at[4 - bias.extents.size() + axis]);
       }
       return bias.data[static_cast<std::size_t>(index)];
     }},
};

/// RoFormer eq. 34: a pair of columns as a complex number, times e^{i p base^(-2i/d)}.
std::vector<Real> rope(const Problem& p, std::int64_t position, const std::vector<Real>& x) {
  const std::size_t pairs = x.size() / 2;
  const bool halves = p.word("layout") == "halves";
  std::vector<Real> out = x;
  for (std::size_t i = 0; i < pairs; ++i) {
    const Real exponent = -2 * static_cast<Real>(i) / static_cast<Real>(x.size());
    const Real angle =
        static_cast<Real>(position) * std::pow(p.number("position_base", 0), exponent);
    const std::size_t a = halves ? i : 2 * i, b = halves ? i + pairs : 2 * i + 1;
    out[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
    out[b] = x[b] * std::cos(angle) + x[a] * std::sin(angle);
  }
  return out;
}

/// Vaswani et al., section 3.5, and Tensor2Tensor's get_timing_signal_1d.
std::vector<Real> sinusoidal(const Problem& p, std::int64_t position, std::vector<Real> x) {
  const Real base = p.number("position_base", 0), d = static_cast<Real>(x.size());
  const auto pos = static_cast<Real>(position);
  if (p.word("layout") == "interleaved") {
    for (std::size_t i = 0; 2 * i < x.size(); ++i) {
      const Real angle = pos / std::pow(base, 2 * static_cast<Real>(i) / d);
      x[2 * i] += std::sin(angle);
      if (2 * i + 1 < x.size()) x[2 * i + 1] += std::cos(angle);
    }
    return x;
  }
  const std::size_t timescales = x.size() / 2;
  for (std::size_t i = 0; i < timescales; ++i) {
    const Real step = timescales == 1 ? 0 : std::log(base) / static_cast<Real>(timescales - 1);
    const Real angle = pos * std::exp(-static_cast<Real>(i) * step);
    x[i] += std::sin(angle);
    x[timescales + i] += std::cos(angle);
  }
  return x;
}

Matrix matrix(const Problem& p, const char* name, std::int64_t head) {
  const std::vector<std::int64_t>& extents = p.tensors.at(name).extents;
  const Real* x = p.tensor(name, head, 2);
  Matrix rows(static_cast<std::size_t>(extents[extents.size() - 2]));
  for (auto& row : rows) {
    row.assign(x, x + extents.back());
    x += extents.back();
  }
  return rows;
}
std::vector<Real> product(const Matrix& m, const std::vector<Real>& x) {
  std::vector<Real> out(m.size(), 0);
  for (std::size_t r = 0; r < m.size(); ++r) {
    for (std::size_t c = 0; c < x.size(); ++c) out[r] += m[r][c] * x[c];
  }
  return out;
}

/// Klein coordinates x_s/x_t of the point (x_s, x_t) of the hyperboloid.
std::vector<Real> klein(std::vector<Real> space, Real time) {
  for (Real& x : space) x /= time;
  return space;
}

Real length(const std::vector<Real>& x) {
  Real sum = 0;
  for (const Real c : x) sum += c * c;
  return std::sqrt(sum);
}

/// Gulcehre et al.: (v_:, r) is the point (sinh(r) u, cosh r), u = v_:/|v_:| or the first axis.
std::vector<Real> polar_value(std::vector<Real> v) {
  const Real r = v.back();
  v.pop_back();
  const Real norm = length(v);
  if (norm == 0) v.front() = 1;
  for (Real& x : v) x *= std::sinh(r) / (norm == 0 ? 1 : norm);
  return klein(v, std::cosh(r));
}

}  // namespace

bool sees(const Problem& p, std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) {
  const Pair pair{b, i, j, i + p.key.shape.token - p.query.shape.token, head};
  return std::all_of(p.call.masks.begin(), p.call.masks.end(), [&](const std::string& mask) {
    return formula_of("mask", masks, mask)(p, pair);
  });
}

bool is_stopped(const Problem& p, std::int64_t i, std::int64_t j) {
  const std::int64_t position = i + p.key.shape.token - p.query.shape.token;
  return std::count(p.call.masks.begin(), p.call.masks.end(), "segment") > 0 &&
         j < segment_start(p, position);
}

Real position_bias(const Problem& p, std::int64_t b, std::int64_t head, std::int64_t i,
                   std::int64_t j) {
  const Pair pair{b, i, j, i + p.key.shape.token - p.query.shape.token};
  return formula_of("bias", biases, p.call.bias)(p, head, pair);
}

const Real* position_value(const Problem& p, std::int64_t head, std::int64_t i, std::int64_t j) {
  const Real* table = p.call.bias == "shaw" ? p.tensor("shaw_v", head, 2) : nullptr;
  if (table == nullptr) return nullptr;
  const Pair pair{0, i, j, i + p.key.shape.token - p.query.shape.token};
  return table + label(p, pair) * p.tensors.at("shaw_v").extents.back();
}

std::vector<Real> projected(const Problem& p, const std::string& name, std::int64_t head,
                            const std::vector<Real>& x) {
  const Real* matrix = p.tensor(name, head, 2);
  if (matrix == nullptr) return x;
  const std::vector<std::int64_t>& extents = p.tensors.at(name).extents;
  std::vector<Real> y(static_cast<std::size_t>(extents[extents.size() - 2]), 0);
  for (Real& sum : y) {
    for (const Real number : x) sum += *matrix++ * number;
  }
  return y;
}

std::vector<Real> mapped_token(const Problem& p, std::int64_t head, bool is_query,
                               std::int64_t index, std::vector<Real> x) {
  const std::string& name = p.call.similarity;
  const std::int64_t first = is_query ? p.key.shape.token - p.query.shape.token : 0;
  if (p.call.position == "sinusoidal") x = sinusoidal(p, first + index, x);
  x = projected(p, is_query ? "P_query" : "P_key", head, x);
  if (p.call.position == "rope") {
    x = rope(p, first + index, x);
  } else if (p.call.position != "none" && p.call.position != "sinusoidal") {
    fail("the reference has no formula of position {}: write it in core/reference/pair_terms.cpp",
         p.call.position);
  }
  // The rest of these formulas is in similarities.cpp.
  if (is_query && name == "multiplicative") {  // q^T W k: (W^T q).k
    x = product(transposed(matrix(p, "W", head)), x);
  }
  if (name == "additive") return product(matrix(p, is_query ? "W" : "U", head), x);
  if (name == "gat" && p.tensors.contains("W")) return product(matrix(p, "W", head), x);
  return x;
}

std::vector<Real> mapped_value(const Problem& p, std::vector<Real> v) {
  if (p.call.value_map == "none") return v;
  if (p.call.value_map == "polar") return polar_value(std::move(v));
  if (p.call.value_map == "lift") {
    const Real time = std::hypot(Real(1), length(v));
    return klein(std::move(v), time);
  }
  fail("the reference has no formula of value map {}: write it in core/reference/pair_terms.cpp",
       p.call.value_map);
}

}  // namespace conelab::reference
