#include "app/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/current_exception.h"
#include "core/base/error.h"
#include "core/base/utf8.h"

namespace conelab {
namespace {

bool silent = false;

void print_message(const char* kind, const std::string& text) {
  if (silent) return;
  std::fputs(fmt::format("conelab: {}: {}\n", kind, printable(text, longest_message)).c_str(),
             stderr);
}

}  // namespace

void be_silent(bool is) { silent = is; }
bool is_silent() { return silent; }

void print_text(const std::string& text) {
  if (!silent) std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_json(const nlohmann::ordered_json& value) {
  print_text(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void print_warning(const std::string& text) { print_message("warning", text); }

void print_error(const std::string& text) { print_message("error", text); }

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fail("standard output: cannot write: {}", std::strerror(errno));
  }
}

int report_current_exception() noexcept {
  try {
    const auto [status, text] = describe_current_exception();
    print_error(text);
    return status;
  } catch (...) {
    std::fputs("conelab: error: out of memory while reporting an error\n", stderr);
    return 1;
  }
}

}  // namespace conelab
