// The jobs that make or read a hierarchy (dataset, embed, train, rank) share these functions: they
// sort the keys of `-p`, some of which are parameters of similarities, read the hierarchy, and
// begin a result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/key_values.h"
#include "core/dataset/hierarchy.h"
#include "core/embed/held_out.h"
#include "core/files/bench_file.h"
#include "core/job/job_spec.h"

namespace conelab {

/// Returns the job's own keys and then the parameters of similarities, each once. Names of no
/// similarity are passed over.
[[nodiscard]] std::vector<std::string> keys_with_parameters(
    const std::vector<KeyInfo>& own, const std::vector<std::string>& similarities);
/// Returns the values of -p that are the job's own. Throws misuse for a key that is not `known`.
[[nodiscard]] KeyTexts own_texts(const JobSpec& spec, const std::vector<KeyInfo>& own,
                                 const std::vector<std::string>& known);
/// Returns the numbers of -p that are parameters of a similarity and no keys of the job. Those that
/// are absent or "train" are to be trained. Throws misuse for another value.
[[nodiscard]] std::map<std::string, double> similarity_parameters(const JobSpec& spec,
                                                                  const std::vector<KeyInfo>& own,
                                                                  const std::string& similarity);

/// Returns the spec as JSON with these values of the keys that were not given.
[[nodiscard]] Json spec_with_defaults(JobSpec spec, const KeyTexts& defaults);

/// Reads the hierarchy of the spec's input. Throws a failure if it has no edges, or too many pairs
/// of a node and its ancestor for lists of them.
[[nodiscard]] Hierarchy read_edges(const JobSpec& spec, const JobContext& context);

/// Returns the group of the hierarchy with the pairs and nodes that were held back, if any:
/// held_out [m × 2] (node, ancestor), and held_out_node [k].
[[nodiscard]] LabelledArray group_with_held_out(const Hierarchy& hierarchy, const HeldOut& held);

/// Returns a result without groups, whose attributes are its kind and its spec.
[[nodiscard]] LabelledFile result_of(const Json& spec);

}  // namespace conelab
