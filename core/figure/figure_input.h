// A figure is made from this: the parameters `-p KEY=VALUE`, and plain numbers that were read from
// the user's files according to the figure's source. core/source/figure_table.h is the table.
#pragma once

#include <any>
#include <array>
#include <functional>
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

namespace conelab {
struct FigureRequest;  // core/source/figure_request.h
}

namespace conelab::figure {

/// The parameters `-p KEY=VALUE`, as text.
using Parameters = std::map<std::string, std::string>;

/// Optional properties of a key. They are written with their names: {.data = true, .whole = true}.
struct KeyTraits {
  bool data = false;         ///< Whether it selects what is read or drawn, not how that looks.
  std::string choices = {};  ///< The only possible values: "weights|logits"; empty: any.
  bool whole = false;        ///< Whether the value is a whole number from 0.
  bool rare = false;         ///< Whether it is rarely used: forms fold it.
  bool look = false;         ///< Of a figure without input: whether it is how the figure looks.
};

/// The groups in which the keys of a figure are listed.
enum class KeyGroup { what, look, rare };
/// [KeyGroup] Their titles.
inline constexpr const char* key_group_titles[] = {"what it shows", "how it looks", "rarely used"};

struct FigureKey : KeyTraits {
  const char* key;
  const char* initial;  ///< The default as typed. Empty: it depends on the input.
  const char* about;

  FigureKey(const char* named, const char* typed, const char* text, KeyTraits traits = {})
      : KeyTraits(std::move(traits)), key(named), initial(typed), about(text) {}
};

struct FigureInput;

/// A source says what --input contains, and which function reads it.
struct FigureSource {
  const char* text = "";  ///< "a result of `bench`"; empty: the figure takes no --input.
  /// Sets the members of the input that the figure is made from, and the caption. Null: nothing.
  void (*read)(const FigureRequest& request, FigureInput& input) = nullptr;
  bool traces = false;                    ///< Whether it reads traces.
  std::vector<std::string> results = {};  ///< The jobs whose results it reads besides.
};

struct FigureInfo {
  const char* name;
  const char* about;
  FigureSource source;
  const char* width;  ///< The preset of its width: "single" or "double".
  std::vector<FigureKey> keys;
  DisplayList (*make)(const FigureInput& input);
  /// For a figure of a benchmark: whether it draws the cases of several files.
  bool several = false;
};

/// Everything that a figure is made from. Only the members of its source are set.
struct FigureInput {
  const FigureInfo* info = nullptr;
  Parameters parameters;
  double width = 0;  ///< In points; 0: the figure's preset.
  Metadata metadata;
  std::string caption;              ///< What was read: "MiniLM, german/layer3, head 5".
  std::function<bool()> cancelled;  ///< A maker that takes long polls it, and throws interrupted.

  // The source that reads attention of one head sets these.
  std::vector<HeatmapPanel> panels;  ///< Weights, or what the key `quantity` selects.
  std::vector<HeatmapPanel> beside;  ///< [panels] What each is compared with; empty: nothing.
  /// Names the layer and the heads of `panels` and of `beside`, for titles: "layer3 · 5". Empty:
  /// the caption names them.
  std::string subject, beside_subject;
  /// [panels] By what the key `difference` may name each in addition to its title: its operator as
  /// typed, or the stem of its own file. Empty: by the title alone.
  std::vector<std::string> names;

  // The source that reads attention of all heads sets these.
  std::vector<std::string> head_rows;  ///< The titles of the rows.
  std::vector<HeadPanel> heads;        ///< In rows.

  // The source that reads a benchmark sets these.
  std::vector<MeasuredCase> cases;
  std::vector<MeasuredExponent> exponents;
  /// The files of `cases` in their order, and the number of cases of each.
  std::vector<std::pair<std::string, std::size_t>> bench_files;

  // For the tree of one head.
  std::shared_ptr<const tree::HeadTree> tree;
  std::vector<std::string> tokens;
  std::string cone;  ///< The family that orders the tokens; empty: unknown.
  /// (child, parent) of the hierarchy whose nodes the tokens are; empty: they are no nodes.
  std::vector<std::array<std::int64_t, 2>> edges;

  /// Holds what any other source holds. Its reader and the figure's maker know the type.
  std::any own;

  /// Returns the value given for a key, or its default.
  [[nodiscard]] std::string value(const std::string& key) const;
  /// Returns the width given, or the figure's own.
  [[nodiscard]] double width_or(double usual) const { return width > 0 ? width : usual; }
  /// Returns the metadata, with this title if they have none.
  [[nodiscard]] Metadata titled(const char* title) const;
  /// Returns an empty page of the width given, or the figure's own, with these metadata.
  [[nodiscard]] DisplayList page(double usual, const char* title) const {
    return begin_page(width_or(usual), metadata, title);
  }
  /// Returns the key `caption` followed by this description.
  [[nodiscard]] std::string described(const std::string& text) const;
};

/// Returns the group of a figure's key.
[[nodiscard]] inline KeyGroup group_of(const FigureInfo& info, const FigureKey& key) {
  if (key.rare) return KeyGroup::rare;
  const bool looks = info.source.read == nullptr ? key.look : !key.data;
  return looks ? KeyGroup::look : KeyGroup::what;
}

/// Throws misuse for a key that the figure does not have (the message lists its keys), and for a
/// value that is not a whole number or one of the choices although the key needs one.
void check_keys(const FigureInfo& info, const Parameters& parameters);

/// Returns the value given for a key, or its default.
[[nodiscard]] std::string value_of(const FigureInfo& info, const Parameters& parameters,
                                   const std::string& key);
/// Returns the text given for a key; null if there is none or it is empty.
[[nodiscard]] const std::string* text_of(const Parameters& parameters, const std::string& key);
/// Returns the number of a text. Throws misuse, which names the key, if the text is not a number
/// from -most to most.
[[nodiscard]] double number(const std::string& key, std::string_view text, double most = 1e300);
/// Does the same for a whole number from 0.
[[nodiscard]] std::size_t whole_number(const std::string& key, std::string_view text);

/// Returns the value given for a part's parameter, checked against its domain, or `initial`. For a
/// choice it is the index of its word; for a tensor it is NaN.
[[nodiscard]] double typed_value(const ParameterInfo& info, const FigureInput& input,
                                 double initial);

// These set how a figure looks, from parameters that `check_keys` has checked. Keys that select
// data, and the caption, are ignored. They throw misuse for values that cannot be parsed, and for
// parameters that the cone family does not have.
void set_parameters(const Parameters& parameters, HeatLook& look);
void set_parameters(const Parameters& parameters, ArcsFigure& figure);
void set_parameters(const Parameters& parameters, ScalingFigure& figure);
inline void set_parameters(const Parameters&, RooflineFigure&) {}
void set_parameters(const Parameters& parameters, ConesFigure& figure);
void set_parameters(const Parameters& parameters, ExplanationFigure& figure);
void set_parameters(const Parameters& parameters, TreeFigure& figure);

/// Returns the list if it can be written. Otherwise throws misuse with the parameters that were
/// typed.
[[nodiscard]] DisplayList drawable(DisplayList list, const Parameters& typed);

/// Draws a figure with the input's parameters, caption, width and metadata, as the last step of
/// each maker.
template <class Figure>
[[nodiscard]] DisplayList finished(Figure figure, const FigureInput& input,
                                   DisplayList (*draw)(const Figure&)) {
  set_parameters(input.parameters, figure);
  if (const auto* caption = text_of(input.parameters, "caption")) figure.caption = *caption;
  if (input.width > 0) figure.width = input.width;
  figure.metadata = input.metadata;
  return drawable(draw(figure), input.parameters);
}

}  // namespace conelab::figure
