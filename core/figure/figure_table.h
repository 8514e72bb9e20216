// The one table of figures: what each shows, what it reads, its parameters, and what makes it.
//
// `conelab list figures`, `conelab figure NAME` and the desktop's figure panel fold over it. A
// figure is made from a `FigureInput`: plain numbers that the program has read from the user's
// files, by the kind of source that the figure names, and `-p KEY=VALUE`. A new figure is a file
// with its maker, a row in figure_table.cpp, and its test; a new kind of source also needs a reader
// in app/figure_request.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parameter.h"
#include "core/bench/measured.h"
#include "core/figure/arcs.h"
#include "core/figure/cones.h"
#include "core/figure/explanations.h"
#include "core/figure/heatmap.h"
#include "core/figure/roofline.h"
#include "core/figure/scaling.h"
#include "core/figure/tree_figure.h"

namespace conelab::figure {

/// `-p KEY=VALUE` as text.
using Parameters = std::map<std::string, std::string>;

struct FigureKey {
  const char* key;
  const char* initial;  ///< The default as it would be typed; empty: from the input.
  const char* about;
  bool data = false;         ///< Chooses what is read or drawn rather than how it looks.
  const char* choices = "";  ///< "weights|logits": the only values there are; empty: any.
  bool whole = false;        ///< A whole number from 0.
};

/// What --input holds.
enum class FigureSource {
  none,   ///< The figure needs no input.
  maps,   ///< Attention of one head: a trace or results of `attend`.
  bench,  ///< A result of `bench`.
  tree    ///< The tree of one head: a result of `tree` or a trace.
};
/// "a result of `bench`"; empty for none.
[[nodiscard]] const char* source_text(FigureSource source);

struct FigureInput;

struct FigureInfo {
  const char* name;
  const char* about;
  FigureSource source;
  const char* width;  ///< The preset it is drawn at: "single", "double".
  std::vector<FigureKey> keys;
  DisplayList (*make)(const FigureInput& input);
  bool several = false;  ///< Of a benchmark: whether it draws the cases of several files.

  /// What --input holds, in words; empty where the figure needs none.
  [[nodiscard]] const char* input() const { return source_text(source); }
};

/// Everything that a figure is made of. Only the members of its source are filled.
struct FigureInput {
  const FigureInfo* info = nullptr;
  Parameters parameters;
  double width = 0;  ///< Points; 0: the figure's preset.
  Metadata metadata;
  std::string caption;  ///< What was read: "MiniLM, german/layer3, head 5".

  // FigureSource::maps
  std::vector<HeatmapPanel> panels;  ///< Weights, or what the key `quantity` says.
  std::vector<std::string> files;    ///< [panels] Where each has a file of its own: its stem.

  // FigureSource::bench
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredExponent> exponents;

  // FigureSource::tree
  std::shared_ptr<const tree::HeadTree> tree;
  std::vector<std::string> tokens;
  std::string cone;  ///< The family that orders the tokens; empty: not known.

  /// The value given, or the key's default.
  [[nodiscard]] std::string value(const std::string& key) const;
  /// The width asked for, or the figure's own.
  [[nodiscard]] double width_or(double usual) const { return width > 0 ? width : usual; }
  /// The metadata, with this title where they have none.
  [[nodiscard]] Metadata titled(const char* title) const;
  /// The key `caption`, then this description.
  [[nodiscard]] std::string described(const std::string& text) const;
};

[[nodiscard]] const std::vector<FigureInfo>& figure_table();
/// By name; misuse with the nearest known name otherwise.
[[nodiscard]] const FigureInfo& figure_named(const std::string& name);

/// Throws misuse, naming the keys that the figure takes, where one is not among them, and for a
/// value that is no whole number where the key needs one.
void check_keys(const FigureInfo& info, const Parameters& parameters);

/// The value given for a key, or its default.
[[nodiscard]] std::string value_of(const FigureInfo& info, const Parameters& parameters,
                                   const std::string& key);
/// The number that is all of `text`; misuse, naming the key, for anything else.
[[nodiscard]] double number(const std::string& key, std::string_view text);
/// The same for a whole number from 0.
[[nodiscard]] std::size_t whole_number(const std::string& key, std::string_view text);

/// The value typed for a part's parameter, checked against its domain, or `initial`; of a choice
/// the index of its word. NaN for a tensor.
[[nodiscard]] double typed_value(const ParameterInfo& info, const FigureInput& input,
                                 double initial);

// Sets what concerns the look; keys that choose data are ignored. Throws misuse for values that
// cannot be read, and for parameters that the cone family does not take.
void set_parameters(const Parameters& parameters, HeatmapFigure& figure);
void set_parameters(const Parameters& parameters, ArcsFigure& figure);
void set_parameters(const Parameters& parameters, ScalingFigure& figure);
void set_parameters(const Parameters& parameters, RooflineFigure& figure);
void set_parameters(const Parameters& parameters, ConesFigure& figure);
void set_parameters(const Parameters& parameters, ExplanationFigure& figure);
void set_parameters(const Parameters& parameters, TreeFigure& figure);

/// Draws a figure with the input's parameters, width and metadata: the last step of each maker.
template <class Figure>
[[nodiscard]] DisplayList finished(Figure figure, const FigureInput& input,
                                   DisplayList (*draw)(const Figure&)) {
  set_parameters(input.parameters, figure);
  if (input.width > 0) figure.width = input.width;
  figure.metadata = input.metadata;
  return draw(figure);
}

}  // namespace conelab::figure
