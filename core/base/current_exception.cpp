#include "core/base/current_exception.h"

#include <new>
#include <stdexcept>

#include "core/base/error.h"

namespace conelab {

std::pair<int, std::string> describe_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.exit_status(), error.what()};
  } catch (const std::bad_alloc&) {
    return {1, "out of memory"};
  } catch (const std::length_error&) {
    return {1, "out of memory (a size is beyond every limit)"};
  } catch (const std::exception& error) {
    return {1, error.what()};
  } catch (...) {
    return {1, "unknown failure"};
  }
}

}  // namespace conelab
