// SHA-256 (FIPS 180-4), to name a file's content in results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace conelab {

/// Takes bytes in pieces of any size and gives their digest.
class Sha256 {
 public:
  void update(const void* bytes, std::size_t count);
  /// 64 lower-case hexadecimal digits. Ends the computation: no update after it.
  [[nodiscard]] std::string hex();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t count_ = 0;
};

/// The digest of bytes in memory.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// The digest of a file's content; fails with `FILE: why` where it cannot be read, throws
/// interrupted where `cancelled`, polled for every MiB, says so.
[[nodiscard]] std::string sha256_of_file(const std::string& path,
                                         const std::function<bool()>& cancelled = {});

}  // namespace conelab
