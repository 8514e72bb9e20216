#include "core/files/text.h"

#include <fmt/format.h>

#include "core/base/utf8.h"

namespace conelab {
namespace {

std::string escape(std::string_view bytes, bool controls_too, std::size_t longest) {
  std::string text;
  while (!bytes.empty()) {
    if (text.size() >= longest) return text + "…";
    const Utf8Character c = first_character(bytes);
    const auto first = static_cast<unsigned char>(bytes[0]);
    const bool control = first < 0x20 || first == 0x7F;
    if (!c.valid || first == 0 || (controls_too && control)) {
      text += fmt::format("\\x{:02x}", first);
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, c.length);
      bytes.remove_prefix(c.length);
    }
  }
  return text;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) { return escape(bytes, false, std::string::npos); }

std::string printable(std::string_view bytes, std::size_t longest) {
  return escape(bytes, true, longest);
}

std::vector<std::string> tokens_of_batch(const std::vector<std::string>& all, std::int64_t n,
                                         std::int64_t batch) {
  if (static_cast<std::int64_t>(all.size()) <= n) return all;
  const auto first = all.begin() + n * batch;
  return {first, first + n};
}

}  // namespace conelab
