#include "core/base/parameter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/tensor.h"

namespace conelab {
namespace {

/// An axis as a multiple of a name, and a rest: "2f+1", "2f", "f".
struct AxisForm {
  std::int64_t factor;
  std::string name;
  std::int64_t rest;
};
AxisForm form_of(const std::string& axis) {
  const std::size_t plus = std::min(axis.find('+'), axis.size());
  const std::size_t digits = std::min(axis.find_first_not_of("0123456789"), plus);
  const std::string rest = axis.substr(std::min(plus + 1, axis.size()));
  return {parse_integer(axis.substr(0, digits)).value_or(1), axis.substr(digits, plus - digits),
          parse_integer(rest).value_or(0)};
}

std::optional<std::int64_t> declared_size(const std::string& axis, const NamedSizes& sizes) {
  if (const std::optional<std::int64_t> number = parse_integer(axis)) return number;
  const auto known = sizes.find(axis);
  if (known != sizes.end()) return known->second;
  const AxisForm form = form_of(axis);
  const auto part = sizes.find(form.name);
  if (part == sizes.end()) return std::nullopt;
  return form.factor * part->second + form.rest;
}

/// "[d x classes] = [8 x 4]", unknown sizes by their names.
std::string shape_text(const std::vector<std::string>& axes, const NamedSizes& sizes) {
  std::vector<std::string> found;
  for (const std::string& axis : axes) {
    const std::optional<std::int64_t> size = declared_size(axis, sizes);
    found.push_back(size ? std::to_string(*size) : axis);
  }
  return fmt::format("[{}] = [{}]", fmt::join(axes, " x "), fmt::join(found, " x "));
}

bool fits(const std::vector<std::string>& axes, const std::vector<std::int64_t>& extents,
          std::int64_t heads, const NamedSizes& sizes) {
  const std::size_t lead = extents.size() - axes.size();
  if (extents.size() < axes.size() || lead > 1) return false;
  if (lead == 1 && extents.front() != heads) return false;
  NamedSizes seen = sizes;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t size = extents[lead + i];
    const std::optional<std::int64_t> declared = declared_size(axes[i], seen);
    if (size < 1 || (declared && *declared != size)) return false;
    const AxisForm form = form_of(axes[i]);
    if (!declared && (size - form.rest) % form.factor != 0) return false;
    seen[axes[i]] = size;
  }
  return true;
}

}  // namespace

void check_domain(const ParameterInfo& info, double value) {
  const auto refuse = [&](const std::string& expected) {
    misuse("parameter {} must {} (found {})", info.key, expected, value);
  };
  if (!std::isfinite(value)) refuse("be finite");
  switch (info.domain) {
    case Domain::positive:
      if (value <= 0) refuse("be above 0");
      break;
    case Domain::moderate:
      if (!(least_moderate <= value && value <= most_moderate)) {
        refuse(fmt::format("lie between {} and {}", least_moderate, most_moderate));
      }
      break;
    case Domain::non_negative:
      if (value < 0) refuse("not be negative");
      break;
    case Domain::whole:
    case Domain::count: {
      const int least = info.domain == Domain::whole ? 1 : 0;
      if (value < least || value != std::floor(value) || value > 1e15) {
        refuse(fmt::format("be a whole number from {}", least));
      }
      break;
    }
    case Domain::any:
    case Domain::choice:
    case Domain::tensor:
      break;
  }
}

std::vector<std::string> choice_words(const ParameterInfo& info) {
  return words_at(info.choices, '|');
}

void check_shape(const ParameterInfo& info, const std::vector<std::int64_t>& extents,
                 std::int64_t heads, NamedSizes& sizes) {
  const std::vector<std::string> axes = tensor_axes(info);
  if (!fits(axes, extents, heads, sizes)) {
    if (axes.empty()) {
      fail("tensor {} does not have its shape (expected [head] = [{}], found [{}])", info.key,
           heads, fmt::join(extents, " x "));
    }
    fail(
        "tensor {} does not have its shape (expected {}, with or without an axis of the {} head(s) "
        "before it, found [{}])",
        info.key, shape_text(axes, sizes), heads, fmt::join(extents, " x "));
  }
  const std::size_t lead = extents.size() - axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (parse_integer(axes[i])) continue;
    const AxisForm form = form_of(axes[i]);
    sizes[axes[i]] = extents[lead + i];
    sizes.emplace(form.name, (extents[lead + i] - form.rest) / form.factor);
  }
}

void take_absent(const ParameterInfo& info, NamedSizes& sizes) {
  for (const std::string& axis : words_at(info.shape, ',')) {
    const std::size_t equals = axis.find('=');
    if (equals == std::string::npos) continue;
    const std::optional<std::int64_t> size = declared_size(axis.substr(equals + 1), sizes);
    if (size) sizes.emplace(axis.substr(0, equals), *size);
  }
}

std::vector<std::string> tensor_axes(const ParameterInfo& info) {
  std::vector<std::string> axes = words_at(info.shape, ',');
  if (is_of_pairs(info)) axes.erase(axes.begin());
  for (std::string& axis : axes) axis = axis.substr(0, axis.find('='));
  return axes;
}

std::size_t tensor_rank(const ParameterInfo& info) { return tensor_axes(info).size(); }

std::vector<std::int64_t> drawn_shape(const ParameterInfo& info, const NamedSizes& sizes,
                                      std::int64_t fallback) {
  std::vector<std::int64_t> extents;
  for (const std::string& axis : tensor_axes(info)) {
    extents.push_back(declared_size(axis, sizes).value_or(fallback));
  }
  return extents;
}

}  // namespace conelab
