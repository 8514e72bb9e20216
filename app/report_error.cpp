#include "app/report_error.h"

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "core/base/error.h"

namespace conelab {
namespace {

/// Bytes of the UTF-8 sequence that starts at `text[i]`; 0 where there is none.
std::size_t sequence_length(const std::string& text, std::size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  const std::size_t length = byte < 0x80   ? 1
                             : byte < 0xC2 ? 0
                             : byte < 0xE0 ? 2
                             : byte < 0xF0 ? 3
                             : byte < 0xF5 ? 4
                                           : 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

int print_error(const std::string& text, int status) noexcept {
  std::fputs(("conelab: error: " + text + "\n").c_str(), stderr);
  return status;
}

}  // namespace

std::string one_line(const std::string& text) {
  constexpr std::size_t longest = 2000;
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    if (line.size() >= longest) return line + " …";
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x20 || byte == 0x7F ? 0 : sequence_length(text, i);
    if (length == 0) {
      line += fmt::format("\\x{:02x}", byte);
      ++i;
    } else {
      line.append(text, i, length);
      i += length;
    }
  }
  return line;
}

int report_current_exception() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return print_error(one_line(error.what()), error.exit_status());
    } catch (const std::bad_alloc&) {
      return print_error("out of memory", 1);
    } catch (const std::length_error&) {
      return print_error("out of memory (a size is beyond every limit)", 1);
    } catch (const std::exception& error) {
      return print_error(one_line(error.what()), 1);
    }
  } catch (...) {
    std::fputs("conelab: error: out of memory while reporting an error\n", stderr);
    return 1;
  }
}

}  // namespace conelab
