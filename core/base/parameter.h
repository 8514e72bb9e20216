// What a part of an operator can be told: its parameters' names, domains and values.
//
// A parameter is a number, a list of numbers (one per head), a word of a choice, or a tensor. All
// four are declared by a ParameterInfo, and checked, differentiated and stored alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace conelab {

/// What a parameter's value may be.
enum class Domain {
  any,           ///< Any finite number.
  positive,      ///< A number above 0.
  moderate,      ///< From 1e-15 to 1e15: squares and their reciprocals are numbers in every type.
  non_negative,  ///< A number from 0.
  whole,         ///< A whole number from 1.
  count,         ///< A whole number from 0.
  choice,        ///< One of the words of `choices`.
  tensor,        ///< A tensor of the shape `shape`, read beside q.
};
constexpr double least_moderate = 1e-15, most_moderate = 1e15;

/// A parameter that some part takes.
struct ParameterInfo {
  const char* key;  ///< The paper's word, lower case: "gamma", "height"; a tensor's name: "W".
  /// The default. NaN: it depends on the input (see `about`), or there is none. For a tensor, NaN
  /// means that it is needed and 0 that it may be absent.
  double initial;
  Domain domain;
  bool differentiable;
  const char* about;         ///< One line with the unit and the paper.
  const char* choices = "";  ///< For Domain::choice: "paper|reference"; `initial` counts them.
  /// For Domain::tensor: its axes by name or number, "classes,d". Names known from the input are d,
  /// 3d, d_v, n_q and n_k; any other name stands for the same size wherever it occurs, "2f" for
  /// twice that of f, and "2f+1" for one more. "f=d": where the tensor is absent, f is d. A leading
  /// axis of heads is always allowed. For numbers: "axes" where there is one for each axis of a
  /// grid, or the key of the whole number that is the default.
  const char* shape = "";
};

/// Throws misuse, naming the parameter and the value, for what lies outside its domain or is not
/// finite.
void check_domain(const ParameterInfo& info, double value);

/// The words of a choice.
[[nodiscard]] std::vector<std::string> choice_words(const ParameterInfo& info);

/// What the defaults of parameters may depend on.
struct DefaultContext {
  std::int64_t head = 0;   ///< The head that the default is for.
  std::int64_t heads = 1;  ///< All heads.
  std::int64_t query = 0, key = 0, feature = 0;
};
/// The default of a part's parameter `index`, of a choice the index of its word, where
/// ParameterInfo::initial does not say it; NaN where there is none.
using DefaultOf = double (*)(int index, const DefaultContext& context);

/// A parameter with its value filled in.
struct Parameter {
  ParameterInfo info;
  /// [1] or [head] numbers, or those of several axes. For a choice the index of its word; for a
  /// tensor empty.
  std::vector<double> values;
  /// For a tensor its sizes as given, with or without a leading axis of heads; empty where it is
  /// absent. For numbers of several axes of a grid [axes] or [head, axes], else empty.
  std::vector<std::int64_t> extents;

  [[nodiscard]] double at(std::int64_t head) const {
    return values.size() == 1 ? values.front() : values[static_cast<std::size_t>(head)];
  }
  [[nodiscard]] bool per_head() const { return values.size() > 1; }
  [[nodiscard]] bool is_number() const {
    return info.domain != Domain::choice && info.domain != Domain::tensor;
  }
};

/// A part's own parameters for one head, in the order of its row; dL/dparameters have the same
/// form.
struct PartValues {
  std::vector<double> p;                    ///< Numbers; of a choice the index of its word.
  std::vector<std::vector<double>> tensor;  ///< [parameters] Empty for what is no tensor.
};

/// Sizes by the names that ParameterInfo::shape uses.
using NamedSizes = std::map<std::string, std::int64_t>;

/// Checks a tensor's sizes against its declared shape and enters the names met for the first time
/// into `sizes`. Throws a failure that names the tensor, its shape and the expected one.
void check_shape(const ParameterInfo& info, const std::vector<std::int64_t>& extents,
                 std::int64_t heads, NamedSizes& sizes);

/// Enters the sizes that the names of a tensor's axes have where it is absent.
void take_absent(const ParameterInfo& info, NamedSizes& sizes);

/// The axes of a tensor by name or number, that of the heads left out: of "f=d,d" they are f and d.
[[nodiscard]] std::vector<std::string> tensor_axes(const ParameterInfo& info);

/// The axes that a tensor is declared with, that of the heads not counted.
[[nodiscard]] std::size_t tensor_rank(const ParameterInfo& info);

/// The sizes of a tensor to be drawn: names that `sizes` does not know become `fallback`.
[[nodiscard]] std::vector<std::int64_t> drawn_shape(const ParameterInfo& info,
                                                    const NamedSizes& sizes, std::int64_t fallback);

}  // namespace conelab
