#include "core/source/figure_table.h"

#include <algorithm>
#include <utility>

#include "core/base/names.h"
#include "core/figure/bias.h"
#include "core/figure/similarity_field.h"
#include "core/geometry/cone_family.h"
#include "core/pair/mask.h"

namespace conelab {
// The functions that read the sources.
using FigureReader = void(const FigureRequest&, figure::FigureInput&);
FigureReader read_maps, read_heads;   // figure_maps.cpp
FigureReader read_bench;              // figure_request.cpp
FigureReader read_tree, read_placed;  // figure_tree.cpp
FigureReader read_trials;             // trials_figure.cpp
FigureReader read_training;           // training_figure.cpp
FigureReader read_winners;            // winners_figure.cpp
}  // namespace conelab

namespace conelab::figure {

// The functions that make the figures.
using Maker = DisplayList(const FigureInput&);
Maker make_heatmap, make_arcs;                            // map_figures.cpp
Maker make_heads;                                         // heads.cpp
Maker make_scaling, make_growth, make_ratio;              // bench_figures.cpp
Maker make_roofline;                                      // bench_figures.cpp
Maker make_tree, make_hasse, make_cones, make_models;     // geometry_figures.cpp
Maker make_finite_to_infinite, make_convexity, make_lub;  // geometry_figures.cpp
Maker make_families, make_construction;                   // geometry_figures.cpp
Maker make_points;                                        // points.cpp
Maker make_intervals;                                     // intervals.cpp
Maker make_regions;                                       // regions.cpp
Maker make_masks;                                         // masks.cpp
Maker make_bias;                                          // bias.cpp
Maker make_determinant;                                   // determinant.cpp
Maker make_trials;                                        // ../source/trials_figure.cpp
Maker make_training;                                      // ../source/training_figure.cpp
Maker make_winners;                                       // ../source/winners_figure.cpp

namespace {

using Keys = std::vector<FigureKey>;

/// Returns the words as choices of a key: "weights|logits".
template <class Words>
std::string choices(const Words& words) {
  return join(words, "|");
}

/// Returns a key whose values are these words, the first of which is the default.
template <class Words>
FigureKey word_key(const char* key, const Words& words, const char* about, KeyTraits traits = {}) {
  traits.choices = choices(words);
  return {key, std::data(words)[0], about, std::move(traits)};
}

/// Returns a key that is yes or no.
FigureKey yes_or_no(const char* key, const char* initial, const char* about,
                    KeyTraits traits = {.look = true}) {
  traits.choices = "yes|no";
  return {key, initial, about, std::move(traits)};
}

// The traits of keys that select what is read: any text, a whole number, and those rarely used.
const KeyTraits of_data = {.data = true}, whole_of_data = {.data = true, .whole = true},
                rare_of_data = {.data = true, .rare = true},
                rare_whole_of_data = {.data = true, .whole = true, .rare = true};

/// Return the traits of a key whose value is one of these words; `word_of_data` if it selects what
/// is read.
KeyTraits word_of(std::string words) { return {.choices = std::move(words)}; }
KeyTraits word_of_data(const char* words) { return {.data = true, .choices = words}; }

// ---- keys that several figures take -------------------------------------------------------------

const FigureKey caption_key = {"caption", "", "text under the figure", {.look = true}};
const Keys caption_alone = {caption_key};
const FigureKey batch_key = {"batch", "0", "which batch element", rare_whole_of_data};
const FigureKey head_key = {"head", "0", "which head", whole_of_data};
const FigureKey arrays_key = {
    "arrays", "", "of a trace: the names of its q, k and v, as attend --q --k --v", rare_of_data};
const FigureKey weights_key = {"weights_array", "",
                               "of an --input without q: the array of attention weights, "
                               "[.. x n_q x n_k]; default: attentions or weight",
                               rare_of_data};
const FigureKey tokens_key = {"tokens", "key", "of a trace: key or query",
                              word_of_data("key|query")};
const FigureKey similarities_key = {
    "similarities", "dot,penumbral,umbral",
    "operators, one panel each; with parameters as penumbral:gamma=2:masks=causal; a number after "
    "a comma continues a list of one number per head, as in dot,umbral:gamma=1,2",
    of_data};
const FigureKey limits_key = {"limits", "shared", "shared by the panels, or own",
                              word_of("shared|own")};

const FigureKey quantity_key = word_key("quantity", map_quantities, "weights or logits", of_data);
const FigureKey special_key = {"special", "shown",
                               "special tokens such as [CLS]: shown or excluded",
                               word_of_data("shown|excluded")};
const FigureKey difference_key = {"difference", "",
                                  "operator whose values the others are subtracted from", of_data};
const FigureKey scale_key =
    word_key("scale", heat_scale_names, "linear, log, row (divided by the row's largest) or rank");
const FigureKey low_key = {"low", "", "lower limit of the colours"};
const FigureKey high_key = {"high", "", "upper limit of the colours"};
const FigureKey colours_key = {"colours", "sequential",
                               "sequential, dark, diverging or dark_diverging",
                               word_of(choices(names_of(colour_maps())))};

/// Returns the keys of a figure of maps: `first`, then those of its values and colours.
Keys map_keys(Keys first) {
  first.insert(first.end(), {special_key, difference_key, scale_key, limits_key, low_key, high_key,
                             colours_key, caption_key});
  return first;
}

/// Returns the keys of a figure of a benchmark: those that choose the cases, then the further ones.
Keys bench_keys(const char* operators, const Keys& more = {}) {
  Keys keys = {{"operators", "", operators, of_data}};
  for (const conelab::Axis& axis : fixed_axes()) {
    keys.push_back({axis.name, axis.drawn, axis.which, word_of_data(axis.choices)});
  }
  keys.insert(keys.end(), more.begin(), more.end());
  keys.push_back(caption_key);
  return keys;
}

std::string model_choices() {
  std::vector<std::string> names;
  for (const geometry::Model model : geometry::all_models) {
    names.emplace_back(geometry::model_name(model));
  }
  return choices(names);
}
const FigureKey model_key = {"model",
                             "halfspace",
                             "halfspace, ball, klein, hyperboloid or band",
                             {.choices = model_choices(), .look = true}};

/// Returns the keys that choose a family of cones and a scene of one or two points.
Keys scene_keys(bool pair) {
  Keys keys = {
      {"cone", "penumbral", "family of the cones", word_of(geometry::cone_family_names("|"))},
      {"u", "", "first point, x,height of the half-plane unless `points` says otherwise"},
      {"source", "", "finite families: where the light is; default: the models' origin"},
      {"points",
       "halfspace",
       "model of the points typed: halfspace, ball, klein, hyperboloid, band",
       {.choices = model_choices(), .rare = true}},
      {"height", "", "penumbral: height of the light's horosphere (1)"},
      {"radius", "", "umbral: hyperbolic radius of the objects (0.4, so that they are seen)"},
      {"source_radius", "", "penumbral-finite: radius of the light (0.5)"},
      {"object_radius", "", "umbral-finite: radius of the objects (0.3)"},
      {"K", "", "ganea: constant of the half-aperture (0.1)"},
      caption_key,
  };
  if (pair) keys.insert(keys.begin() + 2, {"v", "", "second point"});
  return keys;
}

std::string similarity_choices() {
  std::string words = "cone";
  for (const PlaneSimilarityInfo& row : plane_similarities()) words += std::string("|") + row.name;
  return words;
}

/// Returns the keys that `cones` and `models` share.
Keys cone_keys() {
  Keys keys = scene_keys(true);
  keys.insert(keys.end() - 1,
              {{"levels", "0", "how many level lines of the similarity with u", {.look = true}},
               yes_or_no("heat", "no", "yes or no: the similarity with u in colours"),
               {"similarity", "cone",
                "which similarity: that of the cones, or another of the half-plane's points",
                word_of(similarity_choices())},
               {"depth", "height",
                "penumbral, umbral: the height of the LCA, or its distance from the light",
                word_of("height|distance")},
               yes_or_no("ancestors", "yes", "yes or no: the region of common ancestors"),
               yes_or_no("geodesic", "no", "yes or no: the geodesic from u to v"),
               {"tokens", "", "further points with names: x,height=name;x,height=name;…"}});
  return keys;
}

/// Returns the keys of a figure in one model, which may show several families.
Keys family_keys() {
  Keys keys = cone_keys();
  keys.insert(
      keys.begin() + 1,
      {model_key,
       {"beside", "", "further families with the same points, one panel each: umbral,ganea"}});
  return keys;
}

/// Adds a key for each number, word and tensor of one axis that the rows of a table take, each key
/// once. The defaults are those of the rows, and "random" for a tensor.
template <class Rows>
Keys row_keys(Keys keys, const Rows& rows) {
  for (const auto& row : rows) {
    for (const ParameterInfo& info : row.parameters) {
      const bool tensor = info.domain == Domain::tensor;
      if ((tensor && tensor_rank(info) > 1) || contains_key(keys, info.key)) continue;
      keys.push_back({info.key, tensor ? "random" : "", info.about, {.choices = info.choices}});
    }
  }
  keys.push_back(caption_key);
  return keys;
}

Keys with(Keys keys, std::ptrdiff_t at, const FigureKey& key) {
  keys.insert(keys.begin() + at, key);
  return keys;
}

Keys tree_keys() {
  return {batch_key,
          head_key,
          arrays_key,
          {"similarity", "penumbral",
           "of a trace: which operator, with parameters as penumbral:gamma=2", of_data},
          tokens_key,
          caption_key};
}

// ---- the table ----------------------------------------------------------------------------------

const FigureSource no_source;
const FigureSource maps_source = {
    "a trace (q, k, v) or a result of `attend`", read_maps, true, {"attend"}};
const FigureSource heads_source = {"a trace (q, k, v)", read_heads, true};
const FigureSource bench_source = {"a result of `bench`", read_bench, false, {"bench"}};
const FigureSource trials_source = {
    "results of `train --tune` or `embed --tune`", read_trials, false, {"train", "embed"}};
const FigureSource training_source = {
    "results of `train -p snapshots=N`", read_training, false, {"train"}};
const FigureSource winners_source = {
    "results of `train`, each of one head", read_winners, false, {"train"}};
const FigureSource tree_source = {
    "a result of `tree`, or a trace (q, k, v)", read_tree, true, {"tree"}};
const FigureSource placed_source = {
    "a trace (q, k, v), or a result of `tree` or `embed`", read_placed, true, {"tree"}};

std::vector<FigureInfo> map_figures() {
  return {
      {"heatmap", "attention of several operators side by side on one trace, with token labels",
       maps_source, "double",
       map_keys(
           {similarities_key,
            quantity_key,
            batch_key,
            head_key,
            arrays_key,
            weights_key,
            word_key("join", head_joins,
                     "which heads: one, the mean or the maximum of all, or attention rollout "
                     "up to the layer",
                     of_data),
            {"beside", "",
             "what the maps are compared with, FILE or FILE:/group: three panels each", of_data},
            {"beside_arrays", "",
             "the names of q, k and v in the file that beside names, if they are others",
             rare_of_data},
            {"beside_head", "0", "the head that the maps are compared with", rare_whole_of_data},
            word_key("beside_join", head_joins,
                     "which heads of the layer that beside names: one, or all of them joined",
                     rare_of_data),
            {"ancestors", "no",
             "yes: before the maps, the ancestors of each node of the input's hierarchy",
             word_of_data("no|yes")}}),
       make_heatmap},
      {"heads", "attention of all heads of the layers of a trace as small maps with a score",
       heads_source, "double",
       map_keys({{"similarities", "dot", "the operator; several where rows=operators", of_data},
                 word_key("rows", head_row_choices,
                          "layers beside the one of --input, every layer of the file, or operators",
                          of_data),
                 word_key("score", tree::head_score_names, "the number of each map"),
                 word_key("order", head_orders, "in rows, or all heads by their score"),
                 quantity_key,
                 batch_key,
                 arrays_key,
                 weights_key}),
       make_heads},
      {"arcs",
       "attention of several operators on one trace as arcs between tokens",
       maps_source,
       "double",
       {similarities_key,
        batch_key,
        head_key,
        arrays_key,
        weights_key,
        {"top", "3", "how many arcs a query has at most, its strongest", whole_of_data},
        {"threshold", "0.01", "the weakest weight that is drawn", of_data},
        word_key("arrangement", arc_arrangements,
                 "sides (above: to earlier tokens, below: to later ones), above, or rows"),
        limits_key,
        caption_key},
       make_arcs},
  };
}

std::vector<FigureInfo> bench_figures() {
  const char* chosen = "which of the file's operators";
  return {
      {"scaling", "time against sequence length, with 95 % intervals and fitted exponents",
       bench_source, "double",
       bench_keys(chosen,
                  {yes_or_no("ratio", "no",
                             "yes adds a panel of times relative to the first operator", {}),
                   {"guide", "2", "slope of the guide line, or none; -1 where x=ranks"},
                   {"x", "length", "horizontal axis", word_of_data("length|ranks")},
                   {"length", "", "where x=ranks: n; default: the longest measured", whole_of_data},
                   {"networks", "", "where x=ranks: bandwidths in Gbit/s to predict for, as 10,100",
                    of_data},
                   {"counts", "1,4,16,64,256", "where x=ranks: the ranks to predict", of_data},
                   {"speed", "1",
                    "where x=ranks: how fast a predicted rank is beside a measured one", of_data}}),
       make_scaling},
      {.name = "growth",
       .about = "time against length for operators of different order of cost, with guides",
       .source = bench_source,
       .width = "single",
       .keys = bench_keys(
           "which of the files' operators",
           {{"guides", "n,n log n,n sqrt n,n^2", "orders of growth to compare with, or none"}}),
       .make = make_growth,
       .several = true},
      {"ratio", "time relative to the first operator against sequence length", bench_source,
       "double", bench_keys("which of the file's operators; the first is the base"), make_ratio},
      {"roofline", "attained against attainable performance", bench_source, "single",
       bench_keys(chosen), make_roofline},
  };
}

std::vector<FigureInfo> figures_without_input() {
  return {
      {"cones", "shadow cones of two points and their lowest common ancestor, any family and model",
       no_source, "single", family_keys(), make_cones},
      {"models", "the same cones in half-plane, ball, Klein ball, hyperboloid and band", no_source,
       "double", cone_keys(), make_models},
      {"families", "one scene under every cone family, with its light", no_source, "double",
       caption_alone, make_families},
      {"regions", "which points are descendants, ancestors, related or unrelated to a point u",
       no_source, "single", with(scene_keys(false), 1, model_key), make_regions},
      {"construction", "the two curves whose crossing is the lowest common ancestor", no_source,
       "single", with(scene_keys(true), 1, model_key), make_construction},
      {"bias", "the biases over the offset of key and query, and the error of HyPE's columns",
       no_source, "single",
       row_keys({{"n", "64", "how many positions", {.whole = true}},
                 {"biases", "", "which biases, as alibi,hype; default: all that are curves"},
                 {"heads", "8", "how many heads, for the defaults of a head", {.whole = true}},
                 {"head", "3", "which head", {.whole = true}},
                 {"seed", "1", "of tables that are drawn", {.whole = true}},
                 {"d", "64", "dimension that HyPE's columns are scaled for", {.whole = true}}},
                bias_curves()),
       make_bias},
      {"masks", "which keys a query sees, for every mask side by side", no_source, "single",
       row_keys({{"n", "16", "how many queries and keys", {.whole = true}},
                 {"masks", "", "which masks, as causal,window; default: all"}},
                mask_table()),
       make_masks},
      {"finite-to-infinite",
       "a finite light recedes and its cones become the infinite ones",
       no_source,
       "double",
       {{"cone", "penumbral", "penumbral or umbral", word_of("penumbral|umbral")}, caption_key},
       make_finite_to_infinite},
      {"convexity", "a geodesic leaves an umbral cone and stays in a penumbral one", no_source,
       "double", caption_alone, make_convexity},
      {"lub", "the lowest common ancestor is the least upper bound for d = 2, not for d = 3",
       no_source, "double", caption_alone, make_lub},
      {"determinant",
       "what volume-preserving and softmax attention do to volumes of random tokens",
       no_source,
       "double",
       {{"dim", "4", "d, features of a token", whole_of_data},
        {"longest", "16", "the longest sequence", whole_of_data},
        {"draws", "25", "how many draws of tokens and matrices", whole_of_data},
        {"seed", "0", "of the random numbers", whole_of_data},
        caption_key},
       make_determinant},
  };
}

std::vector<FigureInfo> tree_figures() {
  return {
      {"tree", "dendrogram of a head's tokens by LCA depth, and its segmentation", tree_source,
       "double",
       with(tree_keys(), 3, yes_or_no("segmentation", "yes", "yes or no: the lower panel", {})),
       make_tree},
      {"hasse", "ancestor order of a head's tokens (cone families)", tree_source, "double",
       tree_keys(), make_hasse},
      {"points", "tokens of a head, or embedded nodes, in the plane of their model, with cones",
       tree_source, "double",
       with(
           with(with(tree_keys(), 3,
                     {"lines", "",
                      "merges: common ancestors by the dendrogram; edges: of the hierarchy; order: "
                      "of the cones; none; default: edges if there are any, else merges",
                      word_of("merges|edges|order|none")}),
                3,
                {"cones", "auto", "the cone of each token; auto: of at most 100 tokens",
                 word_of("auto|yes|no")}),
           3,
           {"model", "", "default: the half-plane, or the ball for finite sources",
            word_of(model_choices())}),
       make_points},
      {.name = "trials",
       .about = "the expected best of k trials of a search, for each operator",
       .source = trials_source,
       .width = "double",
       .keys = caption_alone,
       .make = make_trials,
       .several = true},
      {.name = "training",
       .about = "loss or attention on ancestors against the steps of training, for each head",
       .source = training_source,
       .width = "double",
       .keys = {{"measure", "loss", "loss, or mass: the attention on ancestors",
                 word_of_data("loss|mass")},
                caption_key},
       .make = make_training,
       .several = true},
      {.name = "winners",
       .about = "the best operator on each hierarchy in each dimension, and how far it is ahead",
       .source = winners_source,
       .width = "single",
       .keys = {{"measure", "mass", "mass, map or another measure of train", of_data}, caption_key},
       .make = make_winners,
       .several = true},
      {"intervals",
       "tokens of a head with d = 2 as nested bars (umbral and penumbral cones)",
       placed_source,
       "double",
       {{"similarity", "umbral", "of a trace: which operator, with parameters as umbral:radius=0.5",
         of_data},
        tokens_key,
        batch_key,
        head_key,
        arrays_key,
        {"pair", "", "two tokens whose hull is drawn, by number or text: dog.n.01,cat.n.01"},
        {"within", "", "a token, by number or text: only those that it spans"},
        {"colour", "depth",
         "depth: the level, which is the longest chain of ancestors that are shown; height: of the "
         "token; value: |v|",
         word_of_data("depth|height|value")},
        {"scale", "rank", "of the axis: rank (ends at equal distances) or linear",
         word_of("rank|linear")},
        caption_key},
       make_intervals},
  };
}

std::vector<FigureInfo> all_figures() {
  std::vector<FigureInfo> all = map_figures();
  for (const auto& figures : {bench_figures(), figures_without_input(), tree_figures()}) {
    all.insert(all.end(), figures.begin(), figures.end());
  }
  for (FigureInfo& info : all) {
    std::ranges::stable_sort(info.keys, {},
                             [&](const FigureKey& key) { return group_of(info, key); });
  }
  return all;
}

}  // namespace

const std::vector<FigureInfo>& figure_table() {
  static const std::vector<FigureInfo> table = all_figures();
  return table;
}

const FigureInfo& figure_named(const std::string& name) {
  return row_named("figure", figure_table(), name);
}

const FigureInfo* figure_of_results(const std::string& kind) {
  for (const FigureInfo& info : figure_table()) {
    if (contains(info.source.results, kind)) return &info;
  }
  return nullptr;
}

}  // namespace conelab::figure
