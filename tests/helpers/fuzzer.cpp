// The entry of a fuzzer, which libFuzzer calls with one input after the other. CONELAB_FUZZ_TARGET
// is the name of its target, CONELAB_FUZZ_TARGETS the function that returns it among others.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  for (const auto& target : conelab::fuzz::CONELAB_FUZZ_TARGETS()) {
    if (target.name == std::string_view(CONELAB_FUZZ_TARGET)) target.run(input);
  }
  return 0;
}
