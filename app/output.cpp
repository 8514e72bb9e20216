#include "app/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace conelab {

void print_text(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_json(const nlohmann::ordered_json& value) {
  print_text(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
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

namespace {

int print_with_status(const std::string& text, int status) {
  print_error(text);
  return status;
}

}  // namespace

int report_current_exception() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return print_with_status(error.what(), error.exit_status());
    } catch (const std::bad_alloc&) {
      return print_with_status("out of memory", 1);
    } catch (const std::length_error&) {
      return print_with_status("out of memory (a size is beyond every limit)", 1);
    } catch (const std::exception& error) {
      return print_with_status(error.what(), 1);
    } catch (...) {
      return print_with_status("unknown failure", 1);
    }
  } catch (...) {
    std::fputs("conelab: error: out of memory while reporting an error\n", stderr);
    return 1;
  }
}

}  // namespace conelab
