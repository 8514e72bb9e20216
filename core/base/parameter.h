// The parameters of a part of an operator: their names, domains and values.
//
// A parameter is a number, a list of numbers (one for each head), a word of a choice, or a tensor.
// All four are declared by a ParameterInfo, and are checked, differentiated and stored alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace conelab {

/// The values that a parameter may have.
enum class Domain {
  any,       ///< A finite number.
  positive,  ///< A number above 0.
  /// A number from 1e-15 to 1e15, so that squares and their reciprocals are finite in every type.
  moderate,
  non_negative,  ///< 0 or a number above 0.
  whole,         ///< A whole number from 1.
  count,         ///< A whole number from 0.
  choice,        ///< One of the words of `choices`.
  tensor,        ///< A tensor with the shape `shape`, which the input contains.
};
constexpr double least_moderate = 1e-15, most_moderate = 1e15;

/// The declaration of a parameter.
struct ParameterInfo {
  const char* key;  ///< The paper's name in lower case: "gamma", "height"; for a tensor: "W".
  /// The default. NaN means that it depends on the input (`computed`) or that there is none. For a
  /// tensor, NaN means that it is required and 0 that it may be absent.
  double initial;
  Domain domain;
  bool differentiable;
  const char* about;  ///< One line, with the unit.
  /// The words of Domain::choice, "paper|reference"; `initial` is the index of one of them.
  const char* choices = "";
  /// For Domain::tensor: its axes by name or number, "classes,d". Names known from the input are d,
  /// 3d, d_v, n_q and n_k. Any other name stands for the same size wherever it occurs, "2f" for
  /// twice that of f, and "2f+1" for one more. With "f=d", f is d if the tensor is absent. A
  /// leading axis of heads is always allowed, and needed where no axis is declared. "..,n_q,n_k" is
  /// a tensor of pairs (is_of_pairs in tensor.h). For numbers: "axes" if there is one for each axis
  /// of a grid, or the key of a whole number, which is then the default.
  const char* shape = "";
  /// The default in words where it depends on the input, "1/sqrt(d)". Empty: there is none, or
  /// `initial` contains it.
  const char* computed = "";
};

/// Throws misuse, which names the parameter and the value, for a value that is not finite or not in
/// the domain.
void check_domain(const ParameterInfo& info, double value);

/// Returns the words of a choice.
[[nodiscard]] std::vector<std::string> choice_words(const ParameterInfo& info);

/// The sizes that the defaults of parameters may depend on.
struct DefaultContext {
  std::int64_t head = 0;   ///< The head that the default is for.
  std::int64_t heads = 1;  ///< The number of heads.
  std::int64_t query = 0, key = 0, feature = 0;
};
/// Returns the default of a part's parameter `index` whose ParameterInfo::initial is NaN; for a
/// choice, the index of its word. Returns NaN if there is none.
using DefaultOf = double (*)(int index, const DefaultContext& context);

/// A parameter with its value.
struct Parameter {
  ParameterInfo info;
  /// The numbers, [1] or [head], or those of several axes. For a choice the index of its word.
  /// Empty for a tensor.
  std::vector<double> values;
  /// The sizes of a tensor as it was given, with or without a leading axis of heads; they are empty
  /// if it is absent. Numbers for several axes of a grid have [axes] or [head, axes]. Other
  /// parameters have none.
  std::vector<std::int64_t> extents;

  [[nodiscard]] double at(std::int64_t head) const {
    return values.size() == 1 ? values.front() : values[static_cast<std::size_t>(head)];
  }
  [[nodiscard]] bool per_head() const { return values.size() > 1; }
  [[nodiscard]] bool is_number() const {
    return info.domain != Domain::choice && info.domain != Domain::tensor;
  }
};

/// The parameters of a part for one head, in the order of its row. dL/d(parameters) has the same
/// form.
struct PartValues {
  std::vector<double> p;  ///< Numbers; for a choice the index of its word.
  /// [parameters] Empty for a parameter that is not a tensor.
  std::vector<std::vector<double>> tensor;
};

/// Sizes, by the names that ParameterInfo::shape uses.
using NamedSizes = std::map<std::string, std::int64_t>;

/// Checks a tensor's sizes against its declared shape and adds names that occur for the first time
/// to `sizes`. Throws a failure that names the tensor, its shape and the expected shape.
void check_shape(const ParameterInfo& info, const std::vector<std::int64_t>& extents,
                 std::int64_t heads, NamedSizes& sizes);

/// Adds the sizes of names ("f=d") that a tensor has if it is absent.
void take_absent(const ParameterInfo& info, NamedSizes& sizes);

/// Returns the axes of a tensor by name or number, without that of the heads. For "f=d,d" they are
/// f and d.
[[nodiscard]] std::vector<std::string> tensor_axes(const ParameterInfo& info);

/// Returns the number of axes with which a tensor is declared, without that of the heads.
[[nodiscard]] std::size_t tensor_rank(const ParameterInfo& info);

/// Returns the sizes of a tensor that is to be drawn. Names that `sizes` does not contain get the
/// size `fallback`.
[[nodiscard]] std::vector<std::int64_t> drawn_shape(const ParameterInfo& info,
                                                    const NamedSizes& sizes, std::int64_t fallback);

}  // namespace conelab
