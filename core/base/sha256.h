// SHA-256 by OpenSSL (Apache License 2.0), which identifies the content of files in results.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace conelab {

/// Computes the digest of bytes that arrive in pieces of any size.
class Sha256 {
 public:
  Sha256();
  /// Looks the algorithm up, as the first digest does under a lock of OpenSSL. Whoever forks a
  /// child that computes digests calls this first: if another thread held the lock at the fork, the
  /// child would wait for it without end.
  static void prepare();
  void update(const void* bytes, std::size_t count);
  /// Returns the 32 bytes of the digest. No update may follow.
  [[nodiscard]] std::string bytes();
  /// Returns the digest as 64 lower-case hexadecimal digits. No update may follow.
  [[nodiscard]] std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// Returns bytes as lower-case hexadecimal digits.
[[nodiscard]] std::string hex_digits(std::string_view bytes);

/// Returns the digest of bytes in memory, as hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// Returns the digest of a file's content, as hexadecimal digits. Throws a failure `FILE: why` if
/// the file cannot be read, and interrupted if `cancelled`, which is polled once per MiB, returns
/// true.
[[nodiscard]] std::string sha256_of_file(const std::string& path,
                                         const std::function<bool()>& cancelled = {});

}  // namespace conelab
