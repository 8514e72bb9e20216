// The table of data sets.
#include <filesystem>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/dataset/import.h"

namespace conelab {

// Each is defined in a file of this folder.
MadeData complete_tree(const KeyValues& values);
MadeData random_tree(const KeyValues& values);
MadeData hyperbolic_graph(const KeyValues& values);
MadeData clustered_graph(const KeyValues& values);
MadeData citation_graph(const KeyValues& values);
MadeData wordnet(const KeyValues& values);
MadeData sentences(const KeyValues& values);
MadeData listops(const KeyValues& values);
MadeData rigid_body(const KeyValues& values);
MadeData sine_cosine(const KeyValues& values);
MadeData gaussian_tokens(const KeyValues& values);
MadeData model_shapes(const KeyValues& values);
MadeData position_values(const KeyValues& values);
MadeData imported_edges(const KeyValues& values);
MadeData imported_newick(const KeyValues& values);
MadeData imported_obo(const KeyValues& values);
MadeData imported_json(const KeyValues& values);
MadeData imported_folder(const KeyValues& values);
MadeData imported_hierarchy(const KeyValues& values);

namespace {

constexpr double most_tree_nodes = 1e6;
constexpr double most_graph_nodes = 20000;  // Graphs look at all pairs.

KeyInfo nodes(const char* count, double most) {
  return {"n", count, "nodes", Domain::whole, "", most};
}

std::vector<KeyInfo> series_keys() {
  return {{"length", "200", "times of a series", Domain::whole, "", 1e6},
          {"sequences", "50", "series", Domain::whole, "", 1e5},
          {"step", ".05", "time between two values", Domain::positive, "", .5}};
}

}  // namespace

const std::vector<DatasetInfo>& dataset_table() {
  static const std::vector<DatasetInfo> table = {
      {"tree",
       "complete tree, or one with extra edges",
       {{"branching", "2", "children of a node", Domain::whole, "", 1000},
        {"depth", "5", "edges from the root to a leaf", Domain::count, "", 1000},
        {"extra", "0", "share of the nodes that get a second parent, drawn from its level",
         Domain::non_negative, "", 1}},
       complete_tree},
      {"random-tree",
       "uniform recursive tree: each node's parent is drawn from the nodes before it",
       {nodes("500", most_tree_nodes)},
       random_tree},
      {"hyperbolic-graph",
       "random graph in the hyperbolic disk (Gulcehre et al. 2019, von Looz et al. 2015)",
       {nodes("1000", most_graph_nodes),
        {"alpha", ".95", "growth of the density with the radius", Domain::positive, "", 10},
        {"radius_factor", ".35", "threshold of the distance of neighbours / radius of the disk",
         Domain::positive, "", 2},
        {"slice", "360", "angles are drawn from 0 to this, in degrees; curricula begin at 30",
         Domain::positive, "", 360}},
       hyperbolic_graph},
      {"clustered",
       "block model: clusters of equal size, with their own density of edges",
       {nodes("1000", most_graph_nodes),
        {"clusters", "10", "clusters"},
        {"within", ".1", "probability of an edge inside a cluster", Domain::non_negative, "", 1},
        {"between", ".005", "probability of an edge between clusters", Domain::non_negative, "",
         1}},
       clustered_graph},
      {"citation",
       "papers in time: each cites recent ones, with preference for those that are often cited",
       {nodes("1000", most_graph_nodes),
        {"links", "3", "papers that a paper cites", Domain::whole, "", 1000},
        {"window", "100", "papers before it that a paper may cite", Domain::whole, "", 1e6}},
       citation_graph},
      {"wordnet",
       "nouns of WordNet 3.0 below a synset, by hypernyms; the mammals ship",
       {{"root", "mammal.n.01", "synset above all others", Domain::any, "text"},
        {"path", "", "folder of WordNet's files, as Debian's wordnet-base installs them",
         Domain::any, "text"},
        {"instances", "no", "whether instances count as nouns below, as a river below rivers",
         Domain::choice, "yes|no"}},
       wordnet},
      {"sentences",
       "sentences of a small grammar with their constituents as hierarchies",
       {{"n", "200", "sentences", Domain::whole, "", 1e5},
        {"depth", "4", "most edges from a sentence to a word; at least 2", Domain::whole, "", 100}},
       sentences},
      {"listops",
       "ListOps: nested lists of digits under MAX, MIN, MED and SM, with their values (Nangia and "
       "Bowman)",
       {{"n", "200", "expressions; depths 1 to `depth` take turns", Domain::whole, "", 1e5},
        {"depth", "4", "most levels of lists", Domain::whole, "", 20},
        {"arguments", "4", "most parts of a list; at least 2", Domain::whole, "", 10},
        {"length", "64", "most words, closing brackets among them", Domain::whole, "", 1e4}},
       listops},
      {"rigid-body",
       "rotations of a rigid body, by the implicit midpoint rule (GeometricMachineLearning)",
       series_keys(), rigid_body},
      {"sine-cosine", "sine and cosine of a phase that grows with time (GeometricMachineLearning)",
       series_keys(), sine_cosine},
      {"gaussian",
       "q, k, v with standard normal numbers",
       {{"heads", "8", "heads", Domain::whole, "", 1024},
        {"n", "512", "tokens", Domain::whole, "", 1e6},
        {"d", "64", "features", Domain::whole, "", 4096},
        {"dtype", "f32", "type of numbers in the file", Domain::choice, "f32|f64|f16|bf16"},
        {"twins", "yes", "whether key 1 equals query 0 and key 3 nearly equals query 2",
         Domain::choice, "yes|no"}},
       gaussian_tokens,
       {},
       true},
      {"shapes",
       "q, k, v with the heads, tokens and features of a model of the papers",
       {{"model", "fairseq-iwslt", "model", Domain::choice, shape_models()}},
       model_shapes,
       {},
       true},
      {"positions",
       "q = k = 0 and v from 0 to 1: what a position bias alone attends to, as a mean position",
       {{"heads", "8", "heads", Domain::whole, "", 1024},
        {"n", "64", "tokens", Domain::whole, "", 1e6}},
       position_values,
       {},
       true},
      {"edges",
       "hierarchy from a table: child and parent in the first two columns, with tabs or commas",
       import_keys({{"header", "auto", "whether the first row names the columns", Domain::choice,
                     "auto|yes|no"},
                    {"order", "child,parent", "which of the two comes first", Domain::choice,
                     "child,parent|parent,child"}}),
       imported_edges,
       {".csv", ".tsv", ".tab", ".txt", ".edges"}},
      {"newick",
       "hierarchy from trees in Newick's format: (A,(B,C)inner)root;",
       import_keys(),
       imported_newick,
       {".nwk", ".newick", ".nw", ".tree", ".tre"}},
      {"obo",
       "hierarchy from an ontology in OBO, as the Gene Ontology: is_a, without obsolete terms",
       import_keys({{"relations", "", "further relations to parents, with commas: part_of",
                     Domain::any, "text"}}),
       imported_obo,
       {".obo"}},
      {"json",
       "hierarchy from nested JSON: {\"name\": ..., \"children\": [...]}",
       import_keys(),
       imported_json,
       {".json"}},
      {"folder",
       "hierarchy of a folder, its folders and files; links are leaves",
       import_keys(),
       imported_folder,
       {"/"}},
      {"hierarchy",
       "hierarchy of a data set or another result in HDF5 (/hierarchy)",
       import_keys(),
       imported_hierarchy,
       {".h5", ".hdf5"}},
  };
  return table;
}

std::vector<KeyInfo> keys_of(const DatasetInfo& info) {
  std::vector<KeyInfo> keys = info.keys;
  keys.push_back({"seed", "1", "of the random numbers", Domain::count});
  return keys;
}

KeyValues dataset_values(const std::string& name, const KeyTexts& given) {
  return {"data set " + name, keys_of(row_named("data set", dataset_table(), name)), given};
}

MadeData make_dataset(const std::string& name, const KeyTexts& given) {
  return row_named("data set", dataset_table(), name).make(dataset_values(name, given));
}

std::string importer_of(const std::string& path) {
  std::error_code none;
  std::string ending = std::filesystem::is_directory(path, none)
                           ? "/"
                           : std::filesystem::path(path).extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::vector<std::string> known;
  for (const DatasetInfo& info : dataset_table()) {
    for (const std::string& own : info.endings) {
      if (own == ending) return info.name;
      if (own != "/") known.push_back(own);
    }
  }
  misuse(
      "{}: its ending says no kind of hierarchy (known: {}); `conelab dataset KIND -p path={}` "
      "reads it",
      path, join(known), path);
}

}  // namespace conelab
