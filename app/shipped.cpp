#include "app/shipped.h"

namespace conelab {

std::vector<Shipped> shipped_figures() {
  return {
      {"heatmap",
       "attention weights or logits of several similarities side by side; --input a "
       "trace or results of `attend`; -p similarities=A,B head=H quantity=weights"},
      {"scaling",
       "time against sequence length with intervals and exponents; --input a result of "
       "`bench`"},
      {"cones",
       "shadow cones of two points and their lowest common ancestor; -p u=X,Y v=X,Y "
       "cone=penumbral|umbral"},
  };
}

std::vector<Shipped> shipped_datasets() {
  return {{"minilm_trace",
           "query, key, value of all-MiniLM-L6-v2, layers 0-5, 12 heads, d = 32: groups german, "
           "english, taxonomy, glosses; ships as datasets/minilm_trace.h5"}};
}

}  // namespace conelab
