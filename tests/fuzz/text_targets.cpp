#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/call/call.h"
#include "core/dataset/dataset.h"
#include "core/operators/operator.h"
#include "core/study/study_file.h"
#include "tests/fuzz/targets.h"

namespace conelab::fuzz {
namespace {

/// Reads the bytes as a call, and resolves it for a small input.
void read_call(std::string_view bytes) {
  try {
    const Call call = call_from_text(std::string(bytes));
    (void)call_title(call);
    (void)resolve(call, Extents{1, 2, 6, 6, 4, 4});
  } catch (const Error&) {  // An Error is an answer; anything else ends the fuzzer.
  }
}

/// Reads the bytes as a study, none of whose jobs is run.
void check_study(std::string_view bytes) {
  // Fuzzers that run beside each other have a file each.
  static const std::string path = fmt::format("/dev/shm/conelab-fuzz-study-{}.toml", ::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    for (const bool quick : {false, true}) (void)read_study(path, quick);
  } catch (const Error&) {
  }
}

/// Reads the bytes as a hierarchy that a user brings.
template <const char* const& kind>
void import_hierarchy(std::string_view bytes) {
  static const std::string path = fmt::format("/dev/shm/conelab-fuzz-{}-{}", kind, ::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    (void)make_dataset(kind, {{"path", path}, {"reduce", "yes"}, {"sample", "3"}});
  } catch (const Error&) {
  }
}

constexpr const char *edges = "edges", *newick = "newick", *obo = "obo", *json = "json";
constexpr Target texts[] = {{"call", read_call},
                            {"study", check_study},
                            {edges, import_hierarchy<edges>},
                            {newick, import_hierarchy<newick>},
                            {obo, import_hierarchy<obo>},
                            {json, import_hierarchy<json>}};

}  // namespace

std::span<const Target> text_targets() { return texts; }

}  // namespace conelab::fuzz
