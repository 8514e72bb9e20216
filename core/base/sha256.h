// SHA-256, to name a file's content in results.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace conelab {

/// Takes bytes in pieces of any size and gives their digest.
class Sha256 {
 public:
  Sha256();
  void update(const void* bytes, std::size_t count);
  /// The 32 bytes of the digest. Ends the computation: no update after it.
  [[nodiscard]] std::string bytes();
  /// The same as 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// The digest of bytes in memory.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// The digest of a file's content; fails with `FILE: why` where it cannot be read, throws
/// interrupted where `cancelled`, polled for every MiB, says so.
[[nodiscard]] std::string sha256_of_file(const std::string& path,
                                         const std::function<bool()>& cancelled = {});

}  // namespace conelab
