// What the fuzzers run on any bytes: the readers of files, of calls and of studies, which must
// answer with a result or an Error, and never crash, hang or take memory that the bytes do not
// explain; and the evaluations of umbral attention by intervals and by pairs, which must agree.
//
// `./dev fuzz` runs each target with libFuzzer; the ordinary tests run each over the bytes in
// corpus/<name>, to which every crash that was found has been added.
#pragma once

#include <span>
#include <string_view>

namespace conelab::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view bytes);
};

/// Return the targets that read files, and the others, which need more than the readers of files.
[[nodiscard]] std::span<const Target> file_targets();
[[nodiscard]] std::span<const Target> text_targets();

}  // namespace conelab::fuzz
