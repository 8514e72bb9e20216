#include "core/rank/fit.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "core/base/adam.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/call/call.h"
#include "core/operators/operator.h"

namespace conelab::rank {
namespace {

using Eigen::ArrayXd;

/// Keys of a block. With weights exp(logit) and the unit matrix as values, the output is the weight
/// of each pair, so that dL/d(output) may be any function of the logits. Blocks of keys, as batch
/// elements, keep that unit matrix small.
constexpr std::int64_t block = 32;

Adam fit_adam() { return Adam(0.99, 1e-12); }
std::span<double> numbers(ArrayXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

/// The signs of all pairs in the order of the engine's output [blocks × n × block], with 0 for keys
/// that only fill the last block.
ArrayXd signs_by_block(const Matrix& signs) {
  const std::int64_t n = signs.rows(), blocks = (n + block - 1) / block;
  ArrayXd out = ArrayXd::Zero(blocks * n * block);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      out[(j / block * n + i) * block + j % block] = signs(i, j);
    }
  }
  return out;
}

ArrayXd balance(const ArrayXd& signs) {
  const auto of = [&](double sign) -> ArrayXd {
    return (signs == sign).cast<double>() /
           static_cast<double>(std::max<Eigen::Index>(1, (signs == sign).count()));
  };
  return of(1) + of(-1);
}

class Trial {
 public:
  Trial(const ArrayXd& signs, std::int64_t n, const Call& call, std::int64_t dim, Random random)
      : signs_(signs),
        weights_(balance(signs)),
        n_(n),
        dim_(dim),
        blocks_((n + block - 1) / block),
        query_(ArrayXd(n * dim)),
        key_(ArrayXd(blocks_ * block * dim)),
        unit_(Matrix::Identity(block, block)) {
    for (ArrayXd* tokens : {&query_, &key_}) {
      for (double& x : *tokens) x = random.normal();
    }
    input_.query = {query_.data(), {blocks_, 1, n_, dim}, {0, n_ * dim, dim}};
    input_.key = {key_.data(), {blocks_, 1, block, dim}, {block * dim, block * dim, dim}};
    input_.value = {unit_.data(), {blocks_, 1, block, block}, {0, block * block, block}};
    plan_ = resolve(call, check_extents(input_));
    execution_.threads = 1;
  }

  bool fits(double alpha, int steps, const std::function<bool()>& stopped) {
    for (int step = 0; step < steps && !stopped(); ++step) {
      const Forward<double> saved = forward(*plan_, input_, execution_);
      const ArrayXd pairs = Eigen::Map<const ArrayXd>(saved.output.data.data(), signs_.size());
      const ArrayXd logits = pairs.log();
      if (!logits.allFinite()) return false;
      if (least_margin(signs_, logits) <= alpha + margin_tolerance) return true;
      if (step == 0) set_scale(logits);
      descend(saved, pairs, logits, alpha, 0.1 * (1 - static_cast<double>(step) / steps));
    }
    return false;
  }

 private:
  const ArrayXd& signs_;
  ArrayXd weights_;
  std::int64_t n_, dim_, blocks_;
  ArrayXd query_, key_;  ///< [n × d] and [blocks · block × d], which `input_` views.
  Matrix unit_;
  AttentionInput<double> input_;
  std::shared_ptr<const Plan> plan_;
  Execution execution_;
  ArrayXd line_ = ArrayXd::Zero(2);  ///< log a, b
  Adam query_steps_ = fit_adam(), key_steps_ = fit_adam(), line_steps_ = fit_adam();

  /// Sets a and b such that P has mean 0 and deviation 1.
  void set_scale(const ArrayXd& logits) {
    const double mean = logits.mean();
    const double deviation = std::sqrt((logits - mean).square().mean());
    const double a = deviation > 0 ? 1 / deviation : 1;
    line_ << std::log(a), -mean * a;
  }

  /// Makes one step down the squared excess of P over the margins, which are narrowed a little so
  /// that a finite number of steps leads inside.
  void descend(const Forward<double>& saved, const ArrayXd& pairs, const ArrayXd& logits,
               double alpha, double rate) {
    const double a = std::exp(line_[0]), inset = 0.1 * (alpha - 1);
    const ArrayXd signed_p = signs_ * (a * logits + line_[1]);
    const ArrayXd excess =
        (signed_p - (alpha - inset)).cwiseMax(0) + (signed_p - (1 + inset)).cwiseMin(0);
    const ArrayXd by_p = 2 * weights_ * signs_ * excess;
    Tensor4<double> upstream({blocks_, 1, n_, block});
    Eigen::Map<ArrayXd>(upstream.data.data(), by_p.size()) = a * by_p / pairs;
    input_.output_grad = std::move(upstream);
    const Backward<double> slopes = backward(*plan_, input_, saved, execution_);
    ArrayXd by_query = ArrayXd::Zero(query_.size());
    for (std::int64_t b = 0; b < blocks_; ++b) {
      by_query += Eigen::Map<const ArrayXd>(slopes.query.row(b, 0, 0), query_.size());
    }
    query_steps_.step(numbers(query_), numbers(by_query), rate);
    key_steps_.step(numbers(key_), slopes.key.data, rate);
    ArrayXd by_line(2);
    by_line << a * (by_p * logits).sum(), by_p.sum();
    line_steps_.step(numbers(line_), numbers(by_line), rate);
  }
};

class FitSearch {
 public:
  FitSearch(const Matrix& signs, const Call& call, const FitSettings& settings)
      : settings_(settings), call_(call), n_(signs.rows()), signs_(signs_by_block(signs)) {
    for (const double alpha : settings.alphas) fits_.push_back({call_text(call), alpha, {}});
    call_.weights = "exp";
  }

  std::vector<Fit> run() {
    for (const std::int64_t dim : settings_.dims) {
      if (!search(dim) || fits_.front().dim) break;
    }
    return std::move(fits_);
  }

 private:
  const FitSettings& settings_;
  Call call_;
  std::int64_t n_;
  ArrayXd signs_;
  std::vector<Fit> fits_;  ///< By ascending α.
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  bool late() const {
    stop_if(settings_.cancelled);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    return passed.count() > settings_.seconds;
  }

  /// Tries all margins in one dimension, the largest first. Returns false if the time ended it.
  bool search(std::int64_t dim) {
    for (std::size_t i = fits_.size(); i-- > 0;) {
      if (fits_[i].dim) continue;
      if (!start_all(dim, fits_[i])) return false;
      if (fits_[i].dim) continue;
      for (std::size_t smaller = 0; smaller < i; ++smaller) fits_[smaller].searched = dim;
      break;
    }
    return true;
  }

  bool start_all(std::int64_t dim, Fit& fit) {
    int starts = 0, agreed = 0;
    for (; starts < settings_.starts && !late(); ++starts) {
      std::uint64_t seed = settings_.seed + 1000003 * static_cast<std::uint64_t>(dim);
      seed += 7919 * static_cast<std::uint64_t>(starts);
      Trial trial(signs_, n_, call_, dim, Random(seed));
      agreed += trial.fits(fit.alpha, settings_.steps, [this] { return late(); });
    }
    const bool finished = !late();
    if (agreed > 0) fit.dim = dim;
    if (agreed == 0 && !finished) return false;
    fit.starts = starts;
    fit.agreed = agreed;
    if (finished) fit.searched = dim;
    return finished;
  }
};

}  // namespace

double least_margin(const ArrayXd& signs, const ArrayXd& logits) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto least = [&](double sign) {
    return (signs == sign).select(logits, infinity).minCoeff();
  };
  const auto most = [&](double sign) {
    return (signs == sign).select(logits, -infinity).maxCoeff();
  };
  if ((signs > 0).count() == 0 || (signs < 0).count() == 0) return 1;
  const double gap = least(1) - most(-1);
  if (!(gap > 0)) return infinity;
  return 1 + 2 * std::max(most(1) - least(1), most(-1) - least(-1)) / gap;
}

std::vector<Fit> fit_dimensions(const Matrix& signs, const Call& call,
                                const FitSettings& settings) {
  return FitSearch(signs, call, settings).run();
}

}  // namespace conelab::rank
