// What a benchmark measures: cases, and the sweep that they are the product of.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace conelab {

/// One point of the result's hyper-rectangle.
struct Case {
  /// Axis `operator`: "penumbral", or a call as one word, "penumbral:gamma=2:bias=alibi".
  std::string operation;
  std::string pass;  ///< "forward", "backward" (each alone) or "forward+backward".
  std::string device = "cpu";
  std::string dtype = "f32";
  std::int64_t threads = 1;
  std::int64_t dim = 64;  ///< d = d_v per head.
  std::int64_t head = 1;
  std::int64_t seq_len = 0;  ///< n_q = n_k

  bool operator==(const Case&) const = default;
};

/// "penumbral forward cpu f32 threads=1 d=64 heads=8 n=1024", for messages.
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
  /// Nine, because the sign test on nine rounds covers 96.1 %, on eight 99.2 % (wider for nothing).
  int rounds = 9;
  int controls = 4;  ///< A/A: at most so many cases, of the shorter lengths, are measured twice.
  std::uint64_t seed = 1;
  double time_limit = 600;  ///< Seconds that one sample may take before its worker is ended.
  bool cold = true;         ///< Also time one run with flushed caches per round.

  /// All cases in row-major order of the axes.
  [[nodiscard]] std::vector<Case> cases() const;
  /// Name and value of everything that decides what is measured, in a fixed order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> items() const;
};

/// The sweep that has these items; other names are passed over, and what is missing keeps its
/// default. Throws misuse for a value that none can have.
[[nodiscard]] Sweep sweep_of_items(const std::vector<std::pair<std::string, std::string>>& items);

/// "256,512" or "256..16384:x2" or "256..2048:+256" or several of these with commas, ascending
/// without repeats. Throws misuse (beginning with `name`) for anything else, for values below 1 and
/// for more than 10,000 of them.
[[nodiscard]] std::vector<std::int64_t> parse_integers(const std::string& name,
                                                       const std::string& text);

/// "A,B": the names, which must not be empty. Throws misuse beginning with `name`.
[[nodiscard]] std::vector<std::string> parse_names(const std::string& name,
                                                   const std::string& text);

/// The name before an operation's parameters.
[[nodiscard]] std::string operator_name(const std::string& operation);

/// Throws misuse where an axis is empty or repeats itself, has an unknown name, or a number is out
/// of its range.
void check_sweep(const Sweep& sweep, const std::vector<std::string>& known_operators);

}  // namespace conelab
