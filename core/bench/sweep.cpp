#include "core/bench/sweep.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/attention/attention.h"
#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab {
namespace {

std::int64_t parse_integer(const std::string& name, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < 1) {
    misuse("{}: '{}' is not a positive integer", name, text);
  }
  return value;
}

/// "FIRST..LAST:xF" or "FIRST..LAST:+S".
std::vector<std::int64_t> parse_range(const std::string& name, std::string_view text) {
  const auto dots = text.find("..");
  const auto colon = text.find(':', dots);
  if (colon == std::string_view::npos || colon + 2 >= text.size()) {
    misuse("{}: '{}' needs a step, as in 256..4096:x2 or 256..4096:+256", name, text);
  }
  const std::int64_t first = parse_integer(name, text.substr(0, dots));
  const std::int64_t last = parse_integer(name, text.substr(dots + 2, colon - dots - 2));
  const char kind = text[colon + 1];
  const std::int64_t step = parse_integer(name, text.substr(colon + 2));
  if ((kind != 'x' && kind != '+') || (kind == 'x' && step < 2)) {
    misuse("{}: '{}' is no step (expected x2, x4, ... or +N)", name, text.substr(colon + 1));
  }
  if (last < first) misuse("{}: '{}' runs backwards", name, text);
  std::vector<std::int64_t> values;
  for (std::int64_t v = first; v <= last; v = kind == 'x' ? v * step : v + step) {
    values.push_back(v);
    if (values.size() > 10000) misuse("{}: '{}' has over 10000 values", name, text);
  }
  return values;
}

void check_names(const char* axis, const std::vector<std::string>& names,
                 const std::vector<std::string>& known) {
  if (names.empty()) misuse("the sweep has no {}", axis);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown_name(axis, name, known);
    if (std::count(names.begin(), names.end(), name) > 1)
      misuse("{} '{}' is given twice", axis, name);
  }
}

}  // namespace

std::string describe(const Case& c) {
  return fmt::format("{} {} {} {} threads={} d={} heads={} n={}", c.operation, c.pass, c.device,
                     c.dtype, c.threads, c.dim, c.head, c.seq_len);
}

std::vector<Case> Sweep::cases() const {
  std::vector<Case> all;
  for (const auto& operation : operations)
    for (const auto& pass : passes)
      for (const auto& device : devices)
        for (const auto& dtype : dtypes)
          for (const auto thread : threads)
            for (const auto dim : dims)
              for (const auto head : heads)
                for (const auto length : lengths)
                  all.push_back({operation, pass, device, dtype, thread, dim, head, length});
  return all;
}

std::string Sweep::text() const {
  return fmt::format(
      "operators={} passes={} devices={} dtypes={} threads={} dims={} heads={} lengths={} batch={} "
      "rounds={} seed={} cold={}",
      fmt::join(operations, ","), fmt::join(passes, ","), fmt::join(devices, ","),
      fmt::join(dtypes, ","), fmt::join(threads, ","), fmt::join(dims, ","), fmt::join(heads, ","),
      fmt::join(lengths, ","), batch, rounds, seed, cold ? 1 : 0);
}

std::vector<std::int64_t> parse_integers(const std::string& name, const std::string& text) {
  std::vector<std::int64_t> values;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    if (item.find("..") == std::string_view::npos) {
      values.push_back(parse_integer(name, item));
    } else {
      const auto range = parse_range(name, item);
      values.insert(values.end(), range.begin(), range.end());
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void check_sweep(const Sweep& s) {
  std::vector<std::string> operations;
  for (const PartInfo& part : list_similarities()) operations.push_back(part.name);
  check_names("operator", s.operations, operations);
  check_names("pass", s.passes, {"forward", "backward"});
  check_names("device", s.devices, {"cpu", "cuda"});
  check_names("dtype", s.dtypes, {"f64", "f32", "f16", "bf16"});
  if (s.threads.empty() || s.dims.empty() || s.heads.empty() || s.lengths.empty()) {
    misuse("the sweep has an empty axis (threads, dims, heads or lengths)");
  }
  if (s.rounds < 1) misuse("rounds must be at least 1 (found {})", s.rounds);
  if (s.batch < 1) misuse("batch must be at least 1 (found {})", s.batch);
}

}  // namespace conelab
