// The table of figures: what each figure shows, what it reads, its parameters, and the function
// that makes it.
//
// `conelab list figures`, `conelab figure NAME` and the desktop's figure panel iterate over it. A
// figure is made from a `FigureInput`: the parameters `-p KEY=VALUE`, and plain numbers that the
// program has read from the user's files according to the figure's source. A new figure is a file
// with its maker, a row in figure_table.cpp, and its test. A new kind of source also needs a reader
// in core/study/figure_job.cpp.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/parameter.h"
#include "core/bench/measured.h"
#include "core/figure/arcs.h"
#include "core/figure/cones.h"
#include "core/figure/explanations.h"
#include "core/figure/heads.h"
#include "core/figure/heatmap.h"
#include "core/figure/roofline.h"
#include "core/figure/scaling.h"
#include "core/figure/tree_figure.h"

namespace conelab::figure {

/// The parameters `-p KEY=VALUE`, as text.
using Parameters = std::map<std::string, std::string>;

/// Optional properties of a key. They are written with their names: {.data = true, .whole = true}.
struct KeyTraits {
  bool data = false;         ///< Whether it selects what is read or drawn, not how that looks.
  std::string choices = {};  ///< The only possible values: "weights|logits"; empty: any.
  bool whole = false;        ///< Whether the value is a whole number from 0.
};

struct FigureKey : KeyTraits {
  const char* key;
  const char* initial;  ///< The default as typed. Empty: it depends on the input.
  const char* about;

  FigureKey(const char* named, const char* typed, const char* text, KeyTraits traits = {})
      : KeyTraits(std::move(traits)), key(named), initial(typed), about(text) {}
};

/// What --input contains.
enum class FigureSource {
  none,   ///< The figure needs no input.
  maps,   ///< Attention of one head: a trace or results of `attend`.
  heads,  ///< Attention of all heads: a trace.
  bench,  ///< A result of `bench`.
  /// The tree of one head: a result of `tree`, a trace, or an embedding of `embed`.
  tree
};
/// Returns what --input contains as text, such as "a result of `bench`"; empty for none.
[[nodiscard]] const char* source_text(FigureSource source);

struct FigureInput;

struct FigureInfo {
  const char* name;
  const char* about;
  FigureSource source;
  const char* width;  ///< The preset of its width: "single" or "double".
  std::vector<FigureKey> keys;
  DisplayList (*make)(const FigureInput& input);
  /// For a figure of a benchmark: whether it draws the cases of several files.
  bool several = false;

  /// Returns what --input contains as text; empty if the figure needs no input.
  [[nodiscard]] const char* input() const { return source_text(source); }
};

/// Everything that a figure is made from. Only the members of its source are set.
struct FigureInput {
  const FigureInfo* info = nullptr;
  Parameters parameters;
  double width = 0;  ///< In points; 0: the figure's preset.
  Metadata metadata;
  std::string caption;  ///< What was read: "MiniLM, german/layer3, head 5".

  // FigureSource::maps
  std::vector<HeatmapPanel> panels;  ///< Weights, or what the key `quantity` selects.
  std::vector<HeatmapPanel> beside;  ///< [panels] What each is compared with; empty: nothing.
  /// Names the layer and the heads of `panels` and of `beside`, for titles: "layer3 · 5". Empty:
  /// the caption names them.
  std::string subject, beside_subject;
  /// [panels] By what the key `difference` may name each in addition to its title: its operator as
  /// typed, or the stem of its own file. Empty: by the title alone.
  std::vector<std::string> names;

  // FigureSource::heads
  std::vector<std::string> head_rows;  ///< The titles of the rows.
  std::vector<HeadPanel> heads;        ///< In rows.

  // FigureSource::bench
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredExponent> exponents;

  // FigureSource::tree
  std::shared_ptr<const tree::HeadTree> tree;
  std::vector<std::string> tokens;
  std::string cone;  ///< The family that orders the tokens; empty: unknown.
  /// (child, parent) of the hierarchy whose nodes the tokens are; empty: they are no nodes.
  std::vector<std::array<std::int64_t, 2>> edges;

  /// Returns the value given for a key, or its default.
  [[nodiscard]] std::string value(const std::string& key) const;
  /// Returns the width given, or the figure's own.
  [[nodiscard]] double width_or(double usual) const { return width > 0 ? width : usual; }
  /// Returns the metadata, with this title if they have none.
  [[nodiscard]] Metadata titled(const char* title) const;
  /// Returns the key `caption` followed by this description.
  [[nodiscard]] std::string described(const std::string& text) const;
};

[[nodiscard]] const std::vector<FigureInfo>& figure_table();
/// Returns the figure with this name. Throws misuse, with the nearest known name, if there is none.
[[nodiscard]] const FigureInfo& figure_named(const std::string& name);

/// Throws misuse for a key that the figure does not have (the message lists its keys), and for a
/// value that is not a whole number or one of the choices although the key needs one.
void check_keys(const FigureInfo& info, const Parameters& parameters);

/// Returns the value given for a key, or its default.
[[nodiscard]] std::string value_of(const FigureInfo& info, const Parameters& parameters,
                                   const std::string& key);
/// Returns the text given for a key; null if there is none or it is empty.
[[nodiscard]] const std::string* text_of(const Parameters& parameters, const std::string& key);
/// Returns the number of a text. Throws misuse, which names the key, if the text is not a number.
[[nodiscard]] double number(const std::string& key, std::string_view text);
/// Does the same for a whole number from 0.
[[nodiscard]] std::size_t whole_number(const std::string& key, std::string_view text);

/// Returns the value given for a part's parameter, checked against its domain, or `initial`. For a
/// choice it is the index of its word; for a tensor it is NaN.
[[nodiscard]] double typed_value(const ParameterInfo& info, const FigureInput& input,
                                 double initial);

// These set how a figure looks, from parameters that `check_keys` has checked. Keys that select
// data, and the caption, are ignored. They throw misuse for values that cannot be parsed, and for
// parameters that the cone family does not have.
void set_parameters(const Parameters& parameters, HeatmapFigure& figure);
void set_parameters(const Parameters& parameters, HeadsFigure& figure);
void set_parameters(const Parameters& parameters, ArcsFigure& figure);
void set_parameters(const Parameters& parameters, ScalingFigure& figure);
inline void set_parameters(const Parameters&, RooflineFigure&) {}
void set_parameters(const Parameters& parameters, ConesFigure& figure);
void set_parameters(const Parameters& parameters, ExplanationFigure& figure);
void set_parameters(const Parameters& parameters, TreeFigure& figure);

/// Draws a figure with the input's parameters, caption, width and metadata, as the last step of
/// each maker.
template <class Figure>
[[nodiscard]] DisplayList finished(Figure figure, const FigureInput& input,
                                   DisplayList (*draw)(const Figure&)) {
  set_parameters(input.parameters, figure);
  if (const auto* caption = text_of(input.parameters, "caption")) figure.caption = *caption;
  if (input.width > 0) figure.width = input.width;
  figure.metadata = input.metadata;
  return draw(figure);
}

}  // namespace conelab::figure
