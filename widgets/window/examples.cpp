#include "widgets/window/examples.h"

namespace conelab::desktop {
namespace {

Call with(const char* similarity, std::map<std::string, Value> parameters) {
  Call call = plain_call(similarity);
  call.parameters = std::move(parameters);
  return call;
}

const Session& session_of(const GuideView& view) { return view.document.session(); }

using Done = std::function<bool(const GuideView&)>;

Done points_at(Focus pair) {
  return [pair](const GuideView& view) { return view.document.focused() == pair; };
}
Done keeps(Focus pair) {
  return [pair](const GuideView& view) { return session_of(view).locked == pair; };
}

bool has_gamma_of(const GuideView& view, double least) {
  for (const Call& call : session_of(view).maps.calls) {
    const auto gamma = call.parameters.find("gamma");
    if (gamma == call.parameters.end()) continue;
    if (gamma->second.number().value_or(0) >= least) return true;
  }
  return false;
}

/// Tokens of "Und ich meine, "Zieh sie aus! …": 2 “ich”, 6 “"”, 13 “!”, 26 “du”.
TraceChoice german_head(const std::string& file) {
  TraceChoice trace;
  trace.file = file, trace.group = "/german/layer3", trace.head = 5;
  return trace;
}

/// Tokens of the carnivores: 226 feline, 240 siamese cat.
Example hierarchy(const std::string& file) {
  Example example{
      "What a head learns of a hierarchy",
      "Each token was trained to attend to its ancestors, with two numbers for its query and two "
      "for its key. Which operator finds them?",
      {},
      {{"Every row shares its colours with all others. Choose “row” in place of “linear” above the "
        "maps: the ancestors of each token are dark columns, which begin on the diagonal.",
        [](const GuideView& v) { return session_of(v).maps.scale == "row"; }},
       {"Point at the row “siamese_cat.n.01” (240), column “feline.n.01” (226): 0.340, the largest "
        "of its row.",
        points_at({240, 226})},
       {"Open the same tokens as the dot product was trained for them: the group dot/seed1, in the "
        "data at the left.",
        [](const GuideView& v) { return session_of(v).trace.group == "/dot/seed1"; }}},
      "Penumbral cones: 0.916 of the attention of “siamese_cat” is on its ancestors and itself, "
      "under the dot product 0.676, and over all tokens 0.778 and 0.633. With eight numbers for "
      "each token every operator finds nearly all."};
  example.session.trace.file = file, example.session.trace.group = "/penumbral/seed1";
  example.session.maps.calls = {with("penumbral", {{"gamma", "688.8"}, {"height", "1"}})};
  return example;
}

Example agreement(const std::string& file) {
  Example example{
      "What cones see that dot products do not",
      "Which token does “du” look at, and do the dot product and cones agree?",
      {},
      {{"Point at the row “du” (26), column “[CLS]” (0), in any map. The line below the "
        "maps has its weights: 0.269 under dot, the largest of this row.",
        points_at({26, 0})},
       {"Click the cell in the row “du”, column “!” (13), to keep that pair: umbral "
        "gives it 0.440, penumbral 0.042.",
        keeps({26, 13})},
       {"Penumbral looks flat, because all maps share one range of colours. Switch off "
        "“shared limits” above the maps (under “more” in a narrow window): its row “du” has its "
        "largest weight at “!”, too.",
        [](const GuideView& v) { return !session_of(v).maps.shared_limits; }},
       {"Choose “arcs” in place of “maps” to see what every token looks at.",
        [](const GuideView& v) { return session_of(v).maps.layout == "arcs"; }}},
      "They do not agree. Under the dot product “du” looks at [CLS], as nearly every "
      "token of this head does; under both cones it looks at “!”, which divides the two "
      "clauses."};
  example.session.trace = german_head(file);
  return example;
}

Example sharpness(const std::string& file) {
  Example example{
      "Sharper and sharper",
      "What does the γ of a cone change: which token wins, or by how much?",
      {},
      {{"Click the cell in the row “du” (26), column “!” (13): 0.042 at γ = 1, 0.073 at "
        "γ = 4, 0.230 at γ = 16.",
        keeps({26, 13})},
       {"Choose “− penumbral” instead of “no difference” above the maps (under “more” in a narrow "
        "window): cells that gain weight against γ = 1 are orange, cells that lose it are blue.",
        [](const GuideView& v) { return session_of(v).maps.reference == 0; }},
       {"Hold R: every map shows the reference, γ = 1, in colours of its own. Its pattern "
        "is the same, but the colour bar ends at 0.09.",
        [](const GuideView& v) { return v.flipped; }},
       {"In the third card at the left, set gamma to 64.",
        [](const GuideView& v) { return has_gamma_of(v, 64); }},
       {"Choose “no difference” again, and read the weight of the pair that you kept: "
        "0.719.",
        [](const GuideView& v) { return session_of(v).maps.reference < 0; }}},
      "Only by how much. γ multiplies every logit, so the order within a row stays and "
      "the strongest takes more: 0.042, 0.073, 0.230, 0.719 for “du” and “!”."};
  example.session.trace = german_head(file);
  example.session.maps.calls = {with("penumbral", {}), with("penumbral", {{"gamma", "4"}}),
                                with("penumbral", {{"gamma", "16"}})};
  return example;
}

Example ancestor(const std::string& file) {
  Example example{
      "Two tokens and their lowest common ancestor",
      "Where do “ich” and the quotation mark meet, and what has that to do with their "
      "logit?",
      {},
      {{"Click the cell in the row “ich” (2), column “\"” (6). The explorer at the right "
        "shows both tokens as u and v with their cones, and says where their lowest common "
        "ancestor (LCA) is.",
        keeps({2, 6})},
       {"Choose “logits” instead of “weights” above the maps and read the line below: "
        "−129.27.",
        [](const GuideView& v) { return session_of(v).maps.quantity == "logits"; }},
       {"Switch on “numbers” in the explorer (under “more” in a narrow window) and find the LCA: "
        "its height is 129.27.",
        [](const GuideView& v) { return session_of(v).cones.numbers; }},
       {"Switch “numbers” off again and drag u: the LCA and the logit follow. Ctrl+Z "
        "takes it back.",
        [](const GuideView& v) { return !session_of(v).cones.follow_tokens; }}},
      "They meet at the LCA, the lowest point that lies above both. Its height is "
      "129.27, and the logit is minus that height: the lower two tokens meet, the more "
      "they attend to each other."};
  example.session.trace = german_head(file);
  example.session.cones.family = "umbral";
  // Any two tokens have a common ancestor here; under a penumbral light many pairs have none.
  example.session.maps.calls = {with("umbral", {})};
  return example;
}

}  // namespace

std::vector<Example> examples(const std::string& shipped_trace) {
  const std::string folder = shipped_trace.substr(0, shipped_trace.rfind('/') + 1);
  return {hierarchy(folder + "mammals_trace.h5"), agreement(shipped_trace),
          sharpness(shipped_trace), ancestor(shipped_trace)};
}

}  // namespace conelab::desktop
