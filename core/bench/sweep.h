// What a benchmark measures: cases, and the sweep that they are the product of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace conelab {

/// One point of the result's hyper-rectangle.
struct Case {
  std::string operation;  ///< "penumbral", ...; axis `operator`.
  std::string pass;       ///< "forward" or "backward", each timed alone.
  std::string device = "cpu";
  std::string dtype = "f32";
  std::int64_t threads = 1;
  std::int64_t dim = 64;  ///< d = d_v per head.
  std::int64_t head = 1;
  std::int64_t seq_len = 0;  ///< n_q = n_k

  bool operator==(const Case&) const = default;
};

/// "penumbral forward f32 1 thread(s) d=64 heads=8 n=1024", for messages.
[[nodiscard]] std::string describe(const Case& c);

/// The axes, in the order of the result. Every combination is a case.
struct Sweep {
  std::vector<std::string> operations;
  std::vector<std::string> passes = {"forward", "backward"};
  std::vector<std::string> devices = {"cpu"};
  std::vector<std::string> dtypes = {"f32"};
  std::vector<std::int64_t> threads = {1};
  std::vector<std::int64_t> dims = {64};
  std::vector<std::int64_t> heads = {8};
  std::vector<std::int64_t> lengths;
  std::int64_t batch = 1;
  int rounds = 9;
  std::uint64_t seed = 1;
  double time_limit = 600;  ///< Seconds that one sample may take before its worker is ended.
  bool cold = true;         ///< Also time one run with flushed caches per round.

  /// All cases in row-major order of the axes.
  [[nodiscard]] std::vector<Case> cases() const;
  /// A canonical text: equal sweeps give equal texts. Kept beside sealed samples for --resume.
  [[nodiscard]] std::string text() const;
};

/// "256,512" or "256..16384:x2" or "256..2048:+256", ascending without repeats. Throws misuse for
/// anything else and for values below 1.
[[nodiscard]] std::vector<std::int64_t> parse_integers(const std::string& name,
                                                       const std::string& text);

/// Throws misuse where an axis is empty, has an unknown name, or rounds are below 1.
void check_sweep(const Sweep& sweep);

}  // namespace conelab
