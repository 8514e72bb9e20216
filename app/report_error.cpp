#include "app/report_error.h"

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "app/output.h"
#include "core/base/error.h"

namespace conelab {
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
