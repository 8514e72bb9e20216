#include "app/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/text.h"

namespace conelab {
namespace {

using Replace = nlohmann::ordered_json::error_handler_t;

}  // namespace

void print_text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const nlohmann::ordered_json& value) {
  print_text(value.dump(2, ' ', false, Replace::replace) + "\n");
}

void print_warning(const std::string& text) {
  std::fputs(("conelab: warning: " + printable(text, longest_message) + "\n").c_str(), stderr);
}

void print_error(const std::string& text) {
  std::fputs(("conelab: error: " + printable(text, longest_message) + "\n").c_str(), stderr);
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fail("standard output: cannot write: {}", std::strerror(errno));
  }
}

}  // namespace conelab
